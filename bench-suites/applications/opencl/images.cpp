// An image read through a sampler, another one written.
#include "app.hpp"

static char const* const source = R"(
__kernel void blur(__read_only image2d_t from, __write_only image2d_t to, sampler_t s) {
  int2 p = (int2)(get_global_id(0), get_global_id(1));
  float4 sum = 0;
  for (int dy = -1; dy <= 1; ++dy)
    for (int dx = -1; dx <= 1; ++dx) sum += read_imagef(from, s, p + (int2)(dx, dy));
  write_imagef(to, p, sum / 9);
}
)";

int main() {
  App const app;
  std::size_t const w = 32, h = 16;
  std::vector<float> texels(w * h * 4), out(w * h * 4);
  for (std::size_t i = 0; i < texels.size(); ++i) texels[i] = static_cast<float>(i % 23);
  cl_image_format const format{CL_RGBA, CL_FLOAT};
  cl_image_desc shape{};
  shape.image_type = CL_MEM_OBJECT_IMAGE2D;
  shape.image_width = w;
  shape.image_height = h;
  cl_int status = 0;
  cl_mem const from =
      clCreateImage(app.context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, &format, &shape, texels.data(), &status);
  check(status, "from");
  cl_mem const to = clCreateImage(app.context, CL_MEM_WRITE_ONLY, &format, &shape, nullptr, &status);
  check(status, "to");
  cl_sampler const sampler =
      clCreateSampler(app.context, CL_FALSE, CL_ADDRESS_CLAMP_TO_EDGE, CL_FILTER_NEAREST, &status);
  check(status, "sampler");
  cl_kernel const kernel = app.kernel(app.build(source), "blur");
  set(kernel, 0, from);
  set(kernel, 1, to);
  set(kernel, 2, sampler);
  std::size_t const global[] = {w, h}, local[] = {16, 4}, origin[] = {0, 0, 0}, region[] = {w, h, 1};
  check(clEnqueueNDRangeKernel(app.queue, kernel, 2, nullptr, global, local, 0, nullptr, nullptr), "blur");
  check(clEnqueueReadImage(app.queue, to, CL_TRUE, origin, region, 0, 0, out.data(), 0, nullptr, nullptr), "read");
  print("blurred", out);
  std::vector<float> want(out.size());
  auto const inside = [](std::size_t at, int step, std::size_t size) {
    auto const moved = static_cast<long>(at) + step;
    return static_cast<std::size_t>(moved < 0                          ? 0
                                    : moved >= static_cast<long>(size) ? static_cast<long>(size) - 1
                                                                       : moved);
  };
  for (std::size_t y = 0; y < h; ++y)
    for (std::size_t x = 0; x < w; ++x)
      for (std::size_t c = 0; c < 4; ++c) {
        float sum = 0;
        for (int dy = -1; dy <= 1; ++dy)
          for (int dx = -1; dx <= 1; ++dx) sum += texels[(inside(y, dy, h) * w + inside(x, dx, w)) * 4 + c];
        want[(y * w + x) * 4 + c] = sum / 9;
      }
  return compare("blurred", out, want, 1e-6);
}
