// The addresses of a trace: what is written is read back, for any lanes and offsets.
#include <bit>
#include <random>

#include "base/diag/diag.hpp"
#include "catch.hpp"
#include "records/trace.hpp"

using namespace kernelcast;
using namespace kernelcast::record;

namespace {

std::string text_of(std::uint64_t row_mask, std::uint64_t mask, char space, std::uint64_t base,
                    std::vector<std::uint32_t> const& offsets) {
  std::array<char, max_part_text> out;
  return std::string(out.data(), write_lane_addresses(out.data(), row_mask, mask, space, base, offsets.data()));
}

std::vector<LaneAddresses> read(std::string const& text, std::uint64_t row_mask, std::size_t* items = nullptr) {
  AddressReader reader(text, row_mask);
  std::vector<LaneAddresses> parts;
  LaneAddresses part;
  while (reader.next(part)) parts.push_back(part);
  if (items) *items = reader.items();
  return parts;
}

}  // namespace

TEST_CASE("regular addresses are base and stride") {
  std::vector<std::uint32_t> offsets(64);
  for (std::uint32_t l = 0; l < 64; ++l) offsets[l] = 1000 + 4 * l;
  CHECK(text_of(0xffffffff, 0xffffffff, 0, 4096, offsets) == "5096+4");
  CHECK(text_of(~0ull, ~0ull, 0, 4096, offsets) == "5096+4");
  CHECK(text_of(0xffffffff, 0x8, 0, 0, offsets) == "8@1012+0");
  CHECK(text_of(0xf0, 0xf0, 's', 0, offsets) == "s1016+4");
  for (std::uint32_t l = 0; l < 64; ++l) offsets[l] = 1000 - 8 * l;
  CHECK(text_of(0xffffffff, 0xffffffff, 0, 0, offsets) == "1000+-8");
  offsets[1] = 7;
  CHECK(text_of(0x7, 0x7, 0, 0, offsets) == "1000 7 984");
}

TEST_CASE("addresses are read back as they were written") {
  std::mt19937_64 random(7);
  unsigned affine = 0, lists = 0;
  for (int trial = 0; trial < 20000; ++trial) {
    std::uint64_t const width_mask = trial % 2 ? ~0ull : 0xffffffffull;
    std::uint64_t row_mask = random() & width_mask;
    if (trial % 3 == 0) row_mask = width_mask;
    std::uint64_t mask = trial % 5 == 0 ? row_mask & random() : row_mask;
    if (mask == 0) continue;
    std::uint64_t const base = trial % 7 == 0 ? random() : random() & 0xffffffffff;
    std::vector<std::uint32_t> offsets(64);
    auto const first = static_cast<std::uint32_t>(random()), step = static_cast<std::uint32_t>(random() % 64) - 32;
    for (std::uint32_t l = 0; l < 64; ++l) offsets[l] = first + step * l;  // may leave 32 bits
    if (trial % 4 == 0) offsets[random() % 64] = static_cast<std::uint32_t>(random());
    std::string const text = text_of(row_mask, mask, trial % 6 == 0 ? 'l' : 0, base, offsets);
    (text.find('+') != std::string::npos ? affine : lists) += 1;
    auto const parts = read(text, row_mask);
    REQUIRE(parts.size() == 1);
    REQUIRE(parts[0].mask == mask);
    REQUIRE(parts[0].space == (trial % 6 == 0 ? 'l' : 0));
    for (std::uint64_t m = mask; m; m &= m - 1) {
      auto const l = static_cast<unsigned>(std::countr_zero(m));
      REQUIRE(parts[0].address[l] == base + offsets[l]);
    }
  }
  CHECK(affine > 5000);
  CHECK(lists > 1000);
}

TEST_CASE("items and their parts are told apart") {
  std::size_t items = 0;
  auto const parts = read(";8+4;;3@100 7|c@s64+0;", 0xf, &items);
  CHECK(items == 5);
  REQUIRE(parts.size() == 3);
  CHECK(parts[0].item == 1);
  CHECK(parts[0].address[3] == 20);
  CHECK(parts[1].item == 3);
  CHECK(parts[1].mask == 3);
  CHECK(parts[1].address[1] == 7);
  CHECK(parts[2].item == 3);
  CHECK(parts[2].mask == 0xc);
  CHECK(parts[2].space == 's');
  CHECK(parts[2].address[3] == 64);
  CHECK(read("", 1, &items).empty());
  CHECK(items == 1);
}

TEST_CASE("a text that breaks the grammar is refused") {
  for (char const* text : {"8", "8 12", "8+", "x", "8+4 5", "0@8+4", "8 1 2 3 4", "@8+4", "8+4|", "g", "8+4@"}) {
    CAPTURE(text);
    if (std::string_view(text) == "8+4|") {
      CHECK(read(text, 0xf).size() == 1);
      continue;
    }
    CHECK_THROWS_AS(read(text, 0xf), Error);
  }
}
