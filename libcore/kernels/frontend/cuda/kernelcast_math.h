// Mathematics in device code. libclc's functions have OpenCL's mangled names, which for scalars are C++'s: declaring
// `float sin(float)` is enough to link with them. Those of <cmath> join namespace std, beside the host's.
#pragma once

template <bool, class KcT> struct kernelcast_if {};
template <class KcT> struct kernelcast_if<true, KcT> { typedef KcT type; };
#define KC_INTEGRAL(T) typename kernelcast_if<__is_integral(T), double>::type

#define KC_UNARY(N)                                              \
  __device__ float N(float);                                     \
  __device__ double N(double);                                   \
  KC_DEVICE float N##f(float x) { return N(x); }                 \
  template <class KcT> KC_DEVICE KC_INTEGRAL(KcT) N(KcT x) { return N((double)x); }
#define KC_STD(N) namespace std { using ::N; }
#define KC_UNARY_STD(N) KC_UNARY(N) KC_STD(N)
KC_UNARY_STD(sin) KC_UNARY_STD(cos) KC_UNARY_STD(tan) KC_UNARY_STD(asin) KC_UNARY_STD(acos) KC_UNARY_STD(atan)
KC_UNARY_STD(sinh) KC_UNARY_STD(cosh) KC_UNARY_STD(tanh) KC_UNARY_STD(asinh) KC_UNARY_STD(acosh) KC_UNARY_STD(atanh)
KC_UNARY(sinpi) KC_UNARY(cospi) KC_UNARY_STD(exp) KC_UNARY_STD(exp2) KC_UNARY(exp10) KC_UNARY_STD(expm1)
KC_UNARY_STD(log) KC_UNARY_STD(log2) KC_UNARY_STD(log10) KC_UNARY_STD(log1p) KC_UNARY_STD(logb)
KC_UNARY_STD(sqrt) KC_UNARY(rsqrt) KC_UNARY_STD(cbrt) KC_UNARY_STD(fabs) KC_UNARY_STD(floor) KC_UNARY_STD(ceil)
KC_UNARY_STD(round) KC_UNARY_STD(trunc) KC_UNARY_STD(rint) KC_UNARY_STD(erf) KC_UNARY_STD(erfc) KC_UNARY_STD(lgamma) KC_UNARY_STD(tgamma)

#define KC_BINARY(N)                                             \
  __device__ float N(float, float);                              \
  __device__ double N(double, double);                           \
  KC_DEVICE float N##f(float x, float y) { return N(x, y); }     \
  KC_DEVICE double N(float x, double y) { return N((double)x, y); } \
  KC_DEVICE double N(double x, float y) { return N(x, (double)y); } \
  template <class KcT> KC_DEVICE KC_INTEGRAL(KcT) N(double x, KcT y) { return N(x, (double)y); } \
  template <class KcT> KC_DEVICE KC_INTEGRAL(KcT) N(KcT x, double y) { return N((double)x, y); } \
  template <class KcT> KC_DEVICE typename kernelcast_if<__is_integral(KcT), float>::type N(float x, KcT y) { \
    return N(x, (float)y);                                       \
  }                                                              \
  template <class KcT> KC_DEVICE typename kernelcast_if<__is_integral(KcT), float>::type N(KcT x, float y) { \
    return N((float)x, y);                                       \
  }
#define KC_BINARY_STD(N) KC_BINARY(N) KC_STD(N)
KC_BINARY_STD(pow) KC_BINARY_STD(atan2) KC_BINARY_STD(fmod) KC_BINARY_STD(remainder) KC_BINARY_STD(hypot)
KC_BINARY_STD(fmin) KC_BINARY_STD(fmax) KC_BINARY_STD(fdim) KC_BINARY_STD(copysign) KC_BINARY_STD(nextafter)
template <class KcA, class KcB>
KC_DEVICE typename kernelcast_if<__is_integral(KcA) && __is_integral(KcB), double>::type pow(KcA x, KcB y) {
  return pow((double)x, (double)y);
}

