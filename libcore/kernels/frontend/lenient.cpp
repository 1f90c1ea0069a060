#include "kernels/frontend/lenient.hpp"

#include <algorithm>

namespace kernelcast::frontend {

std::vector<Leniency> leniencies(Build const& build, std::string const& complaints,
                                 std::vector<std::string> const& given) {
  std::vector<Leniency> out;
  auto const add = [&](std::string_view complaint, std::vector<std::string> options, std::string note) {
    if (complaints.find(complaint) == std::string::npos || std::ranges::count(given, options.back()) > 0) return;
    out.push_back({std::move(options), std::move(note)});
  };
  add("undeclared identifier 'asm'", {"-fgnu-keywords"}, "asm is a keyword, as it is for NVIDIA's compiler");
  add("global sampler requires a const", {"-Dsampler_t=const sampler_t"},
      "samplers outside of functions are constant, said or not, as they are for NVIDIA's compiler");
  if (complaints.find("call to 'mul24' is ambiguous") != std::string::npos ||
      complaints.find("call to 'mad24' is ambiguous") != std::string::npos) {
    auto const header = build.scratch.file("lenient.clh");
    for (auto const& file : embedded_opencl())
      if (file.name == "lenient.clh") write_file(header, file.text);
    add("24' is ambiguous", {"-include", header},
        "mul24 and mad24 take integers of any size, as NVIDIA's compiler does");
  }
  return out;
}

}  // namespace kernelcast::frontend
