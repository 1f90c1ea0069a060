// Arrays, textures and surfaces in each of their shapes, beside the host's own reckoning.
#include <cstdio>
#include <cstring>
#include <vector>

#include "check.hpp"

static void expect(bool holds, char const* what) {
  std::printf("%s: %s\n", what, holds ? "yes" : "no");
  failures += !holds;
}

constexpr int width = 40, height = 24, depth = 5;

template <class T>
__global__ void read_2d(cudaTextureObject_t image, T* out, float scale_x, float scale_y, float shift) {
  int const x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < width && y < height) out[y * width + x] = tex2D<T>(image, (x + shift) * scale_x, (y + shift) * scale_y);
}
__global__ void read_3d(cudaTextureObject_t image, float* out) {
  int const i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < width * height * depth)
    out[i] = tex3D<float>(image, i % width + 0.5f, i / width % height + 0.5f, i / width / height + 0.5f);
}
__global__ void read_layers(cudaTextureObject_t image, float* out) {
  int const i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < width * height * depth)
    out[i] = tex2DLayered<float>(image, i % width + 0.5f, i / width % height + 0.5f, i / width / height);
}
__global__ void fetch(cudaTextureObject_t image, int4* out, int n) {
  int const i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = tex1Dfetch<int4>(image, i);
}
__global__ void add_to_surface(cudaSurfaceObject_t image, unsigned char by) {
  int const x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  uchar4 v;
  surf2Dread(&v, image, x * 4, y);
  surf2Dwrite(make_uchar4(v.x + by, v.y, v.z, v.w), image, x * 4, y);
}

static cudaTextureObject_t texture_of(cudaResourceDesc const& resource, cudaTextureFilterMode filter,
                                      cudaTextureReadMode read, bool normalized) {
  cudaTextureDesc description = {};
  for (auto& mode : description.addressMode) mode = normalized ? cudaAddressModeWrap : cudaAddressModeClamp;
  description.filterMode = filter;
  description.readMode = read;
  description.normalizedCoords = normalized;
  cudaTextureObject_t texture = 0;
  CHECK(cudaCreateTextureObject(&texture, &resource, &description, nullptr));
  return texture;
}
static cudaResourceDesc resource_of(cudaArray_t array) {
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  return resource;
}

static void two_dimensions() {
  std::vector<float> texels(width * height), back(width * height);
  for (int i = 0; i < width * height; ++i) texels[i] = static_cast<float>(i % 37) * 0.25f;
  auto const format = cudaCreateChannelDesc<float>();
  cudaArray_t array;
  CHECK(cudaMallocArray(&array, &format, width, height));
  CHECK(cudaMemcpy2DToArray(array, 0, 0, texels.data(), width * 4, width * 4, height, cudaMemcpyHostToDevice));
  float* out;
  CHECK(cudaMalloc(&out, back.size() * 4));
  dim3 const block(16, 8), grid(3, 3);
  auto const nearest = texture_of(resource_of(array), cudaFilterModePoint, cudaReadModeElementType, false);
  read_2d<<<grid, block>>>(nearest, out, 1.0f, 1.0f, 0.5f);
  CHECK(cudaMemcpy(back.data(), out, back.size() * 4, cudaMemcpyDeviceToHost));
  expect(back == texels, "texels of an array");
  auto const linear = texture_of(resource_of(array), cudaFilterModeLinear, cudaReadModeElementType, false);
  read_2d<<<grid, block>>>(linear, out, 1.0f, 1.0f, 1.0f);
  CHECK(cudaMemcpy(back.data(), out, back.size() * 4, cudaMemcpyDeviceToHost));
  bool between = true;
  for (int y = 0; y + 1 < height; ++y)
    for (int x = 0; x + 1 < width; ++x) {
      float const* const t = &texels[y * width + x];
      between &= back[y * width + x] == (t[0] + t[1] + t[width] + t[width + 1]) / 4;
    }
  expect(between, "linear filtering half way between");
  auto const wrapped = texture_of(resource_of(array), cudaFilterModePoint, cudaReadModeElementType, true);
  read_2d<<<grid, block>>>(wrapped, out, 1.0f / width, 1.0f / height, width + 0.5f);
  CHECK(cudaMemcpy(back.data(), out, back.size() * 4, cudaMemcpyDeviceToHost));
  bool same = true;
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) same &= back[y * width + x] == texels[(y + width) % height * width + x];
  expect(same, "normalised coordinates that wrap");
  for (auto const texture : {nearest, linear, wrapped}) CHECK(cudaDestroyTextureObject(texture));
  expect(cudaDestroyTextureObject(wrapped) != cudaSuccess, "a texture is destroyed once");
  cudaGetLastError();
  std::vector<float> part(10 * 4);
  CHECK(cudaMemcpy2DFromArray(part.data(), 40, array, 5 * 4, 3, 40, 4, cudaMemcpyDeviceToHost));
  expect(part[0] == texels[3 * width + 5] && part[39] == texels[6 * width + 14], "part of an array");
  CHECK(cudaFreeArray(array));
  CHECK(cudaFree(out));
}

