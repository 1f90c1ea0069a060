// The engine itself; compiled once per instruction-set level of the processor (KERNELCAST_SEQ_ISA) and chosen at run
// time, see distance.cpp.
//
// The tree: slots in order of last reference, one bit each. 64 slots are a word; counts_[0] has for each word the set
// bits before it in its group of 32 words, counts_[1] for each group the bits before it in its group of 32, and so on;
// the last level is absolute. Counts are kept right for all words up to the current one and set when a word is entered.
#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>

#include "seq/distance.hpp"
#if defined(__AVX512F__) && defined(__AVX512CD__) && defined(__AVX512BW__) && defined(__AVX512VL__)
#include <immintrin.h>
#define KERNELCAST_SEQ_WINDOW 1
#else
#define KERNELCAST_SEQ_WINDOW 0
#endif

#ifdef __clang__
#define KERNELCAST_SEQ_UNROLL _Pragma("clang loop unroll(full)")
#else
#define KERNELCAST_SEQ_UNROLL _Pragma("GCC unroll 16")
#endif

namespace kernelcast::seq {

namespace {

constexpr std::size_t table_entries = std::size_t{1} << 32;  // of blocks, and of slots
constexpr std::uint32_t first_capacity = 1 << 16;
constexpr std::uint32_t last_capacity = ~std::uint32_t{0} - 127;
constexpr std::uint32_t large = 1 << 17;  // blocks: from here on their data leaves the nearest caches

// Zeroed memory that takes pages only where it is touched.
enum class PageAccess { sequential, random };  // random: large pages, where the system has them
template <class T>
class Pages {
 public:
  Pages(std::size_t n, PageAccess access) : n_(n) {
    auto* const p = mmap(nullptr, bytes(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED) throw std::bad_alloc();
    p_ = static_cast<T*>(p);
    if (access == PageAccess::random) madvise(p, bytes(), MADV_HUGEPAGE);
  }
  ~Pages() { munmap(p_, bytes()); }
  Pages(Pages const&) = delete;
  Pages& operator=(Pages const&) = delete;
  T& operator[](std::size_t i) const { return p_[i]; }
  T* data() const { return p_; }
  std::size_t bytes() const { return (n_ * sizeof(T) + 4095) / 4096 * 4096 + 4096; }

 private:
  std::size_t n_;
  T* p_;
};

// Slots of the blocks in the order of their last reference.
class Tree {
 public:
  bool full() const { return now_ + chunk >= capacity_; }
  std::uint32_t live() const { return live_; }
  std::uint32_t now() const { return now_; }
  // What slots that were ever used take.
  std::size_t bytes() const { return std::size_t{max_used_} * 4 + max_used_ / 8 + max_used_ / 32; }

