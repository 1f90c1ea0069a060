// Transaction and bank-pass counts against a checker that follows the definitions word by word with std::set, on random
// patterns, and against closed forms.
#include "emulator/observe/transactions.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "catch.hpp"

using namespace kernelcast::emu;

namespace {

struct Pattern {
  std::uint64_t mask = ~std::uint64_t{0};
  std::uint64_t base = 0;
  std::vector<std::uint32_t> offsets = std::vector<std::uint32_t>(64);
  unsigned bytes = 4;
  std::string kind;

  WaveAccess access() const { return {mask, base, offsets.data(), bytes}; }
  bool active(unsigned lane) const { return mask >> lane & 1; }
  std::uint64_t address(unsigned lane) const { return base + offsets[lane]; }
};

GlobalCounts naive_global(Pattern const& p) {
  GlobalCounts counts;
  for (unsigned w = 0; w < 3; ++w)
    for (unsigned begin = 0; begin < 64; begin += 16u << w)
      for (unsigned s = 0; s < 3; ++s) {
        std::set<std::uint64_t> segments;
        for (unsigned l = begin; l < begin + (16u << w); ++l)
          if (p.active(l))
            for (unsigned b = 0; b < p.bytes; ++b) segments.insert((p.address(l) + b) / (32u << s));
        counts.tx[w][s] += static_cast<std::uint16_t>(segments.size());
      }
  // The protocol of the CUDA C Programming Guide 4.2, F.3.2.2; every touched sector of a word is a request of its own.
  unsigned const largest = p.bytes == 1 ? 32 : p.bytes == 2 ? 64 : 128;
  for (unsigned begin = 0; begin < 64; begin += 16) {
    std::set<std::uint64_t> waiting;
    for (unsigned l = begin; l < begin + 16; ++l)
      if (p.active(l))
        for (unsigned b = 0; b < p.bytes; ++b) waiting.insert((p.address(l) + b) / 32 * 32);
    while (!waiting.empty()) {
      std::uint64_t segment = *waiting.begin() / largest * largest;
      unsigned size = largest;
      std::set<std::uint64_t> served;
      for (auto sector : waiting)
        if (sector / largest * largest == segment) served.insert(sector);
      for (; size > 32; size /= 2) {
        bool const lower = *served.begin() < segment + size / 2, upper = *served.rbegin() >= segment + size / 2;
        if (lower && upper) break;
        if (upper) segment += size / 2;
      }
      ++counts.cc13[size == 32 ? 0 : size == 64 ? 1 : 2];
      for (auto sector : served) waiting.erase(sector);
    }
  }
  return counts;
}

// Passes of the request of lanes [begin, end).
unsigned naive_request(Pattern const& p, unsigned begin, unsigned end, unsigned bank_bytes, unsigned banks,
                       bool one_broadcast) {
  std::map<std::set<std::uint64_t>, unsigned> lanes_of_words;  // the bank words that a lane uses
  for (unsigned l = begin; l < end; ++l) {
    if (!p.active(l)) continue;
    std::set<std::uint64_t> words;
    for (unsigned b = 0; b < p.bytes; ++b) words.insert((p.address(l) + b) / bank_bytes);
    ++lanes_of_words[words];
  }
  if (!one_broadcast) {
    std::map<std::uint64_t, std::set<std::uint64_t>> words_of_bank;
    for (auto const& [words, lanes] : lanes_of_words)
      for (auto word : words) words_of_bank[word % banks].insert(word);
    std::size_t passes = 0;
    for (auto const& [bank, words] : words_of_bank) passes = std::max(passes, words.size());
    return static_cast<unsigned>(passes);
  }
  unsigned passes = lanes_of_words.empty() ? 0 : ~0u;
  for (auto const& [broadcast, its_lanes] : lanes_of_words) {
    std::map<std::uint64_t, unsigned> queue;  // [bank]
    for (auto const& [words, lanes] : lanes_of_words)
      for (auto word : words) queue[word % banks] += words == broadcast ? 1 : lanes;
    unsigned longest = 0;
    for (auto const& [bank, length] : queue) longest = std::max(longest, length);
    passes = std::min(passes, longest);
  }
  return passes;
}

SharedCounts naive_shared(Pattern const& p) {
  SharedCounts counts;
  for (unsigned w = 0; w < 3; ++w)
    for (unsigned c = 0; c < 3; ++c) {
      unsigned const bank_bytes = c == 2 ? 8 : 4, banks = c == 0 ? 16 : 32;
      unsigned const wavefront = c == 0 ? 16 : 16u << w;
      unsigned const request = wavefront / std::max(1u, p.bytes / bank_bytes);
      for (unsigned begin = 0; begin < 64; begin += request)
        counts.passes[w][c] +=
            static_cast<std::uint16_t>(naive_request(p, begin, begin + request, bank_bytes, banks, c == 0));
    }
  return counts;
}

class Patterns {
 public:
  explicit Patterns(unsigned seed) : random_(seed) {}

