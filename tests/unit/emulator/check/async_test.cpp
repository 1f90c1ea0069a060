// The asynchronous proxy's findings against a second implementation: random programs of two or three warps, whose
// operations are ordered by the transitive closure of a graph. [ptx] "Causality order", "Async proxy".
//
// Each operation is one of the first lane of a warp, and they execute in the order of the text. Nodes of the graph are
// the operations, and for each copy its end; edges lead from an operation to the next of its warp, from the end of a
// copy to the wait that counts it, from what a barrier or an mbarrier's phase has seen to who waits there.
#include <algorithm>
#include <bitset>
#include <cstring>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "catch.hpp"
#include "emulator/check/check.hpp"
#include "kernels/ptx/parser.hpp"

using namespace kernelcast;
using namespace kernelcast::emu;

namespace {

std::mt19937_64 draws{11};
std::uint32_t drawn(std::uint64_t bound) {
  return static_cast<std::uint32_t>(draws() % bound);
}

enum class Kind : std::uint8_t { store, load, fence, save, commit, wait, fetch, arrive, test, barrier };
struct Op {
  Kind kind = Kind::load;
  std::uint32_t warp = 0, cell = 0, object = 0, count = 0;  // count: of wait; parity of test
  bool branches = false;                                    // around it, instead of a guard
};

constexpr std::uint32_t places = 3, objects = 2, arrivals = 2, max_ops = 64;
constexpr int first_line = 17, lines_of_op = 4;

std::string text_of(std::vector<Op> const& ops) {
  std::string text =
      ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p) {\n"
      ".reg .b32 %r<8>; .reg .b64 %a<4>; .reg .pred %p<4>, %q;\n"
      ".shared .align 16 .b8 s[256];\n"
      "ld.param.u64 %a0, [p];\nmov.u32 %r0, %tid.x;\nmov.u32 %r1, s;\n"
      "setp.eq.u32 %p0, %r0, 0;\nsetp.eq.u32 %p1, %r0, 32;\nsetp.eq.u32 %p2, %r0, 64;\nadd.u32 %r2, %r1, 128;\n"
      "@%p0 mbarrier.init.shared::cta.b64 [%r2], 2;\n@%p0 mbarrier.init.shared::cta.b64 [%r2+8], 2;\nbar.sync 0;\n";
  for (std::size_t i = 0; i < ops.size(); ++i) {
    Op const& o = ops[i];
    std::string const at = "[%r1+" + std::to_string(16 * o.cell) + "]";
    std::string const object = "[%r2+" + std::to_string(8 * o.object) + "]", count = std::to_string(o.count);
    std::string body, before;
    switch (o.kind) {
      case Kind::store:
        body = "st.shared.u32 " + at + ", %r0;";
        break;
      case Kind::load:
        body = "ld.shared.u32 %r3, " + at + ";";
        break;
      case Kind::fence:
        body = o.count ? "fence.proxy.async;" : "fence.proxy.async.shared::cta;";
        break;
      case Kind::save:
        body =
            "cp.async.bulk.global.shared::cta.bulk_group [%a0+" + std::to_string(16 * (i + 1)) + "], " + at + ", 16;";
        break;
      case Kind::commit:
        body = "cp.async.bulk.commit_group;";
        break;
      case Kind::wait:
        body = std::string("cp.async.bulk.wait_group") + (o.cell % 2 ? ".read " : " ") + count + ";";
        break;
      case Kind::fetch:
        before = "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 " + object + ", 16;";
        body =
            "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes " + at + ", [%a0], 16, " + object + ";";
        break;
      case Kind::arrive:
        body = "mbarrier.arrive.shared::cta.b64 _, " + object + ";";
        break;
      case Kind::test:
        body = "mbarrier.test_wait.parity.shared::cta.b64 %q, " + object + ", " + count + ";";
        break;
      case Kind::barrier:
        text += "\n\nbar.sync 0;\n\n";
        continue;
    }
    std::string const mine = "%p" + std::to_string(o.warp), after = "after" + std::to_string(i);
    std::string const guard = o.branches ? "" : "@" + mine + " ";
    text += o.branches ? "@!" + mine + " bra " + after + ";\n" : "\n";
    text += (before.empty() ? "" : guard + before) + "\n" + guard + body + "\n";
    text += o.branches ? after + ":\n" : "\n";
  }
  return text + "@%q bra end;\nend:\nret;\n}\n";
}

struct Found {
  std::size_t later, earlier;
  Finding::Kind kind;
  friend auto operator<=>(Found const&, Found const&) = default;
};

// By the rules, from the graph.
std::set<Found> expected(std::vector<Op> const& ops, std::uint32_t warps) {
  std::size_t const n = ops.size();
  using Set = std::bitset<2 * max_ops>;  // node i: operation i; n + i: its end
  std::vector<Set> before(2 * n);        // complete for the nodes so far
  std::vector<std::vector<std::size_t>> ends(2 * n);
  auto const follows = [&](std::size_t node, std::size_t earlier) {
    before[node] |= before[earlier];
    before[node].set(earlier);
  };
  struct Object {
    std::uint32_t pending = arrivals, phase = 0;
    std::vector<std::size_t> current, completed;  // nodes
  };
  std::vector<Object> object(objects);
  std::vector<std::vector<std::vector<std::size_t>>> groups(warps,
                                                            {{}});  // bulk groups of each warp, the open one last
  std::vector<long> last(warps, -1);
  for (std::size_t i = 0; i < n; ++i) {
    Op const& o = ops[i];
    if (o.kind == Kind::barrier) {
      for (long const l : last)
        if (l >= 0) follows(i, static_cast<std::size_t>(l));
      std::ranges::fill(last, static_cast<long>(i));
      continue;
    }
    if (last[o.warp] >= 0) follows(i, static_cast<std::size_t>(last[o.warp]));
    last[o.warp] = static_cast<long>(i);
    Object& m = object[o.object];
    auto& mine = groups[o.warp];
    if (o.kind == Kind::save || o.kind == Kind::fetch) follows(n + i, i);
    if (o.kind == Kind::save) mine.back().push_back(n + i);
    if (o.kind == Kind::commit) mine.emplace_back();
    if (o.kind == Kind::wait)
      for (std::size_t g = 0; g + 1 + o.count < mine.size(); ++g)
        for (std::size_t const end : mine[g]) follows(i, end);
    if (o.kind == Kind::fetch) m.current.push_back(n + i);
    if (o.kind == Kind::arrive) {
      m.current.push_back(i);
      if (--m.pending == 0) {
        m.pending = arrivals;
        ++m.phase;
        m.completed.insert(m.completed.end(), m.current.begin(), m.current.end());
        m.current.clear();
      }
    }
    if (o.kind == Kind::test && m.phase % 2 != o.count)
      for (std::size_t const node : m.completed) follows(i, node);
  }
  auto const is_async = [](Op const& o) { return o.kind == Kind::save || o.kind == Kind::fetch; };
  auto const accesses = [&](Op const& o) { return o.kind == Kind::store || o.kind == Kind::load || is_async(o); };
  auto const writes = [](Op const& o) { return o.kind == Kind::store || o.kind == Kind::fetch; };
  std::set<Found> found;
  for (std::size_t x = 0; x < n; ++x)
    for (std::size_t y = 0; y < x; ++y) {
      Op const &later = ops[x], &earlier = ops[y];
      if (!accesses(later) || !accesses(earlier) || later.cell != earlier.cell) continue;
      if (!is_async(later) && !is_async(earlier)) continue;
      if (!writes(later) && !writes(earlier)) continue;
      if (is_async(earlier)) {
        if (!before[x][n + y]) found.insert({x, y, Finding::Kind::in_flight});
      } else if (!before[x][y]) {
        found.insert({x, y, Finding::Kind::race});
      } else if (earlier.kind == Kind::store) {
        bool fenced = false;
        for (std::size_t f = y + 1; f < x; ++f) fenced |= ops[f].kind == Kind::fence && before[f][y] && before[x][f];
        if (!fenced) found.insert({x, y, Finding::Kind::proxy_fence});
      }
    }
  return found;
}

std::set<Found> checked(std::vector<Op> const& ops, std::uint32_t warps) {
  auto const module = ptx::parse(text_of(ops), "async.ptx");
  Program const program(*module, *module->find_kernel("k"));
  Memory memory{std::uint64_t{1} << 24};
  Launch launch;
  launch.block = {32 * warps, 1, 1};
  launch.grid = {1, 1, 1};
  std::uint64_t const buffer = memory.add("p", 16 * (max_ops + 1));
  launch.parameters.resize(sizeof buffer);
  std::memcpy(launch.parameters.data(), &buffer, sizeof buffer);
  Checks checks({.races = true, .findings = 10000, .stops = false}, memory);
  checks.begin(program, launch);
  Observer* observers[] = {&checks};
  std::uint64_t const groups[] = {0};
  Outcome const outcome = run(program, launch, memory, groups, observers);
  CAPTURE(text_of(ops), outcome.finding ? outcome.finding->message : std::string());
  REQUIRE(outcome.ending == Ending::done);
  std::set<Found> found;
  for (Finding const& f : checks.findings()) {
    auto const op_at = [&](int line) { return static_cast<std::size_t>((line - first_line) / lines_of_op); };
    std::size_t const later = op_at(static_cast<int>(f.at.line));
    auto const at = f.message.find("PTX line ");
    REQUIRE(at != std::string::npos);
    std::size_t const earlier = op_at(std::stoi(f.message.substr(at + 9)));
    auto const async = [&](std::size_t i) { return ops[i].kind == Kind::save || ops[i].kind == Kind::fetch; };
    if (f.kind == Finding::Kind::race && !async(later) && !async(earlier)) continue;
    found.insert({later, earlier, f.kind});
  }
  return found;
}

std::vector<Op> some_ops(std::uint32_t warps) {
  static constexpr Kind kinds[] = {Kind::store,  Kind::store,  Kind::load,  Kind::load,   Kind::fence,
                                   Kind::fence,  Kind::save,   Kind::save,  Kind::commit, Kind::commit,
                                   Kind::wait,   Kind::wait,   Kind::fetch, Kind::fetch,  Kind::arrive,
                                   Kind::arrive, Kind::arrive, Kind::test,  Kind::test,   Kind::barrier};
  std::vector<Op> ops;
  std::uint32_t arrived[objects] = {};
  for (std::uint32_t count = 4 + drawn(28); ops.size() < count;) {
    Op o;
    o.kind = kinds[drawn(std::size(kinds))];
    o.warp = drawn(warps);
    o.cell = drawn(places);
    o.object = drawn(objects);
    o.count = drawn(2);
    o.branches = drawn(3) == 0;
    // Lanes that find no phase complete would let others go first.
    if (o.kind == Kind::arrive) ++arrived[o.object];
    if (o.kind == Kind::test) o.count = 1 - arrived[o.object] / arrivals % 2;
    ops.push_back(o);
  }
  return ops;
}

}  // namespace

TEST_CASE("findings of the asynchronous proxy are those that the order of operations gives") {
  int clean = 0, of_kind[3] = {};
  for (int trial = 0; trial < 3000; ++trial) {
    std::uint32_t const warps = trial % 4 == 0 ? 3 : 2;
    std::vector<Op> const ops = some_ops(warps);
    std::set<Found> const right = expected(ops, warps), found = checked(ops, warps);
    CAPTURE(trial, text_of(ops), right.size(), found.size());
    for (Found const& f : found) {
      CAPTURE(f.later, f.earlier, static_cast<int>(f.kind));
      REQUIRE(right.contains(f));
      of_kind[f.kind == Finding::Kind::in_flight ? 0 : f.kind == Finding::Kind::race ? 1 : 2] += 1;
    }
    clean += right.empty();
    // What is remembered of a place is enough to find the first operation that is wrong.
    if (warps == 2 && !right.empty()) {
      REQUIRE(!found.empty());
      CAPTURE(right.begin()->later, right.begin()->earlier, found.begin()->later);
      REQUIRE(found.begin()->later == right.begin()->later);
    }
  }
  CHECK(clean > 100);
  for (int const count : of_kind) CHECK(count > 100);
}
