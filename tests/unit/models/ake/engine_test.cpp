// The engine against the poster, closed forms, properties, and an independent simulator on random programs.
#include <array>
#include <map>
#include <random>

#include "bench.hpp"
#include "catch.hpp"
#include "error_of.hpp"
#include "reference.hpp"

using namespace kernelcast::model::ake;

namespace {

// The latencies that were drawn when it was found.
constexpr unsigned anomaly_seed = 60, anomaly_draws = 27;

// [ake] section 2: global memory 500/100, functional unit 100/20; three warps of a load, an addition, and one that
// needs the addition.
struct Poster {
  Machine machine = plain_machine(1, 100, 20);
  Kernel kernel;
  std::vector<Group> groups;

  Poster() {
    machine.of(Class::gmem_load_dram) = {500 * machine.cycle, 100 * machine.cycle, Unit::dram, false};
    kernel.blocks = {
        {access(Kind::load, 0, {1}, {}), plain(Class::fp32_add, {2}, {}), plain(Class::fp32_add, {3}, {2})}};
    Requests one;
    one.dram = 1;
    groups.push_back(group_of(kernel, {{0}, {0}, {0}}, one));
  }
};

std::vector<Issue> issues_of(Machine const& m, Kernel const& k, std::vector<Group> const& groups,
                             Setting setting = {}) {
  std::vector<Issue> out;
  setting.observe = [&](Issue const& i) { out.push_back(i); };
  run(m, k, groups, setting);
  return out;
}

}  // namespace

TEST_CASE("the poster's example") {
  Poster const p;
  auto const issues = issues_of(p.machine, p.kernel, p.groups);
  REQUIRE(issues.size() == 9);
  auto const issue = [&](std::size_t i) { return issues[i].issue / p.machine.cycle; };
  auto const done = [&](std::size_t i) { return issues[i].done / p.machine.cycle; };
  CHECK(done(0) == 500);  // S11
  CHECK(issue(1) == 1);   // S12
  CHECK(done(1) == 101);
  CHECK(done(2) == 600);  // S21 starts when the memory admits it, at 100
  // S32: one instruction a clock from 0 on makes it the sixth, at 5; the poster prints 4 and no rule gives that. Its
  // completion at 141 = 1 + 2 * 20 + 100 is the poster's.
  CHECK(issues[5].warp == 2);
  CHECK(issue(5) == 5);
  CHECK(done(5) == 141);
  // Nothing can issue at 6 (the poster: 5); the clock jumps to 101, when S13 can.
  CHECK(issues[6].warp == 0);
  CHECK(issues[6].pc == 2);
  CHECK(issue(6) == 101);
}

TEST_CASE("one warp takes the sum of its dependent chain") {
  Machine m = plain_machine(2, 7, 3);
  m.of(Class::sfu).latency = 21 * m.cycle;
  Kernel k;
  k.blocks = {{plain(Class::fp32_fma, {1}, {1}), plain(Class::sfu, {1}, {1}), plain(Class::int_add, {1}, {1})}};
  Group const g = group_of(k, {std::vector<std::uint32_t>(50, 0)}, {});
  CHECK(cycles(m, run(m, k, {g})) == 50 * (7 + 21 + 7));
}

TEST_CASE("many warps are bound by the gap") {
  Machine const m = plain_machine(4, 7, 3);
  Kernel k;
  k.blocks = {{plain(Class::fp32_fma, {1}, {1})}};
  std::vector<std::vector<std::uint32_t>> const warps(48, std::vector<std::uint32_t>(20, 0));
  double const t = cycles(m, run(m, k, {group_of(k, warps, {})}));
  CHECK(t >= 48 * 20 * 3);
  CHECK(t <= 48 * 20 * 3 + 7);
}

