// Memory that programs of the host use directly: addresses shared with the host, removal, lending.
#include <cstring>

#include "base/diag/diag.hpp"
#include "catch.hpp"
#include "emulator/emu.hpp"
#include "kernels/ptx/parser.hpp"

using namespace kernelcast;

TEST_CASE("a device address can be the host's address of the same byte") {
  emu::Memory memory(1 << 20, emu::Memory::Addresses::of_host);
  auto const address = memory.add("a", 64);
  auto* const host = reinterpret_cast<std::byte*>(address);
  CHECK(memory.bytes(address).data() == host);
  host[5] = std::byte{7};
  CHECK(memory.bytes(address)[5] == std::byte{7});
}

TEST_CASE("memory that is removed can be had again, and is zero") {
  std::uint64_t const megabytes = 900;  // beyond the room for gaps, four times over
  emu::Memory memory(megabytes << 20, emu::Memory::Addresses::of_host);
  for (int i = 0; i < 20; ++i) {
    auto const kept = memory.add("small", 8);
    auto const address = memory.add("large", (megabytes - 1) << 20);
    auto const bytes = memory.bytes(address);
    CHECK(bytes[12345] == std::byte{0});
    bytes[12345] = std::byte{1};
    CHECK(memory.remove(address));
    CHECK_FALSE(memory.remove(address));
    CHECK(memory.find(address) == nullptr);
    CHECK(memory.find(kept) != nullptr);
  }
  CHECK_THROWS_AS(memory.add("too large", (megabytes + 1) << 20), Error);
}

TEST_CASE("buffers may come and go for ever: what is removed costs no mapping") {
  emu::Memory memory(1 << 30, emu::Memory::Addresses::of_host);
  auto last = memory.add("first", 8);
  for (int i = 0; i < 100'000; ++i) {
    auto const next = memory.add("next", 8);
    memory.bytes(next)[0] = memory.bytes(last)[0];
    REQUIRE(memory.remove(last));
    last = next;
  }
}

TEST_CASE("memory of the host can be lent") {
  emu::Memory memory(1 << 20, emu::Memory::Addresses::of_host);
  std::byte all[64]{};
  std::byte* const mine = all + 16;
  auto const address = reinterpret_cast<std::uint64_t>(mine);
  REQUIRE(memory.lend("mine", mine, 32));
  CHECK_FALSE(memory.lend("mine", mine + 8, 8));
  CHECK_FALSE(memory.lend("mine", mine - 8, 16));
  REQUIRE(memory.find(address + 31) != nullptr);
  CHECK(memory.find(address + 31)->data == mine);
  CHECK(memory.find(address + 32) == nullptr);
  CHECK(memory.remove(address));
  CHECK(memory.find(address) == nullptr);
}

TEST_CASE("a kernel works on lent memory, and a variable is known before any launch") {
  auto const module = ptx::parse(
      ".version 7.0\n.target sm_70\n.address_size 64\n"
      ".global .u32 factor = 3;\n"
      ".visible .entry scale(.param .u64 p)\n{\n.reg .b64 %a;\n.reg .b32 %v, %f;\n"
      "ld.param.u64 %a, [p];\nld.global.u32 %f, [factor];\nld.global.u32 %v, [%a];\nmul.lo.u32 %v, %v, %f;\n"
      "st.global.u32 [%a], %v;\nret;\n}\n",
      "test.ptx");
  emu::Memory memory(1 << 20, emu::Memory::Addresses::of_host);
  CHECK(memory.address_of(*module, "none") == 0);
  auto const factor = memory.address_of(*module, "factor");
  REQUIRE(factor != 0);
  std::uint32_t value = 0;
  std::memcpy(&value, memory.bytes(factor).data(), 4);
  CHECK(value == 3);
  value = 5;
  std::memcpy(memory.bytes(factor).data(), &value, 4);

  std::uint32_t mine = 7;
  REQUIRE(memory.lend("mine", &mine, sizeof mine));
  emu::Program const program(*module, *module->find_kernel("scale"));
  emu::Launch launch;
  launch.parameters.resize(8);
  auto const address = reinterpret_cast<std::uint64_t>(&mine);
  std::memcpy(launch.parameters.data(), &address, 8);
  std::vector<std::uint64_t> const groups{0};
  REQUIRE(emu::run(program, launch, memory, groups, {}).ending == emu::Ending::done);
  CHECK(mine == 35);
}

TEST_CASE("variables of a program that is forgotten are gone, and begin again") {
  auto const module = ptx::parse(
      ".version 7.0\n.target sm_70\n.address_size 64\n.global .u32 count = 5;\n"
      ".visible .entry k(.param .u64 out) {\n .reg .b64 %q; .reg .b32 %r;\n"
      " ld.param.u64 %q, [out]; ld.global.u32 %r, [count]; add.u32 %r, %r, 1; st.global.u32 [count], %r;\n"
      " st.global.u32 [%q], %r; ret;\n}\n",
      "count.ptx");
  emu::Memory memory(1 << 20, emu::Memory::Addresses::of_host);
  emu::Launch launch;
  auto const out = memory.add("out", 4);
  launch.parameters.resize(8);
  std::memcpy(launch.parameters.data(), &out, 8);
  emu::Program const program(*module, *module->find_kernel("k"));
  auto const count = [&] {
    std::uint64_t const group = 0;
    REQUIRE(emu::run(program, launch, memory, {&group, 1}, {}).ending == emu::Ending::done);
    std::uint32_t value = 0;
    std::memcpy(&value, memory.bytes(out).data(), sizeof value);
    return value;
  };
  CHECK(count() == 6);
  CHECK(count() == 7);
  CHECK(memory.buffers().size() == 2);
  memory.forget(program);
  CHECK(memory.buffers().size() == 1);
  memory.forget(program);
  CHECK(count() == 6);
}
