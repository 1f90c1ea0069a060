// The words of the kernels in CUDA; opencl/words.cl has them in OpenCL C. Put before a file of opencl/, this makes it
// CUDA, for NVRTC, nvcc and clang alike, without any header.
typedef unsigned int uint;
#define KERNEL extern "C" __global__
#define GLOBAL
#define INLINE static __device__ __forceinline__
#define GLOBAL_ID (blockIdx.x * blockDim.x + threadIdx.x)
#define GLOBAL_SIZE (gridDim.x * blockDim.x)
#define LOCAL_ID (threadIdx.x)
#define LOCAL_SIZE (blockDim.x)
#define BARRIER __syncthreads()
extern __shared__ uint scratch[];
#define SCRATCH_ARGUMENT
#define SCRATCH scratch
#define USE_SCRATCH
__constant__ uint constant_table[2048 + 8];
#define CONSTANT_TABLE
#define TABLE constant_table
#define ATOMIC_ADD(p, x) atomicAdd(p, x)
#define ATOMIC_ADD_SHARED(p, x) atomicAdd(p, x)
#define SPLAT(x) ((VALUE)(x))
#if defined(PACKED_HALF)
#define GATHER(a, b) ((a) ^ (b))
static __device__ __forceinline__ uint packed_fma(uint x, uint a, uint b) {
  asm("fma.rn.f16x2 %0, %0, %1, %2;" : "+r"(x) : "r"(a), "r"(b));
  return x;
}
#define MULTIPLY_ADD(x, a, b) packed_fma(x, a, b)
#else
#define GATHER(a, b) ((a) + (b))
static __device__ __forceinline__ float multiply_add(float x, float a, float b) {
  asm("fma.rn.f32 %0, %0, %1, %2;" : "+f"(x) : "f"(a), "f"(b));
  return x;
}
static __device__ __forceinline__ double multiply_add(double x, double a, double b) {
  asm("fma.rn.f64 %0, %0, %1, %2;" : "+d"(x) : "d"(a), "d"(b));
  return x;
}
#define MULTIPLY_ADD(x, a, b) multiply_add(x, a, b)
#endif
static __device__ __forceinline__ uint rotate(uint x, uint n) {
  asm("shf.l.wrap.b32 %0, %0, %0, %1;" : "+r"(x) : "r"(n));
  return x;
}
#define ROTATE(x, n) rotate(x, n)
static __device__ __forceinline__ float reciprocal_root(float x) {
  asm("rsqrt.approx.f32 %0, %0;" : "+f"(x));
  return x;
}
#define RECIPROCAL_ROOT(x) reciprocal_root(x)
static __device__ __forceinline__ uint exclusive_or(uint x, uint y) {
  asm("xor.b32 %0, %0, %1;" : "+r"(x) : "r"(y));
  return x;
}
static __device__ __forceinline__ uint both(uint x, uint y) {
  asm("and.b32 %0, %0, %1;" : "+r"(x) : "r"(y));
  return x;
}
#define XOR(x, y) exclusive_or(x, y)
#define AND(x, y) both(x, y)
static __device__ __forceinline__ int to_float_bits(int x) {
  union {
    float number;
    int bits;
  } y;
  asm("cvt.rn.f32.s32 %0, %1;" : "=f"(y.number) : "r"(x));
  return y.bits;
}
#define TO_FLOAT_BITS(x) to_float_bits(x)
static __device__ __forceinline__ uint2 operator^(uint2 a, uint2 b) {
  uint2 r;
  r.x = a.x ^ b.x;
  r.y = a.y ^ b.y;
  return r;
}
static __device__ __forceinline__ uint4 operator^(uint4 a, uint4 b) {
  uint4 r;
  r.x = a.x ^ b.x;
  r.y = a.y ^ b.y;
  r.z = a.z ^ b.z;
  r.w = a.w ^ b.w;
  return r;
}
static __device__ __forceinline__ uint fold(uint x) { return x; }
static __device__ __forceinline__ uint fold(uint2 x) { return x.x ^ x.y; }
static __device__ __forceinline__ uint fold(uint4 x) { return x.x ^ x.y ^ x.z ^ x.w; }
#define FOLD(x) fold(x)
static __device__ __forceinline__ void splat(uint x, uint& r) { r = x; }
static __device__ __forceinline__ void splat(uint x, uint2& r) { r.x = r.y = x; }
static __device__ __forceinline__ void splat(uint x, uint4& r) { r.x = r.y = r.z = r.w = x; }
template <class Word>
static __device__ __forceinline__ Word splat_word(uint x) {
  Word r;
  splat(x, r);
  return r;
}
#define SPLAT_WORD(x) splat_word<WORD>(x)
#define ZERO(T) splat_word<T>(0)
