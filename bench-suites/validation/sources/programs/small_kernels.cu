// Twenty kernels of 3 us, five times: the host waits for each, for each twenty, or they are one graph. The commands are
// those of A. Gray, Getting Started with CUDA Graphs, NVIDIA's blog, 2019, with fewer steps.
//   small_kernels each|queued|graph
#include <cstdio>
#include <cstring>

constexpr int kernels = 20, steps = 5, group = 512, size = 500000;

__global__ void scaled(float* out, float const* in) {
  int const i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < size) out[i] = 1.23F * in[i];
}

int main(int count, char** arguments) {
  char const* const how = count > 1 ? arguments[1] : "";
  float *out = nullptr, *in = nullptr;
  cudaStream_t stream;
  if (cudaMalloc(&out, size * sizeof(float)) || cudaMalloc(&in, size * sizeof(float)) || cudaStreamCreate(&stream))
    return 1;
  auto const run = [&] { scaled<<<(size + group - 1) / group, group, 0, stream>>>(out, in); };
  if (!std::strcmp(how, "each")) {
    for (int i = 0; i < steps * kernels; ++i) run(), cudaStreamSynchronize(stream);
  } else if (!std::strcmp(how, "queued")) {
    for (int step = 0; step < steps; ++step) {
      for (int i = 0; i < kernels; ++i) run();
      cudaStreamSynchronize(stream);
    }
  } else if (!std::strcmp(how, "graph")) {
    cudaGraph_t graph;
    cudaGraphExec_t ready;
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
    for (int i = 0; i < kernels; ++i) run();
    cudaStreamEndCapture(stream, &graph);
    if (cudaGraphInstantiate(&ready, graph, 0)) return 1;
    for (int step = 0; step < steps; ++step) cudaGraphLaunch(ready, stream), cudaStreamSynchronize(stream);
  } else {
    return std::fprintf(stderr, "small_kernels each|queued|graph\n"), 2;
  }
  return cudaDeviceSynchronize() ? 1 : 0;
}
