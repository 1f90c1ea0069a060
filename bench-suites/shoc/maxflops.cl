// Arithmetic alone: chains of additions, multiplications, multiply-adds, and multiplications with multiply-adds, in 1
// to 16 independent streams.
//
// A work-item reads one element, makes repeats * 240 steps, shared by its streams, in registers and writes the streams'
// sum. All steps keep their values bounded, and none is a mapping that enlarges rounding errors more than linearly:
//   add x -> 10 - x; mul x -> (x * 0.999) * 1.001; mad x -> 10 - 0.9899 x; mulmad x -> (1.5 - 0.5 x) x for x in (0, 2)
// Groups of 128. -DDOUBLE=1: double precision.
#if DOUBLE
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
typedef double real;
#define REAL(x) x
#else
typedef float real;
#define REAL(x) x##f
#endif

#define STEPS 240  // of all streams together, in the loop's body

#define ADD(x) (REAL(10.0) - (x))
#define MUL(x) ((x) * REAL(0.999) * REAL(1.001))
#define MAD(x) (REAL(10.0) - REAL(0.9899) * (x))
#define MULMAD(x) ((REAL(1.5) - REAL(0.5) * (x)) * (x))

#define KERNEL(NAME, STREAMS, STEP)                                                     \
  __kernel void NAME(__global real* data, const uint repeats) {                         \
    real x[STREAMS], sum = 0;                                                           \
    const real seed = data[get_global_id(0)];                                           \
    _Pragma("unroll") for (int s = 0; s < STREAMS; ++s) x[s] = seed + s * REAL(0.0625); \
    for (uint repeat = 0; repeat < repeats; ++repeat) {                                 \
      _Pragma("unroll") for (int step = 0; step < STEPS / STREAMS; ++step) {            \
        _Pragma("unroll") for (int s = 0; s < STREAMS; ++s) x[s] = STEP(x[s]);          \
      }                                                                                 \
    }                                                                                   \
    _Pragma("unroll") for (int s = 0; s < STREAMS; ++s) sum += x[s];                    \
    data[get_global_id(0)] = sum;                                                       \
  }

KERNEL(add_1, 1, ADD)
KERNEL(add_2, 2, ADD)
KERNEL(add_4, 4, ADD)
KERNEL(add_8, 8, ADD)
KERNEL(add_16, 16, ADD)
KERNEL(mul_1, 1, MUL)
KERNEL(mul_2, 2, MUL)
KERNEL(mul_4, 4, MUL)
KERNEL(mul_8, 8, MUL)
KERNEL(mul_16, 16, MUL)
KERNEL(mad_1, 1, MAD)
KERNEL(mad_2, 2, MAD)
KERNEL(mad_4, 4, MAD)
KERNEL(mad_8, 8, MAD)
KERNEL(mad_16, 16, MAD)
KERNEL(mulmad_1, 1, MULMAD)
KERNEL(mulmad_2, 2, MULMAD)
KERNEL(mulmad_4, 4, MULMAD)
KERNEL(mulmad_8, 8, MULMAD)
