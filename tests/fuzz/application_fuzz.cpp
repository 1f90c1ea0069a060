// An application of partsim, and its graphs for a few sizes and numbers of parts.
#include "fuzz.hpp"
#include "models/graph/application.hpp"

namespace kernelcast::fuzz {

void run_input(std::string_view input) {
  static MemoryFile file;
  file.write(input);
  auto const application = graph::read_application(file.path());
  for (double const n : {1.0, 7.0, 1e3, 1e15})
    for (std::uint32_t const parts : {1U, 2U, 6U}) {
      std::string misfit;
      application.graph(n, parts, 3, misfit);
    }
}

}  // namespace kernelcast::fuzz