  // Used slots before `s`, which is used.
  std::uint32_t rank(std::uint32_t s) const {
    auto const below = bits_[s >> 6] & ((std::uint64_t{1} << (s & 63)) - 1);
    return static_cast<std::uint32_t>(__builtin_popcountll(below)) + c0_[s >> 6] + c1_[s >> 11] + c2_[s >> 16] +
           c3_[s >> 21];
  }
  // Frees the used ones among n slots, given from 1; neighbours are cheap.
  void remove(std::uint32_t const* slots, std::uint32_t n) {
    std::uint32_t group = ~std::uint32_t{0}, removed = 0;
#if KERNELCAST_SEQ_WINDOW
    auto counts = _mm512_setzero_si512();
#endif
    for (std::uint32_t t = 0; t < n; ++t) {
      if (slots[t] == 0) continue;
      auto const s = slots[t] - 1, word = s >> 6;
      if (word >> 5 != group) {
#if KERNELCAST_SEQ_WINDOW
        if (removed > 0) _mm512_storeu_si512(&c0_[group << 5], counts);
        counts = _mm512_loadu_si512(&c0_[word & ~31U]);
#endif
        if (removed > 0) decrease_above(group, removed);
        group = word >> 5;
        removed = 0;
      }
      ++removed;
      bits_[word] &= ~(std::uint64_t{1} << (s & 63));
#if KERNELCAST_SEQ_WINDOW
      counts = _mm512_mask_sub_epi16(counts, behind(word), counts, _mm512_set1_epi16(1));
#else
      decrease(c0_.data(), word, 1);
#endif
    }
    if (removed == 0) return;
#if KERNELCAST_SEQ_WINDOW
    _mm512_storeu_si512(&c0_[group << 5], counts);
#endif
    decrease_above(group, removed);
  }
  // Appends n <= 16 blocks; gives the slot of the first.
  std::uint32_t append(std::uint32_t const* blocks, std::uint32_t n) {
    auto const first = now_;
    for (std::uint32_t i = 0; i < n; ++i) owner_[first + i] = blocks[i];
    append_bits(n);
    return first;
  }
  std::uint32_t* owners_at_end() { return &owner_[now_]; }
  void append_bits(std::uint32_t n) {
    auto const word = now_ >> 6, bit = now_ & 63;
    auto const ones = (std::uint64_t{1} << n) - 1;
    bits_[word] |= ones << bit;
    now_ += n;
    live_ += n;
    if (now_ >> 6 == word) return;
    if (bit + n > 64) bits_[word + 1] |= ones >> (64 - bit);
    enter(word + 1);
  }
  // Closes the gaps that removed slots have left; afterwards there is room for three times as many as are used.
  // slot_of[block] is set anew, from 1.
  void compact(std::uint32_t* slot_of) {
    std::uint32_t used = 0;
    auto const words = (now_ >> 6) + 1;
    for (std::uint32_t word = 0; word < words; ++word)
      for (auto left = bits_[word]; left; left &= left - 1) {
        auto const slot = word * 64 + static_cast<std::uint32_t>(__builtin_ctzll(left));
        __builtin_prefetch(&slot_of[owner_[slot + ahead]], 1);
        auto const block = owner_[slot];
        owner_[used] = block;
        slot_of[block] = ++used;
      }
    max_used_ = std::max(max_used_, now_);
    now_ = used;
    for (std::uint32_t word = 0; word < words; ++word) {
      auto const filled = used / 64;
      bits_[word] = word < filled ? ~std::uint64_t{0} : word > filled ? 0 : (std::uint64_t{1} << (used & 63)) - 1;
      c0_[word] = static_cast<std::uint16_t>((word & 31) << 6);
      if ((word & 31) == 0) c1_[word >> 5] = static_cast<std::uint16_t>((word >> 5 & 31) << 11);
      if ((word & 1023) == 0) c2_[word >> 10] = (word >> 10 & 31) << 16;
      if ((word & 32767) == 0) c3_[word >> 15] = word << 6;
    }
    while (capacity_ / 3 < live_ && capacity_ < last_capacity)
      capacity_ += std::min(capacity_ < 1U << 24 ? capacity_ : 1U << 24, last_capacity - capacity_);
  }
  void prefetch(std::uint32_t slot) const {
    __builtin_prefetch(&bits_[slot >> 6], 1);
    __builtin_prefetch(&c0_[slot >> 6], 1);
  }

 private:
  static constexpr std::uint32_t ahead = 24;  // slots, in compact()

#if KERNELCAST_SEQ_WINDOW
  // The entries behind `i` of its group of 32.
  static __mmask32 behind(std::uint32_t i) { return static_cast<__mmask32>(0xFFFFFFFEU << (i & 31)); }
#endif
  // n less in all entries behind `i` of its group of 32.
  static void decrease(std::uint16_t* counts, std::uint32_t i, std::uint32_t n) {
    auto* const group = counts + (i & ~31U);
#if KERNELCAST_SEQ_WINDOW
    auto const v = _mm512_loadu_si512(group);
    _mm512_storeu_si512(group, _mm512_mask_sub_epi16(v, behind(i), v, _mm512_set1_epi16(static_cast<short>(n))));
#else
    for (auto k = (i & 31) + 1; k < 32; ++k) group[k] = static_cast<std::uint16_t>(group[k] - n);
#endif
  }
  static void decrease(std::uint32_t* counts, std::uint32_t i, std::uint32_t n) {
    auto* const group = counts + (i & ~31U);
#if KERNELCAST_SEQ_WINDOW
    for (unsigned half = 0; half < 2; ++half) {
      auto const v = _mm512_loadu_si512(group + 16 * half);
      auto const some = static_cast<__mmask16>(behind(i) >> (16 * half));
      _mm512_storeu_si512(group + 16 * half, _mm512_mask_sub_epi32(v, some, v, _mm512_set1_epi32(static_cast<int>(n))));
    }
#else
    for (auto k = (i & 31) + 1; k < 32; ++k) group[k] -= n;
#endif
  }
  // n less in all entries behind `i`; what lies behind `end` is set later.
  static void decrease_to(std::uint32_t* counts, std::uint32_t i, std::uint32_t end, std::uint32_t n) {
#if KERNELCAST_SEQ_WINDOW
    for (auto first = (i + 1) & ~15U; first <= end; first += 16) {
      auto const some = first > i ? 0xFFFFU : 0xFFFFU << (i + 1 - first);
      auto const v = _mm512_loadu_si512(counts + first);
      _mm512_storeu_si512(counts + first, _mm512_mask_sub_epi32(v, static_cast<__mmask16>(some), v,
                                                                _mm512_set1_epi32(static_cast<int>(n))));
    }
#else
    for (++i; i <= end; ++i) counts[i] -= n;
#endif
  }
  // n slots of a group of 32 words are gone: in the counts above c0.
  void decrease_above(std::uint32_t group, std::uint32_t n) {
    live_ -= n;
    decrease(c1_.data(), group, n);
    if (group >> 5 == now_ >> 16) return;  // nothing behind it
    decrease(c2_.data(), group >> 5, n);
    decrease_to(c3_.data(), group >> 10, now_ >> 21, n);
  }
  // Word w is the current one from now on: all slots before it are final but for removals.
  void enter(std::uint32_t w) {
    auto before = static_cast<std::uint32_t>(__builtin_popcountll(bits_[w - 1])) + c0_[w - 1];
    if ((w & 31) != 0) {
      c0_[w] = static_cast<std::uint16_t>(before);
      return;
    }
    c0_[w] = 0;
    auto const g = w >> 5;
    before += c1_[g - 1];
    if ((g & 31) != 0) {
      c1_[g] = static_cast<std::uint16_t>(before);
      return;
    }
    c1_[g] = 0;
    auto const h = g >> 5;
    before += c2_[h - 1];
    if ((h & 31) != 0) {
      c2_[h] = before;
      return;
    }
    c2_[h] = 0;
    c3_[h >> 5] = before + c3_[(h >> 5) - 1];
  }

