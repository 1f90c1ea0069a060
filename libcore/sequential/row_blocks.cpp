#include "sequential/row_blocks.hpp"

#include "sequential/abi.hpp"
#if defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512VL__) && defined(__AVX512DQ__)
#include <immintrin.h>
#define KERNELCAST_SEQ_LANES 16
#elif defined(__AVX2__)
#include <immintrin.h>

#include <array>
#define KERNELCAST_SEQ_LANES 8
#else
#define KERNELCAST_SEQ_LANES 1
#endif

namespace kernelcast::seq {

namespace {

constexpr std::uint64_t within_region = (std::uint64_t{1} << 30) - 1;

#if KERNELCAST_SEQ_LANES == 16

__m512i all(std::uint64_t x) {
  return _mm512_set1_epi64(static_cast<long long>(x));
}

// f(first word, folded addresses, sizes, lanes that are accesses), eight words at a time, until it says false.
template <class F>
bool each_eight(Rows const& rows, F f) {
  auto const words = rows.count * rows.stride;
  auto const step = words > 8 ? 8 % rows.stride : 0;
  std::uint32_t phase = 0;
  for (std::uint32_t i = 0; i < words; i += 8) {
    auto const there = static_cast<__mmask8>(words - i >= 8 ? 0xFF : (1U << (words - i)) - 1);
    auto const address = _mm512_and_si512(_mm512_maskz_loadu_epi64(there, rows.words + i), all(address_mask));
    auto const size = _mm512_cvtepu8_epi64(_mm_loadl_epi64(reinterpret_cast<__m128i const*>(rows.sizes + phase)));
    auto const lanes = _mm512_mask_test_epi64_mask(there, size, size);
    if (!f(i, address, size, lanes)) return false;
    phase += step;
    if (phase >= rows.stride) phase -= rows.stride;
  }
  return true;
}

__mmask8 leaves_block(__m512i address, __m512i size, __mmask8 lanes, unsigned shift) {
  auto const granularity = std::uint64_t{1} << shift;
  auto const end = _mm512_add_epi64(_mm512_and_si512(address, all(granularity - 1)), size);
  return _mm512_mask_cmpgt_epi64_mask(lanes, end, all(granularity));
}

bool of_rows(Rows const& rows, Numbering const& numbering, std::uint32_t* blocks) {
  if (numbering.bases[numbering.region] == no_base) return false;
  auto const shift = _mm_cvtsi32_si128(static_cast<int>(numbering.shift));
  auto const common = _mm256_set1_epi32(static_cast<int>(numbering.bases[numbering.region]));
  return each_eight(rows, [&](std::uint32_t, __m512i address, __m512i size, __mmask8 lanes) {
    if (leaves_block(address, size, lanes, numbering.shift)) return false;
    auto const region = _mm512_srli_epi64(address, 30);
    auto base = common;
    if (_mm512_mask_cmpneq_epi64_mask(lanes, region, all(numbering.region))) {
      base = _mm512_mask_i64gather_epi32(common, lanes, region, numbering.bases, 4);
      if (_mm256_mask_cmpeq_epi32_mask(lanes, base, _mm256_set1_epi32(-1))) return false;
    }
    auto const inside = _mm512_cvtepi64_epi32(_mm512_srl_epi64(_mm512_and_si512(address, all(within_region)), shift));
    auto const found = _mm256_maskz_compress_epi32(lanes, _mm256_or_si256(inside, base));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(blocks), found);
    blocks += __builtin_popcount(lanes);
    return true;
  });
}

void compare(std::uint32_t const* blocks, std::uint32_t count, std::uint32_t n, std::uint64_t* different) {
  for (std::uint32_t i = 0; i < count; i += 64) {
    std::uint64_t bits = 0;
    for (std::uint32_t k = 0; k < 64 && i + k < count; k += 16) {
      auto const* const at = blocks + i + k;
      bits |= std::uint64_t{_mm512_cmpneq_epi32_mask(_mm512_loadu_si512(at), _mm512_loadu_si512(at - n))} << k;
    }
    different[i / 64] = bits;
  }
}

std::uint32_t choose(std::uint64_t const* words, std::uint32_t n, unsigned shift, std::uint32_t threshold,
                     std::uint64_t largest, std::uint32_t* places) {
  std::uint32_t chosen = 0;
  auto const count = _mm_cvtsi32_si128(static_cast<int>(shift));
  auto const limit = _mm256_set1_epi32(static_cast<int>(threshold));
  auto const granularity = std::uint64_t{1} << shift;
  auto const last = largest > granularity ? -1 : static_cast<long long>(granularity - largest);
  for (std::uint32_t i = 0; i < n; i += 8) {
    auto const there = static_cast<__mmask8>(n - i >= 8 ? 0xFF : (1U << (n - i)) - 1);
    auto const word = _mm512_maskz_loadu_epi64(there, words + i);
    auto const headers = _mm512_movepi64_mask(word);
    auto const address = _mm512_and_si512(word, all(address_mask));
    auto hash = _mm512_cvtepi64_epi32(_mm512_srl_epi64(address, count));
    hash = _mm256_mullo_epi32(hash, _mm256_set1_epi32(static_cast<int>(0x9E3779B1U)));
    hash = _mm256_xor_si256(hash, _mm256_srli_epi32(hash, 15));
    hash = _mm256_mullo_epi32(hash, _mm256_set1_epi32(static_cast<int>(0x85EBCA6BU)));
    hash = _mm256_xor_si256(hash, _mm256_srli_epi32(hash, 13));
    auto const lanes = static_cast<__mmask8>(there & ~headers);
    auto found = static_cast<unsigned>(
        _mm256_mask_cmple_epu32_mask(lanes, hash, limit) |
        _mm512_mask_cmpgt_epi64_mask(lanes, _mm512_and_si512(address, all(granularity - 1)), _mm512_set1_epi64(last)));
    for (; found; found &= found - 1) places[chosen++] = i + static_cast<std::uint32_t>(__builtin_ctz(found));
  }
  return chosen;
}

#elif KERNELCAST_SEQ_LANES == 8

__m256i all(std::uint64_t x) {
  return _mm256_set1_epi64x(static_cast<long long>(x));
}

// Eight words in two registers, and what is made of them: eight halves in one, eight bits.
struct Eight {
  __m256i low, high;
};
Eight load(std::uint64_t const* words, std::uint32_t n) {
  if (n >= 8)
    return {_mm256_loadu_si256(reinterpret_cast<__m256i const*>(words)),
            _mm256_loadu_si256(reinterpret_cast<__m256i const*>(words + 4))};
  auto const there = [&](std::int64_t first) {
    auto const place = _mm256_add_epi64(_mm256_set1_epi64x(first), _mm256_set_epi64x(3, 2, 1, 0));
    return _mm256_cmpgt_epi64(_mm256_set1_epi64x(n), place);
  };
  auto const* const at = reinterpret_cast<long long const*>(words);
  return {_mm256_maskload_epi64(at, there(0)), _mm256_maskload_epi64(at + 4, there(4))};
}
template <class F>
Eight both(Eight a, F f) {
  return {f(a.low), f(a.high)};
}
__m256i halves(Eight a) {
  auto const even = _mm256_shuffle_ps(_mm256_castsi256_ps(a.low), _mm256_castsi256_ps(a.high), 0x88);
  return _mm256_permute4x64_epi64(_mm256_castps_si256(even), 0xD8);
}
// The sign bits.
unsigned signs(Eight a) {
  return static_cast<unsigned>(_mm256_movemask_pd(_mm256_castsi256_pd(a.low)) |
                               _mm256_movemask_pd(_mm256_castsi256_pd(a.high)) << 4);
}
unsigned signs(__m256i a) {
  return static_cast<unsigned>(_mm256_movemask_ps(_mm256_castsi256_ps(a)));
}

// For each set of lanes their numbers, one after another.
constexpr auto chosen_lanes = [] {
  std::array<std::array<std::uint8_t, 8>, 256> table{};
  for (std::size_t set = 0; set < table.size(); ++set)
    for (std::size_t lane = 0, n = 0; lane < 8; ++lane)
      if (set >> lane & 1) table[set][n++] = static_cast<std::uint8_t>(lane);
  return table;
}();

bool of_rows(Rows const& rows, Numbering const& numbering, std::uint32_t* blocks) {
  if (numbering.bases[numbering.region] == no_base) return false;
  auto const shift = _mm_cvtsi32_si128(static_cast<int>(numbering.shift));
  auto const granularity = std::uint64_t{1} << numbering.shift;
  auto const common = _mm256_set1_epi32(static_cast<int>(numbering.bases[numbering.region]));
  auto const other = _mm256_set1_epi32(static_cast<int>(numbering.bases[numbering.other_region]));
  auto const words = rows.count * rows.stride;
  auto const step = words > 8 ? 8 % rows.stride : 0;
  std::uint32_t phase = 0;
  for (std::uint32_t i = 0; i < words; i += 8) {
    auto const sizes = _mm_loadl_epi64(reinterpret_cast<__m128i const*>(rows.sizes + phase));
    phase += step;
    if (phase >= rows.stride) phase -= rows.stride;
    auto const there = words - i >= 8 ? 0xFFU : (1U << (words - i)) - 1;
    auto const lanes = there & ~static_cast<unsigned>(_mm_movemask_epi8(_mm_cmpeq_epi8(sizes, _mm_setzero_si128())));
    auto const address =
        both(load(rows.words + i, words - i), [](__m256i a) { return _mm256_and_si256(a, all(address_mask)); });
    auto const place = halves(both(address, [&](__m256i a) { return _mm256_and_si256(a, all(granularity - 1)); }));
    auto const end = _mm256_add_epi32(place, _mm256_cvtepu8_epi32(sizes));
    if (signs(_mm256_cmpgt_epi32(end, _mm256_set1_epi32(static_cast<int>(granularity)))) & lanes) return false;
    auto const region = both(address, [](__m256i a) { return _mm256_srli_epi64(a, 30); });
    auto base = common;
    auto const first = halves(both(region, [&](__m256i a) { return _mm256_cmpeq_epi64(a, all(numbering.region)); }));
    if (lanes & ~signs(first)) {
      // Another one, such as the stack's; any.
      auto const second =
          halves(both(region, [&](__m256i a) { return _mm256_cmpeq_epi64(a, all(numbering.other_region)); }));
      base = _mm256_blendv_epi8(other, common, first);
      auto const found = _mm256_or_si256(first, second);
      if (lanes & ~signs(found)) {
        auto const looked = _mm256_i32gather_epi32(reinterpret_cast<int const*>(numbering.bases), halves(region), 4);
        if (signs(_mm256_cmpeq_epi32(looked, _mm256_set1_epi32(-1))) & lanes) return false;
        base = _mm256_blendv_epi8(looked, base, found);
      }
    }
    auto const inside = halves(
        both(address, [&](__m256i a) { return _mm256_srl_epi64(_mm256_and_si256(a, all(within_region)), shift); }));
    auto const order =
        _mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<__m128i const*>(chosen_lanes[lanes].data())));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(blocks),
                        _mm256_permutevar8x32_epi32(_mm256_or_si256(inside, base), order));
    blocks += __builtin_popcount(lanes);
  }
  return true;
}

