// Copies of tiles against the boxes of tensors by their definition, element by element.
#include "emulator/tensor_map.hpp"

#include <optional>

#include "catch.hpp"
#include "harness.hpp"

using namespace kernelcast::emu;
using namespace kernelcast::emu::test;
using kernelcast::ptx::StateSpace;
using Element = TensorMap::Element;

namespace {

constexpr std::uint32_t shared_bytes = 64 * 1024;

std::uint32_t element_bytes(Element element) {
  return element_bits(element) / 8;
}

struct Tensor {
  TensorMap map;
  std::vector<std::uint8_t> bytes;
  std::int32_t at[TensorMap::max_rank] = {};

  std::uint32_t count(std::uint32_t i) const {
    return i == 0 ? map.box[0] : (map.box[i] + map.steps[i] - 1u) / map.steps[i];
  }
  std::uint32_t box_elements() const {
    std::uint32_t n = 1;
    for (std::uint32_t i = 0; i < map.rank(); ++i) n *= count(i);
    return n;
  }
  std::uint32_t box_bytes() const { return box_elements() * element_bytes(map.element); }
  std::uint32_t pitch() const { return map.swizzle ? 16u << map.swizzle : map.box[0] * element_bytes(map.element); }
  std::uint32_t swizzled(std::uint32_t offset) const {
    std::uint32_t const atom = map.atoms == 0 ? 16 : map.atoms == 1 ? 32 : 64;
    std::uint32_t const span = map.swizzle ? (16u << map.swizzle) / atom : 1;
    std::uint32_t const line = offset / 128 % span, piece = offset / atom;
    return (piece ^ line) * atom + offset % atom;
  }
  // Of element n of the box: where it lies in global memory, if the tensor has it, and in shared memory.
  bool find(std::uint32_t n, std::uint64_t& global, std::uint32_t& shared) const {
    std::uint32_t const size = element_bytes(map.element), x = n % map.box[0], row = n / map.box[0];
    shared = swizzled(row * pitch() + x * size);
    std::int64_t position = std::int64_t{at[0]} + x;
    bool inside = position >= 0 && position < std::int64_t{map.dims[0]};
    global = static_cast<std::uint64_t>(position) * size;
    std::uint32_t rest = row;
    for (std::uint32_t i = 1; i < map.rank(); ++i) {
      position = std::int64_t{at[i]} + rest % count(i) * map.steps[i];
      rest /= count(i);
      inside = inside && position >= 0 && position < std::int64_t{map.dims[i]};
      global += static_cast<std::uint64_t>(position) * map.strides[i - 1];
    }
    return inside;
  }
};

Tensor random_tensor(Random& random, std::uint32_t rank, Element element, std::uint32_t swizzle) {
  Tensor t;
  TensorMap& m = t.map;
  std::uint32_t const size = element_bytes(element);
  m.last_dim = static_cast<std::uint8_t>(rank - 1);
  m.element = element;
  m.swizzle = static_cast<std::uint8_t>(swizzle);
  if (swizzle == 3) m.atoms = std::array<std::uint8_t, 3>{0, 1, 3}[random.below(3)];
  std::uint32_t const most = swizzle ? 1u << swizzle : 256 * size / 16 < 9 ? 256 * size / 16 : 9;
  m.box[0] = static_cast<std::uint16_t>((1 + random.below(most)) * 16 / size);
  m.dims[0] = 1 + random.below(2u * m.box[0]);
  std::uint64_t stride = (m.dims[0] * size + 15) / 16 * 16;
  std::uint64_t end = stride;
  for (std::uint32_t i = 0; i < rank; ++i) {
    m.steps[i] = static_cast<std::uint8_t>(random() & 1 ? 1 : 1 + random.below(3));
    if (i > 0) {
      m.box[i] = static_cast<std::uint16_t>(1 + random.below(rank > 3 ? 3 : 9));
      m.dims[i] = 1 + random.below(2u * m.box[i]);
      m.strides[i - 1] = stride + 16 * random.below(3);
      stride = end = m.strides[i - 1] * m.dims[i];
    }
    t.at[i] = static_cast<std::int32_t>(random.below(m.dims[i] + m.box[i] + 2)) - m.box[i];
    if (i == 0 && random() & 1) t.at[i] = t.at[i] / static_cast<int>(16 / size) * static_cast<int>(16 / size);
  }
  t.bytes.resize(end);
  for (std::uint8_t& b : t.bytes) b = static_cast<std::uint8_t>(random());
  return t;
}

std::string coordinates(Tensor const& t) {
  std::string text = "{";
  for (std::uint32_t i = 0; i < t.map.rank(); ++i) text += (i ? ", " : "") + std::to_string(t.at[i]);
  return text + "}";
}

// Parameters: the map itself, a pointer to another copy of it, the tensor's buffer, a buffer as large as shared memory.
std::string const begin =
    ".visible .entry k(.param .align 64 .b8 map[128], .param .u64 pm, .param .u64 pt, .param .u64 image) {\n"
    " .reg .b32 %r<16>; .reg .b64 %q<16>; .reg .pred %p, %done;\n .shared .align 1024 .b8 sm[" +
    std::to_string(shared_bytes) +
    "]; .shared .align 8 .b64 bar;\n ld.param.u64 %q1, [image]; mov.u32 %r0, %tid.x; mov.u32 %r1, %ntid.x; mov.b64 "
    "%q2, "
    "map; cvta.param.u64 %q2, %q2; ld.param.u64 %q3, [pm];\n";
// Both ways between shared memory and the image, 16 bytes per work-item.
std::string copy_image(bool load, std::string const& label) {
  std::string const global = "[%q4]", shared = "[%r2]", values = "{%r4, %r5, %r6, %r7}";
  return " shl.b32 %r2, %r0, 4; shl.b32 %r3, %r1, 4;\n" + label + ":\n cvt.u64.u32 %q4, %r2; add.u64 %q4, %q4, %q1;\n" +
         (load ? " ld.global.v4.b32 " + values + ", " + global + "; st.shared.v4.b32 " + shared + ", " + values + ";\n"
               : " ld.shared.v4.b32 " + values + ", " + shared + "; st.global.v4.b32 " + global + ", " + values +
                     ";\n") +
         " add.u32 %r2, %r2, %r3; setp.lt.u32 %p, %r2, " + std::to_string(shared_bytes) + "; @%p bra " + label +
         ";\n bar.sync 0;\n";
}
std::string load_tile(Tensor const& t, std::string const& map, std::uint32_t expected) {
  return " setp.ne.u32 %p, %r0, 0; @%p bra wait;\n mbarrier.init.shared.b64 [bar], 1; "
         "fence.mbarrier_init.release.cluster;\n"
         " mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], " +
         std::to_string(expected) + ";\n cp.async.bulk.tensor." + std::to_string(t.map.rank()) +
         "d.shared::cluster.global.mbarrier::complete_tx::bytes [sm], [" + map + ", " + coordinates(t) +
         "], [bar];\nwait:\n bar.sync 0;\nagain:\n mbarrier.try_wait.parity.shared::cta.b64 %done, [bar], 0; @!%done "
         "bra "
         "again;\n";
}
std::string store_tile(Tensor const& t, std::string const& opcode = "cp.async.bulk.tensor",
                       std::string const& op = "") {
  return " setp.ne.u32 %p, %r0, 0; @%p bra done;\n fence.proxy.async.shared::cta;\n " + opcode + "." +
         std::to_string(t.map.rank()) + "d.global.shared::cta" + op + ".tile.bulk_group [%q3, " + coordinates(t) +
         "], [sm];\n cp.async.bulk.commit_group; cp.async.bulk.wait_group.read 0;\ndone:\n";
}

struct TileBench : Bench {
  std::uint64_t tensor = 0, image = 0;
  TileBench(Tensor t, std::string const& body, std::vector<std::uint8_t> const& shared, std::uint32_t threads)
      : Bench(begin + body + " ret;\n}\n") {
    tensor = memory.add("tensor", t.bytes.size());
    std::ranges::copy(std::as_bytes(std::span(t.bytes)), memory.bytes(tensor).begin());
    if (t.map.address == 0) t.map.address = tensor;
    launch.parameters.resize(sizeof(TensorMap));
    std::memcpy(launch.parameters.data(), &t.map, sizeof t.map);
    std::vector<std::uint8_t> map(sizeof(TensorMap));
    std::memcpy(map.data(), &t.map, sizeof t.map);
    buffer("map", map);
    argument(tensor);
    image = buffer("image", shared);
    launch.block = {threads, 1, 1};
  }
  std::string message() const { return outcome.finding ? outcome.finding->message : ""; }
};

std::string described(Tensor const& t) {
  std::string text = "rank " + std::to_string(t.map.rank()) + " element " +
                     std::to_string(static_cast<int>(t.map.element)) + " swizzle " + std::to_string(t.map.swizzle) +
                     " at " + coordinates(t);
  for (std::uint32_t i = 0; i < t.map.rank(); ++i)
    text += " [" + std::to_string(t.map.dims[i]) + ", box " + std::to_string(t.map.box[i]) + " by " +
            std::to_string(t.map.steps[i]) + "]";
  return text;
}

std::vector<std::uint8_t> random_image(Random& random) {
  std::vector<std::uint8_t> image(shared_bytes);
  for (std::uint8_t& b : image) b = static_cast<std::uint8_t>(random());
  return image;
}

Tensor simple(Element element = Element::f16) {
  Tensor t;
  t.map.element = element;
  t.map.last_dim = 1;
  t.map.dims[0] = 64;
  t.map.dims[1] = 40;
  t.map.strides[0] = 64 * element_bytes(element);
  t.map.box[0] = 32;
  t.map.box[1] = 8;
  t.map.steps[0] = t.map.steps[1] = 1;
  t.bytes.resize(t.map.strides[0] * 40);
  for (std::size_t i = 0; i < t.bytes.size(); ++i) t.bytes[i] = static_cast<std::uint8_t>(i * 7 % 251);
  return t;
}

struct Traffic : Observer {
  struct Sums {
    std::uint64_t bytes = 0, accesses = 0;
    std::uint32_t issuer = 77;
  };
  Sums of[2][3];  // global, shared; by direction
  void memory(MemoryAccess const& a) override {
    Sums& s = of[a.space == StateSpace::shared][static_cast<int>(a.direction)];
    for (std::uint32_t w = 0; w < a.lanes.warps; ++w)
      s.bytes += static_cast<std::uint64_t>(std::popcount(a.lanes.masks[w])) * a.bytes_per_lane;
    ++s.accesses;
    s.issuer = a.issuer;
  }
  std::unique_ptr<Observer> fork() const override { return std::make_unique<Traffic>(); }
  void join(Observer const& other) override {
    auto const& o = static_cast<Traffic const&>(other);
    for (int s = 0; s < 2; ++s)
      for (int d = 0; d < 3; ++d) {
        of[s][d].bytes += o.of[s][d].bytes;
        of[s][d].accesses += o.of[s][d].accesses;
        of[s][d].issuer = std::min(of[s][d].issuer, o.of[s][d].issuer);
      }
  }
};

}  // namespace

