// Texture objects: over linear memory, over pitched memory, over an array with linear filtering, normalised coordinates
// and each address mode.
#include "app.hpp"

constexpr int width = 37, height = 21;

__global__ void fetch_linear(cudaTextureObject_t texture, int* out, int n) {
  int const i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = tex1Dfetch<int>(texture, n - 1 - i);
}

__global__ void sample(cudaTextureObject_t texture, float* out, float scale_x, float scale_y, float offset) {
  int const x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < width && y < height) out[y * width + x] = tex2D<float>(texture, x * scale_x + offset, y * scale_y + offset);
}

int wrapped(int i, int n, cudaTextureAddressMode mode) {  // -1: border
  if (mode == cudaAddressModeClamp) return i < 0 ? 0 : i >= n ? n - 1 : i;
  if (mode == cudaAddressModeBorder) return i < 0 || i >= n ? -1 : i;
  if (mode == cudaAddressModeWrap) return ((i % n) + n) % n;
  int const period = ((i % (2 * n)) + 2 * n) % (2 * n);
  return period < n ? period : 2 * n - 1 - period;
}
float texel(std::vector<float> const& image, int x, int y, cudaTextureAddressMode mode) {
  int const wx = wrapped(x, width, mode), wy = wrapped(y, height, mode);
  return wx < 0 || wy < 0 ? 0 : image[wy * width + wx];
}
float filtered(std::vector<float> const& image, float x, float y, cudaTextureAddressMode mode) {
  x -= 0.5f, y -= 0.5f;
  int const ix = static_cast<int>(std::floor(x)), iy = static_cast<int>(std::floor(y));
  float const fx = x - ix, fy = y - iy;
  return (1 - fx) * (1 - fy) * texel(image, ix, iy, mode) + fx * (1 - fy) * texel(image, ix + 1, iy, mode) +
         (1 - fx) * fy * texel(image, ix, iy + 1, mode) + fx * fy * texel(image, ix + 1, iy + 1, mode);
}

int main() {
  Numbers numbers;
  auto const image = numbers.units(width * height);
  std::vector<int> list(1000), reversed(1000);
  for (int i = 0; i < 1000; ++i) list[i] = i * i, reversed[999 - i] = i * i;
  int* const d_list = on_device(list);
  int* const d_ints = zeros_on_device<int>(1000);
  cudaResourceDesc linear{};
  linear.resType = cudaResourceTypeLinear;
  linear.res.linear.devPtr = d_list;
  linear.res.linear.desc = cudaCreateChannelDesc<int>();
  linear.res.linear.sizeInBytes = 1000 * sizeof(int);
  cudaTextureDesc plain{};
  plain.readMode = cudaReadModeElementType;
  cudaTextureObject_t texture = 0;
  CHECK(cudaCreateTextureObject(&texture, &linear, &plain, nullptr));
  fetch_linear<<<4, 256>>>(texture, d_ints, 1000);
  expect_equal(from_device(d_ints, 1000), reversed, "linear memory");
  CHECK(cudaDestroyTextureObject(texture));

  float* const d_out = zeros_on_device<float>(width * height);
  dim3 const grid(2, 3), block(32, 8);
  float* pitched = nullptr;
  std::size_t pitch = 0;
  CHECK(cudaMallocPitch(reinterpret_cast<void**>(&pitched), &pitch, width * sizeof(float), height));
  CHECK(cudaMemcpy2D(pitched, pitch, image.data(), width * sizeof(float), width * sizeof(float), height,
                     cudaMemcpyHostToDevice));
  cudaResourceDesc of_pitch{};
  of_pitch.resType = cudaResourceTypePitch2D;
  of_pitch.res.pitch2D.devPtr = pitched;
  of_pitch.res.pitch2D.desc = cudaCreateChannelDesc<float>();
  of_pitch.res.pitch2D.width = width;
  of_pitch.res.pitch2D.height = height;
  of_pitch.res.pitch2D.pitchInBytes = pitch;
  plain.addressMode[0] = plain.addressMode[1] = cudaAddressModeClamp;
  CHECK(cudaCreateTextureObject(&texture, &of_pitch, &plain, nullptr));
  sample<<<grid, block>>>(texture, d_out, 1, 1, 0.5f);
  expect_equal(from_device(d_out, width * height), image, "pitched memory");
  CHECK(cudaDestroyTextureObject(texture));

  cudaArray_t array = nullptr;
  auto const format = cudaCreateChannelDesc<float>();
  CHECK(cudaMallocArray(&array, &format, width, height));
  CHECK(cudaMemcpy2DToArray(array, 0, 0, image.data(), width * sizeof(float), width * sizeof(float), height,
                            cudaMemcpyHostToDevice));
  cudaResourceDesc of_array{};
  of_array.resType = cudaResourceTypeArray;
  of_array.res.array.array = array;
  char const* const names[] = {"wrap", "clamp", "mirror", "border"};
  for (auto const mode : {cudaAddressModeWrap, cudaAddressModeClamp, cudaAddressModeMirror, cudaAddressModeBorder}) {
    cudaTextureDesc smooth{};
    smooth.addressMode[0] = smooth.addressMode[1] = mode;
    smooth.filterMode = cudaFilterModeLinear;
    smooth.readMode = cudaReadModeElementType;
    smooth.normalizedCoords = 1;
    CHECK(cudaCreateTextureObject(&texture, &of_array, &smooth, nullptr));
    float const step_x = 1.7f / width, step_y = 1.9f / height, offset = -0.31f;
    sample<<<grid, block>>>(texture, d_out, step_x, step_y, offset);
    std::vector<float> expected(width * height);
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x)
        expected[y * width + x] = filtered(image, (x * step_x + offset) * width, (y * step_y + offset) * height, mode);
    // Filters weigh with 8 bits behind the point.
    expect_near(from_device(d_out, width * height), expected, 1.0 / 128, names[mode]);
    CHECK(cudaDestroyTextureObject(texture));
  }
  CHECK(cudaFreeArray(array));
  return finish();
}
