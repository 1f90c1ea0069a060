#include <cmath>
#include <list>
#include <random>
#include <set>

#include "catch.hpp"
#include "sequential/distance.hpp"
#include "sequential/rows.hpp"

using namespace kernelcast::seq;

namespace {

// The definition: blocks in the order of their last reference; the distance is the place of the block in it.
std::vector<std::uint32_t> naive(std::vector<std::uint32_t> const& blocks) {
  std::list<std::uint32_t> recent;
  std::vector<std::uint32_t> out;
  for (auto const block : blocks) {
    std::uint32_t place = 0;
    auto at = recent.begin();
    while (at != recent.end() && *at != block) ++at, ++place;
    out.push_back(at == recent.end() ? cold : place);
    if (at != recent.end()) recent.erase(at);
    recent.push_front(block);
  }
  return out;
}

std::vector<std::uint32_t> by_engine(DistanceEngine& engine, std::vector<std::uint32_t> blocks) {
  auto const n = blocks.size();
  while (blocks.size() % chunk != 0) blocks.push_back(~std::uint32_t{0} - static_cast<std::uint32_t>(blocks.size()));
  std::vector<std::uint32_t> out(blocks.size());
  for (std::size_t i = 0; i < blocks.size(); i += chunk) engine.take(&blocks[i], &out[i]);
  out.resize(n);
  return out;
}

// Random, and what is hard for a window of 16, for words of 64 slots and for compaction.
std::vector<std::uint64_t> trace(std::mt19937& random, unsigned kind) {
  auto const below = [&](std::uint64_t n) { return random() % n; };
  std::size_t const length = 1 + below(3000);
  std::vector<std::uint64_t> out;
  switch (kind % 8) {
    case 0: {  // uniform over a small or large set
      auto const set = std::uint64_t{1} << below(12);
      for (std::size_t i = 0; i < length; ++i) out.push_back(below(set) * 8);
      break;
    }
    case 1: {  // round and round: every distance is the same
      auto const period = 1 + below(300);
      for (std::size_t i = 0; i < length; ++i) out.push_back(i % period * 8);
      break;
    }
    case 2: {  // there and back
      auto const period = 1 + below(200);
      for (std::size_t i = 0; i < length; ++i) {
        auto const at = i % (2 * period);
        out.push_back((at < period ? at : 2 * period - 1 - at) * 8);
      }
      break;
    }
    case 3:  // never twice
      for (std::size_t i = 0; i < length; ++i) out.push_back(i * 8);
      break;
    case 4:  // a few hot blocks between new ones
      for (std::size_t i = 0; i < length; ++i) out.push_back(below(3) == 0 ? (1000000 + i) * 8 : below(5) * 8);
      break;
    case 5: {  // streams of a stencil
      auto const row = 1 + below(40);
      for (std::size_t i = row; out.size() < length; ++i)
        for (auto const at : {i, i - 1, i + 1, i - row, i + row}) out.push_back(at * 8);
      break;
    }
    case 6: {  // repetitions right at the window's edge
      auto const gap = 14 + below(6);
      for (std::size_t i = 0; i < length; ++i) out.push_back((i % gap == 0 ? 0 : i) * 8);
      break;
    }
    default:  // bytes anywhere, far apart
      for (std::size_t i = 0; i < length; ++i) out.push_back((below(3) << 31) + below(4096));
  }
  return out;
}

// What is made meanwhile is of this level of instructions; afterwards of the highest again.
struct OfLevel {
  explicit OfLevel(std::string const& level) { REQUIRE(use_distance_level(level)); }
  OfLevel(OfLevel const&) = delete;
  OfLevel& operator=(OfLevel const&) = delete;
  ~OfLevel() { use_distance_level(distance_levels().back()); }
};
RowBlocks row_blocks_of(std::string const& level) {
  OfLevel const of_level(level);
  return row_blocks();
}

// A descriptor of accesses of these sizes.
struct Described {
  explicit Described(std::vector<std::uint8_t> const& sizes) {
    for (std::size_t place = 0; place < sizes.size() + 1 + sizes_beyond; ++place) {
      auto const at = place % (sizes.size() + 1);
      round.push_back(at == 0 ? 0 : sizes[at - 1]);
    }
    row.accesses = static_cast<std::uint32_t>(sizes.size());
    row.sizes = round.data();
  }
  Described(Described const&) = delete;
  Described& operator=(Described const&) = delete;
  std::vector<std::uint8_t> round;
  RowDescriptor row{};
};

}  // namespace

