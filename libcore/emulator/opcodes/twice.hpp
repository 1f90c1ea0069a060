// Two f32 in a register of 64 bits (.f32x2), and operations whose factors are 16 bits wide and whose sum is an f32. In
// an unnamed namespace, as float_lanes.hpp.
#pragma once

#include "emulator/opcodes/arithmetic.hpp"

namespace kernelcast::emu::KERNELCAST_EMU_ISA {
namespace {

template <class F>
struct Twice {
  template <class... T>
  u64 operator()(T... a) const {
    u32 const low = Lane<f32>::store(F{}(std::bit_cast<f32>(static_cast<u32>(a))...));
    u32 const high = Lane<f32>::store(F{}(std::bit_cast<f32>(static_cast<u32>(a >> 32))...));
    return u64{high} << 32 | low;
  }
};
template <class F>
struct FlushedPart {
  f32 operator()(f32 a, f32 b) const { return flush(F{}(flush(a), flush(b))); }
  f32 operator()(f32 a, f32 b, f32 c) const { return flush(F{}(flush(a), flush(b), flush(c))); }
};

inline f32 widen_all(f32 x) {
  return x;
}
inline f32 widen_all(Half x) {
  return from_half(x);
}
inline f32 widen_all(Brain x) {
  return from_brain(x);
}
template <class F>
struct Mixed {
  template <class... T>
  f32 operator()(T... a) const {
    return F{}(widen_all(a)...);
  }
};
template <class F>
struct MixedSaturated {
  template <class... T>
  f32 operator()(T... a) const {
    return saturate(F{}(widen_all(a)...));
  }
};

}  // namespace
}  // namespace kernelcast::emu::KERNELCAST_EMU_ISA