TEST_CASE("gaps stay exact: a sixth of a cycle, six instructions a cycle") {
  Machine m = plain_machine(8, 9, 1);
  for (Class const c : {Class::fp32_fma}) m.of(c).gap = m.cycle / 6;
  Kernel k;
  k.blocks = {{plain(Class::fp32_fma, {1}, {1})}};
  std::vector<std::vector<std::uint32_t>> const warps(64, std::vector<std::uint32_t>(60, 0));
  double const t = cycles(m, run(m, k, {group_of(k, warps, {})}));
  CHECK(t >= 64 * 60 / 6.0);
  CHECK(t <= 64 * 60 / 6.0 + 9 + 1);
}

TEST_CASE("doubling the limiter's gap doubles the time in the limit") {
  Kernel k;
  k.blocks = {{access(Kind::load, 0, {1}, {}), plain(Class::fp32_fma, {2}, {1, 2})}};
  Requests four;
  four.dram = 4;
  std::vector<std::vector<std::uint32_t>> const warps(32, std::vector<std::uint32_t>(200, 0));
  Group const g = group_of(k, warps, four);
  Machine m = plain_machine(4, 20, 1);
  m.of(Class::gmem_load_dram) = {400 * m.cycle, 5 * m.cycle, Unit::dram, false};
  double const once = cycles(m, run(m, k, {g}));
  m.of(Class::gmem_load_dram).gap *= 2;
  double const twice = cycles(m, run(m, k, {g}));
  CHECK(twice / once > 1.98);
  CHECK(twice / once < 2.0);
}

TEST_CASE("one warp: more latency or gap is never faster") {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    Machine m = plain_machine(1 + random() % 4, 1 + random() % 30, 1 + random() % 5);
    Kernel k;
    k.blocks.resize(1);
    for (int n = 0; n < 12; ++n)
      k.blocks[0].push_back(
          plain(static_cast<Class>(random() % 11), {static_cast<std::uint32_t>(random() % 5)},
                {static_cast<std::uint32_t>(random() % 5), static_cast<std::uint32_t>(random() % 5)}));
    Group const g = group_of(k, {{0, 0, 0}}, {});
    Ticks const before = run(m, k, {g}).end;
    Cost& cost = m.cost[random() % 11];
    (random() % 2 ? cost.latency : cost.gap) += static_cast<Ticks>(random() % 20) * m.cycle;
    INFO("round " << round);
    CHECK(run(m, k, {g}).end >= before);
  }
}

// Greedy-then-oldest is list scheduling: a later arrival may lead to a better order. Found by search, kept as it is.
TEST_CASE("an anomaly: more latency, and the warps end earlier") {
  std::mt19937 random(anomaly_seed);
  auto const below = [&](unsigned n) { return static_cast<unsigned>(random() % n); };
  Machine m = plain_machine(1, 5, 2);
  for (unsigned c = 0; c < anomaly_draws; ++c) m.cost[c].latency = (1 + below(20)) * m.cycle;
  Kernel k;
  k.blocks.resize(1);
  for (int n = 0; n < 10; ++n) {
    Class const c = below(2) ? Class::fp32_add : Class::sfu;
    unsigned const destination = below(4), source = below(4), other = below(4);
    k.blocks[0].push_back(plain(c, {destination}, {source, other}));
  }
  Group const g = group_of(k, {{0}, {0}, {0}}, {});
  Ticks const before = run(m, k, {g}).end;
  m.of(Class::fp32_add).latency += 3 * m.cycle;
  Ticks const after = run(m, k, {g}).end;
  INFO("before " << before / m.cycle << ", after " << after / m.cycle << " cycles");
  CHECK(after < before);
}

