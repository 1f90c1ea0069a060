// tcgen05 without its products. Which register holds which cell is stated the other way round from the emulator: of a
// cell, the work-item and the register ([ptx] "Matrix fragments for shape …").
#include "emulator/tensor_memory.hpp"

#include "catch.hpp"
#include "tensor_bench.hpp"

using namespace kernelcast::emu;
using namespace kernelcast::emu::test;

namespace {

struct Moved {
  std::string shape;
  int repetitions = 1;
  bool packs = false;
  int split = 0;  // 16x32bx2

  int rows() const { return shape == "32x32b" ? 32 : 16; }
  int bits() const { return std::stoi(shape.substr(shape.find('x') + 1)); }
  int registers() const { return rows() == 32 || split ? repetitions : repetitions * bits() * 16 / 32 / 32; }
  // 32-bit columns of all the registers, before packing.
  int columns() const { return split ? repetitions : repetitions * bits() / 32; }
};

struct Register {
  int work_item, number;
};
// Of the cell in this row of the warp and this column. [ptx] Figures 183 to 188.
Register register_of(Moved const& m, int row, int column) {
  if (m.shape == "32x32b") return {row, column};
  if (m.split) return {row, column};  // the second half: 16 work-items on
  int const half = row / 8, eighth = row % 8;
  if (m.shape == "16x64b") return {4 * eighth + column % 2 * 2 + half, column / 2};
  if (m.shape == "16x128b") return {4 * eighth + column % 4, column / 4 * 2 + half};
  return {4 * eighth + column % 8 / 2, column / 8 * 4 + 2 * half + column % 2};
}

std::vector<Moved> shapes() {
  std::vector<Moved> all;
  for (std::string const shape : {"32x32b", "16x64b", "16x128b", "16x256b", "16x32bx2"})
    for (int repetitions = 1; repetitions <= 128; repetitions *= 2)
      for (bool const packs : {false, true}) {
        Moved m{shape, repetitions, packs, 0};
        if (shape == "16x32bx2") m = {shape, repetitions, packs, (packs ? 2 : 1) * repetitions + 3};
        if (m.registers() <= 128 && m.columns() * (packs ? 2 : 1) + m.split <= 256) all.push_back(m);
      }
  return all;
}

// What a warp's registers hold of the image (or put into it), by the figures.
template <class Use>
void each_cell(Moved const& m, int first_row, int first_column, Use use) {
  for (int half = 0; half < (m.split ? 2 : 1); ++half)
    for (int row = 0; row < m.rows(); ++row)
      for (int column = 0; column < m.columns(); ++column) {
        Register r = register_of(m, row, column);
        r.work_item += 16 * half;
        int const to = first_column + column * (m.packs ? 2 : 1) + half * m.split;
        use(r, first_row + row, to);
      }
}

std::string transfer(Moved const& m, bool load, std::string const& address) {
  std::string const packs = m.packs ? (load ? ".pack::16b" : ".unpack::16b") : "";
  std::string const split = m.split ? ", " + std::to_string(m.split) : "";
  std::string const registers = register_list('a', m.registers());
  std::string const opcode = std::string(load ? " tcgen05.ld" : " tcgen05.st") + ".sync.aligned." + m.shape + ".x" +
                             std::to_string(m.repetitions) + packs + ".b32 ";
  return opcode + (load ? registers + ", [" + address + "]" + split : "[" + address + "]" + split + ", " + registers) +
         ";\n" + (load ? " tcgen05.wait::ld.sync.aligned;\n" : " tcgen05.wait::st.sync.aligned;\n");
}

std::string described(Moved const& m) {
  return m.shape + ".x" + std::to_string(m.repetitions) + (m.packs ? " packed" : "") + " split " +
         std::to_string(m.split);
}

}  // namespace

