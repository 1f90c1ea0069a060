#include "models/ake/match.hpp"

#include <algorithm>
#include <array>
#include <optional>

namespace kernelcast::model::ake {

namespace {

// ---------------------------------------------------------------- accesses

// What each kind of access moves in a block: bytes of a work-item for loads and stores, of which ptxas may join
// neighbours into wider ones; the others by their number.
constexpr std::size_t kinds = 12, no_access = kinds;
using Accesses = std::array<unsigned, kinds>;

std::size_t kind_of(Instruction const& i) {
  if (i.type.kind == Kind::barrier) return 0;
  if (i.type.kind == Kind::copy) return 11;
  if (i.type.kind == Kind::atomic) return i.type.space == Space::shared ? 1 : 2;
  std::size_t const base = i.type.kind == Kind::load ? 3 : i.type.kind == Kind::store ? 7 : no_access;
  if (base == no_access) return base;
  switch (i.type.space) {
    case Space::shared:
      return base + 1;
    case Space::local:
      return base + 2;
    case Space::texture:
      return base + 3;
    default:
      return base;
  }
}
bool is_load(std::size_t kind) {
  return kind >= 3 && kind < 7;
}
unsigned bytes_of(Instruction const& i) {
  bool const moves = (i.type.kind == Kind::load || i.type.kind == Kind::store || i.type.kind == Kind::copy) &&
                     i.type.space != Space::texture;
  return moves ? std::max(1u, i.bytes_per_lane) : 1;
}

using Block = std::vector<Instruction>;

unsigned total(Accesses const& a) {
  unsigned sum = 0;
  for (unsigned const n : a) sum += n;
  return sum;
}

Accesses accesses_of(Block const& block) {
  Accesses out{};
  for (Instruction const& i : block)
    if (auto const kind = kind_of(i); kind != no_access) out[kind] += bytes_of(i);
  return out;
}

std::size_t number_of_accesses(Block const& block) {
  return static_cast<std::size_t>(
      std::count_if(block.begin(), block.end(), [](auto const& i) { return kind_of(i) != no_access; }));
}

// Sums over the first so many blocks, so that those of any stretch are a difference.
struct Sums {
  std::vector<Accesses> accesses{{}};
  std::vector<std::size_t> instructions{0};

  explicit Sums(std::vector<Block> const& blocks) {
    for (Block const& block : blocks) {
      Accesses sum = accesses.back();
      Accesses const own = accesses_of(block);
      for (std::size_t k = 0; k < kinds; ++k) sum[k] += own[k];
      accesses.push_back(sum);
      instructions.push_back(instructions.back() + block.size());
    }
  }
  Accesses of(std::size_t from, std::size_t to) const {
    Accesses out;
    for (std::size_t k = 0; k < kinds; ++k) out[k] = accesses[to][k] - accesses[from][k];
    return out;
  }
  std::size_t length(std::size_t from, std::size_t to) const { return instructions[to] - instructions[from]; }
};

// How many times the one makes the other; 0 where it does not.
unsigned times(Accesses const& one, Accesses const& other) {
  unsigned factor = 0;
  for (std::size_t k = 0; k < kinds; ++k) {
    if (one[k] == 0 && other[k] == 0) continue;
    if (one[k] == 0 || other[k] % one[k] != 0) return 0;
    unsigned const here = other[k] / one[k];
    if (here == 0 || (factor != 0 && here != factor)) return 0;
    factor = here;
  }
  return factor;
}

// Whether machine code may be this PTX: the same accesses but for loads that ptxas removed or repeated, an eighth of
// their bytes at most. How many bytes differ; nullopt where it does not match.
std::optional<unsigned> difference(Accesses const& ptx, Accesses const& sass) {
  unsigned sum = 0;
  for (std::size_t k = 0; k < kinds; ++k) {
    unsigned const more = std::max(ptx[k], sass[k]), apart = more - std::min(ptx[k], sass[k]);
    if (apart * 8 > (is_load(k) ? more : 0)) return std::nullopt;
    sum += apart;
  }
  return sum;
}

// ---------------------------------------------------------------- alignment

// Blocks [p, p + p_blocks) of the PTX are [s, s + s_blocks) of the listing, which have the accesses of `rounds`.
struct Pair {
  std::size_t p = 0, p_blocks = 1, s = 0, s_blocks = 1;
  unsigned rounds = 1;
  double value = -1;
};

class Alignment {
 public:
  Alignment(std::vector<Block> const& ptx, std::vector<Block> const& sass, Flow const& flow)
      : n_(ptx.size()), m_(sass.size()), left_(ptx), right_(sass), flow_(flow) {}

