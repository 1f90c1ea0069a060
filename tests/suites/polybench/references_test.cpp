// The references themselves, by what must hold for them whatever the kernels do, and the rounding bound against
// arithmetic in single precision.
#include <bit>
#include <random>

#include "catch.hpp"
#include "expected.hpp"
#include "scenario.hpp"

using namespace kernelcast;
using namespace kernelcast::suites;

namespace {

struct Case {
  launch::Plan plan;
  Buffers before, after;
  Expected expected;
  Scenario scenario() const { return {plan, before, after}; }
  Matrix matrix(char const* buffer, std::size_t columns) const { return {expected.at(buffer), columns}; }
};

Case read(std::string const& workload) {
  Case c;
  c.plan =
      launch::read_launch_file(KERNELCAST_SOURCE_DIR "/bench-suites/polybench/" + workload + ".toml", {}, {"small"});
  c.before = c.after = initial_buffers(c.plan);
  c.expected = expect_polybench(workload, c.plan, c.before, c.after);
  return c;
}

void put(Buffers& buffers, char const* name, std::size_t i, float value) {
  std::memcpy(&buffers.at(name).at(i * sizeof value), &value, sizeof value);
}
void fill(Buffers& buffers, char const* name, float value) {
  for (std::size_t i = 0; i < buffers.at(name).size() / sizeof value; ++i) put(buffers, name, i, value);
}

std::vector<Rounded> outcome(std::string const& workload, Case const& c, char const* buffer) {
  return expect_polybench(workload, c.plan, c.before, c.after).at(buffer);
}

double dot(Matrix const& a, std::size_t i, Matrix const& b, std::size_t j) {  // of two columns
  double sum = 0;
  for (std::size_t k = 0; k < a.rows(); ++k) sum += a(k, i).value() * b(k, j).value();
  return sum;
}

}  // namespace

// Factors of small whole numbers: every step is exact, so the one right result is known.
TEST_CASE("lu: the factors of a product are its factors") {
  Case c = read("lu");
  std::size_t const n = c.scenario().integer("lu_divide", 1);
  auto const lower = [](std::size_t i, std::size_t j) { return i < j ? 0.0f : i == j ? 2.0f : (i + 2 * j) % 3 - 1.0f; };
  auto const upper = [](std::size_t i, std::size_t j) { return i > j ? 0.0f : i == j ? 1.0f : (3 * i + j) % 5 - 2.0f; };
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) {
      float product = 0;
      for (std::size_t k = 0; k < n; ++k) product += lower(i, k) * upper(k, j);
      put(c.before, "a", i * n + j, product);
      put(c.after, "a", i * n + j, i < j ? upper(i, j) : lower(i, j));
    }
  Matrix const a(outcome("lu", c, "a"), n);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) CHECK(a(i, j).value() == (i < j ? upper(i, j) : lower(i, j)));
}

// q of 64 rows of +-1/8, the rest 0: columns of a Hadamard matrix, orthonormal and exact.
TEST_CASE("gramschmidt: the factors of a product are its factors") {
  Case c = read("gramschmidt");
  std::size_t const rows = c.scenario().integer("gramschmidt_norm", 1), n = c.scenario().integer("gramschmidt_norm", 2);
  REQUIRE(rows >= 64);
  REQUIRE(n <= 64);
  auto const q = [](std::size_t i, std::size_t j) {
    return i >= 64 ? 0.0f : std::popcount(i & j) % 2 == 0 ? 0.125f : -0.125f;
  };
  auto const r = [](std::size_t i, std::size_t j) {
    return i > j ? 0.0f : i == j ? 2.0f + i % 2 : (i + 2 * j) % 5 - 2.0f;
  };
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t j = 0; j < n; ++j) {
      float product = 0;
      for (std::size_t k = 0; k < n; ++k) product += q(i, k) * r(k, j);
      put(c.before, "a", i * n + j, product);
      put(c.after, "a", i * n + j, q(i, j) * r(j, j));
      put(c.after, "q", i * n + j, q(i, j));
      if (i < n) put(c.after, "r", i * n + j, r(i, j));
    }
  Matrix const a(outcome("gramschmidt", c, "a"), n), q_expected(outcome("gramschmidt", c, "q"), n),
      r_expected(outcome("gramschmidt", c, "r"), n);
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t j = 0; j < n; ++j) {
      CHECK(a(i, j).value() == q(i, j) * r(j, j));
      CHECK(q_expected(i, j).value() == q(i, j));
      if (i < n) CHECK(r_expected(i, j).value() == r(i, j));
    }
}

