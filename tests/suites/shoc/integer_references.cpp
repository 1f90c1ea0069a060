// Sort, breadth-first search, MD5 and the memory kernels: results are equal or wrong.
#include <algorithm>
#include <deque>
#include <numeric>
#include <utility>

#include "references.hpp"

namespace kernelcast::suites {
namespace {

using Words = std::vector<std::uint32_t>;

constexpr std::uint32_t unvisited = 0xffffffffu;

// Neighbours of every vertex, in the order of bfs_graph.
std::vector<Words> make_graph(std::uint32_t vertices, std::uint32_t degree, std::uint32_t chords) {
  std::vector<Words> graph(vertices);
  for (std::uint32_t v = 0; v < vertices; ++v) {
    for (std::uint32_t child = v * degree + 1; child <= v * degree + degree && child < vertices; ++child)
      graph[v].push_back(child);
    if (v > 0) graph[v].push_back((v - 1) / degree);
    for (std::uint32_t j = 1; j <= chords; ++j) {
      graph[v].push_back((v + j * j + 1) % vertices);
      graph[v].push_back((v + vertices - j * j - 1) % vertices);
    }
  }
  return graph;
}

// Stable: equal digits stay in order.
Words sorted_by(Words const& keys, std::uint32_t mask) {
  std::vector<std::size_t> order(keys.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::sort(order, {}, [&](std::size_t i) { return std::pair(keys[i] & mask, i); });
  Words sorted;
  for (std::size_t const i : order) sorted.push_back(keys[i]);
  return sorted;
}

}  // namespace

Verdict judge_bfs(Run const& run) {
  auto const vertices = run.argument<std::uint32_t>("bfs_graph", 3);
  auto const graph =
      make_graph(vertices, run.argument<std::uint32_t>("bfs_graph", 4), run.argument<std::uint32_t>("bfs_graph", 5));
  Words offsets{0}, edges;
  for (auto const& neighbours : graph) {
    edges.insert(edges.end(), neighbours.begin(), neighbours.end());
    offsets.push_back(static_cast<std::uint32_t>(edges.size()));
  }
  Words levels(vertices, unvisited);
  levels[0] = 0;
  for (std::deque<std::uint32_t> queue{0}; !queue.empty(); queue.pop_front())
    for (std::uint32_t const neighbour : graph[queue.front()])
      if (levels[neighbour] == unvisited) {
        levels[neighbour] = levels[queue.front()] + 1;
        queue.push_back(neighbour);
      }
  Verdict verdict;
  expect_equal(verdict, "offsets", run.result<std::uint32_t>("offsets"), offsets);
  expect_equal(verdict, "edges", run.result<std::uint32_t>("edges"), edges);
  expect_equal(verdict, "levels", run.result<std::uint32_t>("levels"), levels);
  expect_equal(verdict, "changed", run.result<std::uint32_t>("changed"), Words{1});
  return verdict;
}

Verdict judge_sort(Run const& run) {
  auto const keys = run.input<std::uint32_t>("keys");
  std::size_t const groups = run.groups("sort_count");
  std::size_t const tiles = (keys.size() + 1023) / 1024;
  std::size_t const region = 1024 * ((tiles + groups - 1) / groups);
  Verdict verdict;
  expect_equal(verdict, "keys", run.result<std::uint32_t>("keys"), sorted_by(keys, 0xffffffff));
  expect_equal(verdict, "other", run.result<std::uint32_t>("other"), sorted_by(keys, 0x0fffffff));
  for (unsigned shift = 0; shift < 32; shift += 4) {
    Words const from = sorted_by(keys, (1u << shift) - 1);  // what this pass reads
    Words counts(16 * groups);
    for (std::size_t i = 0; i < from.size(); ++i) ++counts[(from[i] >> shift) % 16 * groups + i / region];
    std::exclusive_scan(counts.begin(), counts.end(), counts.begin(), 0u);
    auto const name = fmt::format("counts_{}", shift);
    expect_equal(verdict, name, run.result<std::uint32_t>(name), counts);
  }
  return verdict;
}

namespace {

// RFC 1321, 3.4: the integer part of 4294967296 times abs(sin(i)), i in radians, from 1.
std::array<std::uint32_t, 64> make_sines() {
  std::array<std::uint32_t, 64> sines{};
  for (std::size_t i = 0; i < 64; ++i)
    sines[i] =
        static_cast<std::uint32_t>(std::floor(4294967296.0L * std::abs(std::sin(static_cast<long double>(i + 1)))));
  return sines;
}

}  // namespace

std::array<std::uint32_t, 4> md5(std::span<std::uint8_t const> message) {
  static auto const sines = make_sines();
  std::vector<std::uint8_t> padded(message.begin(), message.end());
  padded.push_back(0x80);
  while (padded.size() % 64 != 56) padded.push_back(0);
  for (int i = 0; i < 8; ++i) padded.push_back(static_cast<std::uint8_t>(std::uint64_t{8} * message.size() >> (8 * i)));
  std::array<std::uint32_t, 4> state{0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476};
  constexpr int turns[4][4] = {{7, 12, 17, 22}, {5, 9, 14, 20}, {4, 11, 16, 23}, {6, 10, 15, 21}};
  for (std::size_t block = 0; block < padded.size(); block += 64) {
    auto [a, b, c, d] = state;
    for (std::uint32_t i = 0; i < 64; ++i) {
      std::uint32_t mixed = 0, word = 0;
      switch (i / 16) {
        case 0:
          mixed = (b & c) | (~b & d), word = i;
          break;
        case 1:
          mixed = (b & d) | (c & ~d), word = 5 * i + 1;
          break;
        case 2:
          mixed = b ^ c ^ d, word = 3 * i + 5;
          break;
        default:
          mixed = c ^ (b | ~d), word = 7 * i;
          break;
      }
      std::uint32_t x = 0;
      for (std::uint32_t byte = 0; byte < 4; ++byte)
        x |= std::uint32_t{padded[block + 4 * (word % 16) + byte]} << (8 * byte);
      std::uint32_t const sum = a + mixed + x + sines[i];
      int const turn = turns[i / 16][i % 4];
      a = d, d = c, c = b;
      b += (sum << turn) | (sum >> (32 - turn));
    }
    state[0] += a, state[1] += b, state[2] += c, state[3] += d;
  }
  return state;
}

// All keys are tried: exactly the ones with the digest may have been found, and there is one.
Verdict judge_md5hash(Run const& run) {
  auto const keys = run.argument<std::uint32_t>("md5_search", 1), bytes = run.argument<std::uint32_t>("md5_search", 2),
             symbols = run.argument<std::uint32_t>("md5_search", 3);
  std::array<std::uint32_t, 4> wanted{};
  for (std::size_t i = 0; i < 4; ++i) wanted[i] = run.argument<std::uint32_t>("md5_search", 4 + i);
  Words expected(7);
  for (std::uint32_t key = 0; key < keys; ++key) {
    std::vector<std::uint8_t> message(bytes);
    std::uint32_t rest = key;
    for (auto& byte : message) byte = static_cast<std::uint8_t>(rest % symbols), rest /= symbols;
    if (md5(message) != wanted) continue;
    message.push_back(0x80);
    message.resize(8);
    expected[0] = key + 1;
    std::memcpy(&expected[1], message.data(), 8);
    std::ranges::copy(wanted, &expected[3]);
  }
  Verdict verdict;
  if (expected[0] == 0) verdict.note_mismatch("keys with this digest", 0, 0, 1);
  expect_equal(verdict, "found", run.result<std::uint32_t>("found"), expected);
  return verdict;
}

Verdict judge_device_memory(Run const& run) {
  auto const data = run.input<std::uint32_t>("data");
  auto const words = run.argument<std::uint32_t>("read_global_coalesced", 2),
             repeats = run.argument<std::uint32_t>("read_global_coalesced", 3);
  auto const items = static_cast<std::uint32_t>(run.result<std::uint32_t>("sums_local").size());
  Words coalesced_sums(items), strided_sums(items), local_sums(items), coalesced(data.size()), strided(data.size()),
      local(8 * items);
  for (std::uint32_t item = 0; item < items; ++item)
    for (std::uint32_t step = 0; step < 16 * repeats; ++step) {
      std::uint32_t const together = (item + step * items) % words, own = 1024 * item + step % 1024, here = item % 256;
      coalesced_sums[item] += data[together];
      strided_sums[item] += data[own];
      local_sums[item] += data[(here + step) % 2048];
      coalesced[together] = strided[own] = item + step / 16;
      local[2048 * (item / 256) + (here + 256 * step) % 2048] = item + step / 16;
    }
  Verdict verdict;
  expect_equal(verdict, "sums_coalesced", run.result<std::uint32_t>("sums_coalesced"), coalesced_sums);
  expect_equal(verdict, "sums_strided", run.result<std::uint32_t>("sums_strided"), strided_sums);
  expect_equal(verdict, "sums_local", run.result<std::uint32_t>("sums_local"), local_sums);
  expect_equal(verdict, "coalesced", run.result<std::uint32_t>("coalesced"), coalesced);
  expect_equal(verdict, "strided", run.result<std::uint32_t>("strided"), strided);
  expect_equal(verdict, "local", run.result<std::uint32_t>("local"), local);
  return verdict;
}

}  // namespace kernelcast::suites
