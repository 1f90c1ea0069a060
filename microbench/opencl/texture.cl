// Reads through an image of four 32-bit channels, neighbours beside each other. Counts: kernels.toml.
__constant sampler_t nearest = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;

__kernel void texture_read(__read_only image2d_t image, __global uint* out, uint width_mask, uint height_mask,
                           uint iterations) {
  uint const x = get_global_id(0);
  uint4 sum = (uint4)(0);
  for (uint i = 0; i < iterations; ++i)
    sum ^= read_imageui(image, nearest, (int2)((int)(x & width_mask), (int)((i + (x / (width_mask + 1))) & height_mask)));
  out[x] = sum.x ^ sum.y ^ sum.z ^ sum.w;
}
