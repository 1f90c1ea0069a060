#include "runtimes/cudart/host_waits.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace kernelcast::cudart {

namespace {

// Ends the run at the first change, and once only the same reads have been seen for long.
class Spin : public emu::Observer {
 public:
  bool found() const { return found_; }

  void block(std::uint32_t, emu::Lanes const&) override {
    if (++blocks_ < enough_blocks || reads_ < enough_reads) return;
    found_ = true;
    throw emu::Stop{};
  }
  void memory(emu::MemoryAccess const& access) override {
    if (access.space == ptx::StateSpace::constant || access.space == ptx::StateSpace::param) return;
    bool const reads = access.direction == emu::Direction::load;
    if (access.space != ptx::StateSpace::global) {
      blocks_ = reads_ = 0;
      return;
    }
    if (!reads) throw emu::Stop{};
    Read read{access.instruction, access.base, 0};
    if (access.lanes.masks[0] & 1)
      std::memcpy(&read.value, access.host + access.offsets[0],
                  std::min<std::size_t>(access.bytes_per_lane, sizeof read.value));
    for (auto const& known : known_)
      if (known == read) {
        ++reads_;
        return;
      }
    known_[next_++ % known_.size()] = read;
    blocks_ = reads_ = 0;
  }
  std::unique_ptr<emu::Observer> fork() const override { return std::make_unique<Spin>(); }
  void join(emu::Observer const&) override {}

 private:
  static constexpr std::uint64_t enough_blocks = 1 << 16, enough_reads = 1 << 12;
  struct Read {
    std::uint32_t instruction = 0;
    std::uint64_t base = 0, value = 0;
    bool operator==(Read const&) const = default;
  };

  std::uint64_t blocks_ = 0, reads_ = 0;  // since something else was read
  std::array<Read, 4> known_{};
  std::size_t next_ = 0;
  bool found_ = false;
};

// All that the parameters point to is memory that the host can write, and there is some.
bool leads_to_host(emu::Launch const& launch, Allocations const& allocations) {
  bool found = false;
  for (std::size_t at = 0; at + sizeof(void*) <= launch.parameters.size(); at += sizeof(void*)) {
    void const* word = nullptr;
    std::memcpy(&word, launch.parameters.data() + at, sizeof word);
    auto const* const allocation = allocations.holding(word).second;
    if (!allocation) continue;
    if (allocation->type == MemoryType::device) return false;
    found = true;
  }
  return found;
}

// What malloc and free do would stay.
bool has_heap(Kernel const& kernel) {
  return std::ranges::any_of(kernel.program->module->functions, [](ptx::Function const& function) {
    return function.name == "malloc" || function.name == "free";
  });
}

}  // namespace

bool waits_for_host(Kernel const& kernel, emu::Launch const& launched, emu::Memory& memory,
                    Allocations const& allocations) {
  if (!kernel.ready->order_dependent() || launched.cooperative || !leads_to_host(launched, allocations) ||
      has_heap(kernel))
    return false;
  auto launch = launched;
  launch.print = nullptr;
  launch.external = nullptr;
  emu::Limits limits;
  limits.max_steps = 1 << 22;
  Spin spin;
  emu::Observer* const observers[] = {&spin};
  std::uint64_t const first[] = {0};
  emu::run(*kernel.ready, launch, memory, first, observers, limits, 1);
  return spin.found();
}

}  // namespace kernelcast::cudart
