// What attaching adds to an application's launches. Prints CSV: what, bytes of its buffer, microseconds of one launch
// until it has ended: the first of all (its program is new), launches with sizes that are new, and with sizes seen
// before (the median of many).
#include "opencl/app.hpp"

#include <algorithm>
#include <chrono>

static char const* const source =
    "__kernel void touch(__global int* x, int n) { int i = get_global_id(0); x[i % n] += 1; }";

namespace {

double launch_us(App const& app, cl_kernel kernel, std::size_t global) {
  auto const begin = std::chrono::steady_clock::now();
  app.launch(kernel, {global}, {32});
  check(clFinish(app.queue), "clFinish");
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count();
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

}  // namespace

int main() {
  App const app;
  cl_kernel const kernel = app.kernel(app.build(source), "touch");
  std::printf("launch,buffer_bytes,us\n");
  std::size_t global = 32;
  for (std::size_t bytes = 4096; bytes <= std::size_t{256} << 20; bytes *= 8) {
    std::vector<int> x(bytes / sizeof(int), 1);
    cl_mem const bx = app.buffer(x);
    set(kernel, 0, bx);
    set(kernel, 1, static_cast<int>(x.size()));
    std::vector<double> fresh, seen;
    if (bytes == 4096) std::printf("first,%zu,%.2f\n", bytes, launch_us(app, kernel, global));
    for (int i = 0; i < 9; ++i) fresh.push_back(launch_us(app, kernel, global += 32));
    for (int i = 0; i < 2001; ++i) seen.push_back(launch_us(app, kernel, global));
    std::printf("new,%zu,%.2f\nseen,%zu,%.2f\n", bytes, median(fresh), bytes, median(seen));
    clReleaseMemObject(bx);
  }
}
