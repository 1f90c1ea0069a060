// Vector types and dim3, laid out as CUDA's: two- and four-element vectors are aligned to their size, up to 16 bytes.
#pragma once

#define KC_DEVICE static __inline__ __attribute__((always_inline)) __attribute__((device))

#define KERNELCAST_VECTORS(T, N, ALIGN_2, ALIGN_4)                                                              \
  struct N##1 { T x; };                                                                                         \
  struct __attribute__((aligned(ALIGN_2))) N##2 { T x, y; };                                                    \
  struct N##3 { T x, y, z; };                                                                                   \
  struct __attribute__((aligned(ALIGN_4))) N##4 { T x, y, z, w; };                                              \
  static __inline__ __host__ __device__ N##1 make_##N##1(T x) { return {x}; }                                   \
  static __inline__ __host__ __device__ N##2 make_##N##2(T x, T y) { return {x, y}; }                           \
  static __inline__ __host__ __device__ N##3 make_##N##3(T x, T y, T z) { return {x, y, z}; }                   \
  static __inline__ __host__ __device__ N##4 make_##N##4(T x, T y, T z, T w) { return {x, y, z, w}; }
KERNELCAST_VECTORS(signed char, char, 2, 4)
KERNELCAST_VECTORS(unsigned char, uchar, 2, 4)
KERNELCAST_VECTORS(short, short, 4, 8)
KERNELCAST_VECTORS(unsigned short, ushort, 4, 8)
KERNELCAST_VECTORS(int, int, 8, 16)
KERNELCAST_VECTORS(unsigned int, uint, 8, 16)
KERNELCAST_VECTORS(long, long, 16, 16)
KERNELCAST_VECTORS(unsigned long, ulong, 16, 16)
KERNELCAST_VECTORS(long long, longlong, 16, 16)
KERNELCAST_VECTORS(unsigned long long, ulonglong, 16, 16)
KERNELCAST_VECTORS(float, float, 8, 16)
KERNELCAST_VECTORS(double, double, 16, 16)
#undef KERNELCAST_VECTORS

typedef unsigned int cuuint32_t;

struct dim3 {
  unsigned int x, y, z;
  __host__ __device__ constexpr dim3(unsigned int a = 1, unsigned int b = 1, unsigned int c = 1) : x(a), y(b), z(c) {}
  __host__ __device__ constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
  __host__ __device__ constexpr operator uint3() const { return uint3{x, y, z}; }
};

KC_DEVICE void* memcpy(void* to, const void* from, size_t n) { return __builtin_memcpy(to, from, n); }
KC_DEVICE void* memmove(void* to, const void* from, size_t n) { return __builtin_memmove(to, from, n); }
KC_DEVICE void* memset(void* to, int value, size_t n) { return __builtin_memset(to, value, n); }
