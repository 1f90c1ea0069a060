// wgmma against the product by its definition. The layouts of matrices in shared memory are those of the PTX manual
// ("Shared Memory Matrix Layout"), element by element.
#include "catch.hpp"
#include "matrix_sparse.hpp"

using namespace kernelcast::emu;
using namespace kernelcast::emu::test;
using kernelcast::ptx::StateSpace;

namespace {

struct Case {
  std::string a, b, d;
  int columns = 64;
  int swizzle_bytes = 16;  // 16: none
  bool a_in_registers = false, a_transposed = false, b_transposed = false;
  int of_a = 1, of_b = 1;  // signs
  bool adds = true, saturates = false;
  int base = 0;  // rows of 128 bytes between a boundary of the pattern and its begin
  int threads = 128;
  bool sparse = false;  // A
};

int bits_of(Case const& x) {
  return static_cast<int>(format(x.a).bits);
}
int depth_of(Case const& x) {
  return (x.sparse ? 512 : 256) / bits_of(x);
}
int a_depth_of(Case const& x) {
  return 256 / bits_of(x);
}
// The last one, so that all but the selected lanes must not matter.
int selector_of(Case const& x) {
  return selectors_of(bits_of(x), depth_of(x)) - 1;
}

struct Stored : SharedLayout {
  // Bytes between what one instruction reads and the next; each reads so many bytes of a row.
  int step(int bytes = 32) const {
    int const pieces = bytes / 16;
    if (!transposed) return swizzle_bytes == 16 ? pieces * leading : bytes;
    return swizzle_bytes == 16 ? pieces * leading : pieces * stride;
  }
  std::uint64_t descriptor(int advance, int base) const {
    std::uint64_t const mode = swizzle_bytes == 16 ? 0 : swizzle_bytes == 128 ? 1 : swizzle_bytes == 64 ? 2 : 3;
    auto const part = [](int bytes) { return static_cast<std::uint64_t>(bytes) >> 4 & 0x3fff; };
    return part(start + advance) | part(leading) << 16 | part(stride) << 32 | static_cast<std::uint64_t>(base) << 49 |
           mode << 62;
  }
};

// Patterns begin at multiples of 8 rows of the swizzle's bytes, some of them left free.
Stored stored(Case const& x, bool transposed, int start, int rows, int depth) {
  Stored s;
  s.swizzle_bytes = x.swizzle_bytes;
  s.transposed = transposed;
  s.start = start + 128 * x.base;
  int const pattern = 8 * x.swizzle_bytes;
  if (!transposed) {
    s.stride = pattern * 2;
    s.leading = x.swizzle_bytes == 16 ? rows / 8 * s.stride + 16 * 8 : 16;
  } else if (x.swizzle_bytes == 16) {
    s.stride = 128 * 3;
    s.leading = rows / 8 * s.stride + 128;
  } else {
    s.stride = pattern;
    s.leading = pattern * (depth / 8 + 1);
  }
  return s;
}

void put(std::vector<std::uint8_t>& image, Stored const& s, Codes const& m, int bits, bool rows_are_k) {
  for (int r = 0; r < m.rows; ++r)
    for (int c = 0; c < m.columns; ++c) {
      int const at = rows_are_k ? s.bit_of(c, r, bits) : s.bit_of(r, c, bits);
      std::uint64_t const code = m(r, c);
      for (int i = 0; i < bits; i += 8)
        image.at(static_cast<std::size_t>((at + i) / 8)) |= static_cast<std::uint8_t>(code >> i << at % 8);
    }
}

// [ptx] "Register Fragments for wgmma": of one warp.
Layout a_layout(Case const& x) {
  int const e = 32 / bits_of(x);  // elements of a register
  return [e](int lane, int i) {
    int const r = i / e;
    return std::pair(lane / 4 + 8 * (r % 2), 4 * e * (r / 2) + e * (lane % 4) + i % e);
  };
}
std::pair<int, int> d_layout(int lane, int i) {
  return {lane / 4 + 8 * (i / 2 % 2), 8 * (i / 4) + 2 * (lane % 4) + i % 2};
}

Codes rows_of(Codes const& m, int first, int rows, int column, int columns) {
  Codes part(rows, columns);
  for (int r = 0; r < rows; ++r)
    for (int c = 0; c < columns; ++c) part(r, c) = m(first + r, column + c);
  return part;
}

std::string opcode_of(Case const& x) {
  return std::string("wgmma.mma_async") + (x.sparse ? ".sp" : "") + ".sync.aligned.m64n" + std::to_string(x.columns) +
         "k" + std::to_string(depth_of(x)) + (x.saturates ? ".satfinite" : "") + "." + x.d + "." + x.a + "." + x.b +
         (x.a == "b1" ? ".and.popc" : "");
}
std::string described(Case const& x) {
  return opcode_of(x) + " swizzle " + std::to_string(x.swizzle_bytes) + (x.a_in_registers ? " registers" : "") +
         (x.a_transposed ? " A^T" : "") + (x.b_transposed ? " B^T" : "") + " base " + std::to_string(x.base) +
         " threads " + std::to_string(x.threads);
}

std::string list(char letter, int count) {
  return register_list(letter, count);
}
std::string loads(char letter, int count, int first, char const* base) {
  std::string text;
  for (int i = 0; i < count; ++i)
    text += " ld.global.b32 %" + std::string(1, letter) + std::to_string(i) + ", [" + base + "+" +
            std::to_string(4 * (first + i)) + "];\n";
  return text;
}

constexpr int image_bytes = 192 * 1024;

struct Setup {
  int steps = 1, a_registers = 4, sums = 0;
  Stored a, b;
};
Setup setup_of(Case const& x) {
  Setup s;
  bool const transposed = x.a_transposed || x.b_transposed;
  s.steps = transposed ? 2 : std::max(1, x.swizzle_bytes / (x.sparse ? 64 : 32));
  s.sums = x.columns / 2 * (x.d == "f16" ? 16 : 32) / 32;
  int const depth = s.steps * depth_of(x);
  s.a = stored(x, x.a_transposed, 0, 64, s.steps * a_depth_of(x));
  s.b = stored(x, x.b_transposed, 48 * 1024, x.columns, depth);
  return s;
}

std::string products(Case const& x, Setup const& s, std::string const& number) {
  bool const integers = x.d == "s32", halves = x.a == "f16" || x.a == "bf16";
  std::string text = " wgmma.fence.sync.aligned;\n";
  for (int step = 0; step < s.steps; ++step) {
    if (x.a_in_registers) text += loads('a', 4, 4 * step, "%abase");
    std::uint64_t const da = s.a.descriptor(step * s.a.step(), x.base);
    std::uint64_t const db = s.b.descriptor(step * s.b.step(x.sparse ? 64 : 32), x.base);
    if (x.sparse) text += " ld.global.b32 %r7, [%mbase+" + std::to_string(4 * step) + "];\n";
    text += " mov.b64 %q4, " + std::to_string(da) + "; mov.b64 %q5, " + std::to_string(db) + "; setp." +
            (x.adds || step > 0 ? "eq" : "ne") + ".u32 %p" + number + ", 0, 0;\n " + opcode_of(x) + " " +
            list('d', s.sums) + ", " + (x.a_in_registers ? list('a', 4) : "%q4") + ", %q5, " +
            (x.sparse ? "%r7, " + std::to_string(selector_of(x)) + ", " : "") + "%p" + number;
    if (!integers) text += ", " + std::to_string(x.of_a) + ", " + std::to_string(x.of_b);
    if (halves && !x.a_in_registers) text += x.a_transposed ? ", 1" : ", 0";
    if (halves) text += x.b_transposed ? ", 1" : ", 0";
    text += ";\n";
  }
  return text + " wgmma.commit_group.sync.aligned;\n wgmma.wait_group.sync.aligned 0;\n";
}

std::string const registers =
    " .reg .b32 %r<8>, %a<8>, %d<128>; .reg .b64 %q<8>, %abase, %dbase, %mbase; .reg .pred %p, %p0, %p1;\n";
std::string const copy_image =
    " ld.param.u64 %q0, [image];\n mov.u32 %r0, %tid.x; mov.u32 %r1, %ntid.x; shl.b32 %r2, %r0, 4; shl.b32 %r1, %r1, "
    "4;\ncopy:\n cvt.u64.u32 %q1, %r2; add.u64 %q1, %q1, %q0; ld.global.v4.b32 {%r3, %r4, %r5, %r6}, [%q1];\n"
    " st.shared.v4.b32 [%r2], {%r3, %r4, %r5, %r6}; add.u32 %r2, %r2, %r1; setp.lt.u32 %p, %r2, " +
    std::to_string(image_bytes) + "; @%p bra copy;\n bar.sync 0;\n";

std::string kernel(Setup const& s, std::string const& body) {
  std::string text = ".visible .entry k(.param .u64 image, .param .u64 pa, .param .u64 pd, .param .u64 pm) {\n" +
                     registers + " .shared .align 1024 .b8 sm[" + std::to_string(image_bytes) + "];\n" + copy_image +
                     " ld.param.u64 %q2, [pa]; mad.wide.u32 %abase, %r0, " + std::to_string(16 * s.steps) +
                     ", %q2; ld.param.u64 %q2, [pm]; mad.wide.u32 %mbase, %r0, " + std::to_string(4 * s.steps) +
                     ", %q2; ld.param.u64 %q2, [pd]; mad.wide.u32 %dbase, %r0, " + std::to_string(4 * s.sums) +
                     ", %q2;\n\n" + loads('d', s.sums, 0, "%dbase") + body;
  for (int i = 0; i < s.sums; ++i)
    text += " st.global.b32 [%dbase+" + std::to_string(4 * i) + "], %d" + std::to_string(i) + ";\n";
  return text + " ret;\n}\n";
}

std::unique_ptr<Bench> bench_of(Case const& x, Setup const& s, std::string const& body, Codes const& a, Codes const& b,
                                std::vector<Codes> const& c, std::uint64_t& result,
                                std::vector<std::uint32_t> const& metadata = {}) {
  auto made = std::make_unique<Bench>(kernel(s, body));
  Bench& bench = *made;
  std::vector<std::uint8_t> image(image_bytes);
  if (!x.a_in_registers) put(image, s.a, a, bits_of(x), false);
  put(image, s.b, b, bits_of(x), true);
  bench.buffer("image", image);
  std::vector<std::uint32_t> of_a(static_cast<std::size_t>(x.threads * 4 * s.steps)), of_d;
  int const e = 32 / bits_of(x), depth = a_depth_of(x);
  for (int warp = 0; warp < x.threads / 32; ++warp) {
    for (int step = 0; step < s.steps; ++step) {
      auto const words =
          fragment_words(rows_of(a, warp % 4 * 16, 16, step * depth, depth), format(x.a).bits, 4 * e, a_layout(x));
      for (int lane = 0; lane < 32; ++lane)
        std::copy_n(words.begin() + 4 * lane, 4, of_a.begin() + ((warp * 32 + lane) * s.steps + step) * 4);
    }
    auto const words =
        fragment_words(rows_of(c.at(static_cast<std::size_t>(warp / 4)), warp % 4 * 16, 16, 0, x.columns),
                       format(x.d).bits, x.columns / 2, d_layout);
    of_d.insert(of_d.end(), words.begin(), words.end());
  }
  bench.buffer("a", of_a);
  result = bench.buffer("d", of_d);
  bench.buffer("m", metadata.empty() ? std::vector<std::uint32_t>(1) : metadata);
  bench.launch.block = {static_cast<std::uint32_t>(x.threads), 1, 1};
  return made;
}

Codes matrix_of_group(Case const& x, Setup const& s, std::vector<std::uint32_t> const& words, int group) {
  Codes d(64, x.columns);
  for (int warp = 0; warp < 4; ++warp) {
    auto const first = words.begin() + std::ptrdiff_t{32} * s.sums * (4 * group + warp);
    Codes const part = matrix_of({first, first + std::ptrdiff_t{32} * s.sums}, 16, x.columns, format(x.d).bits,
                                 x.columns / 2, d_layout);
    for (int r = 0; r < 16; ++r)
      for (int c = 0; c < x.columns; ++c) d(16 * warp + r, c) = part(r, c);
  }
  return d;
}

void require_product(Case const& x, Setup const& s, Codes const& a, Codes const& b, Codes const& c, Codes const& d) {
  int const depth = s.steps * depth_of(x);
  for (int row = 0; row < 64; ++row)
    for (int column = 0; column < x.columns; ++column) {
      double const before = x.adds ? format(x.d).value(c(row, column)) : 0;
      double sum = before;
      if (x.d == "s32") {
        std::int64_t exact = static_cast<std::int64_t>(before);
        for (int k = 0; k < depth; ++k) {
          exact += static_cast<std::int64_t>(format(x.a).value(a(row, k)) * format(x.b).value(b(k, column)));
          if (x.saturates && (k + 1) % depth_of(x) == 0)
            exact = std::clamp<std::int64_t>(exact, -0x80000000ll, 0x7fffffffll);
        }
        INFO(described(x) << " row " << row << " column " << column);
        REQUIRE(d(row, column) == static_cast<std::uint32_t>(exact));
        continue;
      }
      for (int k = 0; k < depth; ++k)
        sum += x.of_a * format(x.a).value(a(row, k)) * x.of_b * format(x.b).value(b(k, column));
      INFO(described(x) << " row " << row << " column " << column);
      REQUIRE(format(x.d).value(d(row, column)) == sum);
    }
}

// A with its zeros, as it is stored, and the metadata of each thread for each step.
void make_sparse(Random& random, Case const& x, Setup const& s, Codes& whole, Codes& packed,
                 std::vector<std::uint32_t>& metadata) {
  int const depth = depth_of(x), half = a_depth_of(x);
  packed = Codes(64, s.steps * half);
  metadata.resize(static_cast<std::size_t>(x.threads * s.steps));
  for (int warp = 0; warp < 4; ++warp)
    for (int step = 0; step < s.steps; ++step) {
      Sparse const part = sparse_matrix(random, format(x.a), depth, selector_of(x), true);
      for (int row = 0; row < 16; ++row) {
        for (int k = 0; k < depth; ++k) whole(16 * warp + row, step * depth + k) = part.whole(row, k);
        for (int k = 0; k < half; ++k) packed(16 * warp + row, step * half + k) = part.stored(row, k);
      }
      for (int thread = 0; thread < x.threads; ++thread)
        if (thread / 32 % 4 == warp)
          metadata.at(static_cast<std::size_t>(thread * s.steps + step)) =
              part.metadata.at(static_cast<std::size_t>(thread % 32));
    }
}

void check(Random& random, Case const& x, std::string const& body_given = "") {
  Setup const s = setup_of(x);
  int const depth = s.steps * depth_of(x);
  Codes a = random_codes(random, format(x.a), 64, depth), packed = a;
  std::vector<std::uint32_t> metadata;
  if (x.sparse) make_sparse(random, x, s, a, packed, metadata);
  Codes const b = random_codes(random, format(x.b), depth, x.columns);
  std::vector<Codes> c;
  for (int group = 0; group < x.threads / 128; ++group) {
    c.push_back(random_codes(random, format(x.d), 64, x.columns));
    if (x.saturates)
      for (std::uint64_t& code : c.back().code)
        code = random() & 1 ? 0x7fffffff - random.below(100) : 0x80000000 + random.below(100);
  }
  std::uint64_t result = 0;
  auto const made =
      bench_of(x, s, body_given.empty() ? products(x, s, "0") : body_given, packed, b, c, result, metadata);
  Bench& bench = *made;
  bench.run();
  if (bench.outcome.finding) FAIL(described(x) << ": " << bench.outcome.finding->message);
  auto const words = bench.read<std::uint32_t>(result);
  for (int group = 0; group < x.threads / 128; ++group)
    require_product(x, s, a, b, c[static_cast<std::size_t>(group)], matrix_of_group(x, s, words, group));
}

struct SharedLoads : Observer {
  std::uint64_t bytes = 0;
  void memory(MemoryAccess const& a) override {
    if (a.space != StateSpace::shared || a.direction != Direction::load) return;
    for (std::uint32_t w = 0; w < a.lanes.warps; ++w)
      bytes += static_cast<std::uint64_t>(std::popcount(a.lanes.masks[w])) * a.bytes_per_lane;
  }
  std::unique_ptr<Observer> fork() const override { return std::make_unique<SharedLoads>(); }
  void join(Observer const& other) override { bytes += static_cast<SharedLoads const&>(other).bytes; }
};

// Odd and even warps do the same at different places of the kernel.
std::string apart(Case const& x, Setup const& s) {
  return " shr.u32 %r3, %r0, 5; and.b32 %r3, %r3, 1; setp.eq.u32 %p, %r3, 1; @%p bra odd;\n" + products(x, s, "0") +
         " bra done;\nodd:\n" + products(x, s, "1") + "done:\n";
}

}  // namespace

