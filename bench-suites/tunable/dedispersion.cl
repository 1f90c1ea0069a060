// Of each trial dispersion measure and each sample the sum over the channels, each read later by its delay:
// out[m][s] = sum over c of in[c][s + (int)(m delays[c])]; a row of `in` has SAMPLES + MEASURES bytes, delays are below 1.
//
// A work-item has TILE_X samples, BLOCK_X apart, of TILE_Y measures, BLOCK_Y apart; groups of BLOCK_X x BLOCK_Y.
// Only where the sums of groups do not divide all does it test which are inside.
#if SAMPLES % (BLOCK_X * TILE_X) || MEASURES % (BLOCK_Y * TILE_Y)
#define INSIDE(sample, measure) ((sample) < SAMPLES && (measure) < MEASURES)
#else
#define INSIDE(sample, measure) 1
#endif

__kernel __attribute__((reqd_work_group_size(BLOCK_X, BLOCK_Y, 1))) void dedispersion(__global const uchar* restrict in,
                                                                                      __global float* restrict out,
                                                                                      __constant float* delays) {
  int const first_sample = get_group_id(0) * BLOCK_X * TILE_X + get_local_id(0);
  int const first_measure = get_group_id(1) * BLOCK_Y * TILE_Y + get_local_id(1);
  float sum[TILE_Y][TILE_X] = {{0.0f}};
  for (int c = 0; c < CHANNELS; ++c) {
#pragma unroll
    for (int y = 0; y < TILE_Y; ++y) {
      int const measure = first_measure + y * BLOCK_Y;
      int const shift = (int)(measure * delays[c]);
#pragma unroll
      for (int x = 0; x < TILE_X; ++x) {
        int const sample = first_sample + x * BLOCK_X;
        if (INSIDE(sample, measure)) sum[y][x] += (float)in[c * (SAMPLES + MEASURES) + sample + shift];
      }
    }
  }
#pragma unroll
  for (int y = 0; y < TILE_Y; ++y)
#pragma unroll
    for (int x = 0; x < TILE_X; ++x) {
      int const sample = first_sample + x * BLOCK_X, measure = first_measure + y * BLOCK_Y;
      if (INSIDE(sample, measure)) out[measure * SAMPLES + sample] = sum[y][x];
    }
}
