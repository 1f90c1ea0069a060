#include "emulator/observe/instruction_counters.hpp"

#include <algorithm>
#include <array>
#include <bit>

#include "emulator/observe/counting.hpp"

namespace kernelcast::emu {

namespace {

std::uint64_t lanes_of(Lanes const& lanes) {
  std::uint64_t n = 0;
  for (std::uint32_t w = 0; w < lanes.warps; ++w) n += static_cast<std::uint64_t>(std::popcount(lanes.masks[w]));
  return n;
}

// Requests of a wavefront of 32 on 32 banks of 4 bytes: a half of it for words of 8 bytes, and so on.
std::uint64_t requests_of(std::uint32_t mask, unsigned bytes) {
  unsigned const lanes_per_request = 32 / std::min(std::max(1u, bytes / 4), 16u);
  std::uint64_t requests = 0;
  for (unsigned begin = 0; begin < 32; begin += lanes_per_request)
    requests += (mask >> begin & (~std::uint32_t{0} >> (32 - lanes_per_request))) != 0;
  return requests;
}

}  // namespace

void InstructionCounters::add(InstructionCounters const& o) {
  for (auto const member :
       {&InstructionCounters::inst, &InstructionCounters::issues_w32, &InstructionCounters::global_bytes,
        &InstructionCounters::shared_bytes, &InstructionCounters::local_bytes, &InstructionCounters::global_tx,
        &InstructionCounters::global_tx_ideal, &InstructionCounters::shared_passes,
        &InstructionCounters::shared_passes_ideal, &InstructionCounters::branches,
        &InstructionCounters::divergent_branches_w32, &InstructionCounters::atomics})
    this->*member += o.*member;
}

struct InstructionObserver::State {
  std::vector<BasicBlock> ranges;
  std::vector<bool> apart;  // by instruction: guarded or a branch, its lanes come with an event of its own
  Counting const& count = counting();
  std::vector<InstructionCounters> events;  // what is known only when it happens: all but inst and issues of blocks
  std::vector<BlockCounters> blocks;
  std::vector<bool> entered;  // by this group

  void access(InstructionCounters&, MemoryAccess const&, std::uint32_t warp);
};

InstructionObserver::InstructionObserver(Program const& program) : state_(std::make_unique<State>()) {
  State& s = *state_;
  auto const& instructions = program.kernel().instructions;
  s.ranges.assign(program.blocks().begin(), program.blocks().end());
  for (auto const& i : instructions) s.apart.push_back(i.guard.present || i.is(ptx::Op::brx));
  s.events.resize(instructions.size());
  s.blocks.resize(s.ranges.size());
  s.entered.resize(s.ranges.size());
}
InstructionObserver::InstructionObserver(std::unique_ptr<State> state) : state_(std::move(state)) {}
InstructionObserver::~InstructionObserver() = default;

void InstructionObserver::group_end() {
  State& s = *state_;
  for (std::size_t b = 0; b < s.entered.size(); ++b) s.blocks[b].groups += s.entered[b];
  s.entered.assign(s.entered.size(), false);
}

void InstructionObserver::block(std::uint32_t block, Lanes const& lanes) {
  BlockCounters& counters = state_->blocks[block];
  counters.lanes += lanes_of(lanes);
  for (std::uint32_t w = 0; w < lanes.warps; ++w) counters.warps += lanes.masks[w] != 0;
  state_->entered[block] = true;
}

void InstructionObserver::guarded(std::uint32_t instruction, Lanes const& lanes) {
  state_->events[instruction].inst += lanes_of(lanes);
}

// One wavefront of 32.
void InstructionObserver::State::access(InstructionCounters& counters, MemoryAccess const& access, std::uint32_t warp) {
  WaveAccess const wave{access.lanes.masks[warp], access.base, access.offsets + lanes_per_warp * warp,
                        access.bytes_per_lane};
  auto const lanes = static_cast<std::uint64_t>(std::popcount(wave.mask));
  std::uint64_t const bytes = lanes * wave.bytes;
  if (access.space == ptx::StateSpace::global) {
    std::uint64_t const tx = count.count_global(wave).tx[1][0];
    counters.global_bytes += bytes;
    counters.global_tx += tx;
    counters.global_tx_ideal += std::min(tx, (bytes + 31) / 32);
  } else if (access.space == ptx::StateSpace::shared) {
    counters.shared_bytes += bytes;
    counters.shared_passes += count.count_shared(wave).passes[1][1];
    counters.shared_passes_ideal += requests_of(access.lanes.masks[warp], wave.bytes);
  } else if (access.space == ptx::StateSpace::local) {
    counters.local_bytes += bytes;
  }
}

void InstructionObserver::memory(MemoryAccess const& access) {
  State& s = *state_;
  InstructionCounters& counters = s.events[access.instruction];
  bool const atomic = access.direction == Direction::atomic &&
                      (access.space == ptx::StateSpace::global || access.space == ptx::StateSpace::shared);
  if (atomic) {
    counters.atomics += lanes_of(access.lanes);
    return;
  }
  for (std::uint32_t w = 0; w < access.lanes.warps; ++w)
    if (access.lanes.masks[w]) s.access(counters, access, w);
}

void InstructionObserver::branch(std::uint32_t instruction, Lanes const& executing, Lanes const& taking) {
  InstructionCounters& counters = state_->events[instruction];
  counters.inst += lanes_of(taking);
  for (std::uint32_t w = 0; w < executing.warps; ++w) {
    std::uint32_t const all = executing.masks[w], take = taking.masks[w] & all;
    counters.branches += all != 0;
    counters.divergent_branches_w32 += take && take != all;
  }
}

std::unique_ptr<Observer> InstructionObserver::fork() const {
  auto empty = std::make_unique<State>(*state_);
  empty->events.assign(empty->events.size(), {});
  empty->blocks.assign(empty->blocks.size(), {});
  return std::unique_ptr<Observer>(new InstructionObserver(std::move(empty)));
}

void InstructionObserver::join(Observer const& other) {
  State& s = *state_;
  State const& o = *dynamic_cast<InstructionObserver const&>(other).state_;
  for (std::size_t i = 0; i < s.events.size(); ++i) s.events[i].add(o.events[i]);
  for (std::size_t b = 0; b < s.blocks.size(); ++b) {
    s.blocks[b].lanes += o.blocks[b].lanes;
    s.blocks[b].warps += o.blocks[b].warps;
    s.blocks[b].groups += o.blocks[b].groups;
  }
}

std::vector<InstructionCounters> InstructionObserver::instructions() const {
  State const& s = *state_;
  auto all = s.events;
  for (std::size_t b = 0; b < s.ranges.size(); ++b)
    for (std::uint32_t i = s.ranges[b].first; i < s.ranges[b].last; ++i) {
      all[i].issues_w32 += s.blocks[b].warps;
      if (!s.apart[i]) all[i].inst += s.blocks[b].lanes;
    }
  return all;
}

std::vector<BlockCounters> const& InstructionObserver::blocks() const {
  return state_->blocks;
}

}  // namespace kernelcast::emu
