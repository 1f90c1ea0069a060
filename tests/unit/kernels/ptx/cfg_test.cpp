// Graphs against naive checkers: a dominates b when b cannot be reached without a.
#include "kernels/ptx/cfg.hpp"

#include <algorithm>
#include <random>

#include "catch.hpp"
#include "kernels/ptx/parser.hpp"
#include "samples.hpp"

using namespace kernelcast::ptx;

namespace {

// Blocks reachable from `from` when `without` is taken out.
std::vector<bool> reach(std::vector<std::vector<std::uint32_t>> const& next, std::uint32_t from,
                        std::uint32_t without) {
  std::vector<bool> seen(next.size(), false);
  if (from == without) return seen;
  std::vector<std::uint32_t> stack{from};
  seen[from] = true;
  while (!stack.empty()) {
    auto const b = stack.back();
    stack.pop_back();
    for (auto to : next[b])
      if (to != without && !seen[to]) seen[to] = true, stack.push_back(to);
  }
  return seen;
}

std::vector<CfgBlock> random_blocks(std::mt19937& random) {
  std::vector<CfgBlock> blocks(1 + random() % 12);
  for (auto& block : blocks) {
    auto const edges = random() % 4;
    for (unsigned i = 0; i < edges; ++i) {
      auto const to = static_cast<std::uint32_t>(random() % blocks.size());
      if (std::find(block.successors.begin(), block.successors.end(), to) == block.successors.end())
        block.successors.push_back(to);
    }
    block.exits = block.successors.empty() || random() % 6 == 0;
  }
  return blocks;
}

void check_graph(Cfg const& cfg) {
  auto const n = static_cast<std::uint32_t>(cfg.blocks.size());
  std::vector<std::vector<std::uint32_t>> next(n + 1), previous(n + 1);
  for (std::uint32_t b = 0; b < n; ++b) next[b] = cfg.blocks[b].successors;
  auto const reachable = reach(next, 0, no_block);
  for (std::uint32_t b = 0; b < n; ++b) REQUIRE(cfg.blocks[b].reachable == reachable[b]);
  for (std::uint32_t b = 0; b < n; ++b) {
    if (!reachable[b]) continue;
    for (auto to : next[b]) previous[to].push_back(b);
    if (cfg.blocks[b].exits || cfg.blocks[b].endless) previous[n].push_back(b);
  }
  auto const ends = reach(previous, n, no_block);
  for (std::uint32_t a = 0; a < n; ++a) {
    if (!reachable[a]) continue;
    REQUIRE(ends[a]);
    auto const forward = reach(next, 0, a);
    auto const backward = reach(previous, n, a);
    for (std::uint32_t b = 0; b < n; ++b) {
      if (!reachable[b]) continue;
      REQUIRE(cfg.dominates(a, b) == !forward[b]);
      REQUIRE(cfg.post_dominates(a, b) == !backward[b]);
    }
  }
  // A natural loop: the header and all that reach one of its back edges without passing it.
  for (auto const& loop : cfg.loops) {
    std::vector<bool> inside(n, false);
    inside[loop.header] = true;
    for (std::uint32_t b = 0; b < n; ++b) {
      if (!reachable[b] || std::find(next[b].begin(), next[b].end(), loop.header) == next[b].end()) continue;
      if (!cfg.dominates(loop.header, b)) continue;
      auto const body = reach(previous, b, loop.header);
      for (std::uint32_t c = 0; c < n; ++c) inside[c] = inside[c] || body[c];
    }
    for (std::uint32_t b = 0; b < n; ++b)
      REQUIRE(inside[b] == std::binary_search(loop.blocks.begin(), loop.blocks.end(), b));
  }
  for (std::uint32_t b = 0; b < n; ++b) {
    auto const depth = std::count_if(cfg.loops.begin(), cfg.loops.end(), [b](Loop const& loop) {
      return std::binary_search(loop.blocks.begin(), loop.blocks.end(), b);
    });
    REQUIRE(cfg.blocks[b].loop_depth == depth);
  }
}

Cfg of(std::string const& body, CfgOptions options = {}) {
  auto const m = parse(samples::kernel(".reg .pred p; .reg .b32 r;\n" + body), "k.ptx");
  return build_cfg(m->functions[0], options);
}

}  // namespace

TEST_CASE("5000 random graphs agree with naive checkers") {
  std::mt19937 random(7);
  for (int i = 0; i < 5000; ++i) check_graph(analyse(random_blocks(random)));
}

TEST_CASE("blocks of a loop with a guarded exit") {
  auto const cfg = of("mov.b32 r, 0; T: @p bra B; add.s32 r, r, 1; @p ret; bra T; B: ret;");
  REQUIRE(cfg.blocks.size() == 5);
  CHECK(cfg.blocks[1].successors == std::vector<std::uint32_t>{2, 4});
  CHECK(cfg.blocks[2].exits);
  CHECK(cfg.blocks[2].successors == std::vector<std::uint32_t>{3});
  CHECK(cfg.blocks[1].post_dominator == no_block);
  CHECK(cfg.loops.size() == 1);
  CHECK(cfg.loops[0].blocks == std::vector<std::uint32_t>{1, 2, 3});
  CHECK(cfg.blocks[4].loop_depth == 0);
  CHECK(cfg.block_of[2] == 2);
}

TEST_CASE("a diamond joins at its post-dominator; a call does not end a block; text after it is unreachable") {
  auto const cfg = of("@!p bra E; call k; bra J; E: add.s32 r, r, 1; J: ret; add.s32 r, r, 2;");
  CHECK(cfg.blocks.size() == 5);
  CHECK(cfg.blocks[0].post_dominator == 3);
  CHECK(cfg.blocks[3].dominator == 0);
  CHECK_FALSE(cfg.blocks[4].reachable);
}

TEST_CASE("brx.idx, endless loops and barriers") {
  auto const table = of("t: .branchtargets A, B, A; brx.idx r, t; A: ret; B: bra B;");
  CHECK(table.blocks[0].successors == std::vector<std::uint32_t>{1, 2});
  CHECK(table.blocks[2].endless);
  CHECK(table.blocks[2].loop_depth == 1);
  CHECK(of("mov.b32 r, 1; bar.sync 0; mov.b32 r, 2; ret;").blocks.size() == 1);
  CHECK(of("mov.b32 r, 1; bar.sync 0; mov.b32 r, 2; ret;", {.barriers_end_blocks = true}).blocks.size() == 3);
}
