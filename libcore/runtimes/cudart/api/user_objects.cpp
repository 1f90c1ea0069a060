#include "runtimes/cudart/user_objects.hpp"

#include <limits>
#include <vector>

#include "runtimes/cudart/call.hpp"
#include "runtimes/cudart/graphs.hpp"

namespace kernelcast::cudart {

using Destroy = void (*)(void*);

struct UserObject {
  void* value;
  Destroy destroy;
  unsigned references = 0;           // the application's own
  std::shared_ptr<UserObject> self;  // as long as there are any
};

namespace {

// Guarded by the runtime's lock. Never destroyed: the application may call at the very end.
struct Objects {
  std::map<UserObject*, std::weak_ptr<UserObject>> known;
  std::vector<std::pair<Destroy, void*>> unreferenced;
};
Objects& objects() {
  static auto* const all = new Objects;
  return *all;
}

void forget(UserObject* object) {
  objects().known.erase(object);
  objects().unreferenced.emplace_back(object->destroy, object->value);
  delete object;
}

constexpr unsigned max_references = std::numeric_limits<int>::max();

bool add(unsigned& references, unsigned count) {
  if (count == 0 || count > max_references - references) return false;
  references += count;
  return true;
}

bool take(UserObject& object, unsigned count) {
  if (count == 0 || count > object.references) return false;
  object.references -= count;
  if (object.references == 0) object.self.reset();
  return true;
}

// `body` gets the object, which stays until it has ended.
template <class Body>
Code of_object(UserObject* object, Body const& body) {
  return destroying_unreferenced([&] {
    return call([&](Graphs& graphs) {
      auto const found = objects().known.find(object);
      auto const held = found == objects().known.end() ? nullptr : found->second.lock();
      return held && body(graphs, held) ? Code::success : Code::invalid_value;
    });
  });
}

}  // namespace

void destroy_unreferenced() {
  std::vector<std::pair<Destroy, void*>> gone;
  locked([&]() { gone.swap(objects().unreferenced); });
  for (auto const& [destroy, value] : gone) destroy(value);
}

}  // namespace kernelcast::cudart

using namespace kernelcast::cudart;

KERNELCAST_CUDA_EXPORT Code cudaUserObjectCreate(UserObject** out, void* value, Destroy destroy, unsigned references,
                                                 unsigned flags) {
  constexpr unsigned no_destructor_sync = 1;
  return call([&](Graphs&) {
    if (!out || !destroy || references == 0 || references > max_references || flags != no_destructor_sync)
      return Code::invalid_value;
    std::shared_ptr<UserObject> made(new UserObject{value, destroy, references, nullptr}, forget);
    made->self = made;
    objects().known.emplace(made.get(), made);
    *out = made.get();
    return Code::success;
  });
}
KERNELCAST_CUDA_EXPORT Code cudaUserObjectRetain(UserObject* object, unsigned count) {
  return of_object(object, [&](Graphs&, std::shared_ptr<UserObject> const& held) {
    if (!add(held->references, count)) return false;
    held->self = held;
    return true;
  });
}
KERNELCAST_CUDA_EXPORT Code cudaUserObjectRelease(UserObject* object, unsigned count) {
  return of_object(object, [&](Graphs&, auto const& held) { return take(*held, count); });
}
KERNELCAST_CUDA_EXPORT Code cudaGraphRetainUserObject(Graph* graph, UserObject* object, unsigned count,
                                                      unsigned flags) {
  constexpr unsigned move = 1;  // the application's references become the graph's
  return of_object(object, [&](Graphs& graphs, std::shared_ptr<UserObject> const& held) {
    if (!graphs.known(graph) || flags > move) return false;
    if (flags == move && count > held->references) return false;
    auto const references = graph->objects.try_emplace(held, 0).first;
    if (!add(references->second, count)) {
      if (references->second == 0) graph->objects.erase(references);
      return false;
    }
    return flags != move || take(*held, count);
  });
}
KERNELCAST_CUDA_EXPORT Code cudaGraphReleaseUserObject(Graph* graph, UserObject* object, unsigned count) {
  return of_object(object, [&](Graphs& graphs, std::shared_ptr<UserObject> const& held) {
    if (!graphs.known(graph)) return false;
    auto const found = graph->objects.find(held);
    if (count == 0 || found == graph->objects.end() || count > found->second) return false;
    found->second -= count;
    if (found->second == 0) graph->objects.erase(found);
    return true;
  });
}
