// Surfaces over arrays of two and three dimensions: kernels write them, textures and copies read them.
#include "app.hpp"

constexpr int width = 24, height = 18, depth = 5;

__global__ void fill(cudaSurfaceObject_t surface, int seed) {
  int const x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < width && y < height) surf2Dwrite(make_int2(seed * x + y, x - y), surface, x * int(sizeof(int2)), y);
}
__global__ void transposed(cudaSurfaceObject_t in, int* out) {
  int const x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  auto const v = surf2Dread<int2>(in, x * int(sizeof(int2)), y);
  out[x * height + y] = v.x + 1000 * v.y;
}
__global__ void grow(cudaSurfaceObject_t volume) {
  int const x = threadIdx.x, y = threadIdx.y;
  if (x >= 8 || y >= 6) return;
  for (int z = 0; z < depth; ++z) {
    auto const v = surf3Dread<float>(volume, x * int(sizeof(float)), y, z);
    surf3Dwrite(2 * v + z, volume, x * int(sizeof(float)), y, z);
  }
}

int main() {
  auto const format = cudaCreateChannelDesc<int2>();
  cudaArray_t array = nullptr;
  CHECK(cudaMallocArray(&array, &format, width, height, cudaArraySurfaceLoadStore));
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  cudaSurfaceObject_t surface = 0;
  CHECK(cudaCreateSurfaceObject(&surface, &resource));
  dim3 const grid(3, 3), block(8, 8);
  fill<<<grid, block>>>(surface, 7);
  int* const d_out = zeros_on_device<int>(width * height);
  transposed<<<grid, block>>>(surface, d_out);
  std::vector<int> expected(width * height);
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) expected[x * height + y] = 7 * x + y + 1000 * (x - y);
  expect_equal(from_device(d_out, width * height), expected, "written and read by kernels");

  std::vector<int2> copied(width * height);
  CHECK(cudaMemcpy2DFromArray(copied.data(), width * sizeof(int2), array, 0, 0, width * sizeof(int2), height,
                              cudaMemcpyDeviceToHost));
  bool good = true;
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) good &= copied[y * width + x].x == 7 * x + y && copied[y * width + x].y == x - y;
  expect(good, "copied from the array");
  CHECK(cudaDestroySurfaceObject(surface));
  CHECK(cudaFreeArray(array));

  auto const scalar = cudaCreateChannelDesc<float>();
  auto const extent = make_cudaExtent(8, 6, depth);
  CHECK(cudaMalloc3DArray(&array, &scalar, extent, cudaArraySurfaceLoadStore));
  Numbers numbers;
  auto volume = numbers.units(8 * 6 * depth);
  cudaMemcpy3DParms copy{};
  copy.srcPtr = make_cudaPitchedPtr(volume.data(), 8 * sizeof(float), 8, 6);
  copy.dstArray = array;
  copy.extent = extent;
  copy.kind = cudaMemcpyHostToDevice;
  CHECK(cudaMemcpy3D(&copy));
  resource.res.array.array = array;
  CHECK(cudaCreateSurfaceObject(&surface, &resource));
  grow<<<1, dim3(8, 8)>>>(surface);
  std::vector<float> back(volume.size());
  cudaMemcpy3DParms out{};
  out.srcArray = array;
  out.dstPtr = make_cudaPitchedPtr(back.data(), 8 * sizeof(float), 8, 6);
  out.extent = extent;
  out.kind = cudaMemcpyDeviceToHost;
  CHECK(cudaMemcpy3D(&out));
  for (std::size_t i = 0; i < volume.size(); ++i) volume[i] = 2 * volume[i] + static_cast<float>(i / 48);
  expect_near(back, volume, 1e-6, "a volume");
  return finish();
}
