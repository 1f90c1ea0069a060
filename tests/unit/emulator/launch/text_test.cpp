// Texts: expressions, sizes, arguments, buffers, launch files.
#include <cmath>
#include <cstring>
#include <set>

#include <fmt/format.h>

#include "base/process/process.hpp"
#include "catch.hpp"
#include "emulator/launch/arguments.hpp"
#include "emulator/launch/launch.hpp"
#include "error_of.hpp"

using namespace kernelcast;
using namespace kernelcast::launch;

namespace {

std::int64_t value_of(std::string const& text, Variables const& variables = {}) {
  return evaluate(text, variables, {text, {}, {}});
}

template <class T>
T scalar(std::string const& text) {
  Plan plan;
  auto const argument = parse_argument({text, {}, {}}, plan, {});
  REQUIRE(argument);
  REQUIRE(argument->value.size() == sizeof(T));
  T value;
  std::memcpy(&value, argument->value.data(), sizeof(T));
  return value;
}

Plan plan_from(std::string const& toml, std::vector<std::string> const& sets = {}) {
  TemporaryFolder const folder;
  write_file(folder.file("case.toml"), toml);
  return read_launch_file(folder.file("case.toml"), {}, sets);
}

std::string const head =
    "file = 'k.cl'\n[buffers]\nb = 'f32:16:zero'\na = 'i32:4:iota'\n[[launch]]\nkernel = 'k'\n"
    "global = [64, 2]\nlocal = 8\n";

}  // namespace

TEST_CASE("expressions follow C's precedence") {
  CHECK(value_of("1 + 2 * 3") == 7);
  CHECK(value_of("(1 + 2) * 3") == 9);
  CHECK(value_of("1 << 3 + 1") == 16);
  CHECK(value_of("7 & 3 | 8") == 11);
  CHECK(value_of("6 ^ 3 & 1") == 7);
  CHECK(value_of("-7 / 2") == -3);
  CHECK(value_of("-7 % 3") == -1);
  CHECK(value_of("100 >> 2 >> 1") == 12);
  CHECK(value_of("- -0x10") == 16);
  CHECK(value_of("n*n - k", {{"n", 5}, {"k", 2}}) == 23);
  CHECK(value_of("9223372036854775807") == INT64_MAX);
  CHECK(value_of("1 < 2 == 1") == 1);
  CHECK(value_of("1 | 2 == 2") == 1);
  CHECK(value_of("4 & 6 > 5") == 0);
  CHECK(value_of("1 << 2 < 5") == 1);
  CHECK(value_of("8 >> 1 >= 4") == 1);
  CHECK(value_of("2 >= 2 && 3 != 3 || 1") == 1);
  CHECK(value_of("1 || 1 && 0") == 1);
  CHECK(value_of("(1 < 2) + (2 <= 1)") == 1);
  CHECK(value_of("6 & 3 && 4 | 8") == 1);
}

TEST_CASE("expressions that have no value are refused") {
  for (auto const* text : {"", "1 +", "(1", "1)", "1 2", "1 / 0", "1 % 0", "1 << 63", "1 << -1", "9223372036854775808",
                           "9223372036854775807 + 1", "1x", "k", "4611686018427387904 * 2", "0x", "1 $ 2"}) {
    auto const error = error_of([&] { value_of(text); });
    INFO(text);
    CHECK(error.status() == Status::usage);
    CHECK(!error.hint().empty());
  }
  CHECK_THAT(error_of([] { value_of("row + 1", {{"rows", 1}}); }).hint(), Contains("rows"));
  CHECK(error_of([] { value_of(std::string(5000, '(')); }).status() == Status::usage);
}

