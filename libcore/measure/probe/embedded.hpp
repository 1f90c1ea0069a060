// Files of microbench/ that are embedded in the library.
#pragma once

#include <string>
#include <vector>

namespace kernelcast::probe {

struct EmbeddedFile {
  std::string name;  // "opencl/memory.cl"
  std::string content;
};
std::vector<EmbeddedFile> const& embedded_files();

}  // namespace kernelcast::probe
