// The occupancy rules: worked checks, properties, and NVIDIA's own calculator where the toolkit is present.
#include <random>
#include <vector>

#include "catch.hpp"
#include "devdb.hpp"
#include "records/device/device.hpp"

#if defined(KERNELCAST_CUDA_OCCUPANCY)
#include <cuda_occupancy.h>
#endif

using namespace kernelcast;
using device::occupancy;

namespace {

record::OccupancyRule const& rule(std::string const& target) {
  for (auto const& r : database().rules())
    if (r.target == target) return r;
  throw std::runtime_error("no rule " + target);
}

}  // namespace

TEST_CASE("worked checks of the allocation rules") {
  struct Check {
    char const* target;
    std::uint64_t size, registers, shared, groups, waves;
    double occupancy;
    char const* bound;
  };
  // 3.5: 8 waves, 1024 registers each, 16 waves in each of 4 parts. 2.0: 704 a wave, 23 waves in each half, 46/8 = 5.
  // 1.3: ceil_to(8*32*17, 512) = 4608 a group, 3 of them. 8.6: ceil_to(33792+1024, 128) = 34816, 2 in 102400.
  // 3.7 has twice the registers of 3.5. gfx6: 256/ceil_to(25,4) = 9 waves a SIMD. gfx1100: 1536/ceil_to(96,24) = 16.
  // Evergreen: 256/20 = 12 waves. Intel's threads have 128 registers of 64 bytes (dg2: 32): 32 lanes have 64 each, more
  // takes threads of 16 lanes, or half of the threads.
  for (auto const& c : std::vector<Check>{{"cc3.5", 256, 32, 0, 8, 8, 1, "waves+registers"},
                                          {"cc2.x", 256, 21, 0, 5, 8, 40 / 48.0, "registers"},
                                          {"cc1.2-1.3", 256, 17, 0, 3, 8, 0.75, "registers"},
                                          {"cc1.0-1.1", 256, 10, 0, 3, 8, 1, "waves+registers"},
                                          {"cc8.6", 256, 40, 33 * 1024, 2, 8, 16 / 48.0, "shared"},
                                          {"cc3.7", 256, 64, 0, 8, 8, 1, "waves+registers"},
                                          {"cc6.0", 256, 33, 0, 6, 8, 0.75, "registers"},
                                          {"cc9.0", 64, 16, 0, 32, 2, 1, "waves+groups"},
                                          {"cc12.0", 32, 16, 0, 24, 1, 0.5, "groups"},
                                          {"cc10.0", 1024, 32, 200 * 1024, 1, 32, 0.5, "shared"},
                                          {"gfx6", 256, 25, 0, 9, 4, 0.9, "registers"},
                                          {"gfx6", 64, 10, 0, 40, 1, 1, "waves+groups"},
                                          {"gfx7", 64, 10, 4096, 16, 1, 0.4, "shared"},
                                          {"gfx8-gfx908", 128, 10, 0, 16, 2, 0.8, "groups"},
                                          {"gfx90a-gfx942", 256, 128, 0, 4, 4, 0.5, "registers"},
                                          {"gfx10.3", 128, 64, 0, 8, 4, 1, "waves+registers"},
                                          {"gfx1100", 128, 120, 0, 6, 4, 0.75, "registers"},
                                          {"pvc", 256, 64, 0, 8, 8, 1, "waves+registers"},
                                          {"pvc", 256, 65, 0, 4, 8, 0.5, "registers"},
                                          {"pvc", 32, 16, 0, 64, 1, 1, "waves+groups+registers"},
                                          {"dg2", 128, 65, 0, 8, 8, 0.5, "registers"},
                                          {"dg2", 64, 16, 48 * 1024, 2, 4, 8 / 128.0, "shared"},
                                          {"bmg", 512, 129, 0, 1, 32, 0.5, "registers"},
                                          {"evergreen-vliw5", 128, 20, 0, 6, 2, 0.375, "registers"},
                                          {"evergreen-vliw5", 64, 4, 8192, 4, 1, 0.125, "shared"}}) {
    auto const o = occupancy(rule(c.target), {c.registers, c.shared}, c.size);
    INFO(c.target << ": " << c.size << " work-items, " << c.registers << " registers, " << c.shared << " bytes");
    CHECK(o.groups_per_cu == c.groups);
    CHECK(o.waves_per_group == c.waves);
    CHECK(o.occupancy == Approx(c.occupancy));
    CHECK(o.bound == c.bound);
    CHECK(o.misfit.empty());
  }
}

