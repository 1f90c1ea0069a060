// What was touched before, and at which distance: closed forms, and another way to compute them.
#include "emulator/launch/history.hpp"

#include <cstring>
#include <map>
#include <random>

#include "catch.hpp"

using namespace kernelcast;
using namespace kernelcast::launch;

namespace {

constexpr std::uint64_t KiB = 1024, base = 1 << 20;

record::Powers at(std::initializer_list<std::pair<std::size_t, double>> list) {
  record::Powers out{};
  for (auto const& [k, bytes] : list) out[k] += bytes;
  return out;
}

record::Powers touch(TouchHistory& history, std::vector<TouchedRange> const& ranges) {
  return history.touch(ranges).bytes;
}

// The same with a cell for each unit of memory, of which all is touched.
class Cells {
 public:
  record::Powers touch(std::vector<std::size_t> const& cells) {
    record::Powers out{};
    std::map<std::size_t, double> again;  // by event
    for (auto const c : cells)
      if (last_[c]) again[last_[c]] += 1;
    for (auto const& [event, bytes] : again) {
      double since = 0, again_since = 0, of_event = 0;
      for (auto const& [c, e] : last_) since += e > event, of_event += e == event;
      for (auto const& [e, n] : again) again_since += e > event ? n : 0;
      out[record::power_of(since + (of_event + static_cast<double>(cells.size()) - again_since) / 2)] += bytes;
    }
    ++now_;
    for (auto const c : cells) last_[c] = now_;
    return out;
  }

 private:
  std::map<std::size_t, std::size_t> last_;
  std::size_t now_ = 0;
};

}  // namespace

TEST_CASE("powers of two: buckets, text and back") {
  CHECK(record::power_of(0) == 0);
  CHECK(record::power_of(1) == 0);
  CHECK(record::power_of(1.5) == 1);
  CHECK(record::power_of(4096) == 12);
  CHECK(record::power_of(4096.5) == 13);
  CHECK(record::power_of(1e30) == 59);
  record::Powers sum{};
  CHECK(record::text_of(sum) == "0:0");
  CHECK(record::read_powers("0:0;13:4096;59:0.5", sum));
  CHECK(record::text_of(sum) == "13:4096;59:0.5");
  for (auto const* const wrong : {"", "13", "13:", "13:x", "60:1", "-1:1", "1.5:1", "13:-1", "13:inf", ":1", "x:1"})
    CHECK_FALSE(record::read_powers(wrong, sum));
}

TEST_CASE("what is written, read, and read again behind a stream") {
  std::uint64_t const x = 64 * KiB, y = 1024 * KiB;
  TouchHistory history;
  std::vector<TouchedRange> const a{{base, base + x}}, c{{4 * base, 4 * base + y}};
  CHECK(touch(history, a) == record::Powers{});
  CHECK(touch(history, a) == at({{record::power_of(x), x}}));
  CHECK(touch(history, c) == record::Powers{});
  CHECK(touch(history, a) == at({{record::power_of(x + y), x}}));
  // Twice as much, of which the stream is half: what it last touched is 1 MiB, and 64 KiB of others since.
  std::vector<TouchedRange> const d{{4 * base - y, 4 * base + y}};
  CHECK(touch(history, d) == at({{record::power_of(x + (y + 2 * y) / 2.0), y}}));
}

TEST_CASE("part of a range, and freed memory") {
  TouchHistory history;
  std::vector<TouchedRange> const all{{base, base + 8 * KiB}}, quarter{{base, base + 8 * KiB, 0.25}},
      half{{base, base + 4 * KiB}};
  touch(history, quarter);
  auto const found = history.touch(all);
  CHECK(found.all_bytes == 8 * KiB);
  CHECK(found.bytes == at({{record::power_of(5 * KiB), 2 * KiB}}));
  CHECK(found.scaled(1) == at({{record::power_of(5 * KiB), 0.25}}));
  history.forget(base + KiB, KiB);
  CHECK(touch(history, half) == at({{record::power_of(6 * KiB), 3 * KiB}}));
  history.forget(base, base);
  CHECK(touch(history, all) == record::Powers{});
}

TEST_CASE("random events: as cell by cell") {
  std::mt19937 random(7);
  TouchHistory history;
  Cells cells;
  for (int event = 0; event < 400; ++event) {
    std::vector<TouchedRange> ranges;
    std::vector<std::size_t> touched;
    for (std::uint64_t begin = random() % 40; begin < 300;) {
      std::uint64_t const end = begin + 1 + random() % 60;
      ranges.push_back({begin, end});
      for (auto c = begin; c < end; ++c) touched.push_back(c);
      begin = end + random() % 200;
    }
    INFO(event);
    REQUIRE(history.touch(ranges).bytes == cells.touch(touched));
  }
}

TEST_CASE("the history does not grow without end") {
  TouchHistory history;
  constexpr std::uint64_t pieces = 300000;
  for (std::uint64_t i = 0; i < pieces; ++i) touch(history, {{base + 64 * i, base + 64 * i + 32}});
  auto const newest = base + 64 * (pieces - 1);
  CHECK(touch(history, {{newest, newest + 32}}) == at({{record::power_of(32), 32}}));
  CHECK(touch(history, {{base, base + 32}}) == record::Powers{});
}

TEST_CASE("a launch with other pointers touches other memory") {
  emu::Memory memory;
  std::uint64_t const bytes = 64 * KiB;
  std::array const buffers{memory.add("a", bytes), memory.add("b", bytes), memory.add("c", bytes / 2)};
  auto const launch = [&](std::uint64_t first, std::uint64_t second) {
    emu::Launch out;
    std::array const words{first, std::uint64_t{12345}, second};
    out.parameters.resize(sizeof words);
    std::memcpy(out.parameters.data(), words.data(), sizeof words);
    return out;
  };
  emu::Footprint footprint;  // all of a, every second sector of b's first half
  for (std::uint64_t at = 0; at < bytes; at += 32) footprint.mark((buffers[0] + at) >> 5);
  for (std::uint64_t at = 0; at < bytes / 2; at += 64) footprint.mark((buffers[1] + at) >> 5);
  auto const of = [](std::vector<TouchedRange> const& ranges) {
    std::map<std::uint64_t, std::pair<std::uint64_t, double>> out;
    for (auto const& r : ranges) out[r.begin] = {r.end - r.begin, r.bytes()};
    return out;
  };
  auto const first = launch(buffers[0], buffers[1]);
  Touched const touched(first, footprint, memory, 1);
  CHECK(of(touched.by(first, memory)) ==
        of({{buffers[0], buffers[0] + bytes}, {buffers[1], buffers[1] + bytes / 2, 0.5}}));
  CHECK(of(touched.by(launch(buffers[1], buffers[0]), memory)) ==
        of({{buffers[1], buffers[1] + bytes}, {buffers[0], buffers[0] + bytes / 2, 0.5}}));
  // As far as it reaches.
  CHECK(of(touched.by(launch(buffers[2], buffers[1]), memory)) ==
        of({{buffers[2], buffers[2] + bytes / 2}, {buffers[1], buffers[1] + bytes / 2, 0.5}}));
  // Some groups, of four times as many: a cannot be larger; b from its beginning, twice as much.
  Touched const some(first, footprint, memory, 4);
  CHECK(of(some.by(first, memory)) == of({{buffers[0], buffers[0] + bytes}, {buffers[1], buffers[1] + bytes}}));
}
