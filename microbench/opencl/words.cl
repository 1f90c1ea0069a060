// The words of the kernels in OpenCL C; cuda/words.cu has them in CUDA.
#if defined(NEEDS_FP64)
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#endif
#if defined(NEEDS_FP16)
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#endif
#define KERNEL __kernel
#define GLOBAL __global
#define INLINE inline
#define GLOBAL_ID ((uint)get_global_id(0))
#define GLOBAL_SIZE ((uint)get_global_size(0))
#define LOCAL_ID ((uint)get_local_id(0))
#define LOCAL_SIZE ((uint)get_local_size(0))
#define BARRIER barrier(CLK_LOCAL_MEM_FENCE)
#define SCRATCH_ARGUMENT , __local uint* scratch
#define SCRATCH scratch
#define USE_SCRATCH
#define CONSTANT_TABLE __constant uint* table,
#define TABLE table
#define ATOMIC_ADD(p, x) atomic_add(p, x)
#define ATOMIC_ADD_SHARED(p, x) atomic_add(p, x)
#define SPLAT(x) ((VALUE)(x))
#define GATHER(a, b) ((a) + (b))
#define ROTATE(x, n) rotate(x, n)
#define RECIPROCAL_ROOT(x) native_rsqrt(x)
#define MULTIPLY_ADD(x, a, b) fma(x, a, b)
#define XOR(x, y) ((x) ^ (y))
#define AND(x, y) ((x) & (y))
#define TO_FLOAT_BITS(x) AS_INT(CONVERT_FLOAT(x))
#define ZERO(T) ((T)(0))
#define SPLAT_WORD(x) ((WORD)(x))
#define FOLD(v) JOIN_FOLD(WORD_UINTS, v)
#define JOIN_FOLD(n, v) JOIN_FOLD2(n, v)
#define JOIN_FOLD2(n, v) FOLD_##n(v)
#define FOLD_1(v) (v)
#define FOLD_2(v) ((v).x ^ (v).y)
#define FOLD_4(v) ((v).x ^ (v).y ^ (v).z ^ (v).w)
