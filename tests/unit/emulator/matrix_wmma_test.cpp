// What wmma.load and wmma.store request of memory, and Volta's fragments.
//
// Of later devices: against what ptxas 13.0 makes for sm_80. Of Volta: against the threadgroups of four lanes that
// Raihan and others found on a TITAN V (Modeling Deep Learning Accelerator Enabled GPUs, ISPASS 2019; of B as later
// works correct it), against mma.m8n8k4, whose fragments PTX defines, and against closed forms of bank conflicts.
#include <array>
#include <map>
#include <set>

#include "catch.hpp"
#include "matrix_bench.hpp"

using namespace kernelcast::emu;
using namespace kernelcast::emu::test;

namespace {

struct Request {
  unsigned bytes = 0;
  std::map<unsigned, std::uint64_t> addresses;  // by lane
};

struct Requests : Observer {
  std::vector<Request> all;
  void memory(MemoryAccess const& a) override {
    Request r{a.bytes_per_lane, {}};
    for (unsigned lane = 0; lane < 32; ++lane)
      if (a.lanes.masks[0] >> lane & 1) r.addresses[lane] = a.base + a.offsets[lane];
    all.push_back(std::move(r));
  }
  std::unique_ptr<Observer> fork() const override { return std::make_unique<Requests>(); }
  void join(Observer const& other) override {
    auto const& more = static_cast<Requests const&>(other).all;
    all.insert(all.end(), more.begin(), more.end());
  }
};

struct Moved {
  std::string shape, matrix, type, layout, space;  // matrix: a, b, c, or d, which is stored
  int registers = 0, stride = 0;
};

// The requests of one instruction; addresses from where the matrix begins.
std::vector<Request> requests_of(Moved const& m, WmmaFragments fragments) {
  bool const store = m.matrix == "d";
  std::string const list = register_list('f', m.registers), at = m.space == "shared" ? "[%t0]" : "[%q0]",
                    end = ", " + std::to_string(m.stride) + ";\n",
                    type = m.type == "f64"   ? ".f64"
                           : m.type == "f32" ? ".f32"
                                             : ".b32";
  Bench bench =
      matrix_bench(" .reg " + type +
                   " %f<8>;\n .shared .align 256 .b8 sm[16384]; mov.u32 %t0, sm; ld.param.u64 %q0, [pa];\n"
                   " wmma." +
                   std::string(store ? "store." : "load.") + m.matrix + ".sync.aligned." + m.layout + "." + m.shape +
                   "." + m.space + "." + m.type + " " + (store ? at + ", " + list : list + ", " + at) + end);
  bench.program = std::make_unique<Program>(*bench.module, *bench.module->find_kernel("k"), fragments);
  std::uint64_t const buffer = bench.buffer("a", 16384);
  for (char const* name : {"b", "c", "d"}) bench.buffer(name, 4);
  Requests seen;
  Observer* const observers[] = {&seen};
  bench.run(observers);
  INFO(m.shape << ' ' << m.matrix << ' ' << m.type << ' ' << m.layout << ' ' << m.space);
  if (bench.outcome.finding) FAIL(bench.outcome.finding->message);
  for (Request& r : seen.all)
    for (auto& [lane, address] : r.addresses) address -= m.space == "shared" ? 0 : buffer;
  unsigned const known = [&] {
    unsigned most = 0;
    for (std::uint32_t i = 0; i < bench.program->kernel().instructions.size(); ++i)
      most = std::max(most, bench.program->fragment_requests(i).count);
    return most;
  }();
  CHECK(known == seen.all.size());
  return seen.all;
}

// Elements (row, column) of each lane, in the order of its requests.
using Held = std::array<std::vector<std::pair<int, int>>, 32>;
Held held(Moved const& m, WmmaFragments fragments, int element_bytes) {
  Held out;
  for (Request const& r : requests_of(m, fragments))
    for (auto const& [lane, address] : r.addresses)
      for (unsigned b = 0; b < r.bytes; b += static_cast<unsigned>(element_bytes)) {
        int const element = static_cast<int>(address + b) / element_bytes, line = element / m.stride,
                  within = element % m.stride;
        out.at(lane).push_back(m.layout == "row" ? std::pair(line, within) : std::pair(within, line));
      }
  return out;
}

std::map<std::pair<int, int>, int> times_held(Held const& h) {
  std::map<std::pair<int, int>, int> out;
  for (auto const& of_lane : h)
    for (auto const& element : of_lane) ++out[element];
  return out;
}

// Passes of 32 banks of 4 bytes: of halves of a warp for 8 bytes, of quarters for 16; equal words are one.
int passes(Request const& r) {
  unsigned const lanes = r.bytes == 16 ? 8 : r.bytes == 8 ? 16 : 32;
  int sum = 0;
  for (unsigned begin = 0; begin < 32; begin += lanes) {
    std::map<std::uint64_t, std::set<std::uint64_t>> words;  // by bank
    for (auto const& [lane, address] : r.addresses)
      if (lane / lanes == begin / lanes)
        for (unsigned b = 0; b < r.bytes; b += 4) words[(address + b) / 4 % 32].insert((address + b) / 4);
    std::size_t most = 0;
    for (auto const& [bank, of_bank] : words) most = std::max(most, of_bank.size());
    sum += static_cast<int>(most);
  }
  return sum;
}

}  // namespace