  Pattern next(bool small) {
    Pattern p;
    static constexpr unsigned sizes[] = {1, 2, 4, 8, 16};
    p.bytes = sizes[below(5)];
    std::uint32_t const range = small ? 32768 : below(2) ? 4096 : 1u << (12 + below(19));
    std::uint32_t const start = below(range) / p.bytes * p.bytes;
    shape(p, range, start);
    mask(p);
    p.base = below(4) ? below(64) * 256 : below(1024) * p.bytes;
    if (!small && below(8) == 0) p.base += std::uint64_t{below(1000)} << 32;
    if (below(16) == 0) {  // words that are not aligned
      for (auto& offset : p.offsets) offset += below(4);
      p.base += below(16);
      p.kind += " unaligned";
    }
    return p;
  }

 private:
  std::uint32_t below(std::uint32_t n) { return static_cast<std::uint32_t>(random_() % n); }

  void shape(Pattern& p, std::uint32_t range, std::uint32_t start) {
    auto& o = p.offsets;
    switch (below(10)) {
      case 0:
        p.kind = "strided";
        {
          auto const k = below(70);
          for (unsigned l = 0; l < 64; ++l) o[l] = start + l * k * p.bytes;
        }
        break;
      case 1:
        p.kind = "descending";
        {
          auto const k = below(40);
          for (unsigned l = 0; l < 64; ++l) o[l] = start + (63 - l) * k * p.bytes;
        }
        break;
      case 2:
        p.kind = "uniform";
        for (auto& x : o) x = start;
        break;
      case 3:
        p.kind = "tile";
        {
          unsigned const width = 1u << below(6);
          auto const pitch = below(3000) * p.bytes;
          for (unsigned l = 0; l < 64; ++l) o[l] = start + l % width * p.bytes + l / width * pitch;
        }
        break;
      case 4:
        p.kind = "permuted";
        {
          std::iota(o.begin(), o.end(), 0u);
          std::shuffle(o.begin(), o.end(), random_);
          for (auto& x : o) x = start + x * p.bytes;
        }
        break;
      case 5:
        p.kind = "small table";
        {
          auto const n = 1 + below(1024 / p.bytes);
          for (auto& x : o) x = start + below(n) * p.bytes;
        }
        break;
      case 6:
        p.kind = "pairwise";
        for (unsigned l = 0; l < 64; ++l) o[l] = start + (l ^ (1u << below(6))) * p.bytes;
        break;
      case 7:
        p.kind = "few words";
        {
          auto const k = 1 + below(4);
          auto const d = below(300) * p.bytes;
          for (auto& x : o) x = start + below(k) * d;
        }
        break;
      case 8:
        p.kind = "consecutive";
        for (unsigned l = 0; l < 64; ++l) o[l] = start + l * p.bytes;
        break;
      default:
        p.kind = "random";
        for (auto& x : o) x = below(range) / p.bytes * p.bytes;
        break;
    }
  }

