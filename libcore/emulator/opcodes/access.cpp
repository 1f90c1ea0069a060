// Loads and stores.
//
// Lanes are placed and checked together (placement.hpp). Then the observers hear of the access, then data moves: per
// half warp as one block where lanes are adjacent, as one value where all read the same place, lane by lane otherwise.
// The elements of a vector move together, as words that are taken apart lanewise.
//
// Scattered stores go in lane order, so the highest lane wins where several write one place (PTX leaves it open).
#include "emulator/opcodes/families.hpp"
#include "emulator/opcodes/placement.hpp"

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

// What a lane of a vector access moves: `words` words that hold Elements elements of type M.
template <class M, u32 Elements>
struct Item {
  static constexpr u32 bytes = sizeof(M) * Elements, words = bytes > 8 ? bytes / 8 : 1, per_word = Elements / words;
  using Small = std::conditional_t<bytes == 1, u8, u16>;
  using Word = std::conditional_t<bytes <= 2, Small, std::conditional_t<bytes == 4, u32, u64>>;
  using Bits = std::make_unsigned_t<M>;
  static M element(Word word, u32 k) { return static_cast<M>(static_cast<Bits>(word >> 8 * sizeof(M) * k)); }
};

// Lanes of four words of 32 bits. Shuffles are written out, because going through memory in pieces of other sizes
// stalls.
typedef u32 Words4 __attribute__((vector_size(16)));
typedef u32 Words8 __attribute__((vector_size(32)));

// Sixteen lanes: row r, quarter q holds lane 4 q + r; transposed, row r holds word r of all lanes in order, and back.
struct Quads {
  Words16 row[4];
  Quads transposed() const {
    auto const low = [](Words16 a, Words16 b) {
      return __builtin_shufflevector(a, b, 0, 16, 1, 17, 4, 20, 5, 21, 8, 24, 9, 25, 12, 28, 13, 29);
    };
    auto const high = [](Words16 a, Words16 b) {
      return __builtin_shufflevector(a, b, 2, 18, 3, 19, 6, 22, 7, 23, 10, 26, 11, 27, 14, 30, 15, 31);
    };
    auto const evens = [](Words16 a, Words16 b) {
      return __builtin_shufflevector(a, b, 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29);
    };
    auto const odds = [](Words16 a, Words16 b) {
      return __builtin_shufflevector(a, b, 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31);
    };
    Words16 const low01 = low(row[0], row[1]), low23 = low(row[2], row[3]);
    Words16 const high01 = high(row[0], row[1]), high23 = high(row[2], row[3]);
    return {{evens(low01, low23), odds(low01, low23), evens(high01, high23), odds(high01, high23)}};
  }
};

