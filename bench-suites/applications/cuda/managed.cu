// Managed memory: the host and the device use the same pointers, in arrays, in a list of nodes, in a variable.
#include "app.hpp"

struct Node {
  int value;
  Node* next;
};

__managed__ int total = 5;
__managed__ float table[256];

__global__ void walk(Node const* list) {
  if (threadIdx.x == 0)
    for (auto const* node = list; node; node = node->next) total += node->value;
}
__global__ void square(float* x, int n) {
  int const i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] *= x[i];
  if (i < 256) table[i] += i;
}

int main() {
  int device = 0;
  CHECK(cudaGetDevice(&device));
  Node* list = nullptr;
  for (int k = 1; k <= 50; ++k) {
    Node* node = nullptr;
    CHECK(cudaMallocManaged(reinterpret_cast<void**>(&node), sizeof(Node)));
    *node = {k, list};
    list = node;
  }
  walk<<<1, 32>>>(list);
  CHECK(cudaDeviceSynchronize());
  expect(total == 5 + 50 * 51 / 2, "a list");
  total = 0;
  list->value = 1000;
  walk<<<1, 32>>>(list);
  CHECK(cudaDeviceSynchronize());
  expect(total == 1000 + 49 * 50 / 2, "the list, changed by the host");

  int const n = 3000;
  float* x = nullptr;
  CHECK(cudaMallocManaged(reinterpret_cast<void**>(&x), n * sizeof(float), cudaMemAttachGlobal));
  Numbers numbers;
  std::vector<float> expected(n);
  for (int i = 0; i < n; ++i) x[i] = numbers.unit(), expected[i] = x[i] * x[i] * x[i] * x[i];
  for (int i = 0; i < 256; ++i) table[i] = 1;
  for (int round = 0; round < 2; ++round) square<<<(n + 255) / 256, 256>>>(x, n);
  CHECK(cudaDeviceSynchronize());
  expect_near(std::vector<float>(x, x + n), expected, 1e-6, "an array");
  bool good = true;
  for (int i = 0; i < 256; ++i) good &= table[i] == 1.0f + 2 * i;
  expect(good, "a managed variable");
  cudaPointerAttributes attributes{};
  CHECK(cudaPointerGetAttributes(&attributes, x));
  expect(attributes.type == cudaMemoryTypeManaged, "attributes");
  while (list) {
    Node* const next = list->next;
    CHECK(cudaFree(list));
    list = next;
  }
  CHECK(cudaFree(x));
  return finish();
}