__device__ float fma(float, float, float);
__device__ double fma(double, double, double);
KC_DEVICE float fmaf(float x, float y, float z) { return fma(x, y, z); }
__device__ float ldexp(float, int);
__device__ double ldexp(double, int);
KC_DEVICE float ldexpf(float x, int n) { return ldexp(x, n); }
KC_DEVICE float scalbnf(float x, int n) { return ldexp(x, n); }
KC_DEVICE double scalbn(double x, int n) { return ldexp(x, n); }
__device__ int ilogb(float);
__device__ int ilogb(double);
KC_DEVICE int ilogbf(float x) { return ilogb(x); }
__device__ float modf(float, float*);
__device__ double modf(double, double*);
KC_DEVICE float modff(float x, float* whole) { return modf(x, whole); }
__device__ float frexp(float, int*);
__device__ double frexp(double, int*);
KC_DEVICE float frexpf(float x, int* exponent) { return frexp(x, exponent); }
KC_DEVICE void sincos(double x, double* s, double* c) { *s = sin(x); *c = cos(x); }
KC_DEVICE void sincosf(float x, float* s, float* c) { *s = sin(x); *c = cos(x); }
KC_DEVICE void sincos(float x, float* s, float* c) { *s = sin(x); *c = cos(x); }
KC_DEVICE float nearbyintf(float x) { return rint(x); }
KC_DEVICE double nearbyint(double x) { return rint(x); }
KC_DEVICE long lrintf(float x) { return (long)rint(x); }
KC_DEVICE long lrint(double x) { return (long)rint(x); }
KC_DEVICE long lroundf(float x) { return (long)round(x); }
KC_DEVICE long lround(double x) { return (long)round(x); }
KC_DEVICE float fdividef(float x, float y) { return x / y; }
KC_DEVICE float rcbrtf(float x) { return 1.0f / cbrt(x); }
KC_DEVICE double rcbrt(double x) { return 1.0 / cbrt(x); }
KC_DEVICE float normf_2(float x, float y) { return sqrt(x * x + y * y); }

#define KC_CLASSIFY(N, BUILTIN)                                        \
  KC_DEVICE bool N(float x) { return BUILTIN(x); }                     \
  KC_DEVICE bool N(double x) { return BUILTIN(x); }
#ifdef isnan
#undef isnan
#undef isinf
#undef isfinite
#undef signbit
#endif
KC_CLASSIFY(isnan, __builtin_isnan) KC_CLASSIFY(isinf, __builtin_isinf) KC_CLASSIFY(isfinite, __builtin_isfinite)
KC_CLASSIFY(signbit, __builtin_signbit)

KC_DEVICE int abs(int x) { return x < 0 ? -x : x; }
KC_DEVICE long abs(long x) { return x < 0 ? -x : x; }
KC_DEVICE long long abs(long long x) { return x < 0 ? -x : x; }
KC_DEVICE float abs(float x) { return fabs(x); }
KC_DEVICE double abs(double x) { return fabs(x); }
KC_DEVICE long labs(long x) { return x < 0 ? -x : x; }
KC_DEVICE long long llabs(long long x) { return x < 0 ? -x : x; }

// As in CUDA, min and max also work in host code.
#define KC_MINMAX(T)                                                                          \
  static __inline__ __host__ __device__ T min(T a, T b) { return b < a ? b : a; }             \
  static __inline__ __host__ __device__ T max(T a, T b) { return a < b ? b : a; }
KC_MINMAX(int) KC_MINMAX(unsigned int) KC_MINMAX(long) KC_MINMAX(unsigned long)
KC_MINMAX(long long) KC_MINMAX(unsigned long long)
#undef KC_MINMAX
#define KC_MINMAX(T)                                                                          \
  static __inline__ __host__ __device__ T min(T a, T b) { return fmin(a, b); }                \
  static __inline__ __host__ __device__ T max(T a, T b) { return fmax(a, b); }
KC_MINMAX(float) KC_MINMAX(double)
#undef KC_MINMAX
// Mixed types go to the type that arithmetic would choose; without this a call would be ambiguous.
#define KC_MINMAX_MIXED(N, W)                                                                                        \
  template <class KcA, class KcB>                                                                                    \
  static __inline__ __host__ __device__ typename kernelcast_if<                                                      \
      !__is_same(KcA, KcB) && __is_arithmetic(KcA) && __is_arithmetic(KcB), decltype(KcA() + KcB())>::type           \
  N(KcA a, KcB b) {                                                                                                  \
    typedef decltype(KcA() + KcB()) KcC;                                                                             \
    return (KcC)a W(KcC) b ? (KcC)a : (KcC)b;                                                                        \
  }
KC_MINMAX_MIXED(min, <)
KC_MINMAX_MIXED(max, >)
#undef KC_MINMAX_MIXED

// Approximations in hardware.
KC_DEVICE float __sinf(float x) { return __nvvm_sin_approx_ftz_f(x); }
KC_DEVICE float __cosf(float x) { return __nvvm_cos_approx_ftz_f(x); }
KC_DEVICE float __tanf(float x) { return __nvvm_div_approx_ftz_f(__sinf(x), __cosf(x)); }
KC_DEVICE void __sincosf(float x, float* s, float* c) { *s = __sinf(x); *c = __cosf(x); }
KC_DEVICE float __expf(float x) { return __nvvm_ex2_approx_ftz_f(x * 1.442695041f); }
KC_DEVICE float __exp10f(float x) { return __nvvm_ex2_approx_ftz_f(x * 3.321928095f); }
KC_DEVICE float __log2f(float x) { return __nvvm_lg2_approx_ftz_f(x); }
KC_DEVICE float __logf(float x) { return __nvvm_lg2_approx_ftz_f(x) * 0.693147181f; }
KC_DEVICE float __log10f(float x) { return __nvvm_lg2_approx_ftz_f(x) * 0.301029996f; }
KC_DEVICE float __powf(float x, float y) { return __nvvm_ex2_approx_ftz_f(y * __nvvm_lg2_approx_ftz_f(x)); }
KC_DEVICE float __fdividef(float x, float y) { return __nvvm_div_approx_f(x, y); }
KC_DEVICE float __saturatef(float x) { return __nvvm_saturate_f(x); }

