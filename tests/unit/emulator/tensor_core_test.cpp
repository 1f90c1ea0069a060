// tcgen05.mma against the product by its definition. Layouts are those of the PTX manual, element by element: of D and
// A in tensor memory "Data Path Layout Organization", of A and B in shared memory "Canonical Layouts", of scales "Scale
// Factor Layout"; the descriptor is put together from the tables "Instruction Descriptor".
#include "catch.hpp"
#include "tensor_bench.hpp"

using namespace kernelcast::emu;
using namespace kernelcast::emu::test;

namespace {

constexpr int d_column = 0, a_column = 300, a_scale_column = 400, b_scale_column = 416, metadata_column = 430;

struct Case {
  std::string kind = "f16", a = "f16", b = "f16", d = "f32";
  int rows = 128, columns = 64;
  int swizzle_a = 16, swizzle_b = 16;
  bool a_transposed = false, b_transposed = false, atoms_of_32 = false;
  bool a_in_tensor_memory = false, stationary = false, pair = false;
  bool negates_a = false, negates_b = false, adds = true, saturates = false, masks = false;
  int shift = 0, upper = 0;    // upper: D begins at lane 16
  int block = 0;               // elements of k for each scale; 0: none
  int a_byte = 0, b_byte = 0;  // of the first scale
  bool scales_are_e4m3 = false;
  int issuer = 0;
  bool sparse = false;
  int selector = 0;
  bool shifts_rows = false;  // .ashift