TEST_CASE("groups may be replaced, schedulers compared, slots shared: the work is the same") {
  Kernel k;
  k.blocks = {{access(Kind::load, 0, {1}, {}), plain(Class::fp32_fma, {2}, {1, 2}), plain(Class::sfu, {3}, {})},
              {leave()}};
  Requests one;
  one.l2 = 1;
  std::vector<std::uint32_t> blocks(20, 0);
  blocks.push_back(1);
  std::vector<Group> const groups(2, group_of(k, std::vector<std::vector<std::uint32_t>>(8, blocks), one));
  Machine const m = plain_machine(2, 20, 1);
  auto const base = run(m, k, groups);
  for (Scheduler const s : {Scheduler::gto, Scheduler::rr, Scheduler::two_level}) {
    Setting setting;
    setting.scheduler = s;
    setting.active_warps = 2;
    auto const other = run(m, k, groups, setting);
    CHECK(other.instructions == base.instructions);
    CHECK(other.busy == base.busy);
    setting.dual_issue = true;
    auto const dual = run(m, k, groups, setting);
    CHECK(dual.instructions == base.instructions);
    CHECK(dual.busy[0] < base.busy[0]);  // two instructions share a slot
    CHECK(dual.end <= other.end);
  }
  Setting waves;
  waves.groups = 6;
  auto const replaced = run(m, k, groups, waves);
  CHECK(replaced.instructions == 3 * base.instructions);
  CHECK(replaced.end <= 3 * base.end);
  CHECK(replaced.end > 2 * base.end);
}

// Wavefronts take turns at random; a phase waits for what has arrived until then.
template <class Below>
void add_random_events(Kernel const& k, Group& g, std::vector<std::vector<std::uint32_t>> const& warps, Below below) {
  std::array<std::uint64_t, 2> arrived{};
  std::vector<std::size_t> next(warps.size());
  for (std::size_t left = g.rows.size(); left > 0;) {
    std::size_t const w = below(static_cast<unsigned>(warps.size()));
    if (next[w] == warps[w].size()) continue;
    for (Instruction const& i : k.blocks[warps[w][next[w]]]) {
      if (i.type.kind != Kind::arrive && i.type.kind != Kind::phase) continue;
      std::uint32_t const object = below(2);
      std::uint64_t const n = i.type.kind == Kind::phase ? arrived[object] : ++arrived[object];
      add_event(g, w, next[w], static_cast<std::uint32_t>(i.item), {object, n});
    }
    ++next[w];
    --left;
  }
}

