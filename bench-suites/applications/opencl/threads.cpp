// Four threads, each with a queue and kernels of its own, on one context and program.
#include "app.hpp"

#include <thread>

static char const* const source = R"(
__kernel void advance_state(__global uint* x, uint add) { uint i = get_global_id(0); x[i] = x[i] * 69069u + add; }
)";

int main() {
  constexpr cl_uint threads = 4, steps = 25;
  App const app;
  cl_program const program = app.build(source);
  std::vector<std::vector<cl_uint>> parts(threads);
  std::vector<std::thread> workers;
  for (cl_uint t = 0; t < threads; ++t)
    workers.emplace_back([&, t] {
      App mine = app;
      mine.queue = app.another_queue();
      parts[t].assign(256 * (t + 1), t);
      cl_mem const bx = mine.buffer(parts[t]);
      for (cl_uint s = 0; s < steps; ++s) {
        cl_kernel const kernel = mine.kernel(program, "advance_state");
        set(kernel, 0, bx);
        set(kernel, 1, s);
        mine.launch(kernel, {parts[t].size()}, {64});
        clReleaseKernel(kernel);
      }
      mine.read(bx, parts[t]);
      clReleaseMemObject(bx);
      clReleaseCommandQueue(mine.queue);
    });
  for (auto& worker : workers) worker.join();
  int wrong = 0;
  for (cl_uint t = 0; t < threads; ++t) {
    cl_uint value = t;
    for (cl_uint s = 0; s < steps; ++s) value = value * 69069U + s;
    wrong += compare("part", parts[t], std::vector<cl_uint>(256 * (t + 1), value));
  }
  return wrong != 0;
}