  bool packed() const { return kind == "mxf4" || kind == "mxf4nvf4"; }
  int groups() const { return pair ? 2 : 1; }
  int group_rows() const { return rows / groups(); }
  int group_columns() const { return columns / groups(); }
};

int bits_of(Case const& x, std::string const& type) {  // of an element in shared memory
  if (type == "e2m1") return 4;
  if (type == "e2m3" || type == "e3m2") return 6;
  return type == "tf32" ? 32 : type == "f16" || type == "bf16" ? 16 : x.packed() ? 4 : 8;
}
int depth_of(Case const& x) {
  return (x.packed() ? 64 : x.kind == "tf32" ? 8 : x.kind == "f16" ? 16 : 32) * (x.sparse ? 2 : 1);
}
// Of each `of` units in a row of a sparse A `kept` are stored; a unit is so many elements.
struct Sparsity {
  int kept, of, elements = 1;
};
Sparsity sparsity_of(Case const& x) {
  return x.kind == "tf32" ? Sparsity{1, 2} : Sparsity{2, 4, x.packed() ? 2 : 1};
}
std::uint64_t raw(std::string const& type, std::uint64_t code) {
  return type == "e2m1" ? code >> 2 : code;
}

// [ptx] Tables "Instruction descriptor format".
std::uint32_t descriptor_of(Case const& x) {
  std::map<std::string, unsigned> const floats = {{"f16", 0},  {"bf16", 1}, {"tf32", 2}, {"u8", 0},   {"s8", 1},
                                                  {"e4m3", 0}, {"e5m2", 1}, {"e2m3", 3}, {"e3m2", 4}, {"e2m1", 5}};
  auto const type = [&](std::string const& name) { return x.packed() ? 1u : floats.at(name); };
  std::uint32_t word = type(x.a) << 7 | type(x.b) << 10 | unsigned{x.negates_a} << 13 | unsigned{x.negates_b} << 14 |
                       unsigned{x.a_transposed} << 15 | unsigned{x.b_transposed} << 16 |
                       static_cast<unsigned>(x.columns / 8) << 17 | static_cast<unsigned>(x.rows / 16) << 24 |
                       unsigned{x.sparse} << 2 | static_cast<unsigned>(x.selector);
  if (x.block == 0) return word | (x.d == "f16" ? 0u : x.d == "f32" ? 1u : 2u) << 4 | unsigned{x.saturates} << 3;
  return word | static_cast<unsigned>(x.b_byte) << 4 | static_cast<unsigned>(x.a_byte) << 29 |
         (x.scales_are_e4m3 ? 0u : 1u) << 23;
}

struct Cell {
  int lane, column;
};
// Of a group's row and of a column of D.
Cell place_of(Case const& x, int row, int n) {
  if (x.group_rows() == 128) return {row, n};
  if (x.group_rows() == 32) return {row + 32 * (n / (x.columns / 4)), n % (x.columns / 4)};
  if (x.pair || x.stationary) return {row + (n < x.columns / 2 ? 0 : 64), n % (x.columns / 2)};
  static constexpr int first[] = {0, 32, 64, 96};
  return {first[row / 16] + row % 16 + 16 * x.upper, n};
}

StoredMatrix stored(Case const& x, bool of_a) {
  StoredMatrix s;
  int const rows = of_a ? x.group_rows() : x.group_columns(), depth = depth_of(x);
  s.swizzle_bytes = of_a ? x.swizzle_a : x.swizzle_b;
  s.transposed = of_a ? x.a_transposed : x.b_transposed;
  s.atoms_of_32 = x.atoms_of_32 && s.transposed;
  if (s.atoms_of_32) s.swizzle_bytes = 128;
  s.start = of_a ? 0 : 96 * 1024;
  int const pattern = (s.atoms_of_32 ? 4 : 8) * s.swizzle_bytes;
  if (!s.transposed) {
    s.stride = pattern * 2;
    s.leading = s.swizzle_bytes == 16 ? rows / 8 * s.stride + 128 : 16;
  } else if (s.swizzle_bytes == 16) {
    s.stride = 128 * 3;
    s.leading = (rows + 7) / 8 * s.stride + 128;
  } else {
    s.stride = pattern;
    s.leading = pattern * (depth / 4 + 1);
  }
  return s;
}

void put(std::uint8_t* image, StoredMatrix const& s, int row, int k, int bits, bool packed, std::uint64_t code) {
  int bit = 0;
  if (s.transposed) {
    bit = s.bit_of(row, k, bits);
  } else {
    // Elements of less than 8 bits: sixteen in 16 bytes, unless they are packed.
    int const in_row = bits < 8 && !packed ? k / 16 * 128 + k % 16 * bits : k * bits;
    bit = s.bit_of(row, in_row / 8, 8) + in_row % 8;
  }
  for (int i = 0; i < bits; ++i, ++bit) {
    std::uint8_t const one = static_cast<std::uint8_t>(1u << bit % 8);
    if (code >> i & 1)
      image[bit / 8] |= one;
    else
      image[bit / 8] &= static_cast<std::uint8_t>(~one);
  }
}

std::string described(Case const& x) {
  return x.kind + " " + x.a + " " + x.b + " " + x.d + " " + std::to_string(x.rows) + " x " + std::to_string(x.columns) +
         " swizzles " + std::to_string(x.swizzle_a) + " " + std::to_string(x.swizzle_b) +
         (x.a_transposed ? " A^T" : "") + (x.b_transposed ? " B^T" : "") + (x.atoms_of_32 ? " atoms of 32" : "") +
         (x.pair ? " pair" : "") + (x.a_in_tensor_memory ? " A in tensor memory" : "") + (x.stationary ? " ws" : "") +
         (x.masks ? " masks" : "") + " block " + std::to_string(x.block) + " bytes " + std::to_string(x.a_byte) + " " +
         std::to_string(x.b_byte);
}

std::string scale_words(Case const& x) {
  if (x.block == 0) return "";
  return std::string(".block_scale.scale_vec::") + std::to_string(depth_of(x) / x.block) + "X";
}

std::string body_of(Case const& x, std::vector<std::uint32_t> const& masks) {
  std::string const group = x.pair ? "cta_group::2" : "cta_group::1";
  std::string const barrier = x.pair ? " barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;\n" : "";
  std::string const a = x.a_in_tensor_memory ? "[%ta+" + std::to_string(a_column + (x.upper << 20)) + "]" : "%q4";
  std::string text =
      barrier + " mov.b64 %q4, " + std::to_string(stored(x, true).descriptor()) + "; mov.b64 %q5, " +
      std::to_string(stored(x, false).descriptor()) + "; mov.b32 %r4, " + std::to_string(descriptor_of(x)) +
      "; mov.u32 %r5, %cluster_ctarank; mad.lo.u32 %r5, %r0, 2, %r5;\n" + " setp.eq.u32 %done, 0, " +
      (x.adds ? "0" : "1") + "; setp.eq.u32 %p, %r5, " + std::to_string(x.pair ? x.issuer : 0) + ";\n @%p tcgen05.mma" +
      (x.stationary ? ".ws."
       : x.sparse   ? ".sp."
                    : ".") +
      group + ".kind::" + x.kind + scale_words(x) + (x.shifts_rows ? ".ashift" : "") + " [%ta+" +
      std::to_string(d_column + (x.upper << 20)) + "], " + a + ", %q5, " +
      (x.sparse ? "[%ta+" + std::to_string(metadata_column) + "], " : "") + "%r4";
  if (x.masks) {
    text += ", {";
    for (std::size_t i = 0; i < masks.size(); ++i) text += (i ? ", " : "") + std::to_string(masks[i]);
    text += "}";
  }
  if (x.block) text += ", [%ta+" + std::to_string(a_scale_column) + "], [%ta+" + std::to_string(b_scale_column) + "]";
  return text + ", %done" + (x.shift ? ", " + std::to_string(x.shift) : "") + ";\n" + barrier;
}

// What a scale of this byte is worth: an exponent, or a float without a sign.
double scale_value(Case const& x, std::uint32_t byte) {
  return x.scales_are_e4m3 ? format("e4m3").value(byte) : std::ldexp(1.0, static_cast<int>(byte) - 127);
}

struct Data {
  Codes a, b, c;                                   // a: rows by depth; b: depth by columns
  std::vector<std::vector<std::uint32_t>> sa, sb;  // [row or column][block]
  std::vector<std::vector<int>> kept;              // [row], of a sparse A: the places of what is stored
};
Data random_data(Random& random, Case const& x) {
  int const depth = depth_of(x), blocks = x.block ? depth / x.block : 0;
  Data data{random_codes(random, format(x.a), x.rows, depth),
            random_codes(random, format(x.b), depth, x.columns),
            random_codes(random, format(x.d), x.rows, x.columns),
            {},
            {},
            std::vector<std::vector<int>>(static_cast<std::size_t>(x.rows))};
  auto const [kept, of, elements] = sparsity_of(x);
  for (int row = 0; x.sparse && row < x.rows; ++row)
    for (int group = 0; group < depth / elements; group += of) {
      int const first = static_cast<int>(random.below(static_cast<std::uint32_t>(of - kept + 1)));
      int const second =
          kept == 1 ? first : first + 1 + static_cast<int>(random.below(static_cast<std::uint32_t>(3 - first)));
      for (int k = 0; k < of; ++k)
        for (int e = 0; e < elements; ++e) {
          int const place = (group + k) * elements + e;
          if (k == first || k == second)
            data.kept[static_cast<std::size_t>(row)].push_back(place);
          else
            data.a(row, place) = 0;
        }
    }
  // The last row of a group is not moved: it takes part twice.
  for (int row = x.group_rows() - 1; x.shifts_rows && row < x.rows; row += x.group_rows())
    for (int k = 0; k < depth; ++k) data.a(row, k) = data.a(row - 1, k);
  if (x.saturates)
    for (std::uint64_t& code : data.c.code)
      code = random() & 1 ? 0x7fffffff - random.below(100) : 0x80000000 + random.below(100);
  auto const scales = [&](int count) {
    std::vector<std::vector<std::uint32_t>> all(static_cast<std::size_t>(count));
    for (auto& of_one : all)
      for (int i = 0; i < blocks; ++i)
        of_one.push_back(x.scales_are_e4m3
                             ? static_cast<std::uint32_t>(format("e4m3").encode(0.5 * (1 + random.below(4))))
                             : 125 + random.below(5));
    return all;
  };
  data.sa = scales(x.rows);
  data.sb = scales(x.columns);
  return data;
}

double expected_of(Case const& x, Data const& data, int row, int n) {
  double sum = x.adds ? std::ldexp(format(x.d).value(data.c(row, n)), -x.shift) : 0;
  for (int k = 0; k < depth_of(x); ++k) {
    double product = format(x.a).value(data.a(row, k)) * format(x.b).value(data.b(k, n));
    if (x.block) {
      std::size_t const of_k = static_cast<std::size_t>(k / x.block);
      product *= scale_value(x, data.sa[static_cast<std::size_t>(row)][of_k]) *
                 scale_value(x, data.sb[static_cast<std::size_t>(n)][of_k]);
    }
    sum += x.negates_a != x.negates_b ? -product : product;
  }
  if (x.saturates) sum = std::clamp(sum, -2147483648.0, 2147483647.0);
  return sum;
}

void check(Random& random, Case const& x) {
  INFO(described(x));
  Data const data = random_data(random, x);
  int const depth = depth_of(x);
  auto image = random_words(random, x.groups() * 128 * 512);
  auto shared = random_bytes(random, x.groups() * shared_image_bytes);
  std::vector<std::uint32_t> masks = random_words(random, 4 * x.groups());
  auto const cell = [&](int group, int lane, int column) -> std::uint32_t& {
    return image.at(static_cast<std::size_t>((group * 128 + lane) * 512 + column));
  };
  auto const set_byte = [&](int group, int lane, int column, int byte, std::uint32_t value) {
    std::uint32_t& word = cell(group, lane, column);
    word = (word & ~(0xffu << 8 * byte)) | value << 8 * byte;
  };
  // Two bits for each stored element, its place in the group of four; of tf32 four bits, two such places of halves. Of
  // bytes a row's 64 bits lie in two columns; of wider elements the lanes r % 8 + 16 (r / 16), and 8 further for the
  // second half of k, have 16 bits of row r, those of rows 8 to 15 above.
  auto const set_metadata = [&](int group, int row, int stored, int place) {
    int const bits = x.kind == "tf32" ? 4 : 2, at = stored * bits;
    std::uint32_t const code = x.kind == "tf32" ? (place % 2 ? 0b1110 : 0b0100) : static_cast<std::uint32_t>(place % 4);
    bool const wide = x.kind == "tf32" || x.kind == "f16";
    int const lane = wide ? row % 8 + row / 16 * 16 + (at / 16) * 8 : row;
    int const bit = wide ? at % 16 + 16 * (row / 8 % 2) : at % 32;
    std::uint32_t& word = cell(group, lane, metadata_column + x.selector + (wide ? 0 : at / 32));
    word = (word & ~(((1u << bits) - 1) << bit)) | code << bit;
  };
  for (int group = 0; group < x.groups(); ++group) {
    std::uint8_t* const bytes = shared.data() + group * shared_image_bytes;
    for (int r = 0; r < x.group_rows(); ++r) {
      int const row = group * x.group_rows() + r;
      std::vector<int> const* const kept = x.sparse ? &data.kept[static_cast<std::size_t>(row)] : nullptr;
      auto const elements = static_cast<std::size_t>(sparsity_of(x).elements);
      for (std::size_t i = 0; kept && i < kept->size(); i += elements)
        set_metadata(group, r, static_cast<int>(i / elements), (*kept)[i] / static_cast<int>(elements));
      for (int k = 0; k < (kept ? static_cast<int>(kept->size()) : depth); ++k) {
        std::uint64_t const code = data.a(row, kept ? (*kept)[static_cast<std::size_t>(k)] : k);
        if (x.a_in_tensor_memory) {
          int const bits = x.packed() ? 4 : std::max(8, bits_of(x, x.a)), of_cell = 32 / bits;
          int const lane = x.group_rows() == 64 && !x.pair && !x.stationary ? place_of(x, r, 0).lane
                           : x.shifts_rows                                  ? std::min(r + 1, 127)
                                                                            : r;
          std::uint32_t& word = cell(group, lane, a_column + k / of_cell);
          std::uint64_t const shown = x.packed() ? raw(x.a, code) : code;
          std::uint32_t const mask = static_cast<std::uint32_t>((std::uint64_t{1} << bits) - 1);
          word = (word & ~(mask << k % of_cell * bits)) | static_cast<std::uint32_t>(shown) << k % of_cell * bits;
        } else {
          put(bytes, stored(x, true), r, k, bits_of(x, x.a), x.packed(), raw(x.a, code));
        }
      }
      for (int n = 0; n < x.columns; ++n) {
        Cell const at = place_of(x, r, n);
        std::uint32_t const code = static_cast<std::uint32_t>(data.c(row, n));
        std::uint32_t& word = cell(group, at.lane, d_column + at.column);
        word = x.d == "f16" ? (word & 0xffff0000) | code : code;
      }
      // Of every quarter its own copy.
      for (int i = 0; x.block && i < depth / x.block; ++i)
        for (int quarter = 0; quarter < 4; ++quarter)
          set_byte(group, 32 * quarter + r % 32, a_scale_column + r / 32, x.a_byte + i,
                   data.sa[static_cast<std::size_t>(row)][static_cast<std::size_t>(i)]);
    }
    for (int n = 0; n < x.columns; ++n) {
      int const own = n / x.group_columns();
      for (int k = 0; own == group && k < depth; ++k)
        put(bytes, stored(x, false), n % x.group_columns(), k, bits_of(x, x.b), x.packed(), raw(x.b, data.b(k, n)));
      bool const halves = x.pair && x.rows == 128;
      int const within = halves ? n % (x.columns / 2) : n;
      for (int i = 0; x.block && i < depth / x.block; ++i)
        for (int quarter = 0; quarter < 4; ++quarter) {
          if (halves && quarter / 2 != n / (x.columns / 2)) continue;
          set_byte(group, 32 * quarter + within % 32, b_scale_column + within / 32, x.b_byte + i,
                   data.sb[static_cast<std::size_t>(n)][static_cast<std::size_t>(i)]);
        }
    }
  }
  TensorBench bench(body_of(x, masks), true, true, x.pair ? "cta_group::2" : "cta_group::1");
  if (x.pair) bench.launch.grid = bench.launch.cluster = {2, 1, 1};
  bench.image(image);
  bench.shared(shared);
  bench.run();
  REQUIRE(bench.message() == "");
  auto const after = bench.read_image();
  auto expected = image;
  for (int row = 0; row < x.rows; ++row)
    for (int n = 0; n < x.columns; ++n) {
      int const group = row / x.group_rows();
      Cell const at = place_of(x, row % x.group_rows(), n);
      if (x.masks && masks[static_cast<std::size_t>(4 * group + at.lane / 32)] >> at.lane % 32 & 1) continue;
      double const value = expected_of(x, data, row, n);
      std::size_t const index = static_cast<std::size_t>((group * 128 + at.lane) * 512 + d_column + at.column);
      expected[index] = x.d == "f16"   ? static_cast<std::uint32_t>(format("f16").encode(value + 0.0))
                        : x.d == "f32" ? std::bit_cast<std::uint32_t>(static_cast<float>(value))
                                       : static_cast<std::uint32_t>(static_cast<std::int64_t>(value));
      // Zeros have either sign.
      if (x.d != "s32" && value == 0) expected[index] = after[index] & (x.d == "f16" ? 0x8000 : 0x80000000);
    }
  if (after != expected)
    for (std::size_t i = 0; i < after.size(); ++i)
      if (after[i] != expected[i]) {
        INFO("lane " << i / 512 << " column " << i % 512);
        REQUIRE(after[i] == expected[i]);
      }
}

int pick(Random& random, std::initializer_list<int> values) {
  return values.begin()[random.below(static_cast<std::uint32_t>(values.size()))];
}
bool coin(Random& random) {
  return (random() & 1) != 0;
}

void choose_layouts(Random& random, Case& x) {
  bool const bytes = bits_of(x, x.a) >= 8 && bits_of(x, x.b) >= 8;
  x.swizzle_a = pick(random, {16, 32, 64, 128});
  x.swizzle_b = pick(random, {16, 32, 64, 128});
  x.a_in_tensor_memory = (random() & 3) == 0;
  if (bytes) x.a_transposed = !x.a_in_tensor_memory && coin(random);
  if (bytes) x.b_transposed = coin(random);
  x.atoms_of_32 = x.kind == "tf32" && coin(random);
}

struct Types {
  std::string kind, a, b, d;
};
Case case_of(Types const& types) {
  Case x;
  x.kind = types.kind;
  x.a = types.a;
  x.b = types.b;
  x.d = types.d;
  return x;
}
std::vector<Types> const plain = {
    {"f16", "f16", "f16", "f32"},      {"f16", "f16", "f16", "f16"},      {"f16", "bf16", "bf16", "f32"},
    {"tf32", "tf32", "tf32", "f32"},   {"f8f6f4", "e4m3", "e4m3", "f32"}, {"f8f6f4", "e5m2", "e4m3", "f16"},
    {"f8f6f4", "e2m3", "e5m2", "f32"}, {"f8f6f4", "e3m2", "e2m1", "f32"}, {"f8f6f4", "e2m1", "e2m3", "f32"},
    {"i8", "s8", "s8", "s32"},         {"i8", "u8", "s8", "s32"},
};

}  // namespace

