// The last vector is cut off.
// launch: -g 16 -l 16 -a buf:f32:64:zero
// expect: out_of_bounds, line 14, work-item (15, 0, 0) of work-group (0, 0, 0)

__kernel void wide(__global float4* out) {
#ifdef MENDED
  __local float4 s[16];
  __local float* p = (__local float*)s;
#else
  __local float s[62] __attribute__((aligned(16)));
  __local float* p = s;
#endif
  int t = get_local_id(0);
  ((__local float4*)p)[t] = (float4)(t);
  barrier(CLK_LOCAL_MEM_FENCE);
  out[t] = ((__local float4*)p)[t];
}