TEST_CASE("Volta's factors of m16n16k16 are those of its threadgroups, each element held twice") {
  // [raihan] The first of the four rows of A, and of the four columns of B, of threadgroup lane / 4.
  constexpr std::array<int, 8> row_of = {0, 8, 0, 8, 4, 12, 4, 12}, column_of = {0, 0, 8, 8, 4, 4, 12, 12};
  for (std::string const matrix : {"a", "b"})
    for (std::string const layout : {"row", "col"})
      for (std::string const space : {"shared", "global"}) {
        Moved const m{"m16n16k16", matrix, "f16", layout, space, 8, 40};
        bool const along_k = (matrix == "a") == (layout == "row");
        Held const h = held(m, WmmaFragments::volta, 2);
        auto const times = times_held(h);
        CHECK(times.size() == 256);
        for (auto const& [element, n] : times) CHECK(n == 2);
        for (int lane = 0; lane < 32; ++lane) {
          auto const& own = h.at(static_cast<std::size_t>(lane));
          REQUIRE(own.size() == 16);
          int const first = (matrix == "a" ? row_of : column_of).at(static_cast<std::size_t>(lane / 4));
          for (int i = 0; i < 16; ++i) {
            auto const [row, column] = own.at(static_cast<std::size_t>(i));
            int const outer = matrix == "a" ? row : column, k = matrix == "a" ? column : row;
            // Along k a lane has a whole row; else four neighbours of each fourth k.
            CHECK(outer == first + (along_k ? lane % 4 : i % 4));
            CHECK(k == (along_k ? i : 4 * (i / 4) + lane % 4));
          }
        }
      }
}

TEST_CASE("Volta's fragments cover the matrix, equally often") {
  struct Shape {
    std::string name;
    int m, n;
  };
  for (Shape const& s : {Shape{"m16n16k16", 16, 16}, Shape{"m32n8k16", 32, 8}, Shape{"m8n32k16", 8, 32}})
    for (std::string const matrix : {"a", "b", "c", "d"})
      for (std::string const type : {"f16", "f32"})
        for (std::string const layout : {"row", "col"}) {
          bool const factor = matrix == "a" || matrix == "b";
          if (factor && type == "f32") continue;
          int const size = (matrix == "b" ? 16 : s.m) * (matrix == "a" ? 16 : s.n), bytes = type == "f32" ? 4 : 2;
          Moved const m{s.name, matrix, type, layout, "global", factor || bytes == 4 ? 8 : 4, 40};
          auto const times = times_held(held(m, WmmaFragments::volta, bytes));
          INFO(s.name << ' ' << matrix << ' ' << type << ' ' << layout);
          CHECK(times.size() == static_cast<std::size_t>(size));
          for (auto const& [element, n] : times) REQUIRE(n == (factor ? 512 : 256) / size);
        }
}

