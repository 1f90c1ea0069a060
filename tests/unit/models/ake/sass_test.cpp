// Listings of machine code: our own kernel data/scale.cu as nvdisasm printed it, and, where the tools are, made anew.
#include <cstdio>
#include <cstdlib>

#include <unistd.h>

#include "base/diag/diag.hpp"
#include "base/process/process.hpp"
#include "bench.hpp"
#include "catch.hpp"
#include "models/ake/match.hpp"
#include "models/ake/sass.hpp"

using namespace kernelcast;
using namespace kernelcast::model::ake;

namespace {

std::string const data = KERNELCAST_SOURCE_DIR "/tests/unit/models/ake/data/";

using Registers = std::vector<std::uint32_t>;

// data/scale.cu as PTX: its accesses and where they stand.
Kernel scale_ptx() {
  Kernel k;
  k.name = "scale";
  auto const moving = [](Instruction i, unsigned bytes) {
    i.bytes_per_lane = bytes;
    return i;
  };
  auto const shared = [](Kind kind, std::int32_t item, Registers d, Registers s) {
    Instruction i = access(kind, item, std::move(d), std::move(s));
    i.type.space = Space::shared;
    i.bytes_per_lane = 4;
    return i;
  };
  auto const parameter = [](std::int32_t item, std::uint32_t r) {
    Instruction i = plain(Class::param_load, {r}, {});
    i.item = item;
    return i;
  };
  k.blocks = {
      {parameter(0, 1), parameter(1, 2), moving(access(Kind::load, 2, {3}, {1}), 8), plain(Class::fp64, {4}, {3}),
       plain(Class::cvt, {5}, {4}), shared(Kind::store, 3, {}, {5}), barrier()},
      {plain(Class::int_add, {6}, {2}), plain(Class::control, {}, {6})},
      {shared(Kind::load, 0, {7}, {}), plain(Class::fp32_add, {8}, {7}), moving(access(Kind::store, 1, {}, {8}), 4)},
      {leave()}};
  return k;
}

void check_scale(Listing const& listing) {
  std::size_t accesses = 0;
  for (auto const& block : listing.blocks)
    for (Instruction const& i : block)
      accesses += i.type.kind == Kind::load || i.type.kind == Kind::store || i.type.kind == Kind::barrier;
  CHECK(accesses == 5);
  Matched const matched = match(listing, scale_ptx(), {});
  CHECK(matched.accesses == 5);
  CHECK(matched.accesses_all == 5);
  // The addresses stay with their accesses: the global load has item 2 of its block, the shared store item 3.
  Pattern const& first = matched.patterns.at(0);
  REQUIRE(first.items.size() == 2);
  for (Instruction const& i : matched.kernel.blocks[first.block]) {
    if (i.type.kind == Kind::load) CHECK(first.items.at(static_cast<std::size_t>(i.item)) == Registers{2});
    if (i.type.kind == Kind::store) CHECK(first.items.at(static_cast<std::size_t>(i.item)) == Registers{3});
  }
}

}  // namespace

TEST_CASE("a listing of nvdisasm") {
  auto const listings = read_listing(read_file(data + "scale.sass"), "scale.sass");
  REQUIRE(listings.size() == 1);
  Listing const& l = listings.at("scale");
  CHECK(l.instructions == 22);
  REQUIRE(l.blocks.size() == 2);  // up to the guarded exit; the rest. Nothing jumps to .L_x_1 and .L_x_2
  CHECK(find_listing(listings, "scale") == &l);
  CHECK(find_listing(listings, "other") == nullptr);
  auto const& first = l.blocks[0];
  auto const is = [](Instruction const& i, Class c, Registers d, Registers s) {
    CHECK(i.type.instruction_class == c);
    CHECK(i.destinations == d);
    CHECK(i.sources == s);
  };
  is(first[5], Class::int_mad, {0}, {0, 7});          // IMAD R0, R0, 0x100, R7
  is(first[6], Class::int_mad, {2, 3}, {0, 3});       // IMAD.WIDE R2, R0, R3, c[0x0][0x160]
  is(first[7], Class::gmem_load_l1, {2, 3}, {2, 3});  // LDG.E.64.CONSTANT R2, [R2.64]
  is(first[8], Class::int_add, {2000}, {0});          // ISETP.GE.AND P0, PT, R0, c[0x0][0x170], PT
  is(first[9], Class::fp64, {4, 5}, {2, 3});          // DMUL R4, R2, 0.5
  is(first[11], Class::smem_store, {}, {7, 4});       // STS [R7.X4], R4
  CHECK(first[7].type.read_only);
  is(first[13], Class::control, {}, {2000});               // @P0 EXIT
  is(l.blocks[1][2], Class::int_add, {2, 2000}, {0});      // LEA R2, P0, R0.reuse, c[0x0][0x168], 0x2
  is(l.blocks[1][4], Class::int_add, {3}, {0, 3, 2000});   // LEA.HI.X R3, R0, c[0x0][0x16c], R3, 0x2, P0
  is(l.blocks[1][6], Class::gmem_load_l2, {}, {2, 3, 5});  // STG.E [R2.64], R5
  check_scale(l);
}

