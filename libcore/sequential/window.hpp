// The last 16 references and the 16 of a chunk: which of the chunk were referenced there, and how many distinct blocks
// ago. Compiled with the engine, once per instruction-set level; there is none below AVX2 (KERNELCAST_SEQ_WINDOW is 0).
//
// Method: places 0 to 15 are the references before, 16 to 31 those of the chunk. Each reference is compared with all
// places before its own; the last equal one is its own last reference. Distinct blocks in between are the places whose
// own last reference lies before: not after that place.
#pragma once

#if defined(__AVX512F__) && defined(__AVX512CD__) && defined(__AVX512BW__) && defined(__AVX512VL__)
#define KERNELCAST_SEQ_WINDOW 512
#elif defined(__AVX2__) && defined(__LZCNT__)
#define KERNELCAST_SEQ_WINDOW 256
#else
#define KERNELCAST_SEQ_WINDOW 0
#endif

#if KERNELCAST_SEQ_WINDOW
#include <immintrin.h>
#endif

#include <cstdint>
#include <cstring>

#include "sequential/distance.hpp"

#ifdef __clang__
#define KERNELCAST_SEQ_UNROLL _Pragma("clang loop unroll(full)")
#else
#define KERNELCAST_SEQ_UNROLL _Pragma("GCC unroll 16")
#endif

namespace kernelcast::seq {

namespace {

#if KERNELCAST_SEQ_WINDOW == 512
// A bit for each of 16 slots that are above `slot`.
inline std::uint32_t above(std::uint32_t const* slots, std::uint32_t slot) {
  return _mm512_cmpgt_epu32_mask(_mm512_load_si512(slots), _mm512_set1_epi32(static_cast<int>(slot)));
}
#elif KERNELCAST_SEQ_WINDOW == 256
inline std::uint32_t above(std::uint32_t const* slots, std::uint32_t slot) {
  auto const sign = _mm256_set1_epi32(INT32_MIN);
  auto const than = _mm256_xor_si256(_mm256_set1_epi32(static_cast<int>(slot)), sign);
  auto const half = [&](std::uint32_t const* at) {
    auto const v = _mm256_xor_si256(_mm256_load_si256(reinterpret_cast<__m256i const*>(at)), sign);
    return static_cast<std::uint32_t>(_mm256_movemask_ps(_mm256_castsi256_ps(_mm256_cmpgt_epi32(v, than))));
  };
  return half(slots) | half(slots + 8) << 8;
}
#else
inline std::uint32_t above(std::uint32_t const* slots, std::uint32_t slot) {
  std::uint32_t bits = 0;
  for (std::uint32_t t = 0; t < chunk; ++t) bits |= std::uint32_t{slots[t] > slot} << t;
  return bits;
}
#endif

#if KERNELCAST_SEQ_WINDOW

class Window {
 public:
  Window() { std::memset(positions_, -1, sizeof positions_); }
  struct Found {
    std::uint32_t missing;  // references of the chunk that are not in the window
    std::uint32_t leaving;  // of before(), those that were the last ones of their blocks
  };
  // Writes the distances of those that are there, and for the others how many distinct blocks there are before them.
  Found look(std::uint32_t const* blocks, std::uint32_t* distances);
  // From now on there are no references before; gives those of before() that were the last ones of their blocks.
  std::uint32_t empty() {
    auto const leaving = first_ ? 0 : 0xFFFFU & ~referenced_again_;
    now_ ^= 1;
    first_ = true;
    return leaving;
  }
  // The 16 references before the last chunk of look(); until look() is called the next time.
  std::uint32_t const* before() const { return before_[now_ ^ 1]; }

 private:
  std::uint32_t filled() const { return first_ ? 0xFFFF0000U : 0xFFFFFFFFU; }
  void counted(__m256i window, std::int8_t const* places, std::uint32_t* distances) const;
  void keep(std::uint32_t const* blocks);

