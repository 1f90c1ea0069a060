// An iteration that ends when the host says so: two buffers in turn, the largest change found in local memory.
#include "app.hpp"

static char const* const source = R"(
__kernel void relax(__global const float* from, __global float* to, __global float* changes, int n,
                    __local float* part) {
  int x = get_global_id(0), y = get_global_id(1), l = get_local_id(1) * get_local_size(0) + get_local_id(0);
  int items = get_local_size(0) * get_local_size(1);
  bool inside = x > 0 && y > 0 && x < n - 1 && y < n - 1;
  float old = from[y * n + x];
  float value = inside ? 0.25f * (from[y * n + x - 1] + from[y * n + x + 1] + from[(y - 1) * n + x] + from[(y + 1) * n + x]) : old;
  to[y * n + x] = value;
  part[l] = fabs(value - old);
  for (int k = items / 2; k > 0; k /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l < k) part[l] = fmax(part[l], part[l + k]);
  }
  if (l == 0) changes[get_group_id(1) * get_num_groups(0) + get_group_id(0)] = part[0];
}
)";

int main() {
  App const app;
  constexpr std::size_t n = 32, groups = 8;
  std::vector<float> field(n * n), changes(groups);
  for (std::size_t i = 0; i < n; ++i) field[i] = 1;  // one warm side
  std::vector<float> want = field;
  cl_mem buffers[] = {app.buffer(field), app.buffer(field)};
  cl_mem const bchanges = app.room(groups * sizeof(float));
  cl_kernel const relax = app.kernel(app.build(source), "relax");
  set(relax, 2, bchanges);
  set(relax, 3, static_cast<int>(n));
  check(clSetKernelArg(relax, 4, 128 * sizeof(float), nullptr), "local");
  int iterations = 0;
  float largest = 1;
  while (largest > 1e-3F && iterations < 1000) {
    set(relax, 0, buffers[iterations % 2]);
    set(relax, 1, buffers[(iterations + 1) % 2]);
    app.launch(relax, {n, n}, {16, 8});
    app.read(bchanges, changes);
    largest = 0;
    for (float const change : changes) largest = std::fmax(largest, change);
    ++iterations;
  }
  app.read(buffers[iterations % 2], field);
  for (int i = 0; i < iterations; ++i) {
    std::vector<float> const from = want;
    for (std::size_t y = 1; y + 1 < n; ++y)
      for (std::size_t x = 1; x + 1 < n; ++x)
        want[y * n + x] =
            0.25F * (from[y * n + x - 1] + from[y * n + x + 1] + from[(y - 1) * n + x] + from[(y + 1) * n + x]);
  }
  std::printf("%d iterations\n", iterations);
  return compare("field", field, want, 1e-5);
}
