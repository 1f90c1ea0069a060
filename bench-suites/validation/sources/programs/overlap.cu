// Four parts of an array go to the device, through a kernel and back: one after the other, or in four streams, by part
// or by command. The commands are those of async.cu of NVIDIA-developer-blog/code-samples@72d62ec,
// series/cuda-cpp/overlap-data-transfers, whose times many machines have published.
//   overlap sequential|by_part|by_command
#include <cstdio>
#include <cstring>

constexpr int streams = 4, group = 256, part = 4 * 1024 * group, whole = streams * part;

__global__ void one(float* values, int offset) {
  int const i = offset + static_cast<int>(threadIdx.x + blockIdx.x * blockDim.x);
  float const angle = static_cast<float>(i), s = sinf(angle), c = cosf(angle);
  values[i] += sqrtf(s * s + c * c);
}

int main(int count, char** arguments) {
  char const* const how = count > 1 ? arguments[1] : "";
  float *host = nullptr, *device = nullptr;
  cudaStream_t stream[streams];
  if (cudaMallocHost(&host, whole * sizeof(float)) || cudaMalloc(&device, whole * sizeof(float))) return 1;
  for (auto& s : stream)
    if (cudaStreamCreate(&s)) return 1;
  std::memset(host, 0, whole * sizeof(float));
  auto const to = [&](int i) {
    cudaMemcpyAsync(device + i * part, host + i * part, part * sizeof(float), cudaMemcpyHostToDevice, stream[i]);
  };
  auto const run = [&](int i) { one<<<part / group, group, 0, stream[i]>>>(device, i * part); };
  auto const back = [&](int i) {
    cudaMemcpyAsync(host + i * part, device + i * part, part * sizeof(float), cudaMemcpyDeviceToHost, stream[i]);
  };
  if (!std::strcmp(how, "sequential")) {
    cudaMemcpy(device, host, whole * sizeof(float), cudaMemcpyHostToDevice);
    one<<<whole / group, group>>>(device, 0);
    cudaMemcpy(host, device, whole * sizeof(float), cudaMemcpyDeviceToHost);
  } else if (!std::strcmp(how, "by_part")) {
    for (int i = 0; i < streams; ++i) to(i), run(i), back(i);
  } else if (!std::strcmp(how, "by_command")) {
    for (int i = 0; i < streams; ++i) to(i);
    for (int i = 0; i < streams; ++i) run(i);
    for (int i = 0; i < streams; ++i) back(i);
  } else {
    return std::fprintf(stderr, "overlap sequential|by_part|by_command\n"), 2;
  }
  if (cudaDeviceSynchronize()) return 1;
  for (int i = 0; i < whole; ++i)
    if (host[i] < 0.999F || host[i] > 1.001F) return std::fprintf(stderr, "overlap: %d is %g\n", i, host[i]), 1;
  return 0;
}
