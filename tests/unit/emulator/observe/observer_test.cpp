// KernelObserver on made-up events: what the memo remembers must equal what a checker without memory counts.
#include <bit>
#include <map>
#include <random>
#include <set>
#include <vector>

#include "catch.hpp"
#include "emulator/observe/kernel_counters.hpp"
#include "emulator/observe/transactions.hpp"

using namespace kernelcast::emu;
using kernelcast::ptx::StateSpace;

namespace {

// Two blocks: three memory instructions and a guarded one; one branch.
KernelMix small_mix() {
  KernelMix mix;
  mix.blocks.resize(2);
  mix.blocks[0].instructions[Class::memory] = 4;
  mix.blocks[0].unguarded[Class::memory] = 3;
  mix.blocks[0].param_bytes = 12;
  mix.blocks[1].instructions[Class::control] = 1;
  mix.instructions.assign(8, {Class::memory, 0});
  mix.instructions[5] = {Class::control, 0};
  return mix;
}

struct Unit {
  std::vector<std::uint32_t> masks, offsets;
  std::uint32_t first_warp = 0;
  explicit Unit(std::uint32_t warps) : masks(warps, ~0u), offsets(std::size_t{32} * warps) {}
  Lanes lanes(bool full = false) const {
    return {masks.data(), static_cast<std::uint32_t>(masks.size()), first_warp, full};
  }
  MemoryAccess access(std::uint32_t instruction, StateSpace space, Direction direction, std::uint8_t bytes,
                      std::uint64_t base) const {
    return {instruction, space, direction, bytes, base, offsets.data(), lanes()};
  }
};

// Adds up without a memo.
struct Checker {
  GlobalCounts global;
  std::array<std::uint64_t, 9> tx{}, passes{};
  std::array<std::uint64_t, 3> cc13{};
  std::uint64_t lanes = 0;
  std::set<std::uint64_t> sectors;

  void add(MemoryAccess const& access) {
    for (std::uint32_t w = 0; w < access.lanes.warps; w += 2) {
      std::vector<std::uint32_t> offsets(64);
      std::uint64_t mask = 0;
      for (unsigned l = 0; l < 64 && w + l / 32 < access.lanes.warps; ++l)
        if (access.lanes.masks[w + l / 32] >> (l % 32) & 1) {
          mask |= std::uint64_t{1} << l;
          offsets[l] = access.offsets[32 * w + l];
          for (unsigned b = 0; b < access.bytes_per_lane; ++b) sectors.insert((access.base + offsets[l] + b) / 32);
        }
      lanes += static_cast<std::uint64_t>(std::popcount(mask));
      WaveAccess const wave{mask, access.base, offsets.data(), access.bytes_per_lane};
      auto const g = count_global(wave);
      auto const s = count_shared(wave);
      for (unsigned i = 0; i < 9; ++i) tx[i] += g.tx[i / 3][i % 3], passes[i] += s.passes[i / 3][i % 3];
      for (unsigned i = 0; i < 3; ++i) cc13[i] += g.cc13[i];
    }
  }
};

std::array<std::uint64_t, 9> flat(std::array<std::array<std::uint64_t, 3>, 3> const& a) {
  std::array<std::uint64_t, 9> f{};
  for (unsigned i = 0; i < 9; ++i) f[i] = a[i / 3][i % 3];
  return f;
}

}  // namespace