void compare(std::uint32_t const* blocks, std::uint32_t count, std::uint32_t n, std::uint64_t* different) {
  for (std::uint32_t i = 0; i < count; i += 64) {
    std::uint64_t equal = 0;
    for (std::uint32_t k = 0; k < 64 && i + k < count; k += 8) {
      auto const* const at = blocks + i + k;
      auto const now = _mm256_loadu_si256(reinterpret_cast<__m256i const*>(at));
      auto const before = _mm256_loadu_si256(reinterpret_cast<__m256i const*>(at - n));
      equal |= std::uint64_t{signs(_mm256_cmpeq_epi32(now, before))} << k;
    }
    different[i / 64] = ~equal;
  }
}

std::uint32_t choose(std::uint64_t const* words, std::uint32_t n, unsigned shift, std::uint32_t threshold,
                     std::uint64_t largest, std::uint32_t* places) {
  std::uint32_t chosen = 0;
  auto const count = _mm_cvtsi32_si128(static_cast<int>(shift));
  auto const limit = _mm256_set1_epi32(static_cast<int>(threshold));
  auto const granularity = std::uint64_t{1} << shift;
  auto const last = _mm256_set1_epi32(largest > granularity ? -1 : static_cast<int>(granularity - largest));
  for (std::uint32_t i = 0; i < n; i += 8) {
    auto const word = load(words + i, n - i);
    auto const headers = signs(word);
    auto const address = both(word, [](__m256i a) { return _mm256_and_si256(a, all(address_mask)); });
    auto hash = halves(both(address, [&](__m256i a) { return _mm256_srl_epi64(a, count); }));
    hash = _mm256_mullo_epi32(hash, _mm256_set1_epi32(static_cast<int>(0x9E3779B1U)));
    hash = _mm256_xor_si256(hash, _mm256_srli_epi32(hash, 15));
    hash = _mm256_mullo_epi32(hash, _mm256_set1_epi32(static_cast<int>(0x85EBCA6BU)));
    hash = _mm256_xor_si256(hash, _mm256_srli_epi32(hash, 13));
    auto const small = _mm256_cmpeq_epi32(_mm256_min_epu32(hash, limit), hash);
    auto const place = halves(both(address, [&](__m256i a) { return _mm256_and_si256(a, all(granularity - 1)); }));
    auto found = signs(_mm256_or_si256(small, _mm256_cmpgt_epi32(place, last))) & ~headers &
                 (n - i >= 8 ? 0xFFU : (1U << (n - i)) - 1);
    for (; found; found &= found - 1) places[chosen++] = i + static_cast<std::uint32_t>(__builtin_ctz(found));
  }
  return chosen;
}