TEST_CASE("a tile is loaded from tensors of every rank and type, and filled beyond them") {
  Random random{41};
  for (int round = 0; round < 400; ++round) {
    auto const element = static_cast<Element>(random.below(static_cast<std::uint32_t>(Element::b4)));
    Tensor t = random_tensor(random, 1 + random.below(5), element, random.below(4));
    bool const nan = element >= Element::f16 && (random() & 1);
    t.map.fill = nan;
    std::vector<std::uint8_t> const before = random_image(random);
    std::uint32_t const threads = std::array{1u, 20u, 32u, 128u}[random.below(4)];
    TileBench bench(
        t,
        copy_image(true, "in") + load_tile(t, random() & 1 ? "%q2" : "%q3", t.box_bytes()) + copy_image(false, "out"),
        before, threads);
    bench.run();
    INFO(described(t));
    REQUIRE(bench.message() == "");
    std::vector<std::uint8_t> expected = before;
    std::uint32_t const size = element_bytes(element);
    for (std::uint32_t n = 0; n < t.box_elements(); ++n) {
      std::uint64_t global = 0;
      std::uint32_t shared = 0;
      bool const inside = t.find(n, global, shared);
      for (std::uint32_t b = 0; b < size; ++b)
        expected.at(shared + b) = inside ? t.bytes.at(global + b) : nan ? (b == size - 1 ? 0x7f : 0xff) : 0;
    }
    auto const result = bench.read<std::uint8_t>(bench.image);
    // The mbarrier lies in the image, too.
    for (std::size_t i = 0; i < result.size(); ++i)
      if (result[i] != expected[i]) FAIL_CHECK("byte " << i << ": " << int{result[i]} << " != " << int{expected[i]});
  }
}