TEST_CASE("remembered patterns count like new ones") {
  std::mt19937 random(7);
  auto const below = [&](std::uint32_t n) { return static_cast<std::uint32_t>(random() % n); };
  for (int round = 0; round < 30; ++round) {
    KernelObserver observer(small_mix());
    Checker loads, stores, shared;
    std::uint32_t const warps = 1 + below(8);
    unsigned const bytes = 1u << below(5);
    for (int phase = 0; phase < 12; ++phase) {  // each keeps one pattern for a while, or changes it every time
      bool const steady = below(3) != 0;
      Unit unit(warps);
      for (int repeat = 0; repeat < 60; ++repeat) {
        if (repeat == 0 || !steady || below(20) == 0) {
          std::uint32_t const stride = below(40) * bytes, width = 1u << below(6), pitch = below(2000) * bytes;
          bool const scattered = below(3) == 0;
          for (std::uint32_t l = 0; l < 32 * warps; ++l)
            unit.offsets[l] = scattered ? below(60000) * bytes : l % width * stride + l / width * pitch;
          for (auto& mask : unit.masks) mask = below(3) ? ~0u : below(3) ? static_cast<std::uint32_t>(random()) : 0;
        }
        std::uint64_t const base =
            0x7000000000 + std::uint64_t{below(100000)} * bytes + (below(10) == 0 ? below(8) : 0);
        auto const load = unit.access(0, StateSpace::global, Direction::load, static_cast<std::uint8_t>(bytes), base);
        auto const store = unit.access(1, StateSpace::global, Direction::store, 4, base / 64 * 64);
        auto const local =
            unit.access(2, StateSpace::shared, Direction::load, static_cast<std::uint8_t>(bytes), base % 4096);
        observer.memory(load);
        observer.memory(store);
        observer.memory(local);
        loads.add(load);
        stores.add(store);
        shared.add(local);
      }
    }
    auto const k = observer.counters();
    REQUIRE(flat(k.global_load_tx) == loads.tx);
    REQUIRE(flat(k.global_store_tx) == stores.tx);
    REQUIRE(flat(k.shared_load_passes) == shared.passes);
    REQUIRE(k.global_load_cc13 == loads.cc13);
    REQUIRE(k.global_store_cc13 == stores.cc13);
    REQUIRE(k.global_load_bytes == loads.lanes * bytes);
    REQUIRE(k.global_store_bytes == stores.lanes * 4);
    REQUIRE(k.shared_load_bytes == shared.lanes * bytes);
    auto sectors = loads.sectors;
    sectors.insert(stores.sectors.begin(), stores.sectors.end());
    REQUIRE(k.global_footprint_bytes == 32 * sectors.size());
  }
}

TEST_CASE("instructions are block entries times the block's mix; guards count lanes but not issues") {
  KernelObserver observer(small_mix());
  Unit unit(3);  // 80 work-items: the third warp has 16
  unit.masks[2] = 0xffff;
  observer.block(0, unit.lanes(true));
  observer.block(0, unit.lanes(true));
  Unit half = unit;
  half.masks = {0x0000ffff, 0, 0x1};
  observer.block(0, half.lanes());
  observer.guarded(3, half.lanes());
  auto const k = observer.counters();
  CHECK(k.inst[Class::memory] == 3 * (80 + 80 + 17) + 17);
  CHECK(k.issues[Class::memory] == std::array<std::uint64_t, 3>{4 * (5 + 5 + 2), 4 * (3 + 3 + 2), 4 * (2 + 2 + 2)});
  CHECK(k.param_bytes == 12 * (80 + 80 + 17));
  CHECK(k.inst_total() == 3 * 177 + 17);
}

TEST_CASE("a branch diverges for the widths whose lanes disagree") {
  KernelObserver observer(small_mix());
  Unit all(4), taking(4);
  auto const run = [&](std::vector<std::uint32_t> masks) {
    taking.masks = std::move(masks);
    observer.branch(5, all.lanes(true), taking.lanes());
  };
  run({~0u, ~0u, ~0u, ~0u});
  run({0, 0, 0, 0});
  run({~0u, 0, ~0u, 0});  // warps disagree: divergent for 64 only
  run({0xffff, ~0u, 0, 0});
  auto const k = observer.counters();
  CHECK(k.branches == 16);
  CHECK(k.divergent_branches_w32 == 1);
  CHECK(k.divergent_branches_w64 == 3);
  CHECK(k.inst[Class::control] == 128 + 64 + 48);
}

