// Runs opcodes on random operands; see opcode_cases.hpp.
#include "opcode_cases.hpp"

#include <iterator>

#include "catch.hpp"

namespace kernelcast::emu::test {
namespace {

int width_of(char letter) {
  switch (letter) {
    case 'c':
      return 8;
    case 'h':
    case 'k':
    case 'b':
      return 16;
    case 'd':
    case 'g':
    case 'z':
      return 64;
    default:
      return 32;
  }
}
std::string register_of(char letter, std::size_t index) {
  std::string const n = std::to_string(index);
  if (letter == 'P') return "%p" + n + "|%p9";
  if (letter == 'V') return "%w" + n + "|%p9";
  if (letter == 'p') return "%p" + n;
  int const width = width_of(letter);
  return (width == 8 ? "%c" : width == 16 ? "%h" : width == 64 ? "%d" : "%w") + n;
}

std::string written(Case const& c) {
  std::string form = c.form;
  if (form.empty())
    for (std::size_t i = 0; i < c.operands.size(); ++i) form += (i ? ", {" : "{") + std::to_string(i) + "}";
  for (std::size_t i = 0; i < c.operands.size(); ++i) {
    std::string const mark = "{" + std::to_string(i) + "}";
    for (std::size_t at; (at = form.find(mark)) != std::string::npos;)
      form.replace(at, mark.size(), register_of(c.operands[i], i));
  }
  return c.opcode + " " + form + ";\n";
}

// Operands come as 64-bit words, one array each; the result goes out as one.
std::string kernel_text(Case const& c) {
  std::string text =
      ".visible .entry k(.param .u64 a, .param .u64 b, .param .u64 c, .param .u64 e, .param .u64 r, .param .u32 mask) "
      "{\n"
      ".reg .pred %p<12>; .reg .b8 %c<8>; .reg .b16 %h<8>; .reg .b32 %w<8>; .reg .b32 %x<8>; .reg .b64 %d<8>;\n"
      ".reg .b64 %a<16>;\n"
      "mov.u32 %x0, %tid.x; mov.u32 %x4, %ctaid.x; mov.u32 %x5, %ntid.x; mad.lo.u32 %x4, %x4, %x5, %x0;\n"
      "ld.param.u32 %x1, [mask]; mul.wide.u32 %a0, %x4, 8;\n"
      "ld.param.u64 %a6, [r]; add.s64 %a6, %a6, %a0;\n"
      // Lane l is off where bit l mod 32 of the mask is 0.
      "and.b32 %x2, %x0, 31; shr.u32 %x3, %x1, %x2; and.b32 %x3, %x3, 1; setp.eq.s32 %p11, %x3, 0; @%p11 bra OUT;\n";
  char const* names[] = {"a", "b", "c", "e"};
  for (std::size_t i = 1; i < c.operands.size(); ++i) {
    char const letter = c.operands[i];
    std::string const n = std::to_string(i);
    text += "ld.param.u64 %a" + n + ", [" + names[i - 1] + "]; add.s64 %a" + n + ", %a" + n + ", %a0;\n";
    std::string const reg = register_of(letter, i);
    if (letter == 'p')
      text += "ld.global.u32 %w0, [%a" + n + "]; setp.ne.u32 " + reg + ", %w0, 0;\n";
    else
      text += "ld.global.b" + std::to_string(width_of(letter)) + " " + reg + ", [%a" + n + "];\n";
  }
  text += written(c);
  switch (c.operands[0]) {
    case 'p':
      text += "selp.u32 %w0, 1, 0, %p0; cvt.u64.u32 %d0, %w0;\n";
      break;
    case 'P':
      text += "selp.u32 %w0, 1, 0, %p0; selp.u32 %w1, 2, 0, %p9; or.b32 %w0, %w0, %w1; cvt.u64.u32 %d0, %w0;\n";
      break;
    case 'V':
      text += "selp.u32 %w1, 1, 0, %p9; mov.b64 %d0, {%w0, %w1};\n";
      break;
    case 'c':
      text += "cvt.u64.u8 %d0, %c0;\n";
      break;
    default:
      if (int const width = width_of(c.operands[0]); width < 64)
        text += width == 16 ? "cvt.u64.u16 %d0, %h0;\n" : "cvt.u64.u32 %d0, %w0;\n";
  }
  return text + "st.global.u64 [%a6], %d0;\nOUT: ret;\n}\n";
}

u64 half_operand(Random& random, bool brain) {
  static constexpr u64 special16[] = {0,      1,      15,     16,     0x7fff, 0x8000, 0xffff, 0x7c00, 0xfc00, 0x7e01,
                                      0x03ff, 0x0400, 0x3c00, 0xbe00, 0x7bff, 0x8001, 0x83ff, 0x8400, 0xfbff, 0x7ff7};
  static constexpr u64 special_brain[] = {0,      1,      0x8000, 0x8001, 0x007f, 0x0080, 0x807f,
                                          0x8080, 0x3f80, 0xbf80, 0x7f7f, 0xff7f, 0x7f80, 0xff80,
                                          0x7fc0, 0xffff, 0x4f00, 0x3f00, 0x4b80, 0x7ff7};
  u64 const draw = random();
  if (random.below(4) == 0)
    return brain ? special_brain[draw % std::size(special_brain)] : special16[draw % std::size(special16)];
  // Half of them of everyday size, so that sums and products are interesting.
  if (random.below(2)) return draw & 0xffff;
  return brain ? (draw & 0x807f) | (u64{118} + random.below(16)) << 7
               : (draw & 0x83ff) | (u64{9} + random.below(12)) << 10;
}

u64 operand(Random& random, char letter) {
  static constexpr u64 special32[] = {
      0,          1,          2,          31,         32,         33,         64,         0x7fffffff,
      0x80000000, 0xffffffff, 0x7f800000, 0xff800000, 0x7fc00001, 0xffffffff, 0x00000001, 0x80000001,
      0x007fffff, 0x00800000, 0x3f800000, 0xbf800000, 0x4f000000, 0xcf000000, 0x4f800000, 0x3f000000,
      0x3fc00000, 0x40200000, 0x477fe000, 0x477ff000, 0x33000000, 0x33000001, 0x5f000000, 0x5f800000};
  static constexpr u64 special64[] = {0,
                                      1,
                                      63,
                                      64,
                                      65,
                                      0x7fffffffffffffff,
                                      0x8000000000000000,
                                      0xffffffffffffffff,
                                      0x7ff0000000000000,
                                      0xfff0000000000000,
                                      0x7ff8000000000001,
                                      0x000fffffffffffff,
                                      0x0010000000000000,
                                      0x3ff0000000000000,
                                      0xbff8000000000000,
                                      0x41e0000000000000,
                                      0xc1e0000000000000,
                                      0x43e0000000000000,
                                      0xc3e0000000000000,
                                      0x43f0000000000000,
                                      0x4004000000000000,
                                      0xffffffff00000000,
                                      0x00000000ffffffff,
                                      0x3690000000000000,
                                      0x36a0000000000000,
                                      0x47efffffe0000000,
                                      0x47effffff0000000,
                                      0x40effc0000000000};
  static constexpr u64 special16[] = {0,      1,      15,     16,     0x7fff, 0x8000, 0xffff, 0x7c00,
                                      0xfc00, 0x7e01, 0x03ff, 0x0400, 0x3c00, 0xbe00, 0x7bff};
  u64 const draw = random();
  bool const special = random.below(3) == 0;
  switch (letter) {
    case 'p':
      return draw & 1;
    case 'c':
      return special ? special16[draw % std::size(special16)] & 0xff : draw & 0xff;
    case 'k':
      return half_operand(random, false);
    case 'b':
      return half_operand(random, true);
    case 'x': {
      u64 const low = half_operand(random, false);
      return half_operand(random, false) << 16 | low;
    }
    case 'y': {
      u64 const low = half_operand(random, true);
      return half_operand(random, true) << 16 | low;
    }
    case 'z': {
      u64 const low = operand(random, 'f');
      return operand(random, 'f') << 32 | low;
    }
    case 'h':
      return special ? special16[draw % std::size(special16)] : draw & 0xffff;
    case 'w':
      return special ? special32[draw % std::size(special32)] : random.below(2) ? draw & 0xffffffff : draw % 70;
    case 'd':
      return special ? special64[draw % std::size(special64)] : random.below(2) ? draw : draw >> random.below(64);
    case 'f':
      // Mostly of everyday size, so that sums and products are interesting.
      return special           ? special32[draw % std::size(special32)]
             : random.below(4) ? (draw & 0x807fffff) | (u64{100} + random.below(56)) << 23
                               : draw & 0xffffffff;
    default:
      return special           ? special64[draw % std::size(special64)]
             : random.below(4) ? (draw & 0x800fffffffffffff) | (u64{990} + random.below(70)) << 52
                               : draw;
  }
}

// Runs one opcode over groups of `lanes` work-items and compares each with the reference; `mask` repeats every 32
// lanes.
void check(Case const& c, u32 groups, u32 lanes, u32 mask, Random& random) {
  u32 const count = groups * lanes;
  std::vector<std::vector<u64>> in(4, std::vector<u64>(count, 0));
  for (std::size_t i = 1; i < c.operands.size(); ++i)
    for (u64& value : in[i - 1]) value = operand(random, c.operands[i]);
  constexpr u64 untouched = 0x1122334455667788;
  std::vector<u64> expected(count, untouched);
  for (u32 lane = 0; lane < count; ++lane)
    if (mask >> (lane % lanes % 32) & 1)
      expected[lane] = c.reference(in[0][lane], in[1][lane], in[2][lane], in[3][lane]);
  std::string const level_before(isa_level());
  for (std::string const& level : isa_levels()) {
    INFO(c.opcode << " " << c.form << " on " << groups << " groups of " << lanes << " lanes, mask " << mask
                  << ", level " << level);
    use_isa_level(level);
    Bench bench(kernel_text(c));
    bench.launch.grid = {groups, 1, 1};
    bench.launch.block = {lanes, 1, 1};
    char const* names[] = {"a", "b", "c", "e"};
    for (std::size_t i = 0; i < 4; ++i) bench.buffer(names[i], in[i]);
    u64 const result = bench.buffer("r", std::vector<u64>(count, untouched));
    bench.argument(mask);
    bench.recorded = groups > 1;
    Outcome const& outcome = bench.run();
    if (outcome.finding) FAIL(outcome.finding->message);
    std::vector<u64> const out = bench.read<u64>(result);
    u32 equal = 0;
    for (u32 lane = 0; lane < count; ++lane) {
      equal += out[lane] == expected[lane];
      if (out[lane] == expected[lane]) continue;
      CAPTURE(lane, in[0][lane], in[1][lane], in[2][lane], in[3][lane], out[lane], expected[lane]);
      FAIL("lane differs");
    }
    CHECK(equal == count);
  }
  use_isa_level(level_before);
}

}  // namespace

void check_all(std::vector<Case> const& cases) {
  Random random{20260101};
  for (Case const& c : cases) {
    check(c, 4, 256, ~0u, random);
    check(c, 1, 100, ~0u, random);
    check(c, 1, 256, 0x5a17c3f0, random);
  }
}

}  // namespace kernelcast::emu::test
