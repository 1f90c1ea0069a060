// The operations of cp.reduce.async.bulk, on memory. Compiled once per instruction-set level.
#pragma once

#include "emulator/opcodes/arithmetic.hpp"
#include "emulator/opcodes/copy.hpp"

namespace kernelcast::emu::KERNELCAST_EMU_ISA {
namespace {

using Reduction = BulkCopy::Reduction;

template <class T>
T reduced(Reduction r, T a, T b) {
  switch (r) {
    case Reduction::minimum:
      return b < a ? b : a;
    case Reduction::maximum:
      return a < b ? b : a;
    case Reduction::increment:
      return a >= b ? T{0} : static_cast<T>(a + 1);
    case Reduction::decrement:
      return a == T{0} || a > b ? b : static_cast<T>(a - 1);
    default:
      return static_cast<T>(a + b);
  }
}
template <class T>
T reduced_bits(Reduction r, T a, T b) {
  switch (r) {
    case Reduction::conjunction:
      return a & b;
    case Reduction::disjunction:
      return a | b;
    case Reduction::exclusive:
      return a ^ b;
    default:
      return reduced(r, a, b);
  }
}
// [ptx] "cp.reduce.async.bulk": .f32 flushes subnormals, the 16-bit formats keep them; of minima NaN is the lesser
// choice, as in min.
template <class H>
u16 reduced_half(Reduction r, u16 a, u16 b) {
  f32 const x = widen(static_cast<H>(a)), y = widen(static_cast<H>(b));
  if (r == Reduction::add) return static_cast<u16>(narrow<H>(x + y));
  if (x != x) return y != y ? u16{0x7fff} : b;
  if (y != y) return a;
  bool const first =
      r == Reduction::minimum ? x < y || (x == y && (a & 0x8000) != 0) : x > y || (x == y && (b & 0x8000) != 0);
  return first ? a : b;
}

template <class T, class F>
void combine(std::byte* memory, u8 const* values, u32 bytes, F f) {
  for (u32 at = 0; at < bytes; at += sizeof(T)) {
    T old, value;
    std::memcpy(&old, memory + at, sizeof old);
    std::memcpy(&value, values + at, sizeof value);
    T const result = static_cast<T>(f(old, value));
    std::memcpy(memory + at, &result, sizeof result);
  }
}

// Combines values of the type with what lies in memory.
void reduce(Reduction r, ptx::Type type, std::byte* memory, u8 const* values, u32 bytes) {
  using ptx::Type;
  switch (type) {
    case Type::s32:
      return combine<s32>(memory, values, bytes, [r](s32 a, s32 b) {
        return r == Reduction::add ? static_cast<s32>(static_cast<u32>(a) + static_cast<u32>(b)) : reduced(r, a, b);
      });
    case Type::s64:
      return combine<s64>(memory, values, bytes, [r](s64 a, s64 b) {
        return r == Reduction::add ? static_cast<s64>(static_cast<u64>(a) + static_cast<u64>(b)) : reduced(r, a, b);
      });
    case Type::u64:
    case Type::b64:
      return combine<u64>(memory, values, bytes, [r](u64 a, u64 b) { return reduced_bits(r, a, b); });
    case Type::f16:
      return combine<u16>(memory, values, bytes, [r](u16 a, u16 b) { return reduced_half<Half>(r, a, b); });
    case Type::bf16:
      return combine<u16>(memory, values, bytes, [r](u16 a, u16 b) { return reduced_half<Brain>(r, a, b); });
    case Type::f32:
      return combine<u32>(memory, values, bytes, [](u32 a, u32 b) {
        return Lane<f32>::store(flush(flush(std::bit_cast<f32>(a)) + flush(std::bit_cast<f32>(b))));
      });
    case Type::f64:
      return combine<u64>(memory, values, bytes,
                          [](u64 a, u64 b) { return Lane<f64>::store(std::bit_cast<f64>(a) + std::bit_cast<f64>(b)); });
    default:
      return combine<u32>(memory, values, bytes, [r](u32 a, u32 b) { return reduced_bits(r, a, b); });
  }
}

}  // namespace
}  // namespace kernelcast::emu::KERNELCAST_EMU_ISA
