#include "emulator/observe/machine_code.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <tuple>
#include <unordered_map>

#include "emulator/observe/lowering.hpp"
#include "kernels/ptx/cfg.hpp"

namespace kernelcast::emu {

namespace {

using ptx::no_block;
using ptx::Op;
using record::Pipe;
using Slots = record::PerPipe<double>;

constexpr std::uint32_t no_loop = std::numeric_limits<std::uint32_t>::max();

// A subroutine that is no function of the PTX.
bool is_of_assembler(std::string_view subroutine) {
  return subroutine.find("__cuda_") != std::string_view::npos;
}

bool is_slow_path(std::string_view subroutine) {
  if (!is_of_assembler(subroutine)) return false;
  return subroutine.find("path") != std::string_view::npos || subroutine.find("_rn") != std::string_view::npos;
}

// A machine instruction that ptxas makes for many reasons: how often it occurs says nothing about rounds.
bool is_common(std::string_view mnemonic) {
  for (std::string_view const prefix :
       {"IMAD", "MOV", "IADD3", "LEA", "SHF", "LOP3", "BSSY", "BSYNC", "ISETP", "PLOP", "CS2R", "U", "S2R"})
    if (mnemonic.starts_with(prefix)) return true;
  return false;
}

// An instruction of the PTX that is one machine instruction in each round.
bool marks_rounds(ptx::Instruction const& i) {
  if (i.is(Op::ld, Op::st, Op::atom, Op::red, Op::fma, Op::bar, Op::barrier)) return !i.accesses_parameter();
  return i.is(Op::add, Op::sub, Op::mul, Op::div, Op::sqrt, Op::rcp, Op::ex2, Op::lg2) &&
         (i.has("f32") || i.has("f64") || i.has("f16"));
}

// One block of machine code, and what it is in the PTX.
struct Place {
  sass::Block const* block = nullptr;
  std::uint32_t loop = no_loop;  // innermost: the machine block that it begins with
  std::uint32_t depth = 0;
  std::uint32_t host = no_block;  // of the Cfg: runs as often
  bool cold = false;
};

class Matching {
 public:
  Matching(Program const& program, sass::Code const& code)
      : program_(program), function_(program.kernel()), code_(code), cfg_(ptx::build_cfg(function_)) {}

  MachineSlots run() {
    note_lines();
    note_places();
    note_loops();
    for (Place& place : places_) place.host = host_of(place);
    note_rounds();
    choose_versions();
    return result();
  }

 private:
  // ---------------------------------------------------------------- lines

  // The block of each line; one with lines of others is not matched.
  void note_lines() {
    shared_.assign(cfg_.blocks.size(), false);
    for (std::uint32_t b = 0; b < cfg_.blocks.size(); ++b)
      for (std::uint32_t i = cfg_.blocks[b].first; i < cfg_.blocks[b].last; ++i) {
        auto const [at, is_new] = lines_.try_emplace(function_.instructions[i].at.line, Line{b, i});
        if (is_new || at->second.block == b) continue;
        shared_[b] = shared_[at->second.block] = true;
      }
  }

  struct Line {
    std::uint32_t block, instruction;
  };
  Line const* line_of(sass::Instruction const& i) const {
    auto const at = i.line == 0 ? lines_.end() : lines_.find(i.line);
    return at == lines_.end() ? nullptr : &at->second;
  }

  // ---------------------------------------------------------------- blocks and loops of the machine code

  void note_places() {
    for (sass::Block const& block : code_.blocks) {
      if (!block.subroutine.empty()) continue;
      // The end of a kernel's code: a branch to itself, then padding.
      auto const& first = block.instructions.front();
      bool const stops = block.instructions.size() == 1 && first.mnemonic() == "BRA" && first.guard().empty() &&
                         std::find(block.labels.begin(), block.labels.end(), first.target()) != block.labels.end();
      if (stops && !places_.empty()) break;
      Place& place = places_.emplace_back();
      place.block = &block;
      for (auto const& label : block.labels) labels_.emplace(label, static_cast<std::uint32_t>(places_.size() - 1));
    }
    for (std::size_t p = 0; p < places_.size(); ++p) {
      auto const& last = places_[p].block->instructions.back();
      places_[p].cold = last.mnemonic() == "CALL" && is_slow_path(last.target());
      // What follows such a call up to the next label puts its result where it belongs.
      if (p > 0 && places_[p - 1].cold && places_[p - 1].block->instructions.back().mnemonic() == "CALL")
        places_[p].cold = places_[p].cold || places_[p].block->labels.empty();
    }
  }

