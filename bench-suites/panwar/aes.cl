// AES-128 encryption, each block of 16 bytes on its own (electronic code book), FIPS 197.
//
// A group of four work-items encrypts one block, a work-item holds one row of the state. Blocks and round keys are
// stored row by row: byte 4 r + c of a block is FIPS 197's s[r][c], its input byte r + 4 c. SubBytes reads the table
// from global memory, ShiftRows rotates the item's own row, MixColumns needs the other rows and gets them through local
// memory. The host deals blocks out as an image: global (width / 4) x height, groups of 1 x 4, block = group in row
// order.

// Product in GF(2^8) modulo x^8 + x^4 + x^3 + x + 1, for the four columns at once. Inlined as every GPU's compiler
// does.
__attribute__((always_inline)) uchar4 times(uchar4 a, uint b) {
  uchar4 product = 0;
  for (uint bit = 0; bit < 8; ++bit) {
    if (b & 1) product ^= a;
    const uchar4 carry = a >> (uchar4)7;
    a = (a << (uchar4)1) ^ (carry * (uchar4)0x1b);
    b >>= 1;
  }
  return product;
}

// MixColumns' matrix is circulant: row r, column k holds 2, 3, 1, 1 at (k - r) mod 4.
uint mix_coefficient(uint r, uint k) {
  return (0x01010302u >> (8 * ((k - r) & 3))) & 0xff;
}

uchar4 substitute(uchar4 a, __global uchar const* table) {
  return (uchar4)(table[a.x], table[a.y], table[a.z], table[a.w]);
}

uchar4 shift_row(uchar4 a, uint r) {
  if (r & 1) a = a.yzwx;
  if (r & 2) a = a.zwxy;
  return a;
}

__kernel void aes_encrypt(__global uchar4 const* in, __global uchar4* out, __global uchar4 const* round_keys,
                          __global uchar const* table, const uint blocks_per_row, const uint rounds,
                          __local uchar4* before, __local uchar4* after) {
  const uint r = get_local_id(1);
  const uint place = 4 * (get_group_id(1) * blocks_per_row + get_group_id(0)) + r;

  before[r] = in[place] ^ round_keys[r];
  for (uint round = 1; round < rounds; ++round) {
    before[r] = shift_row(substitute(before[r], table), r);
    barrier(CLK_LOCAL_MEM_FENCE);
    uchar4 mixed = 0;
    for (uint k = 0; k < 4; ++k) mixed ^= times(before[k], mix_coefficient(r, k));
    after[r] = mixed;
    barrier(CLK_LOCAL_MEM_FENCE);
    before[r] = after[r] ^ round_keys[4 * round + r];
  }
  out[place] = shift_row(substitute(before[r], table), r) ^ round_keys[4 * rounds + r];
}
