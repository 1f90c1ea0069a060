// What attaching adds to an application's launches. Prints CSV: what, bytes of its buffer, microseconds of one launch
// until it has ended, and of the process's processor time for it: the first of all (its program is new), launches with
// sizes that are new, `apart` by a tenth of a second or `new` one upon the other, and with sizes seen before (medians).
#include "opencl/app.hpp"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <thread>

static char const* const source =
    "__kernel void touch(__global int* x, int n) { int i = get_global_id(0); x[i % n] += 1; }";

namespace {

struct Cost {
  double us = 0, cpu_us = 0;
};

double now_us(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return 1e6 * static_cast<double>(now.tv_sec) + 1e-3 * static_cast<double>(now.tv_nsec);
}

Cost launch(App const& app, cl_kernel kernel, std::size_t global) {
  double const begin = now_us(CLOCK_MONOTONIC), cpu = now_us(CLOCK_PROCESS_CPUTIME_ID);
  app.launch(kernel, {global}, {32});
  check(clFinish(app.queue), "clFinish");
  return {now_us(CLOCK_MONOTONIC) - begin, now_us(CLOCK_PROCESS_CPUTIME_ID) - cpu};
}

void print_median(char const* what, std::size_t bytes, std::vector<Cost> costs) {
  auto const middle = [&](double Cost::* of) {
    std::sort(costs.begin(), costs.end(), [&](Cost const& a, Cost const& b) { return a.*of < b.*of; });
    return costs[costs.size() / 2].*of;
  };
  std::printf("%s,%zu,%.2f,%.2f\n", what, bytes, middle(&Cost::us), middle(&Cost::cpu_us));
}

}  // namespace

int main() {
  App const app;
  cl_kernel const kernel = app.kernel(app.build(source), "touch");
  std::printf("launch,buffer_bytes,us,cpu_us\n");
  std::size_t global = 32;
  for (std::size_t bytes = 4096; bytes <= std::size_t{256} << 20; bytes *= 8) {
    std::vector<int> x(bytes / sizeof(int), 1);
    cl_mem const bx = app.buffer(x);
    set(kernel, 0, bx);
    set(kernel, 1, static_cast<int>(x.size()));
    std::vector<Cost> apart, fresh, seen;
    if (bytes == 4096) print_median("first", bytes, {launch(app, kernel, global)});
    for (int i = 0; i < 9; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
      apart.push_back(launch(app, kernel, global += 32));
    }
    for (int i = 0; i < 9; ++i) fresh.push_back(launch(app, kernel, global += 32));
    for (int i = 0; i < 2001; ++i) seen.push_back(launch(app, kernel, global));
    print_median("apart", bytes, apart);
    print_median("new", bytes, fresh);
    print_median("seen", bytes, seen);
    clReleaseMemObject(bx);
  }
}