#else

bool of_rows(Rows const& rows, Numbering const& numbering, std::uint32_t* blocks) {
  auto const granularity = std::uint64_t{1} << numbering.shift;
  bool good = true;
  for (std::uint32_t row = 0; row < rows.count; ++row)
    for (std::uint32_t i = 1; i < rows.stride; ++i) {
      auto const address = rows.words[row * rows.stride + i] & address_mask;
      auto const base = numbering.bases[address >> 30];
      good &= (address & (granularity - 1)) + rows.sizes[i] <= granularity && base != no_base;
      *blocks++ = base | static_cast<std::uint32_t>((address & within_region) >> numbering.shift);
    }
  return good;
}

void compare(std::uint32_t const* blocks, std::uint32_t count, std::uint32_t n, std::uint64_t* different) {
  for (std::uint32_t i = 0; i < count; i += 64) {
    std::uint64_t bits = 0;
    for (std::uint32_t k = 0; k < 64 && i + k < count; ++k)
      bits |= std::uint64_t{blocks[i + k] != *(blocks + i + k - n)} << k;
    different[i / 64] = bits;
  }
}

std::uint32_t choose(std::uint64_t const* words, std::uint32_t n, unsigned shift, std::uint32_t threshold,
                     std::uint64_t largest, std::uint32_t* places) {
  auto const granularity = std::uint64_t{1} << shift;
  std::uint32_t chosen = 0;
  for (std::uint32_t i = 0; i < n; ++i) {
    if (words[i] & row_tag) continue;
    auto const address = words[i] & address_mask;
    if ((address & (granularity - 1)) + largest > granularity ||
        hash_of(static_cast<std::uint32_t>(address >> shift)) <= threshold)
      places[chosen++] = i;
  }
  return chosen;
}