namespace {

Instruction moving(Kind kind, Space space, std::int32_t item, unsigned bytes) {
  Instruction i = access(kind, item, {}, {});
  i.type.space = space;
  i.bytes_per_lane = bytes;
  return i;
}

// A group of one wavefront that executes these blocks; the n-th access of all asks for n sectors.
Group numbered(Kernel const& kernel, std::vector<std::uint32_t> const& blocks) {
  Group g = group_of(kernel, {blocks}, {});
  for (std::size_t n = 0; n < g.requests.size(); ++n) g.requests[n].l2 = static_cast<std::uint16_t>(n + 1);
  return g;
}

std::vector<unsigned> sectors(Group const& g) {
  std::vector<unsigned> out;
  for (Requests const& r : g.requests) out.push_back(r.l2);
  return out;
}

// What the rows of the group are: block 0 is the first pattern's, and so on.
std::vector<std::size_t> blocks(Group const& g, Kernel const& ptx) {
  std::vector<std::size_t> out;
  for (Row const& row : g.rows) out.push_back(row.block - ptx.blocks.size());
  return out;
}

using Numbers = std::vector<unsigned>;
using Blocks = std::vector<std::size_t>;
}  // namespace

TEST_CASE("a loop that the machine code goes round several times at once") {
  Kernel ptx;
  auto const load = moving(Kind::load, Space::global, 0, 4), store = moving(Kind::store, Space::global, 0, 4);
  auto const add = plain(Class::fp32_add, {}, {});
  ptx.blocks = {{add}, {load, add}, {store, leave()}};
  Listing listing;
  listing.blocks = {{add},
                    {load, load, load, load, load, load, load, load, add},  // eight rounds
                    {load, load, add},                                      // two
                    {load, add},                                            // one
                    {store, leave()}};
  auto const g = numbered(ptx, {0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2});  // 13 rounds
  auto const matched = match(listing, ptx, Flow(ptx, {g}));
  CHECK(matched.accesses == 2);
  CHECK(matched.blocks == 3);
  auto const followed = follow(g, ptx, matched);
  // 8 + 2 + 2 + 1, and nothing is lost or exchanged.
  std::vector<std::size_t> lengths;
  for (Row const& row : followed.rows) lengths.push_back(matched.kernel.blocks[row.block].size());
  CHECK(lengths == std::vector<std::size_t>{1, 9, 3, 3, 2, 2});
  CHECK(sectors(followed) == sectors(g));

  // No machine code for a single round: what is left over stays PTX.
  listing.blocks.erase(listing.blocks.begin() + 3);
  auto const coarse = match(listing, ptx, Flow(ptx, {g}));
  CHECK(coarse.accesses == 2);
  auto const rest = follow(g, ptx, coarse);
  REQUIRE(rest.rows.size() == 6);
  CHECK(rest.rows[4].block == 1);
  CHECK(sectors(rest) == sectors(g));

  // What does not go round is not a loop.
  auto const once = numbered(ptx, {0, 1, 2});
  CHECK(match(listing, ptx, Flow(ptx, {once})).accesses == 1);
}

