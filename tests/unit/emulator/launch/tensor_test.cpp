// Tensor cores and asynchronous copies as nvcc compiles them: nvcuda::wmma, __pipeline_memcpy_async, cuda::barrier.
#include <algorithm>
#include <cstring>
#include <numeric>

#include "catch.hpp"
#include "emulator/emu.hpp"
#include "kernels/frontend/frontend.hpp"
#include "kernels/frontend/toolchain.hpp"

using namespace kernelcast;

namespace {

struct Bench {
  frontend::Compiled compiled =
      frontend::compile({.path = std::string(KERNELCAST_SOURCE_DIR) + "/tests/unit/emulator/launch/data/tensor.cu",
                         .options = {"-std=c++17"},
                         .arch = "sm_80",
                         .registers = {}});
  emu::Memory memory;
  emu::Launch launch;

  template <class T>
  std::uint64_t buffer(std::string name, std::vector<T> const& content) {
    std::uint64_t const address = memory.add(std::move(name), content.size() * sizeof(T));
    std::memcpy(memory.bytes(address).data(), content.data(), content.size() * sizeof(T));
    argument(address);
    return address;
  }
  template <class T>
  void argument(T value) {
    std::size_t const at = (launch.parameters.size() + sizeof(T) - 1) / sizeof(T) * sizeof(T);
    launch.parameters.resize(at + sizeof(T));
    std::memcpy(launch.parameters.data() + at, &value, sizeof(T));
  }
  template <class T>
  std::vector<T> read(std::uint64_t address) {
    std::vector<T> content(memory.bytes(address).size() / sizeof(T));
    std::memcpy(content.data(), memory.bytes(address).data(), content.size() * sizeof(T));
    return content;
  }
  void run(std::string const& kernel, std::uint32_t work_items) {
    for (frontend::KernelInfo const& info : compiled.kernels)
      if (info.signature.starts_with(kernel + "(")) {
        emu::Program const program(*compiled.module, *compiled.module->find_kernel(info.name));
        launch.block = {work_items, 1, 1};
        std::uint64_t const groups[] = {0};
        emu::Limits limits;
        limits.max_steps = 100'000'000;
        emu::Outcome const outcome = emu::run(program, launch, memory, groups, {}, limits);
        if (outcome.finding) FAIL(kernel << ": " << outcome.finding->message);
        return;
      }
    FAIL("no kernel " << kernel);
  }
};

bool no_toolkit() {
  return frontend::find_toolchain().nvcc.empty();
}

}  // namespace

TEST_CASE("nvcuda::wmma multiplies") {
  if (no_toolkit()) SKIP_BECAUSE("nvcc is not installed");
  Bench bench;
  // Codes of 0, 1, 2, 3 as f16; sums are exact.
  std::uint16_t const codes[] = {0x0000, 0x3c00, 0x4000, 0x4200};
  std::vector<std::uint16_t> a(1024), b(1024);
  std::vector<float> expected(1024, 0);
  for (std::size_t i = 0; i < 1024; ++i) {
    a[i] = codes[i * 7 % 11 % 4];
    b[i] = codes[i * 5 % 13 % 4];
  }
  auto const value = [&](std::vector<std::uint16_t> const& m, std::size_t i) {
    return static_cast<float>(std::find(codes, codes + 4, m[i]) - codes);
  };
  for (std::size_t row = 0; row < 32; ++row)
    for (std::size_t column = 0; column < 32; ++column)
      for (std::size_t k = 0; k < 32; ++k)
        expected[32 * row + column] += 2 * value(a, 32 * row + k) * value(b, 32 * column + k);
  bench.buffer("a", a);
  bench.buffer("b", b);
  std::uint64_t const c = bench.buffer("c", std::vector<float>(1024));
  bench.run("product", 128);
  CHECK(bench.read<float>(c) == expected);
}

TEST_CASE("__pipeline_memcpy_async fills one buffer while the other is used") {
  if (no_toolkit()) SKIP_BECAUSE("nvcc is not installed");
  Bench bench;
  std::vector<std::uint32_t> in(5 * 512), expected(5 * 512);
  std::iota(in.begin(), in.end(), 1u);
  for (std::size_t i = 0; i < in.size(); ++i) expected[i] = in[i / 512 * 512 + (127 - i % 512 / 4) * 4 + i % 4];
  bench.buffer("in", in);
  std::uint64_t const out = bench.buffer("out", std::vector<std::uint32_t>(5 * 512));
  bench.argument(5);
  bench.run("reverse", 128);
  CHECK(bench.read<std::uint32_t>(out) == expected);
}

TEST_CASE("cuda::barrier holds work-items until all have arrived") {
  if (no_toolkit()) SKIP_BECAUSE("nvcc is not installed");
  Bench bench;
  std::uint64_t const out = bench.buffer("out", std::vector<int>(4 * 512));
  bench.run("rounds", 512);  // two units of the emulator
  std::vector<int> const result = bench.read<int>(out);
  for (std::size_t i = 0; i < result.size(); ++i) REQUIRE(result[i] == 512 * 511 / 2 * static_cast<int>(i / 512 + 1));
}