TEST_CASE("corr: the formula of Pearson; a constant column correlates with nothing") {
  Case c = read("corr");
  std::size_t const n = c.scenario().integer("corr_mean", 1);
  Matrix const data = c.scenario().matrix("data", n), correlation = c.matrix("correlation", n);
  double const points = static_cast<double>(data.rows());
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) {
      double sum_i = 0, sum_j = 0;
      for (std::size_t k = 0; k < data.rows(); ++k) {
        sum_i += data(k, i).value();
        sum_j += data(k, j).value();
      }
      double const covariance = points * dot(data, i, data, j) - sum_i * sum_j;
      double const variance_i = points * dot(data, i, data, i) - sum_i * sum_i;
      double const variance_j = points * dot(data, j, data, j) - sum_j * sum_j;
      CHECK(correlation(i, j).value() == Approx(covariance / std::sqrt(variance_i * variance_j)).margin(1e-12));
    }
  fill(c.before, "data", 0.5f);
  auto const flat = expect_polybench("corr", c.plan, c.before, c.after);
  for (std::size_t i = 0; i < n * n; ++i) CHECK(flat.at("correlation")[i].value() == (i % (n + 1) == 0 ? 1 : 0));
}

TEST_CASE("covar: n times the mean product less the product of means") {
  Case const c = read("covar");
  std::size_t const n = c.scenario().integer("covar_mean", 1);
  Matrix const data = c.scenario().matrix("data", n), covariance = c.matrix("covariance", n);
  auto const& mean = c.expected.at("mean");
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j)
      CHECK(covariance(i, j).value() ==
            Approx(dot(data, i, data, j) - static_cast<double>(data.rows()) * mean[i].value() * mean[j].value())
                .margin(1e-12));
}

TEST_CASE("Products of constant matrices are products of their sizes") {
  for (auto const& [workload, buffer, expected] : {std::tuple{"gemm", "c", 1.5 * 29 + 1.25},
                                                   {"2mm", "d", 1.5 * 29 * 33 + 1.25},
                                                   {"3mm", "abcd", 29.0 * 41 * 33},
                                                   {"syrk", "c", 1.5 * 29 + 1.25},
                                                   {"syr2k", "c", 1.5 * 2 * 29 + 1.25},
                                                   {"doitgen", "a", 37.0},
                                                   {"atax", "y", 70.0 * 300},
                                                   {"bicg", "q", 300.0},
                                                   {"bicg", "s", 70.0},
                                                   {"mvt", "x1", 1.0 + 270},
                                                   {"mvt", "x2", 1.0 + 270},
                                                   {"gesummv", "y", (1.5 + 1.25) * 270},
                                                   {"gemver", "x", 1.25 * 3 * 270 + 1},
                                                   {"gemver", "w", 1.5 * 3 * 270 * (1.25 * 3 * 270 + 1)}}) {
    INFO(workload << " " << buffer);
    Case c = read(workload);
    for (auto const& declared : c.plan.buffers)
      if (declared.fill == launch::Fill::random) fill(c.before, declared.name.c_str(), 1);
    for (Rounded const element : outcome(workload, c, buffer))
      CHECK(element.value() == Approx(expected).epsilon(1e-12));
  }
}

