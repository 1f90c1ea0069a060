sampler_t nearest = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP | CLK_FILTER_NEAREST;

__kernel void large_kernel(__global int* out, read_only image2d_t image, sampler_t other) {
  int const y = mul24(get_local_size(0), get_group_id(0)) + mad24(get_group_id(0), get_local_size(0), 1u);
  uint lane;
  asm("mov.u32 %0, %%laneid;" : "=r"(lane));
  float4 const a = read_imagef(image, nearest, (int2)(0, 0)), b = read_imagef(image, other, (int2)(0, 0));
  out[get_global_id(0)] = y + lane + (int)(a.x + b.x);
}
