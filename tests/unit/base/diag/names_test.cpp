#include "base/diag/names.hpp"
#include "catch.hpp"

using kernelcast::demangled;
using kernelcast::function_name;

TEST_CASE("names of functions are those of the source") {
  CHECK(demangled("_ZN2ns5scaleIfEEvPT_") == "void ns::scale<float>(float*)");
  CHECK(function_name("_ZN2ns5scaleIfEEvPT_") == "ns::scale<float>");
  CHECK(function_name("_Z6matmulPfS_i") == "matmul");
  CHECK(function_name("_ZN12_GLOBAL__N_14stepEv") == "step");
  CHECK(function_name("_Z4copyIXadL_Z4readiEEEvPi") == "copy<&(read(int))>");
}

TEST_CASE("what a compiler made of a region is the region's") {
  using kernelcast::region_of_kernel;
  CHECK(region_of_kernel("heat::step:12#2") == "heat::step:12");
  for (std::string const name : {"heat::step:12", "step#2", "12#2", ":1#2", "step:#2", "step:12#", "#", ""})
    CHECK(region_of_kernel(name) == name);
}

TEST_CASE("other names stay as they are") {
  for (std::string const name : {"f", "saxpy", "_Zbroken", "a(b)", "", "<script>"}) {
    CHECK(demangled(name) == name);
    CHECK(function_name(name) == name);
  }
}
