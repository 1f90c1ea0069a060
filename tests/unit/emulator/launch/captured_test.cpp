// What launch files of running applications have beyond those that people write: offsets, pointers, null or local.
#include <cstring>

#include "catch.hpp"
#include "emulator/launch/compilations.hpp"
#include "emulator/launch/launch.hpp"
#include "error_of.hpp"
#include "launches.hpp"

using namespace kernelcast;
using namespace kernelcast::launch;

namespace {

// where(u32* out): out[tid] = tid + offset of dimension 1. follow(Node* list, u32* out): the sum over a linked list of
// {next, value}. both(u32* a, local u32* b): stores whether a is null.
constexpr char const* module_text = R"(.version 7.5
.target sm_75
.address_size 64
.visible .entry where(.param .u64 .ptr .global .align 4 out)
{
  .reg .b32 %r<8>; .reg .b64 %rd<6>;
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, %envreg4;
  add.s32 %r3, %r1, %r2;
  ld.param.u64 %rd1, [out];
  mul.wide.u32 %rd2, %r1, 4;
  add.s64 %rd3, %rd1, %rd2;
  st.global.u32 [%rd3], %r3;
  ret;
}
.visible .entry follow(.param .u64 .ptr .global .align 8 list, .param .u64 .ptr .global .align 4 out)
{
  .reg .pred %p<2>; .reg .b32 %r<8>; .reg .b64 %rd<6>;
  ld.param.u64 %rd1, [list];
  ld.param.u64 %rd2, [out];
  mov.u32 %r1, 0;
LOOP:
  ld.global.u32 %r2, [%rd1+8];
  add.s32 %r1, %r1, %r2;
  ld.global.u64 %rd1, [%rd1];
  setp.ne.u64 %p1, %rd1, 0;
  @%p1 bra LOOP;
  st.global.u32 [%rd2], %r1;
  ret;
}
.visible .entry both(.param .u64 .ptr .global .align 4 a, .param .u64 .ptr .shared .align 4 b,
                     .param .u64 .ptr .global .align 4 out)
{
  .reg .pred %p<2>; .reg .b32 %r<8>; .reg .b64 %rd<6>;
  ld.param.u64 %rd1, [a];
  ld.param.u64 %rd2, [b];
  ld.param.u64 %rd3, [out];
  setp.eq.u64 %p1, %rd1, 0;
  selp.u32 %r1, 7, 3, %p1;
  st.shared.u32 [%rd2+12], %r1;
  ld.shared.u32 %r2, [%rd2+12];
  st.global.u32 [%rd3], %r2;
  ret;
}
)";

class Captured {
 public:
  void write(std::string const& name, std::string_view content) const { write_file(folder_.file(name), content); }
  Report run(std::string const& launch_file, bool lazy_files = false, Compilations* compilations = nullptr) const {
    write("l.toml", launch_file);
    auto plan = read_launch_file(folder_.file("l.toml"));
    plan.request.cache = false;
    plan.request.registers.clear();
    plan.lazy_files = lazy_files;
    RunOptions options;
    options.compilations = compilations;
    options.dumps = {parse_dump("out=" + folder_.file("out.bin"))};
    return launch::run(std::move(plan), options);
  }
  std::vector<std::uint32_t> out() const {
    auto const bytes = read_file(folder_.file("out.bin"));
    std::vector<std::uint32_t> values(bytes.size() / 4);
    std::memcpy(values.data(), bytes.data(), values.size() * 4);
    return values;
  }

 private:
  ModuleFolder folder_{module_text};
};

std::string message_of(Captured const& captured, std::string const& launch_file) {
  return error_of([&] { captured.run(launch_file); }).text("test");
}

constexpr char const* head = "file = \"m.ptx\"\n[buffers]\nout = \"u32:32:zero\"\n";

}  // namespace

TEST_CASE("a launch file says where global ids begin") {
  Captured const captured;
  std::string const launch =
      std::string(head) + "[[launch]]\nkernel = \"where\"\nglobal = [32, 1]\nlocal = [32, 1]\nargs = [\"out\"]\n";
  captured.run(launch + "offset = [5, 100]\n");
  CHECK(captured.out()[0] == 100);
  CHECK(captured.out()[31] == 131);
  captured.run(launch);
  CHECK(captured.out()[31] == 31);
  CHECK(message_of(captured, launch + "offset = [-1]\n").find("one to three numbers from 0") != std::string::npos);
}