TEST_CASE("tcgen05.ld and tcgen05.st move every shape as its figure shows") {
  Random random{51};
  for (Moved const& m : shapes()) {
    INFO(described(m));
    int const registers = m.registers(), column = static_cast<int>(random.below(200));
    int const upper = m.rows() == 16 && (random() & 1) ? 16 : 0;
    auto const image = random_words(random, 128 * 512), values = random_words(random, 128 * registers);
    // Without the bits that say a warp an address is that of the own quarter.
    std::string const at = std::string(random() & 1 ? " add.u32 %r4, %ta, %quarter;" : " mov.u32 %r4, %ta;") +
                           " add.u32 %r4, %r4, " + std::to_string(column + upper * 65536) + ";\n";
    for (bool const load : {true, false}) {
      TensorBench bench(at + (load ? "" : values_in('a', registers, "values")) + transfer(m, load, "%r4") +
                        (load ? values_out('a', registers, "values") : ""));
      bench.image(image);
      std::uint64_t const result = bench.buffer("values", values);
      bench.run();
      REQUIRE(bench.message() == "");
      auto const after = bench.read_image();
      auto const got = bench.read<std::uint32_t>(result);
      auto expected = load ? values : image;
      for (int warp = 0; warp < 4; ++warp)
        each_cell(m, 32 * warp + upper, column, [&](Register r, int row, int to) {
          std::size_t const value = static_cast<std::size_t>((32 * warp + r.work_item) * registers + r.number);
          std::size_t const cell = static_cast<std::size_t>(row * 512 + to);
          if (load) {
            expected[value] = m.packs ? (image[cell] & 0xffff) | image[cell + 1] << 16 : image[cell];
          } else {
            expected[cell] = m.packs ? values[value] & 0xffff : values[value];
            if (m.packs) expected[cell + 1] = values[value] >> 16;
          }
        });
      CHECK((load ? got : after) == expected);
      CHECK((load ? after : got) == (load ? image : values));
    }
  }
}

TEST_CASE("tcgen05.ld.red gives the least and the largest of a lane's registers") {
  Random random{52};
  auto const value = [](std::string const& type, std::uint32_t word) -> double {
    if (type == "u32") return word;
    return type == "s32" ? static_cast<std::int32_t>(word) : std::bit_cast<float>(word);
  };
  for (std::string const type : {"f32", "u32", "s32"})
    for (std::string const operation : {"min", "max", "min.abs", "max.abs", "max.NaN", "min.abs.NaN"})
      for (Moved const& m :
           {Moved{"32x32b", 8, false, 0}, Moved{"32x32b", 2, false, 0}, Moved{"16x32bx2", 4, false, 7}}) {
        if (type != "f32" && operation.size() > 3) continue;
        bool const largest = operation.starts_with("max"), of_magnitudes = operation.find("abs") != std::string::npos,
                   shows_nan = operation.find("NaN") != std::string::npos;
        auto image = random_words(random, 128 * 512);
        for (std::uint32_t& word : image)
          if (type == "f32") word = random.below(9) == 0 ? 0x7fffffffu : word & 0xbf7fffffu;
        std::string load = transfer(m, true, "%r4");
        load.replace(load.find(".ld."), 4, ".ld.red.");
        load.replace(load.find(".b32"), 4, "." + operation + "." + type);
        load.replace(load.find("}, ["), 4, "}, %r5, [");
        TensorBench bench(" add.u32 %r4, %ta, %quarter; add.u32 %r4, %r4, 11;\n" + load + " mov.b32 %a" +
                          std::to_string(m.registers()) + ", %r5;\n" + values_out('a', m.registers() + 1, "values"));
        bench.image(image);
        std::uint64_t const result = bench.buffer("values", std::uint64_t{512} * (m.registers() + 1));
        bench.run();
        INFO(type << " " << operation << " " << described(m));
        REQUIRE(bench.message() == "");
        auto const got = bench.read<std::uint32_t>(result);
        for (std::size_t lane = 0; lane < 128; ++lane) {
          std::size_t const count = static_cast<std::size_t>(m.registers());
          std::vector<double> all;
          bool nan = false;
          for (std::size_t r = 0; r < count; ++r) {
            std::size_t const row = lane % 32 % (m.split ? 16 : 32) + lane / 32 * 32;
            std::size_t const column = 11 + r + (m.split && lane % 32 >= 16 ? 7 : 0);
            std::uint32_t const word = image[row * 512 + column];
            REQUIRE(got[lane * (count + 1) + r] == word);
            double const x = value(type, word);
            if (std::isnan(x))
              nan = true;
            else
              all.push_back(of_magnitudes ? std::fabs(x) : x);
          }
          double const reduced = value(type, got[lane * (count + 1) + count]);
          if (all.empty() || (nan && shows_nan))
            CHECK(std::isnan(reduced));
          else
            CHECK(reduced == (largest ? *std::ranges::max_element(all) : *std::ranges::min_element(all)));
        }
      }
}