TEST_CASE("wgmma multiplies every type, from registers and shared memory, with every swizzle") {
  Random random{31};
  static constexpr int swizzles[] = {16, 32, 64, 128}, threads[] = {128, 128, 256, 384};
  std::vector<Case> types = {{"f16", "f16", "f32"},   {"f16", "f16", "f16"},   {"bf16", "bf16", "f32"},
                             {"tf32", "tf32", "f32"}, {"e4m3", "e4m3", "f32"}, {"e5m2", "e4m3", "f16"},
                             {"s8", "s8", "s32"},     {"u8", "s8", "s32"},     {"b1", "b1", "s32"}};
  for (Case x : types)
    for (int const swizzle : swizzles)
      for (bool const registers_of_a : {false, true}) {
        x.swizzle_bytes = swizzle;
        x.a_in_registers = registers_of_a;
        bool const coarse = x.d == "s32";
        x.columns = coarse ? 16 * static_cast<int>(1 + random.below(16)) : 8 * static_cast<int>(1 + random.below(32));
        x.of_a = random() & 1 ? 1 : -1;
        x.of_b = random() & 1 ? 1 : -1;
        if (coarse) x.of_a = x.of_b = 1;
        x.adds = (random() & 3) != 0;
        x.saturates = coarse && x.a != "b1" && x.adds && (random() & 1);
        x.threads = threads[random.below(4)];
        check(random, x);
      }
}

