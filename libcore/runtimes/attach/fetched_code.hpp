#pragma once

#include <set>
#include <string>
#include <tuple>

#include "records/kernel.hpp"

namespace kernelcast::attach {

// Which rows of a process pay for fetching their code: of a kernel in several configurations the first alone.
class FetchedCode {
 public:
  // Fills code_fetched. In the order of the configurations.
  void note(std::string const& process, record::Kernel& row) {
    row.code_fetched = seen_.emplace(process, row.kernel, row.target).second ? 1 : 0;
  }

 private:
  std::set<std::tuple<std::string, std::string, std::string>> seen_;
};

}  // namespace kernelcast::attach
