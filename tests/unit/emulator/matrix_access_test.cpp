// wmma, ldmatrix, stmatrix, movmatrix: against matrices in memory.
#include "catch.hpp"
#include "matrix_bench.hpp"

using namespace kernelcast::emu;
using namespace kernelcast::emu::test;

namespace {

// Codes as memory has them: rows (or columns) at `stride` elements from each other, from byte `offset` on.
std::vector<std::uint8_t> memory_of(Codes const& m, unsigned bits, int stride, bool column_major, std::size_t offset) {
  int const lines = column_major ? m.columns : m.rows;
  std::vector<std::uint8_t> bytes(offset + static_cast<std::size_t>(lines * stride) * std::max(bits, 1u) / 8 + 8, 0);
  for (int row = 0; row < m.rows; ++row)
    for (int column = 0; column < m.columns; ++column) {
      std::size_t const element =
          static_cast<std::size_t>(column_major ? column * stride + row : row * stride + column);
      for (unsigned bit = 0; bit < bits; ++bit)
        bytes[offset + (element * bits + bit) / 8] |=
            static_cast<std::uint8_t>((m(row, column) >> bit & 1) << (element * bits + bit) % 8);
    }
  return bytes;
}
std::uint64_t code_at(std::vector<std::uint8_t> const& bytes, unsigned bits, std::size_t element) {
  std::uint64_t code = 0;
  std::memcpy(&code, bytes.data() + element * bits / 8, bits / 8);
  return code;
}

struct Wmma {
  std::string shape;
  int m, n, k;
  std::string type, sum;
  int a_registers, b_registers, c_registers;
};

std::vector<Wmma> shapes() {
  std::vector<Wmma> all;
  struct Size {
    std::string name;
    int m, n, k;
  };
  for (Size const& s : {Size{"m16n16k16", 16, 16, 16}, Size{"m8n32k16", 8, 32, 16}, Size{"m32n8k16", 32, 8, 16}}) {
    all.push_back({s.name, s.m, s.n, s.k, "f16", "f32", 8, 8, 8});
    all.push_back({s.name, s.m, s.n, s.k, "f16", "f16", 8, 8, 4});
    all.push_back({s.name, s.m, s.n, s.k, "bf16", "f32", s.m / 4, s.n / 4, 8});
    all.push_back({s.name, s.m, s.n, s.k, "s8", "s32", s.m / 8, s.n / 8, 8});
    all.push_back({s.name, s.m, s.n, s.k, "u8", "s32", s.m / 8, s.n / 8, 8});
  }
  all.push_back({"m16n16k8", 16, 16, 8, "tf32", "f32", 4, 4, 8});
  all.push_back({"m8n8k4", 8, 8, 4, "f64", "f64", 1, 1, 2});
  for (std::string const type : {"s4", "u4"}) all.push_back({"m8n8k32", 8, 8, 32, type, "s32", 1, 1, 2});
  all.push_back({"m8n8k128", 8, 8, 128, "b1", "s32", 1, 1, 2});
  return all;
}

struct Way {
  bool a_column, b_column, c_column;
  std::string space;  // "", ".global", ".shared"
  int extra;          // added to the default stride
};

std::string way_name(bool column) {
  return column ? ".col" : ".row";
}

void check(Wmma const& w, Way const& way, Random& random, WmmaFragments fragments = WmmaFragments::later) {
  Format const &f = format(w.type), &sum = format(w.sum);
  Codes const a = random_codes(random, f, w.m, w.k), b = random_codes(random, f, w.k, w.n),
              c = random_codes(random, sum, w.m, w.n);
  int const extra = way.extra * (f.bits < 8 ? 128 : 16);
  int const sa = (way.a_column ? w.m : w.k) + extra, sb = (way.b_column ? w.k : w.n) + extra,
            sc = (way.c_column ? w.m : w.n) + way.extra * 16;
  bool const wide = w.type == "f64";
  bool const small = f.bits < 8;
  std::string const stride_a = way.extra ? ", " + std::to_string(sa) : "",
                    stride_b = way.extra ? ", " + std::to_string(sb) : "",
                    stride_c = way.extra ? ", " + std::to_string(sc) : "";
  std::string const head = ".sync.aligned", la = way_name(way.a_column), lb = way_name(way.b_column),
                    lc = way_name(way.c_column);
  std::string const types =
      w.type == "f16" ? "." + w.sum + "." + w.sum : "." + w.sum + "." + w.type + "." + w.type + "." + w.sum;
  std::string const sum_register = wide ? ".f64" : w.sum == "f32" ? ".f32" : ".b32";
  std::string text =
      std::string(" .reg ") + (wide ? ".f64" : ".b32") + " %a<8>, %b<8>; .reg " + sum_register +
      " %c<8>, %d<8>;\n .shared .align 128 .b8 sm[16384];\n"
      " ld.param.u64 %q0, [pa]; ld.param.u64 %q1, [pb]; ld.param.u64 %q2, [pc]; ld.param.u64 %q3, [pd];\n";
  std::string addresses[3] = {"%q0+64", "%q1", "%q2"};
  if (way.space == ".shared") {  // copy the matrices there: A at 64, B at 4096, C at 8192
    text += " mov.u32 %t0, sm; mov.u32 %lane, %laneid; mul.lo.u32 %t1, %lane, 4; cvt.u64.u32 %q5, %t1;\n";
    for (int i = 0; i < 3; ++i)
      text += " mov.u32 %t2, 0;\nloop" + std::to_string(i) + ":\n cvt.u64.u32 %q4, %t2; add.u64 %q4, %q4, %q" +
              std::to_string(i) +
              "; add.u64 %q4, %q4, %q5; ld.global.b32 %t3, [%q4]; add.u32 %t4, %t0, %t2; add.u32 %t4, %t4, %t1;"
              " st.shared.b32 [%t4+" +
              std::to_string(4096 * i) + "], %t3; add.u32 %t2, %t2, 128; setp.lt.u32 %p, %t2, 4096; @%p bra loop" +
              std::to_string(i) + ";\n";
    text += " bar.warp.sync 0xffffffff;\n";
    addresses[0] = "%t0+64";
    addresses[1] = "sm+4096";
    addresses[2] = "%t0+8192";
  }
  text += " wmma.load.a" + head + la + "." + w.shape + way.space + "." + w.type + " " +
          register_list('a', w.a_registers) + ", [" + addresses[0] + "]" + stride_a + ";\n";
  text += " wmma.load.b" + head + lb + "." + w.shape + way.space + "." + w.type + " " +
          register_list('b', w.b_registers) + ", [" + addresses[1] + "]" + stride_b + ";\n";
  text += " wmma.load.c" + head + lc + "." + w.shape + way.space + "." + w.sum + " " +
          register_list('c', w.c_registers) + ", [" + addresses[2] + "]" + stride_c + ";\n";
  text += std::string(" wmma.mma") + (w.type == "b1" ? ".xor.popc" : "") + head + la + lb + "." + w.shape + types +
          " " + register_list('d', w.c_registers) + ", " + register_list('a', w.a_registers) + ", " +
          register_list('b', w.b_registers) + ", " + register_list('c', w.c_registers) + ";\n";
  text += " wmma.store.d" + head + lc + "." + w.shape + ".global." + w.sum + " [%q3], " +
          register_list('d', w.c_registers) + stride_c + ";\n";
  Bench bench = matrix_bench(text);
  bench.program = std::make_unique<Program>(*bench.module, *bench.module->find_kernel("k"), fragments);
  auto const padded = [&](std::vector<std::uint8_t> bytes) {
    if (way.space == ".shared") bytes.resize(4096);
    return bytes;
  };
  bench.buffer("a", padded(memory_of(a, f.bits, sa, way.a_column, 64)));
  bench.buffer("b", padded(memory_of(b, f.bits, sb, way.b_column, 0)));
  bench.buffer("c", padded(memory_of(c, sum.bits, sc, way.c_column, 0)));
  std::uint64_t const d = bench.buffer("d", std::uint64_t(sc * (way.c_column ? w.n : w.m)) * sum.bits / 8);
  bench.run();
  INFO(w.shape << " " << w.type << " " << w.sum << " " << la << lb << lc << way.space << " " << way.extra << small);
  if (bench.outcome.finding) FAIL(bench.outcome.finding->message);
  std::vector<std::uint8_t> const result = bench.read<std::uint8_t>(d);
  for (int row = 0; row < w.m; ++row)
    for (int column = 0; column < w.n; ++column) {
      double expected = product_at(a, f, b, f, sum.value(c(row, column)), row, column);
      if (w.type == "b1") {
        expected = sum.value(c(row, column));
        for (int k = 0; k < w.k; ++k) expected += static_cast<double>(a(row, k) ^ b(k, column));
      }
      std::size_t const at = static_cast<std::size_t>(way.c_column ? column * sc + row : row * sc + column);
      REQUIRE(sum.value(code_at(result, sum.bits, at)) == expected);
    }
}

}  // namespace