  void note_loops() {
    std::map<std::uint32_t, std::uint32_t> last;  // by first block
    for (std::uint32_t p = 0; p < places_.size(); ++p) {
      auto const& branch = places_[p].block->instructions.back();
      if (branch.mnemonic() != "BRA") continue;
      if (auto const to = labels_.find(branch.target()); to != labels_.end() && to->second <= p)
        last[to->second] = std::max(last[to->second], p);
    }
    std::vector<std::uint32_t> length(places_.size(), no_loop);
    std::size_t steps = 0;
    for (auto const& [first, end] : last)
      for (std::uint32_t p = first; p <= end && ++steps < max_steps; ++p) {
        ++places_[p].depth;
        if (end - first < length[p]) {
          length[p] = end - first;
          places_[p].loop = first;
        }
      }
  }

  std::uint32_t host_of(Place const& place) const {
    std::map<std::uint32_t, unsigned> votes, by_depth;
    unsigned all = 0;
    for (auto const& i : place.block->instructions)
      if (Line const* const line = line_of(i)) {
        ++votes[line->block];
        ++by_depth[cfg_.blocks[line->block].loop_depth];
        ++all;
      }
    if (all == 0) return no_block;
    // The depth of the machine code where many lines have it, else that of most.
    std::uint32_t depth = 0;
    unsigned most = 0;
    for (auto const& [d, n] : by_depth)
      if (n > most) depth = d, most = n;
    if (auto const own = by_depth.find(place.depth); own != by_depth.end() && own->second * 4 >= all)
      depth = place.depth;
    std::uint32_t best = no_block;
    std::tuple<unsigned, unsigned> best_value{};
    for (auto const& [block, own] : votes) {
      if (cfg_.blocks[block].loop_depth != depth) continue;
      unsigned dominated = 0;
      for (auto const& [other, n] : votes)
        if (cfg_.blocks[other].loop_depth == depth && dominates(block, other)) dominated += n;
      if (best == no_block || std::tuple(dominated, own) > best_value) {
        best = block;
        best_value = {dominated, own};
      }
    }
    return best;
  }

  bool dominates(std::uint32_t a, std::uint32_t b) const {
    return a == b || (cfg_.blocks[a].reachable && cfg_.blocks[b].reachable && cfg_.dominates(a, b));
  }

  // ---------------------------------------------------------------- rounds

  using Version = std::pair<std::uint32_t, std::uint32_t>;  // machine loop, block of the PTX

  void note_rounds() {
    std::map<std::tuple<std::uint32_t, std::uint32_t, std::string_view>, unsigned> times;  // loop, line, mnemonic
    for (Place const& place : places_) {
      if (place.host == no_block || place.cold) continue;
      for (auto const& i : place.block->instructions)
        if (line_of(i)) ++times[{place.loop, i.line, i.mnemonic()}];
    }
    struct Copies {
      std::map<std::uint32_t, unsigned> marked, all;  // by line
    };
    std::map<Version, Copies> copies;
    for (auto const& [key, n] : times) {
      auto const& [loop, number, mnemonic] = key;
      Line const& line = lines_.at(number);
      auto& own = copies[{loop, line.block}];
      own.all[number] = std::max(own.all[number], n);
      if (marks_rounds(function_.instructions[line.instruction]) && !is_common(mnemonic))
        own.marked[number] = std::max(own.marked[number], n);
    }
    for (auto const& [version, own] : copies)
      rounds_[version] =
          cfg_.blocks[version.second].loop_depth == 0 ? 1 : median(own.marked.empty() ? own.all : own.marked);
  }

  static double median(std::map<std::uint32_t, unsigned> const& copies) {
    std::vector<unsigned> sorted;
    for (auto const& [line, n] : copies) sorted.push_back(n);
    std::sort(sorted.begin(), sorted.end());
    return std::max(1U, sorted[sorted.size() / 2]);
  }

  double rounds(Version const& version) const {
    auto const at = rounds_.find(version);
    return at == rounds_.end() ? 1 : at->second;
  }

  // Of each block of the PTX the machine loop that counts: it has most of its lines, and most rounds.
  void choose_versions() {
    std::map<Version, std::set<std::uint32_t>> hosted;
    for (Place const& place : places_)
      for (auto const& i : place.block->instructions)
        if (Line const* const line = line_of(i); line && line->block == place.host)
          hosted[{place.loop, place.host}].insert(i.line);
    std::map<std::uint32_t, std::size_t> most;
    for (auto const& [version, lines] : hosted) most[version.second] = std::max(most[version.second], lines.size());
    std::map<std::uint32_t, std::tuple<bool, double, bool, std::size_t>> best;
    for (auto const& [version, lines] : hosted) {
      std::tuple const value{lines.size() * 5 >= most[version.second] * 3, rounds(version), version.first != no_loop,
                             lines.size()};
      auto const [at, is_new] = best.try_emplace(version.second, value);
      if (!is_new && at->second >= value) continue;
      at->second = value;
      chosen_[version.second] = version.first;
    }
  }

  // ---------------------------------------------------------------- slots

