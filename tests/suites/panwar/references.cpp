#include "references.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <span>
#include <stdexcept>
#include <thread>

#include "aes128.hpp"

namespace kernelcast::suites {
namespace {

constexpr double unit_roundoff = 0x1p-24;  // of single precision

std::size_t square_root(std::size_t elements) {
  return static_cast<std::size_t>(std::lround(std::sqrt(static_cast<double>(elements))));
}

template <class T>
void expect_equal(Verdict& verdict, std::string_view name, std::span<T const> got, std::span<T const> expected) {
  if (got.size() != expected.size()) return verdict.note_mismatch(name, got.size(), 0, 0);
  for (std::size_t i = 0; i < got.size(); ++i)
    if (got[i] != expected[i])
      return verdict.note_mismatch(name, i, static_cast<double>(got[i]), static_cast<double>(expected[i]));
}

// The comparison is written so that a NaN fails.
void expect_near(Verdict& verdict, std::string_view name, std::size_t index, float got, double expected,
                 double allowed) {
  if (got == expected) return;
  double const ratio = std::abs(got - expected) / allowed;
  if (!(ratio <= 1)) verdict.note_mismatch(name, index, got, expected);
  verdict.worst = std::max(verdict.worst, ratio);
}

// body(first, last) over equal parts of [0, count), one per processor.
template <class Body>
void in_parts(std::size_t count, Body const& body) {
  std::size_t const parts = std::max(1u, std::thread::hardware_concurrency());
  std::vector<std::jthread> threads;
  for (std::size_t p = 0; p < parts; ++p)
    threads.emplace_back([&body, first = count * p / parts, last = count * (p + 1) / parts] { body(first, last); });
}

Verdict judge_floyd_warshall(Buffers const& before, Buffers const& after) {
  auto distance = elements<std::uint32_t>(before, "distance");
  auto via = elements<std::uint32_t>(before, "via");
  std::size_t const nodes = square_root(distance.size());
  for (std::size_t middle = 0; middle < nodes; ++middle)
    for (std::size_t from = 0; from < nodes; ++from)
      for (std::size_t to = 0; to < nodes; ++to) {
        std::uint32_t const detour = distance[from * nodes + middle] + distance[middle * nodes + to];
        if (detour >= distance[from * nodes + to]) continue;
        distance[from * nodes + to] = detour;
        via[from * nodes + to] = static_cast<std::uint32_t>(middle);
      }
  Verdict verdict;
  expect_equal<std::uint32_t>(verdict, "distance", elements<std::uint32_t>(after, "distance"), distance);
  expect_equal<std::uint32_t>(verdict, "via", elements<std::uint32_t>(after, "via"), via);
  return verdict;
}

Verdict judge_fast_walsh(Buffers const& before, Buffers const& after) {
  auto data = elements<float>(before, "data");
  for (std::size_t reach = 1; reach < data.size(); reach *= 2)
    for (std::size_t start = 0; start < data.size(); start += 2 * reach)
      for (std::size_t i = start; i < start + reach; ++i) {
        float const a = data[i], b = data[i + reach];
        data[i] = a + b;
        data[i + reach] = a - b;
      }
  Verdict verdict;
  expect_equal<float>(verdict, "data", elements<float>(after, "data"), data);
  return verdict;
}

// A sum of n products in single precision, in any order, fused or not, is off by at most n u / (1 - n u) times the sum
// of their magnitudes (Higham, Accuracy and Stability, 3.1).
Verdict judge_matmul(Buffers const& before, Buffers const& after) {
  auto const a = elements<float>(before, "a"), b = elements<float>(before, "b"), c = elements<float>(after, "c");
  std::size_t const n = square_root(a.size());
  std::vector<double> products(n * n), magnitudes(n * n);
  in_parts(n, [&](std::size_t first, std::size_t last) {
    for (std::size_t row = first; row < last; ++row)
      for (std::size_t k = 0; k < n; ++k) {
        double const factor = a[row * n + k];
        for (std::size_t column = 0; column < n; ++column) {
          double const product = factor * b[k * n + column];
          products[row * n + column] += product;
          magnitudes[row * n + column] += std::abs(product);
        }
      }
  });
  double const allowed = static_cast<double>(n) * unit_roundoff / (1 - static_cast<double>(n) * unit_roundoff);
  Verdict verdict;
  for (std::size_t i = 0; i < n * n; ++i) expect_near(verdict, "c", i, c.at(i), products[i], allowed * magnitudes[i]);
  return verdict;
}

Verdict judge_reduction(Buffers const& before, Buffers const& after) {
  auto const input = elements<std::uint32_t>(before, "input"), partial = elements<std::uint32_t>(after, "partial");
  std::vector<std::uint32_t> expected(partial.size());
  std::size_t const per_group = input.size() / (partial.size() / 4);
  for (std::size_t i = 0; i < input.size(); ++i) expected[i / per_group * 4 + i % 4] += input[i];
  Verdict verdict;
  expect_equal<std::uint32_t>(verdict, "partial", partial, expected);
  return verdict;
}

struct Acceleration {
  std::array<double, 3> sum{};
  std::array<double, 3> magnitude{};  // the sum of the terms' magnitudes
};

constexpr double nbody_step = 0.005f, nbody_epsilon_squared = 0.0025f;  // as nbody.toml gives them, in single precision

void accelerate(std::vector<float> const& position, std::size_t first, std::size_t last,
                std::vector<Acceleration>& result) {
  for (std::size_t body = first; body < last; ++body)
    for (std::size_t other = 0; other < position.size(); other += 4) {
      double away[3], squared = nbody_epsilon_squared;
      for (std::size_t axis = 0; axis < 3; ++axis) {
        away[axis] = double{position[other + axis]} - position[4 * body + axis];
        squared += away[axis] * away[axis];
      }
      double const pull = position[other + 3] / (squared * std::sqrt(squared));
      for (std::size_t axis = 0; axis < 3; ++axis) {
        result[body].sum[axis] += pull * away[axis];
        result[body].magnitude[axis] += pull * std::abs(away[axis]);
      }
    }
}

// One term of the force is off by at most some 50 u: OpenCL allows sqrt 3 and division 2.5 units in the last place, and
// their product enters cubed. Rounding errors of the sum behave like a random walk of n steps; six times its spread is
// allowed (the certain bound n u would hide a forgotten body).
Verdict judge_nbody(Buffers const& before, Buffers const& after) {
  auto const position = elements<float>(before, "position"), velocity = elements<float>(before, "velocity");
  auto const moved = elements<float>(after, "next_position"), faster = elements<float>(after, "next_velocity");
  std::size_t const bodies = position.size() / 4;
  std::vector<Acceleration> acceleration(bodies);
  in_parts(bodies, [&](std::size_t first, std::size_t last) { accelerate(position, first, last, acceleration); });

  double const allowed = (50 + 6 * std::sqrt(static_cast<double>(bodies))) * unit_roundoff;
  Verdict verdict;
  for (std::size_t i = 0; i < 4 * bodies; ++i) {
    std::size_t const axis = i % 4;
    if (axis == 3) {
      expect_near(verdict, "next_position", i, moved.at(i), position[i], 0);
      expect_near(verdict, "next_velocity", i, faster.at(i), velocity[i], 0);
      continue;
    }
    double const force = acceleration[i / 4].sum[axis];
    double const error = allowed * acceleration[i / 4].magnitude[axis];
    double const shift = nbody_step * velocity[i] + 0.5 * nbody_step * nbody_step * force;
    expect_near(verdict, "next_velocity", i, faster.at(i), velocity[i] + nbody_step * force, nbody_step * error);
    expect_near(verdict, "next_position", i, moved.at(i), position[i] + shift,
                0.5 * nbody_step * nbody_step * error + 4 * unit_roundoff * (position[i] + std::abs(shift)));
  }
  return verdict;
}

AesBlock block_at(std::vector<std::uint8_t> const& bytes, std::size_t block) {
  AesBlock rows;
  for (std::size_t i = 0; i < 16; ++i) rows[i] = bytes.at(16 * block + i);
  return swap_rows_and_columns(rows);
}

// The key is the first round key; schedule and table are recomputed, so the files are judged too.
Verdict judge_aes(Buffers const& before, Buffers const& after) {
  auto const plain = elements<std::uint8_t>(before, "plain"), cipher = elements<std::uint8_t>(after, "cipher");
  auto const stored_keys = elements<std::uint8_t>(before, "round_keys"),
             table = elements<std::uint8_t>(before, "table");
  AesRoundKeys const keys = expand_aes_key(block_at(stored_keys, 0));
  std::vector<std::uint8_t> expected;
  for (std::size_t block = 0; block < plain.size() / 16; ++block)
    for (std::uint8_t const byte : swap_rows_and_columns(encrypt_aes(keys, block_at(plain, block))))
      expected.push_back(byte);
  Verdict verdict;
  expect_equal<std::uint8_t>(verdict, "round_keys", stored_keys, swap_rows_and_columns(keys));
  expect_equal<std::uint8_t>(verdict, "table", table, aes_table());
  expect_equal<std::uint8_t>(verdict, "cipher", cipher, expected);
  return verdict;
}

Verdict judge_transpose(Buffers const& before, Buffers const& after) {
  auto const in = elements<float>(before, "in");
  std::size_t const n = square_root(in.size());
  std::vector<float> expected(in.size());
  for (std::size_t row = 0; row < n; ++row)
    for (std::size_t column = 0; column < n; ++column) expected[column * n + row] = in[row * n + column];
  Verdict verdict;
  expect_equal<float>(verdict, "out", elements<float>(after, "out"), expected);
  return verdict;
}

}  // namespace

void Verdict::note_mismatch(std::string_view name, std::size_t index, double got, double expected) {
  if (equal) mismatch = fmt::format("{}[{}]: {}, expected {}", name, index, got, expected);
  equal = false;
}

Verdict judge(std::string_view workload, Buffers const& before, Buffers const& after) {
  if (workload == "floyd_warshall") return judge_floyd_warshall(before, after);
  if (workload == "fast_walsh") return judge_fast_walsh(before, after);
  if (workload == "matmul_gmem" || workload == "matmul_lmem") return judge_matmul(before, after);
  if (workload == "reduction") return judge_reduction(before, after);
  if (workload == "nbody") return judge_nbody(before, after);
  if (workload == "aes") return judge_aes(before, after);
  if (workload == "transpose") return judge_transpose(before, after);
  throw std::out_of_range(fmt::format("no workload '{}'", workload));
}

}  // namespace kernelcast::suites
