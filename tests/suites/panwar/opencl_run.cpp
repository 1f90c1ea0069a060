// opencl_run FILE.toml [--set NAME=VALUE|SET]...
//
// Runs a launch file on the first OpenCL device, with the buffers that miniemu would use: what a comparison with
// another OpenCL implementation measures (`oclgrind --inst-counts opencl_run aes.toml`). Prints device and processor
// time of the launches alone, build and transfers excluded.
#include <fmt/format.h>

#include <exception>

#include "../../launches.hpp"
#include "plans.hpp"

int main(int argc, char** argv) {
  using namespace kernelcast;
  try {
    auto const plans = read_plans(argv + 1, argv + argc);
    if (plans.size() != 1) {
      fmt::print(stderr, "usage: opencl_run FILE.toml [--set NAME=VALUE|SET]...\n");
      return 2;
    }
    auto const& plan = plans.front();
    auto const run = suites::run_opencl(suites::source_text(plan), suites::opencl_options(plan),
                                        suites::initial_buffers(plan), suites::opencl_launches(plan));
    fmt::print("device,cpu_s\n\"{}\",{:.6f}\n", run.device, run.cpu_s);
  } catch (std::exception const& error) {
    fmt::print(stderr, "opencl_run: {}\n", error.what());
    return 1;
  }
}
