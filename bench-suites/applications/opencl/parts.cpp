// Sub-buffers side by side, buffers that are mapped or that lie in the host's memory, fills, and copies of rectangles.
#include "app.hpp"

static char const* const source = R"(
__kernel void add(__global int* x, int what) { x[get_global_id(0)] += what; }
__kernel void columns(__global const int* x, __global int* sums, int width, int height) {
  int c = get_global_id(0), sum = 0;
  if (c >= width) return;
  for (int r = 0; r < height; ++r) sum += x[r * width + c];
  sums[c] = sum;
}
)";

int main() {
  App const app;
  constexpr std::size_t width = 100, height = 41, n = 4100, half = 2048;
  alignas(4096) static int own[n];
  cl_program const program = app.build(source);
  cl_kernel const add = app.kernel(program, "add"), columns = app.kernel(program, "columns");
  cl_int status = 0;
  cl_mem const whole = clCreateBuffer(app.context, CL_MEM_USE_HOST_PTR, sizeof own, own, &status);
  check(status, "clCreateBuffer");
  int const five = 5;
  check(clEnqueueFillBuffer(app.queue, whole, &five, sizeof five, 0, sizeof own, 0, nullptr, nullptr), "fill");
  for (std::size_t part = 0; part < 2; ++part) {
    cl_buffer_region const region{part * half * sizeof(int), half * sizeof(int)};
    cl_mem const piece = clCreateSubBuffer(whole, CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION, &region, &status);
    check(status, "clCreateSubBuffer");
    set(add, 0, piece);
    set(add, 1, static_cast<int>(10 * (part + 1)));
    app.launch(add, {half}, {128});
    clReleaseMemObject(piece);
  }

  // The first 40 columns once more, into the last ones of another buffer.
  cl_mem const other = app.room(sizeof own, CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR);
  auto* mapped = static_cast<int*>(clEnqueueMapBuffer(app.queue, other, CL_TRUE, CL_MAP_WRITE_INVALIDATE_REGION, 0,
                                                      sizeof own, 0, nullptr, nullptr, &status));
  check(status, "clEnqueueMapBuffer");
  for (std::size_t i = 0; i < n; ++i) mapped[i] = static_cast<int>(i);
  check(clEnqueueUnmapMemObject(app.queue, other, mapped, 0, nullptr, nullptr), "unmap");
  std::size_t const from[] = {0, 0, 0}, to[] = {60 * sizeof(int), 0, 0}, region[] = {40 * sizeof(int), height, 1};
  check(clEnqueueCopyBufferRect(app.queue, whole, other, from, to, region, width * sizeof(int), 0, width * sizeof(int),
                                0, 0, nullptr, nullptr),
        "clEnqueueCopyBufferRect");
  cl_mem const sums = app.room(width * sizeof(int), CL_MEM_WRITE_ONLY | CL_MEM_HOST_READ_ONLY);
  set(columns, 0, other);
  set(columns, 1, sums);
  set(columns, 2, static_cast<int>(width));
  set(columns, 3, static_cast<int>(height));
  app.launch(columns, {128}, {64});

  mapped = static_cast<int*>(
      clEnqueueMapBuffer(app.queue, sums, CL_TRUE, CL_MAP_READ, 0, width * sizeof(int), 0, nullptr, nullptr, &status));
  check(status, "clEnqueueMapBuffer");
  std::vector<int> const have(mapped, mapped + width);
  std::vector<int> want(width);
  for (std::size_t i = 0; i < n; ++i) {
    std::size_t const c = i % width, source_at = i - 60;
    want[c] += c < 60 ? static_cast<int>(i) : 5 + (source_at < half ? 10 : source_at < 2 * half ? 20 : 0);
  }
  check(clEnqueueUnmapMemObject(app.queue, sums, mapped, 0, nullptr, nullptr), "unmap");
  check(clFinish(app.queue), "clFinish");
  print("sums", have);
  return compare("sums", have, want);
}