TEST_CASE("wmma loads, multiplies and stores every shape and type in every layout") {
  Random random{21};
  for (Wmma const& w : shapes()) {
    bool const fixed = format(w.type).bits < 8;  // A by rows, B by columns only
    for (bool const a : {false, true})
      for (bool const b : {false, true})
        for (bool const c : {false, true}) {
          if (fixed && (a || !b)) continue;
          check(w, {a, b, c, "", 0}, random);
          check(w, {a, b, c, ".global", 1}, random);
        }
    check(w, {false, true, false, ".shared", 0}, random);
  }
}

TEST_CASE("wmma of f16 loads, multiplies and stores with Volta's fragments") {
  Random random{25};
  for (Wmma const& w : shapes()) {
    if (w.type != "f16") continue;
    for (unsigned way = 0; way < 8; ++way) {
      bool const a = way & 1, b = way & 2, c = way & 4;
      check(w, {a, b, c, "", 0}, random, WmmaFragments::volta);
      check(w, {a, b, c, ".global", 1}, random, WmmaFragments::volta);
      check(w, {a, b, c, ".shared", 0}, random, WmmaFragments::volta);
    }
  }
}

TEST_CASE("ldmatrix gives each lane two elements of a row, or of a column") {
  // Rows of 16 bytes; lane i names row i of the matrices, in reverse order so that addresses matter.
  for (int const matrices : {1, 2, 4})
    for (bool const transposed : {false, true}) {
      std::string const name =
          "ldmatrix.sync.aligned.m8n8.x" + std::to_string(matrices) + (transposed ? ".trans" : "") + ".shared.b16 ";
      Bench bench = matrix_bench(
          " .reg .b32 %d<4>;\n .shared .align 16 .b8 sm[512];\n ld.param.u64 %q0, [pa]; mov.u32 %lane, %laneid;\n"
          " mul.wide.u32 %q1, %lane, 16; add.u64 %q0, %q0, %q1; ld.global.v4.b32 {%t0, %t1, %t2, %t3}, [%q0];\n"
          " mov.u32 %t4, sm; mul.lo.u32 %t5, %lane, 16; add.u32 %t4, %t4, %t5; st.shared.v4.b32 [%t4], {%t0, %t1, %t2, "
          "%t3};\n"
          " bar.warp.sync 0xffffffff; mov.u32 %t6, sm; sub.u32 %t4, 496, %t5; add.u32 %t6, %t6, %t4;\n " +
          name + register_list('d', matrices) + ", [%t6];\n" + move_registers('d', matrices, false, "pd", true));
      std::vector<std::uint16_t> content(256);
      Random random{22};
      for (std::uint16_t& v : content) v = static_cast<std::uint16_t>(random());
      bench.buffer("a", content);
      bench.buffer("b", 4);
      bench.buffer("c", 4);
      std::uint64_t const d = bench.buffer("d", std::uint64_t(128 * matrices));
      bench.run();
      INFO(name);
      REQUIRE(!bench.outcome.finding);
      std::vector<std::uint32_t> const result = bench.read<std::uint32_t>(d);
      auto const element = [&](int matrix, int row, int column) {
        return std::uint32_t{content.at(static_cast<std::size_t>((31 - (8 * matrix + row)) * 8 + column))};
      };
      for (int lane = 0; lane < 32; ++lane)
        for (int i = 0; i < matrices; ++i) {
          std::uint32_t const low =
              transposed ? element(i, lane % 4 * 2, lane / 4) : element(i, lane / 4, lane % 4 * 2);
          std::uint32_t const high =
              transposed ? element(i, lane % 4 * 2 + 1, lane / 4) : element(i, lane / 4, lane % 4 * 2 + 1);
          REQUIRE(result.at(static_cast<std::size_t>(lane * matrices + i)) == (low | high << 16));
        }
    }
}