TEST_CASE("scalars") {
  CHECK(scalar<std::int32_t>("i32:-5") == -5);
  CHECK(scalar<std::uint32_t>("u32:4294967295") == 4294967295u);
  CHECK(scalar<std::uint64_t>("u64:18446744073709551615") == UINT64_MAX);
  CHECK(scalar<std::int64_t>("i64:-9223372036854775807 - 1") == INT64_MIN);
  CHECK(scalar<std::int8_t>("i8:-128") == -128);
  CHECK(scalar<float>("f32:0.5") == 0.5f);
  CHECK(scalar<double>("f64:1e-300") == 1e-300);
  CHECK(scalar<float>("hex:0000803f") == 1.0f);
  CHECK(scalar<std::uint8_t>("hex:Ff") == 255);
  CHECK(scalar<std::array<float, 4>>("f32:0;1;2;0.25") == std::array<float, 4>{0, 1, 2, 0.25f});
  Plan plan;
  auto const parse = [&](std::string const& text) {
    return error_of([&] { parse_argument({text, {}, {}}, plan, {}); });
  };
  for (auto const* text : {"u8:256",          "i8:-129",     "i32:2147483648", "u32:-1",     "f32:1e39",
                           "f32:abc",         "f32:",        "i32:",           "q32:1",      "local:0",
                           "local:-4",        "hex:",        "hex:0",          "hex:123",    "hex:0g",
                           "hex:0x10",        "image2d:4:4", "buf:f32:0:zero", "buf:f32:10", "buf:f32:10:ones",
                           "buf:f99:10:zero", "i32:1;;2"}) {
    INFO(text);
    CHECK(parse(text).status() == Status::usage);
    CHECK(!parse(text).hint().empty());
  }
  CHECK_THAT(parse("image2d:4:4").what(), Contains("a part is missing"));
  CHECK_THAT(parse("f23:1").hint(), Contains("f32"));
}

TEST_CASE("random contents are reproducible, in range, and different for each buffer and seed") {
  auto const floats = [](std::uint64_t seed, std::uint64_t number) {
    std::vector<float> out(10000);
    fill_random(Element::f32, seed, number, std::as_writable_bytes(std::span(out)));
    return out;
  };
  auto const a = floats(1, 0);
  CHECK(a == floats(1, 0));
  CHECK(a != floats(1, 1));
  CHECK(a != floats(2, 0));
  double sum = 0, square = 0;
  std::array<int, 16> bins{};
  for (float const x : a) {
    REQUIRE((x >= 0 && x < 1));
    sum += x;
    square += double{x} * x;
    ++bins[static_cast<std::size_t>(x * 16)];
  }
  CHECK(std::abs(sum / 10000 - 0.5) < 0.015);  // five standard deviations of the mean
  CHECK(std::abs(square / 10000 - 1 / 3.) < 0.015);
  for (int const n : bins) CHECK(std::abs(n - 625) < 125);
  // A longer buffer begins like a shorter one.
  std::vector<float> longer(20000);
  fill_random(Element::f32, 1, 0, std::as_writable_bytes(std::span(longer)));
  CHECK(std::equal(a.begin(), a.end(), longer.begin()));
  std::vector<std::uint32_t> words(10000);
  fill_random(Element::u32, 1, 0, std::as_writable_bytes(std::span(words)));
  std::uint32_t all = 0;
  for (auto const word : words) all |= word;
  CHECK(all == 0x7fffffffu);
  std::vector<double> doubles(1000);
  fill_random(Element::f64, 1, 0, std::as_writable_bytes(std::span(doubles)));
  for (double const x : doubles) REQUIRE((x >= 0 && x < 1));
}

TEST_CASE("so many groups are at even distances and begin with the first") {
  auto const chosen = [](char const* text, std::uint64_t total) { return choose_groups(parse_groups(text), total); };
  CHECK(chosen("first", 100) == std::vector<std::uint64_t>{0});
  CHECK(chosen("4", 10) == std::vector<std::uint64_t>{0, 2, 5, 7});
  CHECK(chosen("20", 3) == std::vector<std::uint64_t>{0, 1, 2});
  CHECK(chosen("all", 3) == std::vector<std::uint64_t>{0, 1, 2});
  CHECK(chosen("resident:3", 10) == std::vector<std::uint64_t>{0, 1, 2});
  auto const huge = chosen("7", UINT64_MAX);
  CHECK(std::set<std::uint64_t>(huge.begin(), huge.end()).size() == 7);
  for (char const* const text : {"spread", "all", "4", "resident:3"}) CHECK(text_of(parse_groups(text)) == text);
  CHECK(text_of({}) == "spread");
  CHECK(error_of([] { parse_groups("frist"); }).hint() == "did you mean 'first'?");
  CHECK(error_of([] { parse_groups("0"); }).status() == Status::usage);
}

