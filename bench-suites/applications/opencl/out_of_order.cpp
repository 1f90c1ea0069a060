// An out-of-order queue, a launch that waits for an event which this thread sets later, kernels made anew each time.
#include "app.hpp"

static char const* const source = R"(
__kernel void next(__global uint* x) { uint i = get_global_id(0); x[i] = x[i] * 1664525u + 1013904223u; }
)";

int main() {
  App const app(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
  std::vector<cl_uint> x(1024);
  for (cl_uint i = 0; i < x.size(); ++i) x[i] = i;
  cl_program const program = app.build(source);
  cl_mem const bx = app.buffer(x);
  cl_int status = 0;
  cl_event gate = clCreateUserEvent(app.context, &status), last = gate;
  check(status, "clCreateUserEvent");
  std::size_t const global = x.size(), local = 128;
  for (int step = 0; step < 4; ++step) {
    cl_kernel const kernel = app.kernel(program, "next");
    set(kernel, 0, bx);
    cl_event done = nullptr;
    check(clEnqueueNDRangeKernel(app.queue, kernel, 1, nullptr, &global, &local, 1, &last, &done), "next");
    clReleaseKernel(kernel);
    last = done;
  }
  std::printf("enqueued\n");
  check(clSetUserEventStatus(gate, CL_COMPLETE), "clSetUserEventStatus");
  check(clWaitForEvents(1, &last), "clWaitForEvents");
  check(clEnqueueReadBuffer(app.queue, bx, CL_TRUE, 0, x.size() * sizeof(cl_uint), x.data(), 1, &last, nullptr),
        "read");
  print("x", x);
  std::vector<cl_uint> want(x.size());
  for (cl_uint i = 0; i < want.size(); ++i) {
    want[i] = i;
    for (int step = 0; step < 4; ++step) want[i] = want[i] * 1664525U + 1013904223U;
  }
  compare("x", x, want);
  return 3;  // an exit status of its own
}
