// Matrices in tests: number formats stated anew, fragments in buffers, and the product by its definition.
#pragma once

#include <cmath>
#include <functional>
#include <map>
#include <utility>

#include "harness.hpp"

namespace kernelcast::emu::test {

// A number format as the test needs it: bits, and what a code is worth.
struct Format {
  std::string name;
  unsigned bits = 32;
  std::function<double(std::uint64_t)> value;

  std::uint64_t encode(double wanted) const {
    if (name == "f64") return std::bit_cast<std::uint64_t>(wanted);
    if (name == "f32" || name == "tf32") return std::bit_cast<std::uint32_t>(static_cast<float>(wanted));
    if (name[0] == 's' || name[0] == 'u')
      return static_cast<std::uint64_t>(static_cast<std::int64_t>(wanted)) & ((std::uint64_t{1} << bits) - 1);
    if (codes.empty())
      for (std::uint64_t code = 0; code < std::uint64_t{1} << bits; ++code)
        if (double const v = value(code); !std::isnan(v)) codes.emplace(v, code);
    return codes.at(wanted);
  }
  mutable std::map<double, std::uint64_t> codes;
};

// A float with these exponent and mantissa bits, its code shifted left by `shift` within `bits`.
inline Format small_format(std::string name, unsigned bits, unsigned exponent_bits, unsigned mantissa_bits,
                           unsigned shift, int specials) {
  auto value = [=](std::uint64_t padded) -> double {
    if (padded & ((1u << shift) - 1) || padded >> (shift + exponent_bits + mantissa_bits + 1)) return NAN;
    std::uint64_t const code = padded >> shift;
    int const exponent = static_cast<int>(code >> mantissa_bits & ((1u << exponent_bits) - 1));
    double const mantissa = static_cast<double>(code & ((1u << mantissa_bits) - 1));
    double const sign = code >> (exponent_bits + mantissa_bits) & 1 ? -1 : 1;
    int const bias = (1 << (exponent_bits - 1)) - 1, unit = static_cast<int>(mantissa_bits);
    if (exponent == (1 << exponent_bits) - 1) {
      if (specials == 2) return mantissa != 0 ? NAN : sign * INFINITY;
      if (specials == 1 && mantissa == (1 << mantissa_bits) - 1) return NAN;
    }
    return sign * (exponent ? std::ldexp(mantissa + std::ldexp(1.0, unit), exponent - bias - unit)
                            : std::ldexp(mantissa, 1 - bias - unit));
  };
  return {std::move(name), bits, value, {}};
}

inline Format const& format(std::string const& name) {
  static std::map<std::string, Format> const all = [] {
    std::map<std::string, Format> m;
    m["f16"] = small_format("f16", 16, 5, 10, 0, 2);
    m["bf16"] = small_format("bf16", 16, 8, 7, 0, 2);
    m["e4m3"] = small_format("e4m3", 8, 4, 3, 0, 1);
    m["e5m2"] = small_format("e5m2", 8, 5, 2, 0, 2);
    m["e3m2"] = small_format("e3m2", 8, 3, 2, 0, 0);
    m["e2m3"] = small_format("e2m3", 8, 2, 3, 0, 0);
    m["e2m1"] = small_format("e2m1", 8, 2, 1, 2, 0);
    m["e2m1_packed"] = small_format("e2m1_packed", 4, 2, 1, 0, 0);
    auto const single = [](std::uint64_t b) { return double{std::bit_cast<float>(static_cast<std::uint32_t>(b))}; };
    m["f32"] = {"f32", 32, single, {}};
    m["tf32"] = {"tf32", 32, [single](std::uint64_t b) { return single(b & ~std::uint64_t{0x1fff}); }, {}};
    m["f64"] = {"f64", 64, [](std::uint64_t b) { return std::bit_cast<double>(b); }, {}};
    for (unsigned bits : {4u, 8u, 32u}) {
      auto const wrap = [bits](std::uint64_t b) {
        return static_cast<double>(static_cast<std::int64_t>(b << (64 - bits)) >> (64 - bits));
      };
      m["s" + std::to_string(bits)] = {"s" + std::to_string(bits), bits, wrap, {}};
      m["u" + std::to_string(bits)] = {
          "u" + std::to_string(bits), bits, [](std::uint64_t b) { return static_cast<double>(b); }, {}};
    }
    m["b1"] = {"b1", 1, [](std::uint64_t b) { return static_cast<double>(b); }, {}};
    return m;
  }();
  return all.at(name);
}

// A matrix of codes.
struct Codes {
  int rows = 0, columns = 0;
  std::vector<std::uint64_t> code;
  Codes(int r, int c) : rows(r), columns(c), code(static_cast<std::size_t>(r * c)) {}
  std::uint64_t& operator()(int r, int c) { return code.at(static_cast<std::size_t>(r * columns + c)); }
  std::uint64_t operator()(int r, int c) const { return code.at(static_cast<std::size_t>(r * columns + c)); }
};

inline Codes random_codes(Random& random, Format const& f, int rows, int columns) {
  Codes result(rows, columns);
  for (std::uint64_t& c : result.code) {
    if (f.name == "b1") {
      c = random() & 1;
    } else if (f.name[0] == 's' || f.name[0] == 'u') {
      c = random() & ((std::uint64_t{1} << f.bits) - 1);
      if (f.bits == 32) c = (c & 0xfffff) - 0x80000 & 0xffffffff;
    } else {
      // Quarters or whole numbers of small size: every product and sum of them is exact in f16 and wider.
      double const unit = f.name.starts_with("e2m1") || f.name == "e5m2" || f.name == "e3m2" ? 1 : 0.5;
      c = f.encode(unit * (static_cast<int>(random.below(5)) - 2));
    }
  }
  return result;
}

// Where element i of a lane lies: row and column.
using Layout = std::function<std::pair<int, int>(int lane, int i)>;

// The registers of all lanes, lane after lane: `elements` per lane, low bits first.
inline std::vector<std::uint32_t> fragment_words(Codes const& m, unsigned bits, int elements, Layout const& at) {
  int const words = static_cast<int>(static_cast<unsigned>(elements) * bits / 32);
  std::vector<std::uint32_t> result(static_cast<std::size_t>(32 * words));
  for (int lane = 0; lane < 32; ++lane)
    for (int i = 0; i < elements; ++i) {
      auto const [row, column] = at(lane, i);
      std::uint64_t const code = m(row, column);
      unsigned const bit = static_cast<unsigned>(i) * bits;
      std::size_t const word = static_cast<std::size_t>(lane * words) + bit / 32;
      result.at(word) |= static_cast<std::uint32_t>(code << bit % 32);
      if (bits == 64) result.at(word + 1) |= static_cast<std::uint32_t>(code >> 32);
    }
  return result;
}
inline Codes matrix_of(std::vector<std::uint32_t> const& words, int rows, int columns, unsigned bits, int elements,
                       Layout const& at) {
  Codes m(rows, columns);
  std::size_t const per_lane = static_cast<std::size_t>(elements) * bits / 32;
  for (int lane = 0; lane < 32; ++lane)
    for (int i = 0; i < elements; ++i) {
      auto const [row, column] = at(lane, i);
      unsigned const bit = static_cast<unsigned>(i) * bits;
      std::size_t const word = static_cast<std::size_t>(lane) * per_lane + bit / 32;
      std::uint64_t code = words.at(word) >> bit % 32;
      if (bits == 64) code |= std::uint64_t{words.at(word + 1)} << 32;
      m(row, column) = bits == 64 ? code : code & ((std::uint64_t{1} << bits) - 1);
    }
  return m;
}

// PTX: `count` registers %<letter>0 … loaded from (or stored to) buffer `argument`, `count` words per lane.
inline std::string register_list(char letter, int count) {
  std::string text = "{";
  for (int i = 0; i < count; ++i) text += (i ? ", %" : "%") + std::string(1, letter) + std::to_string(i);
  return text + "}";
}
inline std::string move_registers(char letter, int count, bool wide, std::string const& argument, bool store) {
  int const bytes = wide ? 8 : 4;
  std::string text = " ld.param.u64 %base, [" + argument + "]; mov.u32 %lane, %laneid; mul.wide.u32 %at, %lane, " +
                     std::to_string(count * bytes) + "; add.u64 %at, %at, %base;\n";
  for (int i = 0; i < count; ++i) {
    std::string const reg = "%" + std::string(1, letter) + std::to_string(i);
    std::string const at = "[%at+" + std::to_string(i * bytes) + "]", type = wide ? ".b64 " : ".b32 ";
    text += store ? " st.global" + type + at + ", " + reg + ";\n" : " ld.global" + type + reg + ", " + at + ";\n";
  }
  return text;
}
inline std::string const matrix_header = ".version 8.7\n.target sm_120a\n.address_size 64\n";

inline Bench matrix_bench(std::string const& body) {
  return Bench(
      ".visible .entry k(.param .u64 pa, .param .u64 pb, .param .u64 pc, .param .u64 pd) {\n .reg .b32 %lane; .reg "
      ".b64 "
      "%at, %base;\n .reg .pred %p; .reg .b32 %t<8>; .reg .b64 %q<8>;\n" +
      body + " ret;\n}\n");
}

// D = A B + C by its definition, in long double: exact for what random_codes draws, but for the final rounding.
inline double product_at(Codes const& a, Format const& fa, Codes const& b, Format const& fb, double c, int row,
                         int column) {
  long double sum = c;
  for (int k = 0; k < a.columns; ++k)
    sum += static_cast<long double>(fa.value(a(row, k))) * static_cast<long double>(fb.value(b(k, column)));
  return static_cast<double>(sum);
}

// A matrix in shared memory: rows of M or N, and k. [ptx] "Canonical Layouts", element by element.
struct SharedLayout {
  int start = 0, leading = 0, stride = 0;
  int swizzle_bytes = 16;  // 16: none
  bool transposed = false;
  bool atoms_of_32 = false;  // with 128

  int bit_of(int row, int k, int bits) const {
    int const w = swizzle_bytes, in_bits = k * bits;
    int offset = 0, bit = 0;
    if (!transposed) {
      offset = row % 8 * w + row / 8 * stride;
      offset += w == 16 ? in_bits / 128 * leading + in_bits % 128 / 8 : in_bits / 8;
      bit = in_bits % 8;
    } else {
      int const of_row = w * 8 / bits, of_block = w == 16 ? stride : leading, of_many = w == 16 ? leading : stride;
      int const many = atoms_of_32 ? 4 : 8;
      offset = row % of_row * bits / 8 + row / of_row * of_block + k % many * w + k / many * of_many;
    }
    // Within the pattern, pieces of 16 (or 32) bytes change places.
    int const piece_bytes = atoms_of_32 ? 32 : 16;
    int const line = offset / 128 % (w / piece_bytes), piece = offset / piece_bytes;
    return 8 * (start + (piece ^ line) * piece_bytes + offset % piece_bytes) + bit;
  }
};

}  // namespace kernelcast::emu::test
