// The order in which diverged lanes run: of a unit's fragments the one at the earliest block goes first.
//
// Problem: lanes should meet again where their ways join, and where that is depends on the graph, not on the place of
// the blocks in the text: compilers put the body of an `if` behind the code that follows it.
// Method: reverse post-order. Of a block's successors those that leave the most loops are visited first and thus come
// last, so that a loop's blocks precede what follows the loop; where that does not decide, the order of the text does.
// Limits: in a graph with a cycle that is entered at two places some join may come before its branches. A kernel of
// more than 4096 blocks is ordered by its functions, one after the other; one of more than 65536
// blocks, or with loops that have 16 million together, keeps the order of the text.
#include <algorithm>
#include <utility>

#include "emulator/decode/decode.hpp"

namespace kernelcast::emu {

namespace {

constexpr std::size_t max_blocks_at_once = 4096, max_blocks = 65536, max_blocks_of_loops = std::size_t{1} << 24;

using Successors = std::vector<std::vector<std::uint32_t>>;  // by block

class Orderer {
 public:
  explicit Orderer(Successors successors) : count_(successors.size()), successors_(std::move(successors)) {
    loops_of_.resize(count_);
  }

  // Empty where loops have too many blocks.
  std::vector<std::uint32_t> ranks() {
    find_loops();
    if (blocks_of_loops_ > max_blocks_of_loops) return {};
    for (std::uint32_t b = 0; b < count_; ++b)
      std::ranges::sort(successors_[b], [&](std::uint32_t x, std::uint32_t y) {
        std::size_t const in_x = common_loops(b, x), in_y = common_loops(b, y);
        return in_x != in_y ? in_x < in_y : x > y;
      });
    std::vector<std::uint32_t> finished;
    visit([](std::uint32_t, std::uint32_t) {}, [&](std::uint32_t b) { finished.push_back(b); });
    std::vector<std::uint32_t> result(count_);
    for (std::size_t i = 0; i < count_; ++i) result[finished[count_ - 1 - i]] = static_cast<std::uint32_t>(i);
    return result;
  }

 private:
  // Depth first from the first block, then from what that does not reach (functions that are called), last ones first,
  // so that the kernel's blocks come out on top. back(from, to): an edge to a block that is being visited.
  template <class Back, class Done>
  void visit(Back back, Done done) {
    enum class State : std::uint8_t { fresh, open, closed };
    std::vector<State> state(count_, State::fresh);
    struct Step {
      std::uint32_t block;
      std::size_t next = 0;
    };
    std::vector<Step> path;
    for (std::size_t i = count_; i-- > 0;) {
      auto const root = static_cast<std::uint32_t>(i);
      if (state[root] != State::fresh || (root != 0 && !is_root(root))) continue;
      path.push_back({root});
      state[root] = State::open;
      while (!path.empty()) {
        Step& step = path.back();
        if (step.next == successors_[step.block].size()) {
          state[step.block] = State::closed;
          done(step.block);
          path.pop_back();
          continue;
        }
        std::uint32_t const from = step.block, to = successors_[from][step.next++];
        if (state[to] == State::open) back(from, to);
        if (state[to] != State::fresh) continue;
        state[to] = State::open;
        path.push_back({to});
      }
    }
  }

  // No edge leads there.
  bool is_root(std::uint32_t block) {
    if (entered_.empty()) {
      entered_.resize(count_);
      std::vector<std::uint32_t> rest;
      auto const reach = [&](std::uint32_t b) {
        if (!entered_[b]) rest.push_back(b);
        entered_[b] = true;
      };
      roots_.resize(count_);
      for (std::uint32_t b = 0; b < count_; ++b) {
        if (entered_[b]) continue;
        roots_[b] = true;
        reach(b);
        while (!rest.empty()) {
          std::uint32_t const from = rest.back();
          rest.pop_back();
          for (std::uint32_t to : successors_[from]) reach(to);
        }
      }
    }
    return roots_[block];
  }