TEST_CASE("stmatrix undoes ldmatrix, movmatrix transposes") {
  for (bool const transposed : {false, true}) {
    std::string const trans = transposed ? ".trans" : "";
    Bench bench = matrix_bench(
        " .reg .b32 %d<4>, %e<4>;\n .shared .align 16 .b8 sm[1024];\n ld.param.u64 %q0, [pa]; mov.u32 %lane, %laneid;\n"
        " mul.wide.u32 %q1, %lane, 16; add.u64 %q0, %q0, %q1; ld.global.v4.b32 {%t0, %t1, %t2, %t3}, [%q0];\n"
        " mov.u32 %t4, sm; mul.lo.u32 %t5, %lane, 16; add.u32 %t4, %t4, %t5; st.shared.v4.b32 [%t4], {%t0, %t1, %t2, "
        "%t3};\n"
        " bar.warp.sync 0xffffffff; ldmatrix.sync.aligned.m8n8.x4" +
        trans +
        ".shared.b16 {%d0, %d1, %d2, %d3}, [%t4];\n"
        " movmatrix.sync.aligned.m8n8.trans.b16 %e0, %d0; movmatrix.sync.aligned.m8n8.trans.b16 %e1, %d1;\n"
        " movmatrix.sync.aligned.m8n8.trans.b16 %e2, %d2; movmatrix.sync.aligned.m8n8.trans.b16 %e3, %d3;\n"
        " cvt.u64.u32 %q2, %t4; cvta.shared.u64 %q2, %q2;\n"
        " stmatrix.sync.aligned.m8n8.x4" +
        trans +
        ".b16 [%q2+512], {%d0, %d1, %d2, %d3}; bar.warp.sync 0xffffffff;\n"
        " ld.shared.v4.b32 {%t0, %t1, %t2, %t3}, [%t4+512]; ld.param.u64 %q0, [pb]; add.u64 %q0, %q0, %q1;\n"
        " st.global.v4.b32 [%q0], {%t0, %t1, %t2, %t3};\n"
        " stmatrix.sync.aligned.m8n8.x4" +
        trans +
        ".shared.b16 [%t4+512], {%e0, %e1, %e2, %e3}; bar.warp.sync 0xffffffff;\n"
        " ld.shared.v4.b32 {%t0, %t1, %t2, %t3}, [%t4+512]; ld.param.u64 %q0, [pc]; add.u64 %q0, %q0, %q1;\n"
        " st.global.v4.b32 [%q0], {%t0, %t1, %t2, %t3};\n");
    std::vector<std::uint16_t> content(256);
    Random random{23};
    for (std::uint16_t& v : content) v = static_cast<std::uint16_t>(random());
    bench.buffer("a", content);
    std::uint64_t const same = bench.buffer("b", 512), turned = bench.buffer("c", 512);
    bench.buffer("d", 4);
    bench.run();
    REQUIRE(!bench.outcome.finding);
    CHECK(bench.read<std::uint16_t>(same) == content);
    std::vector<std::uint16_t> const result = bench.read<std::uint16_t>(turned);
    for (std::size_t i = 0; i < 256; ++i) REQUIRE(result[i] == content[i / 64 * 64 + i % 8 * 8 + i / 8 % 8]);
  }
}