TEST_CASE("tcgen05.mma multiplies every type, in every layout of one group") {
  Random random{61};
  for (Types const& types : plain)
    for (int round = 0; round < 8; ++round) {
      Case x = case_of(types);
      x.rows = pick(random, {64, 128});
      bool const coarse = x.kind == "i8";
      x.columns = coarse ? 16 * static_cast<int>(1 + random.below(16)) : 8 * static_cast<int>(1 + random.below(32));
      choose_layouts(random, x);
      if (x.rows == 64 && coin(random)) x.upper = 1;
      x.adds = (random() & 3) != 0;
      x.negates_a = !coarse && coin(random);
      x.negates_b = !coarse && coin(random);
      x.saturates = coarse && x.adds && coin(random);
      x.masks = (random() & 3) == 0;
      if (x.d == "f32" && x.kind != "f8f6f4" && coin(random)) x.shift = static_cast<int>(random.below(4));
      check(random, x);
    }
}

TEST_CASE("tcgen05.mma.ws spreads few rows over all lanes") {
  Random random{62};
  for (Types const& types : plain)
    for (int const rows : {32, 64, 128}) {
      Case x = case_of(types);
      x.rows = rows;
      x.stationary = true;
      x.columns = pick(random, {64, 128, 256});
      choose_layouts(random, x);
      check(random, x);
    }
}