TEST_CASE("a product of Volta's wmma is four of mma.m8n8k4") {
  Random random{26};
  Format const& half = format("f16");
  for (std::string const shape : {"m16n16k16", "m32n8k16", "m8n32k16"})
    for (unsigned way = 0; way < 8; ++way) {
      std::string const la = way & 1 ? "col" : "row", lb = way & 2 ? "col" : "row", sum = way & 4 ? "f16" : "f32";
      int const sums = sum == "f32" ? 8 : 4;
      std::string text = std::string(" .reg .b32 %a<8>, %b<8>; .reg ") + (sum == "f32" ? ".f32" : ".b32") +
                         " %c<8>, %d<8>, %e<8>;\n ld.param.u64 %q0, [pa]; ld.param.u64 %q1, [pb];\n";
      text += " wmma.load.a.sync.aligned." + la + "." + shape + ".global.f16 " + register_list('a', 8) + ", [%q0];\n" +
              " wmma.load.b.sync.aligned." + lb + "." + shape + ".global.f16 " + register_list('b', 8) + ", [%q1];\n";
      for (int i = 0; i < sums; ++i) text += " mov.b32 %c" + std::to_string(i) + ", 0;\n";
      std::string const types = "." + sum + "." + sum;
      text += " wmma.mma.sync.aligned." + la + "." + lb + "." + shape + types + " " + register_list('d', sums) + ", " +
              register_list('a', 8) + ", " + register_list('b', 8) + ", " + register_list('c', sums) + ";\n";
      for (int i = 0; i < sums; ++i) text += " mov.b32 %e" + std::to_string(i) + ", 0;\n";
      auto const two = [](char letter, int step) {
        std::string const name = std::string("%") + letter;
        return "{" + name + std::to_string(2 * step) + ", " + name + std::to_string(2 * step + 1) + "}";
      };
      for (int step = 0; step < 4; ++step)
        text += " mma.sync.aligned.m8n8k4." + la + "." + lb + "." + sum + ".f16.f16." + sum + " " +
                register_list('e', sums) + ", " + two('a', step) + ", " + two('b', step) + ", " +
                register_list('e', sums) + ";\n";
      text += move_registers('d', sums, false, "pc", true) + move_registers('e', sums, false, "pd", true);
      Bench bench = matrix_bench(text);
      bench.program = std::make_unique<Program>(*bench.module, *bench.module->find_kernel("k"), WmmaFragments::volta);
      for (char const* name : {"a", "b"}) {
        std::vector<std::uint16_t> content(512);
        for (std::uint16_t& v : content) v = static_cast<std::uint16_t>(random_codes(random, half, 1, 1)(0, 0));
        bench.buffer(name, content);
      }
      std::uint64_t const c = bench.buffer("c", 1024), d = bench.buffer("d", 1024);
      bench.run();
      INFO(shape << ' ' << la << ' ' << lb << ' ' << sum);
      if (bench.outcome.finding) FAIL(bench.outcome.finding->message);
      auto const expected = bench.read<std::uint32_t>(d);
      CHECK(std::set(expected.begin(), expected.end()).size() > 4);
      CHECK(bench.read<std::uint32_t>(c) == expected);
    }
}

