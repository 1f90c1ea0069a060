// A graph that is captured from two streams and run again and again with other data; one that is built of nodes, and
// changed when it is executable.
#include "app.hpp"

constexpr int n = 4096;

__global__ void scale(float* x, float factor) {
  x[blockIdx.x * blockDim.x + threadIdx.x] *= factor;
}
__global__ void sum_into(float* x, float const* y) {
  int const i = blockIdx.x * blockDim.x + threadIdx.x;
  x[i] += y[i];
}

void captured() {
  Numbers numbers;
  auto x = numbers.units(n), y = numbers.units(n);
  std::vector<float> out(n);
  float *const d_x = zeros_on_device<float>(n), *const d_y = zeros_on_device<float>(n);
  cudaStream_t stream, other;
  cudaEvent_t fork, join;
  CHECK(cudaStreamCreate(&stream));
  CHECK(cudaStreamCreate(&other));
  CHECK(cudaEventCreateWithFlags(&fork, cudaEventDisableTiming));
  CHECK(cudaEventCreateWithFlags(&join, cudaEventDisableTiming));
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  CHECK(cudaEventRecord(fork, stream));
  CHECK(cudaStreamWaitEvent(other, fork, 0));
  CHECK(cudaMemcpyAsync(d_x, x.data(), n * sizeof(float), cudaMemcpyHostToDevice, stream));
  scale<<<n / 256, 256, 0, stream>>>(d_x, 2);
  CHECK(cudaMemcpyAsync(d_y, y.data(), n * sizeof(float), cudaMemcpyHostToDevice, other));
  scale<<<n / 256, 256, 0, other>>>(d_y, 3);
  CHECK(cudaEventRecord(join, other));
  CHECK(cudaStreamWaitEvent(stream, join, 0));
  sum_into<<<n / 256, 256, 0, stream>>>(d_x, d_y);
  CHECK(cudaMemcpyAsync(out.data(), d_x, n * sizeof(float), cudaMemcpyDeviceToHost, stream));
  CHECK(cudaStreamEndCapture(stream, &graph));
  std::size_t nodes = 0;
  CHECK(cudaGraphGetNodes(graph, nullptr, &nodes));
  expect(nodes == 6, "nodes");
  CHECK(cudaGraphInstantiate(&exec, graph, 0));
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < n; ++i) x[i] += round, y[i] -= round;
    CHECK(cudaGraphLaunch(exec, stream));
    CHECK(cudaStreamSynchronize(stream));
    std::vector<float> expected(n);
    for (int i = 0; i < n; ++i) expected[i] = 2 * x[i] + 3 * y[i];
    expect_near(out, expected, 1e-6, "a captured graph");
  }
  CHECK(cudaGraphExecDestroy(exec));
  CHECK(cudaGraphDestroy(graph));
}

void built() {
  float* d_x = zeros_on_device<float>(n);
  float* d_y = on_device(std::vector<float>(n, 4));
  std::vector<float> out(n);
  float factor = 0.5f;
  void *of_scale[] = {&d_y, &factor}, *of_sum[] = {&d_x, &d_y};
  cudaGraph_t graph;
  cudaGraphNode_t clear, first, second, copy;
  CHECK(cudaGraphCreate(&graph, 0));
  cudaMemsetParams zero{};
  zero.dst = d_x;
  zero.elementSize = 4;
  zero.width = n;
  zero.height = 1;
  CHECK(cudaGraphAddMemsetNode(&clear, graph, nullptr, 0, &zero));
  cudaKernelNodeParams kernel{};
  kernel.func = reinterpret_cast<void*>(scale);
  kernel.gridDim = dim3(n / 128);
  kernel.blockDim = dim3(128);
  kernel.kernelParams = of_scale;
  CHECK(cudaGraphAddKernelNode(&first, graph, nullptr, 0, &kernel));
  cudaKernelNodeParams sum = kernel;
  sum.func = reinterpret_cast<void*>(sum_into);
  sum.kernelParams = of_sum;
  cudaGraphNode_t const before[] = {clear, first};
  CHECK(cudaGraphAddKernelNode(&second, graph, before, 2, &sum));
  CHECK(cudaGraphAddMemcpyNode1D(&copy, graph, &second, 1, out.data(), d_x, n * sizeof(float), cudaMemcpyDeviceToHost));
  cudaGraphExec_t exec;
  CHECK(cudaGraphInstantiate(&exec, graph, 0));
  CHECK(cudaGraphLaunch(exec, nullptr));
  CHECK(cudaDeviceSynchronize());
  expect_equal(out, std::vector<float>(n, 2), "a graph of nodes");
  factor = 8;
  CHECK(cudaGraphExecKernelNodeSetParams(exec, first, &kernel));
  CHECK(cudaGraphLaunch(exec, nullptr));
  CHECK(cudaDeviceSynchronize());
  expect_equal(out, std::vector<float>(n, 16), "a changed graph");
}

int main() {
  captured();
  built();
  return finish();
}
