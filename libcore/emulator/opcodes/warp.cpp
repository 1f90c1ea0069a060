// Operations across the lanes of a warp: votes, shuffles, matches and reductions. Each takes those of the lanes that
// execute it together that its member mask names (shuffles: all of them); others in the mask are not waited for.
// Counted as `sync`, shuffles as `other`.
#ifdef __AVX512F__
#include <immintrin.h>
#endif

#include "emulator/opcodes/extremes.hpp"
#include "emulator/opcodes/families.hpp"
#include "emulator/opcodes/lanewise.hpp"

namespace kernelcast::emu::KERNELCAST_EMU_ISA {
namespace {

using enum Class;

template <class Each>
void per_warp(Context& c, Each each) {
  for (u32 warp = 0; warp < c.warps; ++warp)
    if (c.bits[warp]) each(warp, c.bits[warp]);
}
template <class Each>
void per_lane(u32 bits, Each each) {
  for (; bits; bits &= bits - 1) each(static_cast<u32>(std::countr_zero(bits)));
}
// To the lanes that execute alone. A choice by bits: one by a condition becomes a gather.
u32 chosen(u32 lanes, u32 lane, u32 value, u32 otherwise) {
  u32 const taken = 0u - (lanes >> lane & 1);
  return (value & taken) | (otherwise & ~taken);
}
void give(u32* d, u32 lanes, u32 value) {
#pragma omp simd
  for (u32 lane = 0; lane < lanes_per_warp; ++lane) d[lane] = chosen(lanes, lane, value, d[lane]);
}
void give(u32* d, u32 lanes, u32 const* values) {
#pragma omp simd
  for (u32 lane = 0; lane < lanes_per_warp; ++lane) d[lane] = chosen(lanes, lane, values[lane], d[lane]);
}
// By lane, a bit of those that execute.
u32 bits_of(u32 const* predicate, u32 lanes) {
  u32 out = 0;
#pragma omp simd reduction(| : out)
  for (u32 lane = 0; lane < lanes_per_warp; ++lane) out |= predicate[lane] & (1u << lane);
  return out & lanes;
}

// each(warp, lanes, members): lanes with one member mask, and which of the active lanes it names. They are the same in
// a program that keeps the manual's rules; a lane that its own mask leaves out sees the others.
template <class Each>
void per_members(Context& c, u32 mask, Each each) {
  per_warp(c, [&](u32 warp, u32 active) {
    u32 const* masks = mask == no_slot ? nullptr : slot<u32>(c, mask, warp);
    u32 named_by_all = ~0u;
    if (masks)
#pragma omp simd reduction(& : named_by_all)
      for (u32 lane = 0; lane < lanes_per_warp; ++lane) named_by_all &= masks[lane] | ~(0u - (active >> lane & 1));
    if ((named_by_all & active) == active) return each(warp, active, active);
    for (u32 rest = active; rest;) {
      u32 const own = masks[std::countr_zero(rest)];
      u32 lanes = 0;
      per_lane(rest, [&](u32 lane) { lanes |= masks[lane] == own ? 1u << lane : 0u; });
      each(warp, lanes, active & own);
      rest &= ~lanes;
    }
  });
}

enum class Vote { all, any, uniform, ballot };
template <Vote Kind>
void vote(Context& c, MicroOp const& op) {
  per_members(c, op.s[1], [&](u32 warp, u32 lanes, u32 members) {
    u32 const* p = slot<Pred>(c, op.s[0], warp);
    u32 const holds = bits_of(p, members);
    u32 const result = Kind == Vote::ballot ? holds
                       : (Kind == Vote::all   ? holds == members
                          : Kind == Vote::any ? holds != 0
                                              : holds == members || holds == 0)
                           ? ~0u
                           : 0u;
    give(slot<u32>(c, op.d[0], warp), lanes, result);
  });
}

void active_mask(Context& c, MicroOp const& op) {
  per_warp(c, [&](u32 warp, u32 active) { give(slot<u32>(c, op.d[0], warp), active, active); });
}

// Of a lane's own choice; 0 of those that do not execute.
void permute(u32 const* a, u32 active, u32 const* from, u32* out) {
#ifdef __AVX512F__
  auto const low = _mm512_maskz_loadu_epi32(static_cast<__mmask16>(active), a);
  auto const high = _mm512_maskz_loadu_epi32(static_cast<__mmask16>(active >> 16), a + 16);
  for (u32 lane = 0; lane < lanes_per_warp; lane += 16)
    _mm512_storeu_si512(out + lane, _mm512_permutex2var_epi32(low, _mm512_loadu_si512(from + lane), high));
#else
  u32 live[lanes_per_warp] = {};
  give(live, active, a);
#pragma omp simd
  for (u32 lane = 0; lane < lanes_per_warp; ++lane) out[lane] = live[from[lane]];
#endif
}

enum class Shuffle { up, down, butterfly, index };
// d|p, a, b, c: [ptx] "shfl.sync". c holds the clamp (bits 0..4) and the segment mask (bits 8..12). A source lane that
// does not execute yields 0, where the manual leaves the result undefined: programs that sum up a part of a warp with
// offsets beyond it (NVIDIA's own sample of reductions) rely on that.
template <Shuffle Kind>
void shuffle(Context& c, MicroOp const& op) {
  per_warp(c, [&](u32 warp, u32 active) {
    u32 const *b = slot<u32>(c, op.s[1], warp), *clamp = slot<u32>(c, op.s[2], warp);
    u32 from[lanes_per_warp], inside[lanes_per_warp], result[lanes_per_warp];
#pragma omp simd
    for (u32 lane = 0; lane < lanes_per_warp; ++lane) {
      u32 const amount = b[lane] & 31, bound = clamp[lane] & 31, segment = clamp[lane] >> 8 & 31;
      u32 const highest = (lane & segment) | (bound & ~segment);
      u32 const source = Kind == Shuffle::up          ? lane - amount
                         : Kind == Shuffle::down      ? lane + amount
                         : Kind == Shuffle::butterfly ? lane ^ amount
                                                      : (lane & segment) | (amount & ~segment);
      auto const signed_source = static_cast<s32>(source), signed_highest = static_cast<s32>(highest);
      bool const valid = Kind == Shuffle::up ? signed_source >= signed_highest : signed_source <= signed_highest;
      from[lane] = valid ? source & 31 : lane;
      inside[lane] = valid ? ~0u : 0u;
    }
    permute(slot<u32>(c, op.s[0], warp), active, from, result);
    give(slot<u32>(c, op.d[0], warp), active, result);
    if (op.d[1] != no_slot) give(slot<u32>(c, op.d[1], warp), active, inside);
  });
}

// Two neighbouring warps are a wavefront of 64: each(first warp of it, its active lanes). Where groups of one warp each
// run side by side, the second has none.
template <class Each>
void per_wavefront(Context& c, Each each) {
  bool const alone = c.group_lanes == lanes_per_warp;
  for (u32 warp = 0; warp < c.warps; warp += alone ? 1 : 2) {
    u64 const second = !alone && warp + 1 < c.warps ? c.bits[warp + 1] : 0;
    if (u64 const active = c.bits[warp] | second << lanes_per_warp) each(warp, active);
  }
}
// each(warp of the wavefront, its active lanes)
template <class Each>
void per_half(u32 warp, u64 active, Each each) {
  if (auto const lanes = static_cast<u32>(active)) each(warp, lanes);
  if (auto const lanes = static_cast<u32>(active >> lanes_per_warp)) each(warp + 1, lanes);
}

// The operands of shfl.sync.idx, with a source lane of 0..63. A source lane that does not execute yields 0, as AMD's
// ds_bpermute does.
void shuffle_wavefront(Context& c, MicroOp const& op) {
  per_wavefront(c, [&](u32 warp, u64 active) {
    u32 live[2 * lanes_per_warp] = {};
    per_half(warp, active, [&](u32 half, u32 lanes) {
      give(live + (half - warp) * lanes_per_warp, lanes, slot<u32>(c, op.s[0], half));
    });
    per_half(warp, active, [&](u32 half, u32 lanes) {
      u32 const* from = slot<u32>(c, op.s[1], half);
      u32 result[lanes_per_warp];
#pragma omp simd
      for (u32 lane = 0; lane < lanes_per_warp; ++lane) result[lane] = live[from[lane] & 63];
      give(slot<u32>(c, op.d[0], half), lanes, result);
      if (op.d[1] != no_slot) give(slot<u32>(c, op.d[1], half), lanes, ~0u);
    });
  });
}

// The bits of one half of the wavefront, to all of its lanes.
template <u32 Half>
void ballot_wavefront(Context& c, MicroOp const& op) {
  per_wavefront(c, [&](u32 warp, u64 active) {
    u32 holds = 0;
    per_half(warp, active, [&](u32 half, u32 lanes) {
      if (half - warp == Half) holds = bits_of(slot<Pred>(c, op.s[0], half), lanes);
    });
    per_half(warp, active, [&](u32 half, u32 lanes) { give(slot<u32>(c, op.d[0], half), lanes, holds); });
  });
}

template <class T>
void match_any(Context& c, MicroOp const& op) {
  per_members(c, op.s[1], [&](u32 warp, u32 lanes, u32 members) {
    auto const* a = slot<T>(c, op.s[0], warp);
    u32 result[lanes_per_warp];
    per_lane(lanes, [&](u32 lane) {
      result[lane] = 0;
      per_lane(members, [&](u32 other_lane) { result[lane] |= a[other_lane] == a[lane] ? 1u << other_lane : 0u; });
    });
    u32* d = slot<u32>(c, op.d[0], warp);
    per_lane(lanes, [&](u32 lane) { d[lane] = result[lane]; });
  });
}
template <class T>
void match_all(Context& c, MicroOp const& op) {
  per_members(c, op.s[1], [&](u32 warp, u32 lanes, u32 members) {
    auto const* a = slot<T>(c, op.s[0], warp);
    auto const first = a[std::countr_zero(members ? members : lanes)];
    bool equal = true;
    per_lane(members, [&](u32 lane) { equal &= a[lane] == first; });
    give(slot<u32>(c, op.d[0], warp), lanes, equal ? members : 0u);
    if (op.d[1] != no_slot) give(slot<u32>(c, op.d[1], warp), lanes, equal ? ~0u : 0u);
  });
}

template <class T, class F>
void reduce(Context& c, MicroOp const& op) {
  per_members(c, op.s[1], [&](u32 warp, u32 lanes, u32 members) {
    u32 const* a = slot<u32>(c, op.s[0], warp);
    T total = static_cast<T>(a[std::countr_zero(members ? members : lanes)]);
    per_lane(members & (members - 1), [&](u32 lane) { total = F{}(total, static_cast<T>(a[lane])); });
    give(slot<u32>(c, op.d[0], warp), lanes, static_cast<u32>(total));
  });
}
struct Add {
  u32 operator()(u32 a, u32 b) const { return a + b; }
};
struct Least {
  template <class T>
  T operator()(T a, T b) const {
    return a < b ? a : b;
  }
};
struct Most {
  template <class T>
  T operator()(T a, T b) const {
    return a < b ? b : a;
  }
};
struct And {
  u32 operator()(u32 a, u32 b) const { return a & b; }
};
struct Or {
  u32 operator()(u32 a, u32 b) const { return a | b; }
};
struct Xor {
  u32 operator()(u32 a, u32 b) const { return a ^ b; }
};

// redux of f32: of values or magnitudes; NaN wins where asked, else counts only if there is nothing else.
template <bool Maximum, bool Magnitudes, bool NanWins>
void reduce_float(Context& c, MicroOp const& op) {
  per_members(c, op.s[1], [&](u32 warp, u32 lanes, u32 members) {
    u32 const* a = slot<f32>(c, op.s[0], warp);
    auto value = [&](u32 lane) { return std::bit_cast<f32>(Magnitudes ? a[lane] & 0x7fffffffu : a[lane]); };
    f32 total = value(static_cast<u32>(std::countr_zero(members ? members : lanes)));
    per_lane(members & (members - 1), [&](u32 lane) { total = Extreme<Maximum, NanWins>{}(total, value(lane)); });
    u32* d = slot<f32>(c, op.d[0], warp);
    per_lane(lanes, [&](u32 lane) { d[lane] = Lane<f32>::store(total); });
  });
}

// The lowest lane is elected.
void elect(Context& c, MicroOp const& op) {
  per_members(c, op.s[0], [&](u32 warp, u32 lanes, u32 members) {
    auto const leader = static_cast<u32>(std::countr_zero(members ? members : lanes));
    u32 *d = slot<u32>(c, op.d[0], warp), *p = op.d[1] == no_slot ? nullptr : slot<u32>(c, op.d[1], warp);
    per_lane(lanes, [&](u32 lane) { d[lane] = leader; });
    if (p) per_lane(lanes, [&](u32 lane) { p[lane] = lane == leader ? ~0u : 0u; });
  });
}

using O = LaneType;
constexpr Opcode crossing(std::string_view pattern, Class kind, LaneType d0, LaneType d1, LaneType s0, LaneType s1,
                          LaneType s2, LaneType s3, Handler handler) {
  Opcode opcode{pattern, kind, {d0, d1}, {s0, s1, s2, s3}, handler, handler};
  return opcode;
}

#define REDUX_FLOAT(NAME, MAXIMUM)                                                                         \
  crossing("redux.sync." NAME ".f32", sync, O::f32, O::none, O::f32, O::u32, O::none, O::none,             \
           reduce_float<MAXIMUM, false, false>),                                                           \
      crossing("redux.sync." NAME ".abs.f32", sync, O::f32, O::none, O::f32, O::u32, O::none, O::none,     \
               reduce_float<MAXIMUM, true, false>),                                                        \
      crossing("redux.sync." NAME ".NaN.f32", sync, O::f32, O::none, O::f32, O::u32, O::none, O::none,     \
               reduce_float<MAXIMUM, false, true>),                                                        \
      crossing("redux.sync." NAME ".abs.NaN.f32", sync, O::f32, O::none, O::f32, O::u32, O::none, O::none, \
               reduce_float<MAXIMUM, true, true>)

constexpr Opcode table[] = {
    REDUX_FLOAT("min", false),
    REDUX_FLOAT("max", true),
    crossing("elect.sync", sync, O::u32, O::pred, O::u32, O::none, O::none, O::none, elect),
    crossing("vote.sync.all.pred", sync, O::pred, O::none, O::pred, O::u32, O::none, O::none, vote<Vote::all>),
    crossing("vote.sync.any.pred", sync, O::pred, O::none, O::pred, O::u32, O::none, O::none, vote<Vote::any>),
    crossing("vote.sync.uni.pred", sync, O::pred, O::none, O::pred, O::u32, O::none, O::none, vote<Vote::uniform>),
    crossing("vote.sync.ballot.b32", sync, O::u32, O::none, O::pred, O::u32, O::none, O::none, vote<Vote::ballot>),
    // ptxas takes the two words in either order; CUB writes them so.
    crossing("vote.all.sync.pred", sync, O::pred, O::none, O::pred, O::u32, O::none, O::none, vote<Vote::all>),
    crossing("vote.any.sync.pred", sync, O::pred, O::none, O::pred, O::u32, O::none, O::none, vote<Vote::any>),
    crossing("vote.uni.sync.pred", sync, O::pred, O::none, O::pred, O::u32, O::none, O::none, vote<Vote::uniform>),
    crossing("vote.ballot.sync.b32", sync, O::u32, O::none, O::pred, O::u32, O::none, O::none, vote<Vote::ballot>),
    crossing("vote.all.pred", sync, O::pred, O::none, O::pred, O::none, O::none, O::none, vote<Vote::all>),
    crossing("vote.any.pred", sync, O::pred, O::none, O::pred, O::none, O::none, O::none, vote<Vote::any>),
    crossing("vote.uni.pred", sync, O::pred, O::none, O::pred, O::none, O::none, O::none, vote<Vote::uniform>),
    crossing("vote.ballot.b32", sync, O::u32, O::none, O::pred, O::none, O::none, O::none, vote<Vote::ballot>),
    crossing("activemask.b32", sync, O::u32, O::none, O::none, O::none, O::none, O::none, active_mask),
    crossing("shfl.sync.up.b32", other, O::u32, O::pred, O::u32, O::u32, O::u32, O::u32, shuffle<Shuffle::up>),
    crossing("shfl.sync.down.b32", other, O::u32, O::pred, O::u32, O::u32, O::u32, O::u32, shuffle<Shuffle::down>),
    crossing("shfl.sync.bfly.b32", other, O::u32, O::pred, O::u32, O::u32, O::u32, O::u32, shuffle<Shuffle::butterfly>),
    crossing("shfl.sync.idx.b32", other, O::u32, O::pred, O::u32, O::u32, O::u32, O::u32, shuffle<Shuffle::index>),
    crossing("vote.sync.ballot.b32.wave64::low", sync, O::u32, O::none, O::pred, O::u32, O::none, O::none,
             ballot_wavefront<0>),
    crossing("vote.sync.ballot.b32.wave64::high", sync, O::u32, O::none, O::pred, O::u32, O::none, O::none,
             ballot_wavefront<1>),
    crossing("shfl.sync.idx.b32.wave64", other, O::u32, O::pred, O::u32, O::u32, O::u32, O::u32, shuffle_wavefront),
    crossing("shfl.up.b32", other, O::u32, O::pred, O::u32, O::u32, O::u32, O::none, shuffle<Shuffle::up>),
    crossing("shfl.down.b32", other, O::u32, O::pred, O::u32, O::u32, O::u32, O::none, shuffle<Shuffle::down>),
    crossing("shfl.bfly.b32", other, O::u32, O::pred, O::u32, O::u32, O::u32, O::none, shuffle<Shuffle::butterfly>),
    crossing("shfl.idx.b32", other, O::u32, O::pred, O::u32, O::u32, O::u32, O::none, shuffle<Shuffle::index>),
    crossing("match.any.sync.b32", sync, O::u32, O::none, O::u32, O::u32, O::none, O::none, match_any<u32>),
    crossing("match.any.sync.b64", sync, O::u32, O::none, O::u64, O::u32, O::none, O::none, match_any<u64>),
    crossing("match.all.sync.b32", sync, O::u32, O::pred, O::u32, O::u32, O::none, O::none, match_all<u32>),
    crossing("match.all.sync.b64", sync, O::u32, O::pred, O::u64, O::u32, O::none, O::none, match_all<u64>),
    crossing("redux.sync.add.{u,s}32", sync, O::u32, O::none, O::u32, O::u32, O::none, O::none, reduce<u32, Add>),
    crossing("redux.sync.min.u32", sync, O::u32, O::none, O::u32, O::u32, O::none, O::none, reduce<u32, Least>),
    crossing("redux.sync.max.u32", sync, O::u32, O::none, O::u32, O::u32, O::none, O::none, reduce<u32, Most>),
    crossing("redux.sync.min.s32", sync, O::u32, O::none, O::u32, O::u32, O::none, O::none, reduce<s32, Least>),
    crossing("redux.sync.max.s32", sync, O::u32, O::none, O::u32, O::u32, O::none, O::none, reduce<s32, Most>),
    crossing("redux.sync.and.b32", sync, O::u32, O::none, O::u32, O::u32, O::none, O::none, reduce<u32, And>),
    crossing("redux.sync.or.b32", sync, O::u32, O::none, O::u32, O::u32, O::none, O::none, reduce<u32, Or>),
    crossing("redux.sync.xor.b32", sync, O::u32, O::none, O::u32, O::u32, O::none, O::none, reduce<u32, Xor>),
};

}  // namespace

std::span<Opcode const> warp_opcodes() {
  return table;
}

}  // namespace kernelcast::emu::KERNELCAST_EMU_ISA
