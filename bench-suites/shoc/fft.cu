// Complex FFT of 512 points, forward and inverse, in place: one block of 64 threads per signal.
//
// 512 = 8 * 8 * 8: a thread holds eight points and makes three transforms of eight; between them the block exchanges
// points through shared memory, real parts first and imaginary parts next. With n = 64 a + 8 b + c, w_m = e^(-2 pi i /
// m):
//   X[k1 + 8 k2 + 64 k3] = sum_c w_8^(c k3) w_64^(c k2) sum_b w_8^(b k2) w_512^((8 b + c) k1) sum_a w_8^(a k1) x[n]
// The inverse has conjugate w and divides by 512. -DDOUBLE=1: double precision.
#if DOUBLE
using real = double;
using real2 = double2;
#else
using real = float;
using real2 = float2;
#endif

constexpr int threads = 64;
constexpr int exchange_reals = 576;  // 512 and some room between rows, against bank conflicts

__device__ real2 complex(real x, real y) {
  real2 z;
  z.x = x;
  z.y = y;
  return z;
}
__device__ real2 operator+(real2 a, real2 b) {
  return complex(a.x + b.x, a.y + b.y);
}
__device__ real2 operator-(real2 a, real2 b) {
  return complex(a.x - b.x, a.y - b.y);
}
__device__ real2 operator*(real a, real2 b) {
  return complex(a * b.x, a * b.y);
}

// i z for sign = 1, -i z for sign = -1.
__device__ real2 quarter_turn(real2 z, real sign) {
  return complex(-sign * z.y, sign * z.x);
}

__device__ void dft4(real2 (&p)[4], real sign) {
  real2 const even_sum = p[0] + p[2], even_difference = p[0] - p[2];
  real2 const odd_sum = p[1] + p[3], odd_difference = quarter_turn(p[1] - p[3], sign);
  p[0] = even_sum + odd_sum;
  p[1] = even_difference + odd_difference;
  p[2] = even_sum - odd_sum;
  p[3] = even_difference - odd_difference;
}

// p[k] = sum_j e^(sign 2 pi i j k / 8) p[j]
__device__ void dft8(real2 (&p)[8], real sign) {
  real const half_root = real(0.70710678118654752440);
  real2 low[4], high[4];
#pragma unroll
  for (int j = 0; j < 4; ++j) {
    low[j] = p[j] + p[j + 4];
    high[j] = p[j] - p[j + 4];
  }
  high[1] = half_root * (high[1] + quarter_turn(high[1], sign));
  high[2] = quarter_turn(high[2], sign);
  high[3] = half_root * (quarter_turn(high[3], sign) - high[3]);
  dft4(low, sign);
  dft4(high, sign);
#pragma unroll
  for (int j = 0; j < 4; ++j) {
    p[2 * j] = low[j];
    p[2 * j + 1] = high[j];
  }
}

// p[k] *= e^(i k angle)
__device__ void twiddle(real2 (&p)[8], real angle) {
#pragma unroll
  for (int k = 1; k < 8; ++k) {
    real const c = cos(k * angle), s = sin(k * angle);
    p[k] = complex(p[k].x * c - p[k].y * s, p[k].x * s + p[k].y * c);
  }
}

__device__ void exchange(real2 (&p)[8], real* cells, int to, int to_step, int from, int from_step) {
  __syncthreads();
#pragma unroll
  for (int k = 0; k < 8; ++k) cells[to + k * to_step] = p[k].x;
  __syncthreads();
#pragma unroll
  for (int k = 0; k < 8; ++k) p[k].x = cells[from + k * from_step];
  __syncthreads();
#pragma unroll
  for (int k = 0; k < 8; ++k) cells[to + k * to_step] = p[k].y;
  __syncthreads();
#pragma unroll
  for (int k = 0; k < 8; ++k) p[k].y = cells[from + k * from_step];
}

__device__ void transform(real2* signal, real sign, real scale) {
  __shared__ real cells[exchange_reals];
  real const step = sign * real(0.012271846303085129838);  // 2 pi / 512
  int const item = threadIdx.x;
  int const row = item / 8, column = item % 8;
  real2* const mine = signal + 512 * blockIdx.x + item;
  real2 p[8];
#pragma unroll
  for (int a = 0; a < 8; ++a) p[a] = mine[64 * a];
  dft8(p, sign);
  twiddle(p, item * step);
  exchange(p, cells, item, 72, 72 * row + column, 8);
  dft8(p, sign);
  twiddle(p, column * (8 * step));
  exchange(p, cells, 72 * row + column, 9, 72 * column + 9 * row, 1);
  dft8(p, sign);
#pragma unroll
  for (int k = 0; k < 8; ++k) mine[64 * k] = scale * p[k];
}

extern "C" __global__ void __launch_bounds__(threads) fft_512(real2* signal) {
  transform(signal, real(-1.0), real(1.0));
}

extern "C" __global__ void __launch_bounds__(threads) ifft_512(real2* signal) {
  transform(signal, real(1.0), real(1.0) / 512);
}