TEST_CASE("tcgen05.mma of a pair takes matrices of both groups, whichever of them issues it") {
  Random random{63};
  for (Types const& types : plain)
    for (int const rows : {128, 256})
      for (int const issuer : {0, 1}) {
        Case x = case_of(types);
        x.rows = rows;
        x.pair = true;
        x.issuer = issuer;
        x.columns = 16 * static_cast<int>(1 + random.below(16));
        choose_layouts(random, x);
        x.masks = coin(random);
        check(random, x);
      }
}

TEST_CASE("tcgen05.mma.sp takes half of A, and the places of it from tensor memory") {
  Random random{66};
  for (Types const& types : plain)
    for (bool const pair : {false, true})
      for (int round = 0; round < 2; ++round) {
        Case x = case_of(types);
        x.sparse = true;
        x.pair = pair;
        x.rows = pair ? 256 : 128;
        x.columns = 16 * static_cast<int>(1 + random.below(16));
        choose_layouts(random, x);
        if (x.swizzle_b == 32) x.swizzle_b = 64;
        x.selector = x.kind == "f16" || x.kind == "tf32" ? static_cast<int>(random.below(2)) : 0;
        check(random, x);
      }
}

TEST_CASE("tcgen05.mma.sp scales blocks, of elements of 4 bits in pairs of which half are stored") {
  Random random{67};
  std::vector<Types> const scaled = {{"mxf8f6f4", "e4m3", "e5m2", "f32"},
                                     {"mxf8f6f4", "e2m1", "e3m2", "f32"},
                                     {"mxf8f6f4", "e2m3", "e4m3", "f32"},
                                     {"mxf4", "e2m1", "e2m1", "f32"},
                                     {"mxf4nvf4", "e2m1", "e2m1", "f32"}};
  for (Types const& types : scaled)
    for (int round = 0; round < 8; ++round) {
      Case x = case_of(types);
      x.sparse = true;
      x.pair = round % 2 == 1;
      x.rows = x.pair ? 256 : 128;
      x.columns = 16 * static_cast<int>(1 + random.below(16));
      choose_layouts(random, x);
      if (x.swizzle_b == 32) x.swizzle_b = 64;
      x.block = 64;  // of all of k, of which A has half
      if (x.kind == "mxf4nvf4" && round % 4 < 2) x.block = 32;
      x.scales_are_e4m3 = x.block == 32;
      int const step = depth_of(x) / x.block;
      x.a_byte = step * static_cast<int>(random.below(static_cast<std::uint32_t>(4 / step)));
      x.b_byte = step * static_cast<int>(random.below(static_cast<std::uint32_t>(4 / step)));
      x.adds = coin(random);
      check(random, x);
    }
}

