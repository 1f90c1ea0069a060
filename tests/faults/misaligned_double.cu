// A double at an odd float.
// launch: --grid 1 -l 4 -a buf:f32:16:zero
// expect: misaligned, line 9, work-item (0, 0, 0) of work-group (0, 0, 0)

__global__ void store(float* a) {
#ifdef MENDED
  reinterpret_cast<double*>(a)[threadIdx.x] = 1.0;
#else
  reinterpret_cast<double*>(a + 1)[threadIdx.x] = 1.0;
#endif
}
