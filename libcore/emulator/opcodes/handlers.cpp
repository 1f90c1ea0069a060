// What one instruction-set level provides: the opcode families and the pieces of control flow that touch lanes.
#include "emulator/opcodes/families.hpp"
#include "emulator/opcodes/lanewise.hpp"

namespace kernelcast::emu::KERNELCAST_EMU_ISA {
namespace {

void predicate_bits(std::byte const* predicate, u32 warps, u32* out) {
  for (u32 warp = 0; warp < warps; ++warp) {
    u32 const* p = reinterpret_cast<u32 const*>(predicate) + lanes_per_warp * warp;
    u32 bits = 0;
#pragma omp simd reduction(| : bits)
    for (u32 lane = 0; lane < lanes_per_warp; ++lane) bits |= p[lane] & (1u << lane);
    out[warp] = bits;
  }
}

// Whether a lane of so many warps has another value.
template <u32 warps>
bool differ(u32 const* predicate, u32 value) {
  u32 any = 0;
#pragma omp simd reduction(| : any)
  for (u32 lane = 0; lane < warps * lanes_per_warp; ++lane) any |= predicate[lane] ^ value;
  return any != 0;
}

// Four warps at once: to reduce across lanes costs more than to compare.
int predicate_agrees(std::byte const* predicate, u32 warps) {
  auto const* p = reinterpret_cast<u32 const*>(predicate);
  u32 const first = p[0];
  for (; warps >= 4; warps -= 4, p += 4 * lanes_per_warp)
    if (differ<4>(p, first)) return 2;
  for (; warps > 0; --warps, p += lanes_per_warp)
    if (differ<1>(p, first)) return 2;
  return first ? 1 : 0;
}

void expand(u32 const* bits, u32 warps, u32* lanes) {
  for (u32 warp = 0; warp < warps; ++warp) {
    u32 const word = bits[warp];
#pragma omp simd
    for (u32 lane = 0; lane < lanes_per_warp; ++lane) lanes[lanes_per_warp * warp + lane] = 0u - (word >> lane & 1u);
  }
}

// Runs the operations that follow, for the lanes whose predicate holds.
void guard(Context& c, MicroOp const& op) {
  u32 bits[max_warps_per_unit];
  u32 lanes[max_lanes_per_unit];
  predicate_bits(c.registers + op.s[0], c.warps, bits);
  u32 any = 0;
  for (u32 warp = 0; warp < c.warps; ++warp) {
    bits[warp] = (op.extra ? ~bits[warp] : bits[warp]) & c.bits[warp];
    any |= bits[warp];
  }
  u32 const *outer_bits = c.bits, *outer_lanes = c.lanes;
  c.bits = bits;
  c.lanes = lanes;
  if (c.observed) notify_guarded(c, op);
  if (any) {
    expand(bits, c.warps, lanes);
    for (u32 i = 1; i < op.length; ++i) (&op)[i].masked(c, (&op)[i]);
  }
  c.bits = outer_bits;
  c.lanes = outer_lanes;
}

template <class T>
void clock(Context& c, MicroOp const& op) {
  for (u32 warp = 0; warp < c.warps; ++warp) {
    auto* d = slot<T>(c, op.d[0], warp);
    for (u32 lane = 0; lane < lanes_per_warp; ++lane)
      if (c.bits[warp] >> lane & 1) d[lane] = static_cast<T>(c.clock);
  }
}

Handlers make() {
  Handlers h;
#define KERNELCAST_TEXT(x) #x
#define KERNELCAST_NAME(x) KERNELCAST_TEXT(x)
  h.level = KERNELCAST_NAME(KERNELCAST_EMU_ISA);
  for (std::span<Opcode const> family : {integer_opcodes(),
                                         compare_opcodes(),
                                         float_opcodes(),
                                         rounding_opcodes(),
                                         convert_opcodes(),
                                         move_opcodes(),
                                         atomic_opcodes(),
                                         warp_opcodes(),
                                         half_opcodes(),
                                         packed_opcodes(),
                                         reformat_opcodes(),
                                         KERNELCAST_EMU_LOWEST::video_opcodes(),
                                         matrix_multiply_opcodes(),
                                         matrix_access_opcodes(),
                                         warpgroup_opcodes(),
                                         copy_opcodes(),
                                         KERNELCAST_EMU_LOWEST::barrier_object_opcodes(),
                                         KERNELCAST_EMU_LOWEST::tensor_opcodes(),
                                         KERNELCAST_EMU_LOWEST::tensor_memory_opcodes(),
                                         tensor_core_opcodes()})
    for (Opcode const& opcode : family) h.opcodes.add(opcode);
  load_store_handlers(h);
  h.guard = guard;
  h.clock32 = clock<u32>;
  h.clock64 = clock<u64>;
  h.predicate_bits = predicate_bits;
  h.predicate_agrees = predicate_agrees;
  h.expand = expand;
  return h;
}

}  // namespace

Handlers const& handlers() {
  static Handlers const all = make();
  return all;
}

}  // namespace kernelcast::emu::KERNELCAST_EMU_ISA