TEST_CASE("tcgen05.mma with .ashift takes each row of A from the lane after it") {
  Random random{68};
  for (Types const& types : plain)
    for (bool const pair : {false, true}) {
      Case x = case_of(types);
      x.shifts_rows = x.a_in_tensor_memory = true;
      x.pair = pair;
      x.rows = pair ? 256 : 128;
      x.columns = 32 * static_cast<int>(1 + random.below(8));
      x.swizzle_b = pick(random, {16, 32, 64, 128});
      x.masks = coin(random);
      check(random, x);
    }
}

TEST_CASE("tcgen05.mma scales blocks of every kind, with the bytes that the descriptor names") {
  Random random{64};
  std::vector<Types> const scaled = {{"mxf8f6f4", "e4m3", "e5m2", "f32"},
                                     {"mxf8f6f4", "e2m1", "e2m3", "f32"},
                                     {"mxf8f6f4", "e3m2", "e4m3", "f32"},
                                     {"mxf4", "e2m1", "e2m1", "f32"},
                                     {"mxf4nvf4", "e2m1", "e2m1", "f32"}};
  for (Types const& types : scaled)
    for (int round = 0; round < 9; ++round) {
      Case x = case_of(types);
      x.pair = round % 3 == 2;
      x.rows = x.pair ? pick(random, {128, 256}) : 128;
      x.columns = 16 * static_cast<int>(1 + random.below(16));
      choose_layouts(random, x);
      x.block = 32;
      if (x.kind == "mxf4nvf4" && round % 2 == 0) x.block = 16;
      x.scales_are_e4m3 = x.block == 16;
      int const step = x.kind == "mxf8f6f4" ? 1 : x.block == 16 ? 4 : 2;
      x.a_byte = step * static_cast<int>(random.below(static_cast<std::uint32_t>(4 / step)));
      x.b_byte = step * static_cast<int>(random.below(static_cast<std::uint32_t>(4 / step)));
      x.adds = coin(random);
      check(random, x);
    }
}

