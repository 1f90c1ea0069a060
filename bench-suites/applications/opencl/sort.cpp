// A bitonic sort, whose arguments change from launch to launch, and a histogram with atomic operations in local and
// global memory.
#include "app.hpp"

#include <algorithm>

static char const* const source = R"(
__kernel void exchange(__global uint* keys, uint stage, uint step) {
  uint i = get_global_id(0), j = i ^ step;
  if (j <= i) return;
  uint a = keys[i], b = keys[j];
  bool up = (i & stage) == 0;
  if ((a > b) == up) { keys[i] = b; keys[j] = a; }
}
__kernel void count(__global const uint* keys, __global uint* bins, uint shift) {
  __local uint mine[64];
  uint l = get_local_id(0);
  mine[l] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  atomic_inc(&mine[keys[get_global_id(0)] >> shift & 63]);
  barrier(CLK_LOCAL_MEM_FENCE);
  atomic_add(&bins[l], mine[l]);
}
)";

int main() {
  App const app;
  constexpr cl_uint n = 2048;
  std::vector<cl_uint> keys(n), bins(64), want_bins(64);
  cl_uint state = 12345;
  for (auto& key : keys) {
    state = state * 1664525U + 1013904223U;
    key = state >> 8;
    ++want_bins[key >> 18 & 63];
  }
  auto want = keys;
  std::sort(want.begin(), want.end());
  cl_mem const bkeys = app.buffer(keys), bbins = app.buffer(bins);
  cl_program const program = app.build(source);
  cl_kernel const exchange = app.kernel(program, "exchange"), count = app.kernel(program, "count");
  set(count, 0, bkeys);
  set(count, 1, bbins);
  set(count, 2, cl_uint{18});
  app.launch(count, {n}, {64});
  set(exchange, 0, bkeys);
  for (cl_uint stage = 2; stage <= n; stage *= 2)
    for (cl_uint step = stage / 2; step > 0; step /= 2) {
      set(exchange, 1, stage);
      set(exchange, 2, step);
      app.launch(exchange, {n}, {128});
    }
  app.read(bkeys, keys);
  app.read(bbins, bins);
  print("keys", keys);
  return compare("keys", keys, want) + compare("bins", bins, want_bins) != 0;
}
