// Loads and stores.
//
// Lanes are placed and checked together (placement.hpp). Then the observers hear of the access, then data moves: per
// half warp as one block where lanes are adjacent, as one value where all read the same place, lane by lane otherwise.
//
// Scattered stores go in lane order, so the highest lane wins where several write one place (PTX leaves it open).
#include "emu/opcodes/families.hpp"
#include "emu/opcodes/placement.hpp"

namespace kernelcast::emu::KERNELCAST_EMU_ISA {
namespace {

// M: the element in memory; S: the slot's type; Narrow: extended to 16 bits only.
template <class M, class S, bool Narrow>
S widen(M value) {
  if constexpr (Narrow)
    return static_cast<S>(static_cast<u16>(static_cast<s16>(value)));
  else if constexpr (std::is_signed_v<M>)
    return static_cast<S>(static_cast<s32>(value));
  else
    return static_cast<S>(value);
}

template <class M, class S, bool Narrow>
void load_chunk(std::byte const* host, u32 const* o, S* d, u32 step) {
  if (step == sizeof(M)) {
    M values[chunk];
    std::memcpy(values, host + o[0], sizeof values);
#pragma omp simd
    for (u32 lane = 0; lane < chunk; ++lane) d[lane] = widen<M, S, Narrow>(values[lane]);
  } else if (step == 0) {
    S const value = widen<M, S, Narrow>(fetch<M>(host + o[0]));
#pragma omp simd
    for (u32 lane = 0; lane < chunk; ++lane) d[lane] = value;
  } else {
    S values[chunk];  // gathered in registers: single stores to d would stall the vector loads that follow
    for (u32 lane = 0; lane < chunk; ++lane) values[lane] = widen<M, S, Narrow>(fetch<M>(host + o[lane]));
    std::memcpy(d, values, sizeof values);
  }
}
template <class M, class S>
void store_chunk(std::byte* host, u32 const* o, S const* s, u32 step) {
  if (step == sizeof(M)) {
    M values[chunk];
#pragma omp simd
    for (u32 lane = 0; lane < chunk; ++lane) values[lane] = static_cast<M>(s[lane]);
    std::memcpy(host + o[0], values, sizeof values);
  } else {
    for (u32 lane = 0; lane < chunk; ++lane) {
      M const value = static_cast<M>(s[lane]);
      std::memcpy(host + o[lane], &value, sizeof value);
    }
  }
}

template <class M, class S, bool Narrow, bool Masked>
void load(Context& c, MicroOp const& op) {
  Placed placed;
  if (!place<Masked>(c, op, placed)) return access_elsewhere(c, op);
  if (c.observed) notify_access(c, op, *placed.placement, static_cast<u64>(placed.delta));
  Access const& x = *op.access;
  u32 const *offsets = placed.placement->offsets, *steps = placed.placement->steps;
  bool const blocks = x.window.lane_stride == 0;
  for (u32 i = 0; i < x.elements; ++i) {
    S* const d = reinterpret_cast<S*>(c.registers + x.slots[i]);
    s64 const shift = placed.delta + static_cast<s64>(i * sizeof(M));
    std::byte const* const host = x.window.host + shift;
    for (u32 warp = 0; warp < c.warps; ++warp) {
      u32 const active = Masked ? c.bits[warp] : ~0u, first = lanes_per_warp * warp;
      if (active == ~0u && blocks) {
        load_chunk<M, S, Narrow>(host, offsets + first, d + first, steps[2 * warp]);
        load_chunk<M, S, Narrow>(host, offsets + first + chunk, d + first + chunk, steps[2 * warp + 1]);
      } else {
        per_lane(active, [&](u32 lane) {
          d[first + lane] = widen<M, S, Narrow>(fetch<M>(host_of(c, x, warp, lane) + offsets[first + lane] + shift));
        });
      }
    }
  }
}

template <class M, class S, bool Masked>
void store(Context& c, MicroOp const& op) {
  Placed placed;
  if (!place<Masked>(c, op, placed)) return access_elsewhere(c, op);
  if (c.observed) notify_access(c, op, *placed.placement, static_cast<u64>(placed.delta));
  Access const& x = *op.access;
  u32 const *offsets = placed.placement->offsets, *steps = placed.placement->steps;
  bool const blocks = x.window.lane_stride == 0 && x.elements == 1;
  for (u32 warp = 0; warp < c.warps; ++warp) {
    u32 const active = Masked ? c.bits[warp] : ~0u, first = lanes_per_warp * warp;
    if (active == ~0u && blocks) {
      std::byte* const host = x.window.host + placed.delta;
      S const* const s = reinterpret_cast<S const*>(c.registers + x.slots[0]) + first;
      store_chunk<M, S>(host, offsets + first, s, steps[2 * warp]);
      store_chunk<M, S>(host, offsets + first + chunk, s + chunk, steps[2 * warp + 1]);
      continue;
    }
    // Lane by lane with all elements of each: lanes may overlap.
    per_lane(active, [&](u32 lane) {
      std::byte* const host = host_of(c, x, warp, lane) + offsets[first + lane] + placed.delta;
      for (u32 i = 0; i < x.elements; ++i) {
        M const value = static_cast<M>(reinterpret_cast<S const*>(c.registers + x.slots[i])[first + lane]);
        std::memcpy(host + i * sizeof(M), &value, sizeof value);
      }
    });
  }
}

}  // namespace

void load_store_handlers(Handlers& h) {
  h.loads[static_cast<int>(Extension::u8)] = {load<u8, u32, false, false>, load<u8, u32, false, true>};
  h.loads[static_cast<int>(Extension::s8)] = {load<s8, u32, false, false>, load<s8, u32, false, true>};
  h.loads[static_cast<int>(Extension::s8_to_16)] = {load<s8, u32, true, false>, load<s8, u32, true, true>};
  h.loads[static_cast<int>(Extension::u16)] = {load<u16, u32, false, false>, load<u16, u32, false, true>};
  h.loads[static_cast<int>(Extension::s16)] = {load<s16, u32, false, false>, load<s16, u32, false, true>};
  h.loads[static_cast<int>(Extension::b32)] = {load<u32, u32, false, false>, load<u32, u32, false, true>};
  h.loads[static_cast<int>(Extension::b64)] = {load<u64, u64, false, false>, load<u64, u64, false, true>};
  h.stores[0] = {store<u8, u32, false>, store<u8, u32, true>};
  h.stores[1] = {store<u16, u32, false>, store<u16, u32, true>};
  h.stores[2] = {store<u32, u32, false>, store<u32, u32, true>};
  h.stores[3] = {store<u64, u64, false>, store<u64, u64, true>};
}

}  // namespace kernelcast::emu::KERNELCAST_EMU_ISA
