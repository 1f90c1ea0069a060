// Kernels that are templates of a type, a functor and a size, launched with a grid that strides over the data.
#include "app.hpp"

struct Axpy {
  template <class T>
  __host__ __device__ T operator()(T a, T x, T y) const {
    return a * x + y;
  }
};
struct Smaller {
  template <class T>
  __host__ __device__ T operator()(T a, T x, T y) const {
    return x < y ? a * x : y - a;
  }
};

template <class T, int each, class Operation>
__global__ void combine(T const* x, T* y, T a, int n, Operation operation) {
  int const step = gridDim.x * blockDim.x * each;
  for (int first = (blockIdx.x * blockDim.x + threadIdx.x) * each; first < n; first += step)
#pragma unroll
    for (int k = 0; k < each; ++k)
      if (first + k < n) y[first + k] = operation(a, x[first + k], y[first + k]);
}

template <class T, int each, class Operation>
void try_one(char const* what, double tolerance) {
  int const n = 10007;
  Numbers numbers;
  std::vector<T> x(n), y(n);
  for (auto& v : x) v = static_cast<T>(100 * numbers.unit());
  for (auto& v : y) v = static_cast<T>(100 * numbers.unit());
  T* const dx = on_device(x);
  T* const dy = on_device(y);
  combine<T, each><<<8, 128>>>(dx, dy, T(3), n, Operation{});
  CHECK(cudaGetLastError());
  auto const got = from_device(dy, n);
  for (int i = 0; i < n; ++i) y[i] = Operation{}(T(3), x[i], y[i]);
  expect_near(got, y, tolerance, what);
  CHECK(cudaFree(dx));
  CHECK(cudaFree(dy));
}

int main() {
  try_one<float, 1, Axpy>("float axpy", 1e-6);  // the device fuses, the host may not
  try_one<double, 4, Axpy>("double axpy", 1e-15);
  try_one<int, 2, Axpy>("int axpy", 0);
  try_one<long long, 3, Smaller>("long long choice", 0);
  try_one<short, 4, Smaller>("short choice", 0);
  return finish();
}
