// Seven rows, eight are touched.
// launch: --grid 4 -l 16,2 -a buf:f32:112:random
// expect: out_of_bounds, line 10, work-item (0, 1, 0) of work-group (3, 0, 0)

__global__ void halve(float* a) {
  int row = blockIdx.x * blockDim.y + threadIdx.y;
#ifdef MENDED
  if (row >= 7) return;
#endif
  a[row * 16 + threadIdx.x] *= 0.5f;
}
