// The engine itself; compiled once per instruction-set level of the processor (KERNELCAST_SEQ_ISA) and chosen at run
// time, see distance.cpp.
//
// The tree: slots in order of last reference, one bit each. 64 slots are a word; counts_[0] has for each word the set
// bits before it in its group of 32 words, counts_[1] for each group the bits before it in its group of 32, and so on;
// the last level is absolute. Counts are kept right for all words up to the current one and set when a word is entered.
#include <sys/mman.h>

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

constexpr std::size_t table_entries = std::size_t{1} << 32;

// Zeroed memory that takes pages only where it is touched.
template <class T>
class Pages {
 public:
  explicit Pages(std::size_t n) : n_(n) {
    auto* const p = mmap(nullptr, bytes(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED) throw std::bad_alloc();
    p_ = static_cast<T*>(p);
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
  explicit Tree(std::uint32_t capacity)
      : capacity_(capacity),
        bits_(capacity / 64 + 1),
        owner_(capacity + chunk),
        c0_(capacity / 64 + 33),
        c1_((capacity >> 11) + 33),
        c2_((capacity >> 16) + 33),
        c3_((capacity >> 21) + 33) {}

  bool full() const { return now_ + chunk >= capacity_; }
  std::uint32_t live() const { return live_; }
  std::uint32_t now() const { return now_; }
  std::size_t bytes() const { return bits_.bytes() + owner_.bytes() + c0_.bytes() + c1_.bytes() + c2_.bytes(); }

  // Used slots before `s`, which is used.
  std::uint32_t rank(std::uint32_t s) const {
    auto const below = bits_[s >> 6] & ((std::uint64_t{1} << (s & 63)) - 1);
    return static_cast<std::uint32_t>(__builtin_popcountll(below)) + c0_[s >> 6] + c1_[s >> 11] + c2_[s >> 16] +
           c3_[s >> 21];
  }
  void remove(std::uint32_t s) {
    bits_[s >> 6] &= ~(std::uint64_t{1} << (s & 63));
    decrease(c0_.data(), s >> 6);
    decrease(c1_.data(), s >> 11);
    decrease(c2_.data(), s >> 16);
    auto const end = now_ >> 21;
    for (auto i = (s >> 21) + 1; i <= end; ++i) --c3_[i];
    --live_;
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
  // f(slot, block) for each used slot, in order.
  template <class F>
  void each(F f) const {
    for (std::uint32_t word = 0; word <= now_ >> 6; ++word)
      for (auto left = bits_[word]; left; left &= left - 1) {
        auto const slot = word * 64 + static_cast<std::uint32_t>(__builtin_ctzll(left));
        f(slot, owner_[slot]);
      }
  }

 private:
  // One less in all entries behind `i` of its group of 32.
  static void decrease(std::uint16_t* counts, std::uint32_t i) {
    auto* const group = counts + (i & ~31U);
#if KERNELCAST_SEQ_WINDOW
    auto const v = _mm512_loadu_si512(group);
    _mm512_storeu_si512(
        group, _mm512_mask_sub_epi16(v, static_cast<__mmask32>(0xFFFFFFFEU << (i & 31)), v, _mm512_set1_epi16(1)));
#else
    for (auto k = (i & 31) + 1; k < 32; ++k) --group[k];
#endif
  }
  static void decrease(std::uint32_t* counts, std::uint32_t i) {
    auto* const group = counts + (i & ~31U);
    for (auto k = (i & 31) + 1; k < 32; ++k) --group[k];
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

  std::uint32_t capacity_, now_ = 0, live_ = 0;
  Pages<std::uint64_t> bits_;
  Pages<std::uint32_t> owner_;
  Pages<std::uint16_t> c0_, c1_;
  Pages<std::uint32_t> c2_, c3_;
};

class Engine final : public DistanceEngine {
 public:
  Engine() : slot_(table_entries), tree_(std::make_unique<Tree>(first_capacity)) {
#if KERNELCAST_SEQ_WINDOW
    for (std::uint32_t i = 0; i < chunk; ++i) previous_[i] = 0;
    std::memset(positions_, -1, sizeof positions_);
#endif
  }
  void take(std::uint32_t const* blocks, std::uint32_t* distances) override;
  std::uint64_t distinct() const override { return distinct_; }
  std::size_t memory_bytes() const override { return tree_->bytes() + distinct_ * 4; }

 private:
  static constexpr std::uint32_t first_capacity = 1 << 16;

  // Closes the gaps that removed slots have left, in a tree of at least twice as many slots as there are blocks.
  __attribute__((noinline)) void compact() {
    auto capacity = first_capacity;
    while (capacity < std::uint64_t{tree_->live()} * 2) capacity += capacity < (1U << 24) ? capacity : 1U << 24;
    auto fresh = std::make_unique<Tree>(capacity);
    tree_->each([&](std::uint32_t, std::uint32_t block) { slot_[block] = fresh->append(&block, 1) + 1; });
    tree_ = std::move(fresh);
  }

  Pages<std::uint32_t> slot_;  // of each block, from 1; 0: not in the tree
  std::unique_ptr<Tree> tree_;
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
  auto const live = tree_->live();
  for (std::uint32_t t = 0; t < n; ++t) ranks[t] = slots[t] ? tree_->rank(slots[t] - 1) : 0;
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
  for (std::uint32_t t = 0; t < n; ++t)
    if (slots[t] != 0) tree_->remove(slots[t] - 1);
}

// References of previous_ that were the last ones of their blocks, and leave the window.
void Engine::to_tree(std::uint32_t leaving) {
  if (__builtin_expect(tree_->full(), 0)) compact();
  auto const n = static_cast<std::uint32_t>(__builtin_popcount(leaving));
  auto const blocks = _mm512_maskz_compress_epi32(static_cast<__mmask16>(leaving), _mm512_load_si512(previous_));
  auto const first = tree_->now() + 1;
  _mm512_storeu_si512(tree_->owners_at_end(), blocks);
  alignas(64) std::uint32_t names[chunk];
  _mm512_store_si512(names, blocks);
  for (std::uint32_t t = 0; t < n; ++t) slot_[names[t]] = first + t;
  tree_->append_bits(n);
}

void Engine::take(std::uint32_t const* blocks, std::uint32_t* distances) {
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

void Engine::take(std::uint32_t const* blocks, std::uint32_t* distances) {
  if (tree_->full()) compact();
  for (std::size_t i = 0; i < chunk; ++i) {
    auto& slot = slot_[blocks[i]];
    if (slot == 0) {
      distances[i] = cold;
      ++distinct_;
    } else {
      distances[i] = tree_->live() - 1 - tree_->rank(slot - 1);
      tree_->remove(slot - 1);
    }
    slot = tree_->append(&blocks[i], 1) + 1;
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
