// Problem: libclc-19's bitcode for NVPTX lacks part of the OpenCL C library. This file fills the gaps.
//
// Method: it is compiled to bitcode and linked before libclc, so that its definitions win. Approximate functions map to
// the PTX instructions that NVIDIA's own compiler uses for them. What PTX can say only in instructions that clang has no
// name for (images, environment registers, 64-bit minimum) is inline PTX.
//
// Conventions that the emulator shares:
//   %envreg3..5  the launch's global offset;  %envreg6  its number of dimensions
//   image        a 64-bit handle, read by tex and txq, written by sust, queried by txq and suq
//   sampler      a 64-bit handle; a sampler literal's handle is the literal's own bits (CLK_…)
//
// Pointers: private and generic memory are one address space on NVPTX, so libclc's functions that write through a private
// pointer (fract, sincos, vload…) also serve the generic pointers of OpenCL 2.0 and later.
//
// Limits: no multi-sample or depth images, no pipes, no device enqueue. A sub-group is a warp of 32. Any memory order
// other than relaxed is a fence of the whole device before and after, which is stronger than asked for.

#include "vectors.clh"

// ------------------------------------------------------------------ native math

#define NATIVE(NAME, EXPRESSION)                      \
  OVERLOAD float NAME(float a) { return EXPRESSION; } \
  VECTORS_1(NAME, float)

NATIVE(native_sin, __nvvm_sin_approx_ftz_f(a))
NATIVE(native_cos, __nvvm_cos_approx_ftz_f(a))
NATIVE(native_tan, __nvvm_sin_approx_ftz_f(a) * __nvvm_rcp_approx_ftz_f(__nvvm_cos_approx_ftz_f(a)))
NATIVE(native_exp2, __nvvm_ex2_approx_ftz_f(a))
NATIVE(native_exp, __nvvm_ex2_approx_ftz_f(a * 0x1.715476p+0f))     // log2(e)
NATIVE(native_exp10, __nvvm_ex2_approx_ftz_f(a * 0x1.a934f0p+1f))   // log2(10)
NATIVE(native_log2, __nvvm_lg2_approx_ftz_f(a))
NATIVE(native_log, __nvvm_lg2_approx_ftz_f(a) * 0x1.62e430p-1f)     // ln(2)
NATIVE(native_log10, __nvvm_lg2_approx_ftz_f(a) * 0x1.344136p-2f)   // log10(2)
NATIVE(native_recip, __nvvm_rcp_approx_ftz_f(a))
NATIVE(native_rsqrt, __nvvm_rsqrt_approx_ftz_f(a))
NATIVE(native_sqrt, __nvvm_sqrt_approx_ftz_f(a))

OVERLOAD float native_powr(float a, float b) { return native_exp2(b * native_log2(a)); }
VECTORS_2(native_powr, float)
OVERLOAD float native_divide(float a, float b) { return __nvvm_div_approx_ftz_f(a, b); }
VECTORS_2(native_divide, float)

// libclc's double nan(0) is an infinity.
OVERLOAD double nan(ulong code) { return as_double(code | 0x7ff8000000000000ul); }
#define NAN_OF(N) \
  OVERLOAD double##N nan(ulong##N code) { return as_double##N(code | 0x7ff8000000000000ul); }
NAN_OF(2) NAN_OF(3) NAN_OF(4) NAN_OF(8) NAN_OF(16)

// ------------------------------------------------------------------ halves in memory