namespace {

std::string message_of(Case const& x, std::string body = "") {
  TensorBench bench(body.empty() ? body_of(x, {}) : body, true, true, x.pair ? "cta_group::2" : "cta_group::1");
  if (x.pair) bench.launch.grid = bench.launch.cluster = {2, 1, 1};
  bench.image(std::vector<std::uint32_t>(static_cast<std::size_t>(x.groups() * 128 * 512)));
  bench.run();
  return bench.message();
}
std::string with(std::string text, std::string const& old, std::string const& fresh) {
  return text.replace(text.find(old), old.size(), fresh);
}

}  // namespace

TEST_CASE("tcgen05.mma names what is wrong with its descriptors") {
  Case const x;
  CHECK(message_of(x) == "");
  auto const shaped = [&](std::uint32_t word) {
    return message_of(x, with(body_of(x, {}), std::to_string(descriptor_of(x)), std::to_string(word)));
  };
  std::uint32_t const word = descriptor_of(x);
  CHECK_THAT(shaped(word | 1u << 2), Contains("says a sparse matrix, the instruction does not"));
  CHECK_THAT(shaped(word | 1u << 7), Contains("names types that this kind of product does not have"));
  CHECK_THAT(shaped(word | 2u << 4), Contains("names types that this kind of product does not have"));
  CHECK_THAT(shaped(word & ~(63u << 17)), Contains("names a shape that this product does not have"));
  CHECK_THAT(shaped(word | 63u << 17), Contains("names a shape that this product does not have"));
  CHECK_THAT(shaped(word & ~(31u << 24)), Contains("names a shape that this product does not have"));
  CHECK_THAT(shaped((word & ~(31u << 24)) | 16u << 24), Contains("names a shape that this product does not have"));
  auto const replaced = [&](std::string const& old, std::string const& fresh) {
    return message_of(x, with(body_of(x, {}), old, fresh));
  };
  std::string const a = std::to_string(stored(x, true).descriptor()), b = std::to_string(stored(x, false).descriptor());
  CHECK_THAT(replaced(a, "0"), Contains("not a matrix descriptor of tcgen05"));
  CHECK_THAT(replaced(b, "0"), Contains("not a matrix descriptor of tcgen05"));
  StoredMatrix far = stored(x, false);
  far.start = 0x3fff0;
  CHECK_THAT(replaced(b, std::to_string(far.descriptor())), Contains("shared load of 16 bytes at offset"));
  far = stored(x, true);
  far.stride = 0x3fff0;
  CHECK_THAT(replaced(a, std::to_string(far.descriptor())), Contains("shared load of 16 bytes at offset"));
  CHECK_THAT(replaced("[%ta+0]", "[%ta+449]"),
             Contains("of columns 449 to 512 of tensor memory, which do not all exist"));
  CHECK_THAT(replaced("[%ta+0]", "[%ta+65536]"), Contains("lanes 1 to 128"));
  CHECK_THAT(replaced("%q4, %q5", "[%ta+507], %q5"), Contains("columns 507 to 514"));
  Case sparse;
  sparse.sparse = true;
  sparse.swizzle_b = 64;
  CHECK(message_of(sparse) == "");
  CHECK_THAT(message_of(sparse, with(body_of(sparse, {}), "[%ta+430]", "[%ta+512]")), Contains("columns 512 to 512"));
  sparse.swizzle_b = 32;
  CHECK_THAT(message_of(sparse), Contains("a swizzle of 32 bytes of a matrix with 64 bytes of k is not emulated"));
  sparse.rows = 64;
  CHECK_THAT(message_of(sparse), Contains("less than 128 rows in a group are not emulated"));
  Case scaled;
  scaled.kind = "mxf8f6f4";
  scaled.a = scaled.b = "e4m3";
  scaled.block = 32;
  CHECK(message_of(scaled) == "");
  CHECK_THAT(message_of(scaled, with(body_of(scaled, {}), "[%ta+400]", "[%ta+511]")), Contains("columns 511 to 514"));
  scaled.scales_are_e4m3 = true;
  CHECK_THAT(message_of(scaled), Contains("names scales that this kind of product does not have"));
  Case shifted;
  shifted.a_in_tensor_memory = shifted.shifts_rows = true;
  CHECK(message_of(shifted) == "");
  shifted.rows = 64;
  CHECK_THAT(message_of(shifted), Contains("shift rows of less than 128"));
  Case masked;
  masked.stationary = true;
  auto const with_mask = [&](std::uint64_t mask) {
    return message_of(masked, with(body_of(masked, {}), ", %done;", ", %done, " + std::to_string(mask) + ";"));
  };
  CHECK(with_mask(0) == "");
  CHECK(with_mask(std::uint64_t{5} << 40) == "");  // spans of no mask
  CHECK_THAT(with_mask(std::uint64_t{1} << 39), Contains("a mask of columns is not emulated"));
  CHECK_THAT(with_mask(std::uint64_t{2} << 56), Contains("a mask of columns is not emulated"));
  Case pair;
  pair.pair = true;
  pair.rows = 256;
  CHECK(message_of(pair) == "");
  CHECK_THAT(message_of(x, with(body_of(x, {}), "cta_group::1", "cta_group::2")),
             Contains("needs a cluster with an even number of groups"));
}

