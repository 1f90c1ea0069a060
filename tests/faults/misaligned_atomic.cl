// A counter in the middle of a word.
// launch: -g 4 -l 4 -a buf:u8:64:zero
// expect: misaligned, line 9, work-item (0, 0, 0) of work-group (0, 0, 0)

__kernel void count(__global uchar* packet) {
#ifdef MENDED
  atomic_inc((volatile __global int*)(packet + 4));
#else
  atomic_inc((volatile __global int*)(packet + 6));
#endif
}
