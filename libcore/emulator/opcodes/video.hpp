// The operation of a video instruction (vadd, vset4, vmad, …): written by the decoder, read by the handler (video.cpp).
// Plain data only, as lane.hpp.
#pragma once

#include <cstdint>

namespace kernelcast::emu {

struct VideoOperation {
  enum class Verb : std::uint8_t { add, sub, absdiff, min, max, average, shift_left, shift_right, multiply_add, set };
  enum class Second : std::uint8_t { none, add, min, max };
  enum class Comparison : std::uint8_t { eq, ne, lt, le, gt, ge };
  Verb verb = Verb::add;
  std::uint8_t parts = 1;  // 1: scalar; 2: half-words; 4: bytes
  bool d_signed = false, a_signed = false, b_signed = false;
  bool saturate = false;
  bool wrap = false;  // a shift amount modulo 32; clamped to 32 otherwise
  Second second = Second::none;
  Comparison comparison = Comparison::eq;
  // Scalar: where an operand is in its register, and where the result goes; bits == 32 is the whole.
  struct Field {
    std::uint8_t shift = 0, bits = 32;
  };
  Field d, a, b;
  // Parts: which of the 2 or 4 results are wanted, and which parts of the pair (b, a) they are made of.
  std::uint8_t mask = 0xf;
  std::uint8_t a_part[4] = {0, 1, 2, 3}, b_part[4] = {4, 5, 6, 7};
  // vmad
  bool negate_product = false, negate_c = false, plus_one = false;
  std::uint8_t scale = 0;  // right shift
};

}  // namespace kernelcast::emu