TEST_CASE("ldmatrix and stmatrix of bytes") {
  // m16n16.trans: lane 4 g + q holds rows 4 q … 4 q + 3 of column g, then of column g + 8; m16n8.trans stores columns
  // 2 q and 2 q + 1 of rows g and g + 8, column by column.
  std::string const copy =
      " .shared .align 16 .b8 sm[1024];\n ld.param.u64 %q0, [pa]; mov.u32 %lane, %laneid;\n"
      " mul.wide.u32 %q1, %lane, 16; add.u64 %q0, %q0, %q1; ld.global.v4.b32 {%t0, %t1, %t2, %t3}, [%q0];\n"
      " mov.u32 %t4, sm; mul.lo.u32 %t5, %lane, 16; add.u32 %t4, %t4, %t5; st.shared.v4.b32 [%t4], {%t0, %t1, %t2, "
      "%t3};\n"
      " bar.warp.sync 0xffffffff;\n";
  std::vector<std::uint8_t> content(512);
  Random random{24};
  for (std::uint8_t& v : content) v = static_cast<std::uint8_t>(random());
  // What %d0 … %d3 of the lanes hold after the operation.
  auto const moved = [&](std::string const& operation) {
    Bench bench = matrix_bench(" .reg .b32 %d<4>;\n" + copy + operation + move_registers('d', 4, false, "pd", true));
    bench.buffer("a", content);
    bench.buffer("b", 4);
    bench.buffer("c", 4);
    std::uint64_t const d = bench.buffer("d", 512);
    bench.run();
    REQUIRE(!bench.outcome.finding);
    return bench.read<std::uint8_t>(d);
  };
  {
    auto const result = moved(" ldmatrix.sync.aligned.m16n16.x2.trans.shared.b8 {%d0, %d1, %d2, %d3}, [%t4];\n");
    for (std::size_t lane = 0; lane < 32; ++lane)
      for (std::size_t r = 0; r < 4; ++r)
        for (std::size_t k = 0; k < 4; ++k)
          REQUIRE(result[16 * lane + 4 * r + k] ==
                  content[256 * (r / 2) + 16 * (4 * (lane % 4) + k) + lane / 4 + 8 * (r % 2)]);
  }
  {
    auto const result = moved(
        " stmatrix.sync.aligned.m16n8.x2.trans.shared.b8 [%t4+512], {%t0, %t1};\n"
        " bar.warp.sync 0xffffffff; ld.shared.v4.b32 {%d0, %d1, %d2, %d3}, [%t4+512];\n");
    for (std::size_t lane = 0; lane < 32; ++lane)
      for (std::size_t r = 0; r < 2; ++r)
        for (std::size_t k = 0; k < 4; ++k) {
          std::size_t const row = lane / 4 + 8 * (k / 2), column = 2 * (lane % 4) + k % 2;
          REQUIRE(result[128 * r + 16 * column + row] == content[16 * lane + 4 * r + k]);
        }
  }
  for (unsigned const bits : {4u, 6u}) {  // 16 elements at the begin of each row
    auto const result = moved(std::string(" ldmatrix.sync.aligned.m8n16.x4.shared.b8x16.") +
                              (bits == 4 ? "b4x16_p64" : "b6x16_p32") + " {%d0, %d1, %d2, %d3}, [%t4];\n");
    for (std::size_t lane = 0; lane < 32; ++lane)
      for (std::size_t r = 0; r < 4; ++r)
        for (std::size_t k = 0; k < 4; ++k) {
          std::size_t const begin = 16 * (8 * r + lane / 4), column = 4 * (lane % 4) + k;
          unsigned value = 0;
          for (unsigned bit = 0; bit < bits; ++bit) {
            std::size_t const at = column * bits + bit;
            value |= static_cast<unsigned>(content[begin + at / 8] >> at % 8 & 1) << bit;
          }
          REQUIRE(result[16 * lane + 4 * r + k] == value);
        }
  }
}

