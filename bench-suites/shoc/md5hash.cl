// MD5 (RFC 1321): a search of all keys of some length for the one with a given digest, and the digests of messages.
//
// Key number i has the digits of i to the base `symbols`, lowest first, as its bytes, all below `symbols`. A work-item
// tries the `symbols` keys that differ in the first byte only. Groups of 256.

__constant uint sines[64] = {
    0xd76aa478, 0xe8c7b756, 0x242070db, 0xc1bdceee, 0xf57c0faf, 0x4787c62a, 0xa8304613, 0xfd469501,
    0x698098d8, 0x8b44f7af, 0xffff5bb1, 0x895cd7be, 0x6b901122, 0xfd987193, 0xa679438e, 0x49b40821,
    0xf61e2562, 0xc040b340, 0x265e5a51, 0xe9b6c7aa, 0xd62f105d, 0x02441453, 0xd8a1e681, 0xe7d3fbc8,
    0x21e1cde6, 0xc33707d6, 0xf4d50d87, 0x455a14ed, 0xa9e3e905, 0xfcefa3f8, 0x676f02d9, 0x8d2a4c8a,
    0xfffa3942, 0x8771f681, 0x6d9d6122, 0xfde5380c, 0xa4beea44, 0x4bdecfa9, 0xf6bb4b60, 0xbebfbc70,
    0x289b7ec6, 0xeaa127fa, 0xd4ef3085, 0x04881d05, 0xd9d4d039, 0xe6db99e5, 0x1fa27cf8, 0xc4ac5665,
    0xf4292244, 0x432aff97, 0xab9423a7, 0xfc93a039, 0x655b59c3, 0x8f0ccc92, 0xffeff47d, 0x85845dd1,
    0x6fa87e4f, 0xfe2ce6e0, 0xa3014314, 0x4e0811a1, 0xf7537e82, 0xbd3af235, 0x2ad7d2bb, 0xeb86d391};
__constant uint turns[16] = {7, 12, 17, 22, 5, 9, 14, 20, 4, 11, 16, 23, 6, 10, 15, 21};

// Adds one block of 16 words to the state.
void md5_block(uint* state, uint const* words) {
  uint a = state[0], b = state[1], c = state[2], d = state[3];
#pragma unroll
  for (uint i = 0; i < 64; ++i) {
    uint const round = i / 16;
    uint const mixed = round == 0   ? (b & c) | (~b & d)
                       : round == 1 ? (d & b) | (~d & c)
                       : round == 2 ? b ^ c ^ d
                                    : c ^ (b | ~d);
    uint const word = round == 0 ? i : round == 1 ? 5 * i + 1 : round == 2 ? 3 * i + 5 : 7 * i;
    uint const sum = a + mixed + sines[i] + words[word % 16];
    uint const turn = turns[4 * round + i % 4];
    a = d;
    d = c;
    c = b;
    b += (sum << turn) | (sum >> (32 - turn));
  }
  state[0] += a;
  state[1] += b;
  state[2] += c;
  state[3] += d;
}

void md5_begin(uint* state) {
  state[0] = 0x67452301;
  state[1] = 0xefcdab89;
  state[2] = 0x98badcfe;
  state[3] = 0x10325476;
}

// found[0] becomes the number of the key plus one, found[1] and found[2] the key's bytes, found[3...6] its digest.
// key_bytes is at most 7.
__kernel void md5_search(__global uint* found, uint const keys, uint const key_bytes, uint const symbols,
                         uint const digest0, uint const digest1, uint const digest2, uint const digest3) {
  uint const first = get_global_id(0) * symbols;
  if (first >= keys) return;
  ulong key = 0;
  for (uint byte = 0, rest = first; byte < key_bytes; ++byte, rest /= symbols)
    key |= (ulong)(rest % symbols) << (8 * byte);
  key |= (ulong)0x80 << (8 * key_bytes);
  for (uint symbol = 0; symbol < symbols && first + symbol < keys; ++symbol) {
    uint words[16] = {(uint)key + symbol, (uint)(key >> 32)};
    words[14] = 8 * key_bytes;
    uint state[4];
    md5_begin(state);
    md5_block(state, words);
    if (state[0] == digest0 && state[1] == digest1 && state[2] == digest2 && state[3] == digest3) {
      found[0] = first + symbol + 1;
      found[1] = words[0];
      found[2] = words[1];
      for (int i = 0; i < 4; ++i) found[3 + i] = state[i];
    }
  }
}

// Message m has bytes starts[m] ... starts[m + 1] - 1 of text; digests[4 m ...] are its digest's words.
__kernel void md5_messages(__global uchar const* text, __global uint const* starts, __global uint* digests,
                           uint const messages) {
  uint const m = get_global_id(0);
  if (m >= messages) return;
  uint const start = starts[m], length = starts[m + 1] - start;
  uint state[4];
  md5_begin(state);
  for (uint block = 0; 64 * block < length + 9; ++block) {
    uint words[16];
    for (uint w = 0; w < 16; ++w) {
      words[w] = 0;
      for (uint byte = 0; byte < 4; ++byte) {
        uint const at = 64 * block + 4 * w + byte;
        uint const value = at < length ? text[start + at] : at == length ? 0x80 : 0;
        words[w] |= value << (8 * byte);
      }
    }
    if (64 * (block + 1) >= length + 9) words[14] = 8 * length;
    md5_block(state, words);
  }
  for (int i = 0; i < 4; ++i) digests[4 * m + i] = state[i];
}