  alignas(64) std::uint32_t before_[2][chunk] = {};
  alignas(16) std::int8_t positions_[chunk];  // the place of each one's last reference among them, or -1
  unsigned now_ = 0;                          // of before_: the references before the next chunk
  std::uint32_t referenced_again_ = 0;        // of these, within them
  bool first_ = true;
};

inline void Window::counted(__m256i window, std::int8_t const* places, std::uint32_t* distances) const {
  KERNELCAST_SEQ_UNROLL
  for (std::size_t i = 0; i < chunk; ++i) {
    auto const place = _mm256_set1_epi8(places[i]);
#if KERNELCAST_SEQ_WINDOW == 512
    auto const not_after = static_cast<std::uint32_t>(_mm256_cmple_epi8_mask(window, place));
#else
    auto const not_after = ~static_cast<std::uint32_t>(_mm256_movemask_epi8(_mm256_cmpgt_epi8(window, place)));
#endif
    auto const distinct = std::uint64_t{not_after & filled()} & ((std::uint64_t{1} << (chunk + i)) - 1);
    distances[i] = static_cast<std::uint32_t>(__builtin_popcountll(distinct >> (places[i] + 1)));
  }
}

inline void Window::keep(std::uint32_t const* blocks) {
  now_ ^= 1;
  std::memcpy(before_[now_], blocks, sizeof before_[now_]);
  first_ = false;
}

#if KERNELCAST_SEQ_WINDOW == 512

inline Window::Found Window::look(std::uint32_t const* blocks, std::uint32_t* distances) {
  auto const now = _mm512_loadu_si512(blocks);
  auto const before = _mm512_load_si512(before_[now_]);
  alignas(32) std::uint16_t equal[chunk];
  KERNELCAST_SEQ_UNROLL
  for (std::size_t i = 0; i < chunk; ++i)
    equal[i] = _mm512_cmpeq_epi32_mask(before, _mm512_set1_epi32(static_cast<int>(blocks[i])));
  if (first_) std::memset(equal, 0, sizeof equal);
  auto const conflicts = _mm512_conflict_epi32(now);
  auto const repeated = _mm512_test_epi32_mask(conflicts, conflicts);
  auto const place_here = _mm512_sub_epi32(_mm512_set1_epi32(47), _mm512_lzcnt_epi32(conflicts));
  auto const in_before = _mm512_cvtepu16_epi32(_mm256_load_si256(reinterpret_cast<__m256i const*>(equal)));
  auto const place_before = _mm512_sub_epi32(_mm512_set1_epi32(31), _mm512_lzcnt_epi32(in_before));
  auto const found_before = static_cast<std::uint32_t>(_mm512_reduce_or_epi32(in_before));

  alignas(16) std::int8_t places[chunk];
  auto const place_bytes = _mm512_cvtepi32_epi8(_mm512_mask_mov_epi32(place_before, repeated, place_here));
  _mm_store_si128(reinterpret_cast<__m128i*>(places), place_bytes);
  counted(_mm256_set_m128i(place_bytes, _mm_load_si128(reinterpret_cast<__m128i const*>(positions_))), places,
          distances);
  Found const found{static_cast<std::uint32_t>(_mm_movemask_epi8(place_bytes)),
                    first_ ? 0 : 0xFFFFU & ~referenced_again_ & ~found_before};
  auto const here = _mm512_sub_epi32(place_here, _mm512_set1_epi32(16));
  referenced_again_ =
      static_cast<std::uint32_t>(_mm512_reduce_or_epi32(_mm512_maskz_sllv_epi32(repeated, _mm512_set1_epi32(1), here)));
  auto const own = _mm512_mask_mov_epi32(_mm512_set1_epi32(-1), repeated, here);
  _mm_store_si128(reinterpret_cast<__m128i*>(positions_), _mm512_cvtepi32_epi8(own));
  keep(blocks);
  return found;
}

#else

inline Window::Found Window::look(std::uint32_t const* blocks, std::uint32_t* distances) {
  // Places 0 to 3 and 16 to 19, 4 to 7 and 20 to 23, and so on: packing twice then puts their bytes in order.
  auto const four = [](std::uint32_t const* at) { return _mm_loadu_si128(reinterpret_cast<__m128i const*>(at)); };
  __m256i places_of[4];
  for (unsigned q = 0; q < 4; ++q) places_of[q] = _mm256_set_m128i(four(blocks + 4 * q), four(before_[now_] + 4 * q));
  std::uint32_t before = 0, again = 0;
  std::uint64_t bytes[2] = {0, 0};
  alignas(16) std::int8_t places[chunk];
  KERNELCAST_SEQ_UNROLL
  for (std::size_t i = 0; i < chunk; ++i) {
    auto const block = _mm256_set1_epi32(static_cast<int>(blocks[i]));
    auto const low =
        _mm256_packs_epi32(_mm256_cmpeq_epi32(places_of[0], block), _mm256_cmpeq_epi32(places_of[1], block));
    auto const high =
        _mm256_packs_epi32(_mm256_cmpeq_epi32(places_of[2], block), _mm256_cmpeq_epi32(places_of[3], block));
    auto const all = static_cast<std::uint32_t>(_mm256_movemask_epi8(_mm256_packs_epi16(low, high)));
    auto const equal = all & filled() & ((1U << (chunk - 1 + i) << 1) - 1);
    auto const place = 31 - static_cast<std::int32_t>(_lzcnt_u32(equal));
    places[i] = static_cast<std::int8_t>(place);
    before |= equal;
    again |= static_cast<std::uint32_t>(std::uint64_t{1} << (place + 1) >> (chunk + 1));
    bytes[i / 8] |= (static_cast<std::uint64_t>(place) & 0xFF) << (8 * (i % 8));
  }
  auto const place_bytes = _mm_set_epi64x(static_cast<long long>(bytes[1]), static_cast<long long>(bytes[0]));
  counted(_mm256_set_m128i(place_bytes, _mm_load_si128(reinterpret_cast<__m128i const*>(positions_))), places,
          distances);
  Found const found{static_cast<std::uint32_t>(_mm_movemask_epi8(place_bytes)),
                    first_ ? 0 : 0xFFFFU & ~referenced_again_ & ~before};
  referenced_again_ = again;
  auto const here = _mm_sub_epi8(place_bytes, _mm_set1_epi8(chunk));
  _mm_store_si128(reinterpret_cast<__m128i*>(positions_), _mm_max_epi8(here, _mm_set1_epi8(-1)));
  keep(blocks);
  return found;
}

#endif

#endif

}  // namespace

}  // namespace kernelcast::seq