TEST_CASE("the paper's example: a c d b c e g e d d") {
  auto const engine = make_distance_engine();
  auto const got = by_engine(*engine, {0, 2, 3, 1, 2, 4, 6, 4, 3, 3});
  CHECK(got == std::vector<std::uint32_t>{cold, cold, cold, cold, 2, cold, cold, 1, 4, 0});
}

TEST_CASE("stack distances equal the list's on 200 traces at every granularity") {
  for (auto const& level : distance_levels()) {
    OfLevel const of_level(level);
    std::mt19937 random(7);
    for (unsigned t = 0; t < 200; ++t) {
      auto const addresses = trace(random, t);
      for (unsigned const shift : {3U, 6U, 7U}) {
        auto const engine = make_distance_engine();
        BlockNumbers numbers(shift);
        std::vector<std::uint32_t> blocks;
        for (auto const a : addresses) blocks.push_back(numbers(a));
        INFO(level << ", trace " << t << ", shift " << shift);
        REQUIRE(by_engine(*engine, blocks) == naive(blocks));
      }
    }
  }
}

TEST_CASE("slots are closed up without losing an order") {
  for (auto const& level : distance_levels()) {
    OfLevel const of_level(level);
    auto const engine = make_distance_engine();
    // 1000 blocks round and round, 300 times the first capacity of the tree: every distance is 999.
    std::vector<std::uint32_t> blocks(16 * 20000), got(blocks.size());
    for (std::size_t i = 0; i < blocks.size(); ++i) blocks[i] = static_cast<std::uint32_t>(i % 1000);
    for (std::size_t i = 0; i < blocks.size(); i += chunk) engine->take(&blocks[i], &got[i]);
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < got.size(); ++i) wrong += got[i] != (i < 1000 ? cold : 999);
    CHECK(wrong == 0);
    CHECK(engine->distinct() == 1000);
  }
}

TEST_CASE("more live blocks than the tree was made for") {
  auto const engine = make_distance_engine();
  std::size_t const n = 300000;
  std::vector<std::uint32_t> blocks(2 * n - 2 * n % chunk), got(blocks.size());
  for (std::size_t i = 0; i < blocks.size(); ++i) blocks[i] = static_cast<std::uint32_t>(i % n);
  for (std::size_t i = 0; i < blocks.size(); i += chunk) engine->take(&blocks[i], &got[i]);
  CHECK(engine->distinct() == n);
  CHECK(got[n] == n - 1);
  CHECK(got.back() == n - 1);
}

TEST_CASE("bins of the histogram tile the distances") {
  for (std::uint32_t d : {0U, 1U, 63U, 64U, 65U, 127U, 128U, 129U, 1000U, 65535U, 1U << 24, 0x7FFFFFFFU}) {
    auto const bin = DistanceHistogram::bin_of(d);
    INFO(d);
    CHECK(DistanceHistogram::low_of(bin) <= d);
    CHECK(d < DistanceHistogram::low_of(bin + 1));
  }
}

TEST_CASE("repeated rows count like rows that are processed one by one") {
  std::mt19937 random(3);
  Described const described({8, 8, 4, 8});
  auto const& descriptor = described.row;
  RowStream stream(64, 1);
  std::vector<std::uint32_t> blocks;
  for (unsigned i = 0; i < 2000; ++i) {
    std::uint64_t const base = random() % 20 * 512;
    for (unsigned repeat = 0; repeat < 1 + random() % 9; ++repeat) {
      std::uint64_t const row[] = {0, base + repeat, base + 128, base + 64, base + 300};
      stream.take(descriptor, row, 1);
      for (auto const a : {row[1], row[2], row[3], row[4]}) blocks.push_back(static_cast<std::uint32_t>(a >> 6));
    }
  }
  stream.finish();
  DistanceHistogram expected;
  for (auto const d : naive(blocks)) expected.add(d, 1);
  for (std::size_t bin = 0; bin < DistanceHistogram::bins; ++bin) {
    INFO(bin);
    REQUIRE(stream.histogram().count(bin) == expected.count(bin));
  }
  CHECK(stream.histogram().cold_count() == expected.cold_count());
}