#pragma OPENCL EXTENSION cl_khr_fp16 : enable
// libclc rounds in some 80 integer instructions where a direction is named; PTX has one conversion.
#define STORE_HALF(SPACE, R, T)                                                                                       \
  OVERLOAD void vstore_half_##R(T v, size_t i, SPACE half* p) { ((SPACE ushort*)p)[i] = half_##R(v); }                \
  OVERLOAD void vstorea_half_##R(T v, size_t i, SPACE half* p) { ((SPACE ushort*)p)[i] = half_##R(v); }               \
  STORE_HALVES(SPACE, R, T, 2, ushort2, (half_##R(v.x), half_##R(v.y)))                                               \
  STORE_HALVES(SPACE, R, T, 3, ushort4, (half_##R(v.x), half_##R(v.y), half_##R(v.z), 0))                             \
  STORE_HALVES(SPACE, R, T, 4, ushort4, (half_##R(v.x), half_##R(v.y), half_##R(v.z), half_##R(v.w)))                 \
  STORE_LONG(SPACE, R, T, 8, 4)                                                                                       \
  STORE_LONG(SPACE, R, T, 16, 8)
#define STORE_HALVES(SPACE, R, T, N, V, VALUES)                                                                       \
  OVERLOAD void vstore_half##N##_##R(T##N v, size_t i, SPACE half* p) {                                               \
    const V h = (V)VALUES;                                                                                            \
    for (int k = 0; k < N; ++k) ((SPACE ushort*)p)[i * N + k] = h[k];                                                 \
  }                                                                                                                   \
  OVERLOAD void vstorea_half##N##_##R(T##N v, size_t i, SPACE half* p) { ((SPACE V*)p)[i] = (V)VALUES; }
#define STORE_LONG(SPACE, R, T, N, HALF)                                                                              \
  OVERLOAD void vstore_half##N##_##R(T##N v, size_t i, SPACE half* p) {                                               \
    vstore_half##HALF##_##R(v.lo, 2 * i, p), vstore_half##HALF##_##R(v.hi, 2 * i + 1, p);                             \
  }                                                                                                                   \
  OVERLOAD void vstorea_half##N##_##R(T##N v, size_t i, SPACE half* p) {                                              \
    vstorea_half##HALF##_##R(v.lo, 2 * i, p), vstorea_half##HALF##_##R(v.hi, 2 * i + 1, p);                           \
  }
#define ROUNDED_HALF(R, PTX, T, SUFFIX, REGISTER)                                                                     \
  OVERLOAD ushort half_##R(T v) {                                                                                     \
    ushort bits;                                                                                                      \
    __asm__("cvt." PTX ".f16." SUFFIX " %0, %1;" : "=h"(bits) : REGISTER(v));                                         \
    return bits;                                                                                                      \
  }                                                                                                                   \
  OVERLOAD half convert_half_##R(T v) { return as_half(half_##R(v)); }                                                \
  OVERLOAD half2 convert_half2_##R(T##2 v) { return as_half2((ushort2)(half_##R(v.x), half_##R(v.y))); }              \
  OVERLOAD half3 convert_half3_##R(T##3 v) { return (half3)(convert_half2_##R(v.xy), convert_half_##R(v.z)); }        \
  CONVERT_HALVES(R, T, 4, 2) CONVERT_HALVES(R, T, 8, 4) CONVERT_HALVES(R, T, 16, 8)                                   \
  STORE_HALF(__global, R, T) STORE_HALF(__local, R, T) STORE_HALF(__private, R, T)
#define CONVERT_HALVES(R, T, N, HALF)                                                                                 \
  OVERLOAD half##N convert_half##N##_##R(T##N v) {                                                                    \
    return (half##N)(convert_half##HALF##_##R(v.lo), convert_half##HALF##_##R(v.hi));                                 \
  }
#define ROUNDED_HALVES(R, PTX) ROUNDED_HALF(R, PTX, float, "f32", "f") ROUNDED_HALF(R, PTX, double, "f64", "d")
ROUNDED_HALVES(rte, "rn")
ROUNDED_HALVES(rtz, "rz")
ROUNDED_HALVES(rtp, "rp")
ROUNDED_HALVES(rtn, "rm")

// ------------------------------------------------------------------ integers

#define MAD_HI_1(T) \
  OVERLOAD T mad_hi(T a, T b, T c) { return mul_hi(a, b) + c; }
#define MAD_HI(T) MAD_HI_1(T) MAD_HI_1(T##2) MAD_HI_1(T##3) MAD_HI_1(T##4) MAD_HI_1(T##8) MAD_HI_1(T##16)
MAD_HI(char) MAD_HI(uchar) MAD_HI(short) MAD_HI(ushort)
MAD_HI(int) MAD_HI(uint) MAD_HI(long) MAD_HI(ulong)

// libclc's is wrong for signed 64 bits: the product has 128, and the sum saturates once.
OVERLOAD long mad_sat(long a, long b, long c) {
  const ulong product = (ulong)a * (ulong)b, sum = product + (ulong)c;
  const long high = mul_hi(a, b) + (c >> 63) + (sum < product);
  return high == (long)sum >> 63 ? (long)sum : high < 0 ? LONG_MIN : LONG_MAX;
}
#define MAD_SAT(N)                                                          \
  OVERLOAD long##N mad_sat(long##N a, long##N b, long##N c) {               \
    return (long##N)(mad_sat(a.lo, b.lo, c.lo), mad_sat(a.hi, b.hi, c.hi)); \
  }
MAD_SAT(2) MAD_SAT(4) MAD_SAT(8) MAD_SAT(16)
OVERLOAD long3 mad_sat(long3 a, long3 b, long3 c) {
  return (long3)(mad_sat(a.xy, b.xy, c.xy), mad_sat(a.z, b.z, c.z));
}

// ------------------------------------------------------------------ work-items

#define ENVIRONMENT(N)                                    \
  ({                                                      \
    uint value;                                           \
    __asm("mov.u32 %0, %%envreg" #N ";" : "=r"(value));   \
    value;                                                \
  })

OVERLOAD size_t get_global_offset(uint d) {
  return d == 0 ? ENVIRONMENT(3) : d == 1 ? ENVIRONMENT(4) : d == 2 ? ENVIRONMENT(5) : 0;
}
OVERLOAD uint get_work_dim(void) { return ENVIRONMENT(6); }

// libclc's are 0 in dimensions that there are not.
#define EXTENT(NAME, REGISTER)                        \
  OVERLOAD size_t NAME(uint d) {                      \
    switch (d) {                                      \
      case 0: return __nvvm_read_ptx_sreg_##REGISTER##_x(); \
      case 1: return __nvvm_read_ptx_sreg_##REGISTER##_y(); \
      case 2: return __nvvm_read_ptx_sreg_##REGISTER##_z(); \
      default: return 1;                              \
    }                                                 \
  }
EXTENT(get_local_size, ntid)
EXTENT(get_num_groups, nctaid)
OVERLOAD size_t get_global_size(uint d) { return get_num_groups(d) * get_local_size(d); }

#ifdef KERNELCAST_GLOBAL_OFFSET
OVERLOAD size_t get_global_id(uint d) {
  return get_group_id(d) * get_local_size(d) + get_local_id(d) + get_global_offset(d);
}
#endif

OVERLOAD size_t get_enqueued_local_size(uint d) { return get_local_size(d); }

OVERLOAD size_t get_local_linear_id(void) {
  return (get_local_id(2) * get_local_size(1) + get_local_id(1)) * get_local_size(0) + get_local_id(0);
}
OVERLOAD size_t get_global_linear_id(void) {
  size_t x = get_group_id(0) * get_local_size(0) + get_local_id(0);
  size_t y = get_group_id(1) * get_local_size(1) + get_local_id(1);
  size_t z = get_group_id(2) * get_local_size(2) + get_local_id(2);
  return (z * get_global_size(1) + y) * get_global_size(0) + x;
}

OVERLOAD void work_group_barrier(cl_mem_fence_flags flags) { barrier(flags); }
OVERLOAD void work_group_barrier(cl_mem_fence_flags flags, memory_scope scope) { barrier(flags); }

// libclc's asynchronous copies lack vectors of three.
COPIES(char3) COPIES(uchar3) COPIES(short3) COPIES(ushort3) COPIES(int3)
COPIES(uint3) COPIES(long3) COPIES(ulong3) COPIES(float3) COPIES(double3)

PREFETCH(char3) PREFETCH(uchar3) PREFETCH(short3) PREFETCH(ushort3) PREFETCH(int3) PREFETCH(uint3)
PREFETCH(long3) PREFETCH(ulong3) PREFETCH(float3) PREFETCH(double3)

// LLVM 19 takes 16 bytes for aligned in whole.
#define BYTES_LOAD(T, SPACE)                                                                                \
  OVERLOAD T##16 vload16(size_t i, const SPACE T *p) {                                                      \
    return (T##16)(vload8(2 * i, p), vload8(2 * i + 1, p));                                                 \
  }
#define BYTES(T, SPACE)                                                                                     \
  BYTES_LOAD(T, SPACE)                                                                                      \
  OVERLOAD void vstore16(T##16 v, size_t i, SPACE T *p) { vstore8(v.lo, 2 * i, p), vstore8(v.hi, 2 * i + 1, p); }
BYTES(char, __global) BYTES(char, __local) BYTES(char, __private) BYTES_LOAD(char, __constant)
BYTES(uchar, __global) BYTES(uchar, __local) BYTES(uchar, __private) BYTES_LOAD(uchar, __constant)

// ------------------------------------------------------------------ 64-bit atomics (cl_khr_int64_*)

#define ATOM64_MINMAX(NAME, SPACE, STATE, T, TYPE)                                                    \
  OVERLOAD T NAME(volatile SPACE T *p, T v) {                                                         \
    T old;                                                                                            \
    __asm volatile("atom." STATE "." TYPE " %0, [%1], %2;" : "=l"(old) : "l"(p), "l"(v) : "memory");  \
    return old;                                                                                       \
  }

#define ATOM64(SPACE, STATE, T, S)                                                                    \
  OVERLOAD T atom_add(volatile SPACE T *p, T v) { return __sync_fetch_and_add(p, v); }                \
  OVERLOAD T atom_sub(volatile SPACE T *p, T v) { return __sync_fetch_and_sub(p, v); }                \
  OVERLOAD T atom_inc(volatile SPACE T *p) { return __sync_fetch_and_add(p, (T)1); }                  \
  OVERLOAD T atom_dec(volatile SPACE T *p) { return __sync_fetch_and_sub(p, (T)1); }                  \
  OVERLOAD T atom_and(volatile SPACE T *p, T v) { return __sync_fetch_and_and(p, v); }                \
  OVERLOAD T atom_or(volatile SPACE T *p, T v) { return __sync_fetch_and_or(p, v); }                  \
  OVERLOAD T atom_xor(volatile SPACE T *p, T v) { return __sync_fetch_and_xor(p, v); }                \
  OVERLOAD T atom_xchg(volatile SPACE T *p, T v) { return __sync_lock_test_and_set(p, v); }           \
  OVERLOAD T atom_cmpxchg(volatile SPACE T *p, T c, T v) { return __sync_val_compare_and_swap(p, c, v); } \
  ATOM64_MINMAX(atom_min, SPACE, STATE, T, "min." S)                                                  \
  ATOM64_MINMAX(atom_max, SPACE, STATE, T, "max." S)

ATOM64(__global, "global", long, "s64")
ATOM64(__global, "global", ulong, "u64")
ATOM64(__local, "shared", long, "s64")
ATOM64(__local, "shared", ulong, "u64")

// ------------------------------------------------------------------ images

#define HANDLE(X) "l"(__builtin_astype(X, ulong))

// clang turns a sampler literal into a call of this function.
INLINE __constant void *__translate_sampler_initializer(int literal) { return (__constant void *)(ulong)(uint)literal; }

// Reads without a sampler: integer coordinates, no filter, no addressing mode.
#define PLAIN_SAMPLER (ulong)(CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_NONE | CLK_FILTER_NEAREST)

#define TEX(GEOMETRY, RT, CT, R, IMAGE, SAMPLER, POSITION, ...)                                  \
  __asm volatile("tex." GEOMETRY ".v4." RT "." CT " {%0,%1,%2,%3}, [%4, %5, " POSITION "];"      \
                 : R(v.x), R(v.y), R(v.z), R(v.w) : HANDLE(IMAGE), SAMPLER, __VA_ARGS__)

// The layer of an array image is a float coordinate in one form and an integer in the other.
INLINE static uint float_layer(float c) { return (uint)max(convert_int_rte(c), 0); }
INLINE static uint int_layer(int c) { return (uint)max(c, 0); }

#define READ(FN, V, RT, R, C, CT, CR)                                                                              \
  OVERLOAD V FN(read_only image1d_t a, sampler_t s, C c) {                                                         \
    V v; TEX("1d", RT, CT, R, a, HANDLE(s), "{%6}", CR(c)); return v; }                                            \
  OVERLOAD V FN(read_only image1d_array_t a, sampler_t s, C##2 c) {                                                \
    V v; TEX("a1d", RT, CT, R, a, HANDLE(s), "{%6,%7}", "r"(C##_layer(c.y)), CR(c.x)); return v; }                 \
  OVERLOAD V FN(read_only image2d_t a, sampler_t s, C##2 c) {                                                      \
    V v; TEX("2d", RT, CT, R, a, HANDLE(s), "{%6,%7}", CR(c.x), CR(c.y)); return v; }                              \
  OVERLOAD V FN(read_only image2d_array_t a, sampler_t s, C##4 c) {                                                \
    V v; TEX("a2d", RT, CT, R, a, HANDLE(s), "{%6,%7,%8,%8}", "r"(C##_layer(c.z)), CR(c.x), CR(c.y)); return v; }  \
  OVERLOAD V FN(read_only image3d_t a, sampler_t s, C##4 c) {                                                      \
    V v; TEX("3d", RT, CT, R, a, HANDLE(s), "{%6,%7,%8,%8}", CR(c.x), CR(c.y), CR(c.z)); return v; }

#define READ_PLAIN_1(FN, V, RT, R, ACCESS)                                                                         \
  OVERLOAD V FN(ACCESS image1d_t a, int c) {                                                                       \
    V v; TEX("1d", RT, "s32", R, a, "l"(PLAIN_SAMPLER), "{%6}", "r"(c)); return v; }                               \
  OVERLOAD V FN(ACCESS image1d_buffer_t a, int c) {                                                                \
    V v; TEX("1d", RT, "s32", R, a, "l"(PLAIN_SAMPLER), "{%6}", "r"(c)); return v; }                               \
  OVERLOAD V FN(ACCESS image1d_array_t a, int2 c) {                                                                \
    V v; TEX("a1d", RT, "s32", R, a, "l"(PLAIN_SAMPLER), "{%6,%7}", "r"(int_layer(c.y)), "r"(c.x)); return v; }    \
  OVERLOAD V FN(ACCESS image2d_t a, int2 c) {                                                                      \
    V v; TEX("2d", RT, "s32", R, a, "l"(PLAIN_SAMPLER), "{%6,%7}", "r"(c.x), "r"(c.y)); return v; }                \
  OVERLOAD V FN(ACCESS image2d_array_t a, int4 c) {                                                                \
    V v; TEX("a2d", RT, "s32", R, a, "l"(PLAIN_SAMPLER), "{%6,%7,%8,%8}", "r"(int_layer(c.z)), "r"(c.x), "r"(c.y)); \
    return v; }                                                                                                    \
  OVERLOAD V FN(ACCESS image3d_t a, int4 c) {                                                                      \
    V v; TEX("3d", RT, "s32", R, a, "l"(PLAIN_SAMPLER), "{%6,%7,%8,%8}", "r"(c.x), "r"(c.y), "r"(c.z)); return v; }

#define READ_ALL(FN, V, RT, R)               \
  READ(FN, V, RT, R, int, "s32", "r")        \
  READ(FN, V, RT, R, float, "f32", "f")      \
  READ_PLAIN_1(FN, V, RT, R, read_only)      \
  READ_PLAIN_1(FN, V, RT, R, read_write)
READ_ALL(read_imagef, float4, "f32", "=f")
READ_ALL(read_imagei, int4, "s32", "=r")
READ_ALL(read_imageui, uint4, "u32", "=r")

// Writes outside the image are ignored in OpenCL: .zero; the surface's format converts the value: .p.
#define SUST(GEOMETRY, R, POSITION, VALUE, ...)                                                                \
  __asm volatile("sust.p." GEOMETRY ".v4.b32.zero [%0, " POSITION "], " VALUE ";" ::HANDLE(a), __VA_ARGS__,    \
                 R(v.x), R(v.y), R(v.z), R(v.w) : "memory")
#define WRITE_1(FN, V, R, ACCESS)                                                                              \
  OVERLOAD void FN(ACCESS image1d_t a, int c, V v) { SUST("1d", R, "{%1}", "{%2,%3,%4,%5}", "r"(c)); }         \
  OVERLOAD void FN(ACCESS image1d_buffer_t a, int c, V v) { SUST("1d", R, "{%1}", "{%2,%3,%4,%5}", "r"(c)); }  \
  OVERLOAD void FN(ACCESS image1d_array_t a, int2 c, V v) {                                                    \
    SUST("a1d", R, "{%1,%2}", "{%3,%4,%5,%6}", "r"(c.y), "r"(c.x)); }                                          \
  OVERLOAD void FN(ACCESS image2d_t a, int2 c, V v) {                                                          \
    SUST("2d", R, "{%1,%2}", "{%3,%4,%5,%6}", "r"(c.x), "r"(c.y)); }                                           \
  OVERLOAD void FN(ACCESS image2d_array_t a, int4 c, V v) {                                                    \
    SUST("a2d", R, "{%1,%2,%3,%3}", "{%4,%5,%6,%7}", "r"(c.z), "r"(c.x), "r"(c.y)); }                          \
  OVERLOAD void FN(ACCESS image3d_t a, int4 c, V v) {                                                          \
    SUST("3d", R, "{%1,%2,%3,%3}", "{%4,%5,%6,%7}", "r"(c.x), "r"(c.y), "r"(c.z)); }
#define WRITE(FN, V, R) WRITE_1(FN, V, R, write_only) WRITE_1(FN, V, R, read_write)
WRITE(write_imagef, float4, "f")
WRITE(write_imagei, int4, "r")
WRITE(write_imageui, uint4, "r")

#define QUERY(OPCODE, ATTRIBUTE)                                                            \
  ({                                                                                        \
    uint value;                                                                             \
    __asm(OPCODE "." ATTRIBUTE ".b32 %0, [%1];" : "=r"(value) : HANDLE(a));                 \
    value;                                                                                  \
  })
#define QUERIES_1D(IMAGE, OPCODE)                                                           \
  OVERLOAD int get_image_width(IMAGE a) { return QUERY(OPCODE, "width"); }                  \
  OVERLOAD int get_image_channel_data_type(IMAGE a) { return QUERY(OPCODE, "channel_data_type"); } \
  OVERLOAD int get_image_channel_order(IMAGE a) { return QUERY(OPCODE, "channel_order"); }
#define QUERIES_2D(IMAGE, OPCODE)                                                           \
  QUERIES_1D(IMAGE, OPCODE)                                                                 \
  OVERLOAD int get_image_height(IMAGE a) { return QUERY(OPCODE, "height"); }                \
  OVERLOAD int2 get_image_dim(IMAGE a) { return (int2)(get_image_width(a), get_image_height(a)); }
#define QUERIES_3D(IMAGE, OPCODE)                                                           \
  QUERIES_1D(IMAGE, OPCODE)                                                                 \
  OVERLOAD int get_image_height(IMAGE a) { return QUERY(OPCODE, "height"); }                \
  OVERLOAD int get_image_depth(IMAGE a) { return QUERY(OPCODE, "depth"); }                  \
  OVERLOAD int4 get_image_dim(IMAGE a) {                                                    \
    return (int4)(get_image_width(a), get_image_height(a), get_image_depth(a), 0);          \
  }
#define QUERIES_ARRAY(IMAGE, OPCODE) \
  OVERLOAD size_t get_image_array_size(IMAGE a) { return QUERY(OPCODE, "array_size"); }
#define QUERIES(ACCESS, OPCODE)                                                             \
  QUERIES_1D(ACCESS image1d_t, OPCODE)                                                      \
  QUERIES_1D(ACCESS image1d_buffer_t, OPCODE)                                               \
  QUERIES_1D(ACCESS image1d_array_t, OPCODE) QUERIES_ARRAY(ACCESS image1d_array_t, OPCODE)  \
  QUERIES_2D(ACCESS image2d_t, OPCODE)                                                      \
  QUERIES_2D(ACCESS image2d_array_t, OPCODE) QUERIES_ARRAY(ACCESS image2d_array_t, OPCODE)  \
  QUERIES_3D(ACCESS image3d_t, OPCODE)
QUERIES(read_only, "txq")
QUERIES(write_only, "suq")
QUERIES(read_write, "suq")

// Halves are converted from and to floats, which every format of fractions fits into.
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
INLINE static half4 to_half(float4 v) { return (half4)((half)v.x, (half)v.y, (half)v.z, (half)v.w); }
INLINE static float4 to_float(half4 v) { return (float4)((float)v.x, (float)v.y, (float)v.z, (float)v.w); }
#define HALF(IMAGE, C, F)                                                                                    \
  OVERLOAD half4 read_imageh(read_only IMAGE a, sampler_t s, C c) { return to_half(read_imagef(a, s, c)); }  \
  OVERLOAD half4 read_imageh(read_only IMAGE a, sampler_t s, F c) { return to_half(read_imagef(a, s, c)); }  \
  HALF_PLAIN(IMAGE, C)
#define HALF_PLAIN(IMAGE, C)                                                                                 \
  OVERLOAD half4 read_imageh(read_only IMAGE a, C c) { return to_half(read_imagef(a, c)); }                  \
  OVERLOAD half4 read_imageh(read_write IMAGE a, C c) { return to_half(read_imagef(a, c)); }                 \
  OVERLOAD void write_imageh(write_only IMAGE a, C c, half4 v) { write_imagef(a, c, to_float(v)); }          \
  OVERLOAD void write_imageh(read_write IMAGE a, C c, half4 v) { write_imagef(a, c, to_float(v)); }
HALF(image1d_t, int, float)
HALF(image1d_array_t, int2, float2)
HALF(image2d_t, int2, float2)
HALF(image2d_array_t, int4, float4)
HALF(image3d_t, int4, float4)
HALF_PLAIN(image1d_buffer_t, int)

#include "mathematics.clh"
#include "atomics.clh"
#include "groups.clh"