TEST_CASE("elements of 4 and 6 bits are packed in the tensor, and with padding in shared memory") {
  Random random{47};
  struct Packed {
    Element element;
    std::uint32_t bits, in_piece;  // elements of 16 bytes of shared memory
  };
  for (Packed const& x :
       {Packed{Element::b4, 4, 32}, Packed{Element::b4_padded, 4, 16}, Packed{Element::b6_padded, 6, 16}})
    for (int round = 0; round < 30; ++round) {
      Tensor t;
      TensorMap& m = t.map;
      m.element = x.element;
      m.last_dim = 1;
      m.swizzle = static_cast<std::uint8_t>(random.below(4));
      std::uint32_t const pieces = m.swizzle ? 1 + random.below(1u << m.swizzle) : 1 + random.below(8);
      m.box[0] = static_cast<std::uint16_t>(pieces * x.in_piece);
      m.dims[0] = x.in_piece * (1 + random.below(2 * pieces));
      if (x.element == Element::b4) m.dims[0] -= 2 * random.below(8);
      m.box[1] = static_cast<std::uint16_t>(1 + random.below(9));
      m.dims[1] = 1 + random.below(2u * m.box[1]);
      m.steps[0] = m.steps[1] = 1;
      m.strides[0] = (m.dims[0] * x.bits / 8 + 15) / 16 * 16;
      t.bytes = random_image(random);
      t.bytes.resize(m.strides[0] * m.dims[1]);
      t.at[0] = static_cast<std::int32_t>(x.in_piece * random.below(4)) - static_cast<std::int32_t>(x.in_piece);
      t.at[1] = static_cast<std::int32_t>(random.below(m.dims[1])) - 2;
      std::vector<std::uint8_t> const before = random_image(random);
      std::uint32_t const pitch = m.swizzle ? 16u << m.swizzle : 16 * pieces;
      TileBench bench(t,
                      copy_image(true, "in") + load_tile(t, "%q3", x.in_piece * x.bits / 8 * pieces * m.box[1]) +
                          copy_image(false, "out"),
                      before, 32);
      bench.run();
      INFO(described(t));
      REQUIRE(bench.message() == "");
      std::vector<std::uint8_t> expected = before;
      for (std::uint32_t row = 0; row < m.box[1]; ++row)
        for (std::uint32_t piece = 0; piece < pieces; ++piece) {
          std::uint8_t bytes[16] = {};
          for (std::uint32_t bit = 0; bit < x.in_piece * x.bits; ++bit) {
            std::int64_t const column = t.at[0] + static_cast<std::int64_t>(piece * x.in_piece + bit / x.bits);
            std::int64_t const y = t.at[1] + static_cast<std::int64_t>(row);
            if (column < 0 || column >= m.dims[0] || y < 0 || y >= m.dims[1]) continue;
            std::uint64_t const in_row = static_cast<std::uint64_t>(column) * x.bits + bit % x.bits;
            std::uint8_t const byte = t.bytes.at(static_cast<std::uint64_t>(y) * m.strides[0] + in_row / 8);
            bytes[bit / 8] |= static_cast<std::uint8_t>((byte >> in_row % 8 & 1) << bit % 8);
          }
          for (std::uint32_t i = 0; i < 16; ++i) expected.at(t.swizzled(row * pitch + piece * 16) + i) = bytes[i];
        }
      CHECK(bench.read<std::uint8_t>(bench.image) == expected);
    }
}

TEST_CASE("a tile is stored where the tensor is, and nowhere else") {
  Random random{42};
  for (int round = 0; round < 200; ++round) {
    auto const element = static_cast<Element>(random.below(static_cast<std::uint32_t>(Element::b4)));
    Tensor const t = random_tensor(random, 1 + random.below(5), element, random.below(4));
    std::vector<std::uint8_t> const image = random_image(random);
    TileBench bench(t, copy_image(true, "in") + store_tile(t), image, 64);
    bench.run();
    INFO(described(t));
    REQUIRE(bench.message() == "");
    std::vector<std::uint8_t> expected = t.bytes;
    for (std::uint32_t n = 0; n < t.box_elements(); ++n) {
      std::uint64_t global = 0;
      std::uint32_t shared = 0;
      if (!t.find(n, global, shared)) continue;
      for (std::uint32_t b = 0; b < element_bytes(element); ++b) expected.at(global + b) = image.at(shared + b);
    }
    REQUIRE(bench.read<std::uint8_t>(bench.tensor) == expected);
  }
}