TEST_CASE("files to check and to dump") {
  auto const check = parse_check("2=dir/x.bin:1e-5");
  CHECK(check.buffer == "2");
  CHECK(check.path == "dir/x.bin");
  CHECK(check.tolerance == 1e-5);
  CHECK(parse_check("out=a:b.bin").path == "a:b.bin");
  CHECK(parse_check("out=x").tolerance == 0);
  CHECK(error_of([] { parse_dump("2"); }).status() == Status::usage);
  CHECK(error_of([] { parse_check("a=b:-1"); }).status() == Status::usage);
}

TEST_CASE("buffers are compared element by element") {
  Buffer buffer;
  buffer.name = "x";
  buffer.count = 4;
  std::vector<float> have{1, 2, 3, NAN}, want{1, 2.001f, 3, NAN};
  auto const bytes = [](std::vector<float> const& v) { return std::as_bytes(std::span(v)); };
  CHECK(compare(buffer, bytes(have), bytes(want), 1e-3).empty());
  auto const text = compare(buffer, bytes(have), bytes(want), 1e-4);
  CHECK_THAT(text, Contains("1 of 4") && Contains("first at 1: 2, expected 2.001"));
  want[0] = NAN;
  CHECK_THAT(compare(buffer, bytes(have), bytes(want), 1), Contains("first at 0"));
}

TEST_CASE("a launch file: buffers in order, sizes, loops unrolled") {
  auto const plan = plan_from(head + "args = ['a', 'i32:${1 << k}', 'local:${4*k}']\nfor = { k = [1, 4] }\n");
  CHECK(plan.case_name == "case");
  REQUIRE(plan.buffers.size() == 2);
  CHECK(plan.buffers[0].name == "b");
  CHECK(plan.buffers[1].fill == Fill::iota);
  REQUIRE(plan.calls.size() == 3);
  CHECK(plan.calls[0].global.size == emu::Dim3{64, 2, 1});
  CHECK(plan.calls[0].local->size == emu::Dim3{8, 1, 1});
  for (unsigned i = 0; i < 3; ++i) {
    std::int32_t value;
    std::memcpy(&value, plan.calls[i].arguments[1].value.data(), 4);
    CHECK(value == 2 << i);
    CHECK(plan.calls[i].arguments[2].shared_bytes == 4 * (i + 1));
  }
}

TEST_CASE("a launch file: steps, factors, nested loops, several kernels in turn") {
  auto const values = [](std::string const& loops) {
    std::vector<std::int32_t> result;
    for (auto const& call : plan_from(head + "args = ['i32:${x}']\nfor = " + loops + "\n").calls) {
      std::int32_t value;
      std::memcpy(&value, call.arguments[0].value.data(), 4);
      result.push_back(value);
    }
    return result;
  };
  using Values = std::vector<std::int32_t>;
  CHECK(values("{ x = { from = 1, to = 64, times = 2 } }") == Values{1, 2, 4, 8, 16, 32});
  CHECK(values("{ x = { from = 0, to = 10, step = 4 } }") == Values{0, 4, 8});
  CHECK(values("{ y = [0, 2], x = [5, 7] }") == Values{5, 6, 5, 6});
  CHECK(values("{ z = [1, 3], x = [0, 'z'] }") == Values{0, 0, 1});

  auto const plan = plan_from(
      "file = 'k.cl'\n[buffers]\na = 'f32:1:zero'\n[[launch]]\nfor = { k = [0, 2] }\n"
      "[[launch.each]]\nkernel = 'first'\ngrid = 4\nlocal = 8\n"
      "[[launch.each]]\nkernel = 'second'\nglobal = 4\nlocal = 4\nargs = ['i32:${k}']\n");
  std::string order;
  for (auto const& call : plan.calls) order += call.kernel.text + " ";
  CHECK(order == "first second first second ");
  CHECK(plan.calls[0].in_groups);
}