TEST_CASE("wgmma of a sparse A multiplies every type, from registers and shared memory, with every swizzle") {
  Random random{35};
  static constexpr int threads[] = {128, 128, 256, 384};
  std::vector<Case> types = {{"f16", "f16", "f32"},   {"f16", "f16", "f16"},   {"bf16", "bf16", "f32"},
                             {"tf32", "tf32", "f32"}, {"e4m3", "e4m3", "f32"}, {"e5m2", "e4m3", "f16"},
                             {"s8", "s8", "s32"},     {"u8", "s8", "s32"}};
  for (Case x : types)
    for (int const swizzle : {16, 64, 128})  // the 64 bytes of a row of B do not fit into a pattern of 32
      for (bool const registers_of_a : {false, true})
        for (int const which : {0, 1, 2, 3}) {
          x.sparse = true;
          x.a_transposed = which & 1;
          x.b_transposed = which & 2;
          bool const halves = x.a == "f16" || x.a == "bf16";
          if (which != 0 && (!halves || (x.a_transposed && registers_of_a))) continue;
          // Not both in one atom: see below.
          if (swizzle == 64 && which != 0 && which != 3 && !registers_of_a) continue;
          x.swizzle_bytes = swizzle;
          x.a_in_registers = registers_of_a;
          bool const coarse = x.d == "s32";
          x.columns = coarse ? 16 * static_cast<int>(1 + random.below(16)) : 8 * static_cast<int>(1 + random.below(32));
          x.of_a = coarse || random() & 1 ? 1 : -1;
          x.adds = (random() & 3) != 0;
          x.saturates = coarse && x.adds && (random() & 1);
          x.threads = threads[random.below(4)];
          check(random, x);
        }
}

