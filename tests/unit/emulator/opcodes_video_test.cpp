// Video instructions against the manual's pseudo code, written with 128-bit integers and lists of parts.
#include "catch.hpp"
#include "opcode_cases.hpp"

namespace kernelcast::emu::test {
namespace {

s128 limited(s128 x, s128 low, s128 high) {
  return x < low ? low : x > high ? high : x;
}
s128 limited_to(s128 x, int bits, bool sign) {
  s128 const one = 1;
  return sign ? limited(x, -(one << (bits - 1)), (one << (bits - 1)) - 1) : limited(x, 0, (one << bits) - 1);
}
s128 value(u64 x, int bits, bool sign) {
  return sign ? s128{sx(x, bits)} : static_cast<s128>(zx(x, bits));
}
// "b2", "h1" or "" of a word.
s128 part(u64 word, std::string const& selector, bool sign) {
  if (selector.empty()) return value(word, 32, sign);
  int const bits = selector[0] == 'b' ? 8 : 16;
  return value(word >> bits * (selector[1] - '0'), bits, sign);
}

using Primary = std::function<s128(s128, s128)>;
struct Verb {
  std::string name;
  Primary primary;
};
s128 average(s128 a, s128 b) {
  s128 const sum = a + b;
  s128 const up = sum >= 0 ? sum + 1 : sum;
  return up >= 0 ? up / 2 : (up - 1) / 2;
}
std::vector<Verb> const verbs = {{"add", [](s128 a, s128 b) { return a + b; }},
                                 {"sub", [](s128 a, s128 b) { return a - b; }},
                                 {"absdiff", [](s128 a, s128 b) { return a > b ? a - b : b - a; }},
                                 {"min", [](s128 a, s128 b) { return a < b ? a : b; }},
                                 {"max", [](s128 a, s128 b) { return a < b ? b : a; }},
                                 {"avrg", average}};
std::vector<Verb> const comparisons = {
    {"eq", [](s128 a, s128 b) { return s128{a == b}; }}, {"ne", [](s128 a, s128 b) { return s128{a != b}; }},
    {"lt", [](s128 a, s128 b) { return s128{a < b}; }},  {"le", [](s128 a, s128 b) { return s128{a <= b}; }},
    {"gt", [](s128 a, s128 b) { return s128{a > b}; }},  {"ge", [](s128 a, s128 b) { return s128{a >= b}; }}};

std::string type(bool sign) {
  return sign ? ".s32" : ".u32";
}
std::string selected(std::string const& selector) {
  return selector.empty() ? "" : "." + selector;
}

// After the primary operation: saturation, the second operation or merging.
u64 finished(s128 x, u64 c, bool d_sign, bool sat, std::string const& second, std::string const& merge) {
  int const bits = merge.empty() ? 32 : merge[0] == 'b' ? 8 : 16;
  if (sat) x = limited_to(x, bits, d_sign);
  s128 const third = value(c, 32, d_sign);
  if (second == "add") x += third;
  if (second == "min") x = std::min(x, third);
  if (second == "max") x = std::max(x, third);
  if (merge.empty()) return zx(static_cast<u64>(x), 32);
  int const at = bits * (merge[1] - '0');
  u64 const mask = ((u64{1} << bits) - 1) << at;
  return (c & ~mask) | (static_cast<u64>(x) << at & mask);
}

std::vector<Case> scalar_cases() {
  std::vector<Case> all;
  Random random{5};
  std::string const selectors[] = {"", "", "b0", "b1", "b2", "b3", "h0", "h1"};
  std::string const seconds[] = {"", "add", "min", "max"};
  auto one_of = [&](auto const& list) { return list[random.below(static_cast<u32>(std::size(list)))]; };
  for (int round = 0; round < 160; ++round) {
    bool const d = random.below(2), a = random.below(2), b = random.below(2), sat = random.below(2);
    std::string const of_a = one_of(selectors), of_b = one_of(selectors);
    bool const merges = random.below(2);
    std::string const second = merges ? "" : one_of(seconds);
    std::string merge = merges ? one_of(selectors) : "";
    bool const third = !second.empty() || !merge.empty();
    std::string const form =
        "{0}" + selected(merge) + ", {1}" + selected(of_a) + ", {2}" + selected(of_b) + (third ? ", {3}" : "");
    std::string const tail = (sat ? ".sat" : "") + (second.empty() ? "" : "." + second);
    if (round % 4 == 0) {
      bool const left = random.below(2), wrap = random.below(2);
      all.push_back({std::string(left ? "vshl" : "vshr") + type(d) + type(a) + ".u32" + (sat ? ".sat" : "") +
                         (wrap ? ".wrap" : ".clamp") + (second.empty() ? "" : "." + second),
                     "wwww",
                     [=](u64 x, u64 y, u64 c, u64) {
                       u64 n = static_cast<u64>(part(y, of_b, false));
                       n = wrap ? n % 32 : std::min<u64>(n, 32);
                       s128 const from = part(x, of_a, a), scale = s128{1} << n;
                       s128 const shifted =
                           left ? from * scale : (from >= 0 ? from / scale : -((-from + scale - 1) / scale));
                       return finished(shifted, c, d, sat, second, merge);
                     },
                     form});
    } else if (round % 4 == 1) {
      Verb const v = one_of(comparisons);
      all.push_back({"vset" + type(a) + type(b) + "." + v.name + (second.empty() ? "" : "." + second), "wwww",
                     [=](u64 x, u64 y, u64 c, u64) {
                       return finished(v.primary(part(x, of_a, a), part(y, of_b, b)), c, false, false, second, merge);
                     },
                     form});
    } else {
      Verb const v = verbs[random.below(5)];
      all.push_back({"v" + v.name + type(d) + type(a) + type(b) + tail, "wwww",
                     [=](u64 x, u64 y, u64 c, u64) {
                       return finished(v.primary(part(x, of_a, a), part(y, of_b, b)), c, d, sat, second, merge);
                     },
                     form});
    }
  }
  return all;
}

std::vector<Case> multiply_cases() {
  std::vector<Case> all;
  Random random{6};
  std::string const selectors[] = {"", "", "b0", "b3", "h0", "h1"};
  std::string const scales[] = {"", ".shr7", ".shr15"};
  for (int round = 0; round < 60; ++round) {
    bool const a = random.below(2), b = random.below(2), sat = random.below(2);
    u32 const negation = random.below(4);  // nothing, the product, c, plus one
    std::string const of_a = selectors[random.below(6)], of_b = selectors[random.below(6)];
    u32 const scale = random.below(3);
    bool const final_signed = a || b || negation == 1 || negation == 2;
    all.push_back({"vmad" + type(final_signed) + type(a) + type(b) + (negation == 3 ? ".po" : "") +
                       (sat ? ".sat" : "") + scales[scale],
                   "wwww",
                   [=](u64 x, u64 y, u64 c, u64) {
                     s128 product = part(x, of_a, a) * part(y, of_b, b);
                     // -x is ~x + 1; of c the complement is taken in 32 bits.
                     if (negation == 1) product = -product - 1;
                     u64 const addend = negation == 2 ? zx(~c, 32) : c;
                     s128 sum = product + value(addend, 32, final_signed) + (negation != 0);
                     s128 const divisor = scale == 0 ? 1 : scale == 1 ? 128 : 32768;
                     sum = sum >= 0 ? sum / divisor : -((-sum + divisor - 1) / divisor);
                     return zx(static_cast<u64>(sat ? limited_to(sum, 32, final_signed) : sum), 32);
                   },
                   std::string("{0}, ") + (negation == 1 ? "-" : "") + "{1}" + selected(of_a) + ", {2}" +
                       selected(of_b) + (negation == 2 ? ", -{3}" : ", {3}")});
  }
  return all;
}

std::vector<Case> parallel_cases() {
  std::vector<Case> all;
  Random random{7};
  for (int round = 0; round < 120; ++round) {
    u32 const n = random.below(2) ? 2 : 4;
    int const bits = static_cast<int>(32 / n);
    std::string const letter = n == 2 ? "h" : "b";
    bool const d = random.below(2), a = random.below(2), b = random.below(2);
    bool const add = random.below(3) == 0, sat = !add && random.below(2), compares = random.below(4) == 0;
    // Selectors name parts from the highest to the lowest.
    auto choose = [&](u32 first) {
      std::vector<u32> parts(n);
      for (u32 i = 0; i < n; ++i) parts[i] = first + i;
      if (random.below(3))
        for (u32& p : parts) p = random.below(2 * n);
      return parts;
    };
    auto text = [&](std::vector<u32> const& parts) {
      std::string s = "." + letter;
      for (u32 i = n; i-- > 0;) s += std::to_string(parts[i]);
      return s;
    };
    std::vector<u32> const of_a = choose(0), of_b = choose(n);
    bool const by_default = random.below(4) == 0;
    u32 mask = 0;
    std::string mask_text = "." + letter;
    for (u32 i = n; i-- > 0;)
      if (random.below(2)) mask |= 1u << i, mask_text += std::to_string(i);
    if (mask == 0 || by_default) mask = (1u << n) - 1, mask_text.clear();
    Verb const v = compares ? comparisons[random.below(6)] : verbs[random.below(6)];
    std::string const opcode = compares
                                   ? "vset" + std::to_string(n) + type(a) + type(b) + "." + v.name + (add ? ".add" : "")
                                   : "v" + v.name + std::to_string(n) + type(d) + type(a) + type(b) +
                                         (sat   ? ".sat"
                                          : add ? ".add"
                                                : "");
    all.push_back({opcode, "wwww",
                   [=](u64 x, u64 y, u64 c, u64) {
                     auto take = [&](u32 index, bool sign) {
                       return value((index < n ? x : y) >> static_cast<u32>(bits) * (index % n), bits, sign);
                     };
                     u64 result = add ? c : 0;
                     for (u32 i = 0; i < n; ++i) {
                       s128 t = v.primary(take(by_default ? i : of_a[i], a), take(by_default ? n + i : of_b[i], b));
                       if (sat && !compares) t = limited_to(t, bits, d);
                       u64 const own = zx(static_cast<u64>(t), bits) << static_cast<u32>(bits) * i;
                       u64 const old = c & ((u64{1} << bits) - 1) << static_cast<u32>(bits) * i;
                       if (add)
                         result += mask >> i & 1 ? static_cast<u64>(t) : 0;
                       else
                         result |= mask >> i & 1 ? own : old;
                     }
                     return zx(result, 32);
                   },
                   "{0}" + mask_text + ", {1}" + (by_default ? "" : text(of_a)) + ", {2}" +
                       (by_default ? "" : text(of_b)) + ", {3}"});
  }
  return all;
}

}  // namespace

TEST_CASE("scalar video instructions select, saturate, combine and merge") {
  check_all(scalar_cases());
}
TEST_CASE("vmad multiplies, adds, scales and saturates") {
  check_all(multiply_cases());
}
TEST_CASE("video instructions work on two and four parts in parallel") {
  check_all(parallel_cases());
}

}  // namespace kernelcast::emu::test