TEST_CASE("no descriptor of tcgen05 harms the host") {
  Random random{65};
  auto const near = [&](std::uint64_t valid) {
    if ((random() & 3) == 0) return random();
    for (int bits = static_cast<int>(random.below(6)); bits > 0; --bits) valid ^= std::uint64_t{1} << random.below(64);
    return valid;
  };
  int found = 0;
  for (int round = 0; round < 300; ++round) {
    Case x;
    x.pair = (random() & 3) == 0;
    if (x.pair) x.rows = 256;
    if (random() & 1) {
      x.kind = "mxf8f6f4";
      x.a = x.b = "e4m3";
      x.block = 32;
    }
    x.a_in_tensor_memory = coin(random);
    x.sparse = (random() & 3) == 0;
    x.shifts_rows = x.a_in_tensor_memory && !x.sparse && x.block == 0 && coin(random);
    if (x.sparse) x.rows = x.pair ? 256 : 128, x.swizzle_b = 64;
    if (x.sparse && x.block) x.block = 64;
    std::string body = body_of(x, {});
    body = with(body, std::to_string(stored(x, true).descriptor()), std::to_string(near(stored(x, true).descriptor())));
    body =
        with(body, std::to_string(stored(x, false).descriptor()), std::to_string(near(stored(x, false).descriptor())));
    body = with(body, std::to_string(descriptor_of(x)),
                std::to_string(static_cast<std::uint32_t>(near(descriptor_of(x)))));
    for (std::string const place : {"[%ta+0]", "[%ta+300]", "[%ta+400]", "[%ta+416]", "[%ta+430]"})
      if (body.find(place) != std::string::npos && (random() & 3) == 0)
        body = with(body, place, "[%ta+" + std::to_string(static_cast<std::uint32_t>(near(400))) + "]");
    if (random() & 1)
      body += " setp.eq.u32 %p, %r0, 0; mov.b64 %q4, " + std::to_string(near(stored(x, true).descriptor())) +
              ";\n @%p tcgen05.cp.cta_group::1.64x128b.warpx2::01_23 [%ta+" +
              std::to_string(static_cast<std::uint32_t>(near(8))) + "], %q4;\n";
    found += message_of(x, body) != "";
  }
  CHECK(found > 100);
  CHECK(found < 300);
}