  // Pairs in rising order, of the highest sum of values.
  std::vector<Pair> pairs() const {
    std::vector<double> best((n_ + 1) * (m_ + 1), 0);
    auto const at = [&](std::size_t i, std::size_t j) -> double& { return best[i * (m_ + 1) + j]; };
    for (std::size_t i = n_; i-- > 0;)
      for (std::size_t j = m_; j-- > 0;) {
        double most = std::max(at(i + 1, j), at(i, j + 1));
        each_pair(i, j, [&](Pair const& p) { most = std::max(most, p.value + at(i + p.p_blocks, j + p.s_blocks)); });
        at(i, j) = most;
      }
    std::vector<Pair> out;
    for (std::size_t i = 0, j = 0; i < n_ && j < m_;) {
      std::optional<Pair> taken;
      each_pair(i, j, [&](Pair const& p) {
        if (!taken && at(i, j) == p.value + at(i + p.p_blocks, j + p.s_blocks)) taken = p;
      });
      if (taken) {
        out.push_back(*taken);
        i += taken->p_blocks;
        j += taken->s_blocks;
      } else if (at(i, j) == at(i + 1, j)) {
        ++i;
      } else {
        ++j;
      }
    }
    return out;
  }

  // What lies between two pairs and has the accesses of several rounds of one of them; of two, the one with fewer.
  std::vector<Pair> unrolled(std::vector<Pair> const& pairs) const {
    std::vector<Pair> out;
    std::size_t next = 0;  // the first pair behind block s
    for (std::size_t s = 0; s < m_; ++s) {
      while (next < pairs.size() && pairs[next].s + pairs[next].s_blocks <= s) ++next;
      if (next < pairs.size() && pairs[next].s <= s) continue;
      Pair best;
      for (std::size_t const of : {next - 1, next}) {
        if (of >= pairs.size()) continue;
        Pair const& p = pairs[of];
        unsigned const rounds = times(left_.of(p.p, p.p + p.p_blocks), right_.of(s, s + 1));
        if (rounds == 0 || rounds == p.rounds || rounds > max_rounds || !is_loop(p.p, p.p + p.p_blocks)) continue;
        if (best.value < 0 || rounds < best.rounds) best = {p.p, p.p_blocks, s, 1, rounds, 0};
      }
      if (best.value >= 0) out.push_back(best);
    }
    return out;
  }

 private:
  static constexpr std::size_t max_blocks = 64;
  static constexpr unsigned max_rounds = 64;

  template <class Each>
  void each_pair(std::size_t i, std::size_t j, Each each) const {
    for (std::size_t a = 1; a <= max_blocks && i + a <= n_; ++a) {
      if (a > 1 && !is_straight(i, i + a)) break;
      if (Pair const p = pair(i, a, j, 1); p.value >= 0) each(p);
    }
    for (std::size_t b = 2; b <= max_blocks && j + b <= m_; ++b)
      if (Pair const p = pair(i, 1, j, b); p.value >= 0) each(p);
  }

  // Accesses count most; then few blocks, then like length.
  Pair pair(std::size_t i, std::size_t a, std::size_t j, std::size_t b) const {
    Pair out{i, a, j, b, 1, -1};
    Accesses const left = left_.of(i, i + a), right = right_.of(j, j + b);
    std::size_t const p = left_.length(i, i + a), s = right_.length(j, j + b);
    if (p == 0 || s == 0) return out;
    double const number = total(left);
    bool const several = a + b > 2;
    if (several) {
      // Each block at the edge brings some of the accesses, or the stretch is longer than it need be.
      bool const tight = a > 1 ? total(left_.of(i + a - 1, i + a)) > 0
                               : total(right_.of(j, j + 1)) > 0 && total(right_.of(j + b - 1, j + b)) > 0;
      if (number == 0 || !tight) return out;
    }
    double const like = static_cast<double>(std::min(p, s)) / static_cast<double>(std::max(p, s));
    if (auto const apart = difference(left, right)) {
      out.value = 10 * number - 20.0 * *apart + like - (several ? 0.5 * static_cast<double>(a + b) : 0);
    } else if (unsigned const rounds = times(left, right);
               rounds > 1 && b == 1 && rounds <= max_rounds && is_loop(i, i + a)) {
      out.rounds = rounds;
      out.value = 10 * number - 3 - 0.5 * static_cast<double>(a);
    }
    return out;
  }

  // No way back inside of the stretch but to its first block.
  bool is_straight(std::size_t from, std::size_t to) const {
    for (std::size_t b = from; b < to; ++b)
      for (std::size_t target = from + 1; target <= b; ++target)
        if (flow_.has(static_cast<std::uint32_t>(b), static_cast<std::uint32_t>(target))) return false;
    return true;
  }
  bool is_loop(std::size_t from, std::size_t to) const {
    for (std::size_t b = from; b < to; ++b)
      if (flow_.has(static_cast<std::uint32_t>(b), static_cast<std::uint32_t>(from))) return true;
    return false;
  }

