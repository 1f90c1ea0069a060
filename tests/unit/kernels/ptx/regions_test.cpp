// Names of kernels that GCC and clang make of regions.
#include "kernels/ptx/regions.hpp"

#include <string>

#include "catch.hpp"
#include "kernels/ptx/parser.hpp"

using namespace kernelcast::ptx;

namespace {

std::string named(std::string const& kernel, std::string const& text) {
  auto const m = parse(
      ".version 7.0\n.target sm_80\n.address_size 64\n.file 1 \"<dummy>\"\n.file 2 \"heat.c\"\n"
      ".file 3 \"src/heat.f90\"\n" +
          text,
      "k.ptx");
  REQUIRE(m->find_kernel(kernel));
  return name_in_rows(*m, *m->find_kernel(kernel));
}

std::string kernel(std::string const& name, std::string const& loc) {
  return ".visible .entry " + name + "() {\n" + (loc.empty() ? "" : ".loc " + loc + "\n") + "ret; }\n";
}

std::string openmp(std::string const& name, std::string const& loc) {
  return kernel(name, "") + ".func " + name + "$impl() {\n.reg .u32 %r;\nmov.u32 %r, 1;\n.loc " + loc + "\nret; }\n";
}

}  // namespace

TEST_CASE("a region's kernel is named by its function and line") {
  CHECK(named("scale$_omp_fn$0", kernel("scale$_omp_fn$0", "2 12 3")) == "scale:12");
  CHECK(named("scale$_omp_fn$0", openmp("scale$_omp_fn$0", "2 7 1")) == "scale:7");
  CHECK(named("scale$constprop$0$_omp_fn$3", kernel("scale$constprop$0$_omp_fn$3", "2 12 3")) == "scale:12");
  CHECK(named("_ZN4heat4stepEPfi$_omp_fn$0", openmp("_ZN4heat4stepEPfi$_omp_fn$0", "2 9 1")) == "heat::step:9");
}

TEST_CASE("the line is that of the directive, not of the body") {
  auto const loop = [](std::string const& name, std::string const& body, std::string const& end) {
    return ".func " + name + "() {\n.reg .u32 %r;\n.loc 2 " + body + "\nmov.u32 %r, 1;\n.loc 2 " + end + "\nret; }\n";
  };
  CHECK(named("f$_omp_fn$0", kernel("f$_omp_fn$0", "") + loop("f$_omp_fn$0$impl", "9 1", "7 5")) == "f:7");
  CHECK(named("f$_omp_fn$0", kernel("f$_omp_fn$0", "") + loop("f$_omp_fn$0$impl", "7 1", "9 5")) == "f:7");
  // The kernel starts a team that runs the loop.
  CHECK(named("f$_omp_fn$0", loop("f$_omp_fn$1", "9 1", "7 5") + loop("g$_omp_fn$1", "3 1", "3 5") +
                                 kernel("f$_omp_fn$0", "") +
                                 ".func f$_omp_fn$0$impl() {\n.reg .u64 %r;\nmov.u64 %r, g$_omp_fn$1;\n"
                                 "mov.u64 %r, f$_omp_fn$1;\nret; }\n") == "f:7");
}

TEST_CASE("functions of Fortran are named as in the source") {
  CHECK(named("MAIN__$_omp_fn$0", openmp("MAIN__$_omp_fn$0", "3 20 1")) == "main program:20");
  CHECK(named("step_$_omp_fn$0", openmp("step_$_omp_fn$0", "3 20 1")) == "step:20");
  CHECK(named("__heat_MOD_step$_omp_fn$1", openmp("__heat_MOD_step$_omp_fn$1", "3 20 1")) == "heat::step:20");
  CHECK(named("step_$_omp_fn$0", openmp("step_$_omp_fn$0", "2 20 1")) == "step_:20");  // of C
}

TEST_CASE("regions that begin in the same line are numbered in their order") {
  auto const both = openmp("f$_omp_fn$10", "2 7 1") + openmp("f$_omp_fn$2", "2 7 40") + openmp("g$_omp_fn$0", "2 7 1");
  CHECK(named("f$_omp_fn$2", both) == "f:7");
  CHECK(named("f$_omp_fn$10", both) == "f:7#2");
  CHECK(named("g$_omp_fn$0", both) == "g:7");
}

TEST_CASE("clang's names have the function and the line") {
  auto const alone = [](std::string const& name) { return named(name, kernel(name, "")); };
  CHECK(alone("__omp_offloading_fe00_a76901_main_l5") == "main:5");
  CHECK(alone("__omp_offloading_10302_2c_time_l2_l35") == "time_l2:35");
  CHECK(alone("__omp_offloading_fe00_a7__ZN4heat4stepEPfi_l9") == "heat::step:9");
  std::string const first = "__omp_offloading_fe00_a7_f_l7", second = first + "_1", third = first + "_10";
  auto const all = kernel(third, "") + kernel(second, "") + kernel(first, "");
  CHECK(named(first, all) == "f:7");
  CHECK(named(second, all) == "f:7#2");
  CHECK(named(third, all) == "f:7#3");
}

TEST_CASE("other kernels, and regions without lines, keep their names") {
  for (std::string const name : {"scale$_omp_fn$0", "$_omp_fn$0"}) CHECK(named(name, kernel(name, "")) == name);
  for (std::string const name : {"scale", "_Z5scalePf", "f$_omp_fn$", "f$_omp_fn$0x", "__omp_offloading_",
                                 "__omp_offloading_fe00", "__omp_offloading_fe00_a7_f", "__omp_offloading_fe00_a7__l3",
                                 "__omp_offloading_fe00_a7_f_l3x", "__omp_offloading_fe00_xyz_f_l3"})
    CHECK(named(name, kernel(name, "2 3 1")) == name);
}