void load_quads(std::byte const* host, u32 const* o, u32* const* d, u32 first) {
  Quads lanes;
  for (u32 r = 0; r < 4; ++r) {
    Words4 const a = read<Words4>(host + o[r]), b = read<Words4>(host + o[4 + r]), e = read<Words4>(host + o[8 + r]),
                 f = read<Words4>(host + o[12 + r]);
    Words8 const ab = __builtin_shufflevector(a, b, 0, 1, 2, 3, 4, 5, 6, 7);
    Words8 const ef = __builtin_shufflevector(e, f, 0, 1, 2, 3, 4, 5, 6, 7);
    lanes.row[r] = __builtin_shufflevector(ab, ef, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  }
  Quads const words = lanes.transposed();
  for (u32 i = 0; i < 4; ++i) std::memcpy(d[i] + first, &words.row[i], sizeof words.row[i]);
}

void store_quads(std::byte* host, u32 const* o, u32 const* const* s, u32 first) {
  Quads words;
  for (u32 i = 0; i < 4; ++i) words.row[i] = read<Words16>(s[i] + first);
  Quads const lanes = words.transposed();
  // In the order of the lanes: where several write one place, the last wins.
  for (u32 quarter = 0; quarter < 4; ++quarter)
    for (u32 r = 0; r < 4; ++r)
      std::memcpy(host + o[4 * quarter + r], reinterpret_cast<std::byte const*>(&lanes.row[r]) + 16 * quarter, 16);
}

template <class M, class S, bool Narrow, u32 Elements>
void load_items(std::byte const* host, u32 const* o, S* const* d, u32 first, u32 step) {
  if (step == 0) {
    for (u32 i = 0; i < Elements; ++i) load_chunk<M, S, Narrow>(host + i * sizeof(M), o, d[i] + first, 0);
    return;
  }
  if constexpr (sizeof(M) == 4 && Elements == 4) {
    load_quads(host, o, d, first);
  } else {
    using I = Item<M, Elements>;
    using Word = typename I::Word;
    for (u32 k = 0; k < I::words; ++k) {
      Word w[chunk];
      load_chunk<Word, Word, false>(host + 8 * k, o, w, step);
      for (u32 i = 0; i < I::per_word; ++i) {
        S* const to = d[k * I::per_word + i] + first;
#pragma omp simd
        for (u32 lane = 0; lane < chunk; ++lane) to[lane] = widen<M, S, Narrow>(I::element(w[lane], i));
      }
    }
  }
}

template <class M, class S, u32 Elements>
void store_items(std::byte* host, u32 const* o, S const* const* s, u32 first, u32 step) {
  if constexpr (sizeof(M) == 4 && Elements == 4) {
    store_quads(host, o, s, first);
  } else {
    using I = Item<M, Elements>;
    using Word = typename I::Word;
    Word w[I::words][chunk];
    for (u32 k = 0; k < I::words; ++k)
#pragma omp simd
      for (u32 lane = 0; lane < chunk; ++lane) {
        Word word = 0;
        for (u32 i = 0; i < I::per_word; ++i) {
          auto const bits = static_cast<typename I::Bits>(s[k * I::per_word + i][first + lane]);
          word |= static_cast<Word>(static_cast<Word>(bits) << (8 * sizeof(M) * i));
        }
        w[k][lane] = word;
      }
    if (I::words == 1) return store_chunk<Word, Word>(host, o, w[0], step);
    for (u32 lane = 0; lane < chunk; ++lane)
      for (u32 k = 0; k < I::words; ++k) std::memcpy(host + o[lane] + 8 * k, &w[k][lane], sizeof(Word));
  }
}

template <class M, class S, bool Narrow, bool Masked, u32 Elements>
void load_lanes(Context const& c, Access const& x, Placed const& placed) {
  u32 const *offsets = placed.placement->offsets, *steps = placed.placement->steps;
  bool const blocks = x.window.lane_stride == 0;
  S* d[Elements];
  for (u32 i = 0; i < Elements; ++i) d[i] = reinterpret_cast<S*>(c.registers + x.slots[i]);
  std::byte const* const host = x.window.host + placed.delta;
  for (u32 warp = 0; warp < c.warps; ++warp) {
    u32 const active = Masked ? c.bits[warp] : ~0u, first = lanes_per_warp * warp;
    if (active == ~0u && blocks) {
      for (u32 half = 0; half < 2; ++half) {
        u32 const begin = first + chunk * half, step = steps[2 * warp + half];
        if constexpr (Elements == 1)
          load_chunk<M, S, Narrow>(host, offsets + begin, d[0] + begin, step);
        else
          load_items<M, S, Narrow, Elements>(host, offsets + begin, d, begin, step);
      }
    } else {
      using I = Item<M, Elements>;
      per_lane(active, [&](u32 lane) {
        std::byte const* const at = host_of(c, x, warp, lane) + offsets[first + lane] + placed.delta;
        for (u32 k = 0; k < I::words; ++k) {
          auto const word = fetch<typename I::Word>(at + 8 * k);
          for (u32 i = 0; i < I::per_word; ++i)
            d[k * I::per_word + i][first + lane] = widen<M, S, Narrow>(I::element(word, i));
        }
      });
    }
  }
}

template <class M, class S, bool Masked, u32 Elements>
void store_lanes(Context const& c, Access const& x, Placed const& placed) {
  u32 const *offsets = placed.placement->offsets, *steps = placed.placement->steps;
  bool const blocks = x.window.lane_stride == 0;
  S const* s[Elements];
  for (u32 i = 0; i < Elements; ++i) s[i] = reinterpret_cast<S const*>(c.registers + x.slots[i]);
  std::byte* const host = x.window.host + placed.delta;
  for (u32 warp = 0; warp < c.warps; ++warp) {
    u32 const active = Masked ? c.bits[warp] : ~0u, first = lanes_per_warp * warp;
    if (active == ~0u && blocks) {
      for (u32 half = 0; half < 2; ++half) {
        u32 const begin = first + chunk * half, step = steps[2 * warp + half];
        if constexpr (Elements == 1)
          store_chunk<M, S>(host, offsets + begin, s[0] + begin, step);
        else
          store_items<M, S, Elements>(host, offsets + begin, s, begin, step);
      }
    } else {
      // Lane by lane with all elements of each: lanes may overlap.
      per_lane(active, [&](u32 lane) {
        std::byte* const at = host_of(c, x, warp, lane) + offsets[first + lane] + placed.delta;
        for (u32 i = 0; i < Elements; ++i) {
          M const value = static_cast<M>(s[i][first + lane]);
          std::memcpy(at + i * sizeof(M), &value, sizeof value);
        }
      });
    }
  }
}

// Vectors of eight, and stores with gaps: lane by lane.
template <class M, class S, bool Narrow, bool Masked>
void load_each(Context const& c, Access const& x, Placed const& placed) {
  for (u32 warp = 0; warp < c.warps; ++warp)
    per_lane(Masked ? c.bits[warp] : ~0u, [&](u32 lane) {
      u32 const at = lanes_per_warp * warp + lane;
      std::byte const* const host = host_of(c, x, warp, lane) + placed.placement->offsets[at] + placed.delta;
      for (u32 i = 0; i < x.elements; ++i)
        reinterpret_cast<S*>(c.registers + x.slots[i])[at] = widen<M, S, Narrow>(fetch<M>(host + i * sizeof(M)));
    });
}
template <class M, class S, bool Masked>
void store_each(Context const& c, Access const& x, Placed const& placed) {
  for (u32 warp = 0; warp < c.warps; ++warp)
    per_lane(Masked ? c.bits[warp] : ~0u, [&](u32 lane) {
      u32 const at = lanes_per_warp * warp + lane;
      std::byte* const host = host_of(c, x, warp, lane) + placed.placement->offsets[at] + placed.delta;
      for (u32 i = 0; i < x.elements; ++i) {
        if (x.slots[i] == no_slot) continue;
        M const value = static_cast<M>(reinterpret_cast<S const*>(c.registers + x.slots[i])[at]);
        std::memcpy(host + i * sizeof(M), &value, sizeof value);
      }
    });
}

template <class M, class S, bool Narrow, bool Masked>
void load(Context& c, MicroOp const& op) {
  Placed placed;
  if (!place<Masked>(c, op, placed)) return access_elsewhere(c, op);
  if (c.observed) notify_access(c, op, *placed.placement, static_cast<u64>(placed.delta));
  Access const& x = *op.access;
  if (x.elements == 1) return load_lanes<M, S, Narrow, Masked, 1>(c, x, placed);
  if (x.elements == 2) return load_lanes<M, S, Narrow, Masked, 2>(c, x, placed);
  if (x.elements == 4) return load_lanes<M, S, Narrow, Masked, 4>(c, x, placed);
  load_each<M, S, Narrow, Masked>(c, x, placed);
}

template <class M, class S, bool Masked>
void store(Context& c, MicroOp const& op) {
  Placed placed;
  if (!place<Masked>(c, op, placed)) return access_elsewhere(c, op);
  if (c.observed) notify_access(c, op, *placed.placement, static_cast<u64>(placed.delta));
  Access const& x = *op.access;
  if (x.elements == 1) return store_lanes<M, S, Masked, 1>(c, x, placed);
  if (x.sparse) return store_each<M, S, Masked>(c, x, placed);
  if (x.elements == 2) return store_lanes<M, S, Masked, 2>(c, x, placed);
  if (x.elements == 4) return store_lanes<M, S, Masked, 4>(c, x, placed);
  store_each<M, S, Masked>(c, x, placed);
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
