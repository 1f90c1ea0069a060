// Comparison and selection. A comparison of integers is counted as int_add (a subtraction decides it), of floats in the
// class of their type; selp and slct are counted as logic.
//
// setp's combinations (.and .or .xor with a third predicate) and its second destination p|q are made of these entries
// by the decoder: the second destination is the complementary comparison, see complement() in decode.cpp.
#include "emulator/opcodes/arithmetic.hpp"
#include "emulator/opcodes/families.hpp"

namespace kernelcast::emu::KERNELCAST_EMU_ISA {
namespace {

using enum Class;

struct Equal {
  template <class T>
  Pred operator()(T a, T b) const {
    return {a == b};
  }
};
struct NotEqual {
  template <class T>
  Pred operator()(T a, T b) const {
    return {a != b};
  }
};
struct Less {
  template <class T>
  Pred operator()(T a, T b) const {
    return {a < b};
  }
};
struct LessEqual {
  template <class T>
  Pred operator()(T a, T b) const {
    return {a <= b};
  }
};
struct Greater {
  template <class T>
  Pred operator()(T a, T b) const {
    return {a > b};
  }
};
struct GreaterEqual {
  template <class T>
  Pred operator()(T a, T b) const {
    return {a >= b};
  }
};

// Floats: a comparison holds for ordered operands only; its `u` form also holds where one is NaN.
struct OrderedNotEqual {
  template <class T>
  Pred operator()(T a, T b) const {
    return {a < b || a > b};
  }
};
struct UnorderedEqual {
  template <class T>
  Pred operator()(T a, T b) const {
    return {!(a < b || a > b)};
  }
};
struct UnorderedLess {
  template <class T>
  Pred operator()(T a, T b) const {
    return {!(a >= b)};
  }
};
struct UnorderedLessEqual {
  template <class T>
  Pred operator()(T a, T b) const {
    return {!(a > b)};
  }
};
struct UnorderedGreater {
  template <class T>
  Pred operator()(T a, T b) const {
    return {!(a <= b)};
  }
};
struct UnorderedGreaterEqual {
  template <class T>
  Pred operator()(T a, T b) const {
    return {!(a < b)};
  }
};
struct Numbers {
  template <class T>
  Pred operator()(T a, T b) const {
    return {a == a && b == b};
  }
};
struct AnyNan {
  template <class T>
  Pred operator()(T a, T b) const {
    return {a != a || b != b};
  }
};

struct Select {
  template <class T>
  T operator()(T a, T b, Pred p) const {
    return p.holds ? a : b;
  }
};
struct SelectBySign {
  template <class T>
  T operator()(T a, T b, s32 c) const {
    return c >= 0 ? a : b;
  }
};
// Negative subnormals are -0 here, which is not below 0.
struct SelectByFlushed {
  template <class T>
  T operator()(T a, T b, f32 c) const {
    return flush(c) >= 0 ? a : b;
  }
};
struct SelectByFloat {
  template <class T>
  T operator()(T a, T b, f32 c) const {
    return c >= 0 ? a : b;
  }
};

template <class Compare>
struct Flushed {
  Pred operator()(f32 a, f32 b) const { return Compare{}(flush(a), flush(b)); }
};
template <class Compare>
struct Halves {
  Pred operator()(Half a, Half b) const { return Compare{}(from_half(a), from_half(b)); }
};

template <class Compare>
struct FlushedHalves {
  Pred operator()(Half a, Half b) const { return Compare{}(from_half(flush_16(a)), from_half(flush_16(b))); }
};
template <class Compare>
struct Brains {
  Pred operator()(Brain a, Brain b) const { return Compare{}(from_brain(a), from_brain(b)); }
};
template <u32 True>
struct Both {
  u32 operator()(Pred low, Pred high) const { return (low.holds ? True : 0u) | (high.holds ? True << 16 : 0u); }
};
template <u16 True>
struct Single {
  u16 operator()(Pred p) const { return p.holds ? True : u16{0}; }
};

#define FLOAT_COMPARISON(NAME, LANE)                                                      \
  entry<Pred(f32, f32)>("setp." NAME ".f32", fp32, LANE{}),                               \
      entry<Pred(f32, f32)>("setp." NAME ".ftz.f32", fp32, Flushed<LANE>{}),              \
      entry<Pred(f64, f64)>("setp." NAME ".f64", fp64, LANE{}),                           \
      entry<Pred(Half, Half)>("setp." NAME ".f16", fp16, Halves<LANE>{}),                 \
      rare_entry<Pred(Half, Half)>("setp." NAME ".ftz.f16", fp16, FlushedHalves<LANE>{}), \
      rare_entry<Pred(Brain, Brain)>("setp." NAME ".bf16", fp16, Brains<LANE>{})
#define ORDERING(NAME, UNSIGNED_NAME, LANE)                                            \
  entry<Pred(u16, u16)>("setp.{" NAME "," UNSIGNED_NAME "}.u16", int_add, LANE{}),     \
      entry<Pred(s16, s16)>("setp." NAME ".s16", int_add, LANE{}),                     \
      entry<Pred(u32, u32)>("setp.{" NAME "," UNSIGNED_NAME "}.u32", int_add, LANE{}), \
      entry<Pred(s32, s32)>("setp." NAME ".s32", int_add, LANE{}),                     \
      entry<Pred(u64, u64)>("setp.{" NAME "," UNSIGNED_NAME "}.u64", int_add, LANE{}), \
      entry<Pred(s64, s64)>("setp." NAME ".s64", int_add, LANE{})

constexpr Opcode table[] = {
    entry<Pred(u16, u16)>("setp.eq.{b,u,s}16", int_add, Equal{}),
    entry<Pred(u32, u32)>("setp.eq.{b,u,s}32", int_add, Equal{}),
    entry<Pred(u64, u64)>("setp.eq.{b,u,s}64", int_add, Equal{}),
    entry<Pred(u16, u16)>("setp.ne.{b,u,s}16", int_add, NotEqual{}),
    entry<Pred(u32, u32)>("setp.ne.{b,u,s}32", int_add, NotEqual{}),
    entry<Pred(u64, u64)>("setp.ne.{b,u,s}64", int_add, NotEqual{}),
    ORDERING("lt", "lo", Less),
    ORDERING("le", "ls", LessEqual),
    ORDERING("gt", "hi", Greater),
    ORDERING("ge", "hs", GreaterEqual),
    FLOAT_COMPARISON("eq", Equal),
    FLOAT_COMPARISON("ne", OrderedNotEqual),
    FLOAT_COMPARISON("lt", Less),
    FLOAT_COMPARISON("le", LessEqual),
    FLOAT_COMPARISON("gt", Greater),
    FLOAT_COMPARISON("ge", GreaterEqual),
    FLOAT_COMPARISON("equ", UnorderedEqual),
    FLOAT_COMPARISON("neu", NotEqual),
    FLOAT_COMPARISON("ltu", UnorderedLess),
    FLOAT_COMPARISON("leu", UnorderedLessEqual),
    FLOAT_COMPARISON("gtu", UnorderedGreater),
    FLOAT_COMPARISON("geu", UnorderedGreaterEqual),
    FLOAT_COMPARISON("num", Numbers),
    FLOAT_COMPARISON("nan", AnyNan),

    entry<u16(u16, u16, Pred)>("selp.{b,u,s}16", logic, Select{}),
    entry<u32(u32, u32, Pred)>("selp.{b32,u32,s32,f32}", logic, Select{}),
    entry<u64(u64, u64, Pred)>("selp.{b64,u64,s64,f64}", logic, Select{}),
    entry<u16(u16, u16, s32)>("slct.{b,u,s}16.s32", logic, SelectBySign{}),
    entry<u32(u32, u32, s32)>("slct.{b32,u32,s32,f32}.s32", logic, SelectBySign{}),
    entry<u64(u64, u64, s32)>("slct.{b64,u64,s64,f64}.s32", logic, SelectBySign{}),
    entry<u16(u16, u16, f32)>("slct.{b,u,s}16.f32", logic, SelectByFloat{}),
    entry<u32(u32, u32, f32)>("slct.{b32,u32,s32,f32}.f32", logic, SelectByFloat{}),
    entry<u64(u64, u64, f32)>("slct.{b64,u64,s64,f64}.f32", logic, SelectByFloat{}),
    rare_entry<u16(u16, u16, f32)>("slct.ftz.{b,u,s}16.f32", logic, SelectByFlushed{}),
    rare_entry<u32(u32, u32, f32)>("slct.ftz.{b32,u32,s32,f32}.f32", logic, SelectByFlushed{}),
    rare_entry<u64(u64, u64, f32)>("slct.ftz.{b64,u64,s64,f64}.f32", logic, SelectByFlushed{}),
    // set writes its result as all ones or, for .f32, as 1.0.
    entry<u32(Pred)>("#set.{u,s}32", int_add, [](Pred p) { return p.holds ? ~0u : 0u; }),
    entry<u16(Pred)>("#set.{u,s}16", int_add, Single<0xffff>{}),
    rare_entry<u16(Pred)>("#set.f16", fp16, Single<one_of<Half>>{}),
    rare_entry<u16(Pred)>("#set.bf16", fp16, Single<one_of<Brain>>{}),
    rare_entry<u32(Pred, Pred)>("#set.both.{u,s}32", int_add, Both<0xffff>{}),
    rare_entry<u32(Pred, Pred)>("#set.both.f16x2", fp16, Both<one_of<Half>>{}),
    rare_entry<u32(Pred, Pred)>("#set.both.bf16x2", fp16, Both<one_of<Brain>>{}),
    entry<f32(Pred)>("#set.f32", fp32, [](Pred p) { return p.holds ? 1.0f : 0.0f; }),
};

}  // namespace

std::span<Opcode const> compare_opcodes() {
  return table;
}

}  // namespace kernelcast::emu::KERNELCAST_EMU_ISA
