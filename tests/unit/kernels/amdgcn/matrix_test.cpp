// Products of matrices against what AMD's matrix instruction calculator says of every instruction (MIT licence,
// github.com/ROCm/amd_matrix_instruction_calculator, its options --list-instructions and --detail-instruction;
// operations per clock of RDNA, which it gives for two compute units, are halved).
#include <fstream>
#include <map>
#include <sstream>
#include <string>

#include "catch.hpp"
#include "devdb.hpp"
#include "kernels/amdgcn/amdgcn.hpp"

using namespace kernelcast;

namespace {

struct Row {
  std::string architecture, instruction;
  double flop = 0, flop_per_cycle = 0;
};
std::vector<Row> rows() {
  std::ifstream file(KERNELCAST_SOURCE_DIR "/tests/unit/kernels/amdgcn/matrix_instructions.csv");
  std::vector<Row> all;
  std::string line;
  std::getline(file, line);
  while (std::getline(file, line)) {
    std::istringstream text(line);
    Row r;
    std::string flop, rate;
    std::getline(text, r.architecture, ',') && std::getline(text, r.instruction, ',') &&
        std::getline(text, flop, ',') && std::getline(text, rate);
    r.flop = std::stod(flop);
    r.flop_per_cycle = std::stod(rate);
    all.push_back(r);
  }
  REQUIRE(all.size() == 121);
  return all;
}

std::string product(std::string const& text) {
  auto const found = amdgcn::matrix_product({text, {}});
  return found ? found->kind + " " + std::to_string(static_cast<long>(found->flop)) : "none";
}

}  // namespace

TEST_CASE("AMD: every matrix instruction counts the operations that AMD's calculator says") {
  for (auto const& row : rows()) {
    INFO(row.architecture << " " << row.instruction);
    auto const found = amdgcn::matrix_product({row.instruction + " v[0:3], v4, v5, v[0:3]", {}});
    REQUIRE(found);
    CHECK(found->flop == row.flop);
  }
}

TEST_CASE("AMD: the database has the rate of the fastest instruction of each kind of product") {
  std::map<std::string, std::map<std::string, double>> most;
  for (auto const& row : rows()) {
    std::string const text = row.instruction + " v0";
    double& rate = most[row.architecture][amdgcn::matrix_product({text, {}})->kind];
    rate = std::max(rate, row.flop_per_cycle);
  }
  std::size_t compared = 0;
  for (auto const& d : database().devices())
    if (auto const found = most.find(d.target); found != most.end())
      for (auto const& [kind, rate] : found->second) {
        INFO(d.device << " " << kind);
        auto const* const rule = d.matrix_rule(kind);
        REQUIRE(rule);
        CHECK(rule->flop_per_cycle == rate);
        ++compared;
      }
  CHECK(compared > 30);
}

TEST_CASE("AMD: kinds of products") {
  CHECK(product("v_mfma_f32_32x32x8_f16 a[0:15], v[0:1], v[2:3], a[0:15]") == "mfma/f16/f32 16384");
  CHECK(product("v_mfma_f32_16x16x8_xf32 a[0:3], v[0:1], v[2:3], a[0:3]") == "mfma/tf32/f32 4096");
  CHECK(product("v_smfmac_f32_16x16x64_fp8_bf8 v[0:3], v[4:5], v[6:9], v10") == "mfma/f8/f32/sparse 32768");
  CHECK(product("v_wmma_i32_16x16x16_iu4 v[0:7], v[8:9], v[10:11], v[0:7]") == "wmma/i4/i32 8192");
  CHECK(product("v_swmmac_f16_16x16x32_f16 v[0:3], v[4:7], v[8:15], v16") == "wmma/f16/f16/sparse 16384");
  std::string const mixed = "v_mfma_f32_16x16x128_f8f6f4 a[0:3], v[0:7], v[8:15], a[0:3]";
  CHECK(product(mixed) == "mfma/f8/f32 65536");
  CHECK(product(mixed + " cbsz:") == "mfma/f8/f32 65536");
  CHECK(product(mixed + " cbsz:2 blgp:4") == "mfma/f6/f32 65536");
  CHECK(product(mixed + " cbsz:4 blgp:4") == "mfma/f4/f32 65536");
  CHECK(product("v_mfma_scale_f32_32x32x64_f8f6f4 a[0:15], v[0:7], v[8:15], a[0:15], v16, v17 blgp:1") ==
        "mfma/f8/f32 131072");
  for (auto const* const other :
       {"v_fma_f32 v0, v1, v2, v3", "v_mfma_f32_32x32", "v_mfma_f32_axbxc_f16", "v_dot4_i32_i8 v0, v1, v2, v3",
        "v_mfma_", "v_wmma_f32_16x16x16_f99 v0", "v_mfma_f32_99999x32x4_f16 v0"})
    CHECK(product(other) == "none");
}
