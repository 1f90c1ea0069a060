// A system of GPUs: links as CSV, or the matrix of `nvidia-smi topo -m`. XML goes to hwloc, which is not ours; what is
// handed to it is the subject of tests of its own.
#include "fuzz.hpp"
#include "models/graph/system_file.hpp"

namespace kernelcast::fuzz {

void run_input(std::string_view input) {
  auto const begin = input.find_first_not_of(" \t\r\n\xEF\xBB\xBF");
  if (begin != std::string_view::npos && input[begin] == '<') return;
  TextStream in(input);
  auto const system = graph::read_system_file("fuzz", in);
  for (auto const& link_class : system.classes()) system.scaled(link_class, 1.5);
  for (std::size_t gpu = 0; gpu < system.gpu_count(); ++gpu) system.nearest_host(gpu);
}

}  // namespace kernelcast::fuzz
