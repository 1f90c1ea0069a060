// mma of a sparse A and with factors for blocks, against the product by its definition: A is made with its zeros,
// packed here, and multiplied here with them. Layouts are those of the PTX manual, one by one, as it writes them.
#include <fstream>

#include <unistd.h>

#include "catch.hpp"
#include "matrix_sparse.hpp"

using namespace kernelcast::emu;
using namespace kernelcast::emu::test;

namespace {

struct Case {
  int k = 0;
  std::string a, b, sum;  // types; of 4 bits packed: e2m1_packed
  std::string kind;       // ".kind::…" with what belongs to it
  bool sparse = false;
  std::string factors;  // the type of the scales
  int blocks = 0;       // of a row
};

int bits_of(Case const& x) {
  return static_cast<int>(format(x.a).bits);
}
std::string word_of(std::string const& type) {
  return type == "e2m1_packed" ? "e2m1" : type;
}

// Element i of a lane: its row, and its column among the elements that are stored.
std::pair<int, int> a_at(Case const& x, int lane, int i) {
  int const of_register = 32 / bits_of(x), elements = x.k / (x.sparse ? 2 : 1) / 2;
  bool const upper = i / of_register % 2 != 0;
  int const row = upper ? (lane >> 2) + 8 : (lane >> 2);
  if (!x.sparse) return {row, (lane % 4) * of_register + i % of_register + (i / (2 * of_register)) * 4 * of_register};
  // "col = [firstcol ... lastcol]", of which half are stored.
  int first = 0;
  if (bits_of(x) == 32) first = (lane % 4) * 2 + (i < 2 ? 0 : 8);
  if (bits_of(x) == 16) first = (lane % 4) * 4 + (i < 4 ? 0 : 16);
  if (bits_of(x) == 8) first = (lane % 4) * 8 + (i < 8 ? 0 : 32);
  if (bits_of(x) == 4) first = (lane % 4) * 16 + (i < 16 ? 0 : 64);
  REQUIRE(i < elements);
  return {row, first / 2 + i % of_register};
}
std::pair<int, int> b_at(Case const& x, int lane, int i) {
  if (bits_of(x) == 32) return {(lane % 4) + 4 * i, (lane >> 2)};
  if (bits_of(x) == 16) return {(lane % 4) * 2 + (i & 1) + 8 * (i / 2), (lane >> 2)};
  if (bits_of(x) == 8) return {(lane % 4) * 4 + (i & 3) + 16 * (i / 4), (lane >> 2)};
  return {(lane % 4) * 8 + (i & 7) + 32 * (i / 8), (lane >> 2)};
}
std::pair<int, int> sum_at(int lane, int i) {
  return {i < 2 ? (lane >> 2) : (lane >> 2) + 8, (lane % 4) * 2 + (i & 1)};
}

// What a factor is worth.
double factor(std::string const& type, unsigned code) {
  if (type == "ue8m0") return code == 255 ? NAN : std::ldexp(1.0, static_cast<int>(code) - 127);
  return format("e4m3").value(code & 0x7f);
}

std::string opcode_of(Case const& x, bool ordered = true) {
  return "mma" + std::string(x.sparse ? ordered ? ".sp::ordered_metadata" : ".sp" : "") + ".sync.aligned.m16n8k" +
         std::to_string(x.k) + ".row.col" + x.kind + "." + x.sum + "." + word_of(x.a) + "." + word_of(x.b) + "." +
         x.sum + (x.factors.empty() ? "" : "." + x.factors);
}
int registers_of(Case const& x, int rows) {
  return rows * x.k * bits_of(x) / 1024;
}

// As the instruction has them; %t0: metadata, %t1 and %t2: factors.
std::string instruction(Case const& x, bool ordered, int selector, std::string const& of_a, std::string const& of_b) {
  int const sums = static_cast<int>(format(x.sum).bits) / 8;
  std::string text = " " + opcode_of(x, ordered) + " " + register_list('d', sums) + ", " +
                     register_list('a', registers_of(x, x.sparse ? 8 : 16)) + ", " +
                     register_list('b', registers_of(x, 8)) + ", " + register_list('c', sums);
  if (x.sparse) text += ", %t0, " + std::to_string(selector);
  if (x.blocks) text += ", %t1, " + of_a + ", {%t2}, " + of_b;
  return text + ";\n";
}
std::string const register_names = " .reg .b16 %h<4>; .reg .b32 %a<8>, %b<8>;\n";
std::string sum_registers(Case const& x) {
  return std::string(" .reg ") + (x.sum == "f32" ? ".f32" : ".b32") + " %c<8>, %d<8>;\n";
}

struct Ids {
  int byte_a = 0, thread_a = 0, byte_b = 0, thread_b = 0;
};
struct Result {
  Codes d{16, 8};
  std::string finding;
};

Result run_case(Case const& x, Codes const& a, Codes const& b, Codes const& c, std::vector<std::uint32_t> const& extra,
                bool ordered, int selector, Ids const& ids, bool in_registers) {
  int const sum_bits = static_cast<int>(format(x.sum).bits), sums = sum_bits / 8;
  auto const pair = [&](int byte, int thread, std::string const& registers) {
    return in_registers ? registers : "{" + std::to_string(byte) + ", " + std::to_string(thread) + "}";
  };
  std::string text = register_names + sum_registers(x) +
                     move_registers('a', registers_of(x, x.sparse ? 8 : 16), false, "pa", false) +
                     move_registers('b', registers_of(x, 8), false, "pb", false) +
                     move_registers('c', sums, false, "pc", false) + move_registers('t', 3, false, "pd", false);
  for (auto const& [name, value] :
       {std::pair{"%h0", ids.byte_a}, {"%h1", ids.thread_a}, {"%h2", ids.byte_b}, {"%h3", ids.thread_b}})
    text += " mov.b16 " + std::string(name) + ", " + std::to_string(value) + ";\n";
  text += instruction(x, ordered, selector, pair(ids.byte_a, ids.thread_a, "{%h0, %h1}"),
                      pair(ids.byte_b, ids.thread_b, "{%h2, %h3}")) +
          " bar.warp.sync 0xffffffff;\n" + move_registers('d', sums, false, "pd", true);
  Bench bench = matrix_bench(text);
  auto const a_layout = [&](int lane, int i) { return a_at(x, lane, i); };
  auto const b_layout = [&](int lane, int i) { return b_at(x, lane, i); };
  bench.buffer("a", fragment_words(a, format(x.a).bits, a.columns / 2, a_layout));
  bench.buffer("b", fragment_words(b, format(x.b).bits, x.k / 4, b_layout));
  bench.buffer("c", fragment_words(c, format(x.sum).bits, 4, sum_at));
  std::vector<std::uint32_t> words = extra;  // read before the result takes their place
  words.resize(std::size_t{32} * 4);
  std::uint64_t const d = bench.buffer("d", words);
  bench.run();
  Result result;
  if (bench.outcome.finding) {
    result.finding = bench.outcome.finding->message;
    return result;
  }
  std::vector<std::uint32_t> out = bench.read<std::uint32_t>(d);
  out.resize(static_cast<std::size_t>(32 * sums));
  result.d = matrix_of(out, 16, 8, format(x.sum).bits, 4, sum_at);
  return result;
}

std::vector<Case> sparse_cases() {
  std::vector<Case> all;
  for (std::string const sum : {"f16", "f32"})
    for (int const k : {16, 32}) all.push_back({k, "f16", "f16", sum, "", true, "", 0});
  for (int const k : {16, 32}) all.push_back({k, "bf16", "bf16", "f32", "", true, "", 0});
  for (int const k : {8, 16}) all.push_back({k, "tf32", "tf32", "f32", "", true, "", 0});
  for (auto const& [a, b] : {std::pair{"s8", "s8"}, {"u8", "u8"}, {"s8", "u8"}, {"u8", "s8"}})
    for (int const k : {32, 64})
      for (std::string const word : {"", ".satfinite"}) all.push_back({k, a, b, "s32", word, true, "", 0});
  for (auto const& [a, b] : {std::pair{"s4", "s4"}, {"u4", "u4"}, {"u4", "s4"}, {"s4", "u4"}})
    for (int const k : {64, 128}) all.push_back({k, a, b, "s32", ".satfinite", true, "", 0});
  for (auto const& [a, b] : {std::pair{"e4m3", "e4m3"}, {"e5m2", "e5m2"}, {"e4m3", "e5m2"}})
    all.push_back({64, a, b, "f32", "", true, "", 0});
  for (auto const& [a, b] : {std::pair{"e3m2", "e2m3"}, {"e2m1", "e4m3"}, {"e2m3", "e2m1"}})
    for (std::string const sum : {"f16", "f32"}) all.push_back({64, a, b, sum, ".kind::f8f6f4", true, "", 0});
  return all;
}
std::vector<Case> scaled_cases() {
  std::vector<Case> all;
  for (bool const sparse : {false, true}) {
    int const twice = sparse ? 2 : 1;
    for (std::string const word : {"", ".scale_vec::1X"})
      for (auto const& [a, b] : {std::pair{"e4m3", "e4m3"}, {"e3m2", "e2m3"}, {"e2m1", "e5m2"}})
        all.push_back({32 * twice, a, b, "f32", ".kind::mxf8f6f4.block_scale" + word, sparse, "ue8m0", 1});
    for (std::string const word : {"", ".scale_vec::2X"})
      all.push_back(
          {64 * twice, "e2m1_packed", "e2m1_packed", "f32", ".kind::mxf4.block_scale" + word, sparse, "ue8m0", 2});
    all.push_back({64 * twice, "e2m1_packed", "e2m1_packed", "f32", ".kind::mxf4nvf4.block_scale.scale_vec::2X", sparse,
                   "ue8m0", 2});
    all.push_back({64 * twice, "e2m1_packed", "e2m1_packed", "f32", ".kind::mxf4nvf4.block_scale.scale_vec::4X", sparse,
                   "ue4m3", 4});
  }
  return all;
}

}  // namespace