TEST_CASE("against an independent simulator, tick by tick") {
  for (unsigned seed = 0; seed < 400; ++seed) {
    std::mt19937 random(seed);
    auto const below = [&](unsigned n) { return static_cast<unsigned>(random() % n); };
    Machine m = plain_machine(1 + below(4), 1 + below(12), 1);
    m.cycle = 4;
    m.issue_gap = 1 + below(6);
    for (Cost& c : m.cost) {
      c.latency = below(40);
      c.gap = below(3) ? 1 + below(12) : 0;
      if (c.unit == Unit::core || c.unit == Unit::fp64) c.per_scheduler = below(2) && m.schedulers > 1;
      c.gap = c.unit == Unit::none ? 0 : std::max<Ticks>(1, c.gap);
    }
    // Half of them issue by kind.
    m.issuing.by_kind = seed % 2 == 1;
    m.issuing.kinds.fill(true);
    if (m.issuing.by_kind) {
      m.issuing.staggered = below(2) == 1;
      if (m.issuing.staggered) m.issue_gap *= m.schedulers;  // turns begin at whole ticks
      m.issuing.wavefront_turn = 1 + below(8);
      // A vector unit is each scheduler's own, or none is.
      bool const own = below(3) > 0 && m.schedulers > 1;
      for (Cost& c : m.cost)
        if (c.unit == Unit::core || c.unit == Unit::fp64) c.per_scheduler = own;
    }
    Kernel k;
    bool const mbarriers = below(3) == 0;
    for (Class const c : {Class::barrier, Class::control})
      m.of(c).latency += 1;  // a release at once may be seen a tick late
    k.blocks.resize(1 + below(4));
    for (auto& block : k.blocks) {
      std::int32_t items = 0;
      auto const reg = [&] { return below(6); };
      for (unsigned n = below(8); n-- > 0;) {
        unsigned const what = below(10);
        if (what < 5)
          block.push_back(plain(static_cast<Class>(below(15)), {reg()}, {reg(), reg()}));
        else if (what < 7)
          block.push_back(access(Kind::load, items++, {reg(), 10 + reg()}, {reg()}));
        else if (what == 7)
          block.push_back(access(Kind::store, items++, {}, {reg(), reg()}));
        else if (what == 8 && below(2) == 0)
          block.push_back(access(Kind::atomic, items++,
                                 below(2) ? std::vector<std::uint32_t>{reg()} : std::vector<std::uint32_t>{}, {reg()}));
        else if (mbarriers)
          block.push_back(at_mbarrier(below(2) ? Kind::arrive : Kind::phase, items++));
        else
          block.push_back(barrier());
      }
      if (m.issuing.by_kind && below(2)) block.push_back(plain(Class::control, {}, {reg()}));
    }
    k.blocks.push_back({leave()});
    std::vector<Group> groups(1 + below(4));
    for (Group& g : groups) {
      std::vector<std::vector<std::uint32_t>> warps(1 + below(5));
      for (auto& w : warps) {
        w.resize(1 + below(10));
        for (auto& b : w) b = below(static_cast<unsigned>(k.blocks.size()) - 1);
        w.push_back(static_cast<std::uint32_t>(k.blocks.size()) - 1);
      }
      g = group_of(k, warps, {});
      add_random_events(k, g, warps, below);
      for (Requests& r : g.requests) {
        std::uint32_t const event = r.event;
        r = {static_cast<std::uint16_t>(below(3)), static_cast<std::uint16_t>(below(3)),
             static_cast<std::uint16_t>(below(5)), static_cast<std::uint16_t>(below(4)), event};
      }
    }
    Setting s;
    s.scheduler = below(3) == 0 ? Scheduler::rr : Scheduler::gto;
    if (below(2)) s.groups = groups.size() + below(6);
    s.launch_ticks = 1 + below(10);
    std::vector<Group const*> resident;
    for (Group const& g : groups) resident.push_back(&g);
    auto const expected = reference(m, k, resident, s);
    auto const got = emulate(m, compile(k, m, Order::program, 0), resident, s);
    INFO("seed " << seed << ", schedulers " << m.schedulers << ", rr " << (s.scheduler == Scheduler::rr)
                 << ", replaced " << (s.groups > groups.size()) << ", by kind " << m.issuing.by_kind);
    CHECK(got.instructions == expected.instructions);
    CHECK(got.end == expected.end);
  }
}

TEST_CASE("asynchronous copies: as many are under way as the wait leaves") {
  Machine const m = plain_machine(1, 100, 1);
  unsigned const rounds = 40;
  for (unsigned const pending : {0u, 1u, 3u}) {
    Instruction copy = access(Kind::copy, 0, {}, {}), commit = plain(Class::sync, {}, {}), wait = commit;
    copy.type.queue = commit.type.queue = wait.type.queue = Queue::copies;
    commit.type.kind = Kind::commit;
    wait.type.kind = Kind::wait;
    wait.pending = pending;
    Kernel kernel;
    kernel.blocks = {{copy, commit, wait}, {leave()}};
    std::vector<std::uint32_t> blocks(rounds, 0);
    blocks.push_back(1);
    Requests from_memory;
    from_memory.shared = 1;
    from_memory.dram = 1;
    double const got = cycles(m, run(m, kernel, {group_of(kernel, {blocks}, from_memory)}));
    INFO("pending " << pending << ": " << got << " cycles");
    // pending + 1 copies of 100 cycles at a time, and their turns of the scheduler.
    double const expected = 100.0 * rounds / (pending + 1);
    CHECK(got >= expected);
    CHECK(got < 1.15 * expected + 100);
  }
}

