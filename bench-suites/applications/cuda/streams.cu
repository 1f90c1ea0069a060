// Copies and kernels on four streams, ordered by events, with pinned memory, actions of the host and times.
#include "app.hpp"

__global__ void stage(float const* in, float* out, int n, float factor) {
  int const i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i] * factor + 1;
}

void note(void* data) {
  ++*static_cast<int*>(data);
}

int main() {
  constexpr int streams = 4, n = 1 << 14, chunk = n / streams;
  float *host, *in, *middle, *out;
  CHECK(cudaMallocHost(reinterpret_cast<void**>(&host), n * sizeof(float)));
  CHECK(cudaMalloc(reinterpret_cast<void**>(&in), n * sizeof(float)));
  CHECK(cudaMalloc(reinterpret_cast<void**>(&middle), n * sizeof(float)));
  CHECK(cudaMalloc(reinterpret_cast<void**>(&out), n * sizeof(float)));
  Numbers numbers;
  std::vector<float> expected(n);
  for (int i = 0; i < n; ++i) host[i] = numbers.unit();
  for (int i = 0; i < n; ++i) {
    int const from = (i + chunk) % n;  // the second stage reads what the next stream has made
    expected[i] = (host[from] * 2 + 1) * 3 + 1;
  }
  cudaStream_t stream[streams];
  cudaEvent_t made[streams], begin, end;
  CHECK(cudaEventCreate(&begin));
  CHECK(cudaEventCreate(&end));
  int notes[streams] = {};
  CHECK(cudaEventRecord(begin));
  for (int s = 0; s < streams; ++s) {
    if (s % 2)
      CHECK(cudaStreamCreateWithFlags(&stream[s], cudaStreamNonBlocking));
    else
      CHECK(cudaStreamCreateWithPriority(&stream[s], cudaStreamDefault, 0));
    CHECK(cudaEventCreateWithFlags(&made[s], cudaEventDisableTiming));
    int const at = s * chunk;
    CHECK(cudaMemcpyAsync(in + at, host + at, chunk * sizeof(float), cudaMemcpyHostToDevice, stream[s]));
    stage<<<chunk / 256, 256, 0, stream[s]>>>(in + at, middle + at, chunk, 2);
    CHECK(cudaEventRecord(made[s], stream[s]));
  }
  for (int s = 0; s < streams; ++s) {
    int const at = s * chunk, from = (at + chunk) % n;
    CHECK(cudaStreamWaitEvent(stream[s], made[(s + 1) % streams], 0));
    stage<<<chunk / 256, 256, 0, stream[s]>>>(middle + from, out + at, chunk, 3);
    // No stream may write the host's memory before the next one has read it.
    CHECK(cudaStreamWaitEvent(stream[s], made[s], 0));
    CHECK(cudaLaunchHostFunc(stream[s], note, &notes[s]));
  }
  for (int s = 0; s < streams; ++s) CHECK(cudaStreamSynchronize(stream[s]));
  CHECK(cudaEventRecord(end));
  CHECK(cudaEventSynchronize(end));
  float time_ms = -1;
  CHECK(cudaEventElapsedTime(&time_ms, begin, end));
  expect(time_ms >= 0, "time");
  // As between two devices, which may be one.
  int device = -1;
  CHECK(cudaGetDevice(&device));
  CHECK(cudaMemcpyPeer(middle, device, out, device, n * sizeof(float)));
  CHECK(cudaMemcpy(host, middle, n * sizeof(float), cudaMemcpyDeviceToHost));
  expect_near(std::vector<float>(host, host + n), expected, 1e-6, "two stages");
  expect(notes[0] + notes[1] + notes[2] + notes[3] == streams, "actions of the host");
  for (int s = 0; s < streams; ++s) {
    expect(cudaStreamQuery(stream[s]) == cudaSuccess && cudaEventQuery(made[s]) == cudaSuccess, "nothing is pending");
    CHECK(cudaEventDestroy(made[s]));
    CHECK(cudaStreamDestroy(stream[s]));
  }
  CHECK(cudaFreeHost(host));
  return finish();
}
