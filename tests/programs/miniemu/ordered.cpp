// Commands of OpenCL that wait for each other in every way: tests/programs/miniemu/ordered.sh has what must come of it.
#include <CL/cl.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

constexpr char const* source = "__kernel void next(__global int* a) { a[get_global_id(0)] += 1; }";
constexpr std::size_t items = 256, bytes = items * sizeof(int), whole = 4 * bytes;

void check(cl_int status) {
  if (status == CL_SUCCESS) return;
  std::fprintf(stderr, "OpenCL error %d\n", status);
  std::exit(1);
}

template <class T>
T made(T result, cl_int status) {
  check(status);
  return result;
}

}  // namespace

int main() {
  cl_platform_id platform = nullptr;
  cl_device_id device = nullptr;
  if (clGetPlatformIDs(1, &platform, nullptr) != CL_SUCCESS ||
      clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, nullptr) != CL_SUCCESS)
    return 77;
  cl_int status = 0;
  auto* const context = made(clCreateContext(nullptr, 1, &device, nullptr, nullptr, &status), status);
  std::vector<int> host(items);
  auto* const filled = made(
      clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, bytes, host.data(), &status), status);  // 1
  auto* const buffer = made(clCreateBuffer(context, CL_MEM_READ_WRITE, whole, nullptr, &status), status);
  std::array<cl_queue_properties, 3> const any_order{CL_QUEUE_PROPERTIES, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, 0};
  auto* const ordered = made(clCreateCommandQueueWithProperties(context, device, nullptr, &status), status);
  auto* const unordered = made(clCreateCommandQueueWithProperties(context, device, any_order.data(), &status), status);
  auto* program =
      made(clCreateProgramWithSource(context, 1, const_cast<char const**>(&source), nullptr, &status), status);
  check(clBuildProgram(program, 1, &device, "", nullptr, nullptr));
  auto* const kernel = made(clCreateKernel(program, "next", &status), status);
  check(clSetKernelArg(kernel, 0, sizeof filled, static_cast<void const*>(&filled)));
  std::size_t const local = 64;
  auto const launch = [&](cl_command_queue queue, cl_uint waits, cl_event const* list, cl_event* event) {
    check(clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, &items, &local, waits, list, event));
  };
  std::array<cl_event, 4> event{};

  check(clEnqueueWriteBuffer(ordered, buffer, CL_FALSE, 0, bytes, host.data(), 0, nullptr, nullptr));  // 2
  launch(ordered, 0, nullptr, event.data());                                                           // 3, after 2
  launch(unordered, 0, nullptr, &event[1]);                                                            // 4, of nothing
  launch(unordered, 1, event.data(), &event[2]);                                                       // 5, after 3
  check(clEnqueueBarrierWithWaitList(unordered, 0, nullptr, nullptr));                                 // 6, after 4, 5
  launch(unordered, 0, nullptr, nullptr);                                                              // 7, after 6
  launch(ordered, 1, &event[2], nullptr);                                                              // 8, after 3, 5
  check(clWaitForEvents(2, &event[1]));                                                                // 9, for 4, 5
  check(clEnqueueFillBuffer(ordered, buffer, host.data(), sizeof(int), 0, whole, 0, nullptr, nullptr));  // 10, after 8
  check(clEnqueueCopyBuffer(ordered, buffer, filled, 0, 0, bytes, 0, nullptr, nullptr));                 // 11
  auto* const mapped = made(clEnqueueMapBuffer(ordered, buffer, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, bytes, 2 * bytes,
                                               0, nullptr, nullptr, &status),
                            status);                                                                   // 12
  check(clEnqueueWriteBuffer(ordered, filled, CL_TRUE, 0, bytes / 2, mapped, 0, nullptr, nullptr));    // 13, pinned
  check(clEnqueueUnmapMemObject(ordered, buffer, mapped, 0, nullptr, nullptr));                        // 14
  check(clEnqueueMarkerWithWaitList(unordered, 0, nullptr, &event[3]));                                // 15
  check(clEnqueueReadBuffer(ordered, filled, CL_TRUE, 0, bytes, host.data(), 1, &event[3], nullptr));  // 16
  std::array<std::size_t, 3> const origin{}, region{16, 4, 2};
  check(clEnqueueReadBufferRect(unordered, buffer, CL_TRUE, origin.data(), origin.data(), region.data(), 64, 0, 0, 0,
                                host.data(), 0, nullptr, nullptr));  // 17, after 6
  check(clFinish(ordered));                                          // asked of what has ended: 16
  check(clFinish(unordered));
  std::puts("right");
}