  void find_loops() {
    std::vector<std::vector<std::uint32_t>> predecessors(count_);
    for (std::uint32_t b = 0; b < count_; ++b)
      for (std::uint32_t to : successors_[b]) predecessors[to].push_back(b);
    std::uint32_t loop = 0;
    visit(
        [&](std::uint32_t from, std::uint32_t header) {
          if (blocks_of_loops_ > max_blocks_of_loops) return;
          std::vector<bool> inside(count_);
          std::vector<std::uint32_t> rest;
          auto const add = [&](std::uint32_t b) {
            if (inside[b]) return;
            inside[b] = true;
            loops_of_[b].push_back(loop);
            ++blocks_of_loops_;
            rest.push_back(b);
          };
          inside[header] = true;
          loops_of_[header].push_back(loop);
          add(from);
          while (!rest.empty()) {
            std::uint32_t const b = rest.back();
            rest.pop_back();
            for (std::uint32_t p : predecessors[b]) add(p);
          }
          ++loop;
        },
        [](std::uint32_t) {});
  }

  std::size_t common_loops(std::uint32_t a, std::uint32_t b) const {
    std::size_t n = 0;
    for (auto x = loops_of_[a].begin(), y = loops_of_[b].begin(); x != loops_of_[a].end() && y != loops_of_[b].end();)
      if (*x == *y)
        ++n, ++x, ++y;
      else
        *x < *y ? ++x : ++y;
    return n;
  }

  std::size_t count_;
  Successors successors_;
  std::size_t blocks_of_loops_ = 0;
  std::vector<std::vector<std::uint32_t>> loops_of_;  // by block, ascending
  std::vector<bool> entered_, roots_;
};

// Blocks that edges connect, in either direction: those of one function. In the order of the text, as are their
// members.
std::vector<std::vector<std::uint32_t>> connected(Successors const& successors) {
  std::vector<std::uint32_t> parent(successors.size());
  for (std::uint32_t b = 0; b < parent.size(); ++b) parent[b] = b;
  auto const first_of = [&](std::uint32_t b) {
    while (parent[b] != b) b = parent[b] = parent[parent[b]];
    return b;
  };
  for (std::uint32_t b = 0; b < successors.size(); ++b)
    for (std::uint32_t const to : successors[b]) {
      auto const [low, high] = std::minmax(first_of(b), first_of(to));
      parent[high] = low;
    }
  std::vector<std::vector<std::uint32_t>> by_first(successors.size());
  for (std::uint32_t b = 0; b < successors.size(); ++b) by_first[first_of(b)].push_back(b);
  std::erase_if(by_first, [](auto const& blocks) { return blocks.empty(); });
  return by_first;
}

// The ranks of these blocks among each other, which no edge leaves.
std::vector<std::uint32_t> ranks_within(std::vector<std::uint32_t> const& blocks, Successors const& all) {
  Successors own(blocks.size());
  for (std::uint32_t b = 0; b < blocks.size(); ++b)
    for (std::uint32_t const to : all[blocks[b]])
      own[b].push_back(static_cast<std::uint32_t>(std::ranges::lower_bound(blocks, to) - blocks.begin()));
  return Orderer(std::move(own)).ranks();
}

}  // namespace

std::vector<std::uint32_t> ranks_of_blocks(Drafts const& drafts) {
  Successors successors;
  for (std::uint32_t b = 0; b < drafts.blocks.size(); ++b) successors.push_back(drafts.successors(b));
  if (successors.size() <= max_blocks_at_once)
    if (auto ranks = Orderer(successors).ranks(); !ranks.empty()) return ranks;
  std::vector<std::uint32_t> out(successors.size());
  std::uint32_t before = 0;
  for (auto const& blocks : connected(successors)) {
    auto const ranks = blocks.size() <= max_blocks ? ranks_within(blocks, successors)
                                                   : std::vector<std::uint32_t>{};  // or too many loops
    for (std::uint32_t b = 0; b < blocks.size(); ++b) out[blocks[b]] = before + (ranks.empty() ? b : ranks[b]);
    before += static_cast<std::uint32_t>(blocks.size());
  }
  return out;
}

}  // namespace kernelcast::emu