// On a constant field a convolution is the sum of its weights, a field has no curl and smoothing changes nothing but
// the factor's last digits.
TEST_CASE("Stencils on constant fields") {
  Case conv2d = read("2dconv"), conv3d = read("3dconv"), jacobi1d = read("jacobi1d"), jacobi2d = read("jacobi2d"),
       fdtd2d = read("fdtd2d");
  fill(conv2d.before, "in", 2);
  CHECK(outcome("2dconv", conv2d, "out")[70 + 1].value() == Approx(2 * 0.5));
  fill(conv3d.before, "in", 2);
  CHECK(outcome("3dconv", conv3d, "out")[(13 + 1) * 37 + 1].value() == 2 * 34);
  fill(jacobi1d.before, "now", 2);
  for (Rounded const element : outcome("jacobi1d", jacobi1d, "now"))
    CHECK(element.value() == Approx(2).epsilon(12 * 2e-5));
  fill(jacobi2d.before, "now", 2);
  for (Rounded const element : outcome("jacobi2d", jacobi2d, "now")) CHECK(element.value() == Approx(2).epsilon(1e-6));
  for (char const* field : {"ex", "ey", "hz", "source"}) fill(fdtd2d.before, field, 2);
  auto const still = expect_polybench("fdtd2d", fdtd2d.plan, fdtd2d.before, fdtd2d.after);
  for (auto const& [name, elements] : still)
    for (Rounded const element : elements) CHECK(element.value() == 2);
}

// The forward sweeps alone have a closed form: their diagonals are those of the LDLT factors, so each one is a quotient
// of two leading minors. With b = 4 + 1 and a = 1 in every place: d(i) = 5 - 1 / d(i - 1) in the row sweep.
TEST_CASE("adi: diagonals after the sweeps") {
  Case c = read("adi");
  for (char const* buffer : {"x", "a", "b"}) fill(c.before, buffer, 1);
  std::erase_if(c.plan.calls, [first = true](launch::Call const& call) mutable {
    return call.kernel.text == "adi_rows" && !std::exchange(first, false);
  });
  std::size_t const n = c.scenario().integer("adi_rows", 0);
  auto const expected = expect_polybench("adi", c.plan, c.before, c.after);
  double along_row = 5;
  for (std::size_t j = 0; j < n; ++j, along_row = 5 - 1 / along_row) {
    double along_column = along_row;
    for (std::size_t i = 0; i < n; ++i, along_column = along_row - 1 / along_column)
      CHECK(expected.at("b")[i * n + j].value() == Approx(along_column).epsilon(1e-12));
  }
}

TEST_CASE("Arithmetic in single precision stays within its bound, and the bound near it") {
  std::mt19937 random(1);
  std::uniform_real_distribution<float> number(-1, 1);
  double nearest = 0;
  for (int round = 0; round < 10000; ++round) {
    float value = number(random);
    Rounded bounded(value);
    Sum sum;
    float plain_sum = 0;
    for (int step = 0; step < 8; ++step) {
      float const other = number(random) + 2;
      switch (random() % 6) {
        case 0:
          value += other, bounded += Rounded(other);
          break;
        case 1:
          value -= other, bounded -= Rounded(other);
          break;
        case 2:
          value *= other, bounded = bounded * Rounded(other);
          break;
        case 3:
          value /= other, bounded /= Rounded(other);
          break;
        case 4:
          value = std::fma(value, other, other), bounded = bounded * Rounded(other) + Rounded(other);
          break;
        case 5:
          value = std::sqrt(value * value + other), bounded = sqrt(bounded * bounded + Rounded(other));
          break;
      }
      sum += bounded, plain_sum += value;
    }
    CHECK(std::abs(value - bounded.value()) <= bounded.error());
    CHECK(std::abs(plain_sum - sum.total().value()) <= sum.total().error());
    nearest = std::max(nearest, std::abs(value - bounded.value()) / bounded.error());
  }
  CHECK(nearest > 0.2);
}
