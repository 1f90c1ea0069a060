// Sums and products: GEMM, reduction, scan, SpMV, stencil, triad and the arithmetic chains.
#include <array>

#include "references.hpp"

namespace kernelcast::suites {

template <class Real>
Verdict judge_gemm(Run const& run) {
  using Number = Approximate<Real>;
  auto const a = run.input<Real>("a"), b = run.input<Real>("b");
  auto const n = static_cast<std::size_t>(run.argument<std::int32_t>("gemm_nn", 3));
  Verdict verdict;
  for (bool const transposed : {false, true}) {
    char const *const name = transposed ? "c_nt" : "c_nn", *const kernel = transposed ? "gemm_nt" : "gemm_nn";
    auto const old = run.input<Real>(name), got = run.result<Real>(name);
    Number const alpha = run.argument<Real>(kernel, 4), beta = run.argument<Real>(kernel, 5);
    for (std::size_t column = 0; column < n; ++column)
      for (std::size_t row = 0; row < n; ++row) {
        long double sum = 0, magnitude = 0;
        for (std::size_t k = 0; k < n; ++k) {
          long double const product =
              static_cast<long double>(a[k * n + row]) * b[transposed ? k * n + column : column * n + k];
          sum += product;
          magnitude += std::abs(product);
        }
        std::size_t const i = column * n + row;
        auto const total = Number::sum(sum, magnitude, static_cast<long double>(n + 1));
        expect_near<Real>(verdict, name, i, got[i], alpha * total + beta * Number(old[i]));
      }
  }
  return verdict;
}

// A partial sum of m elements per work-item and 256 work-items: m + 8 additions deep.
template <class Real>
Verdict judge_reduction(Run const& run) {
  auto const input = run.input<Real>("input"), partial = run.result<Real>("partial");
  std::size_t const groups = partial.size();
  std::vector<long double> sums(groups), magnitudes(groups);
  for (std::size_t i = 0; i < input.size(); ++i) {
    sums[i / 512 % groups] += input[i];
    magnitudes[i / 512 % groups] += std::abs(input[i]);
  }
  long double const depth = 2 * std::ceil(static_cast<long double>(input.size()) / (512.0L * groups)) + 8;
  Verdict verdict;
  for (std::size_t g = 0; g < groups; ++g)
    expect_near<Real>(verdict, "partial", g, partial[g], Approximate<Real>::sum(sums[g], magnitudes[g], depth));
  return verdict;
}

// Additions on the way from an element to a prefix sum: those of its region's sum (elements per work-item and 8 of the
// tree), 8 to scan the regions, one per window of a region before, 3 in a vector, 8 to scan the window, 2 to put parts
// together.
template <class Real>
Verdict judge_scan(Run const& run) {
  auto const input = run.input<Real>("input"), sums = run.result<Real>("sums"), output = run.result<Real>("output");
  std::size_t const groups = sums.size();
  std::size_t const region = 4 * ((input.size() / 4 + groups - 1) / groups);
  long double const per_item = std::ceil(region / 256.0L), windows = std::ceil(region / 1024.0L);
  long double const region_depth = per_item + 8 + 8, depth = region_depth + windows + 3 + 8 + 2;
  Verdict verdict;
  long double sum = 0, magnitude = 0;
  for (std::size_t i = 0; i < input.size(); ++i) {
    if (i % region == 0)
      expect_near<Real>(verdict, "sums", i / region, sums[i / region],
                        Approximate<Real>::sum(sum, magnitude, region_depth));
    sum += input[i];
    magnitude += std::abs(input[i]);
    expect_near<Real>(verdict, "output", i, output[i], Approximate<Real>::sum(sum, magnitude, depth));
  }
  return verdict;
}

namespace {

// The matrix as bench-suites/shoc/spmv.cl describes it.
struct Matrix {
  std::vector<std::int32_t> row_start{0}, columns;
};
Matrix make_matrix(std::int32_t rows, std::int32_t mean) {
  constexpr std::array<std::int32_t, 8> more{3, 0, -4, 5, -2, 1, 2, -5};
  Matrix matrix;
  for (std::int32_t row = 0; row < rows; ++row) {
    std::int64_t const length = mean + more[static_cast<std::size_t>(row % 8)];
    for (std::int64_t i = 0; i < length; ++i) {
      std::int64_t const low = rows * i / length, high = rows * (i + 1) / length;
      std::uint32_t const mixed =
          static_cast<std::uint32_t>(row) * 2654435761u ^ static_cast<std::uint32_t>(i) * 2246822519u;
      matrix.columns.push_back(static_cast<std::int32_t>(low + (mixed >> 7) % (high - low)));
    }
    matrix.row_start.push_back(static_cast<std::int32_t>(matrix.columns.size()));
  }
  return matrix;
}

}  // namespace

template <class Real>
Verdict judge_spmv(Run const& run) {
  using Number = Approximate<Real>;
  auto const rows = run.argument<std::int32_t>("spmv_matrix", 2), mean = run.argument<std::int32_t>("spmv_matrix", 3);
  auto const values = run.input<Real>("values"), vector = run.input<Real>("vector");
  Matrix const matrix = make_matrix(rows, mean);
  std::vector<Real> ell_values(run.input<Real>("ell_values").size());
  std::vector<std::int32_t> ell_columns(ell_values.size()), lengths;
  auto const scalar = run.result<Real>("csr_scalar"), by_warp = run.result<Real>("csr_vector"),
             ellpackr = run.result<Real>("ellpackr");
  Verdict verdict;
  for (std::size_t row = 0; row < scalar.size(); ++row) {
    auto const start = static_cast<std::size_t>(matrix.row_start[row]),
               end = static_cast<std::size_t>(matrix.row_start[row + 1]);
    lengths.push_back(static_cast<std::int32_t>(end - start));
    long double sum = 0, magnitude = 0;
    for (std::size_t i = start; i < end; ++i) {
      ell_values[(i - start) * scalar.size() + row] = values[i];
      ell_columns[(i - start) * scalar.size() + row] = matrix.columns[i];
      long double const product =
          static_cast<long double>(values[i]) * vector[static_cast<std::size_t>(matrix.columns[i])];
      sum += product;
      magnitude += std::abs(product);
    }
    auto const expected = Number::sum(sum, magnitude, static_cast<long double>(end - start + 1));
    expect_near<Real>(verdict, "csr_scalar", row, scalar[row], expected);
    expect_near<Real>(verdict, "csr_vector", row, by_warp[row], expected);
    expect_near<Real>(verdict, "ellpackr", row, ellpackr[row], expected);
  }
  expect_equal(verdict, "row_start", run.result<std::int32_t>("row_start"), matrix.row_start);
  expect_equal(verdict, "columns", run.result<std::int32_t>("columns"), matrix.columns);
  expect_equal(verdict, "ell_values", run.result<Real>("ell_values"), ell_values);
  expect_equal(verdict, "ell_columns", run.result<std::int32_t>("ell_columns"), ell_columns);
  expect_equal(verdict, "lengths", run.result<std::int32_t>("lengths"), lengths);
  return verdict;
}

template <class Real>
Verdict judge_stencil2d(Run const& run) {
  using Number = Approximate<Real>;
  auto const rows = static_cast<std::size_t>(run.argument<std::int32_t>("stencil2d_border", 2)),
             columns = static_cast<std::size_t>(run.argument<std::int32_t>("stencil2d_border", 3)),
             pitch = static_cast<std::size_t>(run.argument<std::int32_t>("stencil2d_border", 4));
  Number const center = run.argument<Real>("stencil2d_step", 3), cardinal = run.argument<Real>("stencil2d_step", 4),
               diagonal = run.argument<Real>("stencil2d_step", 5);
  std::vector<Number> data, other(run.input<Real>("other").size(), Real{0});
  for (Real const x : run.input<Real>("data")) data.emplace_back(x);
  for (std::size_t y = 0; y < rows + 2; ++y)
    for (std::size_t x = 0; x < columns + 2; ++x)
      if (y == 0 || x == 0 || y == rows + 1 || x == columns + 1) other[y * pitch + x] = data[y * pitch + x];
  auto const step = [&](std::vector<Number> const& from, std::vector<Number>& to) {
    for (std::size_t y = 1; y <= rows; ++y)
      for (std::size_t x = 1; x <= columns; ++x) {
        auto const at = [&](std::size_t row, std::size_t column) { return from[row * pitch + column]; };
        Number const near = at(y - 1, x) + at(y + 1, x) + at(y, x - 1) + at(y, x + 1);
        Number const far = at(y - 1, x - 1) + at(y - 1, x + 1) + at(y + 1, x - 1) + at(y + 1, x + 1);
        to[y * pitch + x] = center * at(y, x) + cardinal * near + diagonal * far;
      }
  };
  for (std::size_t pair = 0; pair < (run.plan.calls.size() - 1) / 2; ++pair) step(data, other), step(other, data);
  Verdict verdict;
  auto const got_data = run.result<Real>("data"), got_other = run.result<Real>("other");
  for (std::size_t i = 0; i < data.size(); ++i) {
    expect_near<Real>(verdict, "data", i, got_data[i], data[i]);
    expect_near<Real>(verdict, "other", i, got_other[i], other[i]);
  }
  return verdict;
}

Verdict judge_triad(Run const& run) {
  auto const a = run.input<float>("a"), b = run.input<float>("b"), c = run.result<float>("c");
  Approximate<float> const scale = run.argument<float>("triad", 3);
  Verdict verdict;
  for (std::size_t i = 0; i < c.size(); ++i)
    expect_near<float>(verdict, "c", i, c[i], Approximate<float>(a[i]) + scale * Approximate<float>(b[i]));
  return verdict;
}

namespace {

// mulmad's x is in both factors: an error of x comes through multiplied by the derivative 1.5 - x, where the
// factors taken alone would have it grow without bound.
template <class Number>
Number mulmad(Number x) {
  Number const exact{x.value, 0}, factor = Number::constant(1.5) - Number::constant(0.5) * exact;
  Number result = factor * exact;
  result.error += (std::abs(1.5L - x.value) + 0.5L * x.error) * x.error;
  return result;
}

template <class Number>
Number one_step(std::string_view chain, Number x) {
  auto const constant = [](double decimal) { return Number::constant(decimal); };
  if (chain == "add") return constant(10.0) - x;
  if (chain == "mul") return x * constant(0.999) * constant(1.001);
  if (chain == "mad") return constant(10.0) - constant(0.9899) * x;
  return mulmad(x);
}

}  // namespace

template <class Real>
Verdict judge_maxflops(Run const& run) {
  using Number = Approximate<Real>;
  Verdict verdict;
  for (auto const& call : run.plan.calls) {
    std::string const& kernel = call.kernel.text;
    auto const chain = kernel.substr(0, kernel.find('_'));
    auto const streams = static_cast<std::size_t>(std::stoul(kernel.substr(kernel.find('_') + 1)));
    auto const steps = run.argument<std::uint32_t>(kernel, 1) * (240 / streams);
    auto const before = run.input<Real>(kernel), after = run.result<Real>(kernel);
    for (std::size_t item = 0; item < before.size(); ++item) {
      Number sum;
      for (std::size_t stream = 0; stream < streams; ++stream) {
        Number x = Number(before[item]) + Number(static_cast<Real>(0.0625 * static_cast<double>(stream)));
        for (std::size_t step = 0; step < steps; ++step) x = one_step(chain, x);
        sum += x;
      }
      expect_near<Real>(verdict, kernel, item, after[item], sum);
      if (!verdict.equal) return verdict;
    }
  }
  return verdict;
}

#define FOR_BOTH(JUDGE)                      \
  template Verdict JUDGE<float>(Run const&); \
  template Verdict JUDGE<double>(Run const&);
FOR_BOTH(judge_gemm)
FOR_BOTH(judge_reduction)
FOR_BOTH(judge_scan)
FOR_BOTH(judge_spmv)
FOR_BOTH(judge_stencil2d)
FOR_BOTH(judge_maxflops)

}  // namespace kernelcast::suites