TEST_CASE("mma.sp multiplies every shape and type as the definition says, with every selector") {
  Random random{41};
  for (Case const& x : sparse_cases())
    for (bool const ordered : {true, false})
      for (int selector = 0; selector < selectors_of(bits_of(x), x.k); ++selector)
        for (int round = 0; round < 2; ++round) {
          INFO(opcode_of(x, ordered) << " selector " << selector);
          Sparse const a = sparse_matrix(random, format(x.a), x.k, selector, ordered);
          Codes const b = random_codes(random, format(x.b), x.k, 8);
          Codes c = random_codes(random, format(x.sum), 16, 8);
          if (x.sum == "s32" && round == 1)
            for (std::uint64_t& code : c.code)
              code = random() & 1 ? 0x7fffffff - random.below(100) : 0x80000000 + random.below(100);
          std::vector<std::uint32_t> extra(96);
          for (std::size_t lane = 0; lane < 32; ++lane) extra[3 * lane] = a.metadata[lane];
          Result const r = run_case(x, a.stored, b, c, extra, ordered, selector, {}, false);
          REQUIRE(r.finding == "");
          for (int row = 0; row < 16; ++row)
            for (int column = 0; column < 8; ++column) {
              INFO("row " << row << " column " << column);
              double const before = format(x.sum).value(c(row, column));
              double expected = product_at(a.whole, format(x.a), b, format(x.b), before, row, column);
              if (x.sum != "s32") {
                REQUIRE(format(x.sum).value(r.d(row, column)) == expected);
                continue;
              }
              if (x.kind == ".satfinite") expected = std::clamp(expected, -2147483648.0, 2147483647.0);
              REQUIRE(r.d(row, column) == static_cast<std::uint32_t>(static_cast<std::int64_t>(expected)));
            }
        }
}

