// Build options with macros and a folder of headers; structures, vectors and characters by value; constant memory.
#include "app.hpp"

#include <string>

static char const* const source = R"(
#include "grid.clh"
typedef struct { int rows; float weight; char tag; } Setting;
__kernel void run(__global TYPE* x, __constant float* table, Setting s, float4 v, float3 w, uchar c, long big) {
  int i = CELL(get_global_id(0), get_global_id(1));
  x[i] += table[i % 4] * s.weight + v.z + w.y + (TYPE)(s.rows + s.tag + c + (int)(big >> 40));
}
)";

struct Setting {
  int rows;
  float weight;
  char tag;
};

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  App const app;
  std::string const options = "-D TYPE=float -DWIDTH=32 -I " + std::string(argv[1]) + " -cl-mad-enable -w";
  cl_kernel const kernel = app.kernel(app.build(source, options.c_str()), "run");
  std::vector<float> x(32 * 16), table{1, 2, 3, 4};
  cl_mem const bx = app.buffer(x), bt = app.buffer(table, CL_MEM_READ_ONLY);
  set(kernel, 0, bx);
  set(kernel, 1, bt);
  set(kernel, 2, Setting{7, 0.5F, 3});
  set(kernel, 3, cl_float4{{1, 2, 3, 4}});
  set(kernel, 4, cl_float3{{5, 6, 7, 0}});
  set(kernel, 5, cl_uchar{9});
  set(kernel, 6, cl_long{11} << 40);
  std::size_t const global[] = {32, 16}, local[] = {8, 4};
  check(clEnqueueNDRangeKernel(app.queue, kernel, 2, nullptr, global, local, 0, nullptr, nullptr), "run");
  app.read(bx, x);
  print("x", x);
  std::vector<float> want(x.size());
  for (std::size_t i = 0; i < want.size(); ++i)
    want[i] = table[i % 4] * 0.5F + 3 + 6 + static_cast<float>(7 + 3 + 9 + 11);
  return compare("x", x, want);
}
