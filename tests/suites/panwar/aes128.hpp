// AES-128 encryption straight from FIPS 197, byte by byte: the yardstick for bench-suites/panwar/aes.cl.
//
// Nothing is tabulated: the S-box is computed from its definition (multiplicative inverse, then the affine map), so a
// wrong table file cannot pass. Speed does not matter here.
#pragma once

#include <array>
#include <cstdint>
#include <string>

namespace kernelcast::suites {

using AesBlock = std::array<std::uint8_t, 16>;           // in FIPS 197's byte order
using AesRoundKeys = std::array<std::uint8_t, 16 * 11>;  // 11 round keys, each in that order

AesBlock aes_block(std::string const& hex);        // 32 hexadecimal digits, as FIPS 197 prints blocks
std::array<std::uint8_t, 256> aes_table();         // FIPS 197, 5.1.1
AesRoundKeys expand_aes_key(AesBlock const& key);  // FIPS 197, 5.2
AesBlock encrypt_aes(AesRoundKeys const& keys, AesBlock const& plain);  // FIPS 197, 5.1

// The suite stores a block row by row: byte 4 r + c is the state's s[r][c], which is FIPS 197's byte r + 4 c. The same
// function goes both ways.
AesBlock swap_rows_and_columns(AesBlock const& block);
AesRoundKeys swap_rows_and_columns(AesRoundKeys const& keys);  // each round key

}  // namespace kernelcast::suites
