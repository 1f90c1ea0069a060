// Resources of the machine code of bench-suites for AMD's devices: what is read from the comments of the assembly is
// what the compiler writes into the metadata of the code object (YAML), which an AMD driver goes by.
#include <cstdlib>
#include <filesystem>
#include <map>
#include <tuple>

#include "base/diag/diag.hpp"
#include "base/process/process.hpp"
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

TEST_CASE("sources of HIP that a program names") {
  using namespace std::string_literals;
  auto const section = "/src\n-O2\n-I\ninclude\nmain.hip\0\0\0/src\n-DN=3\n/other/k.cpp\0/src\n-DN=3\n/other/k.cpp\0"s;
  auto const requests = frontend::hip_requests(section);
  REQUIRE(requests.size() == 2);  // each once
  CHECK(requests[0].path == "/src/main.hip");
  CHECK(requests[0].hip_folder == "/src");
  CHECK(requests[0].options == std::vector<std::string>{"-O2", "-I", "include"});
  CHECK(requests[1].path == "/other/k.cpp");
  CHECK(frontend::hip_requests("").empty());
  CHECK(frontend::hip_requests("no line").empty());  // whatever a program holds there
}

// Where AMD's headers and device libraries are installed: what hipcc of AMD's would make.
TEST_CASE("machine code of HIP by AMD's headers") {
  auto const tools = frontend::find_toolchain();
  if (tools.clang.empty() || tools.hip_root.empty() || tools.hip_bitcode.empty())
    SKIP_BECAUSE("no clang-19, or no HIP of AMD's (make deps-hip)");
  TemporaryFolder const folder;
  write_file(folder.file("k.hip"),
             "#include <hip/hip_runtime.h>\n"
             "__global__ void sums(float* x) {\n"
             "  float v = sinf(x[threadIdx.x]);\n"
             "  for (int o = warpSize / 2; o; o /= 2) v += __shfl_down(v, o);\n"
             "  x[threadIdx.x] = v + OFFSET;\n"
             "}\n"
             "int main() {}\n");
  frontend::Request request;
  request.path = folder.file("k.hip");
  request.hip_folder = folder.path().string();
  request.options = {"-DOFFSET=1"};
  request.cache = false;
  for (auto const& [target, lanes, exchanges] :
       {std::tuple("gfx90a", 64u, 6), {"gfx942", 64u, 6}, {"gfx1030", 32u, 5}, {"gfx1100", 32u, 5}}) {
    INFO(target);
    auto const assembly = frontend::amd_assembly(request, target);
    auto const codes = amdgcn::read(assembly, request.path);
    REQUIRE(codes.contains("_Z4sumsPf"));
    auto const& code = codes.at("_Z4sumsPf");
    CHECK(code.resources.wavefront == lanes);
    CHECK_FALSE(code.calls);
    int found = 0;
    for (auto const& block : code.blocks)
      for (auto const& instruction : block.instructions) found += instruction.opcode() == "ds_bpermute_b32";
    CHECK(found == exchanges);
  }
}