TEST_CASE("bank conflicts of Volta's factors in closed form") {
  // Four halves of columns c and of rows 0 and 8: 16 bytes at pitch * c and at 16 + pitch * c of a half warp. With a
  // pitch of 256 bytes all columns meet, with 272 each meets the next, with 288 none.
  for (auto const& [pitch, expected] : {std::pair{256, 4}, std::pair{272, 2}, std::pair{288, 1}})
    for (std::string const matrix : {"a", "b"}) {
      auto const requests = requests_of(
          {"m16n16k16", matrix, "f16", matrix == "a" ? "col" : "row", "shared", 8, pitch / 2}, WmmaFragments::volta);
      REQUIRE(requests.size() == 4);
      for (Request const& r : requests) {
        CHECK(r.bytes == 8);
        CHECK(r.addresses.size() == 32);
        // Of B both rows of a half warp's lanes come from pairs 2 and 3.
        CHECK(passes(r) == 2 * expected);
      }
    }
  // Along k each quarter of a warp has four rows of 16 bytes: of a pitch of 144 bytes none meets another.
  for (auto const& [pitch, expected] : {std::pair{128, 4}, std::pair{144, 1}}) {
    auto const requests = requests_of({"m16n16k16", "b", "f16", "col", "shared", 8, pitch / 2}, WmmaFragments::volta);
    REQUIRE(requests.size() == 2);
    for (Request const& r : requests) CHECK(passes(r) == 4 * expected);
  }
}

TEST_CASE("later devices request what ptxas makes of wmma.load and wmma.store") {
  struct Made {
    Moved moved;
    std::size_t requests;
    unsigned bytes;
    std::size_t lanes = 32;
  };
  std::vector<Made> const all = {
      // LDSM.16.M88.4, .MT88.4, .2; LDG
      {{"m16n16k16", "a", "f16", "row", "shared", 8, 40}, 1, 16},
      {{"m16n16k16", "a", "f16", "col", "shared", 8, 40}, 1, 16},
      {{"m16n16k16", "b", "bf16", "row", "shared", 4, 40}, 1, 16},
      {{"m16n16k16", "a", "f16", "row", "global", 8, 40}, 4, 4},
      {{"m16n16k16", "b", "f16", "row", "global", 8, 40}, 4, 4},
      {{"m32n8k16", "a", "bf16", "col", "shared", 8, 40}, 2, 16},
      {{"m32n8k16", "a", "f16", "row", "global", 8, 40}, 8, 4},
      {{"m32n8k16", "b", "f16", "row", "shared", 8, 40}, 1, 16, 16},
      {{"m32n8k16", "b", "bf16", "row", "global", 2, 40}, 2, 4},
      {{"m8n32k16", "b", "f16", "col", "shared", 8, 40}, 2, 16},
      {{"m16n16k16", "a", "s8", "row", "shared", 2, 48}, 1, 16, 16},
      {{"m16n16k16", "a", "s8", "row", "global", 2, 48}, 2, 4},
      {{"m16n16k16", "a", "s8", "col", "shared", 2, 48}, 8, 1},
      {{"m32n8k16", "a", "u8", "col", "global", 4, 48}, 16, 1},
      {{"m32n8k16", "b", "u8", "col", "shared", 1, 48}, 1, 16, 8},
      {{"m16n16k8", "a", "tf32", "row", "shared", 4, 40}, 4, 4},
      {{"m16n16k8", "b", "tf32", "row", "global", 4, 40}, 4, 4},
      {{"m8n8k4", "a", "f64", "row", "shared", 1, 40}, 1, 8},
      {{"m8n8k32", "a", "s4", "row", "shared", 1, 128}, 1, 16, 8},
      {{"m8n8k32", "b", "u4", "col", "global", 1, 128}, 1, 4},
      {{"m8n8k128", "b", "b1", "col", "shared", 1, 128}, 1, 16, 8},
      {{"m8n8k128", "a", "b1", "row", "global", 1, 128}, 1, 4},
      // LDS.64, LDS, LDS.128; with MOVM
      {{"m16n16k16", "c", "f32", "row", "shared", 8, 40}, 4, 8},
      {{"m16n16k16", "c", "f32", "col", "global", 8, 40}, 8, 4},
      {{"m16n16k16", "c", "s32", "row", "global", 8, 40}, 4, 8},
      {{"m32n8k16", "c", "f16", "row", "shared", 4, 40}, 4, 4},
      {{"m32n8k16", "c", "f16", "col", "shared", 4, 40}, 4, 4},
      {{"m8n8k4", "c", "f64", "row", "global", 2, 40}, 1, 16},
      {{"m8n8k4", "c", "f64", "col", "shared", 2, 40}, 2, 8},
      {{"m8n8k32", "c", "s32", "row", "shared", 2, 40}, 1, 8},
      {{"m16n16k16", "d", "f32", "row", "shared", 8, 40}, 4, 8},
      {{"m16n16k16", "d", "f32", "col", "global", 8, 40}, 8, 4},
      {{"m16n16k16", "d", "f16", "col", "shared", 4, 40}, 4, 4},
  };
  for (Made const& made : all) {
    Moved const& m = made.moved;
    INFO(m.shape << ' ' << m.matrix << ' ' << m.type << ' ' << m.layout << ' ' << m.space);
    auto const requests = requests_of(m, WmmaFragments::later);
    CHECK(requests.size() == made.requests);
    std::set<std::uint64_t> bytes;
    for (Request const& r : requests) {
      CHECK(r.bytes == made.bytes);
      CHECK(r.addresses.size() == made.lanes);
      for (auto const& [lane, address] : r.addresses)
        for (unsigned b = 0; b < r.bytes; ++b) bytes.insert(address + b);
    }
    // Together the whole matrix, each byte once.
    CHECK(bytes.size() == made.requests * made.bytes * made.lanes);
  }
}

