// The engine itself; compiled once per instruction-set level of the processor (KERNELCAST_SEQ_ISA) and chosen at run
// time, see distance.cpp.
//
// The tree: slots in order of last reference, one bit each. 64 slots are a word; counts_[0] has for each word the set
// bits before it in its group of 32 words, counts_[1] for each group the bits before it in its group of 32, and so on;
// the last level is absolute. Counts are kept right for all words up to the current one and set when a word is entered.
#include <algorithm>
#include <array>
#include <cstring>
#include <memory>

#include "sequential/distance.hpp"
#include "sequential/pages.hpp"
#include "sequential/window.hpp"

namespace kernelcast::seq {

namespace {

constexpr std::size_t table_entries = std::size_t{1} << 32;  // of blocks, and of slots
constexpr std::uint32_t first_capacity = 1 << 16;
constexpr std::uint32_t last_capacity = ~std::uint32_t{0} - 127;
constexpr std::uint32_t large = 1 << 17;  // blocks: from here on their data leaves the nearest caches

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
    Counts16 counts{};
    for (std::uint32_t t = 0; t < n; ++t) {
      if (slots[t] == 0) continue;
      auto const s = slots[t] - 1, word = s >> 6;
      if (word >> 5 != group) {
        if (removed > 0) {
          store(counts, &c0_[group << 5]);
          decrease_above(group, removed);
        }
        group = word >> 5;
        load(counts, &c0_[group << 5]);
        removed = 0;
      }
      ++removed;
      bits_[word] &= ~(std::uint64_t{1} << (s & 63));
      Counts16 one;
      load(one, behind<std::uint16_t>(word));
      counts += one;  // all bits: -1
    }
    if (removed == 0) return;
    store(counts, &c0_[group << 5]);
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

