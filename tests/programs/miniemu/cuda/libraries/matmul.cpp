// cuBLASLt: products of both layouts, with a bias and without negative results, beside plain loops.
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

void* layout(int rows, int columns, bool by_rows) {
  void* out = nullptr;
  cublasLtMatrixLayoutCreate(&out, f32, static_cast<std::uint64_t>(rows), static_cast<std::uint64_t>(columns),
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

}  // namespace

int main(int argc, char** argv) {
  std::string const what = argc > 1 ? argv[1] : "";
  if (what == "products") products();
  if (wrong == 0) std::printf("right: %s\n", what.c_str());
  return wrong != 0;
}