TEST_CASE("mma with factors for blocks multiplies each block by its own, from every byte and lane") {
  Random random{42};
  for (Case const& x : scaled_cases())
    for (int round = 0; round < 6; ++round) {
      Ids ids{static_cast<int>(random.below(4)), static_cast<int>(random.below(2)), static_cast<int>(random.below(4)),
              static_cast<int>(random.below(4))};
      ids.byte_a -= ids.byte_a % x.blocks;
      ids.byte_b -= ids.byte_b % x.blocks;
      INFO(opcode_of(x) << " A " << ids.byte_a << ", " << ids.thread_a << " B " << ids.byte_b << ", " << ids.thread_b);
      Sparse sparse{Codes(16, x.k), Codes(16, x.k / 2), std::vector<std::uint32_t>(32)};
      if (x.sparse) sparse = sparse_matrix(random, format(x.a), x.k, 0, true);
      Codes const a = x.sparse ? sparse.whole : random_codes(random, format(x.a), 16, x.k);
      Codes const b = random_codes(random, format(x.b), x.k, 8), c = random_codes(random, format("f32"), 16, 8);
      // Factors, and NaN wherever none is meant.
      std::vector<std::uint32_t> extra(96, x.factors == "ue8m0" ? 0xffffffffu : 0x7f7f7f7fu);
      unsigned of_a[16][4], of_b[8][4];
      auto const put = [&](unsigned code, int lane, int byte, int operand) {
        std::uint32_t& word = extra.at(static_cast<std::size_t>(3 * lane + operand));
        word = (word & ~(0xffu << 8 * byte)) | code << 8 * byte;
      };
      auto const draw = [&] {
        return static_cast<unsigned>(x.factors == "ue8m0" ? 124 + random.below(7) : 0x28 + random.below(0x20));
      };
      for (int block = 0; block < x.blocks; ++block) {
        for (int row = 0; row < 16; ++row)  // lanes 0 and 1 of a quad, or 2 and 3, have rows g and g + 8
          put(of_a[row][block] = draw(), row % 8 * 4 + 2 * ids.thread_a + (row < 8 ? 0 : 1), ids.byte_a + block, 1);
        for (int column = 0; column < 8; ++column)
          put(of_b[column][block] = draw(), column * 4 + ids.thread_b, ids.byte_b + block, 2);
      }
      for (std::size_t lane = 0; lane < 32; ++lane) extra[3 * lane] = sparse.metadata[lane];
      Result const r = run_case(x, x.sparse ? sparse.stored : a, b, c, extra, true, 0, ids, round % 2);
      REQUIRE(r.finding == "");
      for (int row = 0; row < 16; ++row)
        for (int column = 0; column < 8; ++column) {
          long double sum = format("f32").value(c(row, column));
          for (int block = 0; block < x.blocks; ++block) {
            long double part = 0;
            for (int k = x.k / x.blocks * block; k < x.k / x.blocks * (block + 1); ++k)
              part += static_cast<long double>(format(x.a).value(a(row, k)) * format(x.b).value(b(k, column)));
            sum += part * static_cast<long double>(factor(x.factors, of_a[row][block]) *
                                                   factor(x.factors, of_b[column][block]));
          }
          INFO("row " << row << " column " << column);
          REQUIRE(format("f32").value(r.d(row, column)) == static_cast<float>(static_cast<double>(sum)));
        }
    }
}

