// A product of matrices as tensor-core kernels do it: cp.async into two buffers, ldmatrix, mma; the PTX is kept beside
// this file. What nvcc makes of nvcuda::wmma and of asynchronous copies is tested with the frontend.

#include "base/process/process.hpp"
#include "catch.hpp"
#include "matrix_bench.hpp"

using namespace kernelcast::emu;
using namespace kernelcast::emu::test;

namespace {

struct Counts : Observer {
  std::uint64_t global_bytes = 0, shared_bytes = 0;
  void memory(MemoryAccess const& a) override {
    std::uint64_t lanes = 0;
    for (std::uint32_t w = 0; w < a.lanes.warps; ++w) lanes += static_cast<unsigned>(std::popcount(a.lanes.masks[w]));
    if (a.direction == Direction::load)
      (a.space == kernelcast::ptx::StateSpace::global ? global_bytes : shared_bytes) += lanes * a.bytes_per_lane;
  }
  std::unique_ptr<Observer> fork() const override { return std::make_unique<Counts>(); }
  void join(Observer const& other) override {
    global_bytes += static_cast<Counts const&>(other).global_bytes;
    shared_bytes += static_cast<Counts const&>(other).shared_bytes;
  }
};

}  // namespace

TEST_CASE("a tensor-core product of 64 x 64 x 64") {
  auto const text = kernelcast::read_file(KERNELCAST_SOURCE_DIR "/tests/unit/emulator/matrix_gemm.ptx");
  auto const module = kernelcast::ptx::parse(text, "matrix_gemm.ptx");
  Program const program(*module, *module->find_kernel("gemm"));
  Random random{31};
  Codes const a = random_codes(random, format("f16"), 64, 64), b = random_codes(random, format("f16"), 64, 64);
  Memory memory;
  Launch launch;
  launch.block = {128, 1, 1};
  std::uint64_t addresses[3];
  for (int i = 0; i < 3; ++i) addresses[i] = memory.add(std::string(1, "abc"[i]), i == 2 ? 16384 : 8192);
  launch.parameters.resize(sizeof addresses);
  std::memcpy(launch.parameters.data(), addresses, sizeof addresses);
  for (int i = 0; i < 2; ++i)
    for (std::size_t k = 0; k < 4096; ++k) {
      auto const code = static_cast<std::uint16_t>((i == 0 ? a : b).code[k]);
      std::memcpy(memory.bytes(addresses[i]).data() + 2 * k, &code, 2);
    }
  Counts counts;
  Observer* const observers[] = {&counts};
  std::uint64_t const groups[] = {0};
  Outcome const outcome = run(program, launch, memory, groups, observers);
  if (outcome.finding) FAIL(outcome.finding->message);
  for (int row = 0; row < 64; ++row)
    for (int column = 0; column < 64; ++column) {
      float value = 0;
      std::memcpy(&value, memory.bytes(addresses[2]).data() + 4 * (64 * row + column), 4);
      REQUIRE(double{value} == product_at(a, format("f16"), b, format("f16"), 0, row, column));
    }
  CHECK(counts.global_bytes == 2 * 8192);             // each matrix once
  CHECK(counts.shared_bytes == 4 * 4 * 4 * 32 * 16);  // four slices, four warps, four times 32 rows
}
