// Which of OpenMP's directives synchronize all threads, and what becomes of them.
#include "sequential/driver/openmp.hpp"
#include "catch.hpp"

using namespace kernelcast::seq;

TEST_CASE("directives that end with a barrier of all threads") {
  CHECK(synchronizing_directive(" parallel for reduction(+ : sum)") == "parallel for");
  CHECK(synchronizing_directive(" parallel") == "parallel");
  CHECK(synchronizing_directive(" for schedule(static)") == "for");
  CHECK(synchronizing_directive(" for simd private(nowait)") == "for simd");  // a variable's name
  CHECK(synchronizing_directive(" single copyprivate(x)") == "single");
  CHECK(synchronizing_directive(" sections") == "sections");
  CHECK(synchronizing_directive(" barrier") == "barrier");
  CHECK(synchronizing_directive(" target teams distribute parallel for map(to : a)") ==
        "target teams distribute parallel for");
}

TEST_CASE("directives that do not") {
  for (auto const* text : {" for nowait",
                           " for schedule(static) nowait",
                           " for\tnowait // rest",
                           " single nowait",
                           " target nowait map(a)",
                           " target data map(to : a)",
                           " target update from(a)",
                           " simd",
                           " critical (name)",
                           " atomic",
                           " ordered",
                           " master",
                           " masked",
                           " section",
                           " task",
                           " taskwait",
                           " flush",
                           " threadprivate(x)",
                           " declare simd",
                           " teams distribute parallel for",
                           " distribute parallel for",
                           " distribute",
                           "",
                           " parallels"})
    CHECK(synchronizing_directive(text) == "");
}

TEST_CASE("marks stand before the construct, on its line") {
  std::string const source =
      "# 1 \"x.c\"\nvoid f(int n) {\n  if (n)\n #pragma omp parallel for\n    for (;;) ;\n#  pragma omp barrier\n"
      "#pragma omp simd\n#pragma once\n}";
  CHECK(
      with_openmp_marks(source) ==
      "static void seqprof_sync_openmp(char const* directive) { (void)directive; }\n# 1 \"x.c\"\nvoid f(int n) {\n  if "
      "(n)\n"
      "switch (seqprof_sync_openmp(\"parallel for\"), 0) default:\n    for (;;) ;\nseqprof_sync_openmp(\"barrier\");\n"
      "#pragma omp simd\n#pragma once\n}");
}
