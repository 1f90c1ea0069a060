// cuBLASLt: products of both layouts, with a bias and without negative results, beside plain loops.
#include <algorithm>
#include <cmath>
#include <string>

#include "common.hpp"

extern "C" {
int cublasLtCreate(void**);
int cublasLtMatrixLayoutCreate(void**, int, std::uint64_t, std::uint64_t, std::int64_t);
int cublasLtMatrixLayoutSetAttribute(void*, int, void const*, std::size_t);
int cublasLtMatmulDescCreate(void**, int, int);
int cublasLtMatmulDescSetAttribute(void*, int, void const*, std::size_t);
int cublasLtMatmul(void*, void*, void const*, void const*, void*, void const*, void*, void const*, void const*, void*,
                   void*, void*, void const*, void*, std::size_t, void*);
}

namespace {

constexpr int f32 = 0, compute_f32 = 68;

void* layout(int rows, int columns, bool by_rows, int type = f32) {
  void* out = nullptr;
  cublasLtMatrixLayoutCreate(&out, type, static_cast<std::uint64_t>(rows), static_cast<std::uint64_t>(columns),
                             by_rows ? columns : rows);
  int const order = by_rows;
  expect(cublasLtMatrixLayoutSetAttribute(out, 1, &order, sizeof order) == 0, "order");
  return out;
}

void products() {
  void* handle = nullptr;
  expect(cublasLtCreate(&handle) == 0, "create");
  int const m = 37, n = 29, k = 41;
  for (int round = 0; round < 16; ++round) {
    bool const rows_a = round & 1, rows_d = round & 2, across = round & 4, finished = round & 8;
    auto const a = drawn<float>(m * k), b = drawn<float>(k * n), bias = drawn<float>(m), c = drawn<float>(m * n);
    OnDevice<float> const on_a(a), on_b(b), on_bias(bias), on_c(c), on_d(c);
    void* description = nullptr;
    expect(cublasLtMatmulDescCreate(&description, compute_f32, f32) == 0, "description");
    int const op = across;
    cublasLtMatmulDescSetAttribute(description, 3, &op, sizeof op);
    std::uint32_t const epilogue = finished ? 6 : 1;
    cublasLtMatmulDescSetAttribute(description, 7, &epilogue, sizeof epilogue);
    float const* const pointer = on_bias;
    cublasLtMatmulDescSetAttribute(description, 8, &pointer, sizeof(void*));
    float const alpha = 2, beta = 0.5;
    auto* const la = across ? layout(k, m, rows_a) : layout(m, k, rows_a);
    auto* const ld = layout(m, n, rows_d);
    expect(cublasLtMatmul(handle, description, &alpha, on_a, la, on_b, layout(k, n, false), &beta, on_c, ld, on_d, ld,
                          nullptr, nullptr, 0, nullptr) == 0,
           "matmul");
    std::vector<float> expected(m * n);
    for (int i = 0; i < m; ++i)
      for (int j = 0; j < n; ++j) {
        float sum = 0;
        for (int p = 0; p < k; ++p) {
          int const row = across ? p : i, column = across ? i : p, height = across ? k : m, width = across ? m : k;
          sum += a[rows_a ? row * width + column : column * height + row] * b[j * k + p];
        }
        int const at = rows_d ? i * n + j : j * m + i;
        expected[at] = 2 * sum + 0.5F * c[at];
        if (finished) expected[at] = std::max(0.0F, expected[at] + bias[i]);
      }
    expect(difference(on_d.values(), expected) < 1e-5, "values");
    expect(on_c.values() == c, "what is only read");
  }
}

// Types of 8 bits: sign, exponent, fraction.
struct Eighth {
  int type, exponent_bits;
  double value(int code) const {
    int const fraction_bits = 7 - exponent_bits, bias = (1 << (exponent_bits - 1)) - 1;
    int const exponent = (code & 0x7f) >> fraction_bits, fraction = code & ((1 << fraction_bits) - 1);
    double const one = 1 << fraction_bits;
    double const size =
        exponent == 0 ? std::ldexp(fraction / one, 1 - bias) : std::ldexp(1 + fraction / one, exponent - bias);
    return code & 0x80 ? -size : size;
  }
  int largest() const { return exponent_bits == 4 ? 0x7e : 0x7b; }
  std::uint8_t nearest(double x) const {  // ties to even
    int best = 0;
    for (int code = 0; code <= largest(); ++code) {
      double const now = std::fabs(value(code) - std::fabs(x)), before = std::fabs(value(best) - std::fabs(x));
      if (now < before || (now == before && code % 2 == 0)) best = code;
    }
    return static_cast<std::uint8_t>(std::signbit(x) ? best | 0x80 : best);
  }
};
constexpr Eighth e4m3{28, 4}, e5m2{29, 5};

// With a factor of each matrix and the largest result; also of a size that OpenBLAS is worth for.
void eighths() {
  void* handle = nullptr;
  expect(cublasLtCreate(&handle) == 0, "create");
  for (int round = 0; round < 8; ++round) {
    bool const to_float = round & 1, finished = round & 2;
    int const m = round & 4 ? 65 : 9, n = 24, k = 48;
    auto const &of_b = to_float ? e5m2 : e4m3, &of_d = e4m3;
    std::vector<std::uint8_t> a(m * k), b(k * n);
    for (auto* all : {&a, &b})
      for (auto& code : *all) code = (all == &a ? e4m3 : of_b).nearest(between(-7, 7));
    OnDevice<std::uint8_t> const on_a(a), on_b(b), on_d(std::vector<std::uint8_t>(m * n));
    OnDevice<float> const on_wide(std::vector<float>(m * n)), scales(std::vector<float>{0.5F, 0.25F, 3, 0});
    std::vector<std::uint16_t> bias;
    for (int i = 0; i < m; ++i) bias.push_back(bfloat_of(i % 5 - 2));
    OnDevice<std::uint16_t> const on_bias(bias);
    void* description = nullptr;
    cublasLtMatmulDescCreate(&description, compute_f32, f32);
    int const across = 1, bfloat = 14;
    cublasLtMatmulDescSetAttribute(description, 3, &across, sizeof across);
    float const* const begin = scales;
    std::uint16_t const* const bias_begin = on_bias;
    std::uint32_t const gelu_bias = 36;
    auto const set = [&](int attribute, auto const& value) {
      expect(cublasLtMatmulDescSetAttribute(description, attribute, &value, sizeof value) == 0, "attribute");
    };
    set(17, begin);
    float const* const of_two = begin + 1;
    set(18, of_two);
    float const *const out = begin + 2, *const most = begin + 3;
    if (!to_float) set(20, out), set(21, most);
    if (finished) set(7, gelu_bias), set(8, bias_begin), set(26, bfloat);
    float const alpha = 2, none = 0;
    void* const to = to_float ? static_cast<void*>(on_wide.begin()) : on_d.begin();
    auto* const c = layout(m, n, false, to_float ? f32 : bfloat);
    expect(cublasLtMatmul(handle, description, &alpha, on_a, layout(k, m, false, e4m3.type), on_b,
                          layout(k, n, false, of_b.type), &none, to, c, to,
                          layout(m, n, false, to_float ? f32 : of_d.type), nullptr, nullptr, 0, nullptr) == 0,
           "matmul");
    double largest = 0;
    bool right = true;
    auto const codes = on_d.values();
    auto const wide = on_wide.values();
    for (int j = 0; j < n; ++j)
      for (int i = 0; i < m; ++i) {
        double x = 0;
        for (int p = 0; p < k; ++p) x += e4m3.value(a[i * k + p]) * of_b.value(b[j * k + p]);
        x *= 2 * 0.5 * 0.25;
        if (finished) x += i % 5 - 2;
        if (finished) x = 0.5 * x * (1 + std::tanh(std::sqrt(2 / 3.14159265358979) * (x + 0.044715 * x * x * x)));
        largest = std::max(largest, std::fabs(x));
        if (to_float)
          right &= std::fabs(wide[j * m + i] - x) <= 1e-5 * std::max(1.0, std::fabs(x));
        else  // a function of two computations may round to either side
          right &= finished ? std::fabs(of_d.value(codes[j * m + i]) - 3 * x) <=
                                      std::max(0.002, 0.0626 * std::fabs(3 * x)) ||
                                  codes[j * m + i] == of_d.nearest(3 * x)
                            : codes[j * m + i] == of_d.nearest(3 * x);
      }
    expect(right, "values of 8 bits");
    if (!to_float) expect(std::fabs(scales.values()[3] - largest) <= 1e-5 * largest, "the largest");
  }
}

}  // namespace

int main(int argc, char** argv) {
  std::string const what = argc > 1 ? argv[1] : "";
  if (what == "products") products();
  if (what == "eighths") eighths();
  if (wrong == 0) std::printf("right: %s\n", what.c_str());
  return wrong != 0;
}
