// c = a b for square row-major matrices; both factors come straight from global memory.
//
// A work-item computes a tile of 4 x 4 elements, four rows of one float4 each, and walks the inner dimension in steps
// of four. `quads` is the width in float4. Groups of 8 x 8, (n / 4) x (n / 4) work-items.
float4 row_times_tile(float4 row, float4 b0, float4 b1, float4 b2, float4 b3) {
  return row.x * b0 + row.y * b1 + row.z * b2 + row.w * b3;
}

__kernel void matmul_gmem(__global float4 const* a, __global float4 const* b, __global float4* c, const uint quads) {
  const uint column = get_global_id(0);
  const uint row = 4 * get_global_id(1);
  float4 sum0 = 0.0f, sum1 = 0.0f, sum2 = 0.0f, sum3 = 0.0f;
  for (uint k = 0; k < quads; ++k) {
    const float4 b0 = b[(4 * k + 0) * quads + column];
    const float4 b1 = b[(4 * k + 1) * quads + column];
    const float4 b2 = b[(4 * k + 2) * quads + column];
    const float4 b3 = b[(4 * k + 3) * quads + column];
    sum0 += row_times_tile(a[(row + 0) * quads + k], b0, b1, b2, b3);
    sum1 += row_times_tile(a[(row + 1) * quads + k], b0, b1, b2, b3);
    sum2 += row_times_tile(a[(row + 2) * quads + k], b0, b1, b2, b3);
    sum3 += row_times_tile(a[(row + 3) * quads + k], b0, b1, b2, b3);
  }
  c[(row + 0) * quads + column] = sum0;
  c[(row + 1) * quads + column] = sum1;
  c[(row + 2) * quads + column] = sum2;
  c[(row + 3) * quads + column] = sum3;
}
