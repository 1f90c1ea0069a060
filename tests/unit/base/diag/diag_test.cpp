#include "base/diag/diag.hpp"

#include "base/diag/text.hpp"
#include "catch.hpp"

using namespace kernelcast;

TEST_CASE("an error names its place, shows the line with a caret and gives a hint") {
  Error const error(Status::bad_data, {"in.csv", 7, 3}, "column 'time_s': expected a number, got '1.5ms'",
                    "write 0.0015", "a,1.5ms");
  CHECK(error.text("rank") ==
        "in.csv:7:3: error: column 'time_s': expected a number, got '1.5ms'\n"
        "  a,1.5ms\n"
        "    ^\n"
        "hint: write 0.0015\n");
  CHECK(error.status() == Status::bad_data);
}

TEST_CASE("an error without a place begins with the program's name") {
  CHECK(Error(Status::io, "cannot write", "free some space").text("rank") ==
        "rank: error: cannot write\nhint: free some space\n");
}

TEST_CASE("a long line is cut around the caret and control characters do not reach the terminal") {
  std::string line(1000, 'x');
  line[500] = '\x1b';
  auto const text = Error(Status::bad_data, {"f", 1, 501}, "bad byte", {}, line).text("t");
  CHECK(text.size() < 450);
  CHECK(text.find('\x1b') == std::string::npos);
  CHECK_THAT(text, Contains("…"));
}

TEST_CASE("near names are offered, far ones listed") {
  std::vector<std::string> const known{"time_s", "time_low_s", "device"};
  CHECK(did_you_mean("tims_s", known) == "did you mean 'time_s'?");
  CHECK(did_you_mean("zzzzzz", known) == "known: time_s, time_low_s, device");
  CHECK(nearest("device", known).front() == "device");
  CHECK(did_you_mean("x", {}).empty());
}

TEST_CASE("a text in pieces, empty ones too; of a list the names") {
  using Parts = std::vector<std::string_view>;
  CHECK(split("a", ':') == Parts{"a"});
  CHECK(split("a::b:", ':') == Parts{"a", "", "b", ""});
  CHECK(split("", '+') == Parts{""});
  CHECK(listed("").empty());
  CHECK(listed("a;;b;") == Parts{"a", "", "b"});
  CHECK(trimmed(" \ta b\r\n") == "a b");
  CHECK(trimmed(" \r").empty());
}

TEST_CASE("numbers are numbers and nothing else") {
  CHECK(to_number<std::uint64_t>("0") == 0u);
  CHECK(to_number<std::uint64_t>("18446744073709551615") == ~std::uint64_t{0});
  for (char const* const bad : {"", "-1", "+1", "1.0", " 1", "1x", "18446744073709551616"})
    CHECK(!to_number<std::uint64_t>(bad));
  CHECK(to_number<int>("-1f", 16) == -0x1f);
  CHECK(to_number<double>("1e-3") == 1e-3);
  for (char const* const bad : {"", "+1", "1e999", "1.0 "}) CHECK(!to_number<double>(bad));
}
