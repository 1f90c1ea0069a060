// A fence orders a work-item's own accesses; it does not wait for the others.
// launch: -g 128 -l 128 -a buf:f32:128:random -a buf:f32:128:zero
// expect: race, line 15, work-item (0, 0, 0) of work-group (0, 0, 0)
// says: the fence at fence_in_place_of_barrier.cl:11 (mem_fence, __threadfence) does not wait for other work-items

__kernel void reverse(__global const float* in, __global float* out) {
  __local float s[128];
  int t = get_local_id(0);
  s[t] = in[t];
#ifndef MENDED
  mem_fence(CLK_LOCAL_MEM_FENCE);
#else
  barrier(CLK_LOCAL_MEM_FENCE);
#endif
  out[t] = s[127 - t];
}
