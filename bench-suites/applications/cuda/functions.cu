// Calls in device code: pointers to functions, also handed over by the host; virtual functions; recursion; variadic
// templates and lambdas.
#include "app.hpp"

using Operation = float (*)(float, float);

__device__ float add(float a, float b) {
  return a + b;
}
__device__ float multiply(float a, float b) {
  return a * b;
}
__device__ float smaller(float a, float b) {
  return a < b ? a : b;
}
__device__ Operation table[] = {add, multiply, smaller};
__device__ Operation chosen = multiply;

__global__ void by_table(float const* a, float const* b, float* out, int n) {
  int const i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = table[i % 3](a[i], b[i]);
}
__global__ void by_pointer(Operation operation, float const* a, float const* b, float* out, int n) {
  int const i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = operation(a[i], b[i]);
}

struct Shape {
  __device__ virtual float area() const = 0;
  __device__ virtual ~Shape() {}
};
struct Square : Shape {
  float side;
  __device__ explicit Square(float s) : side(s) {}
  __device__ float area() const override { return side * side; }
};
struct Circle : Shape {
  float radius;
  __device__ explicit Circle(float r) : radius(r) {}
  __device__ float area() const override { return 3.0f * radius * radius; }
};
__global__ void areas(float* out) {
  Square const square(threadIdx.x + 1.0f);
  Circle const circle(threadIdx.x + 2.0f);
  Shape const* const shape = threadIdx.x % 2 ? static_cast<Shape const*>(&circle) : &square;
  out[threadIdx.x] = shape->area();
}

__device__ int ackermann(int m, int n) {
  if (m == 0) return n + 1;
  return n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1));
}
__global__ void recursive(int* out) {
  out[threadIdx.x] = ackermann(2, threadIdx.x);
}

template <class... Functions>
__global__ void chain(float* x, Functions... functions) {
  ((x[threadIdx.x] = functions(x[threadIdx.x])), ...);
}

int main() {
  int const n = 1000;
  Numbers numbers;
  auto const a = numbers.units(n), b = numbers.units(n);
  float *const d_a = on_device(a), *const d_b = on_device(b), *const d_out = zeros_on_device<float>(n);
  std::vector<float> expected(n);
  by_table<<<8, 128>>>(d_a, d_b, d_out, n);
  for (int i = 0; i < n; ++i) expected[i] = i % 3 == 0 ? a[i] + b[i] : i % 3 == 1 ? a[i] * b[i] : std::fmin(a[i], b[i]);
  expect_equal(from_device(d_out, n), expected, "a table of functions");

  Operation operation = nullptr;
  CHECK(cudaMemcpyFromSymbol(&operation, chosen, sizeof operation));
  by_pointer<<<8, 128>>>(operation, d_a, d_b, d_out, n);
  for (int i = 0; i < n; ++i) expected[i] = a[i] * b[i];
  expect_equal(from_device(d_out, n), expected, "a function from the host");

  areas<<<1, 64>>>(d_out);
  expected.assign(64, 0);
  for (int i = 0; i < 64; ++i) expected[i] = i % 2 ? 3.0f * (i + 2) * (i + 2) : (i + 1.0f) * (i + 1);
  expect_equal(from_device(d_out, 64), expected, "virtual functions");

  CHECK(cudaDeviceSetLimit(cudaLimitStackSize, 8192));
  int* const d_ints = zeros_on_device<int>(8);
  recursive<<<1, 8>>>(d_ints);
  std::vector<int> ints(8);
  for (int i = 0; i < 8; ++i) ints[i] = 2 * i + 3;
  expect_equal(from_device(d_ints, 8), ints, "recursion");

  float* const d_x = on_device(std::vector<float>(32, 2));
  float const factor = 3;
  chain<<<1, 32>>>(d_x, [factor] __device__(float v) { return v * factor; }, [] __device__(float v) { return v - 1; });
  expect_equal(from_device(d_x, 32), std::vector<float>(32, 5), "lambdas");
  return finish();
}
