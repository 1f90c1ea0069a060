// Which of a row's register counts is a device's.
#include "catch.hpp"
#include "records/device/device.hpp"

using namespace kernelcast;

namespace {

device::KernelRegisters registers_of(std::string const& target, record::RegisterCounts const& kernel) {
  device::Device device;
  device.vendor = "NVIDIA";
  device.target = target;
  device.rule.max_registers_per_item = 255;
  return device::registers_for(kernel, device);
}

}  // namespace

TEST_CASE("a device takes ptxas's registers for its own target, else for the nearest") {
  record::RegisterCounts kernel;
  kernel.registers_ptx = 7;
  kernel.registers_sm75 = 75;
  struct Expected {
    char const* target;
    std::uint64_t count;
    bool exact;
  };
  kernel.registers = "sm_75:75;sm_80:80;sm_86:86;sm_90:90;sm_100:100;sm_103:103;sm_120:120";
  for (auto const& [target, count, exact] : {Expected{"sm_75", 75, true},
                                             {"sm_80", 80, true},
                                             {"sm_86", 86, true},
                                             {"sm_87", 86, true},
                                             {"sm_89", 86, true},
                                             {"sm_90", 90, true},
                                             {"sm_100", 100, true},
                                             {"sm_120", 120, true},
                                             {"sm_61", 75, false},
                                             {"sm_110", 103, false},
                                             {"sm_121", 120, false}}) {
    INFO(target);
    auto const got = registers_of(target, kernel);
    CHECK(got.count == count);
    CHECK((got.spillable == 1) == exact);
  }
  // PTX for sm_86 alone: what runs nowhere else is taken from the earliest that it runs on.
  kernel.registers = "sm_86:86;sm_90:90";
  kernel.registers_sm75.reset();
  CHECK(registers_of("sm_75", kernel).count == 86u);
  CHECK(registers_of("sm_100", kernel).count == 90u);
  // Rows without the column.
  kernel.registers.clear();
  CHECK(registers_of("sm_86", kernel).count == 7u);
  kernel.registers_sm75 = 75;
  CHECK(registers_of("sm_86", kernel).count == 75u);
}