TEST_CASE("wgmma transposes 16-bit matrices in shared memory") {
  Random random{32};
  for (std::string const type : {"f16", "bf16"})
    for (int const swizzle : {16, 32, 64, 128})
      for (int const which : {1, 2, 3, 4}) {
        Case x{type, type, "f32"};
        x.swizzle_bytes = swizzle;
        x.a_transposed = which == 1 || which == 3;
        x.b_transposed = which >= 2;
        x.a_in_registers = which == 4;
        x.columns = 8 * static_cast<int>(1 + random.below(32));
        // Not both in one atom: a transposed matrix steps by rows, another one within 32 bytes.
        if (swizzle == 32 && which != 3 && which != 4) continue;
        check(random, x);
      }
}

TEST_CASE("wgmma takes the smallest and the largest product") {
  Random random{33};
  for (int const columns : {8, 24, 256})
    for (std::string const type : {"f16", "tf32", "s8"}) {
      Case x{type, type, type == "s8" ? "s32" : "f32"};
      x.columns = columns;
      x.swizzle_bytes = 128;
      check(random, x);
    }
}

TEST_CASE("wgmma finds a pattern that begins off its boundary by the base offset") {
  Random random{34};
  for (int const base : {1, 3, 7}) {
    Case x{"f16", "f16", "f32"};
    x.swizzle_bytes = 128;
    x.base = base;
    check(random, x);
  }
}

