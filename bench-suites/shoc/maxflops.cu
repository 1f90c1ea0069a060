// Arithmetic alone: chains of additions, multiplications, multiply-adds, and multiplications with multiply-adds, in 1
// to 16 independent streams.
//
// A thread reads one element, makes repeats * 240 steps, shared by its streams, in registers and writes the streams'
// sum. All steps keep their values bounded, and none is a mapping that enlarges rounding errors more than linearly:
//   add x -> 10 - x; mul x -> (x * 0.999) * 1.001; mad x -> 10 - 0.9899 x; mulmad x -> (1.5 - 0.5 x) x for x in (0, 2)
// Blocks of 128. -DDOUBLE=1: double precision.
#if DOUBLE
using real = double;
#else
using real = float;
#endif

constexpr int steps = 240;  // of all streams together, in the loop's body

struct Add {
  static __device__ real step(real x) { return real(10.0) - x; }
};
struct Mul {
  static __device__ real step(real x) { return x * real(0.999) * real(1.001); }
};
struct Mad {
  static __device__ real step(real x) { return real(10.0) - real(0.9899) * x; }
};
struct MulMad {
  static __device__ real step(real x) { return (real(1.5) - real(0.5) * x) * x; }
};

template <class Operation, int streams>
__device__ void run(real* data, unsigned repeats) {
  unsigned const item = blockIdx.x * blockDim.x + threadIdx.x;
  real x[streams], sum = 0;
  real const seed = data[item];
#pragma unroll
  for (int s = 0; s < streams; ++s) x[s] = seed + s * real(0.0625);
  for (unsigned repeat = 0; repeat < repeats; ++repeat) {
#pragma unroll
    for (int step = 0; step < steps / streams; ++step) {
#pragma unroll
      for (int s = 0; s < streams; ++s) x[s] = Operation::step(x[s]);
    }
  }
#pragma unroll
  for (int s = 0; s < streams; ++s) sum += x[s];
  data[item] = sum;
}

#define KERNEL(NAME, OPERATION, STREAMS)                          \
  extern "C" __global__ void NAME(real* data, unsigned repeats) { \
    run<OPERATION, STREAMS>(data, repeats);                       \
  }

KERNEL(add_1, Add, 1)
KERNEL(add_2, Add, 2)
KERNEL(add_4, Add, 4)
KERNEL(add_8, Add, 8)
KERNEL(add_16, Add, 16)
KERNEL(mul_1, Mul, 1)
KERNEL(mul_2, Mul, 2)
KERNEL(mul_4, Mul, 4)
KERNEL(mul_8, Mul, 8)
KERNEL(mul_16, Mul, 16)
KERNEL(mad_1, Mad, 1)
KERNEL(mad_2, Mad, 2)
KERNEL(mad_4, Mad, 4)
KERNEL(mad_8, Mad, 8)
KERNEL(mad_16, Mad, 16)
KERNEL(mulmad_1, MulMad, 1)
KERNEL(mulmad_2, MulMad, 2)
KERNEL(mulmad_4, MulMad, 4)
KERNEL(mulmad_8, MulMad, 8)
