// Listings of machine code: our own kernel data/scale.cu as nvdisasm printed it, and, where the tools are, made anew.
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <unistd.h>

#include "bench.hpp"
#include "catch.hpp"
#include "diag/diag.hpp"
#include "model/ake/sass.hpp"

using namespace kernelcast;
using namespace kernelcast::model::ake;

namespace {

std::string const data = KERNELCAST_SOURCE_DIR "/tests/unit/model_ake/data/";

std::string content(std::string const& path) {
  std::ifstream in(path);
  REQUIRE(in);
  return {std::istreambuf_iterator<char>(in), {}};
}

using Registers = std::vector<std::uint32_t>;

// data/scale.cu as PTX: its accesses and where they stand.
Kernel scale_ptx() {
  Kernel k;
  k.name = "scale";
  auto const shared = [](Kind kind, std::int32_t item, Registers d, Registers s) {
    Instruction i = access(kind, item, std::move(d), std::move(s));
    i.sort.space = Space::shared;
    return i;
  };
  auto const parameter = [](std::int32_t item, std::uint32_t r) {
    Instruction i = plain(Class::param_load, {r}, {});
    i.item = item;
    return i;
  };
  k.blocks = {{parameter(0, 1), parameter(1, 2), access(Kind::load, 2, {3}, {1}), plain(Class::fp64, {4}, {3}),
               plain(Class::cvt, {5}, {4}), shared(Kind::store, 3, {}, {5}), barrier()},
              {plain(Class::int_add, {6}, {2}), plain(Class::control, {}, {6})},
              {shared(Kind::load, 0, {7}, {}), plain(Class::fp32_add, {8}, {7}), access(Kind::store, 1, {}, {8})},
              {leave()}};
  return k;
}

void check_scale(Listing const& listing) {
  std::size_t accesses = 0;
  for (auto const& block : listing.blocks)
    for (Instruction const& i : block)
      accesses += i.sort.kind == Kind::load || i.sort.kind == Kind::store || i.sort.kind == Kind::barrier;
  CHECK(accesses == 5);
  Matched const matched = match(listing, scale_ptx());
  CHECK(matched.accesses == 5);
  CHECK(matched.accesses_all == 5);
  CHECK(matched.kernel.blocks.size() == 4);
  // The addresses stay with their accesses: the global load has item 2 of its block, the shared store item 3.
  for (Instruction const& i : matched.kernel.blocks[0]) {
    if (i.sort.kind == Kind::load) CHECK(i.item == 2);
    if (i.sort.kind == Kind::store) CHECK(i.item == 3);
  }
}

}  // namespace

TEST_CASE("a listing of nvdisasm") {
  auto const listings = read_listing(content(data + "scale.sass"), "scale.sass");
  REQUIRE(listings.size() == 1);
  Listing const& l = listings.at("scale");
  CHECK(l.instructions == 22);
  REQUIRE(l.blocks.size() == 4);  // up to the barrier; the guarded exit; the rest; the exit
  CHECK(find_listing(listings, "scale") == &l);
  CHECK(find_listing(listings, "other") == nullptr);
  auto const& first = l.blocks[0];
  auto const is = [](Instruction const& i, Class c, Registers d, Registers s) {
    CHECK(i.sort.instruction_class == c);
    CHECK(i.destinations == d);
    CHECK(i.sources == s);
  };
  is(first[5], Class::int_mad, {0}, {0, 7});          // IMAD R0, R0, 0x100, R7
  is(first[6], Class::int_mad, {2, 3}, {0, 3});       // IMAD.WIDE R2, R0, R3, c[0x0][0x160]
  is(first[7], Class::gmem_load_l1, {2, 3}, {2, 3});  // LDG.E.64.CONSTANT R2, [R2.64]
  is(first[8], Class::int_add, {2000}, {0});          // ISETP.GE.AND P0, PT, R0, c[0x0][0x170], PT
  is(first[9], Class::fp64, {4, 5}, {2, 3});          // DMUL R4, R2, 0.5
  is(first[11], Class::smem_store, {}, {7, 4});       // STS [R7.X4], R4
  CHECK(first[7].sort.read_only);
  is(l.blocks[1][0], Class::control, {}, {2000});          // @P0 EXIT
  is(l.blocks[2][2], Class::int_add, {2, 2000}, {0});      // LEA R2, P0, R0.reuse, c[0x0][0x168], 0x2
  is(l.blocks[2][4], Class::int_add, {3}, {0, 3, 2000});   // LEA.HI.X R3, R0, c[0x0][0x16c], R3, 0x2, P0
  is(l.blocks[2][6], Class::gmem_load_l2, {}, {2, 3, 5});  // STG.E [R2.64], R5
  check_scale(l);
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
  auto const folder = std::filesystem::temp_directory_path() / ("kernelcast-sass-" + std::to_string(getpid()));
  std::filesystem::create_directories(folder);
  auto const cubin = (folder / "scale.cubin").string(), text = (folder / "scale.sass").string();
  REQUIRE(std::system((bin + "nvcc -cubin -arch=sm_80 " + data + "scale.cu -o " + cubin).c_str()) == 0);
  REQUIRE(std::system((bin + "nvdisasm " + cubin + " > " + text).c_str()) == 0);
  auto const listings = read_listing(content(text), text);
  REQUIRE(listings.count("scale") == 1);
  check_scale(listings.at("scale"));
  std::filesystem::remove_all(folder);
}