TEST_CASE("barriers are counted per group, whoever arrives in pieces") {
  KernelObserver observer(small_mix());
  Unit first(8), second(2);
  second.first_warp = 8;
  for (int group = 0; group < 3; ++group) {
    observer.group_begin(static_cast<std::uint64_t>(group));
    for (int i = 0; i < 5; ++i) {
      first.masks.assign(8, 0x0000ffff);
      observer.barrier(6, first.lanes(), 0, 0);
      first.masks.assign(8, 0xffff0000);
      observer.barrier(6, first.lanes(), 0, 0);
      observer.barrier(6, second.lanes(true), 0, 0);
    }
    observer.group_end();
  }
  CHECK(observer.counters().barriers == 15);
}

TEST_CASE("atomics: lanes, and the most on one address") {
  KernelObserver observer(small_mix());
  Unit unit(2);
  for (unsigned group = 0; group < 2; ++group) {
    observer.group_begin(group);
    for (auto& offset : unit.offsets) offset = 16;
    observer.memory(unit.access(4, StateSpace::global, Direction::atomic, 4, 0x1000));
    for (unsigned l = 0; l < 64; ++l) unit.offsets[l] = l % 4 * 4;
    observer.memory(unit.access(6, StateSpace::shared, Direction::atomic, 4, 0));
    observer.group_end();
  }
  auto const k = observer.counters();
  CHECK(k.atomics_global == 128);
  CHECK(k.atomics_shared == 128);
  CHECK(k.atomic_max_global == 128);
  CHECK(k.atomic_max_shared == 16);
  CHECK(k.global_footprint_bytes == 32);
  CHECK(k.global_load_bytes == 0);
}

TEST_CASE("forks joined in any order equal one observer") {
  KernelObserver serial(small_mix()), forward(small_mix()), backward(small_mix());
  std::vector<std::unique_ptr<Observer>> parts;
  std::mt19937 random(3);
  for (unsigned group = 0; group < 6; ++group) {
    parts.push_back(forward.fork());
    Unit unit(4);
    for (auto& offset : unit.offsets) offset = static_cast<std::uint32_t>(random() % 5000) * 4;
    for (Observer* observer : {static_cast<Observer*>(&serial), parts.back().get()}) {
      observer->group_begin(group);
      for (unsigned i = 0; i <= group; ++i) {
        observer->block(0, unit.lanes(true));
        observer->memory(unit.access(0, StateSpace::global, Direction::load, 4, 4096 * group));
        observer->memory(unit.access(4, StateSpace::global, Direction::atomic, 4, 0));
      }
      observer->barrier(6, unit.lanes(true), 0, 0);
      observer->group_end();
    }
  }
  for (auto const& part : parts) forward.join(*part);
  for (auto part = parts.rbegin(); part != parts.rend(); ++part) backward.join(**part);
  CHECK(serial.counters() == forward.counters());
  CHECK(forward.counters() == backward.counters());
  CHECK(serial.spread_pct() == forward.spread_pct());
  CHECK(backward.spread_pct() == forward.spread_pct());
  // Group g enters the block g + 1 times: (6 − 1) / 3.5.
  CHECK(*serial.spread_pct() >= 100 * 5 / 3.5 - 1e-9);
  CHECK(!KernelObserver(small_mix()).spread_pct());
}

TEST_CASE("products whose shape is data are added up by kind, those of other threads, too") {
  KernelObserver observer(small_mix());
  observer.product(0, 0, "tcgen05/f16/f32", 100);
  observer.product(3, 0, "tcgen05/f8/f32", 7);
  auto const fork = observer.fork(), second = fork->fork();
  fork->product(0, 0, "tcgen05/f16/f32", 20);
  second->product(0, 0, "tcgen05/f16/f32", 3);
  fork->join(*second);
  observer.join(*fork);
  CHECK(observer.counters().matrix_flop ==
        std::map<std::string, double>{{"tcgen05/f16/f32", 123}, {"tcgen05/f8/f32", 7}});
}