namespace {

// A stream of loops inside loops over a few sequences of blocks, with something else in between, as programs make it.
struct Loops {
  explicit Loops(unsigned seed) : random(seed) {
    auto const alphabet = 5 + random() % 600;
    for (unsigned s = 0; s < 6; ++s) {
      auto& sequence = sequences.emplace_back();
      auto const length = 1 + random() % (s % 2 == 0 ? 40 : 900);
      bool const scattered = random() % 2 == 0;
      auto const first = random() % alphabet;
      for (unsigned i = 0; i < length; ++i)
        sequence.push_back(static_cast<std::uint32_t>(scattered ? random() % alphabet : first + i));
      times.push_back(random() % 4 == 0 ? 2 + random() % 3 : 1);
    }
  }
  template <class F>
  void run(unsigned depth, F const& f) {
    auto const what = depth == 0 ? 0 : random() % 4;
    if (what == 0) return f(random() % sequences.size());
    auto const before = random;
    auto const trips = 1 + random() % (what == 1 ? 30 : 5);
    for (unsigned trip = 0; trip < trips; ++trip) {
      auto after = random;
      random = before;  // each trip does the same
      for (unsigned child = 0; child < what; ++child) run(depth - 1, f);
      std::swap(after, random);
      if (random() % 20 == 0) f(random() % sequences.size());
    }
  }
  std::mt19937 random;
  std::vector<std::vector<std::uint32_t>> sequences;
  std::vector<std::uint32_t> times;
};

}  // namespace

TEST_CASE("repetitions count like references that go through the engine") {
  std::uint64_t repeated = 0, all = 0;
  for (auto const& level : distance_levels()) {
    OfLevel const of_level(level);
    for (unsigned t = 0; t < 60; ++t) {
      Loops loops(t);
      DistanceCounter counter(3);
      std::vector<std::uint32_t> blocks, times;
      std::vector<std::size_t> ends;
      bool const weighted = t % 3 == 0, parts = t % 5 == 0;
      while (blocks.size() < 20000)
        loops.run(4, [&](std::size_t s) {
          auto const& sequence = loops.sequences[s];
          auto const n = static_cast<std::uint32_t>(sequence.size());
          auto const often = weighted ? loops.times[s] : 1;
          if (often == 1)
            counter.add(sequence.data(), n);
          else
            counter.add(sequence.data(), n, often);
          blocks.insert(blocks.end(), sequence.begin(), sequence.end());
          times.insert(times.end(), n, often);
          if (!parts || blocks.size() % 7 != 0) return;
          counter.mark();
          ends.push_back(blocks.size());
        });
      counter.finish();
      repeated += counter.repeated();
      all += blocks.size();
      auto const n = blocks.size();
      auto const distances = by_engine(*make_distance_engine(), blocks);
      DistanceHistogram expected;
      for (std::size_t i = 0; i < n; ++i) expected.add(distances[i], times[i]);
      INFO(level << ", stream " << t << " of " << n);
      for (std::size_t bin = 0; bin < DistanceHistogram::bins; ++bin)
        if (counter.histogram().count(bin) != expected.count(bin)) {
          INFO("bin " << bin);
          REQUIRE(counter.histogram().count(bin) == expected.count(bin));
        }
      REQUIRE(counter.histogram().cold_count() == expected.cold_count());
      REQUIRE(counter.parts().size() == ends.size());
      for (std::size_t part = 0, at = 0; part < ends.size(); ++part) {
        DistanceHistogram of_part;
        for (; at < ends[part]; ++at) of_part.add(distances[at], times[at]);
        REQUIRE(counter.parts()[part].cold == of_part.cold_count());
        for (auto const& [bin, count] : counter.parts()[part].bins) REQUIRE(count == of_part.count(bin));
      }
    }
  }
  // Else this tests nothing.
  CHECK(repeated > all / 2);
}