namespace {

std::string const open_head =
    "file = '${name}.${language}'\noptions = ['-DN=${2 * n}']\n"
    "[parameters]\nn = 64\nname = 'k'\nbits = 32\nalpha = 0.5\nlanguage = 'cl'\n"
    "[set]\nbig = { n = 1024, alpha = 2 }\nhalf = { n = '4096 / bits' }\nlong = { bits = 64 }\n"
    "cuda = { language = 'cu', name = 'cuda_${n}' }\n";
std::string const parametrised = open_head +
                                 "[buffers]\na = 'f${bits}:${n}*${n}:zero'\n"
                                 "[[launch]]\nkernel = '${name}_${bits}'\nglobal = ['n', 'n / 16']\nlocal = 8\n"
                                 "args = ['a', 'f32:${alpha}', 'i32:${n}']\nfor = { i = [0, 'n / 32'] }\n";

}  // namespace

TEST_CASE("a launch file: parameters stand for their values wherever texts and numbers do") {
  auto const plan = plan_from(parametrised);
  CHECK(plan.case_name == "case");
  CHECK(plan.request.path.ends_with("/k.cl"));
  CHECK(plan.request.options == std::vector<std::string>{"-DN=128"});
  CHECK(plan.buffers[0].element == Element::f32);
  CHECK(plan.buffers[0].count == 4096);
  REQUIRE(plan.calls.size() == 2);
  CHECK(plan.calls[0].kernel.text == "k_32");
  CHECK(plan.calls[0].global.size == emu::Dim3{64, 4, 1});
  CHECK(plan.calls[0].arguments[1].origin.text == "f32:0.5");
  CHECK(plan.calls[0].arguments[2].origin.text == "i32:64");
  REQUIRE(plan.parameters.size() == 5);
  CHECK(plan.parameters[0].name == "n");
  CHECK(plan.parameters[0].value == Value(std::int64_t{64}));
  CHECK(plan.parameters[3].value == Value(0.5));
  CHECK(plan.parameters[4].value == Value("cl"));
}

TEST_CASE("a launch file: what --set chooses") {
  auto const n = [](std::vector<std::string> const& sets) {
    return std::get<std::int64_t>(plan_from(parametrised, sets).parameters[0].value);
  };
  CHECK(n({"big"}) == 1024);
  CHECK(n({"big", "n=32"}) == 32);
  CHECK(n({"n=32", "big"}) == 1024);
  CHECK(n({"n=1 << 5"}) == 32);
  // An expression means what the other parameters are in the end, whatever the order.
  CHECK(n({"half"}) == 128);
  CHECK(n({"half", "long"}) == 64);
  CHECK(n({"long", "half"}) == 64);
  CHECK(n({"half", "bits=16"}) == 256);

  auto const plan = plan_from(parametrised, {"long", "cuda", "alpha=-1e-9", "n=32"});
  CHECK(plan.case_name == "case_long_cuda_alpha=-1e-9_n=32");
  CHECK(plan.request.path.ends_with("/cuda_32.cu"));
  CHECK(plan.buffers[0].element == Element::f64);
  CHECK(plan.calls[0].kernel.text == "cuda_32_64");
  CHECK(plan.calls[0].arguments[1].origin.text == "f32:-1e-09");
  CHECK(plan_from(parametrised, {"big"}).calls[0].arguments[1].origin.text == "f32:2");
}