TEST_CASE("a tile is added to a tensor, and combined with it otherwise") {
  Random random{43};
  auto const run = [&](Element element, std::string const& op, auto of, auto combine) {
    Tensor t = random_tensor(random, 2, element, 0);
    using T = decltype(of);
    std::vector<std::uint8_t> const image = random_image(random);
    TileBench bench(t, copy_image(true, "in") + store_tile(t, "cp.reduce.async.bulk.tensor", "." + op), image, 32);
    bench.run();
    INFO(described(t) << op);
    REQUIRE(bench.message() == "");
    std::vector<std::uint8_t> expected = t.bytes;
    for (std::uint32_t n = 0; n < t.box_elements(); ++n) {
      std::uint64_t global = 0;
      std::uint32_t shared = 0;
      if (!t.find(n, global, shared)) continue;
      T a, b;
      std::memcpy(&a, &expected.at(global), sizeof a);
      std::memcpy(&b, &image.at(shared), sizeof b);
      T const c = static_cast<T>(combine(a, b));
      std::memcpy(&expected.at(global), &c, sizeof c);
    }
    REQUIRE(bench.read<std::uint8_t>(bench.tensor) == expected);
  };
  for (int round = 0; round < 5; ++round) {
    run(Element::u32, "add", std::uint32_t{}, [](auto a, auto b) { return a + b; });
    run(Element::u64, "add", std::uint64_t{}, [](auto a, auto b) { return a + b; });
    run(Element::s32, "min", std::int32_t{}, [](auto a, auto b) { return std::min(a, b); });
    run(Element::s64, "max", std::int64_t{}, [](auto a, auto b) { return std::max(a, b); });
    run(Element::u32, "and", std::uint32_t{}, [](auto a, auto b) { return a & b; });
    run(Element::s32, "or", std::uint32_t{}, [](auto a, auto b) { return a | b; });
    run(Element::u64, "xor", std::uint64_t{}, [](auto a, auto b) { return a ^ b; });
    run(Element::u32, "inc", std::uint32_t{}, [](auto a, auto b) { return a >= b ? 0 : a + 1; });
  }
}

TEST_CASE("the traffic of a tile is that of its rows, of the lane that issues it") {
  Tensor const t = simple();
  Traffic seen;
  Observer* const observers[] = {&seen};
  TileBench load(t, load_tile(t, "%q2", t.box_bytes()), std::vector<std::uint8_t>(16), 64);
  load.run(observers);
  REQUIRE(load.message() == "");
  CHECK(seen.of[0][static_cast<int>(Direction::load)].bytes == 512);
  CHECK(seen.of[0][static_cast<int>(Direction::load)].accesses == 1);
  CHECK(seen.of[0][static_cast<int>(Direction::load)].issuer == 0);
  CHECK(seen.of[1][static_cast<int>(Direction::store)].bytes == 512 + 8);  // and the mbarrier
  Traffic stored;
  Observer* const others[] = {&stored};
  TileBench store(t, store_tile(t), std::vector<std::uint8_t>(16), 64);
  store.run(others);
  REQUIRE(store.message() == "");
  CHECK(stored.of[0][static_cast<int>(Direction::store)].bytes == 512);
  CHECK(stored.of[1][static_cast<int>(Direction::load)].bytes == 512);
}

TEST_CASE("tensormap.replace makes a map from nothing, which a warp publishes") {
  Tensor t = simple(Element::f32);
  t.map.box[0] = 16;
  t.map.swizzle = 2;
  t.at[0] = 60;
  t.at[1] = 3;
  std::string const make =
      " mov.u32 %r2, sm; shl.b32 %r3, %r0, 2; add.u32 %r2, %r2, %r3; st.shared.b32 [%r2+1024], 0; bar.warp.sync -1;\n"
      " setp.ne.u32 %p, %r0, 0; @%p bra made; ld.param.u64 %q5, [pt]; mov.u32 %r2, sm; add.u32 %r2, %r2, 1024;\n"
      " tensormap.replace.tile.global_address.shared::cta.b1024.b64 [%r2], %q5;\n"
      " tensormap.replace.tile.rank.shared::cta.b1024.b32 [%r2], 1;\n"
      " mov.u32 %r4, 16; tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [%r2], 0, %r4;\n"
      " mov.u32 %r4, 8; tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [%r2], 1, %r4;\n"
      " mov.u32 %r4, 64; tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [%r2], 0, %r4;\n"
      " mov.u32 %r4, 40; tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [%r2], 1, %r4;\n"
      " mov.u64 %q5, 256; tensormap.replace.tile.global_stride.shared::cta.b1024.b64 [%r2], 0, %q5;\n"
      " mov.u32 %r4, 1; tensormap.replace.tile.element_stride.shared::cta.b1024.b32 [%r2], 0, %r4;\n"
      " tensormap.replace.tile.element_stride.shared::cta.b1024.b32 [%r2], 1, %r4;\n"
      " tensormap.replace.tile.elemtype.shared::cta.b1024.b32 [%r2], 7;\n"
      " tensormap.replace.tile.interleave_layout.shared::cta.b1024.b32 [%r2], 0;\n"
      " tensormap.replace.tile.swizzle_mode.shared::cta.b1024.b32 [%r2], 2;\n"
      " tensormap.replace.tile.fill_mode.shared::cta.b1024.b32 [%r2], 0;\nmade:\n bar.warp.sync -1;\n"
      " mov.u32 %r2, sm; add.u32 %r2, %r2, 1024;\n tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic"
      ".release.gpu.sync.aligned [%q3], [%r2], 128;\n fence.proxy.tensormap::generic.acquire.gpu [%q3], 128;\n";
  TileBench bench(t, make + load_tile(t, "%q3", t.box_bytes()) + copy_image(false, "out"),
                  std::vector<std::uint8_t>(shared_bytes), 32);
  std::ranges::fill(bench.memory.bytes(bench.memory.buffers().at(1).address), std::byte{0xee});  // the map of pm
  bench.run();
  REQUIRE(bench.message() == "");
  auto const result = bench.read<std::uint8_t>(bench.image);
  for (std::uint32_t n = 0; n < t.box_elements(); ++n) {
    std::uint64_t global = 0;
    std::uint32_t shared = 0;
    bool const inside = t.find(n, global, shared);
    for (std::uint32_t b = 0; b < 4; ++b) REQUIRE(result.at(shared + b) == (inside ? t.bytes.at(global + b) : 0));
  }
}