  Slots slots_of(sass::Block const& block) const {
    Slots out;
    for (auto const& i : block.instructions) {
      out[i.guard() == "@!PT" ? Pipe::issue : sass::pipe_of(i.opcode())] += 1;
      if (i.mnemonic() != "CALL" || !is_of_assembler(i.target())) continue;
      for (auto const& other : code_.blocks)
        if (other.subroutine == i.target())
          for (auto const& inner : other.instructions)
            if (inner.mnemonic() != "NOP") out[sass::pipe_of(inner.opcode())] += 1;
    }
    return out;
  }

  // An access under a predicate, of a block of the PTX that not all wavefronts of its host enter: where the predicate
  // holds for no work-item it is issued, but requests nothing. That block; none where it is an access of the host.
  std::optional<std::uint32_t> requests_for(sass::Instruction const& i, std::uint32_t host) const {
    if (i.guard().empty() || i.guard() == "@!PT" || sass::pipe_of(i.opcode()) != Pipe::memory) return std::nullopt;
    Line const* const line = line_of(i);
    if (!line || line->block == host || shared_[line->block] || shared_[host]) return std::nullopt;
    if (cfg_.blocks[line->block].loop_depth != cfg_.blocks[host].loop_depth || !dominates(host, line->block))
      return std::nullopt;
    return line->block;
  }

  // The lines between the kernel's head and the next function's.
  bool is_own(std::uint32_t line) const {
    if (line < function_.at.line) return false;
    for (ptx::Function const& other : program_.module().functions)
      if (other.at.line > function_.at.line && line >= other.at.line) return false;
    return true;
  }

  MachineSlots result() const {
    MachineSlots out;
    std::vector<Slots> by_block(cfg_.blocks.size());
    std::vector<bool> seen(cfg_.blocks.size(), false);
    for (std::size_t p = 0; p < places_.size(); ++p) {
      Place const& place = places_[p];
      for (auto const& i : place.block->instructions) {
        ++out.instructions;
        Line const* const line = line_of(i);
        if (!line || shared_[line->block]) continue;
        ++out.matched;
        seen[line->block] = true;
      }
      if (place.cold) continue;
      std::uint32_t const host = place.host == no_block && p == 0 ? 0 : place.host;
      if (host >= by_block.size()) continue;
      auto const chosen = chosen_.find(host);
      if (chosen != chosen_.end() && chosen->second != place.loop) continue;
      auto const slots = slots_of(*place.block);
      double const share = 1 / rounds({place.loop, host});
      for (auto const pipe : record::values_of<Pipe>) by_block[host][pipe] += slots[pipe] * share;
      for (auto const& i : place.block->instructions)
        if (auto const own = requests_for(i, host)) {
          by_block[host][Pipe::memory] -= share;
          by_block[host][Pipe::issue] += share;
          by_block[*own][Pipe::memory] += share;
          by_block[*own][Pipe::issue] -= share;
        }
    }
    return with_rules(std::move(out), by_block, seen);
  }

  MachineSlots with_rules(MachineSlots out, std::vector<Slots> const& by_block, std::vector<bool> const& seen) const {
    auto const rules = lower(program_);
    auto const blocks = program_.blocks();
    std::vector<std::uint32_t> block_of(function_.instructions.size(), 0);
    for (std::uint32_t b = 0; b < blocks.size(); ++b)
      for (std::uint32_t i = blocks[b].first; i < blocks[b].last && i < block_of.size(); ++i) block_of[i] = b;
    out.blocks.resize(blocks.size());
    for (std::uint32_t b = 0; b < cfg_.blocks.size(); ++b) {
      auto const [first, last] = std::tie(cfg_.blocks[b].first, cfg_.blocks[b].last);
      if (first >= last) continue;
      // A body that is compiled as a function of its own.
      bool const elsewhere = !seen[b] && !is_own(function_.instructions[first].at.line);
      if (!shared_[b] && !elsewhere) {
        for (auto const pipe : record::values_of<Pipe>) out.blocks[block_of[first]][pipe] += by_block[b][pipe];
        continue;
      }
      ++out.by_rules;
      for (std::uint32_t i = first; i < last; ++i)
        for (auto const pipe : record::values_of<Pipe>) out.blocks[block_of[i]][pipe] += rules[i].slots[pipe];
    }
    return out;
  }

  static constexpr std::size_t max_steps = std::size_t{1} << 24;

  Program const& program_;
  ptx::Function const& function_;
  sass::Code const& code_;
  ptx::Cfg cfg_;
  std::vector<bool> shared_;  // [block of the Cfg]
  std::unordered_map<std::uint32_t, Line> lines_;
  std::vector<Place> places_;
  std::map<std::string_view, std::uint32_t> labels_;
  std::map<Version, double> rounds_;
  std::map<std::uint32_t, std::uint32_t> chosen_;  // by block of the Cfg: the machine loop
};

}  // namespace

MachineSlots machine_slots(Program const& program, sass::Code const& code) {
  return Matching(program, code).run();
}

}  // namespace kernelcast::emu
