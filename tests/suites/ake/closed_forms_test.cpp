// Pointer chase, STREAM's copy, one chain of multiply-adds, many, a ladder of bank conflicts, and a counter: real
// kernels through `miniemu --emit trace | akemu`, against formulas of the device's latencies, gaps and bandwidth,
// within 2 %.
#include <cstdio>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>

#include "base/process/process.hpp"
#include "catch.hpp"
#include "models/ake/machine.hpp"
#include "records/device/device.hpp"
#include "records/emulation.hpp"
#include "records/kernel.hpp"
#include "records/table/table.hpp"

using namespace kernelcast;
namespace ake = model::ake;
namespace fs = std::filesystem;

namespace {

std::string const devdb = KERNELCAST_SOURCE_DIR "/devdb";
std::string const kernels = KERNELCAST_SOURCE_DIR "/bench-suites/papers/ake/closed_forms/closed_forms.cl";

template <class R>
std::vector<R> rows_of(std::string const& path) {
  std::ifstream in(path);
  REQUIRE(in);
  return record::read_rows<R>(in, path);
}

struct Target {
  device::DeviceDatabase database = device::load(devdb);
  device::Device const& device;
  ake::Machine machine;

  explicit Target(std::string const& name) : device(database.find(name)) {
    auto resolved = ake::resolve(device, {rows_of<record::LatencyGap>(devdb + "/latgap.csv"),
                                          rows_of<record::LatencyFallback>(devdb + "/latgap_fallbacks.csv"),
                                          rows_of<record::IssueRule>(devdb + "/issue.csv")});
    INFO(resolved.missing);
    REQUIRE(resolved.missing.empty());
    machine = resolved.machine;
  }
  double latency(ake::Class c) const { return cycles(machine.of(c).latency); }
  // Of a compute unit, whether its unit is one or each scheduler has its own.
  double gap(ake::Class c) const {
    auto const& cost = machine.of(c);
    return cycles(cost.gap) / (cost.per_scheduler ? machine.schedulers : 1);
  }
  double issue_gap() const { return cycles(machine.issue_gap) / machine.schedulers; }
  double cycles(ake::Ticks t) const { return static_cast<double>(t) / static_cast<double>(machine.cycle); }
};

// A folder that goes with the program.
fs::path const& scratch() {
  static TemporaryFolder const folder;
  return folder.path();
}

// The projection of the last kernel that `miniemu ARGUMENTS --emit trace | akemu` makes of it.
record::Emulation project(std::string const& arguments, std::string const& device, std::string const& options) {
  auto const out = (scratch() / "projection.csv").string();
  auto const command = fmt::format(
      "{0}/miniemu {1} --no-registers --emit trace | {0}/akemu --launch-cost 0 --devdb {2} --device {3} {4} > {5}",
      KERNELCAST_BIN, arguments, devdb, device, options, out);
  INFO(command);
  REQUIRE(std::system(command.c_str()) == 0);
  auto const rows = rows_of<record::Emulation>(out);
  REQUIRE(!rows.empty());
  // No measurement of AMD's devices has tested the model.
  bool const by_kind = rows.back().scheduler == "oldest";
  REQUIRE(rows.back().status == (by_kind ? record::RowStatus::unvalidated : record::RowStatus::ok));
  return rows.back();
}

void check(double expected_cycles, record::Emulation const& row) {
  INFO(row.kernel << " on " << row.device << ": expected " << expected_cycles << " cycles, got " << *row.cycles);
  CHECK(*row.cycles / expected_cycles > 0.98);
  CHECK(*row.cycles / expected_cycles < 1.02);
}

std::string const no_cache = "--no-cache --order program";
std::vector<std::string> const devices{"c1060", "c2050", "k20", "gtx750", "v100", "t4", "a100", "h100"};
std::vector<std::string> const amd_devices{"hd7970", "firepro-w9100", "mi100", "mi210", "mi300x", "rx6900xt", "w7800"};

// Groups of AMD's devices have 256 work-items at most on the older ones.
std::string amd_launch(Target const& target, std::string const& kernel, std::uint64_t items, std::string const& more) {
  return fmt::format("{} -k {} -g {} -l {} --width {} {}", kernels, kernel, items, std::min<std::uint64_t>(items, 256),
                     target.machine.width, more);
}

// A launch file: a list of pointers is made, and followed.
std::string chase_launch() {
  auto const file = (scratch() / "chase.toml").string();
  std::ofstream(file) << fmt::format(
      "file = \"{}\"\n[buffers]\nlinks = \"u64:65536:zero\"\n"
      "[[launch]]\nkernel = \"link\"\nglobal = [65536]\nlocal = [256]\nargs = [\"links\", \"i32:65536\", \"i32:16\"]\n"
      "[[launch]]\nkernel = \"chase\"\nglobal = [1]\nlocal = [1]\nargs = [\"links\", \"i32:16\"]\n",
      kernels);
  return file;
}

}  // namespace