  void mask(Pattern& p) {
    switch (below(8)) {
      case 0:
        p.mask = random_();
        break;
      case 1:
        p.mask = random_() & random_() & random_() & random_();
        break;
      case 2:
        p.mask = ~std::uint64_t{0} >> below(64);
        break;
      case 3:
        p.mask = ~std::uint64_t{0} << below(64);
        break;
      case 4:
        p.mask = std::uint64_t{0xffff} << (16 * below(4));
        break;
      case 5: {
        std::uint64_t const halves[] = {0xffff0000ffff, 0xffff00000000ffff, 0xffff0000, 0x5555555555555555};
        p.mask = halves[below(4)] & random_();
      } break;
      default:
        break;
    }
  }

  std::mt19937_64 random_;
};

std::string describe(Pattern const& p) {
  std::string text = p.kind + " bytes=" + std::to_string(p.bytes) + " base=" + std::to_string(p.base) +
                     " mask=" + std::to_string(p.mask) + " offsets";
  for (auto offset : p.offsets) text += " " + std::to_string(offset);
  return text;
}

Pattern strided(unsigned bytes, std::uint32_t stride_bytes) {
  Pattern p;
  p.bytes = bytes;
  for (unsigned l = 0; l < 64; ++l) p.offsets[l] = l * stride_bytes;
  return p;
}

}  // namespace

TEST_CASE("global transactions equal the naive count on random patterns") {
  Patterns patterns(1);
  unsigned equal = 0;
  for (; equal < 120000; ++equal) {
    Pattern const p = patterns.next(false);
    if (!(count_global(p.access()) == naive_global(p))) FAIL(describe(p));
  }
  CHECK(equal == 120000);
}

TEST_CASE("shared-memory passes equal the naive count on random patterns") {
  Patterns patterns(2);
  unsigned equal = 0;
  for (; equal < 60000; ++equal) {
    Pattern const p = patterns.next(true);
    if (!(count_shared(p.access()) == naive_shared(p))) FAIL(describe(p));
  }
  CHECK(equal == 60000);
}

TEST_CASE("lanes on one address equal the naive count") {
  Patterns patterns(3);
  unsigned equal = 0;
  for (; equal < 50000; ++equal) {
    Pattern const p = patterns.next(true);
    std::map<std::uint32_t, unsigned> lanes;
    unsigned most = 0;
    for (unsigned l = 0; l < 64; ++l)
      if (p.active(l)) most = std::max(most, ++lanes[p.offsets[l]]);
    if (max_lanes_on_one_address(p.access()) != most) FAIL(describe(p));
  }
  CHECK(equal == 50000);
}

TEST_CASE("strided global accesses have closed forms") {
  for (unsigned bytes : {4u, 8u, 16u})
    for (unsigned k = 1; k <= 64; ++k) {
      auto const counts = count_global(strided(bytes, k * bytes).access());
      for (unsigned w = 0; w < 3; ++w)
        for (unsigned s = 0; s < 3; ++s) {
          // Lanes L of a wavefront touch every segment of their span while the stride is no longer than a segment.
          unsigned const lanes = 16u << w, segment = 32u << s, stride = k * bytes;
          unsigned expected = 0;
          for (unsigned begin = 0; begin < 64; begin += lanes)
            expected +=
                stride >= segment ? lanes : (begin + lanes - 1) * stride / segment - begin * stride / segment + 1;
          INFO("bytes " << bytes << " stride " << k << " w " << w << " s " << s);
          CHECK(counts.tx[w][s] == expected);
        }
    }
}