TEST_CASE("mbarriers: a consumer goes on when the copy is complete, a producer when its stage is free") {
  Machine m = plain_machine(4, 100, 1);
  for (Class const c : {Class::smem_load, Class::smem_store}) m.of(c).latency = m.of(c).gap = m.cycle;
  Cost const& dram = m.of(Class::gmem_load_dram);
  Instruction copy = access(Kind::copy, 1, {}, {});
  copy.type.engine = copy.type.signals = true;
  unsigned const rounds = 40;
  for (unsigned const stages : {1u, 2u, 4u}) {
    // A producer waits for a free stage and fills it; a consumer waits for a full one, and frees it.
    Kernel kernel;
    kernel.blocks = {
        {at_mbarrier(Kind::phase, 0), copy}, {at_mbarrier(Kind::phase, 0), at_mbarrier(Kind::arrive, 1)}, {leave()}};
    std::vector<std::uint32_t> produce(rounds, 0), consume(rounds, 1);
    produce.push_back(2);
    consume.push_back(2);
    Group g = group_of(kernel, {produce, consume}, {});
    for (unsigned r = 0; r < rounds; ++r) {
      std::uint32_t const full = r % stages, free = stages + full;
      std::uint64_t const before = r / stages;
      g.requests[g.rows[r].requests + 1].dram = 1;
      add_event(g, 0, r, 0, {free, before});
      add_event(g, 0, r, 1, {full, before + 1});
      add_event(g, 1, r, 0, {full, before + 1});
      add_event(g, 1, r, 1, {free, before + 1});
    }
    double const got = cycles(m, run(m, kernel, {g}));
    // As many copies of 100 cycles at a time as there are stages; a few cycles from one to the next.
    double const expected = static_cast<double>(dram.latency) / static_cast<double>(m.cycle) * rounds / stages;
    INFO(stages << " stages: " << got << " cycles");
    CHECK(got >= expected);
    CHECK(got < expected + 8.0 * rounds / stages + 110);
  }
}

TEST_CASE("a trace that is not in the order in which it ran is refused, not waited for") {
  Machine const m = plain_machine(1, 10, 1);
  Kernel kernel;
  kernel.blocks = {{at_mbarrier(Kind::phase, 0)}, {barrier()}, {at_mbarrier(Kind::arrive, 0)}, {leave()}};
  // The first waits for what the second does behind a barrier of both.
  Group g = group_of(kernel, {{0, 1, 3}, {1, 2, 3}}, {});
  add_event(g, 0, 0, 0, {0, 1});
  add_event(g, 1, 1, 0, {0, 1});
  auto const error = kernelcast::error_of([&] { run(m, kernel, {g}); });
  CHECK(error.status() == kernelcast::Status::bad_data);
  CHECK(error.text("akemu").find("group 0 are not in the order in which they ran: wavefront 0") != std::string::npos);
}

TEST_CASE("a numbered barrier opens for as many as it names; those that only arrive do not wait") {
  Machine const m = plain_machine(4, 10, 1);
  Instruction named = barrier();
  named.type.space = Space::barrier;
  named.item = 0;
  Instruction passing = named;
  passing.type.passes = true;
  Instruction const slow = access(Kind::load, 0, {1}, {});
  Kernel kernel;
  kernel.blocks = {{named, plain(Class::fp32_fma, {2}, {2}), leave()},
                   {slow, plain(Class::fp32_fma, {2}, {1}), plain(Class::fp32_fma, {3}, {2}), leave()},
                   {passing, leave()}};
  auto const end_of = [&](std::vector<std::vector<std::uint32_t>> const& warps, std::uint64_t count) {
    Group g = group_of(kernel, warps, {});
    for (std::size_t w = 0; w < warps.size(); ++w)
      if (warps[w][0] != 1) add_event(g, w, 0, 0, {3, count});
    g.requests[g.rows[0].requests].dram = warps[0][0] == 1 ? 100 : 0;
    std::map<std::size_t, Ticks> last;
    Setting s;
    s.observe = [&](Issue const& i) { last[i.warp] = i.issue; };
    run(m, kernel, {g}, s);
    return last;
  };
  // Wavefront 0 loads for long and never comes: two others meet without it, and with all that run they do not.
  auto const two = end_of({{1}, {0}, {0}}, 2);
  CHECK(two.at(1) < 60 * m.cycle);
  CHECK(two.at(0) > 100 * m.cycle);
  auto const all = end_of({{1}, {0}, {0}}, 0);
  CHECK(all.at(1) > 100 * m.cycle);
  // One that waits, one that only arrives: it goes on at once.
  auto const passes = end_of({{1}, {0}, {2}}, 2);
  CHECK(passes.at(2) <= 2 * m.cycle);
  CHECK(passes.at(1) < 60 * m.cycle);
  CHECK(passes.at(1) > 10 * m.cycle);
}

