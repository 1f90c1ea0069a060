// The classes by which instructions are counted: what the emulator finds, the `kernel` record has columns of, and
// models give throughputs to.
//
// A class is added here and nowhere else: a line of the list. Its opcodes name it in libcore/emulator/opcodes and
// libcore/emulator/decode, and the compiler shows the switches of models that must know it. The columns of records
// follow.
#pragma once

#include <cstdint>

#include "records/table/enumeration.hpp"

namespace kernelcast::record {

// In the order of the columns. Those that have a unit of their own come first, up to convert; the others take an issue
// slot.
#define KERNELCAST_INSTRUCTION_CLASSES(X) \
  X(fp32)                                 \
  X(fp64)                                 \
  X(fp16)                                 \
  X(int_add)                              \
  X(int_mul)                              \
  X(shift)                                \
  X(logic)                                \
  X(special)                              \
  X(convert)                              \
  X(memory)                               \
  X(control)                              \
  X(sync)                                 \
  X(other)

#define KERNELCAST_ENUMERATOR(name) name,
enum class InstructionClass : std::uint8_t { KERNELCAST_INSTRUCTION_CLASSES(KERNELCAST_ENUMERATOR) };
#undef KERNELCAST_ENUMERATOR

#define KERNELCAST_NAME(name) std::string_view(#name),
template <>
inline constexpr std::array names_of<InstructionClass>{KERNELCAST_INSTRUCTION_CLASSES(KERNELCAST_NAME)};
#undef KERNELCAST_NAME
#undef KERNELCAST_INSTRUCTION_CLASSES

inline constexpr std::size_t unit_class_count = index_of(InstructionClass::convert) + 1;
constexpr bool has_unit(InstructionClass c) {
  return index_of(c) < unit_class_count;
}

template <class T>
using PerClass = PerValue<InstructionClass, T>;
template <class T>
using PerUnitClass = PerValue<InstructionClass, T, unit_class_count>;

}  // namespace kernelcast::record