TEST_CASE("wgmma gives the same and counts the same where warps of a group come apart") {
  Random random{35};
  Case x{"f16", "f16", "f32"};
  x.swizzle_bytes = 128;
  x.columns = 40;
  Setup const s = setup_of(x);
  check(random, x, apart(x, s));
  for (std::string const& body : {products(x, s, "0"), apart(x, s)}) {
    Codes const a(64, 64), b(64, 40);
    std::uint64_t result = 0;
    auto const made = bench_of(x, s, body, a, b, {Codes(64, 40)}, result);
    Bench& bench = *made;
    SharedLoads loaded;
    Observer* const observers[] = {&loaded};
    bench.run(observers);
    REQUIRE(!bench.outcome.finding);
    CHECK(loaded.bytes == 4u * (64 + 40) * 32);  // four products: the rows of A and the columns of B, 32 bytes each
  }
}

TEST_CASE("wgmma finds descriptors beyond shared memory, and warps that are not whole") {
  Case x{"f16", "f16", "f32"};
  Setup s = setup_of(x);
  Codes const a(64, 16), b(16, 64);
  std::uint64_t result = 0;
  auto const found = [&](std::string const& body) {
    auto const made = bench_of(x, s, body, a, b, {Codes(64, 64)}, result);
    Bench& bench = *made;
    bench.run();
    return bench.outcome.finding ? bench.outcome.finding->message : "";
  };
  Setup far = s;
  far.b.start = image_bytes - 64;
  far.b.stride = 128;
  far.b.leading = 1024;
  CHECK_THAT(found(products(x, far, "0")), Contains("shared load of 16 bytes at offset"));
  far = s;
  far.a.start = 0x3fff0;
  CHECK_THAT(found(products(x, far, "0")), Contains("shared load of 16 bytes at offset"));
  CHECK_THAT(found(" setp.lt.u32 %p, %r0, 20; @%p bra odd; bra done;\nodd:\n" + products(x, s, "0") + "done:\n"),
             Contains("needs all 32 lanes of the warp"));
}