TEST_CASE("tcgen05.alloc gives the first free columns, and what was freed again") {
  TensorBench bench(
      " @%first tcgen05.dealloc.cta_group::1.sync.aligned.b32 %ta, 512;\n"
      " @%first tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [slot], 64;\n ld.shared.u32 %a0, [slot];\n"
      " @%first tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [slot], 256;\n ld.shared.u32 %a1, [slot];\n"
      " @%first tcgen05.dealloc.cta_group::1.sync.aligned.b32 %a0, 64;\n"
      " @%first tcgen05.alloc.cta_group::1.sync.aligned.b32 [%generic], 32;\n ld.shared.u32 %a2, [slot];\n"
      " @%first tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [slot], 128;\n ld.shared.u32 %a3, [slot];\n"
      " @%first tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;\n"
      " @%first tcgen05.dealloc.cta_group::1.sync.aligned.b32 %a1, 256;\n"
      " @%first tcgen05.dealloc.cta_group::1.sync.aligned.b32 %a2, 32;\n"
      " @%first tcgen05.dealloc.cta_group::1.sync.aligned.b32 %a3, 128;\n" +
          values_out('a', 4, "values"),
      false, false);
  bench.image({});
  std::uint64_t const result = bench.buffer("values", std::uint64_t{16} * 128);
  bench.run();
  REQUIRE(bench.message() == "");
  auto const got = bench.read<std::uint32_t>(result);
  CHECK(std::vector(got.begin(), got.begin() + 4) == std::vector<std::uint32_t>{0, 64, 0, 320});
}

TEST_CASE("tensor memory of a group begins as zeros, whatever the group before left there") {
  TensorBench bench(
      " mov.u32 %a0, 77; add.u32 %r4, %ta, %quarter;\n"
      " tcgen05.ld.sync.aligned.32x32b.x1.b32 %a1, [%r4+7];\n"
      " tcgen05.st.sync.aligned.32x32b.x1.b32 [%r4+7], {%a0};\n mov.u32 %a0, %a1;\n" +
          values_out('a', 1, "values"),
      true, false);
  bench.image({});
  std::uint64_t const result = bench.buffer("values", std::uint64_t{4} * 128);
  bench.launch.grid = {3, 1, 1};
  bench.run();
  REQUIRE(bench.message() == "");
  CHECK(bench.read<std::uint32_t>(result) == std::vector<std::uint32_t>(128));
}

TEST_CASE("tcgen05 names what is wrong with tensor memory") {
  auto const found = [](std::string const& body, bool frees = true) {
    TensorBench bench(body, frees, false);
    bench.image({});
    bench.buffer("values", std::uint64_t{4} * 128);
    bench.run();
    return bench.message();
  };
  std::string const alloc = " @%first tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [slot], ";
  std::string const free = " @%first tcgen05.dealloc.cta_group::1.sync.aligned.b32 %ta, ";
  CHECK_THAT(found(alloc + "48;\n"), Contains("allocates 48 columns of tensor memory: it must be a power of two"));
  CHECK_THAT(found(alloc + "1024;\n"), Contains("it must be a power of two from 32 to 512"));
  CHECK_THAT(found(alloc + "0;\n"), Contains("it must be a power of two from 32 to 512"));
  CHECK_THAT(found(alloc + "32;\n"), Contains("waits for ever for 32 neighbouring columns"));
  CHECK_THAT(found(free + "256;\n"), Contains("frees 256 columns of tensor memory at address 0, where 512"));
  CHECK_THAT(found(free + "512;\n" + free + "512;\n"), Contains("no allocation begins, or it has been freed"));
  CHECK_THAT(found("", false), Contains("the group ends with 512 columns of tensor memory that it has not freed"));
  CHECK_THAT(found(" @%first tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;\n" + free + "512;\n" + alloc +
                   "32;\n"),
             Contains("after the group has relinquished the permit"));
  CHECK_THAT(found(free + "512;\n" + alloc +
                   "32;\n add.u32 %r4, %quarter, 31;\n"
                   " tcgen05.ld.sync.aligned.32x32b.x2.b32 {%a0, %a1}, [%r4];\n"),
             Contains("of columns 31 to 32 of tensor memory, which are not all allocated"));
  CHECK_THAT(found(" add.u32 %r4, %quarter, 511;\n tcgen05.ld.sync.aligned.32x32b.x2.b32 {%a0, %a1}, [%r4];\n"),
             Contains("of columns 511 to 512 of tensor memory, which do not all exist"));
  CHECK_THAT(found(" tcgen05.ld.sync.aligned.32x32b.x1.b32 %a0, [%ta+4194304];\n"),
             Contains("accesses lanes of tensor memory from 64 on; a warp of this number has 0 to 31"));
  CHECK_THAT(found(" add.u32 %r4, %quarter, 0x80000;\n tcgen05.st.sync.aligned.16x64b.x1.b32 [%r4], %a0;\n"),
             Contains("accesses lanes of tensor memory from 8 on; a warp of this number has 0 to 31, and 16 of them"));
  CHECK_THAT(found(" mad.lo.u32 %r4, %laneid, 2, %quarter;\n tcgen05.st.sync.aligned.32x32b.x1.b32 [%r4], %a0;\n"),
             Contains("lanes of a warp name different addresses"));
  CHECK_THAT(found(" setp.lt.u32 %p, %r0, 20; @%p tcgen05.st.sync.aligned.32x32b.x1.b32 [%ta], %a0;\n"),
             Contains("needs all 32 lanes of the warp"));
  CHECK_THAT(found(free + "512;\n @%first tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 [slot], 32;\n"),
             Contains("needs a cluster with an even number of groups"));
}