TEST_CASE("what is wrong with a tile is found") {
  auto const found = [](Tensor const& t, std::string const& body) {
    TileBench bench(t, body, std::vector<std::uint8_t>(16), 32);
    bench.run();
    return bench.message();
  };
  auto const with = [&](auto change) {
    Tensor t = simple();
    change(t);
    return found(t, load_tile(t, "%q2", t.box_bytes()));
  };
  CHECK_THAT(with([](Tensor& t) { t.map.box[0] = 0; }), Contains("box must have 1 to 256 elements"));
  CHECK_THAT(with([](Tensor& t) { t.map.box[0] = 12; }), Contains("multiples of 16 bytes"));
  CHECK_THAT(with([](Tensor& t) { t.map.strides[0] = 132; }), Contains("strides must be multiples of 16"));
  CHECK_THAT(with([](Tensor& t) { t.map.swizzle = 1; }), Contains("must not be longer than its swizzle"));
  CHECK_THAT(with([](Tensor& t) { t.map.address = 40; }), Contains("multiple of 16"));
  CHECK_THAT(with([](Tensor& t) { t.map.address = 4096; }), Contains("global load of 16 bytes"));
  CHECK_THAT(with([](Tensor& t) { t.map.dims[1] = 100, t.at[1] = 36; }), Contains("global load of 16 bytes"));
  CHECK_THAT(with([](Tensor& t) { t.map.reserved[3] = 1; }), Contains("not a tensor map"));
  CHECK_THAT(with([](Tensor& t) { t.map.fill = 1, t.map.element = Element::u16; }), Contains("fill"));
  Tensor const good = simple();
  std::string const load = load_tile(good, "%q2", good.box_bytes());
  auto const changed = [&](std::string const& from, std::string const& to) {
    std::string text = load;
    text.replace(text.find(from), from.size(), to);
    return found(good, text);
  };
  CHECK_THAT(changed("[sm]", "[sm+64]"), Contains("not a multiple of 128"));
  CHECK_THAT(changed("[sm]", "[sm+65408]"), Contains("shared store of 16 bytes at offset"));
  CHECK_THAT(changed("mbarrier.init.shared.b64 [bar], 1;", ""), Contains("an mbarrier that is not initialised"));
  CHECK_THAT(changed("[%q2,", "[%q2+32,"), Contains("which is not a multiple of 64"));
  CHECK_THAT(changed("tensor.2d", "tensor.1d"), Contains("cannot be executed"));
  Tensor three = good;
  three.map.last_dim = 2;
  three.map.box[2] = three.map.steps[2] = 1;
  CHECK_THAT(found(three, load), Contains("another rank"));
  CHECK_THAT(found(simple(Element::u16), store_tile(good, "cp.reduce.async.bulk.tensor", ".add")),
             Contains("no reduction of the tensor map's element type"));
}

TEST_CASE("waiting for bytes that no copy brings is a deadlock that names the mbarrier") {
  Tensor const t = simple();
  for (std::uint32_t const threads : {1u, 32u, 96u, 512u}) {
    TileBench bench(t, load_tile(t, "%q2", t.box_bytes() + 16), std::vector<std::uint8_t>(16), threads);
    bench.run();
    CHECK_THAT(bench.message(),
               Contains("deadlock: waits for ever for phase 0 of the mbarrier at offset 65536 of shared "
                        "memory, which lacks 0 arrivals and 16 bytes of copies"));
    CHECK(bench.outcome.finding->kind == Finding::Kind::deadlock);
  }
  // One warp waits for another's last arrival, which comes late.
  TileBench late(t,
                 " setp.ne.u32 %p, %r0, 0; @%p bra begun; mbarrier.init.shared.b64 [bar], 1;\nbegun:\n bar.sync 0;\n"
                 " setp.lt.u32 %p, %r0, 32; @%p bra again;\n mov.u32 %r2, 0;\nwork:\n add.u32 %r2, %r2, 1; membar.cta; "
                 "setp.lt.u32 %p, %r2, 1000000; @%p bra work;\n setp.ne.u32 %p, %r0, 32; @%p bra done;\n"
                 " mbarrier.arrive.shared.b64 _, [bar]; bra done;\nagain:\n mbarrier.try_wait.parity.shared::cta.b64 "
                 "%done, [bar], 0; @!%done bra again;\ndone:\n",
                 std::vector<std::uint8_t>(16), 64);
  late.run();
  CHECK(late.message() == "");
}