TEST_CASE("pointer chase: steps x latency") {
  auto const launch = chase_launch();
  for (auto const& name : devices) {
    Target const target(name);
    auto const row = project(launch + " --groups all", name, no_cache);
    CHECK(row.kernel == "chase");
    CHECK(row.limiter == record::Limiter::memory_wait);
    check(16 * 64 * target.latency(ake::Class::gmem_load_dram), row);
  }
}

TEST_CASE("STREAM's copy: bytes over bandwidth") {
  for (auto const& name : devices) {
    Target const target(name);
    // One full wave, each work-item 64 words; the trace of one group stands for all.
    auto const waves = target.device.max_waves_per_cu.value() * target.device.wave_width.value();
    auto const items = target.machine.units * waves;
    auto const row = project(fmt::format("{0} -k copy -g {1} -l {2} -a buf:f32:{3}:zero -a buf:f32:{3}:zero -a i32:32",
                                         kernels, items, waves / 4, items * 8 * 32),
                             name, no_cache);
    double const bytes = 2.0 * static_cast<double>(items) * 8 * 32 * 4;
    double const bandwidth = target.device.measured_bandwidth_bytes_per_s.value_or(
        0.85 * target.device.peak_bandwidth_bytes_per_s.value_or(0));
    CHECK(row.full_waves == 1);
    CHECK(row.limiter == record::Limiter::dram);
    check(bytes / bandwidth * target.machine.clock_hz, row);
  }
}

TEST_CASE("a chain of multiply-adds: steps x latency") {
  for (auto const& name : devices) {
    Target const target(name);
    auto const row = project(kernels + " -k fma_chain -g 32 -l 32 -a buf:f32:32:zero -a i32:16 -a f32:0.5 -a f32:0.25",
                             name, no_cache);
    CHECK(row.limiter == record::Limiter::dependency_wait);
    check(16 * 256 * target.latency(ake::Class::fp32_fma), row);
  }
}

TEST_CASE("independent multiply-adds: instructions x gap, or a turn of the scheduler each") {
  for (auto const& name : devices) {
    Target const target(name);
    auto const row = project(
        kernels + " -k fma_many -g 512 -l 512 -a buf:f32:512:zero -a i32:32 -a f32:0.5 -a f32:0.25", name, no_cache);
    double const per_instruction = std::max(target.gap(ake::Class::fp32_fma), target.issue_gap());
    check(16.0 * 32 * 512 * per_instruction, row);
  }
}

TEST_CASE("a ladder of bank conflicts: reads x degree x gap") {
  for (auto const& name : devices) {
    if (name == "c1060") continue;  // at most 512 work-items, and half-warps, which the degree below does not count
    Target const target(name);
    for (unsigned const stride : {1u, 2u, 4u, 8u, 16u, 32u}) {
      auto const row =
          project(fmt::format("{} -k ladder -g 1024 -l 1024 -a buf:f32:1024:zero -a i32:32 -a i32:{}", kernels, stride),
                  name, no_cache);
      unsigned const degree = std::max(1u, stride * 4 / target.machine.bank_bytes);
      double const one = 32.0 * 32 * 64;
      double const shared = one * degree * target.gap(ake::Class::smem_load);
      // Each read has an addition, and both a turn of the scheduler.
      double const rest = one * std::max(target.gap(ake::Class::fp32_add), 2 * target.issue_gap());
      if (rest > 0.9 * shared) continue;  // two limiters at once, which get into each other's way
      check(shared, row);
    }
  }
}

