// Functions of halves (cl_khr_fp16), of which libclc has none for NVPTX. They go through floats, which hold every half.
//
// A function that is defined here hides clang's own declarations of its name: those that are called are declared.
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#include "vectors.clh"

#define DECLARED __attribute__((overloadable))

#define HALF_1(F) DECLARED float F(float); OVERLOAD half F(half a) { return (half)F((float)a); } VECTORS_1(F, half)
#define HALF_2(F)                                                                                          \
  DECLARED float F(float, float);                                                                          \
  OVERLOAD half F(half a, half b) { return (half)F((float)a, (float)b); }                                  \
  VECTORS_2(F, half)
#define VECTORS_3(F, T)                                                                                    \
  OVERLOAD T##2 F(T##2 a, T##2 b, T##2 c) { return (T##2)(F(a.x, b.x, c.x), F(a.y, b.y, c.y)); }           \
  OVERLOAD T##3 F(T##3 a, T##3 b, T##3 c) { return (T##3)(F(a.xy, b.xy, c.xy), F(a.z, b.z, c.z)); }        \
  OVERLOAD T##4 F(T##4 a, T##4 b, T##4 c) { return (T##4)(F(a.lo, b.lo, c.lo), F(a.hi, b.hi, c.hi)); }     \
  OVERLOAD T##8 F(T##8 a, T##8 b, T##8 c) { return (T##8)(F(a.lo, b.lo, c.lo), F(a.hi, b.hi, c.hi)); }     \
  OVERLOAD T##16 F(T##16 a, T##16 b, T##16 c) { return (T##16)(F(a.lo, b.lo, c.lo), F(a.hi, b.hi, c.hi)); }
#define HALF_3(F)                                                                                          \
  DECLARED float F(float, float, float);                                                                   \
  OVERLOAD half F(half a, half b, half c) { return (half)F((float)a, (float)b, (float)c); }                \
  VECTORS_3(F, half)

HALF_1(acos) HALF_1(acosh) HALF_1(acospi) HALF_1(asin) HALF_1(asinh) HALF_1(asinpi) HALF_1(atan) HALF_1(atanh)
HALF_1(atanpi) HALF_1(cbrt) HALF_1(ceil) HALF_1(cos) HALF_1(cosh) HALF_1(cospi) HALF_1(erf) HALF_1(erfc) HALF_1(exp)
HALF_1(exp2) HALF_1(exp10) HALF_1(expm1) HALF_1(fabs) HALF_1(floor) HALF_1(lgamma) HALF_1(log) HALF_1(log2)
HALF_1(log10) HALF_1(log1p) HALF_1(logb) HALF_1(rint) HALF_1(round) HALF_1(rsqrt) HALF_1(sin) HALF_1(sinh)
HALF_1(sinpi) HALF_1(sqrt) HALF_1(tan) HALF_1(tanh) HALF_1(tanpi) HALF_1(tgamma) HALF_1(trunc) HALF_1(degrees)
HALF_1(radians) HALF_1(sign)
HALF_2(atan2) HALF_2(atan2pi) HALF_2(copysign) HALF_2(fdim) HALF_2(fmax) HALF_2(fmin) HALF_2(fmod) HALF_2(hypot)
HALF_2(max) HALF_2(maxmag) HALF_2(min) HALF_2(minmag) HALF_2(pow) HALF_2(powr) HALF_2(remainder) HALF_2(step)
HALF_3(clamp) HALF_3(mix) HALF_3(smoothstep)

OVERLOAD half fma(half a, half b, half c) {
  ushort sum;
  __asm__("fma.rn.f16 %0, %1, %2, %3;" : "=h"(sum) : "h"(as_ushort(a)), "h"(as_ushort(b)), "h"(as_ushort(c)));
  return as_half(sum);
}
VECTORS_3(fma, half)
OVERLOAD half mad(half a, half b, half c) { return fma(a, b, c); }
VECTORS_3(mad, half)
OVERLOAD half nan(ushort code) { return as_half((ushort)(code | 0x7e00)); }
DECLARED int isnan(float);
OVERLOAD half nextafter(half a, half b) {
  if (isnan((float)a) || isnan((float)b)) return a + b;
  if (a == b) return b;
  if (a == 0) return as_half((ushort)(b < 0 ? 0x8001 : 1));
  return as_half((ushort)(as_ushort(a) + ((a < b) == (a > 0) ? 1 : -1)));
}
VECTORS_2(nextafter, half)