TEST_CASE("asynchronous products: the matrix unit's rate, and results when they were waited for") {
  Machine m = plain_machine(4, 30, 1);
  m.matrix = {{"sm_90", "wgmma/f16/f32", 4096, {}}};
  Instruction product = plain(Class::mma, {1}, {1, 2});
  product.type.kind = Kind::product;
  product.type.queue = Queue::products;
  product.product = {"wgmma/f16/f32", 2.0 * 64 * 256 * 16 / 4};
  Instruction commit = plain(Class::sync, {}, {}), wait = commit;
  commit.type.queue = wait.type.queue = Queue::products;
  commit.type.kind = Kind::commit;
  wait.type.kind = Kind::wait;
  unsigned const n = 50;
  Kernel kernel;
  kernel.blocks = {{product}, {commit, wait, leave()}};
  std::vector<std::uint32_t> blocks(n, 0);
  blocks.push_back(1);
  Group const g = group_of(kernel, {blocks, blocks, blocks, blocks}, {});
  // 64 x 256 x 16 take 128 cycles of the unit's four; a sum does not wait for the one before it.
  double const got = cycles(m, run(m, kernel, {g}));
  CHECK(got >= 128.0 * n);
  CHECK(got <= 128.0 * n + 10);
  // Two groups of products may be under way: the wavefront is free to issue long before.
  wait.pending = 1;
  kernel.blocks[1] = {commit, product, commit, wait, leave()};
  Ticks leaves = 0;
  Setting s;
  s.observe = [&](Issue const& i) { leaves = std::max(leaves, i.issue); };
  Group const both = group_of(kernel, {{1}}, {});
  auto const end = run(m, kernel, {both}, s).end;
  CHECK(leaves < m.cycle * 10);
  CHECK(end >= m.cycle * 128);
}

TEST_CASE("tcgen05: a product whose operations the trace counts takes all matrix units") {
  Machine m = plain_machine(4, 30, 1);
  m.matrix = {{"sm_100", "tcgen05/f16/f32", 8192, {}}};
  Instruction product = plain(Class::mma, {}, {});
  product.type.kind = Kind::product;
  product.type.queue = Queue::products;
  product.type.space = Space::product;
  product.item = 0;
  product.product = {"tcgen05/f16/f32", 0};
  Instruction commit = at_mbarrier(Kind::arrive, 1);
  commit.type.queue = Queue::products;
  Kernel kernel;
  kernel.blocks = {{product, commit}, {at_mbarrier(Kind::phase, 0), leave()}, {leave()}};
  Group g = group_of(kernel, {{0, 2}, {1}}, {});
  add_event(g, 0, 0, 0, {0, std::uint64_t{2} * 128 * 256 * 16});  // 128 cycles
  add_event(g, 0, 0, 1, {0, 1});
  add_event(g, 1, 0, 0, {0, 1});
  std::map<std::size_t, Ticks> last;
  Setting s;
  s.observe = [&](Issue const& i) { last[i.warp] = i.issue; };
  run(m, kernel, {g}, s);
  CHECK(last.at(0) < 10 * m.cycle);
  CHECK(last.at(1) >= 128 * m.cycle);
  CHECK(last.at(1) < 170 * m.cycle);
}