TEST_CASE("a counter: one update of an address in a clock, whatever unit it comes from") {
  for (auto const* const name : {"v100", "t4", "a100", "h100"}) {
    // 8 wavefronts a group, one lane of each.
    auto const count = [&](std::uint64_t groups, unsigned words) {
      return project(fmt::format("{} -k count -g {} -l 256 -a buf:u32:{}:zero -a i32:{} --groups resident:4", kernels,
                                 groups * 256, words * groups + 1, words),
                     name, "");
    };
    auto const one = count(65536, 0);
    CHECK(one.limiter == record::Limiter::atomics);
    check(8 * 65536, one);
    // A word of each group's own: no turns beyond those of the unit.
    CHECK(*count(65536, 32).cycles < 0.7 * *one.cycles);
    // What takes no time at all is not longer than the rest of the launch.
    CHECK(count(8, 0).limiter != record::Limiter::atomics);
  }
}

TEST_CASE("rounds: full ones and the rest are all groups, and their cycles all cycles") {
  Target const target("v100");
  std::uint64_t const units = target.machine.units;
  for (std::uint64_t const groups : {1ul, units, 2 * units, 2 * units + 1, 8 * units, 8 * units + 3, 19 * units - 1}) {
    auto const row = project(fmt::format("{0} -k copy -g {1} -l 256 -a buf:f32:{2}:zero -a buf:f32:{2}:zero -a i32:1",
                                         kernels, groups * 256, groups * 256 * 8),
                             "v100", no_cache);
    INFO(groups << " groups, " << *row.groups_per_cu << " on a unit");
    CHECK(*row.full_waves * units * *row.groups_per_cu + *row.tail_groups == groups);
    CHECK((*row.full_waves == 0) == (*row.full_wave_cycles == 0));
    CHECK((*row.tail_groups == 0) == (*row.tail_cycles == 0));
    CHECK(*row.full_wave_cycles + *row.tail_cycles == Approx(*row.cycles));
  }
}

TEST_CASE("a copy that fits the second level needs no device memory when it is warm") {
  auto const copy = [](std::uint64_t items, std::string const& options) {
    return project(fmt::format("{0} -k copy -g {1} -l 256 -a buf:f32:{2}:zero -a buf:f32:{2}:zero -a i32:1 "
                               "--groups resident:4",
                               kernels, items, items * 8),
                   "v100", options);
  };
  double const small = 2.0 * 8 * 4 * 32768;  // bytes of both buffers; the V100 has 6 MB
  auto const cold = copy(32768, ""), warm = copy(32768, "--warm");
  CHECK(cold.dram_bytes == small);
  CHECK(warm.dram_bytes == 0);
  CHECK(warm.cache == "warm");
  CHECK(*warm.l2_hit == 1);
  CHECK(*warm.time_s < *cold.time_s);
  // Of a copy of more than that nothing is left which the next run could use.
  auto const large = copy(1u << 20, "--warm");
  CHECK(large.dram_bytes == copy(1u << 20, "").dram_bytes);
  CHECK_THAT(large.reason, Contains("MB touched, more than the second level"));
}

TEST_CASE("AMD: pointer chase, a chain and many chains of multiply-adds") {
  auto const launch = chase_launch();
  for (auto const& name : amd_devices) {
    Target const target(name);
    double const turn = target.cycles(target.machine.issuing.wavefront_turn);
    double const branch = target.latency(ake::Class::control);
    // Each step is a load, the instruction that waits for it, and on GCN the turns of both.
    auto const chase = project(fmt::format("{} --groups all --width {}", launch, target.machine.width), name, no_cache);
    CHECK(chase.limiter == record::Limiter::memory_wait);
    check(16 * (64 * (target.latency(ake::Class::gmem_load_dram) + turn) + branch), chase);
    auto const chain = project(
        amd_launch(target, "fma_chain", target.machine.width, "-a buf:f32:64:zero -a i32:16 -a f32:0.5 -a f32:0.25"),
        name, no_cache);
    CHECK(chain.limiter == record::Limiter::dependency_wait);
    check(16 * (256 * target.latency(ake::Class::fp32_fma) + branch), chain);
    CHECK(chain.scheduler == "oldest");
    auto const many = project(
        amd_launch(target, "fma_many", 256, "-a buf:f32:256:zero -a i32:32 -a f32:0.5 -a f32:0.25"), name, no_cache);
    CHECK(many.limiter == record::Limiter::core);
    double const wavefronts = 256.0 / target.machine.width / target.machine.schedulers;
    double const expected = 32.0 * 512 * wavefronts * target.gap(ake::Class::fp32_fma) * target.machine.schedulers;
    // The last wavefront's branches have no other to hide behind.
    INFO(name << ": expected " << expected << " cycles, got " << *many.cycles);
    CHECK(*many.cycles >= expected);
    CHECK(*many.cycles <= 1.02 * expected + 32 * branch);
  }
}