TEST_CASE("a work-group that does not fit says which limit") {
  CHECK(occupancy(rule("cc1.2-1.3"), {}, 1024).misfit == "1024 work-items in a work-group, at most 512");
  CHECK(occupancy(rule("cc2.x"), {64, 0}, 256).misfit == "64 registers per work-item, at most 63");
  CHECK(occupancy(rule("cc2.x"), {63, 0}, 1024).misfit == "65536 registers for a work-group, at most 32768");
  CHECK(occupancy(rule("cc3.7"), {72, 0}, 1024).misfit == "73728 registers for a work-group, at most 65536");
  CHECK(occupancy(rule("cc2.x"), {20, 50000}, 64).misfit ==
        "50000 bytes of shared memory for a work-group, at most 49152");
  CHECK(occupancy(rule("gfx6"), {20, 40000}, 64).misfit ==
        "40000 bytes of shared memory for a work-group, at most 32768");
  CHECK(occupancy(rule("gfx8-gfx908"), {200, 0}, 1024).misfit ==
        "16 wavefronts of 200 registers per work-item, a compute unit holds 4");
  for (auto const& r : database().rules()) {
    INFO(r.target);
    auto const o = occupancy(r, {1, *r.shared_per_group_bytes}, *r.max_group_size);
    CHECK(o.groups_per_cu >= 1);
    CHECK(occupancy(r, {1, 0}, *r.max_group_size + 1).groups_per_cu == 0);
  }
}

TEST_CASE("which of a kernel's register counts is a device's") {
  record::RegisterCounts kernel;
  auto const of = [&](char const* device) { return device::registers_for(kernel, database().find(device)); };
  CHECK((!of("h200").count && of("h200").source.empty()));
  CHECK(of("h200").notes == std::vector<std::string>{"registers_sm75 not known, occupancy without registers"});
  kernel.registers_ptx = 91;  // live ranges of 32 bits: four to one register of cypress
  CHECK((of("hd5870").count == 23 && of("hd5870").source == "registers_ptx"));
  CHECK(of("hd5870").notes == std::vector<std::string>{"gprs_cypress not known, registers_ptx taken"});
  CHECK((of("mi100").count == 91 && of("h200").count == 91));
  kernel.registers_sm75 = 31;
  kernel.vgprs_gfx6 = 32;
  kernel.vgprs_gfx90a = 33;
  kernel.vgprs_gfx1030 = 34;
  kernel.gprs_cypress = 5;
  for (auto const& [device, count] : std::vector<std::pair<char const*, std::uint64_t>>{{"c1060", 31},
                                                                                        {"hd7970", 32},
                                                                                        {"r9-290x", 32},
                                                                                        {"rx480", 32},
                                                                                        {"mi100", 33},
                                                                                        {"mi250x", 33},
                                                                                        {"w6600", 34},
                                                                                        {"rx7900xtx", 34},
                                                                                        {"hd5870", 5}}) {
    INFO(device);
    CHECK(of(device).count == count);
    CHECK(of(device).notes.empty());
  }
  auto other = database().find("h200");
  other.vendor = "Intel";
  CHECK(device::registers_for(kernel, other).count == 91);
  CHECK(device::registers_for(kernel, other).source == "registers_ptx");
}

TEST_CASE("what is above the device's limit, or keeps a single group from fitting, is spilled") {
  record::RegisterCounts kernel;
  kernel.registers_ptx = 300;
  auto const& device = database().find("h200");
  auto registers = device::registers_for(kernel, device);
  CHECK(registers.count == 255);
  CHECK(device::occupancy(device, registers, 0, 32).groups_per_cu > 0);
  CHECK(registers.count == 255);
  CHECK(device::occupancy(device, registers, 0, 1024).groups_per_cu == 1);
  CHECK(registers.count == 64);  // 65536 registers for 1024 work-items
  CHECK(registers.notes ==
        std::vector<std::string>{"registers_sm75 not known, registers_ptx taken",
                                 "300 registers, 255 and the rest spilled",
                                 "255 registers, 64 and the rest spilled so that a work-group fits"});
  // Where shared memory keeps it from fitting, spilling is of no use.
  registers = device::registers_for(kernel, device);
  CHECK(device::occupancy(device, registers, std::uint64_t{1} << 30, 1024).groups_per_cu == 0);
  CHECK(registers.count == 255);
}

TEST_CASE("registers that ptxas assigns are not spilled for a work-group that is too large") {
  record::RegisterCounts kernel;
  kernel.registers_sm75 = 255;
  for (char const* const name : {"k40", "gtx1080", "a100", "h200"}) {
    INFO(name);
    auto const& device = database().find(name);
    auto registers = device::registers_for(kernel, device);
    CHECK(device::occupancy(device, registers, 0, 512).misfit == "131072 registers for a work-group, at most 65536");
    CHECK(device::occupancy(device, registers, 0, 256).groups_per_cu >= 1);
    CHECK(registers.count == 255);
  }
  // The device's own always, another target's where it is far too many.
  kernel.registers_sm75 = 72;
  for (auto const& [name, groups] : {std::pair{"rtx2080ti", 0}, {"a100", 1}}) {
    INFO(name);
    auto const& device = database().find(name);
    auto few = device::registers_for(kernel, device);
    CHECK(device::occupancy(device, few, 0, 1024).groups_per_cu == static_cast<std::uint64_t>(groups));
    CHECK(few.count == (groups == 0 ? 72 : 64));
  }
  kernel.registers_sm75.reset();
  kernel.target = "sm_80";
  kernel.registers_target = 72;
  auto own = device::registers_for(kernel, database().find("a100"));
  CHECK(device::occupancy(database().find("a100"), own, 0, 1024).misfit ==
        "73728 registers for a work-group, at most 65536");
  kernel = {};
  kernel.registers_sm75 = 255;
  // Another compiler's: of a device with fewer registers for a work-item.
  auto const& old = database().find("c2050");
  auto registers = device::registers_for(kernel, old);
  CHECK(device::occupancy(old, registers, 0, 1024).groups_per_cu == 1);
  CHECK(registers.count == 32);
}

