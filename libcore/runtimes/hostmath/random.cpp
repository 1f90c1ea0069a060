#include "runtimes/hostmath/random.hpp"

#include <cmath>
#include <numbers>

namespace kernelcast::hostmath {

namespace {

constexpr std::size_t xorwow_sequences = 4096, philox_sequences = 65536;

// Of XORWOW's five words: bits to bits, a linear map. Column i: where bit i goes.
using Words = std::array<std::uint32_t, 5>;
using Map = std::vector<Words>;

Words step(Words const& v) {
  std::uint32_t const t = v[0] ^ v[0] >> 2;
  return {v[1], v[2], v[3], v[4], v[4] ^ v[4] << 4 ^ t ^ t << 1};
}

Words mapped(Map const& map, Words const& v) {
  Words out{};
  for (std::size_t i = 0; i < map.size(); ++i)
    if (v[i / 32] >> i % 32 & 1)
      for (std::size_t w = 0; w < 5; ++w) out[w] ^= map[i][w];
  return out;
}

// 2^67 steps.
Map const& next_sequence() {
  static Map const map = [] {
    Map one(160);
    for (std::size_t i = 0; i < one.size(); ++i) {
      Words v{};
      v[i / 32] = std::uint32_t{1} << i % 32;
      one[i] = step(v);
    }
    for (int squaring = 0; squaring < 67; ++squaring) {
      Map twice(one.size());
      for (std::size_t i = 0; i < one.size(); ++i) twice[i] = mapped(one, one[i]);
      one = std::move(twice);
    }
    return one;
  }();
  return map;
}

std::array<std::uint32_t, 4> philox_block(std::array<std::uint32_t, 4> c, std::uint64_t seed) {
  auto k0 = static_cast<std::uint32_t>(seed), k1 = static_cast<std::uint32_t>(seed >> 32);
  for (int round = 0; round < 10; ++round) {
    std::uint64_t const p0 = std::uint64_t{0xD2511F53} * c[0], p1 = std::uint64_t{0xCD9E8D57} * c[2];
    c = {static_cast<std::uint32_t>(p1 >> 32) ^ c[1] ^ k0, static_cast<std::uint32_t>(p1),
         static_cast<std::uint32_t>(p0 >> 32) ^ c[3] ^ k1, static_cast<std::uint32_t>(p0)};
    k0 += 0x9E3779B9, k1 += 0xBB67AE85;
  }
  return c;
}

constexpr std::uint64_t m1 = 4294967087, m2 = 4294944443;  // of MRG32k3a

}  // namespace

void Generator::prepare() {
  ready_ = true;
  block_ = ~std::uint64_t{0};
  std::uint64_t skipped = at_;
  if (kind_ == Kind::xorwow) {
    auto const s0 = static_cast<std::uint32_t>(seed_) ^ 0xaad26b49U;
    auto const s1 = static_cast<std::uint32_t>(seed_ >> 32) ^ 0xf7dcefddU;
    std::uint32_t const t0 = 1099087573U * s0, t1 = 2591861531U * s1;
    Words v{123456789U + t0, 362436069U ^ t0, 521288629U + t1, 88675123U ^ t1, 5783321U + t0};
    sequences_.assign(xorwow_sequences, {});
    auto const& map = next_sequence();
    for (auto& sequence : sequences_) {
      sequence = {6615241U + t1 + t0, v};  // the counter is back after 2^67 steps
      v = mapped(map, v);
    }
    at_ = 0;
  } else if (kind_ == Kind::mt19937) {
    twister_.assign(624, 0);
    twister_[0] = static_cast<std::uint32_t>(seed_);
    for (std::uint32_t i = 1; i < 624; ++i) twister_[i] = 1812433253U * (twister_[i - 1] ^ twister_[i - 1] >> 30) + i;
    at_ = 0;
  } else if (kind_ == Kind::mrg32k3a) {
    auto const low = seed_ & 0xffffffffU, high = seed_ >> 32;
    recursive_ = {(12345 + low) % m1, (12345 + high) % m1, 12345, (12345 + low) % m2, 12345, (12345 + high) % m2};
    at_ = 0;
  } else {
    return;  // counts
  }
  for (; skipped > 0; --skipped) next();
}

std::uint32_t Generator::xorwow(std::uint64_t sequence) {
  auto& [d, v] = sequences_[sequence % sequences_.size()];
  v = step(v);
  d += 362437;
  return v[4] + d;
}

// A sequence gives one block in turn; of results in double precision two.
std::uint32_t Generator::philox(std::uint64_t blocks_in_turn) {
  std::uint64_t const place = at_++, block = place / 4, group = block / blocks_in_turn;
  auto const turn = group / philox_sequences * blocks_in_turn + block % blocks_in_turn;
  std::uint64_t const sequence = group % philox_sequences, key = turn * philox_sequences + sequence;
  if (key != block_) {
    four_ = philox_block({static_cast<std::uint32_t>(turn), static_cast<std::uint32_t>(turn >> 32),
                          static_cast<std::uint32_t>(sequence), 0},
                         seed_);
    block_ = key;
  }
  return four_[place % 4];
}

std::uint32_t Generator::mt19937() {
  std::size_t const i = at_ % 624;
  if (i == 0)
    for (std::size_t k = 0; k < 624; ++k) {
      std::uint32_t const y = (twister_[k] & 0x80000000U) | (twister_[(k + 1) % 624] & 0x7fffffffU);
      twister_[k] = twister_[(k + 397) % 624] ^ y >> 1 ^ (y & 1 ? 0x9908b0dfU : 0U);
    }
  ++at_;
  std::uint32_t y = twister_[i];
  y ^= y >> 11;
  y ^= y << 7 & 0x9d2c5680U;
  y ^= y << 15 & 0xefc60000U;
  return y ^ y >> 18;
}

std::uint32_t Generator::mrg32k3a() {
  ++at_;
  auto& s = recursive_;
  std::uint64_t const p1 = (1403580 * s[1] + 810728 * (m1 - s[0])) % m1;
  std::uint64_t const p2 = (527612 * s[5] % m2 + 1370589 * (m2 - s[3]) % m2) % m2;
  s = {s[1], s[2], p1, s[4], s[5], p2};
  return static_cast<std::uint32_t>(p1 > p2 ? p1 - p2 : p1 + m1 - p2);
}

std::uint32_t Generator::next() {
  if (!ready_) prepare();
  switch (kind_) {
    case Kind::xorwow:
      return xorwow(at_++);
    case Kind::philox:
      return philox(1);
    case Kind::mt19937:
      return mt19937();
    case Kind::mrg32k3a:
      break;
  }
  return mrg32k3a();
}

template <std::size_t count>
std::array<std::uint32_t, count> Generator::draw(bool wide) {
  if (!ready_) prepare();
  std::array<std::uint32_t, count> out{};
  for (auto& one : out)
    one = kind_ == Kind::xorwow ? xorwow(at_) : kind_ == Kind::philox ? philox(wide ? 2 : 1) : next();
  if (kind_ == Kind::xorwow) ++at_;
  return out;
}

namespace {

float uniform_of(std::uint32_t x) {
  return static_cast<float>(x) * 2.3283064e-10F + 2.3283064e-10F / 2;
}
double uniform_of(std::uint32_t low, std::uint64_t high) {
  return static_cast<double>(low ^ high << 21) * 0x1p-53 + 0x1p-54;
}

template <class T>
std::array<T, 2> box_muller(T u, T v) {
  T const s = std::sqrt(-2 * std::log(u)), angle = v * static_cast<T>(2 * std::numbers::pi);
  return {s * std::sin(angle), s * std::cos(angle)};
}

}  // namespace

float Generator::uniform() {
  return uniform_of(next());
}

double Generator::uniform_double() {
  if (kind_ == Kind::mt19937 || kind_ == Kind::mrg32k3a) return next() * 0x1p-32 + 0x1p-33;
  auto const x = draw<2>(true);
  return uniform_of(x[0], x[1]);
}

template <>
std::array<float, 2> Generator::normal_pair() {
  auto const x = draw<2>(false);
  return box_muller(uniform_of(x[0]), uniform_of(x[1]));
}

template <>
std::array<double, 2> Generator::normal_pair() {
  if (kind_ == Kind::mt19937 || kind_ == Kind::mrg32k3a) {
    double const u = uniform_double();
    return box_muller(u, uniform_double());
  }
  auto const x = draw<4>(true);
  return box_muller(uniform_of(x[0], x[1]), uniform_of(x[2], x[3]));
}

}  // namespace kernelcast::hostmath
