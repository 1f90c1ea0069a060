// Moves, packing and the operations that the decoder inserts. A move counts as `other`: devices rename or fold most of
// them. Moves that merely name a value (parameters, special registers, copies) are folded before execution but counted.
#include "emulator/opcodes/families.hpp"
#include "emulator/opcodes/lanewise.hpp"

namespace kernelcast::emu::KERNELCAST_EMU_ISA {
namespace {

using enum Class;

constexpr Opcode table[] = {
    entry<u16(u16)>("mov.{b,u,s}16", other, [](u16 a) { return a; }),
    entry<u16(u16)>("mov.{f16,bf16}", other, [](u16 a) { return a; }),
    entry<u32(u32)>("mov.{b32,u32,s32,f32,f16x2,bf16x2}", other, [](u32 a) { return a; }),
    of_predicates("mov.pred", entry<u32(u32)>("", other, [](u32 a) { return a; })),
    entry<u64(u64)>("mov.{b64,u64,s64,f64}", other, [](u64 a) { return a; }),
    entry<u32(u32)>("#mov.b32", other, [](u32 a) { return a; }),
    entry<u64(u64)>("#mov.b64", other, [](u64 a) { return a; }),

    // Where a register is narrower or wider than the instruction's type.
    entry<u32(u64)>("#low.b64", other, [](u64 a) { return static_cast<u32>(a); }),
    entry<u32(u64)>("#high.b64", other, [](u64 a) { return static_cast<u32>(a >> 32); }),
    entry<u16(u32)>("#low.b32", other, [](u32 a) { return static_cast<u16>(a); }),
    entry<u16(u32)>("#high.b32", other, [](u32 a) { return static_cast<u16>(a >> 16); }),
    entry<u32(u32)>("#low.b16", other, [](u32 a) { return a & 0xff; }),
    entry<u32(u32)>("#high.b16", other, [](u32 a) { return a >> 8 & 0xff; }),
    entry<u64(u32)>("#widen.u32", other, [](u32 a) { return u64{a}; }),
    entry<u64(u32)>("#widen.s32", other, [](u32 a) { return static_cast<u64>(s64{static_cast<s32>(a)}); }),
    entry<u64(u32)>("#widen.s16", other, [](u32 a) { return static_cast<u64>(s64{static_cast<s16>(a)}); }),
    entry<u64(u32)>("#widen.s8", other, [](u32 a) { return static_cast<u64>(s64{static_cast<s8>(a)}); }),
    entry<u32(u32)>("#extend.s16", other, [](u32 a) { return static_cast<u32>(s32{static_cast<s16>(a)}); }),
    entry<u32(u32)>("#extend.s8", other, [](u32 a) { return static_cast<u32>(s32{static_cast<s8>(a)}); }),
    entry<u32(u32)>("#extend.s8.to16", other, [](u32 a) { return static_cast<u32>(s32{static_cast<s8>(a)}) & 0xffff; }),
    entry<u64(u32, u32)>("#pack.b32", other, [](u32 a, u32 b) { return u64{b} << 32 | a; }),
    entry<u32(u32, u32)>("#pack.b16", other, [](u32 a, u32 b) { return (a & 0xffff) | b << 16; }),
    entry<u32(u32, u32)>("#pack.b8", other, [](u32 a, u32 b) { return (a & 0xff) | (b & 0xff) << 8; }),
    entry<u32(u32)>("#not.pred", other, [](u32 a) { return ~a; }),
    // Generic addresses are offsets into a window.
    entry<u64(u64, u64)>("#into_window", other, [](u64 a, u64 window) { return a + window; }),
    entry<u64(u64, u64)>("#out_of_window", other, [](u64 a, u64 window) { return a - window; }),
    entry<Pred(u64, u64)>("#in_window", other, [](u64 a, u64 window) { return Pred{a >> 40 == window >> 40}; }),
    entry<Pred(u64)>("#in_no_window", other, [](u64 a) { return Pred{(a >> 40) - 1 >= 3}; }),
    // Addresses in shared memory of another group of the cluster: decode/program.hpp.
    rare_entry<u32(u32, u32, u32)>("#mapa.u32", other,
                                   [](u32 a, u32 rank, u32 own) {
                                     return (a & 0xffffff) | (rank == own ? 0u : (rank + cluster_rank_bias) << 24);
                                   }),
    rare_entry<u64(u64, u32, u32)>("#mapa.u64", other,
                                   [](u64 a, u32 rank, u32 own) {
                                     return (a & ~u64{0xff000000}) |
                                            (rank == own ? 0u : (rank + cluster_rank_bias) << 24);
                                   }),
    rare_entry<Pred(u64)>("#canceled", other, [](u64 a) { return Pred{a >> 63 != 0}; }),
    rare_entry<u64(u64, u32)>("#with_rank.u64", other,
                              [](u64 a, u32 own) { return a | u64{own + cluster_rank_bias} << cluster_rank_shift; }),
    rare_entry<u32(u32, u32)>("#ctarank.u32", other,
                              [](u32 a, u32 own) { return a >> 24 ? (a >> 24) - cluster_rank_bias : own; }),
    rare_entry<u32(u64, u32)>("#ctarank.u64", other,
                              [](u64 a, u32 own) {
                                u32 const rank = static_cast<u32>(a) >> 24;
                                return rank ? rank - cluster_rank_bias : own;
                              }),
    entry<f32(f32)>("#saturate.f32", other, [](f32 a) { return a > 0.0f ? (a < 1.0f ? a : 1.0f) : 0.0f; }),
};

}  // namespace

std::span<Opcode const> move_opcodes() {
  return table;
}

}  // namespace kernelcast::emu::KERNELCAST_EMU_ISA