TEST_CASE("im2col takes pixel after pixel of a box, through one image after the other") {
  Random random{44};
  for (int round = 0; round < 200; ++round) {
    std::uint32_t const rank = 3 + random.below(3), spatial = rank - 2;
    Tensor t;
    TensorMap& m = t.map;
    m.mode = TensorMap::Mode::im2col;
    m.element = Element::f16;
    m.last_dim = static_cast<std::uint8_t>(rank - 1);
    m.box[0] = 16;
    m.swizzle = static_cast<std::uint8_t>(random.below(4));
    if (m.swizzle == 0) m.box[0] = 24;
    m.pixels = static_cast<std::uint16_t>(1 + random.below(60));
    m.dims[0] = 8 + random.below(32);
    m.steps[0] = 1;
    std::uint64_t stride = (2 * m.dims[0] + 15) / 16 * 16;
    for (std::uint32_t i = 1; i < rank; ++i) {
      m.steps[i] = static_cast<std::uint8_t>(i <= spatial ? 1 + random.below(2) : 1);
      m.dims[i] = 3 + random.below(5);
      m.strides[i - 1] = stride;
      stride *= m.dims[i];
    }
    t.bytes.resize(stride);
    for (std::uint8_t& b : t.bytes) b = static_cast<std::uint8_t>(random());
    std::vector<std::uint32_t> offsets;
    std::vector<std::vector<std::int64_t>> along(rank);  // places of the box
    for (std::uint32_t i = 1; i <= spatial; ++i) {
      m.lower[i - 1] = static_cast<std::int16_t>(static_cast<int>(random.below(4)) - 2);
      m.upper[i - 1] = static_cast<std::int16_t>(static_cast<int>(random.below(3)) - 1);
      for (std::int64_t y = m.lower[i - 1]; y <= std::int64_t{m.dims[i]} - 1 + m.upper[i - 1]; y += m.steps[i])
        along[i].push_back(y);
      offsets.push_back(random.below(4));
    }
    // Pixels in their order, by images; the copy begins at one of them.
    std::vector<std::vector<std::int64_t>> pixels;
    for (std::int64_t n = 0; n < 160; ++n)
      for (std::size_t d = 0; d < (spatial > 2 ? along[3].size() : 1); ++d)
        for (std::size_t h = 0; h < (spatial > 1 ? along[2].size() : 1); ++h)
          for (std::int64_t const w : along[1]) {
            std::vector<std::int64_t> pixel = {0, w};
            if (spatial > 1) pixel.push_back(along[2][h]);
            if (spatial > 2) pixel.push_back(along[3][d]);
            pixel.push_back(n);
            pixels.push_back(pixel);
          }
    std::size_t const first = random.below(static_cast<std::uint32_t>(pixels.size() / 100));
    t.at[0] = static_cast<std::int32_t>(random.below(3)) * 8;
    for (std::uint32_t i = 1; i < rank; ++i) t.at[i] = static_cast<std::int32_t>(pixels[first][i]);
    std::string list;
    for (std::uint32_t const offset : offsets) list += (list.empty() ? "{" : ", ") + std::to_string(offset);
    std::string load = load_tile(t, "%q2", 2u * m.box[0] * m.pixels);
    load.replace(load.find("global.mbarrier"), 6, "global.im2col");
    load.replace(load.find("[bar];\nwait"), 6, "[bar], " + list + "};");
    TileBench bench(t, load + copy_image(false, "out"), std::vector<std::uint8_t>(shared_bytes), 32);
    bench.run();
    INFO(described(t));
    REQUIRE(bench.message() == "");
    auto const result = bench.read<std::uint8_t>(bench.image);
    for (std::uint32_t p = 0; p < m.pixels; ++p)
      for (std::uint32_t c = 0; c < m.box[0]; ++c) {
        std::vector<std::int64_t> place = pixels.at(first + p);
        place[0] = t.at[0] + std::int64_t{c};
        for (std::uint32_t i = 1; i <= spatial; ++i) place[i] += offsets[i - 1];
        std::uint64_t global = 2 * static_cast<std::uint64_t>(place[0]);
        bool inside = place[0] < std::int64_t{m.dims[0]};
        for (std::uint32_t i = 1; i < rank; ++i) {
          inside = inside && place[i] >= 0 && place[i] < std::int64_t{m.dims[i]};
          global += static_cast<std::uint64_t>(place[i]) * m.strides[i - 1];
        }
        std::uint32_t const offset = p * t.pitch() + 2 * c, span = m.swizzle ? 1u << m.swizzle : 1;
        std::uint32_t const shared = (offset / 16 ^ offset / 128 % span) * 16 + offset % 16;
        for (std::uint32_t b = 0; b < 2; ++b) REQUIRE(result.at(shared + b) == (inside ? t.bytes.at(global + b) : 0));
      }
  }
}