TEST_CASE("half-warp segments shrink as the CUDA guide says") {
  using Cc13 = std::array<std::uint16_t, 3>;
  CHECK(count_global(strided(4, 4).access()).cc13 == Cc13{0, 4, 0});    // 64 bytes in one half of a segment
  CHECK(count_global(strided(8, 8).access()).cc13 == Cc13{0, 0, 4});    // 128 bytes
  CHECK(count_global(strided(16, 16).access()).cc13 == Cc13{0, 0, 8});  // two segments of 128 bytes
  CHECK(count_global(strided(2, 2).access()).cc13 == Cc13{4, 0, 0});    // 32 bytes
  CHECK(count_global(strided(1, 1).access()).cc13 == Cc13{4, 0, 0});    // 16 bytes
  CHECK(count_global(strided(4, 8).access()).cc13 == Cc13{0, 0, 4});
  CHECK(count_global(strided(4, 128).access()).cc13 == Cc13{64, 0, 0});
  // The guide's example: a half-warp of 4-byte words that begins 4 words before a segment's end takes one segment of 32
  // bytes and one of 64.
  auto shifted = strided(4, 4);
  shifted.mask = 0xffff;
  shifted.base = 128 - 16;
  CHECK(count_global(shifted.access()).cc13 == Cc13{1, 1, 0});
}

TEST_CASE("bank-conflict degrees of strided accesses are greatest common divisors") {
  for (unsigned k = 1; k <= 64; ++k) {
    auto const counts = count_shared(strided(4, 4 * k).access());
    INFO("stride " << k);
    CHECK(counts.passes[1][1] == 2 * std::gcd(k, 32u));                    // two warps on 32 banks
    CHECK(counts.passes[1][0] == 4 * std::gcd(k, 16u));                    // four half-warps on 16 banks
    CHECK(counts.passes[2][1] == 2 * std::gcd(k, 32u));                    // 64 lanes: two words per bank at stride 1
    CHECK(counts.passes[0][1] == 4 * std::max(1u, std::gcd(k, 32u) / 2));  // 16 lanes
  }
}

TEST_CASE("wide shared accesses are judged per half and quarter of the wavefront") {
  auto const eight = count_shared(strided(8, 8).access());
  CHECK(eight.passes[1][1] == 4);  // two halves for each of two warps
  CHECK(eight.passes[1][2] == 2);  // an 8-byte bank serves a lane at once
  auto const sixteen = count_shared(strided(16, 16).access());
  CHECK(sixteen.passes[1][1] == 8);
  CHECK(sixteen.passes[1][2] == 4);
  CHECK(count_shared(strided(8, 16).access()).passes[1][1] == 8);  // every second bank pair: 2 passes per half
  CHECK(count_shared(strided(16, 32).access()).passes[1][1] == 16);
}

TEST_CASE("on 16 banks wide words are judged per half and quarter of a half-warp, one of them is broadcast") {
  CHECK(count_shared(strided(8, 8).access()).passes[1][0] == 4 * 2);
  CHECK(count_shared(strided(16, 16).access()).passes[1][0] == 4 * 4);
  CHECK(count_shared(strided(16, 0).access()).passes[1][0] == 4 * 4);
  CHECK(count_shared(strided(16, 32).access()).passes[1][0] == 4 * 4 * 2);
}

TEST_CASE("a broadcast is free, on 16 banks for one word only") {
  auto const uniform = count_shared(strided(4, 0).access());
  CHECK(uniform.passes[0] == std::array<std::uint16_t, 3>{4, 4, 4});
  CHECK(uniform.passes[1] == std::array<std::uint16_t, 3>{4, 2, 2});
  CHECK(uniform.passes[2] == std::array<std::uint16_t, 3>{4, 1, 1});
  Pattern two;  // two words in different banks, eight lanes of a half-warp each
  for (unsigned l = 0; l < 64; ++l) two.offsets[l] = l % 2 * 4;
  CHECK(count_shared(two.access()).passes[1] == std::array<std::uint16_t, 3>{4 * 8, 2, 2});
}