  using Access = PageAccess;
  std::uint32_t capacity_ = first_capacity, now_ = 0, live_ = 0, max_used_ = 0;
  Pages<std::uint64_t> bits_{table_entries / 64 + 1, Access::random};
  Pages<std::uint32_t> owner_{table_entries + chunk + ahead, Access::sequential};
  Pages<std::uint16_t> c0_{table_entries / 64 + 33, Access::sequential},
      c1_{(table_entries >> 11) + 33, Access::sequential};
  Pages<std::uint32_t> c2_{(table_entries >> 16) + 33, Access::sequential},
      c3_{(table_entries >> 21) + 33, Access::sequential};
};

class Engine final : public DistanceEngine {
 public:
  Engine() {
#if KERNELCAST_SEQ_WINDOW
    for (std::uint32_t i = 0; i < chunk; ++i) previous_[i] = 0;
    std::memset(positions_, -1, sizeof positions_);
#endif
  }
  void take(std::uint32_t const* blocks, std::uint32_t* distances, std::size_t following) override;
  std::uint64_t distinct() const override { return distinct_; }
  std::size_t memory_bytes() const override { return tree_.bytes() + distinct_ * 4; }

 private:
  // Far from the nearest caches: the slots of the chunk after the next, the words of the next one's slots.
  void fetch_ahead(std::uint32_t const* blocks, std::size_t following) const {
    if (tree_.live() < large || following < 2 * chunk) return;
    for (std::size_t i = 2 * chunk; i < 3 * chunk; ++i) __builtin_prefetch(&slot_[blocks[i]], 1);
    for (std::size_t i = chunk; i < 2 * chunk; ++i)
      if (auto const slot = slot_[blocks[i]]) tree_.prefetch(slot - 1);
  }

  Pages<std::uint32_t> slot_{table_entries, PageAccess::random};  // of each block, from 1; 0: not in the tree
  Tree tree_;
  std::uint64_t distinct_ = 0;
#if KERNELCAST_SEQ_WINDOW
  void from_tree(std::uint32_t missing, __m512i blocks, std::uint32_t* distances);
  void to_tree(std::uint32_t leaving);