TEST_CASE("im2col::w takes pixels along one dimension, on from the coordinate, then of the next images") {
  Random random{48};
  for (int round = 0; round < 200; ++round) {
    std::uint32_t const rank = 3 + random.below(3);
    bool const of_128 = random() & 1;
    Tensor t;
    TensorMap& m = t.map;
    m.mode = of_128 ? TensorMap::Mode::wide_128 : TensorMap::Mode::wide;
    m.element = Element::f16;
    m.last_dim = static_cast<std::uint8_t>(rank - 1);
    m.swizzle = static_cast<std::uint8_t>(2 + random.below(2));
    m.box[0] = 16;
    m.pixels = static_cast<std::uint16_t>(of_128 ? 0 : 1 + random.below(200));
    std::size_t const pixels = of_128 ? 128 : m.pixels;
    m.dims[0] = 8 + random.below(32);
    m.steps[0] = 1;
    std::uint64_t stride = (2 * m.dims[0] + 15) / 16 * 16;
    for (std::uint32_t i = 1; i < rank; ++i) {
      m.steps[i] = static_cast<std::uint8_t>(i == 1 ? 1 + random.below(3) : 1);
      m.dims[i] = 3 + random.below(6);
      m.strides[i - 1] = stride;
      stride *= m.dims[i];
    }
    t.bytes.resize(stride);
    for (std::uint8_t& b : t.bytes) b = static_cast<std::uint8_t>(random());
    m.lower[0] = static_cast<std::int16_t>(static_cast<int>(random.below(4)) - 2);
    m.upper[0] = static_cast<std::int16_t>(static_cast<int>(random.below(3)) - 1);
    int const last = static_cast<int>(m.dims[1]) - 1 + m.upper[0], offset = static_cast<int>(random.below(4));
    t.at[0] = static_cast<std::int32_t>(random.below(3)) * 8;
    // From two to the left of the box to its end.
    t.at[1] = m.lower[0] - 2 + static_cast<int>(random.below(static_cast<std::uint32_t>(last - m.lower[0] + 3)));
    for (std::uint32_t i = 2; i < rank; ++i) t.at[i] = static_cast<std::int32_t>(random.below(m.dims[i] + 2)) - 1;
    std::vector<std::pair<int, int>> places;  // along the dimension; image
    for (int image = t.at[rank - 1], from = t.at[1]; places.size() < pixels; ++image, from = m.lower[0])
      for (int w = from; w <= last; w += m.steps[1]) places.emplace_back(w + offset, image);
    std::string load = load_tile(t, "%q2", static_cast<std::uint32_t>(2u * m.box[0] * pixels));
    load.replace(load.find("global.mbarrier"), 6, std::string("global.im2col::w") + (of_128 ? "::128" : ""));
    load.replace(load.find("[bar];\nwait"), 6, "[bar], {0, " + std::to_string(offset) + "};");
    TileBench bench(t, load + copy_image(false, "out"), std::vector<std::uint8_t>(shared_bytes), 32);
    bench.run();
    INFO(described(t));
    REQUIRE(bench.message() == "");
    auto const result = bench.read<std::uint8_t>(bench.image);
    for (std::uint32_t p = 0; p < pixels; ++p)
      for (std::uint32_t c = 0; c < m.box[0]; ++c) {
        std::int64_t place[5] = {t.at[0] + std::int64_t{c}, places[p].first, t.at[2], t.at[3], t.at[4]};
        place[rank - 1] = places[p].second;
        bool inside = true;
        std::uint64_t global = 2 * static_cast<std::uint64_t>(place[0]);
        for (std::uint32_t i = 0; i < rank; ++i) {
          inside = inside && place[i] >= 0 && place[i] < std::int64_t{m.dims[i]};
          if (i > 0) global += static_cast<std::uint64_t>(place[i]) * m.strides[i - 1];
        }
        std::uint32_t const shared = t.swizzled(p * t.pitch() + 2 * c);
        for (std::uint32_t b = 0; b < 2; ++b) REQUIRE(result.at(shared + b) == (inside ? t.bytes.at(global + b) : 0));
      }
  }
}

namespace {

// A tensor of two dimensions, and four rows of it by their coordinates.
struct Rows {
  Tensor t;
  std::int32_t rows[4];
  std::string place() const {
    std::string text = "{" + std::to_string(t.at[0]);
    for (std::int32_t const row : rows) text += ", " + std::to_string(row);
    return text + "}";
  }
  // each(byte of the tensor or nothing, byte of shared memory)
  template <class Each>
  void each_byte(Each each) const {
    std::uint32_t const row_bytes = t.map.box[0] * element_bytes(t.map.element);
    for (std::uint32_t r = 0; r < 4; ++r)
      for (std::uint32_t b = 0; b < row_bytes; ++b) {
        std::int64_t const x = std::int64_t{t.at[0]} * element_bytes(t.map.element) + b;
        bool const inside = x >= 0 && x < std::int64_t{t.map.dims[0]} * element_bytes(t.map.element) && rows[r] >= 0 &&
                            rows[r] < static_cast<std::int64_t>(t.map.dims[1]);
        std::optional<std::size_t> global;
        if (inside) global = static_cast<std::size_t>(rows[r]) * t.map.strides[0] + static_cast<std::size_t>(x);
        each(global, t.swizzled(r * t.pitch() + b));
      }
  }
};
Rows random_rows(Random& random) {
  Rows x{random_tensor(random, 2, static_cast<Element>(random.below(static_cast<std::uint32_t>(Element::b4))),
                       random.below(4)),
         {}};
  x.t.map.box[1] = 1;
  for (std::int32_t& row : x.rows) row = static_cast<std::int32_t>(random.below(x.t.map.dims[1] + 2)) - 1;
  return x;
}

}  // namespace

TEST_CASE("tile::gather4 loads four rows of a tensor, each by its coordinate") {
  Random random{49};
  for (int round = 0; round < 200; ++round) {
    Rows const x = random_rows(random);
    std::string load = load_tile(x.t, "%q2", 4 * x.t.map.box[0] * element_bytes(x.t.map.element));
    load.replace(load.find("global.mbarrier"), 6, "global.tile::gather4");
    load.replace(load.find(coordinates(x.t)), coordinates(x.t).size(), x.place());
    std::vector<std::uint8_t> const before = random_image(random);
    TileBench bench(x.t, copy_image(true, "in") + load + copy_image(false, "out"), before, 32);
    bench.run();
    INFO(described(x.t) << " rows " << x.place());
    REQUIRE(bench.message() == "");
    std::vector<std::uint8_t> expected = before;
    x.each_byte([&](std::optional<std::size_t> global, std::uint32_t shared) {
      expected.at(shared) = global ? x.t.bytes.at(*global) : 0;
    });
    REQUIRE(bench.read<std::uint8_t>(bench.image) == expected);
  }
}