  std::size_t n_, m_;
  Sums left_, right_;
  Flow const& flow_;
};

// ---------------------------------------------------------------- the machine code of a pair

std::size_t items_of(Block const& block) {
  return static_cast<std::size_t>(std::count_if(block.begin(), block.end(), [](auto const& i) { return i.item >= 0; }));
}

// Numbers the accesses of machine code in order, and says for each of which items of the PTX it is: those whose first
// byte it moves, when the bytes of its kind are laid side by side, round by round, and stretched to one length.
struct PairedCode {
  Block block;
  std::vector<std::vector<std::uint32_t>> items;
};
PairedCode code_of(Kernel const& ptx, Listing const& listing, Pair const& pair) {
  struct Item {
    std::uint32_t number;
    unsigned begin;  // byte of its kind
  };
  std::array<std::vector<Item>, kinds> there;
  std::array<unsigned, kinds> bytes{};
  std::uint32_t before = 0;
  for (unsigned round = 0; round < pair.rounds; ++round)
    for (std::size_t p = pair.p; p < pair.p + pair.p_blocks; ++p) {
      for (Instruction const& i : ptx.blocks[p]) {
        auto const kind = kind_of(i);
        if (i.item < 0 || kind == no_access) continue;
        there[kind].push_back({before + static_cast<std::uint32_t>(i.item), bytes[kind]});
        bytes[kind] += bytes_of(i);
      }
      before += static_cast<std::uint32_t>(items_of(ptx.blocks[p]));
    }
  constexpr std::uint32_t apart = 1u << 24;  // registers of the two do not meet
  Accesses all{};
  for (std::size_t s = pair.s; s < pair.s + pair.s_blocks; ++s) {
    Accesses const own = accesses_of(listing.blocks[s]);
    for (std::size_t k = 0; k < kinds; ++k) all[k] += own[k];
  }
  std::array<std::size_t, kinds> next{};
  std::array<unsigned, kinds> moved{};
  PairedCode out;
  for (std::size_t s = pair.s; s < pair.s + pair.s_blocks; ++s)
    for (Instruction i : listing.blocks[s]) {
      for (std::uint32_t& r : i.sources) r += apart;
      for (std::uint32_t& r : i.destinations) r += apart;
      if (auto const kind = kind_of(i); kind != no_access && kind != 0) {
        i.item = static_cast<std::int32_t>(out.items.size());
        auto& items = out.items.emplace_back();
        moved[kind] += bytes_of(i);
        auto const end = static_cast<unsigned>(std::uint64_t{moved[kind]} * bytes[kind] / all[kind]);
        for (; next[kind] < there[kind].size() && there[kind][next[kind]].begin < end; ++next[kind])
          items.push_back(there[kind][next[kind]].number);
      }
      out.block.push_back(std::move(i));
    }
  return out;
}

}  // namespace

// ---------------------------------------------------------------- the flow of a trace

Flow::Flow(Kernel const& kernel, std::vector<Group> const& groups) : next_(kernel.blocks.size()) {
  for (Group const& group : groups)
    for (std::size_t w = 0; w < group.warps(); ++w)
      for (std::size_t r = group.warp_begin[w] + 1; r < group.warp_begin[w + 1]; ++r)
        add(group.rows[r - 1].block, group.rows[r].block);
}

void Flow::add(std::uint32_t from, std::uint32_t to) {
  if (has(from, to)) return;
  if (from >= next_.size()) next_.resize(from + 1);
  next_[from].push_back(to);
}

bool Flow::has(std::uint32_t from, std::uint32_t to) const {
  return from < next_.size() && std::find(next_[from].begin(), next_[from].end(), to) != next_[from].end();
}

// ----------------------------------------------------------------

Matched match(Listing const& listing, Kernel const& ptx, Flow const& flow) {
  Matched out;
  out.kernel = ptx;
  for (auto const& block : ptx.blocks) out.accesses_all += number_of_accesses(block);
  Alignment const alignment(ptx.blocks, listing.blocks, flow);
  auto pairs = alignment.pairs();
  for (Pair const& pair : pairs) {
    out.blocks += pair.p_blocks;
    for (std::size_t p = pair.p; p < pair.p + pair.p_blocks; ++p) out.accesses += number_of_accesses(ptx.blocks[p]);
  }
  auto const unrolled = alignment.unrolled(pairs);
  pairs.insert(pairs.end(), unrolled.begin(), unrolled.end());
  for (Pair const& pair : pairs) {
    auto code = code_of(ptx, listing, pair);
    out.patterns.push_back({static_cast<std::uint32_t>(pair.p), static_cast<std::uint32_t>(pair.p + pair.p_blocks - 1),
                            pair.rounds, static_cast<std::uint32_t>(out.kernel.blocks.size()), std::move(code.items)});
    out.kernel.blocks.push_back(std::move(code.block));
  }
  std::sort(out.patterns.begin(), out.patterns.end(), [](Pattern const& a, Pattern const& b) {
    return a.first != b.first ? a.first < b.first : a.rounds > b.rounds;
  });
  return out;
}

// ---------------------------------------------------------------- the rows of a group

namespace {

class Follower {
 public:
  Follower(Group const& group, Kernel const& ptx, Matched const& matched) : group_(group), matched_(matched) {
    for (Block const& block : ptx.blocks) items_.push_back(items_of(block));
  }

