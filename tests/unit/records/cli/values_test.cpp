// Values of options: numbers, ranges, and the part of a sweep that a run does.
#include "records/cli/values.hpp"

#include <algorithm>
#include <cstdlib>

#include <fmt/format.h>

#include "catch.hpp"
#include "environment.hpp"
#include "error_of.hpp"
#include "records/cli/shard.hpp"

using namespace kernelcast;
using namespace kernelcast::cli;

namespace {

std::string verdict(CLI::Validator const& validator, std::string text) {
  return validator(text);
}

std::vector<int> taken(Shard shard, int points) {
  std::vector<int> out;
  for (int point = 0; point < points; ++point)
    if (shard.takes_next()) out.push_back(point);
  return out;
}

}  // namespace

TEST_CASE("numbers of options are numbers and nothing else") {
  CHECK(positive_number("1.7", "--x") == 1.7);
  CHECK(positive_number("1e9", "--x") == 1e9);
  for (char const* const bad : {"", "0", "-1", "nan", "inf", "1e999", "1 ", "1,5"})
    CHECK(error_of([&] { positive_number(bad, "--x"); }).status() == Status::usage);
}

TEST_CASE("ranges hold both ends, and are refused upside down or without end") {
  CHECK(positive_numbers({"3", "4096:16384:4096"}, "--n") == std::vector<double>{3, 4096, 8192, 12288, 16384});
  CHECK(positive_numbers({"1:2:0.4"}, "--n").size() == 3);
  CHECK(positive_numbers({"5:5:1"}, "--n") == std::vector<double>{5});
  CHECK(positive_numbers({}, "--n").empty());
  for (char const* const bad : {"1:2", "2:1:1", "1:2:0", "1:2:3:4", "1:1e9:1", "a", ":"})
    CHECK(error_of([&] { positive_numbers({bad}, "--n"); }).status() == Status::usage);
  CHECK(counts({"2", "4-6"}, "--gpus", "GPUs", 16) == std::vector<std::uint32_t>{2, 4, 5, 6});
  for (char const* const bad : {"0", "4-1", "1-17", "1-2-3", "-1", "1-", "1.5"})
    CHECK(error_of([&] { counts({bad}, "--gpus", "GPUs", 16); }).status() == Status::usage);
}

TEST_CASE("shards share out every point once") {
  CHECK(taken(Shard(), 3) == std::vector<int>{0, 1, 2});
  for (int const count : {1, 2, 3, 7, 11}) {
    std::vector<int> all;
    for (int index = 0; index < count; ++index) {
      auto const part = taken(Shard(std::to_string(index) + "/" + std::to_string(count)), 10);
      CHECK(part.size() <= static_cast<std::size_t>(9 / count + 1));  // none has more than its share
      all.insert(all.end(), part.begin(), part.end());
    }
    std::sort(all.begin(), all.end());
    CHECK(all == std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9});
  }
  for (char const* const bad : {"1", "1/1", "2/1", "0/0", "0/1/2", "/", "-1/2", "0/x", "Slurm"})
    CHECK(error_of([&] { Shard shard(bad); }).status() == Status::usage);
}

TEST_CASE("an array job's task knows its shard") {
  CHECK(error_of([] { Shard shard("slurm"); }).status() == Status::usage);
  Environment const id("SLURM_ARRAY_TASK_ID", "1");
  CHECK(error_of([] { Shard shard("slurm"); }).status() == Status::usage);
  {
    Environment const count("SLURM_ARRAY_TASK_COUNT", "4");
    CHECK(taken(Shard("slurm"), 10) == std::vector<int>{1, 5, 9});
  }
  Environment const count("SLURM_ARRAY_TASK_COUNT", "1");  // numbered from 1: not as --shard counts
  CHECK(error_of([] { Shard shard("slurm"); }).status() == Status::usage);
}

TEST_CASE("options of floating-point numbers take finite ones in a range") {
  for (auto const& good : {"0", "0.5", "1e9", "2.5e-3", "-0"}) CHECK(verdict(seconds(), good).empty());
  for (auto const& bad : {"nan", "-nan", "inf", "-inf", "infinity", "-1", "1e300", "1e400", "1.1e9", "0x10", "1s", " 1",
                          "", "1,5", "nan(1)"})
    CHECK(verdict(seconds(), bad) == fmt::format("expected a number from 0 to 1000000000, got '{}'", bad));
  CHECK(verdict(bandwidth(), "1e12").empty());
  for (auto const& bad : {"0", "nan", "inf", "1e300"}) CHECK(!verdict(bandwidth(), bad).empty());
  CHECK(verdict(number_from(0.01, 99.9), "99.9").empty());
  CHECK(verdict(number_from(0.01, 99.9), "nan") == "expected a number from 0.01 to 99.9, got 'nan'");
}
