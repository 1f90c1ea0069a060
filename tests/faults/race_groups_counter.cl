// Groups count without an atomic.
// launch: -g 64 -l 1 -a buf:i32:1:zero
// expect: race, line 9, work-item (0, 0, 0) of work-group (1, 0, 0)

__kernel void count(__global int* n) {
#ifdef MENDED
  atomic_add(n, 1);
#else
  n[0] = n[0] + 1;
#endif
}
