// A product of matrices of which each thread has a tile of 4 x 4, and whose tiles of shared memory are guarded.
#include <cstdio>

constexpr int tile = 32, each = 4, depth = 8;

__global__ void product(int n, float const* a, float const* b, float* c) {
  __shared__ float as[depth][tile], bs[depth][tile];
  int const row = static_cast<int>(blockIdx.y) * tile, column = static_cast<int>(blockIdx.x) * tile;
  int const x = static_cast<int>(threadIdx.x) % 8, y = static_cast<int>(threadIdx.x) / 8;
  float sums[each][each] = {};
  for (int k = 0; k < n; k += depth) {
#pragma unroll
    for (int load = 0; load < tile * depth / 64; ++load) {
      int const i = static_cast<int>(threadIdx.x) + 64 * load, r = i / depth, d = i % depth;
      float value = 0;
      if (row + r < n && k + d < n) value = a[(row + r) * n + k + d];
      as[d][r] = value;
      bs[i / tile][i % tile] = b[(k + i / tile) * n + column + i % tile];
    }
    __syncthreads();
#pragma unroll
    for (int d = 0; d < depth; ++d)
#pragma unroll
      for (int i = 0; i < each; ++i)
#pragma unroll
        for (int j = 0; j < each; ++j) sums[i][j] += as[d][y * each + i] * bs[d][x * each + j];
    __syncthreads();
  }
  for (int i = 0; i < each; ++i)
    for (int j = 0; j < each; ++j)
      if (row + y * each + i < n && column + x * each + j < n)
        c[(row + y * each + i) * n + column + x * each + j] = sums[i][j];
}

int main() {
  constexpr int n = 64;
  static float a[n * n], b[n * n], c[n * n];
  for (int i = 0; i < n * n; ++i) a[i] = static_cast<float>(i % 7), b[i] = static_cast<float>(i % 5);
  float *da = nullptr, *db = nullptr, *dc = nullptr;
  cudaMalloc(&da, sizeof a), cudaMalloc(&db, sizeof b), cudaMalloc(&dc, sizeof c);
  cudaMemcpy(da, a, sizeof a, cudaMemcpyHostToDevice), cudaMemcpy(db, b, sizeof b, cudaMemcpyHostToDevice);
  product<<<dim3(n / tile, n / tile), 64>>>(n, da, db, dc);
  cudaMemcpy(c, dc, sizeof c, cudaMemcpyDeviceToHost);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) {
      float sum = 0;
      for (int k = 0; k < n; ++k) sum += a[i * n + k] * b[k * n + j];
      if (sum != c[i * n + j]) return std::printf("wrong at %d, %d\n", i, j), 1;
    }
  std::puts("right");
}
