// A field worked on in pieces: global offsets in two dimensions, two queues, events between them.
#include "app.hpp"

static char const* const source = R"(
__kernel void paint(__global int* field, int width) {
  size_t x = get_global_id(0), y = get_global_id(1);
  field[y * width + x] = (int)(x * 1000 + y + get_global_offset(0));
}
__kernel void mirror(__global const int* from, __global int* to, int width) {
  size_t x = get_global_id(0), y = get_global_id(1);
  to[y * width + (width - 1 - x)] = from[y * width + x];
}
)";

int main() {
  App const app;
  cl_command_queue const other = app.another_queue();
  constexpr int width = 64, height = 48;
  cl_program const program = app.build(source);
  cl_kernel const paint = app.kernel(program, "paint"), mirror = app.kernel(program, "mirror");
  cl_mem const field = app.room(width * height * sizeof(int)), mirrored = app.room(width * height * sizeof(int));
  set(paint, 0, field);
  set(paint, 1, width);
  set(mirror, 0, field);
  set(mirror, 1, mirrored);
  set(mirror, 2, width);
  std::size_t const piece[] = {32, 16}, local[] = {16, 4}, all[] = {width, height};
  std::vector<cl_event> painted;
  for (std::size_t y = 0; y < height; y += 16)
    for (std::size_t x = 0; x < width; x += 32) {
      std::size_t const offset[] = {x, y};
      cl_event& done = painted.emplace_back();
      check(clEnqueueNDRangeKernel(app.queue, paint, 2, offset, piece, local, 0, nullptr, &done), "paint");
    }
  check(clFlush(app.queue), "clFlush");
  check(clEnqueueNDRangeKernel(other, mirror, 2, nullptr, all, local, static_cast<cl_uint>(painted.size()),
                               painted.data(), nullptr),
        "mirror");
  std::vector<int> out(width * height), want(out.size());
  check(clEnqueueReadBuffer(other, mirrored, CL_TRUE, 0, out.size() * sizeof(int), out.data(), 0, nullptr, nullptr),
        "read");
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x)
      want[static_cast<std::size_t>(y * width + width - 1 - x)] = x * 1000 + y + x / 32 * 32;
  print("mirrored", out);
  return compare("mirrored", out, want);
}