TEST_CASE("wgmma refuses what PTX does not have") {
  for (std::string const instruction : {
           "m64n12k16.f32.f16.f16 {%d0, %d1}, %q4, %q5, 1, 1, 1, 0, 0",
           "m64n8k16.f16.bf16.bf16 {%d0, %d1}, %q4, %q5, 1, 1, 1, 0, 0",
           "m64n8k16.f32.f16.f16 {%d0, %d1, %d2, %d3}, %q4, %q5, 1, 1, 2, 0, 0",
           "m64n8k16.f32.f16.f16 {%d0, %d1, %d2, %d3}, %q4, %q5, 1, 1, 1, 0",
           "m64n8k8.f32.tf32.tf32 {%d0, %d1, %d2, %d3}, %q4, %q5, 1, 1, 1, 0, 0",
           "m64n8k32.s32.s8.s8 {%d0, %d1, %d2}, %q4, %q5, 1",
           "m64n40k32.s32.s8.s8 {%d0, %d1, %d2, %d3}, %q4, %q5, 1",
       }) {
    Bench bench(".visible .entry k() {\n" + registers +
                " mov.b64 %q4, 0; mov.b64 %q5, 0;\n"
                " wgmma.mma_async.sync.aligned." +
                instruction + ";\n ret;\n}\n");
    bench.launch.block = {128, 1, 1};
    bench.run();
    INFO(instruction);
    REQUIRE(bench.outcome.finding);
    CHECK(bench.outcome.finding->kind == Finding::Kind::unknown_opcode);
  }
}
