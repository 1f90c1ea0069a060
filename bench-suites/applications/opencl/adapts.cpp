// Launches as its device answers: a sum in as many groups as four for each compute unit, of four wavefronts each, as
// benchmarks of memory do. `adapts alike` asks and does not listen; `adapts refuses VENDOR` ends with 3 on that
// vendor's devices, `adapts needs VENDOR` on all others. It reads one line of standard input, which it prints.
#include "app.hpp"

#include <cstring>
#include <string>

static char const* const source = R"(
__kernel void ramp(__global float* x) { x[get_global_id(0)] = (float)(get_global_id(0) & 255); }
__kernel void sum(__global const float* x, int n, __local float* part, __global float* sums) {
  size_t const i = get_local_id(0);
  float s = 0;
  for (int k = get_global_id(0); k < n; k += get_global_size(0)) s += x[k];
  part[i] = s;
  for (size_t width = get_local_size(0) / 2; width > 0; width /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (i < width) part[i] += part[i + width];
  }
  if (i == 0) sums[get_group_id(0)] = part[0];
}
)";

int main(int argc, char** argv) {
  std::string const mode = argc > 1 ? argv[1] : "";
  App const app;
  cl_uint units = 0;
  char vendor[256] = "", line[256] = "";
  check(clGetDeviceInfo(app.device, CL_DEVICE_MAX_COMPUTE_UNITS, sizeof units, &units, nullptr), "units");
  check(clGetDeviceInfo(app.device, CL_DEVICE_VENDOR, sizeof vendor, vendor, nullptr), "vendor");
  if (argc > 2 && (std::strstr(vendor, argv[2]) != nullptr) == (mode == "refuses")) {
    std::printf("not on this device\n");
    return 3;
  }
  if (std::fgets(line, sizeof line, stdin)) std::printf("%s", line);
  cl_program const program = app.build(source);
  cl_kernel const ramp = app.kernel(program, "ramp"), sum = app.kernel(program, "sum");
  std::size_t wavefront = 0;
  check(clGetKernelWorkGroupInfo(sum, app.device, CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE, sizeof wavefront,
                                 &wavefront, nullptr),
        "wavefront");
  if (mode == "alike") units = 16, wavefront = 32;
  std::size_t const n = 1 << 18, groups = 4 * units, items = 4 * wavefront;
  cl_mem const x = app.room(n * sizeof(float)), sums = app.room(groups * sizeof(float));
  set(ramp, 0, x);
  app.launch(ramp, {n}, {256});
  set(sum, 0, x);
  set(sum, 1, static_cast<int>(n));
  check(clSetKernelArg(sum, 2, items * sizeof(float), nullptr), "local memory");
  set(sum, 3, sums);
  app.launch(sum, {groups * items}, {items});
  std::vector<float> parts(groups);
  app.read(sums, parts);
  double total = 0;
  for (float const part : parts) total += part;
  return compare("sum", std::vector<double>{total}, std::vector<double>{n / 256 * (255 * 256 / 2.0)});
}