// One value for all elements, and integers beside halves.
#define MIXED(N)                                                                                           \
  OVERLOAD half##N nan(ushort##N code) { return as_half##N(code | (ushort)0x7e00); }                       \
  OVERLOAD half##N fmax(half##N a, half b) { return fmax(a, (half##N)b); }                                 \
  OVERLOAD half##N fmin(half##N a, half b) { return fmin(a, (half##N)b); }                                 \
  OVERLOAD half##N max(half##N a, half b) { return max(a, (half##N)b); }                                   \
  OVERLOAD half##N min(half##N a, half b) { return min(a, (half##N)b); }                                   \
  OVERLOAD half##N step(half a, half##N b) { return step((half##N)a, b); }                                 \
  OVERLOAD half##N clamp(half##N a, half b, half c) { return clamp(a, (half##N)b, (half##N)c); }           \
  OVERLOAD half##N mix(half##N a, half##N b, half c) { return mix(a, b, (half##N)c); }                     \
  OVERLOAD half##N smoothstep(half a, half b, half##N c) { return smoothstep((half##N)a, (half##N)b, c); } \
  OVERLOAD half##N ldexp(half##N a, int n) { return ldexp(a, (int##N)n); }
#define POWERS(N)                                                                                          \
  DECLARED int##N ilogb(float##N);                                                                         \
  DECLARED float##N ldexp(float##N, int##N);                                                               \
  DECLARED float##N pown(float##N, int##N);                                                                \
  DECLARED float##N rootn(float##N, int##N);                                                               \
  DECLARED float##N fract(float##N, __private float##N *);                                                 \
  DECLARED float##N modf(float##N, __private float##N *);                                                  \
  DECLARED float##N sincos(float##N, __private float##N *);                                                \
  DECLARED float##N frexp(float##N, __private int##N *);                                                   \
  DECLARED float##N lgamma_r(float##N, __private int##N *);                                                \
  DECLARED float##N remquo(float##N, float##N, __private int##N *);                                        \
  OVERLOAD int##N ilogb(half##N a) { return ilogb(convert_float##N(a)); }                                  \
  OVERLOAD half##N ldexp(half##N a, int##N n) { return convert_half##N(ldexp(convert_float##N(a), n)); }   \
  OVERLOAD half##N pown(half##N a, int##N n) { return convert_half##N(pown(convert_float##N(a), n)); }     \
  OVERLOAD half##N rootn(half##N a, int##N n) { return convert_half##N(rootn(convert_float##N(a), n)); }   \
  POINTERS(N, __global) POINTERS(N, __local) POINTERS(N, __private)
#define POINTERS(N, SPACE)                                                                                 \
  TWO_HALVES(N, SPACE, fract) TWO_HALVES(N, SPACE, modf) TWO_HALVES(N, SPACE, sincos)                      \
  HALF_AND_INT(N, SPACE, frexp) HALF_AND_INT(N, SPACE, lgamma_r)                                           \
  OVERLOAD half##N remquo(half##N a, half##N b, SPACE int##N *second) {                                    \
    int##N other;                                                                                          \
    const float##N first = remquo(convert_float##N(a), convert_float##N(b), &other);                       \
    *second = other;                                                                                       \
    return convert_half##N(first);                                                                         \
  }
#define TWO_HALVES(N, SPACE, F)                                                                            \
  OVERLOAD half##N F(half##N a, SPACE half##N *second) {                                                   \
    float##N other;                                                                                        \
    const float##N first = F(convert_float##N(a), &other);                                                 \
    *second = convert_half##N(other);                                                                      \
    return convert_half##N(first);                                                                         \
  }
#define HALF_AND_INT(N, SPACE, F)                                                                          \
  OVERLOAD half##N F(half##N a, SPACE int##N *second) {                                                    \
    int##N other;                                                                                          \
    const float##N first = F(convert_float##N(a), &other);                                                 \
    *second = other;                                                                                       \
    return convert_half##N(first);                                                                         \
  }

// ------------------------------------------------------------------ conversions

#define FROM_HALF(N, T, SUFFIX)                                                                            \
  DECLARED T##N convert_##T##N##SUFFIX(float##N);                                                          \
  OVERLOAD T##N convert_##T##N##SUFFIX(half##N a) { return convert_##T##N##SUFFIX(convert_float##N(a)); }
#define INTO_HALF(N, T, SUFFIX)                                                                            \
  DECLARED float##N convert_float##N(T##N);                                                                \
  DECLARED half##N convert_half##N##SUFFIX(float##N);                                                      \
  OVERLOAD half##N convert_half##N##SUFFIX(T##N a) { return convert_half##N##SUFFIX(convert_float##N(a)); }
