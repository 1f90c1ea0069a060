// c = a b for square row-major matrices; the group shares its part of `a` through local memory.
//
// A work-item computes a tile of 4 x 4 elements as in matmul_gmem.cl. Per round the group copies a block of `a`, as
// wide as the group (in float4) and four rows per work-item high, into `block`; `b` still comes from global memory.
// Groups of 8 x 8, (n / 4) x (n / 4) work-items, local memory 4 float4 per work-item.
float4 row_times_tile(float4 row, float4 b0, float4 b1, float4 b2, float4 b3) {
  return row.x * b0 + row.y * b1 + row.z * b2 + row.w * b3;
}

__kernel void matmul_lmem(__global float4 const* a, __global float4 const* b, __global float4* c, const uint quads,
                          __local float4* block) {
  const uint x = get_local_id(0);
  const uint width = get_local_size(0);
  const uint column = get_global_id(0);
  const uint row = 4 * get_global_id(1);
  __local float4* mine = block + 4 * get_local_id(1) * width;
  float4 sum0 = 0.0f, sum1 = 0.0f, sum2 = 0.0f, sum3 = 0.0f;
  for (uint round = 0; round < quads; round += width) {
    mine[0 * width + x] = a[(row + 0) * quads + round + x];
    mine[1 * width + x] = a[(row + 1) * quads + round + x];
    mine[2 * width + x] = a[(row + 2) * quads + round + x];
    mine[3 * width + x] = a[(row + 3) * quads + round + x];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint k = 0; k < width; ++k) {
      const uint b_row = 4 * (round + k);
      const float4 b0 = b[(b_row + 0) * quads + column];
      const float4 b1 = b[(b_row + 1) * quads + column];
      const float4 b2 = b[(b_row + 2) * quads + column];
      const float4 b3 = b[(b_row + 3) * quads + column];
      sum0 += row_times_tile(mine[0 * width + k], b0, b1, b2, b3);
      sum1 += row_times_tile(mine[1 * width + k], b0, b1, b2, b3);
      sum2 += row_times_tile(mine[2 * width + k], b0, b1, b2, b3);
      sum3 += row_times_tile(mine[3 * width + k], b0, b1, b2, b3);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  c[(row + 0) * quads + column] = sum0;
  c[(row + 1) * quads + column] = sum1;
  c[(row + 2) * quads + column] = sum2;
  c[(row + 3) * quads + column] = sum3;
}
