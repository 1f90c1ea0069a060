// FlashAttention-3's forward kernels without PyTorch: attention of heads of 64 and 128, causal, and in clusters of two,
// with lengths that no tile divides. Compared with the host in double precision; prints Passed or Failed.
#include <cuda_bf16.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "flash_fwd_launch_template.h"

// Of sequences of several lengths, which are not used here.
void prepare_varlen_num_blocks(Flash_fwd_params&, cudaStream_t, bool, int, int, bool) {}

namespace {

using Bf16 = __nv_bfloat16;

template <class T>
T* upload(std::vector<T> const& from) {
  void* to = nullptr;
  cudaMalloc(&to, from.size() * sizeof(T));
  cudaMemcpy(to, from.data(), from.size() * sizeof(T), cudaMemcpyHostToDevice);
  return static_cast<T*>(to);
}

template <int Dim, int Cluster, bool Causal>
void attend(char const* name, int heads, int queries, int keys) {
  unsigned state = 5;
  auto const values = [&](int rows) {
    std::vector<Bf16> all(std::size_t(rows) * heads * Dim);
    for (Bf16& x : all) {
      state = state * 1664525u + 1013904223u;
      x = __float2bfloat16(float(int(state >> 16) % 201 - 100) / 100);
    }
    return all;
  };
  auto const q = values(queries), k = values(keys), v = values(keys);
  std::vector<Bf16> o(q.size());
  Flash_fwd_params p{};
  p.q_ptr = upload(q), p.k_ptr = upload(k), p.v_ptr = upload(v), p.o_ptr = upload(o);
  p.softmax_lse_ptr = upload(std::vector<float>(heads * queries));
  p.tile_count_semaphore = upload(std::vector<int>(64));
  p.q_row_stride = p.k_row_stride = p.v_row_stride = p.o_row_stride = heads * Dim;
  p.q_head_stride = p.k_head_stride = p.v_head_stride = p.o_head_stride = Dim;
  p.q_batch_stride = p.o_batch_stride = std::int64_t(queries) * heads * Dim;
  p.k_batch_stride = p.v_batch_stride = std::int64_t(keys) * heads * Dim;
  p.v_dim_stride = 1;
  p.h = p.h_k = heads, p.b = p.b_k = 1, p.seqlen_q = queries, p.seqlen_k = keys;
  p.d = p.dv = p.d_rounded = p.dv_rounded = Dim;
  p.scale_softmax = 1 / std::sqrt(float(Dim));
  p.window_size_left = -1, p.window_size_right = Causal ? 0 : -1;
  p.is_bf16 = true, p.is_causal = Causal, p.num_splits = 1, p.arch = 90, p.num_sm = 132;
  run_flash_fwd<90, Dim, Dim, Cluster, cutlass::bfloat16_t, cutlass::bfloat16_t, Causal, false, false, false, false,
                false, false, false, false, false>(p, nullptr);
  if (cudaError_t const status = cudaDeviceSynchronize()) std::printf("Failed: %s\n", cudaGetErrorString(status));
  cudaMemcpy(o.data(), p.o_ptr, o.size() * sizeof(Bf16), cudaMemcpyDeviceToHost);
  double worst = 0;
  for (int head = 0; head < heads; ++head)
    for (int i = 0; i < queries; ++i) {
      auto const at = [&](std::vector<Bf16> const& x, int row, int c) {
        return double(__bfloat162float(x[(row * heads + head) * Dim + c]));
      };
      int const last = Causal ? i + keys - queries : keys - 1;
      std::vector<double> weights(keys);
      double sum = 0;
      for (int j = 0; j <= last; ++j) {
        double product = 0;
        for (int c = 0; c < Dim; ++c) product += at(q, i, c) * at(k, j, c);
        sum += weights[j] = std::exp(product / std::sqrt(double(Dim)));
      }
      for (int c = 0; c < Dim; ++c) {
        double expected = 0;
        for (int j = 0; j <= last; ++j) expected += weights[j] * at(v, j, c);
        worst = std::fmax(worst, std::fabs(expected / sum - at(o, i, c)));
      }
    }
  std::printf("%s %s: off by %g at most\n", worst < 0.01 ? "Passed" : "Failed", name, worst);
}

}  // namespace

int main() {
  attend<64, 1, false>("heads of 64", 2, 200, 300);
  attend<64, 1, true>("heads of 64, causal", 2, 200, 300);
  attend<128, 2, false>("heads of 128, clusters of 2", 2, 300, 260);
}