TEST_CASE("what was never written in tensor memory is named where observers need to know") {
  struct Needing : Observer {
    bool needs_written() const override { return true; }
    std::unique_ptr<Observer> fork() const override { return std::make_unique<Needing>(); }
    void join(Observer const&) override {}
  };
  auto const found = [](std::string const& body) {
    TensorBench bench(" add.u32 %r4, %ta, %quarter; mov.u32 %a0, 1;\n" + body, true, false);
    bench.image({});
    bench.buffer("values", std::uint64_t{4} * 128);
    Needing needing;
    Observer* const observers[] = {&needing};
    bench.run(observers);
    return bench.message();
  };
  std::string const store = " tcgen05.st.sync.aligned.32x32b.x1.b32 [%r4], %a0;\n";
  CHECK(found(store + " tcgen05.ld.sync.aligned.32x32b.x1.b32 %a0, [%r4];\n") == "");
  CHECK_THAT(found(store + " tcgen05.ld.sync.aligned.32x32b.x2.b32 {%a0, %a1}, [%r4];\n"),
             Contains("reads tensor memory that was never written: lane 0, column 1"));
  // Some rows of a column are enough: a load of all lanes may be of half of them.
  std::string const half = " tcgen05.st.sync.aligned.16x64b.x1.b32 [%r4], %a0;\n";
  CHECK(found(half + " tcgen05.ld.sync.aligned.32x32b.x1.b32 %a0, [%r4];\n") == "");
  CHECK_THAT(found(half + " add.u32 %r4, %r4, 0x100000; tcgen05.ld.sync.aligned.16x64b.x1.b32 %a0, [%r4];\n"),
             Contains("reads tensor memory that was never written: lane 16, column 0"));
  // Products read every cell of D and of scales.
  auto const never = Contains("reads tensor memory that was never written: lane 0, column 0");
  std::string const product =
      " setp.eq.u32 %p, %r0, 0; mov.b32 %r5, 0x8040010; mov.b64 %q4, 0x4000000800080000; setp.eq.u32 %done, 0, 0;\n"
      " mov.b64 %q4, 0x0000400800080000;\n @%p tcgen05.mma.cta_group::1.kind::f16 [%ta], %q4, %q4, %r5, %done;\n";
  CHECK_THAT(found(product), never);
  CHECK(
      found(" mov.u32 %a1, 1;\n tcgen05.st.sync.aligned.32x32b.x16.b32 [%r4], {%a0, %a0, %a0, %a0, %a0, %a0, %a0, %a0, "
            "%a0, %a0, %a0, %a0, %a0, %a0, %a0, %a0}; bar.sync 0;\n" +
            product) == "");
}

