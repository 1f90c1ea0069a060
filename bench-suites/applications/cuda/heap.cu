// malloc, free, new and delete in kernels: trees that one kernel builds, another reads and a third takes down.
#include "app.hpp"

struct Tree {
  int key;
  Tree *left, *right;
  __device__ explicit Tree(int k) : key(k), left(nullptr), right(nullptr) {}
};

__global__ void build(Tree** roots, int const* keys, int each) {
  int const t = blockIdx.x * blockDim.x + threadIdx.x;
  Tree* root = nullptr;
  for (int k = 0; k < each; ++k) {
    Tree** at = &root;
    int const key = keys[t * each + k];
    while (*at) at = key < (*at)->key ? &(*at)->left : &(*at)->right;
    *at = new Tree(key);
  }
  roots[t] = root;
}
__global__ void in_order(Tree* const* roots, int* out, int each) {
  int const t = blockIdx.x * blockDim.x + threadIdx.x;
  auto** const stack = static_cast<Tree const**>(malloc(each * sizeof(Tree*)));
  int depth = 0, written = 0;
  for (Tree const* node = roots[t]; node || depth;) {
    while (node) stack[depth++] = node, node = node->left;
    node = stack[--depth];
    out[t * each + written++] = node->key;
    node = node->right;
  }
  free(stack);
}
__device__ void take_down(Tree* node) {
  if (!node) return;
  take_down(node->left);
  take_down(node->right);
  delete node;
}
__global__ void take_down_all(Tree** roots) {
  take_down(roots[blockIdx.x * blockDim.x + threadIdx.x]);
}

#include <algorithm>

int main() {
  constexpr int trees = 64, each = 20;
  CHECK(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 4 << 20));
  Numbers numbers;
  std::vector<int> keys(trees * each);
  for (auto& v : keys) v = static_cast<int>(numbers.next() >> 16);
  Tree** const roots = zeros_on_device<Tree*>(trees);
  int* const d_keys = on_device(keys);
  int* const out = zeros_on_device<int>(trees * each);
  for (int t = 0; t < trees; ++t) std::sort(&keys[t * each], &keys[t * each] + each);
  for (int round = 0; round < 2; ++round) {
    build<<<2, trees / 2>>>(roots, d_keys, each);
    in_order<<<2, trees / 2>>>(roots, out, each);
    take_down_all<<<2, trees / 2>>>(roots);
    CHECK(cudaDeviceSynchronize());
    expect_equal(from_device(out, trees * each), keys, "trees in order");
  }
  return finish();
}
