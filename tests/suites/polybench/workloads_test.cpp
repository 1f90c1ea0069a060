// The 21 workloads at their small size, all groups: the emulator's buffers, from OpenCL C and from CUDA C++, and
// those of an OpenCL device where one is installed, against the host references.
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "catch.hpp"
#include "expected.hpp"
#include "kernels/frontend/toolchain.hpp"

using namespace kernelcast;
using namespace kernelcast::suites;

namespace {

std::string const suite = KERNELCAST_SOURCE_DIR "/bench-suites/polybench/";

// A bound above this part of a buffer's largest value would let a mistake pass.
constexpr double loosest_bound = 1e-3;

launch::Plan plan_of(std::string const& workload, std::string const& language) {
  launch::Plan plan = launch::read_launch_file(suite + workload + ".toml", {}, {"small", "language=" + language});
  plan.request.registers.clear();
  return plan;
}

void expect(std::string const& workload, launch::Plan const& plan, Buffers const& before, Buffers const& after) {
  Comparison const comparison = compare(expect_polybench(workload, plan, before, after), before, after);
  INFO(workload << ": " << comparison.mismatch << ", worst error " << comparison.worst
                << " of its bound, loosest bound " << comparison.loosest);
  CHECK(comparison.equal);
  CHECK(comparison.loosest < loosest_bound);
}

void check_emulator(std::string const& language) {
  for (auto const& workload : polybench_workloads()) {
    launch::Plan const plan = plan_of(workload, language);
    expect(workload, plan, initial_buffers(plan), emulate(plan, 1));
  }
}

class WithoutToolkit {
 public:
  WithoutToolkit() { setenv("KERNELCAST_NO_CUDA", "1", 1); }
  ~WithoutToolkit() { unsetenv("KERNELCAST_NO_CUDA"); }
  WithoutToolkit(WithoutToolkit const&) = delete;
  WithoutToolkit& operator=(WithoutToolkit const&) = delete;
};

}  // namespace

TEST_CASE("OpenCL C on the emulator gives what the references give") {
  check_emulator("cl");
}

TEST_CASE("CUDA C++ compiled without a toolkit gives what the references give") {
  WithoutToolkit const none;
  check_emulator("cu");
}

TEST_CASE("CUDA C++ compiled by nvcc gives what the references give") {
  if (frontend::find_toolchain().nvcc.empty()) SKIP_BECAUSE("nvcc is not installed");
  check_emulator("cu");
}

TEST_CASE("OpenCL C on an OpenCL device gives what the references give") {
  if (!opencl_device()) SKIP_BECAUSE("no OpenCL device; pocl-opencl-icd offers one");
  for (auto const& workload : polybench_workloads()) {
    launch::Plan const plan = plan_of(workload, "cl");
    Buffers const before = initial_buffers(plan);
    OpenClRun const run = run_opencl(source_text(plan), opencl_options(plan), before, opencl_launches(plan));
    INFO("on " << run.device);
    expect(workload, plan, before, run.buffers);
  }
}

// What the comparison can see: with another number in the middle of an input, the result is not the expected one.
TEST_CASE("The comparison notices each input") {
  for (auto const& workload : polybench_workloads()) {
    launch::Plan const plan = plan_of(workload, "cl");
    Buffers const before = initial_buffers(plan), after = emulate(plan, 2);
    for (auto const& buffer : plan.buffers) {
      if (buffer.fill != launch::Fill::random) continue;
      Buffers other = before;
      float value = 0;
      std::byte* const middle = &other.at(buffer.name)[buffer.count / 2 * sizeof value];
      std::memcpy(&value, middle, sizeof value);
      value += 0.25f;
      std::memcpy(middle, &value, sizeof value);
      INFO(workload << ", buffer " << buffer.name);
      CHECK_FALSE(compare(expect_polybench(workload, plan, other, after), before, after).equal);
    }
  }
}