static void bytes_and_surfaces() {
  std::vector<uchar4> texels(width * height), back(width * height);
  for (int i = 0; i < width * height; ++i) texels[i] = make_uchar4(i % 200, i % 7, 3, 255);
  auto const format = cudaCreateChannelDesc<uchar4>();
  cudaArray_t array;
  CHECK(cudaMallocArray(&array, &format, width, height, cudaArraySurfaceLoadStore));
  CHECK(cudaMemcpy2DToArray(array, 0, 0, texels.data(), width * 4, width * 4, height, cudaMemcpyHostToDevice));
  auto const resource = resource_of(array);
  cudaSurfaceObject_t surface;
  CHECK(cudaCreateSurfaceObject(&surface, &resource));
  add_to_surface<<<dim3(3, 3), dim3(16, 8)>>>(surface, 20);
  CHECK(cudaMemcpy2DFromArray(back.data(), width * 4, array, 0, 0, width * 4, height, cudaMemcpyDeviceToHost));
  bool same = true;
  for (int i = 0; i < width * height; ++i) same &= back[i].x == texels[i].x + 20 && back[i].y == texels[i].y;
  expect(same, "a surface that is read and written");
  auto const fractions = texture_of(resource, cudaFilterModePoint, cudaReadModeNormalizedFloat, false);
  float4* out;
  CHECK(cudaMalloc(&out, width * height * sizeof(float4)));
  read_2d<<<dim3(3, 3), dim3(16, 8)>>>(fractions, out, 1.0f, 1.0f, 0.5f);
  std::vector<float4> seen(width * height);
  CHECK(cudaMemcpy(seen.data(), out, seen.size() * sizeof(float4), cudaMemcpyDeviceToHost));
  same = true;
  for (int i = 0; i < width * height; ++i) same &= seen[i].w == 1.0f && seen[i].x == back[i].x / 255.0f;
  expect(same, "bytes as fractions");
  CHECK(cudaDestroySurfaceObject(surface));
  CHECK(cudaDestroyTextureObject(fractions));
  CHECK(cudaFreeArray(array));
  CHECK(cudaFree(out));
}