#define OF_INTEGER(N, T)                                                                                   \
  FROM_HALF(N, T, ) FROM_HALF(N, T, _rte) FROM_HALF(N, T, _rtz) FROM_HALF(N, T, _rtp) FROM_HALF(N, T, _rtn)  \
  FROM_HALF(N, T, _sat) FROM_HALF(N, T, _sat_rte) FROM_HALF(N, T, _sat_rtz) FROM_HALF(N, T, _sat_rtp)        \
  FROM_HALF(N, T, _sat_rtn) INTO_HALF(N, T, ) INTO_HALF(N, T, _rte) INTO_HALF(N, T, _rtz)                   \
  INTO_HALF(N, T, _rtp) INTO_HALF(N, T, _rtn)
#define EXACT(N, SUFFIX)                                                                                   \
  OVERLOAD half##N convert_half##N##SUFFIX(half##N a) { return a; }                                        \
  OVERLOAD float##N convert_float##N##SUFFIX(half##N a) { return __builtin_convertvector(a, float##N); }   \
  OVERLOAD double##N convert_double##N##SUFFIX(half##N a) { return __builtin_convertvector(a, double##N); }
#define EXACT_1(SUFFIX)                                                                                    \
  OVERLOAD half convert_half##SUFFIX(half a) { return a; }                                                 \
  OVERLOAD float convert_float##SUFFIX(half a) { return (float)a; }                                        \
  OVERLOAD double convert_double##SUFFIX(half a) { return (double)a; }
#define CONVERSIONS(N)                                                                                     \
  OF_INTEGER(N, char) OF_INTEGER(N, uchar) OF_INTEGER(N, short) OF_INTEGER(N, ushort)                      \
  OF_INTEGER(N, int) OF_INTEGER(N, uint) OF_INTEGER(N, long) OF_INTEGER(N, ulong)

EXACT_1() EXACT_1(_rte) EXACT_1(_rtz) EXACT_1(_rtp) EXACT_1(_rtn)
OVERLOAD half convert_half(float a) { return (half)a; }
OVERLOAD half convert_half(double a) { return (half)a; }
CONVERSIONS()
POWERS()
#define OF_WIDTH(N)                                                                                        \
  EXACT(N, ) EXACT(N, _rte) EXACT(N, _rtz) EXACT(N, _rtp) EXACT(N, _rtn)                                   \
  OVERLOAD half##N convert_half##N(float##N a) { return __builtin_convertvector(a, half##N); }             \
  OVERLOAD half##N convert_half##N(double##N a) { return __builtin_convertvector(a, half##N); }            \
  CONVERSIONS(N) POWERS(N) MIXED(N)
OF_WIDTH(2) OF_WIDTH(3) OF_WIDTH(4) OF_WIDTH(8) OF_WIDTH(16)

// ------------------------------------------------------------------ relations

#define TRUTHS_1(F)                                                                                        \
  OVERLOAD short2 F(half2 a) { return (short2)(-F(a.x), -F(a.y)); }                                        \
  OVERLOAD short3 F(half3 a) { return (short3)(F(a.xy), -F(a.z)); }                                        \
  OVERLOAD short4 F(half4 a) { return (short4)(F(a.lo), F(a.hi)); }                                        \
  OVERLOAD short8 F(half8 a) { return (short8)(F(a.lo), F(a.hi)); }                                        \
  OVERLOAD short16 F(half16 a) { return (short16)(F(a.lo), F(a.hi)); }
#define TRUTH_1(F) DECLARED int F(float); OVERLOAD int F(half a) { return F((float)a) != 0; } TRUTHS_1(F)
#define TRUTH_2(F)                                                                                         \
  DECLARED int F(float, float);                                                                            \
  OVERLOAD int F(half a, half b) { return F((float)a, (float)b) != 0; }                                    \
  OVERLOAD short2 F(half2 a, half2 b) { return (short2)(-F(a.x, b.x), -F(a.y, b.y)); }                     \
  OVERLOAD short3 F(half3 a, half3 b) { return (short3)(F(a.xy, b.xy), -F(a.z, b.z)); }                    \
  OVERLOAD short4 F(half4 a, half4 b) { return (short4)(F(a.lo, b.lo), F(a.hi, b.hi)); }                   \
  OVERLOAD short8 F(half8 a, half8 b) { return (short8)(F(a.lo, b.lo), F(a.hi, b.hi)); }                   \
  OVERLOAD short16 F(half16 a, half16 b) { return (short16)(F(a.lo, b.lo), F(a.hi, b.hi)); }
TRUTH_1(isfinite) TRUTH_1(isinf) TRUTH_1(isnan) TRUTH_1(signbit)
OVERLOAD int isnormal(half a) {
  const ushort exponent = as_ushort(a) & 0x7c00;
  return exponent != 0 && exponent != 0x7c00;
}
TRUTHS_1(isnormal)
TRUTH_2(isequal) TRUTH_2(isnotequal) TRUTH_2(isgreater) TRUTH_2(isgreaterequal) TRUTH_2(isless) TRUTH_2(islessequal)
TRUTH_2(islessgreater) TRUTH_2(isordered) TRUTH_2(isunordered)

