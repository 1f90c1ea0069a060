// A program from its own binary, no local size, failing launches, and an end without releasing anything.
#include "app.hpp"

static char const* const source = "__kernel void one(__global int* x) { x[get_global_id(0)] += 1; }";

int main() {
  App const app;
  cl_program const program = app.build(source);
  std::vector<int> x(1000);
  cl_mem const bx = app.buffer(x);
  cl_kernel const kernel = app.kernel(program, "one");
  std::size_t const global = 1000, offset = 500, half = 500, wrong = 33;
  cl_int const unset = clEnqueueNDRangeKernel(app.queue, kernel, 1, nullptr, &global, nullptr, 0, nullptr, nullptr);
  set(kernel, 0, bx);
  cl_int const refused = clEnqueueNDRangeKernel(app.queue, kernel, 1, nullptr, &global, &wrong, 0, nullptr, nullptr);
  check(clEnqueueNDRangeKernel(app.queue, kernel, 1, nullptr, &global, nullptr, 0, nullptr, nullptr), "whole");
  check(clEnqueueNDRangeKernel(app.queue, kernel, 1, &offset, &half, nullptr, 0, nullptr, nullptr), "upper half");

  std::size_t bytes = 0;
  clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof bytes, &bytes, nullptr);
  std::vector<unsigned char> binary(bytes);
  unsigned char* pointer = binary.data();
  clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof pointer, &pointer, nullptr);
  unsigned char const* constant = binary.data();
  cl_int status = 0;
  cl_program const again = clCreateProgramWithBinary(app.context, 1, &app.device, &bytes, &constant, nullptr, &status);
  check(status, "clCreateProgramWithBinary");
  check(clBuildProgram(again, 1, &app.device, "", nullptr, nullptr), "build of the binary");
  cl_kernel const other = app.kernel(again, "one");
  set(other, 0, bx);
  check(clEnqueueNDRangeKernel(app.queue, other, 1, nullptr, &half, nullptr, 0, nullptr, nullptr), "lower half");
  app.read(bx, x);
  std::printf("unset %d, refused %d\n", unset, refused);
  print("x", x);
  compare("x", x, std::vector<int>(1000, 2));
  std::fflush(stdout);
  std::_Exit(5);
}
