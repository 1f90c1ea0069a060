// What other compilers write: modules that must be instrumented so that a driver takes them, or refused with the place.
#include <string>

#include "base/diag/diag.hpp"
#include "catch.hpp"
#include "kernels/ptx/parser.hpp"
#include "measure/flux/instrument.hpp"

using namespace kernelcast;

namespace {

std::string header(std::string const& version, std::string const& target) {
  return ".version " + version + "\n.target " + target + "\n";
}

std::string const kernel =
    ".visible .entry k(.param .u64 p)\n"
    "{\n"
    "  .reg .u64 %rd1; .reg .pred %p1;\n"
    "  ld.param.u64 %rd1, [p];\n"
    "L: setp.eq.u64 %p1, %rd1, 0;\n"
    "  @%p1 bra L;\n"
    "  st.global.u64 [%rd1], %rd1;\n"
    "  ret;\n"
    "}\n";

std::string instrumented(std::string const& text, flux::Scheme scheme = flux::Scheme::minimal) {
  flux::PlanOptions options;
  options.scheme = scheme;
  return flux::instrument(*ptx::parse(text, "k.ptx"), options).ptx;
}

std::string refusal(std::string const& text) {
  try {
    instrumented(text);
  } catch (Error const& error) {
    return error.text("t");
  }
  return "none";
}

}  // namespace

TEST_CASE("a module with debug sections promises none in its target") {
  auto const text = instrumented(header("7.5", "sm_75, debug") + ".address_size 64\n" + kernel +
                                 ".section .debug_str { .b8 110, 0 }\n");
  CHECK_THAT(text, Catch::Matchers::StartsWith(".version 7.5\n.target sm_75\n"));
}

TEST_CASE("counters of warps need sm_30") {
  auto const text = header("2.3", "sm_20") + ".address_size 64\n" + kernel;
  CHECK_THAT(instrumented(text), Catch::Matchers::StartsWith(".version 3.0\n.target sm_20\n"));
  CHECK_THAT(instrumented(text, flux::Scheme::every_block),
             Catch::Matchers::StartsWith(".version 6.2\n.target sm_30\n"));
}

TEST_CASE("what cannot be instrumented is named with its place") {
  CHECK_THAT(refusal(header("1.4", "sm_13") + kernel),
             Catch::Matchers::StartsWith("k.ptx:1:1: error: PTX before 2.0 cannot be instrumented"));
  CHECK_THAT(refusal(header("7.5", "sm_75") + kernel),
             Catch::Matchers::StartsWith("k.ptx:1:1: error: addresses of 32 bits cannot be instrumented"));
  CHECK_THAT(refusal(header("7.5", "sm_75") + ".address_size 64\n.visible .func f(.param .b32 a[]) { ret; }\n"),
             Catch::Matchers::StartsWith("k.ptx:4:"));
}

TEST_CASE("line ends, comments and letters of other languages change nothing") {
  auto const plain = header("7.5", "sm_75") + ".address_size 64\n" + kernel;
  auto const expected = instrumented(plain);
  std::string odd =
      "// Gr\xC3\xBC\xC3\x9F"
      "e \xF0\x9F\x98\x80\r\n";
  for (char const c : plain) odd += c == '\n' ? std::string(" /* \xE4\xBD\xA0 * / ** */\t\r\n") : std::string(1, c);
  CHECK(instrumented(odd) == expected);
}

TEST_CASE("a module without kernels stays as it is") {
  auto const text = header("7.5", "sm_75") + ".address_size 64\n";
  CHECK(instrumented(text) == text);
}

TEST_CASE("thousands of inner blocks may use one name") {
  std::string inner;
  for (int i = 0; i < 20000; ++i) inner += "{ .reg .u64 x; mov.u64 x, 1; add.u64 %rd1, %rd1, x; }\n";
  auto text = header("7.5", "sm_75") + ".address_size 64\n" + kernel;
  text.insert(text.find("  ret;"), inner);
  auto const out = instrumented(text);  // takes minutes where every name is tried from the first on
  CHECK(out.find("x$s19999") != std::string::npos);
  CHECK(out.find("x$s20000") == std::string::npos);
}