TEST_CASE("Volta requests what ptxas 12.9 makes of wmma.load and wmma.store for sm_70") {
  for (std::string const shape : {"m16n16k16", "m32n8k16", "m8n32k16"})
    for (std::string const space : {"shared", "global"}) {
      auto const is = [&](std::string const& matrix, std::string const& type, std::string const& layout, int registers,
                          std::size_t requests, unsigned bytes) {
        INFO(shape << ' ' << matrix << ' ' << type << ' ' << layout << ' ' << space);
        auto const made = requests_of({shape, matrix, type, layout, space, registers, 40}, WmmaFragments::volta);
        CHECK(made.size() == requests);
        for (Request const& r : made) CHECK((r.bytes == bytes && r.addresses.size() == 32));
      };
      is("a", "f16", "row", 8, 2, 16);
      is("a", "f16", "col", 8, 4, 8);
      is("b", "f16", "row", 8, 4, 8);
      is("b", "f16", "col", 8, 2, 16);
      for (std::string const matrix : {"c", "d"}) {
        is(matrix, "f32", "row", 8, 4, 8);
        is(matrix, "f32", "col", 8, 8, 4);
        is(matrix, "f16", "row", 4, 1, 16);
        is(matrix, "f16", "col", 4, 8, 2);
      }
    }
}

TEST_CASE("the target of the PTX, or the device, says whose fragments wmma has") {
  for (auto const& [capability, expected] : {std::pair{60U, WmmaFragments::later}, std::pair{70U, WmmaFragments::volta},
                                             std::pair{72U, WmmaFragments::volta}, std::pair{75U, WmmaFragments::later},
                                             std::pair{90U, WmmaFragments::later}}) {
    CHECK(wmma_fragments(capability) == expected);
    auto const module = kernelcast::ptx::parse(
        ".version 8.0\n.target sm_" + std::to_string(capability) + "\n.address_size 64\n.visible .entry k() { ret; }\n",
        "test.ptx");
    CHECK(wmma_fragments(*module) == expected);
    CHECK(Program(*module, *module->find_kernel("k")).fragments() == expected);
  }
}
