// Operations across the lanes of a warp against the manual's words, with random operands and random active lanes.
#include <algorithm>
#include <set>

#include "catch.hpp"
#include "opcode_cases.hpp"

namespace kernelcast::emu::test {
namespace {

struct Lane {
  u64 value = 0;
  bool holds = false;  // a predicate result
};
// What each lane of a warp gets, from all lanes' operands a, b, c; lanes that are not active take no part.
using Warp = std::function<std::vector<Lane>(std::vector<u64> const& a, std::vector<u64> const& b, u32 active)>;

struct Crossing {
  std::string text;  // uses %a (64 bits), %w (its lower half), %b (32 bits), %pa (its lowest bit); writes %d and %p
  Warp expected;
  bool predicate = false, word = true;
  std::function<u64(Random&)> draw = [](Random& r) { return r(); };
};

std::vector<u32> lanes_of(u32 active) {
  std::vector<u32> lanes;
  for (u32 lane = 0; lane < 32; ++lane)
    if (active >> lane & 1) lanes.push_back(lane);
  return lanes;
}

// In some warps the lanes are of two groups, each with its own member mask, that execute the operation together.
void check_crossing(Crossing const& c) {
  constexpr u32 warps = 40;  // 5 units of 8
  Random random{17};
  std::vector<u64> a(32 * warps), b(32 * warps);
  for (u64& x : a) x = c.draw(random);
  for (u64& x : b) x = random() & 0xffffffff;
  std::vector<u32> active(warps);
  for (u32 w = 0; w < warps; ++w) active[w] = w % 3 == 0 ? ~0u : static_cast<u32>(random()) | 1u << random.below(32);
  // Where a shuffle takes from another group the result is undefined.
  bool const in_groups = c.text.find("%members") != c.text.npos && c.text.find("shfl") == c.text.npos;
  std::vector<u32> group(warps, ~0u);
  if (in_groups)
    for (u32 w = 0; w < warps; w += 2) group[w] = static_cast<u32>(random());
  std::string const text =
      ".visible .entry k(.param .u64 a, .param .u64 b, .param .u64 m, .param .u64 g, .param .u64 r) {\n"
      ".reg .pred %p; .reg .pred %pa; .reg .pred %off; .reg .b32 %w; .reg .b32 %b; .reg .b32 %d; .reg .b32 %n<8>;\n"
      ".reg .b64 %a; .reg .b64 %x<8>; .reg .b32 %members;\n"
      "mov.u32 %n0, %tid.x; mov.u32 %n1, %ctaid.x; mad.lo.u32 %n0, %n1, 256, %n0; mul.wide.u32 %x0, %n0, 8;\n"
      "ld.param.u64 %x1, [a]; add.s64 %x1, %x1, %x0; ld.global.b64 %a, [%x1]; cvt.u32.u64 %w, %a;\n"
      "ld.param.u64 %x2, [b]; add.s64 %x2, %x2, %x0; ld.global.b32 %b, [%x2];\n"
      "ld.param.u64 %x3, [m]; shr.u32 %n2, %n0, 5; mul.wide.u32 %x4, %n2, 4; add.s64 %x3, %x3, %x4;\n"
      "ld.global.b32 %members, [%x3]; and.b32 %n3, %w, 1; setp.ne.u32 %pa, %n3, 0;\n"
      "mov.u32 %n4, %laneid; shr.u32 %n5, %members, %n4; and.b32 %n5, %n5, 1; setp.eq.u32 %off, %n5, 0;\n"
      "ld.param.u64 %x7, [g]; add.s64 %x7, %x7, %x4; ld.global.b32 %n7, [%x7];\n"
      "shr.u32 %n5, %n7, %n4; and.b32 %n5, %n5, 1; sub.u32 %n5, %n5, 1; xor.b32 %n7, %n7, %n5;\n"
      "and.b32 %members, %members, %n7;\n"
      "@%off bra OUT; mov.u32 %d, 0; setp.ne.u32 %p, 0, 0;\n" +
      c.text +
      "\nselp.u32 %n6, 1, 0, %p; mov.b64 %x5, {%d, %n6}; ld.param.u64 %x6, [r]; add.s64 %x6, %x6, %x0;\n"
      "st.global.b64 [%x6], %x5;\nOUT: ret; }\n";
  for (std::string const& level : isa_levels()) {
    INFO(c.text << ", level " << level);
    use_isa_level(level);
    Bench bench(text);
    bench.launch.grid = {warps / 8, 1, 1};
    bench.launch.block = {256, 1, 1};
    bench.buffer("a", a);
    bench.buffer("b", b);
    bench.buffer("m", active);
    bench.buffer("g", group);
    u64 const r = bench.buffer("r", std::vector<u64>(32 * warps, 77));
    Outcome const& outcome = bench.run();
    if (outcome.finding) FAIL(outcome.finding->message);
    std::vector<u64> wanted;
    for (u32 w = 0; w < warps; ++w) {
      std::vector<u64> const wa(&a[32 * w], &a[32 * w] + 32), wb(&b[32 * w], &b[32 * w] + 32);
      std::vector<Lane> expected(32);
      for (u32 const lanes : {active[w] & group[w], active[w] & ~group[w]}) {
        if (!lanes) continue;
        auto const of_group = c.expected(wa, wb, lanes);
        for (u32 const lane : lanes_of(lanes)) expected[lane] = of_group[lane];
      }
      for (u32 lane = 0; lane < 32; ++lane) {
        bool const on = active[w] >> lane & 1;
        wanted.push_back(!on ? 77
                             : (c.word ? expected[lane].value & 0xffffffff : 0) |
                                   (c.predicate ? u64{expected[lane].holds} << 32 : 0));
      }
    }
    std::vector<u64> const out = bench.read<u64>(r);
    auto const differs = std::mismatch(out.begin(), out.end(), wanted.begin(), wanted.end());
    CAPTURE(differs.first - out.begin());  // lane, over all warps
    CHECK(out == wanted);
  }
  use_isa_level(isa_levels().back());
}

std::vector<Lane> all_lanes(u64 value, bool holds = false) {
  return std::vector<Lane>(32, Lane{value, holds});
}

}  // namespace

TEST_CASE("votes, matches and elections") {
  auto holding = [](std::vector<u64> const& a, u32 active) {
    u32 mask = 0;
    for (u32 lane : lanes_of(active)) mask |= static_cast<u32>(a[lane] & 1) << lane;
    return mask;
  };
  auto mostly = [](bool one) { return [one](Random& r) { return (r() & ~u64{1}) | u64{(r.below(60) != 0) == one}; }; };
  for (bool one : {false, true}) {
    check_crossing({"vote.sync.all.pred %p, %pa, %members;",
                    [=](auto& a, auto&, u32 m) { return all_lanes(0, holding(a, m) == m); }, true, false, mostly(one)});
    check_crossing({"vote.sync.any.pred %p, %pa, %members;",
                    [=](auto& a, auto&, u32 m) { return all_lanes(0, holding(a, m) != 0); }, true, false, mostly(one)});
    check_crossing({"vote.sync.any.pred %p, !%pa, %members;",
                    [=](auto& a, auto&, u32 m) { return all_lanes(0, holding(a, m) != m); }, true, false, mostly(one)});
    check_crossing({"vote.sync.uni.pred %p, %pa, %members;",
                    [=](auto& a, auto&, u32 m) { return all_lanes(0, holding(a, m) == m || holding(a, m) == 0); }, true,
                    false, mostly(one)});
  }
  check_crossing(
      {"vote.sync.ballot.b32 %d, %pa, %members;", [=](auto& a, auto&, u32 m) { return all_lanes(holding(a, m)); }});
  check_crossing(
      {"vote.ballot.sync.b32 %d, %pa, %members;", [=](auto& a, auto&, u32 m) { return all_lanes(holding(a, m)); }});
  check_crossing({"vote.sync.ballot.b32 %d, !%pa, %members;",
                  [=](auto& a, auto&, u32 m) { return all_lanes(m & ~holding(a, m)); }});
  check_crossing({"activemask.b32 %d;", [](auto&, auto&, u32 m) { return all_lanes(m); }});
  check_crossing({"elect.sync %d|%p, %members;",
                  [](auto&, auto&, u32 m) {
                    std::vector<Lane> all = all_lanes(lanes_of(m)[0]);
                    all[lanes_of(m)[0]].holds = true;
                    return all;
                  },
                  true});
  check_crossing({"elect.sync _|%p, %members;",
                  [](auto&, auto&, u32 m) {
                    std::vector<Lane> all = all_lanes(0);
                    all[lanes_of(m)[0]].holds = true;
                    return all;
                  },
                  true, false});
  // Few different values, alike in their lower halves.
  auto few = [](Random& r) { return u64{r.below(2)} << 40 | r.below(3); };
  auto same = [](Random& r) { return u64{r.below(200) == 0} << 40; };
  for (bool wide : {false, true}) {
    auto key = [wide](u64 x) { return wide ? x : x & 0xffffffff; };
    std::string const type = wide ? "b64 %d, %a" : "b32 %d, %w", pair = wide ? "b64 %d|%p, %a" : "b32 %d|%p, %w";
    check_crossing({"match.any.sync." + type + ", %members;",
                    [=](auto& a, auto&, u32 m) {
                      std::vector<Lane> all(32);
                      for (u32 x : lanes_of(m))
                        for (u32 y : lanes_of(m)) all[x].value |= u64{key(a[x]) == key(a[y])} << y;
                      return all;
                    },
                    false, true, few});
    check_crossing({"match.all.sync." + pair + ", %members;",
                    [=](auto& a, auto&, u32 m) {
                      std::set<u64> keys;
                      for (u32 x : lanes_of(m)) keys.insert(key(a[x]));
                      return all_lanes(keys.size() == 1 ? m : 0, keys.size() == 1);
                    },
                    true, true, same});
  }
}

TEST_CASE("shuffles take their value from the lane that the manual computes") {
  for (std::string const mode : {"up", "down", "bfly", "idx"}) {
    // %b: amount in bits 0..4, clamp in 8..12, segment mask in 16..20 of the operand that is built here.
    check_crossing(
        {"shr.u32 %n6, %b, 8; and.b32 %n6, %n6, 7967; shfl.sync." + mode + ".b32 %d|%p, %w, %b, %n6, %members;",
         [=](auto& a, auto& b, u32 m) {
           std::vector<Lane> all(32);
           for (u32 lane : lanes_of(m)) {
             int const l = static_cast<int>(lane), by = static_cast<int>(b[lane] & 31),
                       clamp = static_cast<int>(b[lane] >> 8 & 31), segment = static_cast<int>(b[lane] >> 16 & 31);
             int const last = (l & segment) | (clamp & ~segment & 31), first = l & segment;
             int from = mode == "up"     ? l - by
                        : mode == "down" ? l + by
                        : mode == "bfly" ? (l ^ by)
                                         : (first | (by & ~segment & 31));
             bool const inside = mode == "up" ? from >= last : from <= last;
             if (!inside) from = l;
             // What an inactive lane holds is undefined; here it is 0.
             bool const there = from >= 0 && from < 32 && (m >> from & 1);
             all[lane] = {there ? a[static_cast<std::size_t>(from)] : 0, inside};
           }
           return all;
         },
         true});
  }
}

TEST_CASE("reductions over the lanes of a warp") {
  auto reduced = [](auto convert, auto combine) {
    return [=](std::vector<u64> const& a, std::vector<u64> const&, u32 m) {
      std::vector<u32> const lanes = lanes_of(m);
      auto total = convert(a[lanes[0]]);
      for (std::size_t i = 1; i < lanes.size(); ++i) total = combine(total, convert(a[lanes[i]]));
      return all_lanes(static_cast<u64>(static_cast<u32>(total)));
    };
  };
  auto unsigned_value = [](u64 x) { return static_cast<u32>(x); };
  auto signed_value = [](u64 x) { return static_cast<std::int32_t>(x); };
  check_crossing({"redux.sync.add.u32 %d, %w, %members;", reduced(unsigned_value, [](u32 a, u32 b) { return a + b; })});
  check_crossing({"redux.sync.add.s32 %d, %w, %members;", reduced(unsigned_value, [](u32 a, u32 b) { return a + b; })});
  check_crossing(
      {"redux.sync.min.u32 %d, %w, %members;", reduced(unsigned_value, [](u32 a, u32 b) { return std::min(a, b); })});
  check_crossing(
      {"redux.sync.max.u32 %d, %w, %members;", reduced(unsigned_value, [](u32 a, u32 b) { return std::max(a, b); })});
  check_crossing(
      {"redux.sync.min.s32 %d, %w, %members;", reduced(signed_value, [](auto a, auto b) { return std::min(a, b); })});
  check_crossing(
      {"redux.sync.max.s32 %d, %w, %members;", reduced(signed_value, [](auto a, auto b) { return std::max(a, b); })});
  check_crossing({"redux.sync.and.b32 %d, %w, %members;", reduced(unsigned_value, [](u32 a, u32 b) { return a & b; }),
                  false, true, [](Random& r) { return r() | r() | r() | r(); }});
  check_crossing({"redux.sync.or.b32 %d, %w, %members;", reduced(unsigned_value, [](u32 a, u32 b) { return a | b; }),
                  false, true, [](Random& r) { return r() & r() & r() & r(); }});
  check_crossing({"redux.sync.xor.b32 %d, %w, %members;", reduced(unsigned_value, [](u32 a, u32 b) { return a ^ b; })});
  // f32: sorted, with -0 below +0.
  auto draw = [](Random& r) -> u64 {
    u32 const special[] = {0, 0x80000000, 0x7fc00000, 0xffc00000, 0x7f800000, 0xff800000, 1};
    return r.below(24) == 0 ? special[r.below(7)] : r.below(3) ? r() & 0xffffffff : 0x7fc00001;
  };
  for (bool maximum : {false, true})
    for (bool magnitude : {false, true})
      for (bool nan_wins : {false, true})
        check_crossing({std::string("redux.sync.") + (maximum ? "max" : "min") + (magnitude ? ".abs" : "") +
                            (nan_wins ? ".NaN" : "") + ".f32 %d, %w, %members;",
                        [=](auto& a, auto&, u32 m) {
                          std::vector<u32> numbers;
                          bool nan = false;
                          for (u32 lane : lanes_of(m)) {
                            u32 const x = static_cast<u32>(a[lane]) & (magnitude ? 0x7fffffffu : ~0u);
                            if ((x & 0x7fffffff) > 0x7f800000)
                              nan = true;
                            else
                              numbers.push_back(x);
                          }
                          if (numbers.empty() || (nan && nan_wins)) return all_lanes(0x7fffffff);
                          std::sort(numbers.begin(), numbers.end(), [](u32 x, u32 y) {
                            auto rank = [](u32 b) {
                              return b >> 31 ? -static_cast<std::int64_t>(b & 0x7fffffff) - 1 : std::int64_t{b};
                            };
                            return rank(x) < rank(y);
                          });
                          return all_lanes(maximum ? numbers.back() : numbers.front());
                        },
                        false, true, draw});
}

// Groups of whole and of broken wavefronts, and small ones that run side by side.
TEST_CASE("exchanges among wavefronts of 64 lanes") {
  std::string const text =
      ".visible .entry k(.param .u64 a, .param .u64 b, .param .u64 r) {\n"
      ".reg .pred %p; .reg .pred %off; .reg .b32 %w; .reg .b32 %b; .reg .b32 %d<4>; .reg .b32 %n<4>; .reg .b64 %x<8>;\n"
      "mov.u32 %n0, %tid.x; mov.u32 %n1, %ctaid.x; mov.u32 %n2, %ntid.x; mad.lo.u32 %n0, %n1, %n2, %n0;\n"
      "mul.wide.u32 %x0, %n0, 4; ld.param.u64 %x1, [a]; add.s64 %x1, %x1, %x0; ld.global.b32 %w, [%x1];\n"
      "ld.param.u64 %x2, [b]; add.s64 %x2, %x2, %x0; ld.global.b32 %b, [%x2];\n"
      "and.b32 %n3, %w, 3; setp.eq.u32 %off, %n3, 3; @%off bra OUT; and.b32 %n3, %w, 4; setp.ne.u32 %p, %n3, 0;\n"
      ".pragma \"wave64\"; shfl.sync.idx.b32 %d0, %w, %b, 31, -1;\n"
      ".pragma \"wave64::low\"; vote.sync.ballot.b32 %d1, %p, -1;\n"
      ".pragma \"wave64::high\"; vote.sync.ballot.b32 %d2, %p, -1;\n"
      "shfl.sync.idx.b32 %d3, %w, 0, 31, -1;\n"
      "mul.wide.u32 %x0, %n0, 16; ld.param.u64 %x6, [r]; add.s64 %x6, %x6, %x0;\n"
      "st.global.v4.b32 [%x6], {%d0, %d1, %d2, %d3};\nOUT: ret; }\n";
  for (u32 const size : {32u, 33u, 64u, 96u, 256u, 1000u}) {
    CAPTURE(size);
    u32 const groups = 9, lanes = size * groups;
    Random random{size};
    std::vector<u32> a(lanes), b(lanes), wanted(4 * lanes, 77);
    for (u32& x : a) x = static_cast<u32>(random());
    for (u32& x : b) x = static_cast<u32>(random());
    auto const active = [&](u32 i) { return a[i] % 4 != 3; };
    for (u32 i = 0; i < lanes; ++i) {
      if (!active(i)) continue;
      u32 const of_group = i % size, first = i - of_group % 64, end = i - of_group + size;
      auto const value = [&](u32 from) { return from < end && active(from) ? a[from] : 0; };
      u64 ballot = 0;
      for (u32 lane = 0; lane < 64; ++lane) ballot |= u64{value(first + lane) >> 2 & 1} << lane;
      wanted[4 * i] = value(first + b[i] % 64);
      wanted[4 * i + 1] = static_cast<u32>(ballot);
      wanted[4 * i + 2] = static_cast<u32>(ballot >> 32);
      wanted[4 * i + 3] = value(i - of_group % 32);  // the pragmas are of one instruction each
    }
    for (std::string const& level : isa_levels()) {
      CAPTURE(level);
      use_isa_level(level);
      Bench bench(text);
      bench.launch.grid = {groups, 1, 1};
      bench.launch.block = {size, 1, 1};
      bench.buffer("a", a);
      bench.buffer("b", b);
      u64 const r = bench.buffer("r", std::vector<u32>(4 * lanes, 77));
      Outcome const& outcome = bench.run();
      if (outcome.finding) FAIL(outcome.finding->message);
      std::vector<u32> const out = bench.read<u32>(r);
      CAPTURE(std::mismatch(out.begin(), out.end(), wanted.begin(), wanted.end()).first - out.begin());
      CHECK(out == wanted);
    }
  }
  use_isa_level(isa_levels().back());
}

}  // namespace kernelcast::emu::test
