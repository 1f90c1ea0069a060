// out = transpose of a square matrix of floats, 4 x 4 elements per work-item, through local memory.
//
// The group copies a block row by row, then writes the transposed block row by row, so that both sides are coalesced.
// Groups are dealt out along diagonals: neighbours that run at the same time then start at different memory channels.
// `quads` is the width in float4. Groups of 8 x 8, (n / 4) x (n / 4) work-items, local memory 4 float4 per work-item.
__kernel void transpose(__global float4 const* in, __global float4* out, const uint quads, __local float4* block) {
  const uint x = get_local_id(0);
  const uint y = get_local_id(1);
  const uint width = get_local_size(0);
  const uint block_row = get_group_id(0);
  const uint block_column = (get_group_id(0) + get_group_id(1)) % get_num_groups(0);

  const uint source = 4 * (block_row * width + y) * quads + block_column * width + x;
  for (uint r = 0; r < 4; ++r) block[(4 * y + r) * width + x] = in[source + r * quads];
  barrier(CLK_LOCAL_MEM_FENCE);

  // Work-item (x, y) takes the tile of 4 x 4 that lies at column y, row x of the block.
  const float4 row0 = block[(4 * x + 0) * width + y];
  const float4 row1 = block[(4 * x + 1) * width + y];
  const float4 row2 = block[(4 * x + 2) * width + y];
  const float4 row3 = block[(4 * x + 3) * width + y];
  const uint target = 4 * (block_column * width + y) * quads + block_row * width + x;
  out[target + 0 * quads] = (float4)(row0.x, row1.x, row2.x, row3.x);
  out[target + 1 * quads] = (float4)(row0.y, row1.y, row2.y, row3.y);
  out[target + 2 * quads] = (float4)(row0.z, row1.z, row2.z, row3.z);
  out[target + 3 * quads] = (float4)(row0.w, row1.w, row2.w, row3.w);
}