TEST_CASE("blocks that the machine code has merged under predicates") {
  Kernel ptx;
  auto const load = [](std::int32_t item) { return moving(Kind::load, Space::shared, item, 4); };
  auto const store = [](std::int32_t item) { return moving(Kind::store, Space::shared, item, 4); };
  ptx.blocks = {{store(0), barrier()}, {load(0), load(1), store(2)}, {barrier()}, {leave()}};
  Listing listing;
  listing.blocks = {{store(0), barrier(), load(0), load(0), store(0), barrier()}, {leave()}};
  auto const in = numbered(ptx, {0, 1, 2, 3}), past = numbered(ptx, {0, 2, 3});
  auto const matched = match(listing, ptx, Flow(ptx, {in, past}));
  CHECK(matched.accesses == 6);
  CHECK(matched.accesses_all == 6);
  CHECK(blocks(follow(in, ptx, matched), ptx) == Blocks{0, 1});
  CHECK(sectors(follow(in, ptx, matched)) == Numbers{1, 2, 3, 4});
  CHECK(blocks(follow(past, ptx, matched), ptx) == Blocks{0, 1});
  CHECK(sectors(follow(past, ptx, matched)) == Numbers{1, 0, 0, 0});
}

TEST_CASE("accesses that the machine code has joined") {
  Kernel ptx;
  auto const load = [](std::int32_t item, unsigned bytes) { return moving(Kind::load, Space::shared, item, bytes); };
  ptx.blocks = {{load(0, 4), load(1, 4), load(2, 4), load(3, 4), load(4, 8), leave()}};
  Listing listing;
  listing.blocks = {{load(0, 16), load(0, 4), load(0, 4), leave()}};  // four in one, one in two
  auto const g = numbered(ptx, {0});
  auto const matched = match(listing, ptx, {});
  CHECK(matched.accesses == 5);
  CHECK(sectors(follow(g, ptx, matched)) == Numbers{1 + 2 + 3 + 4, 5, 0});

  // One load of eight again, as ptxas does when registers are short.
  ptx.blocks = {{load(0, 4), load(1, 4), load(2, 4), load(3, 4), load(4, 4), load(5, 4), load(6, 4), leave()}};
  listing.blocks = {{load(0, 16), load(0, 16), leave()}};
  auto const again = numbered(ptx, {0});
  CHECK(match(listing, ptx, {}).accesses == 7);
  CHECK(sectors(follow(again, ptx, match(listing, ptx, {}))) == Numbers{1 + 2 + 3 + 4, 5 + 6 + 7});
  listing.blocks = {{load(0, 16), load(0, 16), load(0, 8), leave()}};
  CHECK(match(listing, ptx, {}).accesses == 0);
}

TEST_CASE("mangled names, and listings that are none") {
  auto const listings = read_listing(".text._Z5scalePKdPfi:\n        /*0000*/                   EXIT ;\n", "l.sass");
  CHECK(find_listing(listings, "scale") != nullptr);
  CHECK(find_listing(listings, "cale") == nullptr);
  auto const refusal = [](std::string const& text) {
    try {
      read_listing(text, "l.sass");
    } catch (Error const& error) {
      CHECK(error.status() == Status::bad_data);
      return error.text("akemu");
    }
    return std::string();
  };
  CHECK_THAT(refusal("nothing"), Contains("l.sass:1:1: error: no kernel in this listing"));
  CHECK_THAT(refusal(".text.k:\n  /*0000*/  EXIT\n"), Contains("l.sass:2:1: error: an instruction that does not end"));
}

TEST_CASE("a listing made by the toolkit at hand") {
  std::string const bin = "/usr/local/cuda/bin/";
  if (access((bin + "nvdisasm").c_str(), X_OK) != 0 || access((bin + "nvcc").c_str(), X_OK) != 0)
    SKIP_BECAUSE("no nvcc and nvdisasm");
  TemporaryFolder const folder;
  auto const cubin = folder.file("scale.cubin"), text = folder.file("scale.sass");
  REQUIRE(std::system((bin + "nvcc -cubin -arch=sm_80 " + data + "scale.cu -o " + cubin).c_str()) == 0);
  REQUIRE(std::system((bin + "nvdisasm " + cubin + " > " + text).c_str()) == 0);
  auto const listings = read_listing(read_file(text), text);
  REQUIRE(listings.count("scale") == 1);
  check_scale(listings.at("scale"));
}
