#include "measure/flux/emulated.hpp"

#include <bit>
#include <unordered_map>

namespace kernelcast::flux {

namespace {

std::uint64_t key_of(ptx::TextPosition at) {
  return std::uint64_t{at.line} << 32 | at.column;
}

// Small groups that run side by side share a word, each with a warp of its own.
std::uint32_t warps_in(std::uint32_t mask, std::uint32_t group_lanes) {
  if (group_lanes == 0 || group_lanes >= emu::lanes_per_warp) return mask != 0;
  std::uint32_t warps = 0;
  for (; mask; mask = static_cast<std::uint32_t>(std::uint64_t{mask} >> group_lanes))
    warps += (mask & ((1u << group_lanes) - 1)) != 0;
  return warps;
}

// Whether `copy`, which stands at the same place of the text, is what became of `written`; else it was added there.
bool stands_for(ptx::Instruction const& copy, ptx::Instruction const& written) {
  if (written.is_call()) return copy.is(ptx::Op::call, ptx::Op::bra);
  bool const same_guard = copy.guard.present == written.guard.present;
  if (written.is(ptx::Op::ret)) return same_guard && copy.is(ptx::Op::ret, ptx::Op::bra);
  if (written.accesses_parameter()) return same_guard && (copy.opcode == written.opcode || copy.is(ptx::Op::mov));
  return same_guard && copy.opcode == written.opcode;
}

}  // namespace

std::vector<Origin> origins(ptx::Module const& module, ptx::Function const& emulated) {
  std::unordered_map<std::uint64_t, std::pair<std::uint32_t, std::uint32_t>> written;
  for (std::uint32_t f = 0; f < module.functions.size(); ++f)
    for (std::uint32_t i = 0; i < module.functions[f].instructions.size(); ++i)
      written.emplace(key_of(module.functions[f].instructions[i].at), std::pair{f, i});
  std::vector<Origin> out(emulated.instructions.size());
  std::uint64_t previous = ~std::uint64_t{0};
  for (std::size_t i = 0; i < out.size(); ++i) {
    auto const& copy = emulated.instructions[i];
    auto const key = key_of(copy.at);
    auto const found = written.find(key);
    if (found == written.end()) continue;
    auto const [f, index] = found->second;
    auto const& instruction = module.functions[f].instructions[index];
    // Of the pieces that an instruction was cut into, the first one counts; arguments are stored before a call.
    bool const first = key != previous || copy.is_call();
    if (first && stands_for(copy, instruction)) {
      bool const replaced = instruction.is_call() && copy.is(ptx::Op::bra);
      out[i] = {true, replaced && copy.guard.present, f, index};
      previous = key;
    } else if (!instruction.is_call()) {
      previous = key;
    }
  }
  return out;
}

struct CountObserver::State {
  ptx::Function const* kernel = nullptr;
  std::vector<emu::BasicBlock> ranges;
  std::vector<Executions> blocks;
  std::vector<std::uint64_t> lanes;  // by instruction: of guarded ones, those whose guard holds; of branches, that take
  Sample sample = Sample::all;

  Executions count(emu::Lanes const& of) const {
    if (sample == Sample::one_warp) {
      if (of.first_warp != 0 || of.masks[0] == 0) return {};
      return {static_cast<std::uint64_t>(std::popcount(of.masks[0])), 1, true};
    }
    Executions n;
    for (std::uint32_t w = 0; w < of.warps; ++w) {
      n.lanes += static_cast<std::uint64_t>(std::popcount(of.masks[w]));
      n.warps += warps_in(of.masks[w], of.group_lanes);
    }
    return n;
  }
};

CountObserver::CountObserver(emu::Program const& program, Sample sample) : state_(std::make_unique<State>()) {
  state_->kernel = &program.kernel();
  state_->ranges.assign(program.blocks().begin(), program.blocks().end());
  state_->blocks.resize(state_->ranges.size());
  state_->lanes.resize(state_->kernel->instructions.size());
  state_->sample = sample;
}
CountObserver::CountObserver(std::unique_ptr<State> state) : state_(std::move(state)) {}
CountObserver::~CountObserver() = default;

// In a pack warp 0 of a unit need not be the first of its group.
bool CountObserver::accepts_packs() const {
  return state_->sample != Sample::one_warp;
}

void CountObserver::block(std::uint32_t block, emu::Lanes const& lanes) {
  auto const n = state_->count(lanes);
  state_->blocks[block].lanes += n.lanes;
  state_->blocks[block].warps += n.warps;
}

void CountObserver::guarded(std::uint32_t instruction, emu::Lanes const& lanes) {
  state_->lanes[instruction] += state_->count(lanes).lanes;
}

void CountObserver::branch(std::uint32_t instruction, emu::Lanes const&, emu::Lanes const& taking) {
  state_->lanes[instruction] += state_->count(taking).lanes;
}

std::unique_ptr<emu::Observer> CountObserver::fork() const {
  auto empty = std::make_unique<State>(*state_);
  empty->blocks.assign(empty->blocks.size(), {});
  empty->lanes.assign(empty->lanes.size(), 0);
  return std::unique_ptr<emu::Observer>(new CountObserver(std::move(empty)));
}

void CountObserver::join(emu::Observer const& other) {
  State const& o = *dynamic_cast<CountObserver const&>(other).state_;
  for (std::size_t b = 0; b < o.blocks.size(); ++b) {
    state_->blocks[b].lanes += o.blocks[b].lanes;
    state_->blocks[b].warps += o.blocks[b].warps;
  }
  for (std::size_t i = 0; i < o.lanes.size(); ++i) state_->lanes[i] += o.lanes[i];
}

Counts CountObserver::counts(ptx::Module const& module) const {
  Counts out(module);
  auto const from = origins(module, *state_->kernel);
  for (std::size_t b = 0; b < state_->ranges.size(); ++b) {
    auto const& entered = state_->blocks[b];
    if (entered.warps == 0) continue;
    for (std::uint32_t i = state_->ranges[b].first; i < state_->ranges[b].last; ++i) {
      if (!from[i].known) continue;
      auto const& instruction = state_->kernel->instructions[i];
      auto& to = out.at(from[i].function, from[i].instruction, module);
      to.warps += entered.warps;
      to.reached = true;
      if (from[i].skips)
        to.lanes += entered.lanes - state_->lanes[i];
      else
        to.lanes += instruction.guard.present ? state_->lanes[i] : entered.lanes;
    }
  }
  return out;
}

std::uint64_t CountObserver::issues() const {
  std::uint64_t sum = 0;
  for (std::size_t b = 0; b < state_->ranges.size(); ++b)
    sum += state_->blocks[b].warps * (state_->ranges[b].last - state_->ranges[b].first);
  return sum;
}

void CountObserver::clear() {
  state_->blocks.assign(state_->blocks.size(), {});
  state_->lanes.assign(state_->lanes.size(), 0);
}

}  // namespace kernelcast::flux