// Streams that fill the tape: it is begun anew in the middle of what repeats, or a repetition finds no room.
TEST_CASE("repetitions of more than a tape holds") {
  std::mt19937 random(23);
  for (auto const [fill, length, rounds] :
       {std::array{0U, 700000U, 4U}, std::array{1000000U, 60000U, 12U}, std::array{1040000U, 9000U, 40U},
        std::array{2500000U, 300000U, 3U}, std::array{9430000U, 3000U, 9U}}) {
    DistanceCounter counter(3);
    std::vector<std::uint32_t> blocks, body(length);
    for (auto& block : body) block = random() % (length / 12);
    for (unsigned i = 0; i < fill; ++i) blocks.push_back(random() % 50000);
    for (unsigned round = 0; round < rounds; ++round) {
      blocks.insert(blocks.end(), body.begin(), body.end());
      for (unsigned i = 0; i < 3000; ++i) blocks.push_back(random() % 50000);
    }
    blocks.resize(blocks.size() / chunk * chunk);
    counter.add(blocks.data(), static_cast<std::uint32_t>(blocks.size()));
    counter.finish();
    DistanceHistogram expected;
    for (auto const d : by_engine(*make_distance_engine(), blocks)) expected.add(d, 1);
    INFO(fill << " before " << rounds << " times " << length << ", " << counter.repeated() << " repeated");
    std::size_t wrong = 0;
    for (std::size_t bin = 0; bin < DistanceHistogram::bins; ++bin)
      wrong += counter.histogram().count(bin) != expected.count(bin);
    CHECK(wrong == 0);
    CHECK(counter.histogram().cold_count() == expected.cold_count());
    // Nothing had repeated on the last one: a pause.
    CHECK((counter.repeated() > length) == (fill < 9000000));
  }
}

// A repetition that finds no room is left out: what stood before it on the tape and what came after it look as if they
// had followed each other.
TEST_CASE("no repetition goes over a place where another was left out") {
  std::mt19937 random(29);
  std::uint32_t const room = 1U << 20;
  auto const some = [&](std::uint32_t n, std::uint32_t from, std::uint32_t blocks_at_most) {
    std::vector<std::uint32_t> out(n);
    for (auto& block : out) block = from + random() % blocks_at_most;
    return out;
  };
  auto const body = some(9000, 0, 500), before = some(2000, 1000, 100), after = some(600, 1000, 100);
  std::vector<std::uint32_t> blocks = some(room - 16000, 2000, 50000);
  for (auto const* const part : {&body, &before, &body, &after, &before, &after, &body, &before, &after})
    blocks.insert(blocks.end(), part->begin(), part->end());
  DistanceCounter counter(3);
  counter.add(blocks.data(), static_cast<std::uint32_t>(blocks.size()));
  counter.finish();
  CHECK(counter.repeated() > 9000);
  DistanceHistogram expected;
  for (auto const d : by_engine(*make_distance_engine(), blocks)) expected.add(d, 1);
  for (std::size_t bin = 0; bin < DistanceHistogram::bins; ++bin)
    REQUIRE(counter.histogram().count(bin) == expected.count(bin));
}