  // A group of 32 counts. Vectors of the compiler: as many registers as the level needs for one.
  using Counts16 [[gnu::vector_size(64)]] = std::uint16_t;
  using Counts32 [[gnu::vector_size(128)]] = std::uint32_t;
  template <class Counts, class T>
  static void load(Counts& counts, T const* at) {
    std::memcpy(&counts, at, sizeof counts);
  }
  template <class Counts, class T>
  static void store(Counts const& counts, T* at) {
    std::memcpy(at, &counts, sizeof counts);
  }
  // A group of entries, all bits of those behind `i` of its group, none of the others.
  template <class T>
  static T const* behind(std::uint32_t i) {
    static constexpr auto bits = [] {
      std::array<T, 64> out{};
      for (std::size_t k = 32; k < out.size(); ++k) out[k] = static_cast<T>(~T{0});
      return out;
    }();
    return &bits[31 - (i & 31)];
  }
  // n less in all entries behind `i` of its group of 32.
  template <class Counts, class T>
  static void decrease(T* of_all, std::uint32_t i, std::uint32_t n) {
    Counts counts, less;
    load(counts, &of_all[i & ~31U]);
    load(less, behind<T>(i));
    counts -= less & static_cast<T>(n);
    store(counts, &of_all[i & ~31U]);
  }
  // n less in all entries behind `i`; what lies behind `end` is set later.
  static void decrease_to(std::uint32_t* counts, std::uint32_t i, std::uint32_t end, std::uint32_t n) {
    for (++i; i <= end; ++i) counts[i] -= n;
  }
  // n slots of a group of 32 words are gone: in the counts above c0.
  void decrease_above(std::uint32_t group, std::uint32_t n) {
    live_ -= n;
    decrease<Counts16>(c1_.data(), group, n);
    if (group >> 5 == now_ >> 16) return;  // nothing behind it
    decrease<Counts32>(c2_.data(), group >> 5, n);
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
  void take(std::uint32_t const* blocks, std::uint32_t* distances, std::size_t following) override;
  void leave(std::uint32_t const* blocks, std::uint32_t n, std::uint32_t* distances) override;
  void enter(std::uint32_t const* blocks, std::uint32_t n) override;
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
  void from_tree(std::uint32_t missing, std::uint32_t const* blocks, std::uint32_t* distances);
  void to_tree(std::uint32_t leaving, std::uint32_t const* blocks);

  Window window_;
#endif
};

void Engine::enter(std::uint32_t const* blocks, std::uint32_t n) {
  for (std::uint32_t begin = 0; begin < n; begin += chunk) {
    if (tree_.full()) tree_.compact(slot_.data());
    auto const now = std::min<std::uint32_t>(n - begin, chunk);
    auto const first = tree_.append(blocks + begin, now) + 1;
    for (std::uint32_t i = 0; i < now; ++i) slot_[blocks[begin + i]] = first + i;
  }
}

// Those that left before lie above all others; they are counted, since the tree has them no more.
void Engine::leave(std::uint32_t const* blocks, std::uint32_t n, std::uint32_t* distances) {
#if KERNELCAST_SEQ_WINDOW
  if (auto const leaving = window_.empty()) to_tree(leaving, window_.before());
#endif
  constexpr std::uint32_t ahead = 3 * chunk;
  for (std::uint32_t begin = 0; begin < n; begin += chunk) {
    auto const now = std::min<std::uint32_t>(n - begin, chunk);
    alignas(64) std::uint32_t slots[chunk] = {};
    for (std::uint32_t i = begin + ahead; i < std::min<std::uint32_t>(n, begin + ahead + chunk); ++i)
      __builtin_prefetch(&slot_[blocks[i]], 1);
    for (std::uint32_t t = 0; t < now; ++t) slots[t] = slot_[blocks[begin + t]];
    for (std::uint32_t t = 0; t < now; ++t) {
      auto& distance = distances[begin + t];
      if (slots[t] == 0) {
        distance = cold;
        ++distinct_;
        continue;
      }
      // Of this chunk the tree still has all.
      auto const later = static_cast<std::uint32_t>(__builtin_popcount(above(slots, slots[t]) & ((1U << t) - 1)));
      distance = tree_.live() - 1 - tree_.rank(slots[t] - 1) + begin + t - later;
    }
    tree_.remove(slots, now);
  }
}

#if KERNELCAST_SEQ_WINDOW

// References that are not in the window: `missing` has a bit for each. distances[] holds what the window adds.
void Engine::from_tree(std::uint32_t missing, std::uint32_t const* blocks, std::uint32_t* distances) {
  alignas(64) std::uint32_t slots[chunk] = {}, ranks[chunk];
  std::uint32_t n = 0;
  for (auto left = missing; left; left &= left - 1) slots[n++] = slot_[blocks[__builtin_ctz(left)]];
  auto const live = tree_.live();
  bool rising = true;
  for (std::uint32_t t = 1; t < n; ++t) rising &= slots[t] > slots[t - 1];
  for (std::uint32_t t = 0; t < n; ++t) ranks[t] = slots[t] ? tree_.rank(slots[t] - 1) : 0;
  for (std::uint32_t t = 0; t < n; ++t, missing &= missing - 1) {
    auto const i = __builtin_ctz(missing);
    if (slots[t] == 0) {
      distances[i] = cold;
      ++distinct_;
      continue;
    }
    // Earlier ones of this chunk with a later slot are in the window's share already.
    auto const later = rising ? 0 : above(slots, slots[t]) & ((1U << t) - 1);
    distances[i] += live - 1 - ranks[t] - static_cast<std::uint32_t>(__builtin_popcount(later));
  }
  tree_.remove(slots, n);
}

void Engine::to_tree(std::uint32_t leaving, std::uint32_t const* blocks) {
  if (__builtin_expect(tree_.full(), 0)) tree_.compact(slot_.data());
  auto* const owners = tree_.owners_at_end();
  auto const first = tree_.now() + 1;
  std::uint32_t n = 0;
  for (; leaving; leaving &= leaving - 1) {
    auto const block = blocks[__builtin_ctz(leaving)];
    owners[n] = block;
    slot_[block] = first + n++;
  }
  tree_.append_bits(n);
}

void Engine::take(std::uint32_t const* blocks, std::uint32_t* distances, std::size_t following) {
  fetch_ahead(blocks, following);
  auto const [missing, leaving] = window_.look(blocks, distances);
  if (missing) from_tree(missing, blocks, distances);
  if (leaving) to_tree(leaving, window_.before());
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
