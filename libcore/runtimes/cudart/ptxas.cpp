// In the place of ptxas for libomptarget, which compiles clang's regions of OpenMP when the program runs: the machine
// code is the PTX, in a file that libomptarget can read.
// ptxas OPTIONS… FILE -o|--output-file OUTPUT
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

#include "kernels/ptx/image.hpp"
#include "kernels/ptx/parser.hpp"

using namespace kernelcast;

int main(int count, char** words) {
  std::string input, output = "elf.o";
  for (int i = 1; i < count; ++i) {
    std::string_view const word = words[i];
    std::error_code error;
    if ((word == "-o" || word == "--output-file") && i + 1 < count)
      output = words[++i];
    else if (!word.starts_with('-') && std::filesystem::is_regular_file(word, error))  // options may have a value
      input = word;
  }
  try {
    std::ifstream in(input, std::ios::binary);
    auto const module = ptx::parse({std::istreambuf_iterator<char>(in), {}}, input);
    std::ofstream out(output, std::ios::binary);
    out << ptx::image_of(*module);
    if (out.flush()) return 0;
    std::fprintf(stderr, "ptxas: %s: cannot be written\n", output.c_str());
  } catch (std::exception const& error) {
    std::fprintf(stderr, "ptxas: %s\n", error.what());
  }
  return 1;
}
