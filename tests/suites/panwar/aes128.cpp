#include "aes128.hpp"

#include <algorithm>
#include <cstddef>

namespace kernelcast::suites {
namespace {

std::uint8_t doubled(std::uint8_t a) {
  return static_cast<std::uint8_t>((a << 1) ^ (a & 0x80 ? 0x1b : 0));
}

std::uint8_t product(std::uint8_t a, std::uint8_t b) {
  std::uint8_t sum = 0;
  for (; b != 0; b >>= 1, a = doubled(a))
    if (b & 1) sum ^= a;
  return sum;
}

std::uint8_t rotated_left(std::uint8_t a, int bits) {
  return static_cast<std::uint8_t>(a << bits | a >> (8 - bits));
}

AesBlock sum(AesBlock a, std::uint8_t const* key) {
  for (std::size_t i = 0; i < 16; ++i) a[i] ^= key[i];
  return a;
}

// SubBytes and ShiftRows commute; done together.
AesBlock substitute_and_shift(AesBlock const& state, std::array<std::uint8_t, 256> const& table) {
  AesBlock result;
  for (std::size_t r = 0; r < 4; ++r)
    for (std::size_t c = 0; c < 4; ++c) result[r + 4 * c] = table[state[r + 4 * ((c + r) % 4)]];
  return result;
}

AesBlock mix_columns(AesBlock const& state) {
  AesBlock result;
  for (std::size_t c = 0; c < 4; ++c)
    for (std::size_t r = 0; r < 4; ++r)
      result[r + 4 * c] = product(state[r + 4 * c], 2) ^ product(state[(r + 1) % 4 + 4 * c], 3) ^
                          state[(r + 2) % 4 + 4 * c] ^ state[(r + 3) % 4 + 4 * c];
  return result;
}

}  // namespace

AesBlock aes_block(std::string const& hex) {
  AesBlock block;
  for (std::size_t i = 0; i < 16; ++i)
    block[i] = static_cast<std::uint8_t>(std::stoi(hex.substr(2 * i, 2), nullptr, 16));
  return block;
}

std::array<std::uint8_t, 256> aes_table() {
  std::array<std::uint8_t, 256> table{};
  for (unsigned x = 0; x < 256; ++x) {
    unsigned inverse = 0;
    for (unsigned y = 1; x != 0 && inverse == 0; ++y)
      if (product(static_cast<std::uint8_t>(x), static_cast<std::uint8_t>(y)) == 1) inverse = y;
    auto const b = static_cast<std::uint8_t>(inverse);
    table[x] = b ^ rotated_left(b, 1) ^ rotated_left(b, 2) ^ rotated_left(b, 3) ^ rotated_left(b, 4) ^ 0x63;
  }
  return table;
}

AesRoundKeys expand_aes_key(AesBlock const& key) {
  auto const table = aes_table();
  AesRoundKeys keys{};
  std::ranges::copy(key, keys.begin());
  std::uint8_t round_constant = 1;
  for (std::size_t word = 4; word < 44; ++word) {
    std::array<std::uint8_t, 4> last;
    for (std::size_t i = 0; i < 4; ++i) last[i] = keys[4 * (word - 1) + i];
    if (word % 4 == 0) {
      last = {table[last[1]], table[last[2]], table[last[3]], table[last[0]]};
      last[0] ^= round_constant;
      round_constant = doubled(round_constant);
    }
    for (std::size_t i = 0; i < 4; ++i) keys[4 * word + i] = keys[4 * (word - 4) + i] ^ last[i];
  }
  return keys;
}

AesBlock encrypt_aes(AesRoundKeys const& keys, AesBlock const& plain) {
  static auto const table = aes_table();
  AesBlock state = sum(plain, keys.data());
  for (std::size_t round = 1; round < 10; ++round)
    state = sum(mix_columns(substitute_and_shift(state, table)), keys.data() + 16 * round);
  return sum(substitute_and_shift(state, table), keys.data() + 160);
}

AesBlock swap_rows_and_columns(AesBlock const& block) {
  AesBlock result;
  for (std::size_t r = 0; r < 4; ++r)
    for (std::size_t c = 0; c < 4; ++c) result[4 * r + c] = block[r + 4 * c];
  return result;
}

AesRoundKeys swap_rows_and_columns(AesRoundKeys const& keys) {
  AesRoundKeys result;
  for (std::size_t i = 0; i < keys.size(); ++i) result[i / 16 * 16 + i % 4 * 4 + i / 4 % 4] = keys[i];
  return result;
}

}  // namespace kernelcast::suites