TEST_CASE("tcgen05.mma refuses what is not emulated, or does not exist") {
  for (std::string const instruction :
       {"tcgen05.mma.sp.cta_group::1.kind::f16.ashift [%ta], [%ta], %q5, [%ta], %r4, %done",
        "tcgen05.mma.ws.sp.cta_group::1.kind::f16 [%ta], %q4, %q5, [%ta], %r4, %done",
        "tcgen05.mma.cta_group::1.kind::f16.ashift [%ta], %q4, %q5, %r4, %done",
        "tcgen05.mma.cta_group::1.kind::f16.ashift.collector::a::fill [%ta], [%ta], %q5, %r4, %done",
        "tcgen05.mma.cta_group::1.kind::f64 [%ta], %q4, %q5, %r4, %done",
        "tcgen05.mma.cta_group::1.kind::mxf4 [%ta], %q4, %q5, %r4, [%ta], [%ta], %done",
        "tcgen05.mma.cta_group::1.kind::f16 [%ta], %q4, %q5, %r4, {%r4, %r4}, %done",
        "tcgen05.mma.cta_group::1.kind::f16 [%ta], %q4, %q5, %r4, %done, 16",
        "tcgen05.mma.cta_group::1.kind::i8 [%ta], %q4, %q5, %r4, %done, 1",
        "tcgen05.mma.ws.cta_group::1.kind::f16 [%ta], %q4, %q5, %r4, %done, %q6, 1",
        "tcgen05.mma.ws.cta_group::2.kind::f16 [%ta], %q4, %q5, %r4, %done"}) {
    INFO(instruction);
    TensorBench bench(" " + instruction + ";\n", true, false);
    bench.image({});
    bench.run();
    REQUIRE(bench.outcome.finding);
    CHECK(bench.outcome.finding->kind == Finding::Kind::unknown_opcode);
  }
}

namespace {

struct Products : Observer {
  std::map<std::string, double> flop;
  std::uint64_t bytes = 0;
  void product(std::uint32_t, std::uint32_t, char const* kind, double work) override { flop[kind] += work; }
  void memory(MemoryAccess const& a) override {
    if (a.space != kernelcast::ptx::StateSpace::shared || a.direction != Direction::load || a.bytes_per_lane != 16)
      return;
    for (std::uint32_t w = 0; w < a.lanes.warps; ++w)
      bytes += static_cast<std::uint64_t>(std::popcount(a.lanes.masks[w])) * a.bytes_per_lane;
  }
  std::unique_ptr<Observer> fork() const override { return std::make_unique<Products>(); }
  void join(Observer const& other) override {
    for (auto const& [kind, work] : static_cast<Products const&>(other).flop) flop[kind] += work;
    bytes += static_cast<Products const&>(other).bytes;
  }
};

}  // namespace

TEST_CASE("observers hear of the operations of a product and of what it loads") {
  for (bool const pair : {false, true}) {
    Case x;
    x.pair = pair;
    x.rows = pair ? 256 : 128;
    x.columns = 96;
    TensorBench bench(body_of(x, {}), true, true, pair ? "cta_group::2" : "cta_group::1");
    if (pair) bench.launch.grid = bench.launch.cluster = {2, 1, 1};
    bench.image(std::vector<std::uint32_t>(static_cast<std::size_t>(x.groups() * 128 * 512)));
    Products seen;
    Observer* const observers[] = {&seen};
    bench.run(observers);
    REQUIRE(bench.message() == "");
    CHECK(seen.flop == std::map<std::string, double>{{"tcgen05/f16/f32", 2.0 * x.rows * 96 * 16}});
    CHECK(seen.bytes == static_cast<std::uint64_t>(32 * (x.group_rows() + x.group_columns())));
  }
}
