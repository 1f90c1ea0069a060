// Kernels in CUDA graphs: captured from two streams, and added as nodes, changed, cloned from a packed buffer, removed.
// Prints "right" where every value is as it must be.
#include <cstdio>
#include <vector>

constexpr int n = 1024;

__global__ void add(int* x, int value, int bound) {
  int const i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < bound) x[i] += value;
}

__global__ void loop(int* x, int times) {
  int const i = blockIdx.x * blockDim.x + threadIdx.x;
#pragma unroll 1
  for (int k = 0; k < times; ++k) x[i] = x[i] * 3 + k;
}

void must(cudaError_t error) {
  if (error == cudaSuccess) return;
  std::printf("CUDA error %d\n", static_cast<int>(error));
  std::exit(4);
}

struct Expected {
  std::vector<int> values = std::vector<int>(n, 0);
  void add(int value, int bound) {
    for (int i = 0; i < bound; ++i) values[i] += value;
  }
  void loop(int items, int times) {
    for (int i = 0; i < items; ++i)
      for (int k = 0; k < times; ++k) values[i] = values[i] * 3 + k;
  }
};

// Two streams, the second between two events of the first; run three times.
void capture(int* x, int* y, Expected& ex, Expected& ey) {
  cudaStream_t first, second;
  cudaEvent_t fork, join;
  must(cudaStreamCreate(&first));
  must(cudaStreamCreate(&second));
  must(cudaEventCreateWithFlags(&fork, cudaEventDisableTiming));
  must(cudaEventCreateWithFlags(&join, cudaEventDisableTiming));
  add<<<4, 256, 0, first>>>(x, 1, 700);  // still under way when the capture begins
  ex.add(1, 700);
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  must(cudaStreamBeginCapture(first, cudaStreamCaptureModeGlobal));
  add<<<4, 256, 0, first>>>(x, 5, 1000);
  must(cudaEventRecord(fork, first));
  must(cudaStreamWaitEvent(second, fork, 0));
  add<<<2, 256, 0, second>>>(y, 2, 300);
  must(cudaEventRecord(join, second));
  loop<<<1, 64, 0, first>>>(x, 3);
  must(cudaStreamWaitEvent(first, join, 0));
  must(cudaStreamEndCapture(first, &graph));
  std::size_t nodes = 0;
  must(cudaGraphGetNodes(graph, nullptr, &nodes));
  if (nodes != 3) std::printf("%zu nodes\n", nodes);
  must(cudaGraphInstantiate(&exec, graph, 0));
  for (int k = 0; k < 3; ++k) {
    must(cudaGraphLaunch(exec, first));
    ex.add(5, 1000), ex.loop(64, 3), ey.add(2, 300);
  }
  must(cudaStreamSynchronize(first));
}

// add, loop, add one after the other; then other parameters in the executable graph, then in the graph itself.
void build(int* x, Expected& ex) {
  cudaStream_t stream;
  must(cudaStreamCreate(&stream));
  cudaGraph_t graph;
  must(cudaGraphCreate(&graph, 0));
  cudaGraphNode_t first, second, third, unwanted;
  int value = 7, bound = 100, times = 2;
  void* add_arguments[] = {&x, &value, &bound};
  void* loop_arguments[] = {&x, &times};
  cudaKernelNodeParams parameters{};
  parameters.func = reinterpret_cast<void*>(add);
  parameters.gridDim = dim3(4);
  parameters.blockDim = dim3(256);
  parameters.kernelParams = add_arguments;
  must(cudaGraphAddKernelNode(&first, graph, nullptr, 0, &parameters));
  must(cudaGraphAddKernelNode(&unwanted, graph, &first, 1, &parameters));
  auto of_loop = parameters;
  of_loop.func = reinterpret_cast<void*>(loop);
  of_loop.gridDim = dim3(1);
  of_loop.blockDim = dim3(32);
  of_loop.kernelParams = loop_arguments;
  must(cudaGraphAddKernelNode(&second, graph, &first, 1, &of_loop));
  cudaGraphNodeParams any{};
  any.type = cudaGraphNodeTypeKernel;
  any.kernel.func = reinterpret_cast<void*>(add);
  any.kernel.gridDim = dim3(2);
  any.kernel.blockDim = dim3(128);
  any.kernel.kernelParams = add_arguments;
#if CUDART_VERSION >= 13000
  must(cudaGraphAddNode(&third, graph, &second, nullptr, 1, &any));
#else
  must(cudaGraphAddNode(&third, graph, &second, 1, &any));
#endif
  must(cudaGraphDestroyNode(unwanted));
  cudaGraphExec_t exec;
  must(cudaGraphInstantiate(&exec, graph, 0));
  must(cudaGraphLaunch(exec, stream));
  ex.add(7, 100), ex.loop(32, 2), ex.add(7, 100);

  times = 4;  // another count, another size; and another kernel in the place of the third
  of_loop.blockDim = dim3(16);
  must(cudaGraphExecKernelNodeSetParams(exec, second, &of_loop));
  auto other = of_loop;
  other.blockDim = dim3(8);
  must(cudaGraphExecKernelNodeSetParams(exec, third, &other));
  must(cudaGraphLaunch(exec, stream));
  ex.add(7, 100), ex.loop(16, 4), ex.loop(8, 4);

  bound = 50;
  must(cudaGraphKernelNodeSetParams(first, &parameters));
  cudaGraphExec_t again;
  must(cudaGraphInstantiate(&again, graph, 0));
  must(cudaGraphLaunch(again, stream));
  ex.add(7, 50), ex.loop(32, 2), ex.add(7, 100);
  must(cudaGraphLaunch(exec, stream));  // only the copy below waits for it
  ex.add(7, 100), ex.loop(16, 4), ex.loop(8, 4);
  must(cudaStreamSynchronize(stream));
}

int main() {
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess || count == 0) {
    std::puts("no device");
    return 3;
  }
  int *x, *y;
  must(cudaMalloc(&x, n * sizeof(int)));
  must(cudaMalloc(&y, n * sizeof(int)));
  must(cudaMemset(x, 0, n * sizeof(int)));
  must(cudaMemset(y, 0, n * sizeof(int)));
  must(cudaDeviceSynchronize());
  Expected ex, ey;
  capture(x, y, ex, ey);
  build(x, ex);
  std::vector<int> hx(n), hy(n);
  must(cudaMemcpy(hx.data(), x, n * sizeof(int), cudaMemcpyDeviceToHost));
  must(cudaMemcpy(hy.data(), y, n * sizeof(int), cudaMemcpyDeviceToHost));
  bool const right = hx == ex.values && hy == ey.values;
  std::puts(right ? "right" : "wrong");
  return right ? 0 : 5;
}
