// The pipes of a compute unit to which machine instructions are issued, as far as models tell them apart. Those up to
// issue are NVIDIA's, and AMD's vector units where they do the same; the others are AMD's alone.
//
// A pipe is added here and nowhere else, as an instruction class is: columns follow, and the compiler shows the
// switches that must know it.
#pragma once

#include <cstdint>

#include "records/table/enumeration.hpp"

namespace kernelcast::record {

// fp32       additions, multiplications and fused ones of 32 bits
// imad       integer multiplications and multiply-adds, and what assemblers turn into them
// alu        other integer operations, comparisons, selections, minimum and maximum
// fp16       half precision
// fp64       double precision
// convert64  conversions from and to double precision or 64-bit integers
// int_to_fp32   32-bit integers to single precision: with special before 8.6, with alu from there on
// fp32_to_fp16  single to half precision: with special before 8.0, with fp16 from there on
// special    reciprocals, roots, sines, other conversions, bit counts
// memory     loads, stores, atomics, textures: one for each request
// tensor     matrix products
// issue      branches, barriers, and all that takes a slot of the scheduler and no pipe above
// scalar         of a whole wavefront: addresses, masks of lanes, comparisons
// scalar_memory  loads of a whole wavefront
// shared         shared memory, one for each request; NVIDIA's are among memory
// wait           until loads have arrived or results are ready
#define KERNELCAST_PIPES(X) \
  X(fp32)                   \
  X(imad)                   \
  X(alu)                    \
  X(fp16)                   \
  X(fp64)                   \
  X(convert64)              \
  X(int_to_fp32)            \
  X(fp32_to_fp16)           \
  X(special)                \
  X(memory)                 \
  X(tensor)                 \
  X(issue)                  \
  X(scalar)                 \
  X(scalar_memory)          \
  X(shared)                 \
  X(wait)

#define KERNELCAST_ENUMERATOR(name) name,
enum class Pipe : std::uint8_t { KERNELCAST_PIPES(KERNELCAST_ENUMERATOR) };
#undef KERNELCAST_ENUMERATOR

#define KERNELCAST_NAME(name) std::string_view(#name),
template <>
inline constexpr std::array names_of<Pipe>{KERNELCAST_PIPES(KERNELCAST_NAME)};
#undef KERNELCAST_NAME
#undef KERNELCAST_PIPES

// Whether only AMD's compute units have it.
constexpr bool is_of_amd(Pipe pipe) {
  return pipe > Pipe::issue;
}

template <class T>
using PerPipe = PerValue<Pipe, T>;

}  // namespace kernelcast::record