TEST_CASE("a launch goes on after accesses of tensor memory that are passed over") {
  TensorBench bench(
      " mov.u32 %a0, 5; tcgen05.ld.sync.aligned.32x32b.x1.b32 %a0, [%ta+512];\n" + values_out('a', 1, "values"), true,
      false);
  bench.image({});
  std::uint64_t const result = bench.buffer("values", std::vector<std::uint32_t>(128, 9));
  PassedOver passed;
  Limits limits;
  limits.passed_over = &passed;
  bench.run({}, limits);
  CHECK(bench.message() == "");
  CHECK(bench.read<std::uint32_t>(result) == std::vector<std::uint32_t>(128));
}

TEST_CASE("tcgen05.cp fills tensor memory from shared memory in every shape, with every swizzle") {
  Random random{52};
  struct Copied {
    std::string shape;
    int rows, bytes;
    std::vector<int> hops;  // of 32 rows (of 4x256b: of one row) each: the lanes that they begin at
    std::vector<int> copies;
  };
  std::vector<Copied> const all = {{"128x256b", 128, 32, {0, 32, 64, 96}, {0}},
                                   {"128x128b", 128, 16, {0, 32, 64, 96}, {0}},
                                   {"4x256b", 4, 32, {0, 32, 64, 96}, {0}},
                                   {"64x128b.warpx2::02_13", 64, 16, {0, 32}, {0, 64}},
                                   {"64x128b.warpx2::01_23", 64, 16, {0, 64}, {0, 32}},
                                   {"32x128b.warpx4", 32, 16, {0}, {0, 32, 64, 96}}};
  for (Copied const& x : all)
    for (int const swizzle : {16, 32, 64, 128})
      for (int const unpacked : {0, 4, 6}) {
        INFO(x.shape << " swizzle " << swizzle << " bits " << unpacked);
        StoredMatrix s;
        s.swizzle_bytes = swizzle;
        s.start = 1024;
        s.stride = 8 * swizzle + (swizzle == 16 ? 16 : 0);
        s.leading = swizzle == 16 ? 16 * 1024 : 16;
        auto const image = random_words(random, 128 * 512);
        auto const shared = random_bytes(random, shared_image_bytes);
        int const column = static_cast<int>(random.below(500)), lane = x.rows == 4 ? 31 : 0;
        TensorBench bench(" mov.b64 %q4, " + std::to_string(s.descriptor()) +
                          "; setp.eq.u32 %p, %r0, 0;\n @%p tcgen05.cp.cta_group::1." + x.shape +
                          (unpacked == 4   ? ".b8x16.b4x16_p64"
                           : unpacked == 6 ? ".b8x16.b6x16_p32"
                                           : "") +
                          " [%ta+" + std::to_string(column + 65536 * lane) + "], %q4;\n");
        bench.image(image);
        bench.shared(shared);
        bench.run();
        REQUIRE(bench.message() == "");
        auto expected = image;
        for (int row = 0; row < x.rows; ++row)
          for (int byte = 0; byte < x.bytes; ++byte) {
            std::uint8_t value = 0;
            if (unpacked == 0) {
              value = shared.at(static_cast<std::size_t>(s.bit_of(row, byte, 8) / 8));
            } else {  // sixteen elements, one after the other, then padding
              for (int bit = 0; bit < unpacked; ++bit) {
                int const in_row = byte / 16 * 128 + byte % 16 * unpacked + bit;
                int const place = s.bit_of(row, in_row / 8, 8) / 8;
                int const to = unpacked == 4 ? bit + 2 : bit;
                value |=
                    static_cast<std::uint8_t>((shared.at(static_cast<std::size_t>(place)) >> in_row % 8 & 1) << to);
              }
            }
            for (int const copy : x.copies) {
              int const to = lane + copy +
                             (x.rows == 4 ? x.hops[static_cast<std::size_t>(row)]
                                          : x.hops[static_cast<std::size_t>(row / 32)] + row % 32);
              std::uint32_t& cell = expected.at(static_cast<std::size_t>(to * 512 + column + byte / 4));
              int const shift = 8 * (byte % 4);
              cell = (cell & ~(0xffu << shift)) | std::uint32_t{value} << shift;
            }
          }
        CHECK(bench.read_image() == expected);
      }
}