TEST_CASE("a factor that is not a number makes its row or column one") {
  Random random{43};
  Case const x{64, "e2m1_packed", "e2m1_packed", "f32", ".kind::mxf4.block_scale", false, "ue8m0", 2};
  Codes const a = random_codes(random, format(x.a), 16, 64), b = random_codes(random, format(x.b), 64, 8);
  Codes const c = random_codes(random, format("f32"), 16, 8);
  std::vector<std::uint32_t> extra(96, 0x7f7f7f7f);
  extra[3 * (5 * 4 + 1) + 1] = 0x7f7fff7f;  // row 13, second block
  extra[3 * (2 * 4) + 2] = 0x7f7f7fff;      // column 2, first block
  Result const r = run_case(x, a, b, c, extra, true, 0, {}, false);
  REQUIRE(r.finding == "");
  for (int row = 0; row < 16; ++row)
    for (int column = 0; column < 8; ++column)
      CHECK(std::isnan(format("f32").value(r.d(row, column))) == (row == 13 || column == 2));
}

TEST_CASE("what lies opposite of zeros of a sparse A is not multiplied") {
  Random random{44};
  Case const x{16, "f16", "f16", "f32", "", true, "", 0};
  Codes const a = random_codes(random, format("f16"), 16, 8), c(16, 8);
  Codes b(16, 8);
  for (int k = 0; k < 16; ++k)
    for (int column = 0; column < 8; ++column) b(k, column) = k % 4 < 2 ? 0x3c00 : 0x7c00;  // 1, infinity
  std::vector<std::uint32_t> extra(96);
  for (std::size_t lane = 0; lane < 32; ++lane) extra[3 * lane] = 0x44444444;  // the first two of four
  Result const r = run_case(x, a, b, c, extra, true, 0, {}, false);
  REQUIRE(r.finding == "");
  for (int row = 0; row < 16; ++row) {
    double sum = 0;
    for (int i = 0; i < 8; ++i) sum += format("f16").value(a(row, i));
    for (int column = 0; column < 8; ++column) CHECK(format("f32").value(r.d(row, column)) == sum);
  }
}