TEST_CASE("a rule that lacks a limit names the column") {
  auto r = rule("cc3.5");
  r.register_unit.reset();
  CHECK_NOTHROW(occupancy(r, {}, 64));
  CHECK_THROWS_WITH(occupancy(r, {8, 0}, 64), Contains("register_unit"));
}

TEST_CASE("more registers or shared memory never raise the occupancy, and it stays within the limits") {
  std::mt19937_64 random(5);
  for (auto const& r : database().rules())
    for (int i = 0; i < 2000; ++i) {
      std::uint64_t const size = 1 + random() % *r.max_group_size;
      std::uint64_t const registers = 1 + random() % (*r.max_registers_per_item - 1);
      std::uint64_t const shared = random() % *r.shared_per_group_bytes;
      auto const o = occupancy(r, {registers, shared}, size);
      REQUIRE(o.occupancy >= 0);
      REQUIRE(o.occupancy <= 1);
      REQUIRE(o.groups_per_cu * o.waves_per_group <= *r.max_waves_per_cu);
      REQUIRE(o.groups_per_cu * shared <= *r.shared_per_cu_bytes);
      REQUIRE((o.groups_per_cu == 0) != o.misfit.empty());
      REQUIRE(occupancy(r, {registers + 1, shared}, size).groups_per_cu <= o.groups_per_cu);
      REQUIRE(occupancy(r, {registers, shared + 1}, size).groups_per_cu <= o.groups_per_cu);
    }
}

TEST_CASE("the occupancy equals that of NVIDIA's cuda_occupancy.h") {
#if !defined(KERNELCAST_CUDA_OCCUPANCY)
  SKIP_BECAUSE("no CUDA toolkit: cuda_occupancy.h was not found");
#else
  std::mt19937_64 random(6);
  int compared = 0, fitting = 0;
  for (auto const& r : database().rules()) {
    int major = 0, minor = 0;
    if (std::sscanf(r.target.c_str(), "cc%d.%d", &major, &minor) != 2 || major < 3) continue;
    cudaOccDeviceProp p;
    p.computeMajor = major;
    p.computeMinor = minor;
    p.warpSize = 32;
    p.numSms = 1;
    p.maxThreadsPerBlock = static_cast<int>(*r.max_group_size);
    p.maxThreadsPerMultiprocessor = static_cast<int>(*r.max_threads_per_cu);
    p.regsPerMultiprocessor = static_cast<int>(*r.registers_per_cu);
    p.regsPerBlock = static_cast<int>(r.registers_per_group.value_or(*r.registers_per_cu));
    p.sharedMemPerMultiprocessor = *r.shared_per_cu_bytes;
    p.sharedMemPerBlock = std::min<std::uint64_t>(49152, *r.shared_per_group_bytes);
    p.sharedMemPerBlockOptin = *r.shared_per_group_bytes;
    p.reservedSharedMemPerBlock = r.shared_reserved_bytes.value_or(0);
    for (int i = 0; i < 20000; ++i) {
      int const size = 1 + static_cast<int>(random() % (*r.max_group_size + 32));
      int const registers = 1 + static_cast<int>(random() % (*r.max_registers_per_item >> (random() % 3)));
      std::size_t const shared = random() % 4 ? random() % (*r.shared_per_group_bytes >> (random() % 8)) : 0;
      cudaOccFuncAttributes a;
      a.maxThreadsPerBlock = p.maxThreadsPerBlock;
      a.numRegs = registers;
      a.sharedSizeBytes = 0;
      a.maxDynamicSharedSizeBytes = shared;
      a.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN;
      a.numBlockBarriers = 1;
      cudaOccDeviceState state;
      state.carveoutConfig = SHAREDMEM_CARVEOUT_MAX_SHARED;
      cudaOccResult result{};
      auto const status = cudaOccMaxActiveBlocksPerMultiprocessor(&result, &p, &a, &state, size, shared);
      INFO(r.target << ": " << size << " threads, " << registers << " registers, " << shared << " bytes");
      REQUIRE(status == CUDA_OCC_SUCCESS);
      auto const ours = occupancy(r, {static_cast<std::uint64_t>(registers), shared}, static_cast<std::uint64_t>(size));
      REQUIRE(ours.groups_per_cu == static_cast<std::uint64_t>(result.activeBlocksPerMultiprocessor));
      ++compared;
      fitting += ours.groups_per_cu > 0;
    }
  }
  CHECK(compared == 16 * 20000);
  CHECK(fitting > compared / 2);
#endif
}