TEST_CASE("an argument is a place in a buffer") {
  Captured const captured;
  std::string const launch = std::string(head) + "[[launch]]\nkernel = \"where\"\nglobal = 16\nlocal = 16\n";
  captured.run(launch + "args = [\"out+64\"]\n");
  CHECK(captured.out()[0] == 0);
  CHECK(captured.out()[17] == 1);
  CHECK(message_of(captured, launch + "args = [\"out+129\"]\n").find("'out' has 128 bytes") != std::string::npos);
}

TEST_CASE("contents are the beginning of a buffer, or are read where they are touched") {
  Captured const captured;
  std::string bytes(1 << 20, '\1');
  bytes.resize(bytes.size() - 100);  // no whole page
  captured.write("part.bin", bytes);
  std::string const launch = "[[launch]]\nkernel = \"where\"\nglobal = 32\nlocal = 32\nargs = [\"out\"]\n";
  for (bool const lazy : {false, true}) {
    captured.run("file = \"m.ptx\"\n[buffers]\nout = \"u32:300000:start=part.bin\"\n" + launch, lazy);
    auto const out = captured.out();
    REQUIRE(out.size() == 300000);
    CHECK(out[0] == 0);
    CHECK(out[31] == 31);
    CHECK(out[32] == 0x01010101);
    CHECK(out[(1 << 18) - 26] == 0x01010101);
    CHECK(out[(1 << 18) - 25] == 0);
    CHECK(out[299999] == 0);
  }
  CHECK(message_of(captured, "file = \"m.ptx\"\n[buffers]\nout = \"u32:1000:start=part.bin\"\n" + launch)
            .find("but buffer 'out' has 4000") != std::string::npos);
}

TEST_CASE("pointers between buffers that lay elsewhere are followed") {
  Captured const captured;
  struct Node {
    std::uint64_t next;
    std::uint32_t value, pad;
  };
  constexpr std::uint64_t here = 0x7f1234560000, there = 0x7f5500001008;
  Node const first[] = {{there + 16, 1, 0}, {0, 1000, 0}}, second[] = {{here + 16, 10, 0}, {there, 100, 0}};
  captured.write("first.bin", {reinterpret_cast<char const*>(first), sizeof first});
  captured.write("second.bin", {reinterpret_cast<char const*>(second), sizeof second});
  captured.run(std::string(head) +
               "first = \"u8,at=0x7f1234560000:32:file=first.bin\"\n"
               "second = \"u8,at=0x7f5500001008:32:file=second.bin\"\n"
               "[[launch]]\nkernel = \"follow\"\nglobal = 1\nlocal = 1\nargs = [\"first\", \"out\"]\n");
  CHECK(captured.out()[0] == 1111);
  CHECK(message_of(captured, std::string(head) + "b = \"u8,on=4:32:zero\"\n[[launch]]\n").find("unknown word 'on=4'") !=
        std::string::npos);
}

TEST_CASE("an argument set without a value is local memory or a null pointer, as the kernel has it") {
  Captured const captured;
  captured.run(std::string(head) +
               "[[launch]]\nkernel = \"both\"\nglobal = 1\nlocal = 1\nargs = [\"null:8\", \"null:16\", \"out\"]\n");
  CHECK(captured.out()[0] == 7);
  captured.run(std::string(head) +
               "[[launch]]\nkernel = \"both\"\nglobal = 1\nlocal = 1\n"
               "args = [\"hex:0000000000000000\", \"local:16\", \"out\"]\n");
  CHECK(captured.out()[0] == 7);
}

TEST_CASE("only OpenCL C is linked with OpenCL C") {
  Captured const captured;
  captured.write("more.cl", "void f(void) {}");
  std::string const launch = "[[launch]]\nkernel = \"where\"\nglobal = 1\nlocal = 1\nargs = [\"out\"]\n";
  CHECK(message_of(captured, std::string(head) + "[[link]]\nfile = \"more.cl\"\n" + launch)
            .find("only OpenCL C is linked with OpenCL C") != std::string::npos);
  CHECK(message_of(captured, std::string(head) + "[[link]]\npath = \"more.cl\"\n" + launch)
            .find("unknown key 'path' in a linked source") != std::string::npos);
}

TEST_CASE("runs of one program share what was compiled and decoded") {
  Captured const captured;
  std::string const launch =
      std::string(head) + "[[launch]]\nkernel = \"where\"\nglobal = 32\nlocal = 32\nargs = [\"out\"]\n";
  Compilations compilations;
  auto const first = captured.run(launch, false, &compilations);
  captured.write("m.ptx", "nothing that can be parsed");
  auto const second = captured.run(launch, false, &compilations);
  CHECK(second.rows.at(0).inst_total == first.rows.at(0).inst_total);
  CHECK(captured.out().at(31) == 31);
  CHECK_THROWS_AS(captured.run(launch), Error);
}