TEST_CASE("tile::scatter4 stores four rows of a tile, each where its coordinate says") {
  Random random{50};
  for (int round = 0; round < 200; ++round) {
    Rows const x = random_rows(random);
    std::string store = store_tile(x.t);
    store.replace(store.find(".tile.bulk"), 5, ".tile::scatter4");
    store.replace(store.find(coordinates(x.t)), coordinates(x.t).size(), x.place());
    std::vector<std::uint8_t> const image = random_image(random);
    TileBench bench(x.t, copy_image(true, "in") + store, image, 32);
    bench.run();
    INFO(described(x.t) << " rows " << x.place());
    REQUIRE(bench.message() == "");
    std::vector<std::uint8_t> expected = x.t.bytes;
    x.each_byte([&](std::optional<std::size_t> global, std::uint32_t shared) {
      if (global) expected.at(*global) = image.at(shared);
    });
    REQUIRE(bench.read<std::uint8_t>(bench.tensor) == expected);
  }
}

TEST_CASE("what is wrong with rows and pixels is found") {
  auto const found = [](Tensor const& t, std::string const& mode, std::string const& place, std::string const& rest) {
    std::string load = load_tile(t, "%q2", 16);
    load.replace(load.find("global.mbarrier"), 6, "global." + mode);
    load.replace(load.find(coordinates(t)), coordinates(t).size(), place);
    load.replace(load.find("[bar];\nwait"), 6, "[bar]" + rest + ";");
    TileBench bench(t, load, std::vector<std::uint8_t>(16), 32);
    bench.run();
    return bench.message();
  };
  Tensor const plane = simple();
  CHECK_THAT(found(plane, "tile::gather4", "{0, 1, 2, 3, 4}", ""), Contains("box must be one row"));
  CHECK_THAT(found(plane, "tile::gather4", "{0, 1}", ""), Contains("cannot be executed"));
  CHECK_THAT(found(plane, "tile::scatter4", "{0, 1, 2, 3, 4}", ""), Contains("cannot be executed"));
  CHECK_THAT(found(plane, "tile::gather4.tile", "{0, 1, 2, 3, 4}", ""), Contains("cannot be executed"));
  Tensor wide = plane;
  wide.map.mode = TensorMap::Mode::wide;
  wide.map.last_dim = 2;
  wide.map.dims[2] = wide.map.steps[2] = 1;
  wide.map.strides[1] = 16;
  wide.map.pixels = 8;
  wide.map.swizzle = 2;
  CHECK_THAT(found(wide, "im2col::w", "{0, 0, 0}", ", {2, 0}"), Contains("a halo of im2col::w is not emulated"));
  CHECK_THAT(found(wide, "im2col::w::128", "{0, 0, 0}", ", {0, 0}"), Contains("another mode"));
  CHECK_THAT(found(wide, "im2col", "{0, 0, 0}", ", {0}"), Contains("another mode"));
  CHECK_THAT(found(wide, "im2col::w", "{0, 0, 0}", ", {0}"), Contains("cannot be executed"));
  wide.map.swizzle = 0;
  CHECK_THAT(found(wide, "im2col::w", "{0, 0, 0}", ", {0, 0}"), Contains("a swizzle of 64 or 128 bytes"));
}

TEST_CASE("no tensor map, coordinate or descriptor harms the host") {
  Random random{45};
  Tensor const good = simple();
  std::string const body =
      " setp.ge.u32 %p, %r0, 128; @%p bra done; ld.global.u64 %q5, [%q1]; ld.global.u64 %q6, [%q1+8]; ld.global.u32 "
      "%r8, "
      "[%q1+16]; ld.global.u32 %r9, [%q1+20];\n .reg .b32 %d<4>; wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 "
      "{%d0, "
      "%d1, %d2, %d3}, %q5, %q6, 1, 1, 1, 1, 1;\n setp.ne.u32 %p, %r0, 0; @%p bra done; mbarrier.init.shared.b64 "
      "[bar], "
      "1;\n cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [sm+1024], [%q2, {%r8, %r9}], "
      "[bar];\n cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%q3, {%r9, %r8}], [sm];\n"
      " and.b32 %r10, %r8, 1; setp.ne.u32 %p, %r10, 0; @%p bra done;\n"
      " cp.async.bulk.tensor.2d.global.shared::cta.tile::scatter4.bulk_group [%q3, {%r9, %r8, %r9, %r9, %r8}], "
      "[sm];\ndone:\n";
  int found = 0, done = 0;
  for (int round = 0; round < 1500; ++round) {
    Tensor t = good;
    auto* const bytes = reinterpret_cast<std::uint8_t*>(&t.map);
    for (std::uint32_t k = random.below(4); k > 0; --k)
      bytes[random.below(round % 2 ? 81 : 128)] = static_cast<std::uint8_t>(random());
    std::vector<std::uint8_t> image(32);
    for (std::uint8_t& b : image) b = static_cast<std::uint8_t>(random());
    if (random() & 1) std::fill(image.begin(), image.begin() + 16, std::uint8_t{0});
    if (random() & 1) std::fill(image.begin() + 16, image.end(), std::uint8_t{0});
    TileBench bench(t, body, image, 128);
    Limits limits;
    limits.max_steps = 1000000;
    bench.run({}, limits);
    ++(bench.outcome.finding ? found : done);
  }
  CHECK(found > 500);
  CHECK(done > 50);
}
