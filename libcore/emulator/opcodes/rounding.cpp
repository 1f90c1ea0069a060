// Floating-point operations rounded towards zero (.rz), minus infinity (.rm) or plus infinity (.rp). The handler sets
// the host's rounding mode around the loop. Compiled with -frounding-math.
#include <cfenv>

#include "emulator/opcodes/arithmetic.hpp"
#include "emulator/opcodes/families.hpp"
#include "emulator/opcodes/float_lanes.hpp"
#include "emulator/opcodes/twice.hpp"

namespace kernelcast::emu::KERNELCAST_EMU_ISA {
namespace {

using enum Class;

template <int Mode, class F, class Signature>
struct Directed {
  static void full(Context& c, MicroOp const& op) {
    std::fesetround(Mode);
    Lanewise<F, Signature>::full(c, op);
    std::fesetround(FE_TONEAREST);
  }
  static void masked(Context& c, MicroOp const& op) {
    std::fesetround(Mode);
    Lanewise<F, Signature>::masked(c, op);
    std::fesetround(FE_TONEAREST);
  }
};
template <int Mode, class Signature, class F>
constexpr Opcode directed(std::string_view pattern, Class kind, F lane) {
  Opcode opcode = entry<Signature>(pattern, kind, lane);
  opcode.full = Directed<Mode, F, Signature>::full;
  opcode.masked = Directed<Mode, F, Signature>::masked;
  return opcode;
}

// One handler for all cases, lane by lane.
template <int Mode, class F, class Signature>
struct DirectedOneByOne {
  static void run(Context& c, MicroOp const& op) {
    std::fesetround(Mode);
    OneByOne<F, Signature>::run(c, op);
    std::fesetround(FE_TONEAREST);
  }
};
template <int Mode, class Signature, class F>
constexpr Opcode rare_directed(std::string_view pattern, Class kind, F lane) {
  Opcode opcode = Entry<Signature>::make(pattern, kind, lane);
  opcode.full = opcode.masked = DirectedOneByOne<Mode, F, Signature>::run;
  return opcode;
}

template <class D>
struct Convert {
  template <class S>
  D operator()(S a) const {
    return static_cast<D>(a);
  }
};
template <class F>
struct Flushed {
  template <class... T>
  f32 operator()(T... a) const {
    return flush(F{}(flush(a)...));
  }
};
template <class F>
struct FlushedResult {
  f32 operator()(f64 a) const { return flush(F{}(a)); }
};
template <class F>
struct Saturated {
  template <class... T>
  f32 operator()(T... a) const {
    return saturate(F{}(a...));
  }
};

#define F32(MODE, SUFFIX, SIGNATURE, HEAD, CLASS, LANE)                                \
  directed<MODE, SIGNATURE>(HEAD "." SUFFIX ".f32", CLASS, LANE{}),                    \
      directed<MODE, SIGNATURE>(HEAD "." SUFFIX ".ftz.f32", CLASS, Flushed<LANE>{}),   \
      directed<MODE, SIGNATURE>(HEAD "." SUFFIX ".sat.f32", CLASS, Saturated<LANE>{}), \
      directed<MODE, SIGNATURE>(HEAD "." SUFFIX ".ftz.sat.f32", CLASS, Saturated<Flushed<LANE>>{})
#define CONVERSIONS(MODE, SUFFIX, S)                                                \
  directed<MODE, f32(S)>("cvt." SUFFIX "{,.ftz}.f32." #S, convert, Convert<f32>{}), \
      directed<MODE, f64(S)>("cvt." SUFFIX ".f64." #S, convert, Convert<f64>{})
#define TWICE(MODE, SUFFIX, SIGNATURE, HEAD, LANE)                               \
  rare_directed<MODE, SIGNATURE>(HEAD "." SUFFIX ".f32x2", fp32, Twice<LANE>{}), \
      rare_directed<MODE, SIGNATURE>(HEAD "." SUFFIX ".ftz.f32x2", fp32, Twice<FlushedPart<LANE>>{})
#define MIXED(MODE, SUFFIX, H, NAME, HEAD, LANE)                                       \
  rare_directed<MODE, f32(H, f32)>(HEAD "." SUFFIX ".f32." NAME, fp32, Mixed<LANE>{}), \
      rare_directed<MODE, f32(H, f32)>(HEAD "." SUFFIX ".sat.f32." NAME, fp32, MixedSaturated<LANE>{})
#define MIXED_ALL(MODE, SUFFIX, H, NAME)                                                    \
  MIXED(MODE, SUFFIX, H, NAME, "add", Add), MIXED(MODE, SUFFIX, H, NAME, "sub", Subtract),  \
      rare_directed<MODE, f32(H, H, f32)>("fma." SUFFIX ".f32." NAME, fp32, Mixed<Fuse>{}), \
      rare_directed<MODE, f32(H, H, f32)>("fma." SUFFIX ".sat.f32." NAME, fp32, MixedSaturated<Fuse>{})
#define ALL(MODE, SUFFIX)                                                                                          \
  F32(MODE, SUFFIX, f32(f32, f32), "add", fp32, Add), F32(MODE, SUFFIX, f32(f32, f32), "sub", fp32, Subtract),     \
      F32(MODE, SUFFIX, f32(f32, f32), "mul", fp32, Multiply),                                                     \
      F32(MODE, SUFFIX, f32(f32, f32, f32), "fma", fp32, Fuse),                                                    \
      F32(MODE, SUFFIX, f32(f32, f32, f32), "mad", fp32, Fuse),                                                    \
      F32(MODE, SUFFIX, f32(f32, f32), "div", special, Divide),                                                    \
      F32(MODE, SUFFIX, f32(f32), "rcp", special, Reciprocal), F32(MODE, SUFFIX, f32(f32), "sqrt", special, Root), \
      directed<MODE, f64(f64, f64)>("add." SUFFIX ".f64", fp64, Add{}),                                            \
      directed<MODE, f64(f64, f64)>("sub." SUFFIX ".f64", fp64, Subtract{}),                                       \
      directed<MODE, f64(f64, f64)>("mul." SUFFIX ".f64", fp64, Multiply{}),                                       \
      directed<MODE, f64(f64, f64, f64)>("{fma,mad}." SUFFIX ".f64", fp64, Fuse{}),                                \
      directed<MODE, f64(f64, f64)>("div." SUFFIX ".f64", special, Divide{}),                                      \
      directed<MODE, f64(f64)>("rcp." SUFFIX ".f64", special, Reciprocal{}),                                       \
      directed<MODE, f64(f64)>("sqrt." SUFFIX ".f64", special, Root{}),                                            \
      directed<MODE, f32(f64)>("cvt." SUFFIX ".f32.f64", convert, Convert<f32>{}),                                 \
      rare_directed<MODE, f32(f64)>("cvt." SUFFIX ".ftz.f32.f64", convert, FlushedResult<Convert<f32>>{}),         \
      CONVERSIONS(MODE, SUFFIX, u32), CONVERSIONS(MODE, SUFFIX, s32), CONVERSIONS(MODE, SUFFIX, u64),              \
      CONVERSIONS(MODE, SUFFIX, s64), TWICE(MODE, SUFFIX, u64(u64, u64), "add", Add),                              \
      TWICE(MODE, SUFFIX, u64(u64, u64), "sub", Subtract), TWICE(MODE, SUFFIX, u64(u64, u64), "mul", Multiply),    \
      TWICE(MODE, SUFFIX, u64(u64, u64, u64), "fma", Fuse), MIXED_ALL(MODE, SUFFIX, Half, "f16"),                  \
      MIXED_ALL(MODE, SUFFIX, Brain, "bf16")

constexpr Opcode table[] = {
    ALL(FE_TOWARDZERO, "rz"),
    ALL(FE_DOWNWARD, "rm"),
    ALL(FE_UPWARD, "rp"),
};

}  // namespace

std::span<Opcode const> rounding_opcodes() {
  return table;
}

}  // namespace kernelcast::emu::KERNELCAST_EMU_ISA
