// Complex FFT of 512 points, forward and inverse, in place: one group of 64 work-items per signal.
//
// 512 = 8 * 8 * 8: a work-item holds eight points and makes three transforms of eight; between them the group exchanges
// points through local memory, real parts first and imaginary parts next. With n = 64 a + 8 b + c, w_m = e^(-2 pi i /
// m):
//   X[k1 + 8 k2 + 64 k3] = sum_c w_8^(c k3) w_64^(c k2) sum_b w_8^(b k2) w_512^((8 b + c) k1) sum_a w_8^(a k1) x[n]
// The inverse has conjugate w and divides by 512. -DDOUBLE=1: double precision.
#if DOUBLE
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
typedef double real;
typedef double2 real2;
#define REAL(x) x
#else
typedef float real;
typedef float2 real2;
#define REAL(x) x##f
#endif

#define ITEMS 64
#define EXCHANGE_REALS 576  // 512 and some room between rows, against bank conflicts

// i z for sign = 1, -i z for sign = -1.
real2 quarter_turn(real2 z, real sign) {
  return (real2)(-sign * z.y, sign * z.x);
}

void dft4(real2* p0, real2* p1, real2* p2, real2* p3, real sign) {
  real2 const even_sum = *p0 + *p2, even_difference = *p0 - *p2;
  real2 const odd_sum = *p1 + *p3, odd_difference = quarter_turn(*p1 - *p3, sign);
  *p0 = even_sum + odd_sum;
  *p1 = even_difference + odd_difference;
  *p2 = even_sum - odd_sum;
  *p3 = even_difference - odd_difference;
}

// p[k] = sum_j e^(sign 2 pi i j k / 8) p[j]
void dft8(real2* p, real sign) {
  real const half_root = REAL(0.70710678118654752440);
  real2 low[4], high[4];
#pragma unroll
  for (int j = 0; j < 4; ++j) {
    low[j] = p[j] + p[j + 4];
    high[j] = p[j] - p[j + 4];
  }
  high[1] = half_root * (high[1] + quarter_turn(high[1], sign));
  high[2] = quarter_turn(high[2], sign);
  high[3] = half_root * (quarter_turn(high[3], sign) - high[3]);
  dft4(&low[0], &low[1], &low[2], &low[3], sign);
  dft4(&high[0], &high[1], &high[2], &high[3], sign);
#pragma unroll
  for (int j = 0; j < 4; ++j) {
    p[2 * j] = low[j];
    p[2 * j + 1] = high[j];
  }
}

// p[k] *= e^(i k angle)
void twiddle(real2* p, real angle) {
#pragma unroll
  for (int k = 1; k < 8; ++k) {
    real const c = cos(k * angle), s = sin(k * angle);
    p[k] = (real2)(p[k].x * c - p[k].y * s, p[k].x * s + p[k].y * c);
  }
}

void exchange(real2* p, __local real* cells, int to, int to_step, int from, int from_step) {
  barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
  for (int k = 0; k < 8; ++k) cells[to + k * to_step] = p[k].x;
  barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
  for (int k = 0; k < 8; ++k) p[k].x = cells[from + k * from_step];
  barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
  for (int k = 0; k < 8; ++k) cells[to + k * to_step] = p[k].y;
  barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
  for (int k = 0; k < 8; ++k) p[k].y = cells[from + k * from_step];
}

void transform(__global real2* signal, __local real* cells, real sign, real scale) {
  real const step = sign * REAL(0.012271846303085129838);  // 2 pi / 512
  int const item = get_local_id(0);
  int const row = item / 8, column = item % 8;
  __global real2* mine = signal + 512 * get_group_id(0) + item;
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

__kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1))) void fft_512(__global real2* signal) {
  __local real cells[EXCHANGE_REALS];
  transform(signal, cells, REAL(-1.0), REAL(1.0));
}

__kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1))) void ifft_512(__global real2* signal) {
  __local real cells[EXCHANGE_REALS];
  transform(signal, cells, REAL(1.0), REAL(1.0) / 512);
}