// ------------------------------------------------------------------ bits: as 16-bit integers

#define BITS(N)                                                                                            \
  DECLARED ushort##N select(ushort##N, ushort##N, short##N);                                               \
  DECLARED ushort##N select(ushort##N, ushort##N, ushort##N);                                              \
  DECLARED ushort##N bitselect(ushort##N, ushort##N, ushort##N);                                           \
  OVERLOAD half##N select(half##N a, half##N b, short##N c) {                                              \
    return as_half##N(select(as_ushort##N(a), as_ushort##N(b), c));                                        \
  }                                                                                                        \
  OVERLOAD half##N select(half##N a, half##N b, ushort##N c) {                                             \
    return as_half##N(select(as_ushort##N(a), as_ushort##N(b), c));                                        \
  }                                                                                                        \
  OVERLOAD half##N bitselect(half##N a, half##N b, half##N c) {                                            \
    return as_half##N(bitselect(as_ushort##N(a), as_ushort##N(b), as_ushort##N(c)));                       \
  }
BITS() BITS(2) BITS(3) BITS(4) BITS(8) BITS(16)

#define LOAD(N, SPACE)                                                                                     \
  DECLARED ushort##N vload##N(size_t, const SPACE ushort *);                                               \
  OVERLOAD half##N vload##N(size_t i, const SPACE half *p) {                                               \
    return as_half##N(vload##N(i, (const SPACE ushort *)p));                                               \
  }
#define STORE(N, SPACE)                                                                                    \
  LOAD(N, SPACE)                                                                                           \
  DECLARED void vstore##N(ushort##N, size_t, SPACE ushort *);                                              \
  OVERLOAD void vstore##N(half##N v, size_t i, SPACE half *p) {                                            \
    vstore##N(as_ushort##N(v), i, (SPACE ushort *)p);                                                      \
  }
#define MEMORY(N) LOAD(N, __constant) STORE(N, __global) STORE(N, __local) STORE(N, __private)
MEMORY(2) MEMORY(3) MEMORY(4) MEMORY(8) MEMORY(16)

#define SHUFFLE_OF(N, M)                                                                                   \
  DECLARED ushort##N shuffle(ushort##M, ushort##N);                                                        \
  DECLARED ushort##N shuffle2(ushort##M, ushort##M, ushort##N);                                            \
  OVERLOAD half##N shuffle(half##M a, ushort##N mask) { return as_half##N(shuffle(as_ushort##M(a), mask)); } \
  OVERLOAD half##N shuffle2(half##M a, half##M b, ushort##N mask) {                                        \
    return as_half##N(shuffle2(as_ushort##M(a), as_ushort##M(b), mask));                                   \
  }
#define SHUFFLES(N) SHUFFLE_OF(N, 2) SHUFFLE_OF(N, 4) SHUFFLE_OF(N, 8) SHUFFLE_OF(N, 16)
SHUFFLES(2) SHUFFLES(4) SHUFFLES(8) SHUFFLES(16)

COPIES(half) COPIES(half2) COPIES(half3) COPIES(half4) COPIES(half8) COPIES(half16)
PREFETCH(half) PREFETCH(half2) PREFETCH(half3) PREFETCH(half4) PREFETCH(half8) PREFETCH(half16)

// ------------------------------------------------------------------ geometry

#define GEOMETRY(N)                                                                                        \
  DECLARED float dot(float##N, float##N);                                                                  \
  DECLARED float length(float##N);                                                                         \
  DECLARED float distance(float##N, float##N);                                                             \
  DECLARED float##N normalize(float##N);                                                                   \
  OVERLOAD half dot(half##N a, half##N b) { return (half)dot(convert_float##N(a), convert_float##N(b)); }  \
  OVERLOAD half length(half##N a) { return (half)length(convert_float##N(a)); }                            \
  OVERLOAD half distance(half##N a, half##N b) {                                                           \
    return (half)distance(convert_float##N(a), convert_float##N(b));                                       \
  }                                                                                                        \
  OVERLOAD half##N normalize(half##N a) { return convert_half##N(normalize(convert_float##N(a))); }
GEOMETRY() GEOMETRY(2) GEOMETRY(3) GEOMETRY(4)
DECLARED float3 cross(float3, float3);
DECLARED float4 cross(float4, float4);
OVERLOAD half3 cross(half3 a, half3 b) { return convert_half3(cross(convert_float3(a), convert_float3(b))); }
OVERLOAD half4 cross(half4 a, half4 b) { return convert_half4(cross(convert_float4(a), convert_float4(b))); }