TEST_CASE("the levels of the processor turn rows into the same blocks") {
  auto const levels = distance_levels();
  auto const base = row_blocks_of(levels.front());
  std::vector<RowBlocks> others;
  for (auto level = levels.begin() + 1; level != levels.end(); ++level) others.push_back(row_blocks_of(*level));
  std::mt19937_64 random(17);
  for (unsigned t = 0; t < 400; ++t) {
    std::vector<std::uint8_t> sizes(1 + random() % 20);
    for (auto& size : sizes) size = static_cast<std::uint8_t>(1U << random() % 4);
    Described const described(sizes);
    auto const stride = static_cast<std::uint32_t>(sizes.size() + 1),
               count = static_cast<std::uint32_t>(1 + random() % 90);
    auto const n = stride - 1;
    bool const aligned = t % 4 != 0;
    BlockNumbers numbers(t % 2 == 0 ? 3 : 6);
    std::vector<std::uint64_t> words;
    for (std::uint32_t i = 0; i < count * stride; ++i) {
      auto const address =
          (std::uint64_t{0x5555} << 32 | random() % 3 << 30 | random() % 400) & ~(aligned ? 7ULL : 0ULL);
      words.push_back(i % stride == 0 ? header_of(described.row) : address);
      if (i % stride != 0 && t % 8 != 1) numbers(address & address_mask);
    }
    Rows const rows{words.data(), count, stride, described.round.data()};
    std::vector<std::uint32_t> a(n + count * n + 64), b(a.size()), places_a(words.size() + 8),
        places_b(words.size() + 8);
    bool const good = base.of_rows(rows, numbers.numbering(), a.data() + n);
    INFO("trial " << t << ", " << count << " rows of " << n);
    for (auto const& wide : others) {
      REQUIRE(wide.of_rows(rows, numbers.numbering(), b.data() + n) == good);
      if (good) {
        auto const end = static_cast<std::ptrdiff_t>(n + count * n);
        REQUIRE(std::equal(a.begin() + n, a.begin() + end, b.begin() + n));
        std::vector<std::uint64_t> one(count * n / 64 + 1), other(one.size());
        base.compare(a.data() + n, count * n, n, one.data());
        wide.compare(a.data() + n, count * n, n, other.data());
        for (std::uint32_t i = 0; i < count * n; ++i)
          REQUIRE((one[i / 64] >> i % 64 & 1) == (other[i / 64] >> i % 64 & 1));
      }
      auto const size = static_cast<std::uint32_t>(words.size());
      auto const shift = numbers.numbering().shift;
      auto const chosen = base.choose(words.data(), size, shift, ~0U / 5, 8, places_a.data());
      REQUIRE(wide.choose(words.data(), size, shift, ~0U / 5, 8, places_b.data()) == chosen);
      REQUIRE(std::equal(places_a.begin(), places_a.begin() + chosen, places_b.begin()));
    }
  }
}

TEST_CASE("an access over the end of a block references both") {
  Described const described({16});
  auto const& descriptor = described.row;
  RowStream stream(8, 1);
  std::uint64_t const row[] = {0, 4};
  stream.take(descriptor, row, 1);
  stream.finish();
  CHECK(stream.references() == 3);
  CHECK(stream.histogram().cold_count() == 3);
}

TEST_CASE("parts of a stream add up to it") {
  std::mt19937 random(11);
  Described const described({8, 8});
  auto const& descriptor = described.row;
  RowStream stream(8, 1);
  std::vector<std::uint32_t> blocks;
  std::vector<std::size_t> ends;
  for (unsigned part = 0; part < 60; ++part) {
    for (unsigned i = random() % 70; i > 0; --i) {
      std::uint64_t const base = random() % 30 * 8;
      for (unsigned repeat = 0; repeat < 1 + random() % 3; ++repeat) {
        std::uint64_t const row[] = {0, base, base + 16};
        stream.take(descriptor, row, 1);
        for (auto const a : {row[1], row[2]}) blocks.push_back(static_cast<std::uint32_t>(a >> 3));
      }
    }
    stream.end_part();
    ends.push_back(blocks.size());
  }
  stream.finish();
  auto const distances = naive(blocks);
  REQUIRE(stream.parts().size() == ends.size());
  for (std::size_t part = 0, at = 0; part < ends.size(); ++part) {
    DistanceHistogram expected, got;
    for (; at < ends[part]; ++at) expected.add(distances[at], 1);
    for (auto const& [bin, count] : stream.parts()[part].bins)
      got.add(static_cast<std::uint32_t>(DistanceHistogram::low_of(bin)), count);
    INFO("part " << part);
    REQUIRE(stream.references_at()[part] == ends[part]);
    REQUIRE(stream.parts()[part].cold == expected.cold_count());
    for (std::size_t bin = 0; bin < DistanceHistogram::bins; ++bin) REQUIRE(got.count(bin) == expected.count(bin));
  }
}

