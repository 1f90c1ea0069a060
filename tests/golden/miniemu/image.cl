// The kernels of the image cases.
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
__kernel void blur(read_only image2d_t from, sampler_t s, write_only image2d_t to) {
  int2 at = (int2)(get_global_id(0), get_global_id(1));
  float2 size = convert_float2(get_image_dim(from));
  write_imagef(to, at, read_imagef(from, s, (convert_float2(at) + 1.0f) / size));
}
__kernel void plain(read_only image2d_t from, __global float4* out, int beyond) {
  size_t i = get_global_id(0);
  out[i] = read_imagef(from, (int2)(i + beyond, 0));
}
__kernel void halves(__global half* data, half factor, __global float* unused) {
  size_t i = get_global_id(0);
  data[i] = unused ? 0 : data[i] * factor;
}
__kernel void half_copy(read_only image2d_t from, write_only image2d_t to) {
  int2 at = (int2)(get_global_id(0), get_global_id(1));
  write_imageh(to, at, read_imageh(from, at));
}
