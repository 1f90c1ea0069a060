// Recursion, function pointers, printf, assert and the heap in OpenCL C and CUDA C++, as compilers write them.

#include <fmt/format.h>

#include "catch.hpp"
#include "emulator/launch/launch.hpp"
#include "error_of.hpp"
#include "launches.hpp"

using namespace kernelcast;
using namespace kernelcast::launch;

namespace {

struct Printed {
  std::string text;
  Report report;
};

Printed run_source(std::string const& name, std::string const& source, unsigned threads = 1,
                   std::vector<std::string> arguments = {}) {
  TemporaryFolder const folder;
  write_file(folder.file(name), source);
  auto plan = uncached_plan(
      {.path = folder.file(name), .kernel = "k", .global = "96", .local = "32", .arguments = std::move(arguments)});
  auto options = with_groups("all");
  options.threads = threads;
  Printed result;
  options.print = [&](std::string_view text) { result.text += text; };
  result.report = run(std::move(plan), options);
  return result;
}

int fib(int n) {
  return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

}  // namespace

TEST_CASE("OpenCL C: recursion, and vectors printed") {
  std::string expected;
  for (int i = 0; i < 96; ++i)
    expected += fmt::format("{} {} 1.50,2.00,-3.25,{:.2f} {},{} abc {}%\n", i, fib(i % 11), i * 0.5, i, i + 1,
                            char('a' + i % 26));
  for (unsigned threads : {1u, 2u})
    CHECK(run_source("k.cl", R"(
int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
kernel void k() {
  int i = get_global_id(0);
  float4 v = (float4)(1.5f, 2.0f, -3.25f, i * 0.5f);
  int2 w = (int2)(i, i + 1);
  printf("%d %d %.2v4hlf %v2hld %s %c%%\n", i, fib(i % 11), v, w, "abc", 'a' + i % 26);
}
)",
                     threads)
              .text == expected);
}

TEST_CASE("CUDA C++: function pointers and the heap") {
  std::string expected;
  for (int i = 0; i < 96; ++i) {
    int const x = fib(i % 9);
    expected += fmt::format("{} {} {:.3f}\n", i, i % 3 == 0 ? x + 1 : i % 3 == 1 ? x * x : x - 1, i / 8.0);
  }
  CHECK(run_source("k.cu", R"(
typedef int (*operation)(int);
__device__ int plus(int x) { return x + 1; }
__device__ int square(int x) { return x * x; }
__device__ int minus(int x) { return x - 1; }
__device__ operation table[3] = {plus, square, minus};
__device__ __noinline__ int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
extern "C" __global__ void k() {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int* box = (int*)malloc(16);
  box[i & 3] = fib(i % 9);
  int y = table[i % 3](box[i & 3]);
  free(box);
  printf("%d %d %.3f\n", i, y, i / 8.0f);
}
)")
            .text == expected);
}

TEST_CASE("CUDA C++: an assert that fails is a finding with its text") {
  auto const error = error_of([] {
    run_source("k.cu", R"(
#include <cassert>
extern "C" __global__ void k() {
  assert(threadIdx.x < 20);
}
)");
  });
  CHECK(error.status() == Status::finding);
  CHECK_THAT(error.what(), Contains("threadIdx.x < 20") && Contains("work-item (20, 0, 0)"));
}