namespace {

struct Accesses : Observer {
  struct Event {
    kernelcast::ptx::StateSpace space;
    Direction direction;
    unsigned bytes;
    std::uint32_t lanes;
  };
  std::vector<Event> events;
  void memory(MemoryAccess const& a) override {
    events.push_back({a.space, a.direction, a.bytes_per_lane, a.lanes.masks[0]});
  }
  std::unique_ptr<Observer> fork() const override { return std::make_unique<Accesses>(); }
  void join(Observer const& other) override {
    auto const& e = static_cast<Accesses const&>(other).events;
    events.insert(events.end(), e.begin(), e.end());
  }
};

}  // namespace

TEST_CASE("observers hear of the rows that ldmatrix reads, and of what wmma requests") {
  Bench bench = matrix_bench(
      " .reg .b32 %d<8>, %a<8>;\n .shared .align 128 .b8 sm[1024];\n mov.u32 %t0, sm; ld.param.u64 %q0, [pa];\n"
      " ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%d0, %d1}, [%t0];\n"
      " wmma.load.a.sync.aligned.row.m16n16k16.f16 {%a0, %a1, %a2, %a3, %a4, %a5, %a6, %a7}, [%q0];\n"
      " wmma.store.d.sync.aligned.col.m16n16k16.global.f16 [%q0], {%d0, %d1, %d0, %d1};\n");
  bench.buffer("a", 512);
  for (char const* name : {"b", "c", "d"}) bench.buffer(name, 4);
  Accesses seen;
  Observer* const observers[] = {&seen};
  bench.run(observers);
  REQUIRE(!bench.outcome.finding);
  using kernelcast::ptx::StateSpace;
  REQUIRE(seen.events.size() == 1 + 4 + 4);
  CHECK((seen.events[0].space == StateSpace::shared && seen.events[0].bytes == 16 && seen.events[0].lanes == 0xffff &&
         seen.events[0].direction == Direction::load));
  for (std::size_t i = 1; i < 5; ++i)  // four registers of two neighbours; the other four repeat them
    CHECK((seen.events[i].space == StateSpace::global && seen.events[i].bytes == 4 && seen.events[i].lanes == ~0u));
  for (std::size_t i = 5; i < 9; ++i)  // by columns: blocks are transposed before
    CHECK((seen.events[i].direction == Direction::store && seen.events[i].bytes == 4));
}

TEST_CASE("matrix accesses are checked") {
  struct Fault {
    std::string text, message;
  };
  for (Fault const& f : {Fault{"mov.u32 %t0, sm; ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%d0}, [%t0+120];",
                               "shared load of 16 bytes at offset 120"},
                         Fault{"mov.u32 %t0, sm; ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%d0}, [%t0+8];",
                               "which is not a multiple of 16"},
                         Fault{"ld.param.u64 %q0, [pa]; wmma.load.a.sync.aligned.row.m16n16k16.global.f16 {%d0, %d1, "
                               "%d2, %d3, %d4, %d5, %d6, %d7}, [%q0], 32;",
                               "of buffer 'a' (512 bytes)"}}) {
    Bench bench = matrix_bench(" .reg .b32 %d<8>;\n .shared .align 16 .b8 sm[128];\n " + f.text + "\n");
    bench.buffer("a", 512);
    for (char const* name : {"b", "c", "d"}) bench.buffer(name, 4);
    bench.run();
    REQUIRE(bench.outcome.finding);
    INFO(bench.outcome.finding->message);
    CHECK(bench.outcome.finding->message.find(f.message) != std::string::npos);
  }
}