// A hundred samples of traces whose blocks are referenced unequally often: the standard error that each states is that
// of the samples.
TEST_CASE("a sample states its error") {
  Described const described({8});
  auto const& descriptor = described.row;
  double squares = 0, stated = 0;
  unsigned beyond_three = 0;
  for (unsigned t = 0; t < 100; ++t) {
    std::mt19937_64 random(t);
    std::uint64_t const base = random() % (1 << 20) * 64;
    std::size_t const n = 20000;
    std::vector<std::uint64_t> trace;
    for (unsigned round = 0; round < 8; ++round)
      for (std::uint64_t i = 0; i < n; i += 1 + round % 3) trace.push_back(base + i * 8);
    RowStream sampled(8, 16);
    for (auto const a : trace) {
      std::uint64_t const row[] = {header_of(descriptor), a};
      sampled.take_sample(row, row + 2, 1, 8);
    }
    sampled.finish();
    // Every reference lies beyond distance 64.
    std::uint64_t far = sampled.histogram().cold_count();
    for (std::size_t bin = 1; bin < DistanceHistogram::bins; ++bin) far += sampled.histogram().count(bin);
    auto const deviation = static_cast<double>(far) * 16 - static_cast<double>(trace.size());
    auto const error = static_cast<double>(sampled.error().references);
    squares += deviation * deviation;
    stated += error * error;
    beyond_three += std::abs(deviation) > 3 * error;
  }
  INFO("root mean square: deviation " << std::sqrt(squares / 100) << ", stated " << std::sqrt(stated / 100));
  CHECK(std::sqrt(stated / squares) > 0.7);
  CHECK(std::sqrt(stated / squares) < 1.5);
  CHECK(beyond_three <= 3);
}

TEST_CASE("a sample has all references of its blocks, unaligned and large ones included") {
  std::mt19937 random(5);
  Described const described({8, 4, 1, 48});
  for (std::uint64_t const granularity : {8, 64}) {
    RowStream sampled(granularity, 2);
    std::vector<std::uint64_t> rows;
    std::uint64_t accesses = 0;
    for (unsigned i = 0; i < 5000; ++i) {
      rows.push_back(header_of(described.row));
      for (unsigned n = 0; n < 4; ++n, ++accesses) rows.push_back(random() % 4096);
    }
    sampled.take_sample(rows.data(), rows.data() + rows.size(), accesses, 48);
    sampled.finish();
    std::set<std::uint64_t> followed;
    std::uint64_t expected = 0, got = sampled.histogram().cold_count();
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (i % 5 == 0) continue;
      for (auto at = rows[i] / granularity; at <= (rows[i] + described.row.sizes[i % 5] - 1) / granularity; ++at)
        if (hash_of(static_cast<std::uint32_t>(at)) <= ~std::uint32_t{0} / 2) ++expected, followed.insert(at);
    }
    for (std::size_t bin = 0; bin < DistanceHistogram::bins; ++bin) got += sampled.histogram().count(bin);
    CHECK(got == expected);
    CHECK(sampled.histogram().cold_count() == followed.size());
  }
}

TEST_CASE("a sample estimates the distances") {
  Described const described({8});
  auto const& descriptor = described.row;
  std::size_t const period = 100000;
  RowStream stream(8, 16);
  for (std::uint64_t i = 0; i < 3 * period; ++i) {
    std::uint64_t const row[] = {header_of(descriptor), i % period * 8};
    stream.take_sample(row, row + 2, 1, 8);
  }
  stream.finish();
  double sum = 0, weighted = 0;
  for (std::size_t bin = 0; bin < DistanceHistogram::bins; ++bin) {
    auto const n = static_cast<double>(stream.histogram().count(bin));
    sum += n;
    weighted += n * static_cast<double>(DistanceHistogram::low_of(bin)) * 16;
  }
  INFO("mean distance " << weighted / sum << ", exact " << period - 1);
  CHECK(weighted / sum == Approx(period).epsilon(0.05));
  CHECK(static_cast<double>(stream.histogram().cold_count()) * 16 == Approx(period).epsilon(0.05));
}
