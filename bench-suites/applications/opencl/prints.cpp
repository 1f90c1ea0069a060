// A kernel that prints, between words of the host.
#include "app.hpp"

static char const* const source = R"(
__kernel void greet(__global const int* x, int n) {
  int sum = 0;
  for (int i = 0; i < n; ++i) sum += x[i];
  printf("kernel: %d numbers, sum %d, mean %.3f, first as %#06x\n", n, sum, (float)sum / n, x[0]);
  printf("kernel: vector %v4d\n", vload4(0, x));
}
)";

int main() {
  App const app;
  std::vector<int> x(100);
  for (int i = 0; i < 100; ++i) x[static_cast<std::size_t>(i)] = 17 + i;
  cl_mem const bx = app.buffer(x);
  cl_kernel const greet = app.kernel(app.build(source), "greet");
  set(greet, 0, bx);
  for (int const n : {100, 10}) {
    std::printf("host: %d\n", n);
    std::fflush(stdout);
    set(greet, 1, n);
    app.launch(greet, {1}, {1});
    check(clFinish(app.queue), "clFinish");
  }
}