  alignas(64) std::uint32_t previous_[chunk];  // the 16 references before
  alignas(16) std::int8_t positions_[chunk];   // the place of each one's last reference among them, or -1
  std::uint32_t referenced_again_ = 0;         // of previous_, within previous_
  bool first_ = true;
#endif
};

#if KERNELCAST_SEQ_WINDOW

// References that are not in the window: `missing` has a bit for each. distances[] holds what the window adds.
void Engine::from_tree(std::uint32_t missing, __m512i blocks, std::uint32_t* distances) {
  alignas(64) std::uint32_t slots[chunk], ranks[chunk];
  auto const wanted = _mm512_maskz_compress_epi32(static_cast<__mmask16>(missing), blocks);
  auto const n = static_cast<std::uint32_t>(__builtin_popcount(missing));
  alignas(64) std::uint32_t names[chunk];
  _mm512_store_si512(names, wanted);
  for (std::uint32_t t = 0; t < n; ++t) slots[t] = slot_[names[t]];
  for (std::uint32_t t = n; t < chunk; ++t) slots[t] = 0;
  auto const all = _mm512_load_si512(slots);
  auto const live = tree_.live();
  for (std::uint32_t t = 0; t < n; ++t) ranks[t] = slots[t] ? tree_.rank(slots[t] - 1) : 0;
  for (std::uint32_t t = 0; t < n; ++t, missing &= missing - 1) {
    auto const i = __builtin_ctz(missing);
    if (slots[t] == 0) {
      distances[i] = cold;
      ++distinct_;
      continue;
    }
    // Earlier ones of this chunk with a later slot are in the window's share already.
    auto const later =
        static_cast<std::uint32_t>(_mm512_cmpgt_epu32_mask(all, _mm512_set1_epi32(static_cast<int>(slots[t])))) &
        ((1U << t) - 1);
    distances[i] += live - 1 - ranks[t] - static_cast<std::uint32_t>(__builtin_popcount(later));
  }
  tree_.remove(slots, n);
}

// References of previous_ that were the last ones of their blocks, and leave the window.
void Engine::to_tree(std::uint32_t leaving) {
  if (__builtin_expect(tree_.full(), 0)) tree_.compact(slot_.data());
  auto const n = static_cast<std::uint32_t>(__builtin_popcount(leaving));
  auto const blocks = _mm512_maskz_compress_epi32(static_cast<__mmask16>(leaving), _mm512_load_si512(previous_));
  auto const first = tree_.now() + 1;
  _mm512_storeu_si512(tree_.owners_at_end(), blocks);
  alignas(64) std::uint32_t names[chunk];
  _mm512_store_si512(names, blocks);
  for (std::uint32_t t = 0; t < n; ++t) slot_[names[t]] = first + t;
  tree_.append_bits(n);
}

void Engine::take(std::uint32_t const* blocks, std::uint32_t* distances, std::size_t following) {
  fetch_ahead(blocks, following);
  auto const now = _mm512_loadu_si512(blocks);
  auto const before = _mm512_load_si512(previous_);
  // The last earlier place of each block: among these 16 (16..31), else among the 16 before (0..15), else -1.
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
  auto const place = _mm512_mask_mov_epi32(place_before, repeated, place_here);
  auto const found_before = static_cast<std::uint32_t>(_mm512_reduce_or_epi32(in_before));

  alignas(16) std::int8_t places[chunk];
  auto const place_bytes = _mm512_cvtepi32_epi8(place);
  _mm_store_si128(reinterpret_cast<__m128i*>(places), place_bytes);
  auto const window = _mm256_set_m128i(place_bytes, _mm_load_si128(reinterpret_cast<__m128i const*>(positions_)));
  auto const missing = static_cast<std::uint32_t>(_mm_movemask_epi8(place_bytes));
  // Distinct blocks between the two: places after the earlier one whose own last place lies not after it.
  auto const filled = first_ ? 0xFFFF0000U : 0xFFFFFFFFU;
  KERNELCAST_SEQ_UNROLL
  for (std::size_t i = 0; i < chunk; ++i) {
    auto distinct = static_cast<std::uint64_t>(_mm256_cmple_epi8_mask(window, _mm256_set1_epi8(places[i]))) & filled;
    distinct &= (std::uint64_t{1} << (chunk + i)) - 1;
    distances[i] = static_cast<std::uint32_t>(__builtin_popcountll(distinct >> (places[i] + 1)));
  }
  if (missing) from_tree(missing, now, distances);
  auto const leaving = first_ ? 0 : 0xFFFFU & ~referenced_again_ & ~found_before;
  if (leaving) to_tree(leaving);
  first_ = false;
  auto const here = _mm512_sub_epi32(place_here, _mm512_set1_epi32(16));
  referenced_again_ =
      static_cast<std::uint32_t>(_mm512_reduce_or_epi32(_mm512_maskz_sllv_epi32(repeated, _mm512_set1_epi32(1), here)));
  _mm512_store_si512(previous_, now);
  auto const own = _mm512_mask_mov_epi32(_mm512_set1_epi32(-1), repeated, here);
  _mm_store_si128(reinterpret_cast<__m128i*>(positions_), _mm512_cvtepi32_epi8(own));
}

#else

void Engine::take(std::uint32_t const* blocks, std::uint32_t* distances, std::size_t following) {
  fetch_ahead(blocks, following);
  if (tree_.full()) tree_.compact(slot_.data());
  for (std::size_t i = 0; i < chunk; ++i) {
    auto& slot = slot_[blocks[i]];
    if (slot == 0) {
      distances[i] = cold;
      ++distinct_;
    } else {
      distances[i] = tree_.live() - 1 - tree_.rank(slot - 1);
      tree_.remove(&slot, 1);
    }
    slot = tree_.append(&blocks[i], 1) + 1;
  }
}

#endif

}  // namespace

namespace KERNELCAST_SEQ_ISA {
std::unique_ptr<DistanceEngine> make() {
  return std::make_unique<Engine>();
}
}  // namespace KERNELCAST_SEQ_ISA

}  // namespace kernelcast::seq
