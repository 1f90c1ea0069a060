// Comparisons of 16-bit floats and pairs, set in all types, and selections.
#include "catch.hpp"
#include "exact.hpp"
#include "opcode_cases.hpp"

namespace kernelcast::emu::test {
namespace {

struct Comparison {
  std::string name;
  bool unordered;
  std::function<bool(double, double)> holds;
};
std::vector<Comparison> comparisons() {
  std::pair<std::string, std::function<bool(double, double)>> const basic[] = {
      {"eq", std::equal_to<>{}},   {"ne", std::not_equal_to<>{}}, {"lt", std::less<>{}},
      {"le", std::less_equal<>{}}, {"gt", std::greater<>{}},      {"ge", std::greater_equal<>{}}};
  std::vector<Comparison> all;
  for (auto const& [name, holds] : basic) {
    all.push_back({name, false, holds});
    all.push_back({name + "u", true, holds});
  }
  all.push_back({"num", false, [](double, double) { return true; }});
  all.push_back({"nan", true, [](double, double) { return false; }});
  return all;
}

std::vector<Case> half_cases() {
  std::vector<Case> all;
  static Table const f16 = Table::of(5, 10, true, false), bf16 = Table::of(8, 7, true, false);
  for (bool brain : {false, true}) {
    Table const& t = brain ? bf16 : f16;
    std::string const type = brain ? "bf16" : "f16", one(1, brain ? 'b' : 'k'), two(1, brain ? 'y' : 'x');
    u64 const unit = brain ? 0x3f80 : 0x3c00;
    for (Comparison const& c : comparisons())
      for (bool ftz : {false, true}) {
        if (ftz && brain) continue;
        auto test = [=, &t](u64 a, u64 b) {
          auto value = [&](u64 x) {
            x &= 0xffff;
            return static_cast<double>(t.value(ftz && (x & 0x7c00) == 0 ? x & 0x8000 : x));
          };
          double const x = value(a), y = value(b);
          return std::isnan(x) || std::isnan(y) ? c.unordered : c.holds(x, y);
        };
        std::string const z = ftz ? ".ftz." : ".";
        all.push_back(
            {"setp." + c.name + z + type, "p" + one + one, [=](u64 a, u64 b, u64, u64) { return pred(test(a, b)); }});
        all.push_back({"setp." + c.name + z + type + "x2", "P" + two + two,
                       [=](u64 a, u64 b, u64, u64) { return pred(test(a, b)) | pred(test(a >> 16, b >> 16)) << 1; }});
        all.push_back({"setp." + c.name + ".xor" + z + type + "x2", "P" + two + two + "p",
                       [=](u64 a, u64 b, u64 q, u64) {
                         return pred(test(a, b) != (q == 0)) | pred(test(a >> 16, b >> 16) != (q == 0)) << 1;
                       },
                       "{0}, {1}, {2}, !{3}"});
        all.push_back({"set." + c.name + z + "u16." + type, "h" + one + one,
                       [=](u64 a, u64 b, u64, u64) { return test(a, b) ? u64{0xffff} : 0; }});
        all.push_back({"set." + c.name + z + "s32." + type, "w" + one + one,
                       [=](u64 a, u64 b, u64, u64) { return test(a, b) ? u64{0xffffffff} : 0; }});
        all.push_back({"set." + c.name + z + "u32." + type + "x2", "w" + two + two, [=](u64 a, u64 b, u64, u64) {
                         return (test(a, b) ? u64{0xffff} : 0) | (test(a >> 16, b >> 16) ? u64{0xffff0000} : 0);
                       }});
        all.push_back({"set." + c.name + ".and" + z + type + "x2." + type + "x2", two + two + two + "p",
                       [=](u64 a, u64 b, u64 q, u64) {
                         return (test(a, b) && q ? unit : 0) | (test(a >> 16, b >> 16) && q ? unit << 16 : 0);
                       }});
      }
  }
  return all;
}

std::vector<Case> set_cases() {
  std::vector<Case> all;
  std::pair<std::string, u64> const results[] = {
      {"u32", 0xffffffff}, {"s32", 0xffffffff}, {"f32", 0x3f800000}, {"f16", 0x3c00}, {"bf16", 0x3f80}};
  for (auto const& [type, truth] : results) {
    std::string const d = type == "f16" || type == "bf16" ? "h" : "w";
    u64 const yes = truth;
    all.push_back({"set.lo." + type + ".u64", d + "dd", [=](u64 a, u64 b, u64, u64) { return a < b ? yes : 0; }});
    all.push_back({"set.ge." + type + ".s16", d + "hh",
                   [=](u64 a, u64 b, u64, u64) { return sx(a, 16) >= sx(b, 16) ? yes : 0; }});
    all.push_back({"set.ne." + type + ".b32", d + "ww", [=](u64 a, u64 b, u64, u64) { return a != b ? yes : 0; }});
    all.push_back(
        {"set.leu." + type + ".f32", d + "ff", [=](u64 a, u64 b, u64, u64) { return !(f(a) > f(b)) ? yes : 0; }});
    all.push_back({"set.lt.or." + type + ".f64", d + "ggp",
                   [=](u64 a, u64 b, u64 c, u64) { return g(a) < g(b) || c ? yes : 0; }});
    all.push_back({"set.eq.and." + type + ".s64", d + "ddp",
                   [=](u64 a, u64 b, u64 c, u64) { return a == b && !c ? yes : 0; }, "{0}, {1}, {2}, !{3}"});
    // As GCC writes them.
    all.push_back({"set." + type + ".ge.s32", d + "ww",
                   [=](u64 a, u64 b, u64, u64) { return sx(a, 32) >= sx(b, 32) ? yes : 0; }});
    all.push_back({"set." + type + ".lt.or.f64", d + "ggp",
                   [=](u64 a, u64 b, u64 c, u64) { return g(a) < g(b) || c ? yes : 0; }});
  }
  // The second predicate takes the complement.
  all.push_back({"setp.lt.s32", "Pww", [](u64 a, u64 b, u64, u64) { return sx(a, 32) < sx(b, 32) ? u64{1} : u64{2}; }});
  all.push_back({"setp.hs.and.u64", "Pddp", [](u64 a, u64 b, u64 c, u64) {
                   return c == 0 ? u64{0} : a >= b ? u64{1} : u64{2};
                 }});
  all.push_back({"setp.gtu.f32", "Pff", [](u64 a, u64 b, u64, u64) { return !(f(a) <= f(b)) ? u64{1} : u64{2}; }});
  all.push_back({"setp.num.or.f64", "Pggp", [](u64 a, u64 b, u64 c, u64) {
                   bool const numbers = !std::isnan(g(a)) && !std::isnan(g(b));
                   return c ? u64{3} : numbers ? u64{1} : u64{2};
                 }});
  for (bool ftz : {false, true})
    for (int width : {16, 32, 64}) {
      std::string const l = width == 16 ? "h" : width == 32 ? "w" : "d";
      all.push_back({std::string("slct") + (ftz ? ".ftz" : "") + ".b" + std::to_string(width) + ".f32", l + l + l + "f",
                     [=](u64 a, u64 b, u64 c, u64) {
                       bool const tiny = ftz && (c & 0x7f800000) == 0;
                       return tiny || f(c) >= 0 ? a : b;
                     }});
    }
  return all;
}

}  // namespace

TEST_CASE("comparisons of f16 and bf16, alone and in pairs") {
  check_all(half_cases());
}
TEST_CASE("set, second predicates and slct") {
  check_all(set_cases());
}

}  // namespace kernelcast::emu::test
