// The yardsticks themselves: FIPS 197's published vectors, small cases worked out by hand, and that each reference
// notices a single wrong element.
#include "references.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <span>

#include "aes128.hpp"
#include "catch.hpp"

using namespace kernelcast::suites;

namespace {

template <class T>
std::vector<std::byte> bytes_of(std::vector<T> const& values) {
  auto const bytes = std::as_bytes(std::span(values));
  return {bytes.begin(), bytes.end()};
}

std::vector<std::uint8_t> suite_file(std::string const& name) {
  std::ifstream file(KERNELCAST_SOURCE_DIR "/bench-suites/panwar/" + name, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Every buffer in turn gets one bit flipped; the verdict must change.
void expect_noticed(std::string const& workload, Buffers const& before, Buffers const& after,
                    std::vector<std::string> const& outputs) {
  REQUIRE(judge(workload, before, after).equal);
  for (auto const& output : outputs) {
    Buffers wrong = after;
    auto& bytes = wrong.at(output);
    bytes[bytes.size() / 2 + 2] ^= std::byte{0x40};
    Verdict const verdict = judge(workload, before, wrong);
    INFO(workload << " " << output);
    CHECK_FALSE(verdict.equal);
    CHECK(verdict.mismatch.starts_with(output + "["));
  }
}

}  // namespace

TEST_CASE("AES-128 gives FIPS 197's published results") {
  AesBlock const key_b = aes_block("2b7e151628aed2a6abf7158809cf4f3c");
  CHECK(encrypt_aes(expand_aes_key(key_b), aes_block("3243f6a8885a308d313198a2e0370734")) ==
        aes_block("3925841d02dc09fbdc118597196a0b32"));  // appendix B
  AesBlock const key_c = aes_block("000102030405060708090a0b0c0d0e0f");
  CHECK(encrypt_aes(expand_aes_key(key_c), aes_block("00112233445566778899aabbccddeeff")) ==
        aes_block("69c4e0d86a7b0430d8cdb78070b4c55a"));  // appendix C.1

  AesRoundKeys const keys = expand_aes_key(key_b);
  AesBlock last;
  std::copy_n(keys.begin() + 160, 16, last.begin());
  CHECK(last == aes_block("d014f9a8c9ee2589e13f0cc8b6630ca6"));  // appendix A.1, words 40 to 43
  CHECK(aes_table()[0x53] == 0xed);                              // section 5.1.1
}

TEST_CASE("The suite's AES files hold the table and the key schedule of appendix C.1") {
  auto const table = suite_file("aes_table.bin");
  CHECK(std::ranges::equal(table, aes_table()));
  auto const stored = suite_file("aes_round_keys.bin");
  AesRoundKeys const keys = expand_aes_key(aes_block("000102030405060708090a0b0c0d0e0f"));
  CHECK(std::ranges::equal(stored, swap_rows_and_columns(keys)));
}

TEST_CASE("References notice one wrong element") {
  std::vector<std::uint32_t> const distance{0, 3, 9, 2, 0, 4, 7, 1, 0}, none(9, 0);
  // By hand: 0 to 2 is 3 + 4 = 7 over node 1, 2 to 0 is 1 + 2 = 3 over node 1; all else is direct.
  expect_noticed("floyd_warshall", {{"distance", bytes_of(distance)}, {"via", bytes_of(none)}},
                 {{"distance", bytes_of(std::vector<std::uint32_t>{0, 3, 7, 2, 0, 4, 3, 1, 0})},
                  {"via", bytes_of(std::vector<std::uint32_t>{0, 0, 1, 0, 0, 0, 1, 0, 0})}},
                 {"distance", "via"});

  expect_noticed("fast_walsh", {{"data", bytes_of(std::vector<float>{1, 0, 1, 0, 0, 1, 1, 0})}},
                 {{"data", bytes_of(std::vector<float>{4, 2, 0, -2, 0, 2, 0, 2})}}, {"data"});  // Wikipedia's example

  std::vector<float> const a{1, 2, 3, 4}, b{5, 6, 7, 8}, c{19, 22, 43, 50};
  expect_noticed("matmul_gmem", {{"a", bytes_of(a)}, {"b", bytes_of(b)}}, {{"c", bytes_of(c)}}, {"c"});
  expect_noticed("transpose", {{"in", bytes_of(a)}}, {{"out", bytes_of(std::vector<float>{1, 3, 2, 4})}}, {"out"});
  expect_noticed("reduction", {{"input", bytes_of(std::vector<std::uint32_t>{1, 2, 3, 4, 5, 6, 7, 0xffffffff})}},
                 {{"partial", bytes_of(std::vector<std::uint32_t>{6, 8, 10, 3})}}, {"partial"});
}

TEST_CASE("The n-body reference notices one wrong velocity and one forgotten body") {
  // Two bodies of masses 2 and 3 at distance 0.3 along x: the pull on the first is 3 * 0.3 / (0.09 + 0.0025)^1.5.
  std::vector<float> const position{0, 0, 0, 2, 0.3f, 0, 0, 3}, rest(8, 0);
  double const pull = 0.3f / std::pow(double{0.3f} * 0.3f + 0.0025f, 1.5), step = 0.005f;
  std::vector<float> velocity(8), moved = position;
  velocity[0] = static_cast<float>(step * 3 * pull);
  velocity[4] = static_cast<float>(-step * 2 * pull);
  moved[0] = static_cast<float>(0.5 * step * step * 3 * pull);
  moved[4] = static_cast<float>(double{0.3f} - 0.5 * step * step * 2 * pull);
  Buffers const before{{"position", bytes_of(position)}, {"velocity", bytes_of(rest)}};
  Buffers const after{{"next_position", bytes_of(moved)}, {"next_velocity", bytes_of(velocity)}};
  expect_noticed("nbody", before, after, {"next_position", "next_velocity"});

  // 4096 bodies on a line; the result for one more body of the same mass must not pass.
  std::vector<float> many, fewer;
  for (int i = 0; i < 4096; ++i) many.insert(many.end(), {static_cast<float>(i) / 4096, 0, 0, 1});
  fewer = many;
  fewer[4 * 17 + 3] = 0;  // body 17 has lost its mass
  auto const resting = bytes_of(std::vector<float>(many.size(), 0));
  auto const host_result = [](std::vector<float> const& bodies, std::vector<float> const& masses) {
    std::vector<float> velocities(bodies.size()), positions = bodies;
    for (std::size_t i = 0; i < bodies.size(); i += 4) {
      double sum = 0;
      for (std::size_t j = 0; j < bodies.size(); j += 4) {
        double const away = double{bodies[j]} - bodies[i];
        sum += masses[j + 3] * away / std::pow(away * away + 0.0025f, 1.5);
      }
      velocities[i] = static_cast<float>(0.005f * sum);
      positions[i] = static_cast<float>(bodies[i] + 0.5 * 0.005f * 0.005f * sum);
    }
    return Buffers{{"next_position", bytes_of(positions)}, {"next_velocity", bytes_of(velocities)}};
  };
  Buffers const line{{"position", bytes_of(many)}, {"velocity", resting}};
  CHECK(judge("nbody", line, host_result(many, many)).equal);
  CHECK_FALSE(judge("nbody", line, host_result(many, fewer)).equal);
}

TEST_CASE("An unknown workload or a missing buffer is refused") {
  CHECK_THROWS_AS(judge("matmul", {}, {}), std::out_of_range);
  CHECK_THROWS_AS(judge("transpose", {}, {}), std::out_of_range);
}
