// Every way to read and write an image in OpenCL C 1.2, one work-item per place.
#define READ(NAME, IMAGE, V, FN, C, POSITION)                                                              \
  __kernel void NAME(read_only IMAGE a, sampler_t s, __global const C* at, __global V* out) {              \
    size_t i = get_global_id(0);                                                                           \
    out[i] = FN(a, s, POSITION);                                                                           \
  }
#define READ_ALL(NAME, IMAGE, C, POSITION)                                       \
  READ(NAME##_f, IMAGE, float4, read_imagef, C, POSITION)                        \
  READ(NAME##_i, IMAGE, int4, read_imagei, C, POSITION)                          \
  READ(NAME##_ui, IMAGE, uint4, read_imageui, C, POSITION)
READ_ALL(image1d, image1d_t, float4, at[i].x)
READ_ALL(image2d, image2d_t, float4, at[i].xy)
READ_ALL(image3d, image3d_t, float4, at[i])
READ_ALL(image1d_array, image1d_array_t, float4, at[i].xy)
READ_ALL(image2d_array, image2d_array_t, float4, at[i])
READ_ALL(int_image1d, image1d_t, int4, at[i].x)
READ_ALL(int_image2d, image2d_t, int4, at[i].xy)
READ_ALL(int_image3d, image3d_t, int4, at[i])
READ_ALL(int_image2d_array, image2d_array_t, int4, at[i])

#define WRITE(NAME, V, FN)                                                                                  \
  __kernel void NAME(write_only image2d_t a, __global const int2* at, __global const V* in) {               \
    size_t i = get_global_id(0);                                                                            \
    FN(a, at[i], in[i]);                                                                                    \
  }
WRITE(write_f, float4, write_imagef)
WRITE(write_i, int4, write_imagei)
WRITE(write_ui, uint4, write_imageui)

__constant sampler_t literal = CLK_NORMALIZED_COORDS_TRUE | CLK_ADDRESS_MIRRORED_REPEAT | CLK_FILTER_NEAREST;
__kernel void literals(read_only image2d_t a, __global const float4* at, __global float4* out) {
  const sampler_t edge = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;
  size_t i = get_global_id(0);
  out[i] = read_imagef(a, literal, at[i].xy) + read_imagef(a, edge, at[i].zw * 4.0f);
}
__kernel void queries(read_only image2d_t a, read_only image3d_t b, write_only image2d_array_t c, __global int* out) {
  out[0] = get_image_width(a);
  out[1] = get_image_height(a);
  out[2] = get_image_channel_order(a);
  out[3] = get_image_channel_data_type(a);
  out[4] = get_image_depth(b);
  out[5] = get_image_dim(b).z;
  out[6] = (int)get_image_array_size(c);
  out[7] = get_image_dim(c).y;
  out[8] = get_image_channel_order(b);
  out[9] = get_image_channel_data_type(c);
}
