#include "runtimes/attach/environment.hpp"

#include "base/diag/diag.hpp"
#include "base/process/process.hpp"

namespace kernelcast::attach {

void put_first(std::vector<std::string>& variables, std::string const& list, std::string const& item) {
  for (auto& variable : variables)
    if (variable.starts_with(list + '=')) {
      auto const at = list.size() + 1;
      variable.insert(at, item + (variable.size() > at ? ":" : ""));
      return;
    }
  variables.push_back(list + '=' + item);
}

void put_unless_set(std::vector<std::string>& variables, std::string const& name, std::string const& value) {
  for (auto const& variable : variables)
    if (variable.starts_with(name + '=')) return;
  variables.push_back(name + '=' + value);
}

void replace(std::vector<std::string>& variables, std::string const& name, std::string const& value) {
  std::erase_if(variables, [&](std::string const& other) { return other.starts_with(name + '='); });
  variables.push_back(name + '=' + value);
}

void preload(std::vector<std::string>& variables, std::string const& library, std::string const& hint) {
  auto const path = find_plugin(library);
  if (path.empty())
    throw Error(Status::unavailable, "the library " + library + " is not installed beside the program", hint);
  put_first(variables, "LD_PRELOAD", path);
}

}  // namespace kernelcast::attach