TEST_CASE("what --set cannot choose is refused") {
  struct Mistake {
    std::vector<std::string> sets;
    std::string message, hint;
  };
  for (auto const& m : std::vector<Mistake>{
           {{"bgi"}, "no set 'bgi'", "did you mean 'big'"},
           {{"bgi"},
            "no set 'bgi'",
            "the parameters n, name, bits, alpha, language and the sets big, half, long, cuda"},
           {{"n"}, "no set 'n'", "--set n=VALUE"},
           {{"big=2"}, "no parameter 'big'", "--set big;"},
           {{"bist=2"}, "no parameter 'bist'", "did you mean 'bits'"},
           {{""}, "no set ''", "parameters"},
           {{"n=abc"}, "unknown parameter 'abc'", "known: n"},
           {{"n=alpha"}, "'alpha' is not an integer", "integers"},
           {{"n="}, "it ends too early", "integers"},
           {{"n=0.5"}, "unexpected '.5'", "integers"},
           {{"n=n"}, "'n' depends on itself", "depend on each other"},
           {{"n=bits", "bits=n"}, "depends on itself", "depend on each other"},
           {{"alpha=1x"}, "'1x' is not a number", "0.5"},
           {{"name=${names}"}, "unknown parameter 'names'", "did you mean 'name'"},
           {{"name=${name}"}, "'name' depends on itself", "depend on each other"},
           {{"name=${n"}, "${ without }", "${k}"},
       }) {
    auto const error = error_of([&] { plan_from(parametrised, m.sets); });
    INFO(m.sets.back());
    CHECK(error.status() == Status::usage);
    CHECK(error.where().file.starts_with("--set"));
    CHECK_THAT(error.what(), Contains(m.message));
    CHECK_THAT(error.hint(), Contains(m.hint));
  }
  CHECK_THAT(error_of([] { plan_of({.path = "k.cl", .global = "4", .sets = {"n=4"}}); }).hint(), Contains("-D"));
}

TEST_CASE("parameters that would grow without end are refused") {
  std::string toml = "file = 'k.cl'\n[parameters]\na0 = 'xxxxxxxxxxxxxxxx'\n";
  for (int i = 1; i < 60; ++i) toml += fmt::format("a{0} = '${{a{1}}}${{a{1}}}'\n", i, i - 1);
  auto const doubled = error_of([&] { plan_from(toml); });
  CHECK(doubled.status() == Status::bad_data);
  CHECK_THAT(doubled.what(), Contains("more than 64 KiB"));

  std::string const long_text = "[parameters]\na = '" + std::string(60000, 'x') + "'\n[buffers]\n",
                    head_of = "file = 'k.cl'\n";
  std::string many;
  for (int i = 0; i < 300; ++i) many += "${a}";
  CHECK_THAT(error_of([&] { plan_from(head_of + long_text + "b = '" + many + "'\n"); }).what(),
             Contains("more than 16 MiB"));
  std::string options = "options = [";
  for (int i = 0; i < 5000; ++i) options += "'-D${a}',";
  CHECK_THAT(error_of([&] { plan_from(head_of + options + "]\n" + long_text); }).what(), Contains("more than 256 MiB"));
  std::string chain = head_of + "[parameters]\n";
  for (int i = 0; i < 1001; ++i) chain += fmt::format("p{} = 'p{}'\n", i, i + 1);
  CHECK_THAT(error_of([&] { plan_from(chain); }).what(), Contains("more than 1000 parameters"));
}

