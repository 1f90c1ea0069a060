// Lanes that run together, and where each of them is. Internal to emu.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "emulator/decode/program.hpp"
#include "emulator/opcodes/copy.hpp"

namespace kernelcast::emu {

using Bits = std::array<std::uint32_t, max_warps_per_unit>;

// What lanes wait for: until one of these phases is complete. No phase: they do not wait.
struct PhaseWait {
  std::array<Phase, max_phases> phases{};
  std::uint32_t count = 0;
};

// Lanes of a unit that are at the same place.
struct Fragment {
  enum class State : std::uint8_t {
    ready,
    passed_over,  // has kept others waiting for too long: runs when no ready one is left
    waiting,      // for a phase of an mbarrier
    held,         // behind lanes of the same warps that wait for a phase: runs when nothing else can
    parked        // at a barrier; the key is where it goes on
  };
  std::uint64_t key = 0;  // see Machine::key_of: the lowest runs first
  Bits bits{};
  State state = State::ready;
  std::uint32_t stack_limit = 0;
  std::uint64_t since = 0;  // Context::syncs when it began to wait
  std::uint32_t barrier = 0, threads = 0, instruction = 0;
  bool aligned = true;
  End const* end = nullptr;
  Bits holds{};  // bar.red: lanes whose condition holds
  PhaseWait waits;

  bool parked() const { return state == State::parked; }
};

struct Unit {
  std::byte* registers = nullptr;
  std::uint32_t warps = 0, first_warp = 0;
  Bits exists{};
  std::vector<Fragment> fragments;  // all but the running one
};

}  // namespace kernelcast::emu