static void volumes_and_layers() {
  std::vector<float> texels(width * height * depth), back(texels.size());
  for (std::size_t i = 0; i < texels.size(); ++i) texels[i] = static_cast<float>(i);
  auto const format = cudaCreateChannelDesc<float>();
  float* out;
  CHECK(cudaMalloc(&out, back.size() * 4));
  for (unsigned const flags : {unsigned{cudaArrayDefault}, unsigned{cudaArrayLayered}}) {
    cudaArray_t array;
    CHECK(cudaMalloc3DArray(&array, &format, make_cudaExtent(width, height, depth), flags));
    cudaMemcpy3DParms copy = {};
    copy.srcPtr = make_cudaPitchedPtr(texels.data(), width * 4, width, height);
    copy.dstArray = array;
    copy.extent = make_cudaExtent(width, height, depth);
    copy.kind = cudaMemcpyHostToDevice;
    CHECK(cudaMemcpy3D(&copy));
    auto const texture = texture_of(resource_of(array), cudaFilterModePoint, cudaReadModeElementType, false);
    int const groups = (static_cast<int>(texels.size()) + 127) / 128;
    if (flags == cudaArrayLayered)
      read_layers<<<groups, 128>>>(texture, out);
    else
      read_3d<<<groups, 128>>>(texture, out);
    CHECK(cudaMemcpy(back.data(), out, back.size() * 4, cudaMemcpyDeviceToHost));
    expect(back == texels, flags == cudaArrayLayered ? "layers" : "a volume");
    CHECK(cudaDestroyTextureObject(texture));
    CHECK(cudaFreeArray(array));
  }
  CHECK(cudaFree(out));
  cudaPitchedPtr volume;
  CHECK(cudaMalloc3D(&volume, make_cudaExtent(width * 4, height, depth)));
  CHECK(cudaMemset3D(volume, 0, make_cudaExtent(width * 4, height, depth)));
  cudaMemcpy3DParms copy = {};
  copy.srcPtr = make_cudaPitchedPtr(texels.data(), width * 4, width, height);
  copy.dstPtr = volume;
  copy.dstPos = make_cudaPos(4, 1, 2);
  copy.extent = make_cudaExtent(8, 2, 1);
  copy.kind = cudaMemcpyHostToDevice;
  CHECK(cudaMemcpy3D(&copy));
  float value[2];
  auto const* const row = static_cast<char*>(volume.ptr) + (2 * height + 2) * volume.pitch;
  CHECK(cudaMemcpy(value, row + 4, 8, cudaMemcpyDeviceToHost));
  expect(value[0] == width && value[1] == width + 1, "a box in a pitched volume");
  CHECK(cudaFree(volume.ptr));
}

static void linear_memory() {
  constexpr int n = 100;
  std::vector<int4> texels(n), back(n + 4);
  for (int i = 0; i < n; ++i) texels[i] = make_int4(i, -i, 2 * i, 7);
  int4 *memory, *out;
  CHECK(cudaMalloc(&memory, n * sizeof(int4)));
  CHECK(cudaMalloc(&out, back.size() * sizeof(int4)));
  CHECK(cudaMemcpy(memory, texels.data(), n * sizeof(int4), cudaMemcpyHostToDevice));
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeLinear;
  resource.res.linear.devPtr = memory;
  resource.res.linear.desc = cudaCreateChannelDesc<int4>();
  resource.res.linear.sizeInBytes = n * sizeof(int4);
  auto const texture = texture_of(resource, cudaFilterModePoint, cudaReadModeElementType, false);
  fetch<<<1, 128>>>(texture, out, n + 4);
  CHECK(cudaMemcpy(back.data(), out, back.size() * sizeof(int4), cudaMemcpyDeviceToHost));
  expect(std::memcmp(back.data(), texels.data(), n * sizeof(int4)) == 0, "linear memory");
  expect(back[n + 1].x == 0 && back[n + 1].w == 0, "zeros behind it");
  CHECK(cudaDestroyTextureObject(texture));
  CHECK(cudaFree(memory));

  float* rows;
  std::size_t pitch;
  CHECK(cudaMallocPitch(&rows, &pitch, width * 4, height));
  std::vector<float> values(width * height), seen(width * height);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i * i);
  CHECK(cudaMemcpy2D(rows, pitch, values.data(), width * 4, width * 4, height, cudaMemcpyHostToDevice));
  resource = {};
  resource.resType = cudaResourceTypePitch2D;
  resource.res.pitch2D.devPtr = rows;
  resource.res.pitch2D.desc = cudaCreateChannelDesc<float>();
  resource.res.pitch2D.width = width;
  resource.res.pitch2D.height = height;
  resource.res.pitch2D.pitchInBytes = pitch;
  auto const pitched = texture_of(resource, cudaFilterModePoint, cudaReadModeElementType, false);
  float* read;
  CHECK(cudaMalloc(&read, seen.size() * 4));
  read_2d<<<dim3(3, 3), dim3(16, 8)>>>(pitched, read, 1.0f, 1.0f, 0.5f);
  CHECK(cudaMemcpy(seen.data(), read, seen.size() * 4, cudaMemcpyDeviceToHost));
  expect(seen == values, "pitched memory");
  CHECK(cudaDestroyTextureObject(pitched));
}

int main() {
  two_dimensions();
  bytes_and_surfaces();
  volumes_and_layers();
  linear_memory();
  CHECK(cudaDeviceSynchronize());
  std::printf("%d failures\n", failures);
  return failures ? 1 : 0;
}
