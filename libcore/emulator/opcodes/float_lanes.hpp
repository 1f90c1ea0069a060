// What one lane does in the basic floating-point operations, for the families that round to nearest and those that do
// not. In an unnamed namespace: the families are compiled with different assumptions about rounding, and the linker
// must not take the code of one for the other.
#pragma once

#include "emulator/opcodes/lanewise.hpp"

namespace kernelcast::emu::KERNELCAST_EMU_ISA {
namespace {

struct Add {
  template <class T>
  T operator()(T a, T b) const {
    return a + b;
  }
};
struct Subtract {
  template <class T>
  T operator()(T a, T b) const {
    return a - b;
  }
};
struct Multiply {
  template <class T>
  T operator()(T a, T b) const {
    return a * b;
  }
};
struct Fuse {
  f32 operator()(f32 a, f32 b, f32 c) const { return __builtin_fmaf(a, b, c); }
  f64 operator()(f64 a, f64 b, f64 c) const { return __builtin_fma(a, b, c); }
};
struct Divide {
  template <class T>
  T operator()(T a, T b) const {
    return a / b;
  }
};
struct Reciprocal {
  template <class T>
  T operator()(T a) const {
    return T{1} / a;
  }
};
struct Root {
  f32 operator()(f32 a) const { return __builtin_sqrtf(a); }
  f64 operator()(f64 a) const { return __builtin_sqrt(a); }
};

}  // namespace
}  // namespace kernelcast::emu::KERNELCAST_EMU_ISA