// Rounding given.
#define KC_ROUNDED(R)                                                                                     \
  KC_DEVICE float __fadd_##R(float a, float b) { return __nvvm_add_##R##_f(a, b); }                       \
  KC_DEVICE float __fsub_##R(float a, float b) { return __nvvm_add_##R##_f(a, -b); }                      \
  KC_DEVICE float __fmul_##R(float a, float b) { return __nvvm_mul_##R##_f(a, b); }                       \
  KC_DEVICE float __fdiv_##R(float a, float b) { return __nvvm_div_##R##_f(a, b); }                       \
  KC_DEVICE float __fmaf_##R(float a, float b, float c) { return __nvvm_fma_##R##_f(a, b, c); }           \
  KC_DEVICE float __frcp_##R(float a) { return __nvvm_rcp_##R##_f(a); }                                   \
  KC_DEVICE float __fsqrt_##R(float a) { return __nvvm_sqrt_##R##_f(a); }                                 \
  KC_DEVICE double __dadd_##R(double a, double b) { return __nvvm_add_##R##_d(a, b); }                    \
  KC_DEVICE double __dsub_##R(double a, double b) { return __nvvm_add_##R##_d(a, -b); }                   \
  KC_DEVICE double __dmul_##R(double a, double b) { return __nvvm_mul_##R##_d(a, b); }                    \
  KC_DEVICE double __ddiv_##R(double a, double b) { return __nvvm_div_##R##_d(a, b); }                    \
  KC_DEVICE double __fma_##R(double a, double b, double c) { return __nvvm_fma_##R##_d(a, b, c); }        \
  KC_DEVICE double __drcp_##R(double a) { return __nvvm_rcp_##R##_d(a); }                                 \
  KC_DEVICE double __dsqrt_##R(double a) { return __nvvm_sqrt_##R##_d(a); }                               \
  KC_DEVICE int __float2int_##R(float x) { return __nvvm_f2i_##R(x); }                                    \
  KC_DEVICE unsigned int __float2uint_##R(float x) { return __nvvm_f2ui_##R(x); }                         \
  KC_DEVICE long long __float2ll_##R(float x) { return __nvvm_f2ll_##R(x); }                              \
  KC_DEVICE unsigned long long __float2ull_##R(float x) { return __nvvm_f2ull_##R(x); }                   \
  KC_DEVICE int __double2int_##R(double x) { return __nvvm_d2i_##R(x); }                                  \
  KC_DEVICE unsigned int __double2uint_##R(double x) { return __nvvm_d2ui_##R(x); }                       \
  KC_DEVICE long long __double2ll_##R(double x) { return __nvvm_d2ll_##R(x); }                            \
  KC_DEVICE unsigned long long __double2ull_##R(double x) { return __nvvm_d2ull_##R(x); }                 \
  KC_DEVICE float __double2float_##R(double x) { return __nvvm_d2f_##R(x); }                              \
  KC_DEVICE float __int2float_##R(int x) { return __nvvm_i2f_##R(x); }                                    \
  KC_DEVICE float __uint2float_##R(unsigned int x) { return __nvvm_ui2f_##R(x); }                         \
  KC_DEVICE float __ll2float_##R(long long x) { return __nvvm_ll2f_##R(x); }                              \
  KC_DEVICE float __ull2float_##R(unsigned long long x) { return __nvvm_ull2f_##R(x); }                   \
  KC_DEVICE double __ll2double_##R(long long x) { return __nvvm_ll2d_##R(x); }                            \
  KC_DEVICE double __ull2double_##R(unsigned long long x) { return __nvvm_ull2d_##R(x); }
KC_ROUNDED(rn) KC_ROUNDED(rz) KC_ROUNDED(rm) KC_ROUNDED(rp)
#undef KC_ROUNDED
KC_DEVICE double __int2double_rn(int x) { return x; }
KC_DEVICE double __uint2double_rn(unsigned int x) { return x; }
// CUDA calls these modes ru and rd.
KC_DEVICE int __float2int_ru(float x) { return __nvvm_f2i_rp(x); }
KC_DEVICE int __float2int_rd(float x) { return __nvvm_f2i_rm(x); }
KC_DEVICE unsigned int __float2uint_ru(float x) { return __nvvm_f2ui_rp(x); }
KC_DEVICE unsigned int __float2uint_rd(float x) { return __nvvm_f2ui_rm(x); }
KC_DEVICE int __double2int_ru(double x) { return __nvvm_d2i_rp(x); }
KC_DEVICE int __double2int_rd(double x) { return __nvvm_d2i_rm(x); }
