// As before, with a fence of stores before the exchange and one of loads after it.
// launch: -g 128 -l 128 --cl-std CL2.0 -a buf:f32:128:random -a buf:f32:128:zero
// expect: race, line 17, work-item (0, 0, 0) of work-group (0, 0, 0)
// says: the fence at fence_of_writes.cl:12 (mem_fence, __threadfence) does not wait for other work-items

__kernel void reverse(__global const float* in, __global float* out) {
  __local float s[128];
  int t = get_local_id(0);
  s[t] = in[t];
#ifndef MENDED
  atomic_work_item_fence(CLK_LOCAL_MEM_FENCE, memory_order_release, memory_scope_work_group);
  atomic_work_item_fence(CLK_LOCAL_MEM_FENCE, memory_order_acquire, memory_scope_work_group);
#else
  atomic_work_item_fence(CLK_LOCAL_MEM_FENCE, memory_order_release, memory_scope_work_group);
  work_group_barrier(0);
#endif
  out[t] = s[127 - t];
}
