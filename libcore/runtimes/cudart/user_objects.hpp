// What an application gives into the care of graphs: it is destroyed when neither the application nor a graph refers to
// it any more.
//
// The application's function is called in the thread of the call that has taken the last reference away, before that
// returns and without the runtime's lock.
#pragma once

#include <map>
#include <memory>

namespace kernelcast::cudart {

struct UserObject;

// References of a graph, or of one that is executable.
using UserObjects = std::map<std::shared_ptr<UserObject>, unsigned>;

// Calls the functions of all that nothing refers to. Not under the runtime's lock.
void destroy_unreferenced();

// For the end of a call that may take references away.
template <class Body>
auto destroying_unreferenced(Body const& body) {
  auto const code = body();
  destroy_unreferenced();
  return code;
}

}  // namespace kernelcast::cudart
