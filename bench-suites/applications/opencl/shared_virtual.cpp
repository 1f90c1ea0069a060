// Shared virtual memory: a list whose nodes point to each other, and an argument that points into an allocation.
#define CL_TARGET_OPENCL_VERSION 200
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include "app.hpp"

static char const* const source = R"(
typedef struct Node { __global struct Node* next; int value; int sum; } Node;
__kernel void follow(__global Node* lists, int count) {
  __global Node* const first = lists + get_global_id(0) * count;
  int sum = 0;
  for (__global Node* n = first; n; n = n->next) { sum += n->value; n->sum = sum; }
}
__kernel void scale(__global int* x, int factor) { x[get_global_id(0)] *= factor; }
)";

struct Node {
  Node* next;
  int value, sum;
};

int main() {
  App const app;
  cl_device_svm_capabilities capabilities = 0;
  clGetDeviceInfo(app.device, CL_DEVICE_SVM_CAPABILITIES, sizeof capabilities, &capabilities, nullptr);
  if (!(capabilities & CL_DEVICE_SVM_COARSE_GRAIN_BUFFER)) return 77;
  constexpr int lists = 64, count = 16, nodes = lists * count;
  auto* const list = static_cast<Node*>(clSVMAlloc(app.context, CL_MEM_READ_WRITE, nodes * sizeof(Node) / 2, 0));
  auto* const rest = static_cast<Node*>(clSVMAlloc(app.context, CL_MEM_READ_WRITE, nodes * sizeof(Node), 0));
  auto* const x = static_cast<int*>(clSVMAlloc(app.context, CL_MEM_READ_WRITE, 1024 * sizeof(int), 0));
  // The first nodes of every list lie in one allocation, the others in the second, backwards.
  auto const node = [&](int l, int k) -> Node& {
    return k < count / 2 ? list[l * (count / 2) + k] : rest[nodes - 1 - (l * count + k)];
  };
  check(clEnqueueSVMMap(app.queue, CL_TRUE, CL_MAP_WRITE, list, nodes * sizeof(Node) / 2, 0, nullptr, nullptr), "map");
  check(clEnqueueSVMMap(app.queue, CL_TRUE, CL_MAP_WRITE, rest, nodes * sizeof(Node), 0, nullptr, nullptr), "map");
  check(clEnqueueSVMMap(app.queue, CL_TRUE, CL_MAP_WRITE, x, 1024 * sizeof(int), 0, nullptr, nullptr), "map");
  for (int l = 0; l < lists; ++l)
    for (int k = 0; k < count; ++k) node(l, k) = {k + 1 < count ? &node(l, k + 1) : nullptr, l + k, 0};
  for (int i = 0; i < 1024; ++i) x[i] = i;
  for (void* const memory : {static_cast<void*>(list), static_cast<void*>(rest), static_cast<void*>(x)})
    check(clEnqueueSVMUnmap(app.queue, memory, 0, nullptr, nullptr), "unmap");

  cl_program const program = app.build(source, "-cl-std=CL2.0");
  cl_kernel const follow = app.kernel(program, "follow"), scale = app.kernel(program, "scale");
  check(clSetKernelArgSVMPointer(follow, 0, list), "clSetKernelArgSVMPointer");
  set(follow, 1, count / 2);
  void* const reached[] = {rest};
  check(clSetKernelExecInfo(follow, CL_KERNEL_EXEC_INFO_SVM_PTRS, sizeof reached, reached), "clSetKernelExecInfo");
  app.launch(follow, {lists}, {32});
  check(clSetKernelArgSVMPointer(scale, 0, x + 512), "clSetKernelArgSVMPointer");
  set(scale, 1, 3);
  app.launch(scale, {512}, {64});

  check(clEnqueueSVMMap(app.queue, CL_TRUE, CL_MAP_READ, list, nodes * sizeof(Node) / 2, 0, nullptr, nullptr), "map");
  check(clEnqueueSVMMap(app.queue, CL_TRUE, CL_MAP_READ, rest, nodes * sizeof(Node), 0, nullptr, nullptr), "map");
  check(clEnqueueSVMMap(app.queue, CL_TRUE, CL_MAP_READ, x, 1024 * sizeof(int), 0, nullptr, nullptr), "map");
  std::vector<int> sums, want_sums, scaled(x, x + 1024), want_scaled(1024);
  for (int l = 0; l < lists; ++l)
    for (int k = 0; k < count; ++k) {
      sums.push_back(node(l, k).sum);
      want_sums.push_back((k + 1) * l + k * (k + 1) / 2);
    }
  for (int i = 0; i < 1024; ++i) want_scaled[static_cast<std::size_t>(i)] = i < 512 ? i : 3 * i;
  print("sums", sums);
  print("scaled", scaled);
  int const wrong = compare("sums", sums, want_sums) + compare("scaled", scaled, want_scaled);
  check(clFinish(app.queue), "clFinish");
  for (void* const memory : {static_cast<void*>(list), static_cast<void*>(rest), static_cast<void*>(x)})
    clSVMFree(app.context, memory);
  return wrong != 0;
}