TEST_CASE("mistakes in a launch file are refused at their place") {
  struct Mistake {
    std::string toml, message, hint;
    std::size_t line;
  };
  for (auto const& m : std::vector<Mistake>{
           {"file = 'k.cl'\nfiel = 1\n", "unknown key 'fiel'", "file", 2},
           {"file = 3\n[[launch]]\n", "must be a string", "quotes", 1},
           {"file = 'k.cl'\n", "no [[launch]]", "kernel", 1},
           {"file = 'k.cl'\n[buffers]\na = 'f32:16:zreo'\n", "unknown contents 'zreo'", "zero", 3},
           {head + "lcoal = 3\n", "unknown key 'lcoal'", "local", 9},
           {head + "args = ['c']\n", "'c' is neither", "a", 9},
           {head + "args = ['buf:f32:1:zero']\n", "declares a buffer", "[buffers]", 9},
           {head + "args = ['i32:${k}']\n", "unknown variable 'k'", "for", 9},
           {head + "args = ['i32:${k']\n", "without }", "${k}", 9},
           {head + "for = { k = [0] }\n", "[from, to]", "times", 9},
           {head + "for = { k = { from = 1, until = 3 } }\n", "unknown key 'until'", "to", 9},
           {head + "for = { k = { from = 0, to = 3, times = 2 } }\n", "times must be", "ascend", 9},
           {head + "for = { k = [0, 1000000000000] }\n", "more than 1000000 launches", "smaller", 9},
           {head + "for = { k = [-9223372036854775807, 9223372036854775807] }\n", "more than", "smaller", 9},
           {head + "for = { i = [0, 2000], k = [0, 2000] }\n", "more than", "smaller", 5},
           {"file = 'k.cl'\n[[launch]]\nfor = { i = [0, 999999], k = [0, 999999] }\neach = []\n",
            "more than 4000000 rounds", "smaller", 3},
           {head + "for = { i = [0, 999999], j = [0, 999999], k = [0, 0] }\n", "more than 4000000 rounds", "smaller",
            9},
           {head + "for = { k = [3, 3] }\n", "nothing is launched", "empty", 5},
           {head + "grid = 3\n", "both global and grid", "work-groups", 5},
           {"file = 'k.cl'\n[[launch]]\nkernel = 'k'\n", "no 'global'", "work-items", 2},
           {"file = 'k.cl'\n[[launch]]\nkernel = 'k'\nglobal = [0]\n", "0 is out of range", "from 1", 4},
           {"file = 'k.cl'\n[[launch]\n", "", "TOML", 2},
           {open_head + "tiny = { m = 3 }\n", "set 'tiny': unknown parameter 'm'", "known: n", 14},
           {open_head + "s = { n = 0.5 }\n", "parameter 'n' is an integer", "default", 14},
           {open_head + "s = { alpha = 'n' }\n", "parameter 'alpha' is a number", "default", 14},
           {open_head + "s = { name = 3 }\n", "parameter 'name' is a string", "default", 14},
           {open_head + "s = 3\n", "set 's' must be a table", "[set]", 14},
           {open_head + "'n=3' = {}\n", "cannot be the name of a set", "NAME=VALUE", 14},
           {"[parameters]\n'a b' = 3\n", "cannot be the name of a parameter", "letters", 2},
           {"[parameters]\na = true\n", "a number or a string", "n = 1024", 2},
           {"parameters = 3\n", "parameters must be a table", "[parameters]", 1},
           {"file = '${b}.cl'\n[parameters]\na = 1\n", "unknown variable 'b'", "known: a", 1},
           {"[parameters]\na = 'x'\nb = '${b}'\n", "'b' depends on itself", "each other", 3},
           {open_head + "[[launch]]\nkernel = 'k'\nglobal = 'n'\n", "unknown variable 'n'", "declared", 16},
           {open_head + "[[launch]]\nkernel = 'k'\nglobal = ['name']\n", "'name' is not an integer", "integers", 16},
           {open_head + "[[launch]]\nkernel = 'k'\nglobal = 4\nfor = { n = [0, 4] }\n", "'n' is a parameter", "another",
            17},
       }) {
    auto const error = error_of([&] { plan_from(m.toml); });
    INFO(m.toml);
    CHECK(error.status() == Status::bad_data);
    CHECK_THAT(error.what(), Contains(m.message));
    CHECK_THAT(error.hint(), Contains(m.hint));
    CHECK(error.where().line == m.line);
  }
  // At the launch or its argument, by the length of the file's path, which counts, too.
  auto const error =
      error_of([] { plan_from(head + "for = { k = [0, 999999] }\nargs = ['hex:" + std::string(40000, '0') + "']\n"); });
  CHECK(error.status() == Status::bad_data);
  CHECK_THAT(error.what(), Contains("more than 256 MiB"));
  CHECK_THAT(error.hint(), Contains("shorter"));
  CHECK((error.where().line == 5 || error.where().line == 10));
}
