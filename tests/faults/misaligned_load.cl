// A word read after a header of one byte.
// launch: -g 8 -l 8 -a buf:u8:64:iota -a buf:u32:8:zero
// expect: misaligned, line 10, work-item (0, 0, 0) of work-group (0, 0, 0)

__kernel void unpack(__global const uchar* bytes, __global uint* out) {
  int i = get_global_id(0);
#ifdef MENDED
  out[i] = *(__global const uint*)(bytes + 4 * i);
#else
  out[i] = *(__global const uint*)(bytes + 4 * i + 1);
#endif
}
