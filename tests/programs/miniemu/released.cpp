// Programs that come and go: each has variables of its own, wherever its parts lie in memory.
#include <CL/cl.h>

#include <cstdio>
#include <string>

int main() {
  cl_platform_id platform;
  cl_device_id device;
  if (clGetPlatformIDs(1, &platform, nullptr) != CL_SUCCESS ||
      clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, nullptr) != CL_SUCCESS)
    return 77;
  cl_context const context = clCreateContext(nullptr, 1, &device, nullptr, nullptr, nullptr);
  cl_command_queue const queue = clCreateCommandQueueWithProperties(context, device, nullptr, nullptr);
  int wrong = 0;
  for (int i = 0; i < 12; ++i) {
    int const entries = 4 + 16 * (i % 3);
    std::string source = "__constant int table[] = {";
    for (int e = 0; e < entries; ++e) source += std::to_string(100 * i + e) + ", ";
    source += "};\nkernel void look(global int* out, int n) { int i = get_global_id(0); out[i] = table[i % n]; }\n";
    char const* text = source.c_str();
    cl_program const program = clCreateProgramWithSource(context, 1, &text, nullptr, nullptr);
    clBuildProgram(program, 1, &device, "", nullptr, nullptr);
    cl_kernel const kernel = clCreateKernel(program, "look", nullptr);
    std::size_t const items = 64;
    cl_mem const memory = clCreateBuffer(context, CL_MEM_READ_WRITE, items * sizeof(int), nullptr, nullptr);
    clSetKernelArg(kernel, 0, sizeof memory, &memory);
    clSetKernelArg(kernel, 1, sizeof entries, &entries);
    clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, &items, nullptr, 0, nullptr, nullptr);
    int out[items] = {};
    clEnqueueReadBuffer(queue, memory, CL_TRUE, 0, sizeof out, out, 0, nullptr, nullptr);
    for (std::size_t n = 0; n < items; ++n) wrong += out[n] != 100 * i + static_cast<int>(n) % entries;
    clReleaseKernel(kernel);
    clReleaseProgram(program);
    clReleaseMemObject(memory);
  }
  std::printf("%d wrong\n", wrong);
  return wrong != 0;
}