TEST_CASE("AMD: a ladder of bank conflicts: passes of one unit of local memory") {
  for (auto const& name : amd_devices) {
    Target const target(name);
    for (unsigned const stride : {4u, 8u, 16u, 32u}) {
      auto const row =
          project(amd_launch(target, "ladder", 256, fmt::format("-a buf:f32:256:zero -a i32:32 -a i32:{}", stride)),
                  name, no_cache);
      // Lanes beyond 32 read the words of the first ones.
      double const passes = 256.0 / target.machine.width * 32 * 64 * stride;
      CHECK(row.limiter == record::Limiter::shared);
      check(passes * target.gap(ake::Class::smem_load), row);
      CHECK(*row.busy_shared > 0.95);
    }
  }
}

TEST_CASE("AMD: STREAM's copy, bytes over bandwidth") {
  for (auto const& name : amd_devices) {
    Target const target(name);
    auto const waves = target.device.max_waves_per_cu.value() * target.device.wave_width.value();
    auto const items = target.machine.units * waves;
    auto const row =
        project(fmt::format("{0} -k copy -g {1} -l 256 --width {2} -a buf:f32:{3}:zero -a buf:f32:{3}:zero -a i32:32",
                            kernels, items, target.machine.width, items * 8 * 32),
                name, no_cache);
    double const bytes = 2.0 * static_cast<double>(items) * 8 * 32 * 4;
    double const bandwidth = target.device.measured_bandwidth_bytes_per_s.value_or(
        0.85 * target.device.peak_bandwidth_bytes_per_s.value_or(0));
    CHECK(row.limiter == record::Limiter::dram);
    check(bytes / bandwidth * target.machine.clock_hz, row);
  }
}

TEST_CASE("AMD: counts of machine code take the place of the PTX's") {
  // PTX computes an address of 64 bits for each access; AMD's code adds offsets in the instruction or the scalar unit.
  for (auto const* const name : {"hd7970", "mi210", "rx6900xt"}) {
    Target const target(name);
    auto const slots = (scratch() / fmt::format("{}.csv", name)).string();
    auto const arguments = "-a buf:f32:262144:zero -a buf:f32:262144:zero -a i32:8";
    auto const command = fmt::format("{}/miniemu {} -k copy -g 4096 -l 256 --no-registers --machine-code {} {} > {}",
                                     KERNELCAST_BIN, kernels, target.device.target, arguments, slots);
    INFO(command);
    if (std::system(command.c_str()) != 0) SKIP_BECAUSE("no clang-19 or libclc-19");
    auto const counted = rows_of<record::Kernel>(slots).at(0);
    auto const one = [&](std::string const& options) {
      return project(amd_launch(target, "copy", 4096, arguments), name, no_cache + options);
    };
    auto const without = one(""), with = one(" --slots " + slots);
    CHECK_THAT(with.reason, Contains(fmt::format("slots of {}'s machine code", target.device.target)));
    CHECK_THAT(without.reason, !Contains("machine code"));
    CHECK_THAT(with.reason, !Contains("registers_ptx taken"));  // the code's own registers
    CHECK(*without.busy_scalar == 0);
    CHECK((*counted.slots[record::Pipe::scalar] > 0) == (*with.busy_scalar > 0));
    CHECK(*with.dram_bytes == *without.dram_bytes);
  }
}
