#include "seq/row_blocks.hpp"

#include "seq/abi.hpp"
#if defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512VL__) && defined(__AVX512DQ__)
#include <immintrin.h>
#define KERNELCAST_SEQ_WIDE 1
#else
#define KERNELCAST_SEQ_WIDE 0
#endif

namespace kernelcast::seq {

namespace {

constexpr std::uint64_t within_region = (std::uint64_t{1} << 30) - 1;

#if KERNELCAST_SEQ_WIDE

RowKind of_row(std::uint64_t const* addresses, std::uint8_t const* sizes, std::uint32_t n, Numbering const& numbering,
               std::uint32_t const* before, std::uint32_t* now) {
  auto const word = [](std::uint64_t x) { return _mm512_set1_epi64(static_cast<long long>(x)); };
  auto const granularity = std::uint64_t{1} << numbering.shift;
  auto const shift = _mm_cvtsi32_si128(static_cast<int>(numbering.shift));
  unsigned odd = 0, changed = 0;
  for (std::uint32_t i = 0; i < n; i += 8) {
    auto const lanes = static_cast<__mmask8>(n - i >= 8 ? 0xFF : (1U << (n - i)) - 1);
    auto const address = _mm512_and_si512(_mm512_maskz_loadu_epi64(lanes, addresses + i), word(address_mask));
    auto const size = _mm512_cvtepu8_epi64(_mm_maskz_loadu_epi8(lanes, sizes + i));
    odd |= _mm512_mask_cmpneq_epi64_mask(lanes, _mm512_srli_epi64(address, 30), word(numbering.region));
    auto const end = _mm512_add_epi64(_mm512_and_si512(address, word(granularity - 1)), size);
    odd |= _mm512_mask_cmpgt_epi64_mask(lanes, end, word(granularity));
    auto const inside = _mm512_srl_epi64(_mm512_and_si512(address, word(within_region)), shift);
    auto const blocks =
        _mm256_or_si256(_mm512_cvtepi64_epi32(inside), _mm256_set1_epi32(static_cast<int>(numbering.base)));
    auto const old = _mm256_loadu_si256(reinterpret_cast<__m256i const*>(before + i));
    changed |= _mm256_mask_cmpneq_epi32_mask(lanes, blocks, old);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(now + i), blocks);
  }
  return odd ? RowKind::irregular : changed ? RowKind::different : RowKind::same;
}

std::uint32_t sample(std::uint32_t* blocks, std::uint32_t n, std::uint32_t threshold) {
  std::uint32_t kept = 0;
  for (std::uint32_t i = 0; i < n; i += 8) {
    auto const lanes = static_cast<__mmask8>(n - i >= 8 ? 0xFF : (1U << (n - i)) - 1);
    auto const block = _mm256_loadu_si256(reinterpret_cast<__m256i const*>(blocks + i));
    auto hash = _mm256_mullo_epi32(block, _mm256_set1_epi32(static_cast<int>(0x9E3779B1U)));
    hash = _mm256_xor_si256(hash, _mm256_srli_epi32(hash, 15));
    hash = _mm256_mullo_epi32(hash, _mm256_set1_epi32(static_cast<int>(0x85EBCA6BU)));
    hash = _mm256_xor_si256(hash, _mm256_srli_epi32(hash, 13));
    auto const chosen = _mm256_mask_cmple_epu32_mask(lanes, hash, _mm256_set1_epi32(static_cast<int>(threshold)));
    if (!chosen) continue;
    _mm256_mask_compressstoreu_epi32(blocks + kept, chosen, block);
    kept += static_cast<std::uint32_t>(__builtin_popcount(chosen));
  }
  return kept;
}

#else

RowKind of_row(std::uint64_t const* addresses, std::uint8_t const* sizes, std::uint32_t n, Numbering const& numbering,
               std::uint32_t const* before, std::uint32_t* now) {
  auto const granularity = std::uint64_t{1} << numbering.shift;
  std::uint64_t odd = 0;
  std::uint32_t changed = 0;
  for (std::uint32_t i = 0; i < n; ++i) {
    auto const address = addresses[i] & address_mask;
    odd |= (address >> 30) ^ numbering.region;
    odd |= (address & (granularity - 1)) + sizes[i] > granularity ? 1 : 0;
    auto const block = numbering.base | static_cast<std::uint32_t>((address & within_region) >> numbering.shift);
    changed |= block ^ before[i];
    now[i] = block;
  }
  return odd ? RowKind::irregular : changed ? RowKind::different : RowKind::same;
}

std::uint32_t sample(std::uint32_t* blocks, std::uint32_t n, std::uint32_t threshold) {
  std::uint32_t kept = 0;
  for (std::uint32_t i = 0; i < n; ++i)
    if (hash_of(blocks[i]) <= threshold) blocks[kept++] = blocks[i];
  return kept;
}

#endif

}  // namespace

namespace KERNELCAST_SEQ_ISA {
RowBlocks row_blocks() {
  return {of_row, sample};
}
}  // namespace KERNELCAST_SEQ_ISA

}  // namespace kernelcast::seq
