// Resources of the machine code of bench-suites for AMD's devices: what is read from the comments of the assembly is
// what the compiler writes into the metadata of the code object (YAML), which an AMD driver goes by.
#include <cstdlib>
#include <filesystem>
#include <map>

#include "base/diag/diag.hpp"
#include "catch.hpp"
#include "kernels/amdgcn/amdgcn.hpp"
#include "kernels/frontend/frontend.hpp"
#include "kernels/frontend/toolchain.hpp"

using namespace kernelcast;

namespace {

using Values = std::map<std::string, std::string>;

// Of each kernel the metadata that are no lists, by its name.
std::map<std::string, Values> metadata_of(std::string const& assembly) {
  std::map<std::string, Values> out;
  Values values;
  bool inside = false;
  auto const keep = [&] {
    if (auto const name = values.find(".name"); name != values.end()) out[name->second] = values;
    values.clear();
  };
  for (std::size_t at = 0; at < assembly.size();) {
    auto const end = std::min(assembly.find('\n', at), assembly.size());
    std::string const line = assembly.substr(at, end - at);
    at = end + 1;
    if (line == "amdhsa.kernels:") {
      inside = true;
    } else if (inside && line.starts_with("  - ")) {
      keep();
    } else if (inside && line.starts_with("    .")) {
      auto const colon = line.find(':');
      auto const value = line.find_first_not_of(' ', colon + 1);
      if (value != std::string::npos) values[line.substr(4, colon - 4)] = line.substr(value);
    } else if (inside && !line.starts_with(" ")) {
      break;
    }
  }
  keep();
  return out;
}

}  // namespace

TEST_CASE("resources of AMD's machine code are those of the metadata") {
  auto const tools = frontend::find_toolchain();
  if (tools.clang.empty() || tools.libclc.empty()) SKIP_BECAUSE("no clang-19 or libclc-19");
  struct Set {
    char const *suffix, *target;
  };
  std::size_t kernels = 0, refused = 0;
  for (auto const& [suffix, target] : {Set{".cl", "gfx90a"}, {".cl", "gfx1101"}, {".cu", "gfx90a"}})
    for (char const* suite : {"panwar", "polybench", "shoc"})
      for (auto const& entry :
           std::filesystem::directory_iterator(std::string(KERNELCAST_SOURCE_DIR) + "/bench-suites/" + suite)) {
        if (entry.path().extension() != suffix) continue;
        INFO(entry.path().string() << " for " << target);
        frontend::Request request;
        request.path = entry.path().string();
        std::string assembly;
        try {
          assembly = frontend::amd_assembly(request, target);
        } catch (Error const& error) {
          ++refused;  // textures
          CHECK_THAT(error.what(), Contains("tex1Dfetch"));
          continue;
        }
        auto const codes = amdgcn::read(assembly, request.path);
        auto const metadata = metadata_of(assembly);
        CHECK(metadata.size() <= codes.size());  // those of functions, inlined everywhere, have none
        for (auto const& [name, values] : metadata) {
          INFO(name);
          REQUIRE(codes.contains(name));
          auto const& r = codes.at(name).resources;
          CHECK(std::to_string(r.vgprs) == values.at(".vgpr_count"));
          CHECK(std::to_string(r.sgprs) == values.at(".sgpr_count"));
          CHECK(std::to_string(r.shared_bytes) == values.at(".group_segment_fixed_size"));
          CHECK(std::to_string(r.scratch_bytes) == values.at(".private_segment_fixed_size"));
          CHECK(std::to_string(r.wavefront) == values.at(".wavefront_size"));
          if (auto const agprs = values.find(".agpr_count"); agprs != values.end())
            CHECK(std::to_string(r.agprs) == agprs->second);
          CHECK(codes.at(name).calls == (name == "md_force_texture" && codes.size() > 1 &&
                                         std::string(suffix) == ".cl" && !frontend::has_images(target)));
          ++kernels;
        }
      }
  CHECK(kernels > 200);
  CHECK(refused == 1);
}
