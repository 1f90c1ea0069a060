// An image of a buffer, an array of images, a volume read between its texels, an image of integers, a copied image.
#include "app.hpp"

static char const* const source = R"(
__kernel void gather(__read_only image1d_buffer_t table, __global const int* at, __global float* out) {
  int i = get_global_id(0);
  out[i] = read_imagef(table, at[i]).x;
}
__kernel void layers(__read_only image2d_array_t pictures, __global uint* out, int count) {
  const sampler_t s = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP | CLK_FILTER_NEAREST;
  int x = get_global_id(0), y = get_global_id(1);
  uint sum = 0;
  for (int l = 0; l < count; ++l) sum += read_imageui(pictures, s, (int4)(x, y, l, 0)).x * (l + 1);
  out[y * get_global_size(0) + x] = sum;
}
__kernel void slice(__read_only image3d_t volume, sampler_t s, __global float* out, float z) {
  int x = get_global_id(0), y = get_global_id(1), w = get_global_size(0), h = get_global_size(1);
  out[y * w + x] = read_imagef(volume, s, (float4)((x + 0.5f) / w, (y + 0.5f) / h, z, 0)).x;
}
)";

namespace {

cl_mem image(App const& app, cl_image_format format, cl_image_desc const& shape, void* texels, cl_mem_flags flags) {
  cl_int status = 0;
  cl_mem const made = clCreateImage(app.context, flags, &format, &shape, texels, &status);
  check(status, "clCreateImage");
  return made;
}

int gather(App const& app, cl_program program) {
  std::size_t const n = 128;
  std::vector<float> table(n), out(n), want(n);
  std::vector<int> at(n);
  for (std::size_t i = 0; i < n; ++i) {
    table[i] = static_cast<float>(i * i);
    at[i] = static_cast<int>(i * 37 % n);
    want[i] = static_cast<float>(i * 37 % n * (i * 37 % n));
  }
  cl_mem const texels = app.buffer(table), bat = app.buffer(at), bout = app.room(n * sizeof(float));
  cl_image_desc shape{};
  shape.image_type = CL_MEM_OBJECT_IMAGE1D_BUFFER;
  shape.image_width = n;
  shape.buffer = texels;
  cl_kernel const kernel = app.kernel(program, "gather");
  set(kernel, 0, image(app, {CL_R, CL_FLOAT}, shape, nullptr, CL_MEM_READ_ONLY));
  set(kernel, 1, bat);
  set(kernel, 2, bout);
  app.launch(kernel, {n}, {32});
  app.read(bout, out);
  print("gathered", out);
  return compare("gathered", out, want);
}

int layers(App const& app, cl_program program) {
  std::size_t const w = 16, h = 8, count = 3;
  std::vector<cl_uchar> texels(w * h * count);
  std::vector<cl_uint> out(w * h), want(w * h);
  for (std::size_t i = 0; i < texels.size(); ++i) {
    texels[i] = static_cast<cl_uchar>(i * 7);
    want[i % (w * h)] += texels[i] * static_cast<cl_uint>(i / (w * h) + 1);
  }
  cl_image_desc shape{};
  shape.image_type = CL_MEM_OBJECT_IMAGE2D_ARRAY;
  shape.image_width = w;
  shape.image_height = h;
  shape.image_array_size = count;
  cl_mem const bout = app.room(out.size() * sizeof(cl_uint));
  cl_kernel const kernel = app.kernel(program, "layers");
  set(kernel, 0, image(app, {CL_R, CL_UNSIGNED_INT8}, shape, texels.data(), CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR));
  set(kernel, 1, bout);
  set(kernel, 2, static_cast<int>(count));
  app.launch(kernel, {w, h}, {8, 8});
  app.read(bout, out);
  print("layers", out);
  return compare("layers", out, want);
}

int slice(App const& app, cl_program program) {
  std::size_t const w = 16, h = 16, d = 4, origin[] = {0, 0, 0}, region[] = {w, h, d};
  std::vector<float> texels(w * h * d), out(w * h), want(w * h);
  for (std::size_t i = 0; i < texels.size(); ++i)
    texels[i] = static_cast<float>(i % 31) + 10 * static_cast<float>(i / (w * h));
  for (std::size_t i = 0; i < w * h; ++i) want[i] = (texels[w * h + i] + texels[2 * w * h + i]) / 2;
  cl_image_desc shape{};
  shape.image_type = CL_MEM_OBJECT_IMAGE3D;
  shape.image_width = w;
  shape.image_height = h;
  shape.image_depth = d;
  cl_mem const volume = image(app, {CL_R, CL_FLOAT}, shape, nullptr, CL_MEM_READ_WRITE);
  cl_mem const copy = image(app, {CL_R, CL_FLOAT}, shape, nullptr, CL_MEM_READ_ONLY);
  check(clEnqueueWriteImage(app.queue, volume, CL_TRUE, origin, region, 0, 0, texels.data(), 0, nullptr, nullptr),
        "clEnqueueWriteImage");
  check(clEnqueueCopyImage(app.queue, volume, copy, origin, origin, region, 0, nullptr, nullptr), "clEnqueueCopyImage");
  cl_int status = 0;
  cl_sampler const sampler = clCreateSampler(app.context, CL_TRUE, CL_ADDRESS_REPEAT, CL_FILTER_LINEAR, &status);
  check(status, "clCreateSampler");
  cl_mem const bout = app.room(out.size() * sizeof(float));
  cl_kernel const kernel = app.kernel(program, "slice");
  set(kernel, 0, copy);
  set(kernel, 1, sampler);
  set(kernel, 2, bout);
  set(kernel, 3, 0.5F);  // half way between layers 1 and 2
  app.launch(kernel, {w, h}, {16, 4});
  app.read(bout, out);
  print("slice", out);
  return compare("slice", out, want, 1e-5);
}

}  // namespace

int main() {
  App const app;
  cl_program const program = app.build(source);
  return gather(app, program) + layers(app, program) + slice(app, program) != 0;
}
