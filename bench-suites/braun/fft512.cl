// Complex FFT of 512 points in double precision, in place: one group of 64 work-items per signal, eight points each.
//
// The case of [braun] section 4.4: three transforms of eight points, twiddle factors between them from the hardware's
// single-precision sine and cosine (hence about 1e-6 exact), points exchanged through shared memory, real parts first.
// 512 = 8 * 8 * 8, n = 64 a + 8 b + c, w_m = e^(-2 pi i / m):
//   X[k1 + 8 k2 + 64 k3] = sum_c w_8^(c k3) w_64^(c k2) sum_b w_8^(b k2) w_512^((8 b + c) k1) sum_a w_8^(a k1) x[n]
#pragma OPENCL EXTENSION cl_khr_fp64 : enable

double2 times(double2 a, double2 b) {
  return (double2)(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
}
double2 turned(double2 z) {  // -i z
  return (double2)(z.y, -z.x);
}

void dft8(double2* p) {
  double const half_root = 0.70710678118654752440;
  double2 even[4], odd[4];
#pragma unroll
  for (int j = 0; j < 4; ++j) {
    even[j] = p[j] + p[j + 4];
    odd[j] = p[j] - p[j + 4];
  }
  odd[1] = half_root * (odd[1] + turned(odd[1]));
  odd[2] = turned(odd[2]);
  odd[3] = half_root * (turned(odd[3]) - odd[3]);
#pragma unroll
  for (int h = 0; h < 2; ++h) {
    double2* const q = h ? odd : even;
    double2 const s0 = q[0] + q[2], d0 = q[0] - q[2], s1 = q[1] + q[3], d1 = turned(q[1] - q[3]);
    p[h] = s0 + s1;
    p[h + 2] = d0 + d1;
    p[h + 4] = s0 - s1;
    p[h + 6] = d0 - d1;
  }
}

// p[k] *= e^(-2 pi i k step)
void twiddle(double2* p, double step) {
#pragma unroll
  for (int k = 1; k < 8; ++k) {
    float const angle = (float)(-6.283185307179586477 * k * step);
    p[k] = times(p[k], (double2)(native_cos(angle), native_sin(angle)));
  }
}

// Point j of this work-item goes to `to + j * to_step`, comes from `from + j * from_step`.
void exchange(double2* p, __local double* words, int to, int to_step, int from, int from_step) {
#pragma unroll
  for (int j = 0; j < 8; ++j) words[to + j * to_step] = p[j].x;
  barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
  for (int j = 0; j < 8; ++j) p[j].x = words[from + j * from_step];
  barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
  for (int j = 0; j < 8; ++j) words[to + j * to_step] = p[j].y;
  barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
  for (int j = 0; j < 8; ++j) p[j].y = words[from + j * from_step];
  barrier(CLK_LOCAL_MEM_FENCE);
}

__kernel void fft512(__global double2* signals) {
  __local double words[8 * 72];  // 512 and room between rows, against bank conflicts
  int const item = get_local_id(0), high = item / 8, low = item % 8;
  __global double2* const signal = signals + 512 * get_group_id(0) + item;
  double2 p[8];
#pragma unroll
  for (int j = 0; j < 8; ++j) p[j] = signal[64 * j];
  dft8(p);  // over a: p[k1] for b = high, c = low
  twiddle(p, item / 512.0);
  exchange(p, words, item, 72, 72 * high + low, 8);  // now k1 = high, p[b]
  dft8(p);
  twiddle(p, low / 64.0);
  exchange(p, words, 72 * high + low, 8, 72 * high + 8 * low, 1);  // now k2 = low, p[c]
  dft8(p);
#pragma unroll
  for (int j = 0; j < 8; ++j) signals[512 * get_group_id(0) + high + 8 * low + 64 * j] = p[j];
}
