// See unreadable.cu.
__global__ void plain(int* x) {
  x[threadIdx.x] += 10;
}

void run_readable(int* x) {
  plain<<<1, 32>>>(x);
}
