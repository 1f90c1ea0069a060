// A program compiled in parts: a header in memory, a library of functions, two sources with options of their own.
#include "app.hpp"

static char const* const header = "float twice(float x);\nfloat power(float x, int n);\n#define OFFSET 0.5f\n";
static char const* const functions = R"(
#include "math/functions.h"
float twice(float x) { return FACTOR * x; }
float power(float x, int n) { float y = 1; for (int i = 0; i < n; ++i) y *= x; return y; }
)";
static char const* const kernels = R"(
#include "math/functions.h"
__kernel void shift(__global float* x) { x[get_global_id(0)] += OFFSET; }
__kernel void curve(__global float* x, int n) { int i = get_global_id(0); x[i] = power(twice(x[i]), n); }
)";

namespace {

cl_program source(App const& app, char const* text) {
  cl_int status = 0;
  cl_program const program = clCreateProgramWithSource(app.context, 1, &text, nullptr, &status);
  check(status, "clCreateProgramWithSource");
  return program;
}

cl_program compiled(App const& app, char const* text, cl_program with, char const* options) {
  char const* name = "math/functions.h";
  cl_program const program = source(app, text);
  check(clCompileProgram(program, 1, &app.device, options, 1, &with, &name, nullptr, nullptr), "clCompileProgram");
  return program;
}

}  // namespace

int main() {
  App const app;
  cl_program const with = source(app, header);
  cl_program const parts[] = {compiled(app, functions, with, "-DFACTOR=2"), compiled(app, kernels, with, "-w")};
  cl_int status = 0;
  cl_program const program = clLinkProgram(app.context, 1, &app.device, "", 2, parts, nullptr, nullptr, &status);
  check(status, "clLinkProgram");
  for (cl_program const part : parts) clReleaseProgram(part);
  clReleaseProgram(with);

  std::vector<float> x(256), want(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    x[i] = static_cast<float>(i) / 64;
    float const y = 2 * (x[i] + 0.5F);
    want[i] = y * y * y;
  }
  cl_mem const bx = app.buffer(x);
  cl_kernel const shift = app.kernel(program, "shift"), curve = app.kernel(program, "curve");
  set(shift, 0, bx);
  set(curve, 0, bx);
  set(curve, 1, 3);
  app.launch(shift, {x.size()}, {32});
  app.launch(curve, {x.size()}, {64});
  app.read(bx, x);
  print("x", x);
  return compare("x", x, want, 1e-6);
}