TEST_CASE("selectors and words of these products that do not exist are refused") {
  Case const f16{32, "f16", "f16", "f32", "", true, "", 0};
  Case const x1{32, "e4m3", "e4m3", "f32", ".kind::mxf8f6f4.block_scale", false, "ue8m0", 1};
  Case const x2{64, "e2m1_packed", "e2m1_packed", "f32", ".kind::mxf4.block_scale", false, "ue8m0", 2};
  Case const x4{64, "e2m1_packed", "e2m1_packed", "f32", ".kind::mxf4nvf4.block_scale.scale_vec::4X", false, "ue4m3",
                4};
  auto const finding = [](Case const& x, int selector, Ids const& ids, bool in_registers) {
    Codes const a(16, x.sparse ? x.k / 2 : x.k), b(x.k, 8), c(16, 8);
    return run_case(x, a, b, c, std::vector<std::uint32_t>(96), true, selector, ids, in_registers).finding;
  };
  CHECK(finding(f16, 2, {}, false).find("sparsity selector 2, which this shape does not have") != std::string::npos);
  CHECK(finding(x1, 0, {3, 1, 3, 3}, true) == "");
  for (bool const in_registers : {false, true}) {
    CHECK(finding(x1, 0, {0, 2, 0, 0}, in_registers).find("the thread-id of A must be 0 or 1") != std::string::npos);
    CHECK(finding(x1, 0, {0, 0, 0, 4}, in_registers).find("the thread-id of B must be 0 to 3") != std::string::npos);
    CHECK(finding(x1, 0, {4, 0, 0, 0}, in_registers).find("a byte-id must be") != std::string::npos);
    CHECK(finding(x2, 0, {1, 0, 0, 0}, in_registers).find("a byte-id must be") != std::string::npos);
    CHECK(finding(x4, 0, {0, 0, 2, 0}, in_registers).find("a byte-id must be") != std::string::npos);
  }
  for (Case wrong :
       {Case{64, "e2m1_packed", "e2m1_packed", "f32", ".kind::mxf4.block_scale.scale_vec::4X", false, "ue8m0", 4},
        Case{64, "e2m1_packed", "e2m1_packed", "f32", ".kind::mxf4nvf4.block_scale", false, "ue8m0", 2},
        Case{64, "e2m1_packed", "e2m1_packed", "f32", ".kind::mxf4nvf4.block_scale.scale_vec::2X", false, "ue4m3", 2},
        Case{64, "e2m1_packed", "e2m1_packed", "f16", ".kind::mxf4.block_scale", false, "ue8m0", 2},
        Case{32, "e4m3", "e4m3", "f32", ".kind::f8f6f4.block_scale", false, "ue8m0", 1},
        Case{16, "s8", "s8", "s32", "", true, "", 0}, Case{32, "f16", "bf16", "f32", "", true, "", 0}})
    CHECK(finding(wrong, 0, {}, false).find("cannot be executed") != std::string::npos);
}

// Where ptxas is installed: it takes all products of these tests.
TEST_CASE("ptxas accepts sparse products and those with factors") {
  if (std::system("command -v ptxas >/dev/null 2>&1") != 0 ||
      std::system("ptxas --version | grep -q 'release 13'") != 0) {
    std::puts("kernelcast-skipped: no ptxas of CUDA 13");
    return;
  }
  char const* scratch = std::getenv("TMPDIR");
  std::string const path = std::string(scratch ? scratch : "/tmp") + "/kernelcast-products-" + std::to_string(getpid());
  std::ofstream(path + ".ptx") << [&] {
    std::string text = ".version 9.0\n.target sm_120a\n.address_size 64\n.visible .entry k() {\n" + register_names +
                       " .reg .b32 %t<4>;\n";
    for (auto const& list : {sparse_cases(), scaled_cases()})
      for (Case const& x : list) {
        bool const four_bits = x.a == "s4" || x.a == "u4" || x.a == "f16";
        text += " {\n" + sum_registers(x) +
                instruction(x, !four_bits || x.blocks, selectors_of(bits_of(x), x.k) - 1, "{0, 1}", "{%h0, %h1}") +
                " }\n";
      }
    return text + " ret;\n}\n";
  }();
  CHECK(std::system(("ptxas -O0 -arch=sm_120a -o /dev/null " + path + ".ptx 2>&1 | grep -v Advisory").c_str()) != 0);
  std::remove((path + ".ptx").c_str());
}