#endif

// Of these the compiler makes vectors.
std::uint32_t agree(std::uint32_t const* a, std::uint32_t const* b, std::uint32_t n) {
  constexpr std::uint32_t step = 32;
  std::uint32_t i = 0;
  for (; i + step <= n; i += step) {
    std::uint32_t different = 0;
    for (std::uint32_t k = 0; k < step; ++k) different |= a[i + k] ^ b[i + k];
    if (different != 0) break;
  }
  while (i < n && a[i] == b[i]) ++i;
  return i;
}

std::uint32_t anchors(std::uint32_t const* blocks, std::uint32_t n, std::uint32_t* places) {
  constexpr std::uint32_t step = 16;
  std::uint32_t found = 0;
  for (std::uint32_t i = 0; i < n; i += step) {
    auto const end = n - i < step ? n - i : step;
    if (end == step) {
      std::uint32_t least = anchor_limit;
      for (std::uint32_t k = 0; k < step; ++k) {
        auto const hash = hash_of_three(blocks + i + k);
        least = hash < least ? hash : least;
      }
      if (least == anchor_limit) continue;
    }
    for (std::uint32_t k = 0; k < end; ++k)
      if (hash_of_three(blocks + i + k) < anchor_limit) places[found++] = i + k;
  }
  return found;
}

}  // namespace

namespace KERNELCAST_SEQ_ISA {
RowBlocks row_blocks() {
  return {of_rows, compare, choose, agree, anchors};
}
}  // namespace KERNELCAST_SEQ_ISA

}  // namespace kernelcast::seq