TEST_CASE("tcgen05.cp finds descriptors of nothing, and places beyond both memories") {
  auto const found = [](std::uint64_t descriptor, int address) {
    TensorBench bench(" mov.b64 %q4, " + std::to_string(descriptor) +
                      "; setp.eq.u32 %p, %r0, 0;\n @%p tcgen05.cp.cta_group::1.128x256b [%ta+" +
                      std::to_string(address) + "], %q4;\n");
    bench.image(std::vector<std::uint32_t>(128 * 512));
    bench.run();
    return bench.message();
  };
  StoredMatrix s;
  s.stride = 128;
  s.leading = 2048;
  CHECK(found(s.descriptor(), 0) == "");
  CHECK_THAT(found(s.descriptor() & ~(std::uint64_t{1} << 46), 0), Contains("not a matrix descriptor of tcgen05"));
  CHECK_THAT(found(s.descriptor() | std::uint64_t{3} << 61, 0), Contains("its swizzle 0, 1, 2, 4 or 6"));
  CHECK_THAT(found(s.descriptor() | std::uint64_t{1} << 52, 0), Contains("absolute leading address"));
  CHECK_THAT(found(s.descriptor(), 505), Contains("columns 505 to 512 of tensor memory, which do not all exist"));
  CHECK_THAT(found(s.descriptor(), 1 << 16), Contains("accesses lanes 1 to 128 of columns 0 to 7"));
  s.start = 0x3fff0;
  CHECK_THAT(found(s.descriptor(), 0), Contains("shared load of 16 bytes at offset"));
}

TEST_CASE("tcgen05.shift moves lanes down by one within their quarter") {
  Random random{53};
  auto const image = random_words(random, 128 * 512);
  TensorBench bench(" setp.eq.u32 %p, %r0, 0;\n @%p tcgen05.shift.cta_group::1.down [%ta+" +
                    std::to_string((64 << 16) + 40) + "];\n");
  bench.image(image);
  bench.run();
  REQUIRE(bench.message() == "");
  auto expected = image;
  for (std::size_t lane = 64; lane < 95; ++lane)
    for (std::size_t column = 40; column < 48; ++column)
      expected[lane * 512 + column] = image[(lane + 1) * 512 + column];
  CHECK(bench.read_image() == expected);
}

TEST_CASE("tcgen05.commit arrives at its mbarrier, and one that nothing commits to is a deadlock") {
  auto const outcome = [](std::string const& commit) {
    TensorBench bench(" setp.eq.u32 %p, %r0, 0;\n @%p mbarrier.init.shared::cta.b64 [bar], 1;\n bar.sync 0;\n" +
                      commit +
                      "again:\n mbarrier.try_wait.parity.shared::cta.b64 %done, [bar], 0;\n @!%done bra again;\n");
    bench.image(std::vector<std::uint32_t>(128 * 512));
    bench.run();
    return bench.message();
  };
  CHECK(outcome(" @%p tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [bar];\n") == "");
  CHECK(outcome(" mov.u32 %r4, bar; @%p tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 "
                "[%r4];\n") == "");
  CHECK_THAT(outcome(""), Contains("deadlock: waits for ever for phase 0 of the mbarrier"));
}

TEST_CASE("tcgen05 refuses what PTX does not have") {
  for (std::string const& instruction : std::vector<std::string>{
           "tcgen05.ld.sync.aligned.32x32b.x3.b32 {%a0, %a1, %a2}, [%ta]",
           "tcgen05.ld.sync.aligned.32x32b.x2.b32 %a0, [%ta]",
           "tcgen05.ld.sync.aligned.32x32b.x1.unpack::16b.b32 %a0, [%ta]",
           "tcgen05.ld.sync.aligned.16x32bx2.x1.b32 %a0, [%ta]",
           "tcgen05.st.sync.aligned.16x256b.x64.b32 [%ta], " + register_list('a', 128),
           "tcgen05.alloc.sync.aligned.shared::cta.b32 [slot], 32", "tcgen05.cp.cta_group::1.32x128b [%ta], %q4",
           "tcgen05.cp.cta_group::1.128x256b.b4x16_p64 [%ta], %q4", "tcgen05.unheard.cta_group::1 [%ta]",
           "tcgen05.ld.red.sync.aligned.32x32b.x1.max.f32 {%a0}, %a2, [%ta]",
           "tcgen05.ld.red.sync.aligned.32x32b.x2.max.abs.u32 {%a0, %a1}, %a2, [%ta]"}) {
    INFO(instruction);
    TensorBench bench(" " + instruction + ";\n", true, false);
    bench.image({});
    bench.run();
    REQUIRE(bench.outcome.finding);
    CHECK(bench.outcome.finding->kind == Finding::Kind::unknown_opcode);
  }
}
