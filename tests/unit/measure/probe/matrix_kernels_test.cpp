// The micro-benchmarks of matrix units multiply what the text beside them says: the emulator counts, for NVIDIA in PTX,
// for AMD in the machine code of the target.
#include <algorithm>
#include <fstream>
#include <iterator>

#include <fmt/format.h>

#include "base/process/process.hpp"
#include "catch.hpp"
#include "emulator/launch/launch.hpp"
#include "kernels/frontend/toolchain.hpp"
#include "launches.hpp"
#include "measure/probe/accelerator.hpp"
#include "measure/probe/catalogue.hpp"
#include "records/table/table.hpp"

using namespace kernelcast;
using namespace kernelcast::probe;

namespace {

std::string const folder = KERNELCAST_SOURCE_DIR "/microbench/matrix/";

std::string text_of(std::string const& name) {
  return read_file(folder + name);
}
Catalogue const& matrix_catalogue() {
  static Catalogue const catalogue(text_of("kernels.toml"), "microbench/matrix/kernels.toml");
  return catalogue;
}

constexpr std::int64_t iterations = 8, items = 256, chains = 4;

// "gfx90a_mfma_f16_f32": gfx90a, mfma/f16/f32.
std::string target_of(KernelEntry const& entry) {
  return entry.name.starts_with("gfx") ? entry.name.substr(0, entry.name.find('_')) : "";
}
std::string kind_of(KernelEntry const& entry) {
  if (entry.name == "wmma") return "mma/f16/f32";
  std::string kind = target_of(entry).empty() ? entry.name : entry.name.substr(entry.name.find('_') + 1);
  if (kind.ends_with("_wide")) kind.resize(kind.size() - 5);
  std::ranges::replace(kind, '_', '/');
  return kind;
}

void confirm(KernelEntry const& entry) {
  INFO(entry.name);
  std::string text;
  for (auto const& macro : entry.macros) {
    auto const equals = macro.find('=');
    text += "#define " +
            (equals == std::string::npos ? macro : macro.substr(0, equals) + " " + macro.substr(equals + 1)) + "\n";
  }
  bool const cuda = entry.file.ends_with(".cu");
  if (cuda) text += microbench_file("cuda/words.cu");
  TemporaryFolder const scratch;
  launch::CommandLine line;
  line.path = scratch.file(cuda ? "product.cu" : "product.cl");
  write_file(line.path, text + text_of(entry.file));
  line.kernel = entry.kernel;
  line.global = entry.global;
  line.local = entry.local;
  line.arguments = entry.arguments;
  auto options = with_groups("all");
  if (auto const target = target_of(entry); !target.empty()) options.machine_targets = {target};
  auto const report = launch::run(plain_plan(line), options);
  REQUIRE(report.rows.size() == 1);
  double const flop =
      matrix_catalogue().count(entry.name, "flop", {{"items", items}, {"chains", chains}, {"iterations", iterations}});
  CHECK(report.rows[0].matrix_flop == fmt::format("{}:{}", kind_of(entry), record::number_text(flop)));
}

}  // namespace

TEST_CASE("matrix micro-benchmarks of NVIDIA multiply what is declared") {
  if (!has_clang()) {
    std::puts("kernelcast-skipped: no clang-19 with libclc");
    return;
  }
  std::size_t count = 0;
  for (auto const& entry : matrix_catalogue().kernels())
    if (target_of(entry).empty()) {
      confirm(entry);
      ++count;
    }
  CHECK(count == 18);
}

TEST_CASE("matrix micro-benchmarks of AMD multiply what is declared, in the machine code of their target") {
  if (!has_clang()) {
    std::puts("kernelcast-skipped: no clang-19 with libclc");
    return;
  }
  std::size_t count = 0;
  for (auto const& entry : matrix_catalogue().kernels())
    if (!target_of(entry).empty()) {
      confirm(entry);
      ++count;
    }
  CHECK(count == 15);
}
