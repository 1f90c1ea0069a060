// What a cvt needs beyond convert.cpp's table: written by the decoder, read by the handler
// (reformat.cpp). Plain data only, as lane.hpp.
#pragma once

#include <cstdint>

namespace kernelcast::emu {

// A number format: an integer (exponent_bits == 0), or sign, exponent and mantissa as IEEE 754 has them but for what
// `kind` says of the largest codes.
struct NumberFormat {
  enum class Kind : std::uint8_t {
    integer,
    ieee,           // the highest exponent holds infinity and NaN
    nan_only,       // e4m3: the code of all ones is NaN, there is no infinity
    finite_only,    // e2m1, e2m3, e3m2: every code is a number
    exponent_only,  // ue8m0: 2^(code - 127) without sign; 0xff is NaN
  };
  Kind kind = Kind::integer;
  std::uint8_t bits = 32;  // the integer's, or sign + exponent + mantissa
  std::uint8_t exponent_bits = 0, mantissa_bits = 0;
  bool is_signed = false;  // integers
  std::uint8_t shift = 0;  // tf32 lies in the upper bits of its register
};

enum class Rounding : std::uint8_t { nearest_even, nearest_away, zero, down, up, stochastic };

struct Reformat {
  NumberFormat from, to;
  Rounding rounding = Rounding::nearest_even;
  bool integral = false;       // .rni, .rzi, .rmi, .rpi: to an integer, in whatever format
  bool flush_f32 = false;      // .ftz
  bool saturate = false;       // .sat
  bool rectify = false;        // .relu
  bool finite = false;         // .satfinite
  bool packed_source = false;  // all elements in one register, as wide as `from_stride` each
  std::uint8_t elements = 1;   // of the destination, `to_stride` bits each, the first source in the upper
  std::uint8_t from_stride = 0, to_stride = 0;
  bool wide_source = false, wide_destination = false;  // 64-bit registers
};

}  // namespace kernelcast::emu
