// Matrix units of AMD's devices, by clang's built-in functions: CHAINS products side by side in each wavefront, each with
// sums of its own. One chain shows the latency of a product, four its rate.
//
// Macros: PRODUCT_<name>, one of those below, named as the kinds of products are (column matrix_flop of kernels), and
// CHAINS (4). Where the compiler is for another machine each sum is multiplied by itself instead: the emulator runs that,
// and counts in the machine code of AMD's target what the products are. Counts: kernels.toml.
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#if !defined(CHAINS)
#define CHAINS 4
#endif
#define VECTOR(TYPE, NAME, N) typedef TYPE NAME __attribute__((ext_vector_type(N)))

#if defined(PRODUCT_mfma_f16_f32)
VECTOR(half, Factor, 4);
VECTOR(float, Sum, 16);
#define MULTIPLY(a, b, d) __builtin_amdgcn_mfma_f32_32x32x8f16(a, b, d, 0, 0, 0)
#elif defined(PRODUCT_mfma_bf16_f32)
VECTOR(short, Factor, 4);
VECTOR(float, Sum, 16);
#define MULTIPLY(a, b, d) __builtin_amdgcn_mfma_f32_32x32x8bf16_1k(a, b, d, 0, 0, 0)
#elif defined(PRODUCT_mfma_f32_f32)
typedef float Factor;
VECTOR(float, Sum, 16);
#define MULTIPLY(a, b, d) __builtin_amdgcn_mfma_f32_32x32x2f32(a, b, d, 0, 0, 0)
#elif defined(PRODUCT_mfma_f64_f64)
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
typedef double Factor;
VECTOR(double, Sum, 4);
#define MULTIPLY(a, b, d) __builtin_amdgcn_mfma_f64_16x16x4f64(a, b, d, 0, 0, 0)
#elif defined(PRODUCT_mfma_i8_i32)
typedef int Factor;
VECTOR(int, Sum, 16);
#define MULTIPLY(a, b, d) __builtin_amdgcn_mfma_i32_32x32x8i8(a, b, d, 0, 0, 0)
#elif defined(PRODUCT_mfma_i8_i32_wide)  // gfx942's of twice the depth
typedef long Factor;
VECTOR(int, Sum, 16);
#define MULTIPLY(a, b, d) __builtin_amdgcn_mfma_i32_32x32x16_i8(a, b, d, 0, 0, 0)
#elif defined(PRODUCT_mfma_tf32_f32)
VECTOR(float, Factor, 2);
VECTOR(float, Sum, 16);
#define MULTIPLY(a, b, d) __builtin_amdgcn_mfma_f32_32x32x4_xf32(a, b, d, 0, 0, 0)
#elif defined(PRODUCT_mfma_f8_f32)
typedef long Factor;
VECTOR(float, Sum, 16);
#define MULTIPLY(a, b, d) __builtin_amdgcn_mfma_f32_32x32x16_fp8_fp8(a, b, d, 0, 0, 0)
#elif defined(PRODUCT_mfma_f16_f32_sparse)
VECTOR(half, Factor, 4);
VECTOR(half, Wide, 8);
VECTOR(float, Sum, 16);
#define MULTIPLY(a, b, d) \
  __builtin_amdgcn_smfmac_f32_32x32x16_f16(a, (Wide)(b.x, b.y, b.z, b.w, b.x, b.y, b.z, b.w), d, 0x44444444, 0, 0)
#elif defined(PRODUCT_wmma_f16_f32)
VECTOR(half, Factor, 16);
VECTOR(float, Sum, 8);
#define MULTIPLY(a, b, d) __builtin_amdgcn_wmma_f32_16x16x16_f16_w32(a, b, d)
#elif defined(PRODUCT_wmma_bf16_f32)
VECTOR(short, Factor, 16);
VECTOR(float, Sum, 8);
#define MULTIPLY(a, b, d) __builtin_amdgcn_wmma_f32_16x16x16_bf16_w32(a, b, d)
#elif defined(PRODUCT_wmma_f16_f16)
VECTOR(half, Factor, 16);
VECTOR(half, Sum, 16);
#define MULTIPLY(a, b, d) __builtin_amdgcn_wmma_f16_16x16x16_f16_w32(a, b, d, false)
#elif defined(PRODUCT_wmma_i8_i32)
VECTOR(int, Factor, 4);
VECTOR(int, Sum, 8);
#define MULTIPLY(a, b, d) __builtin_amdgcn_wmma_i32_16x16x16_iu8_w32(true, a, true, b, d, false)
#elif defined(PRODUCT_wmma_i4_i32)
VECTOR(int, Factor, 2);
VECTOR(int, Sum, 8);
#define MULTIPLY(a, b, d) __builtin_amdgcn_wmma_i32_16x16x16_iu4_w32(true, a, true, b, d, false)
#else
#error "define one PRODUCT_"
#endif
#if !defined(__AMDGCN__)
#undef MULTIPLY
#define MULTIPLY(a, b, d) ((d) * (d))
#endif

__kernel void matrix_product(__global Factor const* in, __global Sum* out, uint iterations) {
  uint const me = get_global_id(0);
  Factor const a = in[2 * me], b = in[2 * me + 1];
  Sum sums[CHAINS];
#pragma unroll
  for (uint c = 0; c < CHAINS; ++c) sums[c] = (Sum)(c);
#pragma nounroll
  for (uint n = 0; n < iterations; ++n)
#pragma unroll
    for (uint c = 0; c < CHAINS; ++c) sums[c] = MULTIPLY(a, b, sums[c]);
  Sum sum = sums[0];
#pragma unroll
  for (uint c = 1; c < CHAINS; ++c) sum += sums[c];
  out[me] = sum;
}