  Group run() {
    out_.number = group_.number;
    for (std::size_t w = 0; w < group_.warps(); ++w) {
      out_.warp_begin.push_back(out_.rows.size());
      std::size_t const end = group_.warp_begin[w + 1];
      for (std::size_t r = group_.warp_begin[w]; r < end;) r = step(r, end);
    }
    out_.warp_begin.push_back(out_.rows.size());
    return std::move(out_);
  }

 private:
  // One row of the result; where it ends among the group's.
  std::size_t step(std::size_t r, std::size_t end) {
    std::uint32_t const block = group_.rows[r].block;
    auto const less = [](Pattern const& p, std::uint32_t b) { return p.first < b; };
    auto pattern = std::lower_bound(matched_.patterns.begin(), matched_.patterns.end(), block, less);
    for (; pattern != matched_.patterns.end() && pattern->first == block; ++pattern)
      if (std::size_t const stop = rounds_end(*pattern, r, end); stop > r) {
        add_pattern(*pattern, r, stop);
        return stop;
      }
    begin_row(block);
    copy_items(r, out_.requests);
    return r + 1;
  }

  // Where one round ends that begins at r: blocks rise up to the last.
  std::size_t round_end(Pattern const& pattern, std::size_t r, std::size_t end) const {
    if (r >= end || group_.rows[r].block != pattern.first) return r;
    for (++r; r < end && group_.rows[r].block > group_.rows[r - 1].block && group_.rows[r].block <= pattern.last;) ++r;
    return r;
  }
  // Where all its rounds end; r where there are fewer.
  std::size_t rounds_end(Pattern const& pattern, std::size_t r, std::size_t end) const {
    std::size_t at = r;
    for (std::uint32_t round = 0; round < pattern.rounds; ++round) {
      std::size_t const stop = round_end(pattern, at, end);
      if (stop == at) return r;
      at = stop;
    }
    return at;
  }

  void begin_row(std::uint32_t block) {
    out_.rows.push_back({block, static_cast<std::uint32_t>(out_.requests.size())});
  }
  void copy_items(std::size_t r, std::vector<Requests>& to) const {
    auto const from = group_.requests.begin() + static_cast<std::ptrdiff_t>(group_.rows[r].requests);
    to.insert(to.end(), from, from + static_cast<std::ptrdiff_t>(items_[group_.rows[r].block]));
  }

  // Rows [r, stop) as one. What a round did not enter asks for nothing.
  void add_pattern(Pattern const& pattern, std::size_t r, std::size_t stop) {
    scratch_.clear();
    for (std::uint32_t round = 0; round < pattern.rounds; ++round) {
      std::size_t const end = round_end(pattern, r, stop);
      for (std::uint32_t b = pattern.first; b <= pattern.last; ++b)
        if (r < end && group_.rows[r].block == b)
          copy_items(r++, scratch_);
        else
          scratch_.resize(scratch_.size() + items_[b]);
    }
    begin_row(pattern.block);
    for (auto const& items : pattern.items) out_.requests.push_back(joined(items));
  }
  // Neighbours that are one access look their lines and banks up once, and move what they all moved.
  Requests joined(std::vector<std::uint32_t> const& items) const {
    Requests out;
    for (std::uint32_t const item : items) {
      Requests const& r = scratch_[item];
      out.shared = std::max(out.shared, r.shared);
      out.l1 = std::max(out.l1, r.l1);
      out.l2 = static_cast<std::uint16_t>(std::min(out.l2 + r.l2, 0xffff));
      out.dram = static_cast<std::uint16_t>(std::min(out.dram + r.dram, 0xffff));
    }
    return out;
  }

  Group const& group_;
  Matched const& matched_;
  std::vector<std::size_t> items_;  // [block of the PTX]
  std::vector<Requests> scratch_;
  Group out_;
};

}  // namespace

Group follow(Group const& group, Kernel const& ptx, Matched const& matched) {
  return Follower(group, ptx, matched).run();
}

}  // namespace kernelcast::model::ake
