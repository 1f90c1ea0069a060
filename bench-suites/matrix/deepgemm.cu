// DeepGEMM's kernels without its PyTorch: products D = A B^T of matrices with ragged edges, in bf16 and, for sm_90a, in
// fp8 with factors for 1 x 128 elements of A and 128 x 128 of B. Compared with sums on the host; prints Passed or
// Failed.
#include <cuda.h>
#include <cuda_bf16.h>
#include <cuda_fp8.h>
#include <cuda_runtime.h>

#include <cmath>
#include <cstdio>
#include <vector>

#include <cutlass/numeric_types.h>
#if __CUDA_ARCH_LIST__ == 900  // one architecture a program
#include <deep_gemm/impls/sm90_bf16_gemm.cuh>
#include <deep_gemm/impls/sm90_fp8_gemm_1d2d.cuh>
#else
#include <deep_gemm/impls/sm100_bf16_gemm.cuh>
#endif

namespace {

using cute::UMMA::Major;
using deep_gemm::GemmType;
using Bf16 = __nv_bfloat16;
using Fp8 = __nv_fp8_e4m3;

constexpr int m = 300, n = 384, blocks_of_grid = 4, shared_bytes = 220 * 1024;
constexpr unsigned block_m = 128, block_n = 128, swizzle = 128, stages = 4;

float next_value(unsigned& state) {
  state = state * 1664525u + 1013904223u;
  return float(int(state >> 24) % 17 - 8) / 8;
}
template <class T>
std::vector<T> values(std::size_t count, unsigned& state) {
  std::vector<T> all(count);
  for (T& x : all) x = T(next_value(state));
  return all;
}
template <class T>
T* upload(std::vector<T> const& from) {
  T* to = nullptr;
  cudaMalloc(&to, from.size() * sizeof(T));
  cudaMemcpy(to, from.data(), from.size() * sizeof(T), cudaMemcpyHostToDevice);
  return to;
}
// Rows of `columns` elements; boxes of `rows_of_box` rows as long as the swizzle, or of `columns_of_box` elements
// without one.
CUtensorMap map_of(CUtensorMapDataType type, int bytes, void* data, int columns, int rows, int rows_of_box,
                   int columns_of_box = 0) {
  CUtensorMap map{};
  cuuint64_t const dims[] = {cuuint64_t(columns), cuuint64_t(rows)}, strides[] = {cuuint64_t(columns) * bytes};
  cuuint32_t const box[] = {columns_of_box ? columns_of_box : swizzle / bytes, cuuint32_t(rows_of_box)},
                   steps[] = {1, 1};
  if (cuTensorMapEncodeTiled(&map, type, 2, data, dims, strides, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE,
                             columns_of_box ? CU_TENSOR_MAP_SWIZZLE_NONE : CU_TENSOR_MAP_SWIZZLE_128B,
                             CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) != CUDA_SUCCESS)
    std::printf("Failed: a tensor map\n");
  return map;
}
template <class Kernel, class... Arguments>
void launch(Kernel kernel, unsigned threads, Arguments... arguments) {
  cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared_bytes);
  kernel<<<blocks_of_grid, threads, shared_bytes>>>(arguments...);
  if (cudaError_t const status = cudaDeviceSynchronize()) std::printf("Failed: %s\n", cudaGetErrorString(status));
}
template <class Expected>
void compare(char const* name, Bf16 const* device, Expected expected) {
  std::vector<Bf16> d(std::size_t(m) * n);
  cudaMemcpy(d.data(), device, d.size() * sizeof(Bf16), cudaMemcpyDeviceToHost);
  double worst = 0, largest = 0;
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      double const value = expected(i, j);
      worst = std::fmax(worst, std::fabs(value - double(__bfloat162float(d[i * n + j]))));
      largest = std::fmax(largest, std::fabs(value));
    }
  std::printf("%s %s: off by %g at most, values up to %g\n", worst <= largest / 128 ? "Passed" : "Failed", name, worst,
              largest);
}

void multiply_bf16() {
  constexpr int k = 320;
  unsigned state = 7;
  auto const a = values<Bf16>(m * k, state), b = values<Bf16>(n * k, state);
  Bf16* const d = upload(std::vector<Bf16>(m * n));
  auto const type = CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
  CUtensorMap const of_a = map_of(type, 2, upload(a), k, m, block_m), of_b = map_of(type, 2, upload(b), k, n, block_n),
                    of_d = map_of(type, 2, d, n, m, block_m);
#if __CUDA_ARCH_LIST__ == 900
  launch(&deep_gemm::sm90_bf16_gemm_impl<Major::K, Major::K, 0, 0, 0, 1, block_m, block_n, 64, swizzle, swizzle,
                                         swizzle, stages, 128, 256, 1, false, blocks_of_grid, GemmType::Normal, false,
                                         cutlass::bfloat16_t>,
         384, nullptr, m, n, k, of_a, of_b, of_d);
#else
  launch(&deep_gemm::sm100_bf16_gemm_impl<Major::K, Major::K, 0, 0, 0, block_m, block_n, 64, 1, swizzle, swizzle,
                                          swizzle, stages, 128, 128, 1, false, blocks_of_grid, 64, false, false,
                                          GemmType::Normal, false, cutlass::bfloat16_t, 100>,
         256, nullptr, m, n, k, of_a, of_b, of_d);
#endif
  compare("bf16", d, [&](int i, int j) {
    double sum = 0;
    for (int x = 0; x < k; ++x) sum += double(__bfloat162float(a[i * k + x])) * double(__bfloat162float(b[j * k + x]));
    return sum;
  });
}

#if __CUDA_ARCH_LIST__ == 900
void multiply_fp8() {
  constexpr int k = 512, blocks = k / 128, pitch = 304;  // of the factors of A, a multiple of 4
  unsigned state = 9;
  auto const a = values<Fp8>(m * k, state), b = values<Fp8>(n * k, state);
  auto of_rows = values<float>(pitch * blocks, state), of_blocks = values<float>(n / 128 * blocks, state);
  for (auto* all : {&of_rows, &of_blocks})
    for (float& x : *all) x = 1 + x / 4;
  Bf16* const d = upload(std::vector<Bf16>(m * n));
  auto const type = CU_TENSOR_MAP_DATA_TYPE_UINT8;
  CUtensorMap const of_a = map_of(type, 1, upload(a), k, m, block_m), of_b = map_of(type, 1, upload(b), k, n, block_n),
                    of_d = map_of(CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, d, n, m, block_m),
                    of_factors = map_of(CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 4, upload(of_rows), pitch, blocks, 1, block_m);
  launch(&deep_gemm::sm90_fp8_gemm_1d2d_impl<Major::K, 0, 0, 0, 1, block_m, block_n, 128, swizzle, swizzle, swizzle,
                                             stages, 128, 256, 1, false, blocks_of_grid, GemmType::Normal,
                                             cutlass::bfloat16_t, deep_gemm::epilogue::transform::EpilogueIdentity>,
         384, upload(of_blocks), nullptr, m, n, k, of_a, of_b, of_d, of_factors);
  compare("fp8", d, [&](int i, int j) {
    double sum = 0;
    for (int x = 0; x < k; ++x)
      sum += double(float(a[i * k + x])) * double(float(b[j * k + x])) * of_rows[x / 128 * pitch + i] *
             of_blocks[j / 128 * blocks + x / 128];
    return sum;
  });
}
#endif

}  // namespace

int main() {
  multiply_bf16();
#if __CUDA_ARCH_LIST__ == 900
  multiply_fp8();
#endif
}
