#include "models/graph/system_file.hpp"

#include <filesystem>
#include <istream>
#include <sstream>

#include "base/process/input.hpp"

namespace kernelcast::graph {

Interconnect read_system_file(std::string const& path, std::istream& in) {
  std::string const file = path == "-" ? "<stdin>" : path;
  std::string const text = read_all(in, file, max_description_bytes);
  std::string const name = path == "-" ? "stdin" : std::filesystem::path(path).stem().string();
  auto const begin = text.find_first_not_of(" \t\r\n\xEF\xBB\xBF");
  if (begin != std::string::npos && text[begin] == '<') return read_hwloc(file, name, text);
  // The matrix has a line that begins with the names of its columns, GPU0 first, separated by blanks.
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    auto const word = line.find_first_not_of(" \t\x1b[4m");
    if (word != std::string::npos && line.compare(word, 4, "GPU0") == 0 && line.find(',') == std::string::npos)
      return read_topology_matrix(file, name, text);
  }
  std::istringstream again(text);
  csv::Reader rows(again, file);
  return read_system(rows, name);
}

}  // namespace kernelcast::graph
