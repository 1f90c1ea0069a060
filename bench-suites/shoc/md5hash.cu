// MD5 (RFC 1321): a search of all keys of some length for the one with a given digest, and the digests of messages.
//
// Key number i has the digits of i to the base `symbols`, lowest first, as its bytes, all below `symbols`. A thread
// tries the `symbols` keys that differ in the first byte only. Blocks of 256.

__device__ unsigned global_thread() {
  return blockIdx.x * blockDim.x + threadIdx.x;
}

// Adds one block of 16 words to the state.
__device__ void md5_block(unsigned* state, unsigned const* words) {
  constexpr unsigned sines[64] = {
      0xd76aa478, 0xe8c7b756, 0x242070db, 0xc1bdceee, 0xf57c0faf, 0x4787c62a, 0xa8304613, 0xfd469501,
      0x698098d8, 0x8b44f7af, 0xffff5bb1, 0x895cd7be, 0x6b901122, 0xfd987193, 0xa679438e, 0x49b40821,
      0xf61e2562, 0xc040b340, 0x265e5a51, 0xe9b6c7aa, 0xd62f105d, 0x02441453, 0xd8a1e681, 0xe7d3fbc8,
      0x21e1cde6, 0xc33707d6, 0xf4d50d87, 0x455a14ed, 0xa9e3e905, 0xfcefa3f8, 0x676f02d9, 0x8d2a4c8a,
      0xfffa3942, 0x8771f681, 0x6d9d6122, 0xfde5380c, 0xa4beea44, 0x4bdecfa9, 0xf6bb4b60, 0xbebfbc70,
      0x289b7ec6, 0xeaa127fa, 0xd4ef3085, 0x04881d05, 0xd9d4d039, 0xe6db99e5, 0x1fa27cf8, 0xc4ac5665,
      0xf4292244, 0x432aff97, 0xab9423a7, 0xfc93a039, 0x655b59c3, 0x8f0ccc92, 0xffeff47d, 0x85845dd1,
      0x6fa87e4f, 0xfe2ce6e0, 0xa3014314, 0x4e0811a1, 0xf7537e82, 0xbd3af235, 0x2ad7d2bb, 0xeb86d391};
  constexpr unsigned turns[16] = {7, 12, 17, 22, 5, 9, 14, 20, 4, 11, 16, 23, 6, 10, 15, 21};
  unsigned a = state[0], b = state[1], c = state[2], d = state[3];
#pragma unroll
  for (unsigned i = 0; i < 64; ++i) {
    unsigned const round = i / 16;
    unsigned const mixed = round == 0   ? (b & c) | (~b & d)
                           : round == 1 ? (d & b) | (~d & c)
                           : round == 2 ? b ^ c ^ d
                                        : c ^ (b | ~d);
    unsigned const word = round == 0 ? i : round == 1 ? 5 * i + 1 : round == 2 ? 3 * i + 5 : 7 * i;
    unsigned const sum = a + mixed + sines[i] + words[word % 16];
    unsigned const turn = turns[4 * round + i % 4];
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

__device__ void md5_begin(unsigned* state) {
  state[0] = 0x67452301;
  state[1] = 0xefcdab89;
  state[2] = 0x98badcfe;
  state[3] = 0x10325476;
}

// found[0] becomes the number of the key plus one, found[1] and found[2] the key's bytes, found[3...6] its digest.
// key_bytes is at most 7.
extern "C" __global__ void md5_search(unsigned* found, unsigned keys, unsigned key_bytes, unsigned symbols,
                                      unsigned digest0, unsigned digest1, unsigned digest2, unsigned digest3) {
  unsigned const first = global_thread() * symbols;
  if (first >= keys) return;
  unsigned long long key = 0;
  for (unsigned byte = 0, rest = first; byte < key_bytes; ++byte, rest /= symbols)
    key |= (unsigned long long)(rest % symbols) << (8 * byte);
  key |= (unsigned long long)0x80 << (8 * key_bytes);
  for (unsigned symbol = 0; symbol < symbols && first + symbol < keys; ++symbol) {
    unsigned words[16] = {(unsigned)key + symbol, (unsigned)(key >> 32)};
    words[14] = 8 * key_bytes;
    unsigned state[4];
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
extern "C" __global__ void md5_messages(unsigned char const* text, unsigned const* starts, unsigned* digests,
                                        unsigned messages) {
  unsigned const m = global_thread();
  if (m >= messages) return;
  unsigned const start = starts[m], length = starts[m + 1] - start;
  unsigned state[4];
  md5_begin(state);
  for (unsigned block = 0; 64 * block < length + 9; ++block) {
    unsigned words[16];
    for (unsigned w = 0; w < 16; ++w) {
      words[w] = 0;
      for (unsigned byte = 0; byte < 4; ++byte) {
        unsigned const at = 64 * block + 4 * w + byte;
        unsigned const value = at < length ? text[start + at] : at == length ? 0x80 : 0;
        words[w] |= value << (8 * byte);
      }
    }
    if (64 * (block + 1) >= length + 9) words[14] = 8 * length;
    md5_block(state, words);
  }
  for (int i = 0; i < 4; ++i) digests[4 * m + i] = state[i];
}
