// seqprof against the naive profiler of reference.cpp, on random programs or on the programs of a folder; and the plain
// program's output against the instrumented one's.
//   seqprof_differential --programs N --functions N [--seed N | --seed-from-time] [--all]
//   seqprof_differential --files DIR      each NAME.c starts with lines "// kernel NAME", and any of "// depth N",
//                                         "// sync N", "// flop N": closed forms that the profile must have
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include <fmt/format.h>

#include "base/csv/csv.hpp"
#include "base/diag/diag.hpp"
#include "base/process/process.hpp"
#include "generator.hpp"
#include "records/profile.hpp"
#include "records/table/table.hpp"
#include "sequential/distance.hpp"

using namespace kernelcast;
namespace fs = std::filesystem;

namespace {

using Counts = std::map<std::pair<std::string, std::string>, std::uint64_t>;  // quantity, low -> count

std::string bin() {
  auto const* const folder = std::getenv("BIN");
  return folder ? folder : "build/bin";
}

ProcessResult must(std::vector<std::string> const& command) {
  auto result = run_process(command, 300, ~std::uint64_t{0});
  if (!result.succeeded()) throw Error(Status::finding, fmt::format("{} failed: {}", command[0], result.errors));
  return result;
}

std::string line_of(std::string const& where) {
  return where.substr(where.rfind(':') + 1);
}

// The profile, as the reference writes its own.
Counts profile(std::string const& path, Counts& totals) {
  std::ifstream in(path, std::ios::binary);
  csv::Reader csv(in, path);
  record::Reader<record::Profile> rows(csv);
  Counts out;
  for (record::Profile row; rows.next(row);) {
    totals[{row.quantity, ""}] += row.count;
    auto const& q = row.quantity;
    if (q == "w_add" || q == "w_mul" || q == "w_div" || q == "w_sqrt" || q == "w_call" || q == "depth" || q == "load" ||
        q == "store")
      out[{q, ""}] += row.count;
    if (q == "level_width") out[{q, std::to_string(*row.low)}] += row.count;
    if (q == "stack_distance") out[{q, row.low ? std::to_string(*row.low) : "cold"}] += row.count;
    if (q == "loop_sequential" || q == "loop_parallel" || q == "loop_reduction") {
      out[{"loop_iterations", line_of(row.where)}] += row.count;
      auto& sequential = out[{"loop_sequential", line_of(row.where)}];
      if (q == "loop_sequential") sequential = 1;
    }
    if (q == "loop_entries") out[{q, line_of(row.where)}] += row.count;
  }
  return out;
}

Counts reference(std::string const& text) {
  Counts out;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    auto const a = line.find(','), b = line.rfind(',');
    std::string const quantity = line.substr(0, a);
    auto low = line.substr(a + 1, b - a - 1);
    // In the bins of the profile.
    if (quantity == "stack_distance" && low != "cold")
      low = std::to_string(
          seq::DistanceHistogram::low_of(seq::DistanceHistogram::bin_of(static_cast<std::uint32_t>(std::stoul(low)))));
    out[{quantity, low}] += std::stoull(line.substr(b + 1));
  }
  return out;
}

unsigned differences(Counts const& ours, Counts const& theirs, std::string const& what) {
  std::set<std::pair<std::string, std::string>> keys;
  for (auto const* counts : {&ours, &theirs})
    for (auto const& [key, count] : *counts)
      if (count > 0) keys.insert(key);
  unsigned wrong = 0;
  auto const count = [](Counts const& counts, auto const& key) { return counts.contains(key) ? counts.at(key) : 0; };
  for (auto const& key : keys)
    if (count(ours, key) != count(theirs, key) && ++wrong <= 8)
      fmt::print("{}: {} {}: expected {}, got {}\n", what, key.first, key.second, count(theirs, key), count(ours, key));
  return wrong;
}

// Checks one program; gives the number of differences.
unsigned check(std::string const& source, std::string const& kernel, Counts const& expected, bool all) {
  TemporaryFolder const scratch;
  auto const keep = scratch.file("keep.ll"), out = scratch.file("p.csv"), plain = scratch.file("plain");
  auto const ours = must({bin() + "/seqprof", "--kernel", kernel, "--dependences", all ? "all" : "raw", "--keep", keep,
                          "-o", out, source});
  auto const clang = find_program("clang-19", {"/usr/lib/llvm-19/bin"});
  must({clang, "-O2", "-ffp-contract=off", "-fno-math-errno", "-w", source, "-o", plain, "-lm"});
  unsigned wrong = 0;
  if (auto const native = must({plain}); native.output != ours.errors) {
    fmt::print("{}: the program printed {} instead of {}\n", source, ours.errors, native.output);
    ++wrong;
  }
  Counts totals;
  auto const measured = profile(out, totals);
  std::vector<std::string> naive{bin() + "/seqprof_reference", keep, kernel};
  if (all) naive.emplace_back("all");
  wrong += differences(measured, reference(must(naive).output), source);
  for (auto const& [key, count] : expected)
    if (auto const got = totals[key]; got != count) {
      fmt::print("{}: {}: closed form {}, got {}\n", source, key.first, count, got);
      ++wrong;
    }
  return wrong;
}

unsigned check_file(fs::path const& path, bool all) {
  std::ifstream in(path);
  std::string kernel;
  Counts expected;
  for (std::string line; std::getline(in, line) && line.starts_with("// ");) {
    std::istringstream words(line.substr(3));
    std::string key, value;
    words >> key >> value;
    if (key == "kernel") kernel = value;
    // With all dependences: "// all depth N".
    bool const of_all = key == "all";
    if (of_all) {
      key = value;
      words >> value;
    }
    if (of_all != all && key != "flop") continue;
    if (key == "depth" || key == "sync" || key == "flop") expected[{key, ""}] = std::stoull(value);
  }
  return check(path.string(), kernel, expected, all);
}

}  // namespace

int main(int argc, char** argv) {
  std::uint64_t programs = 1, seed = 1;
  unsigned functions = 10, wrong = 0;
  std::string files, keep;
  bool all = false;
  for (int i = 1; i < argc; ++i) {
    std::string const option = argv[i];
    auto const next = [&] { return i + 1 < argc ? std::string(argv[++i]) : std::string(); };
    if (option == "--programs") programs = std::stoull(next());
    if (option == "--functions") functions = static_cast<unsigned>(std::stoul(next()));
    if (option == "--seed") seed = std::stoull(next());
    if (option == "--seed-from-time") seed = static_cast<std::uint64_t>(std::time(nullptr)) * 1000;
    if (option == "--files") files = next();
    if (option == "--keep") keep = next();
    if (option == "--all") all = true;
  }
  try {
    if (!files.empty()) {
      std::set<fs::path> sorted;
      for (auto const& entry : fs::directory_iterator(files))
        if (entry.path().extension() == ".c") sorted.insert(entry.path());
      for (auto const& path : sorted) wrong += check_file(path, all);
      fmt::print("{} programs of {}: {} differences\n", sorted.size(), files, wrong);
      return wrong > 0;
    }
    TemporaryFolder const scratch;
    for (std::uint64_t p = 0; p < programs && wrong == 0; ++p) {
      auto const path = keep.empty() ? scratch.file("program.c") : keep;
      write_file(path, tests::random_program(seed + p, functions));
      wrong += check(path, "kernel", {}, all);
      if (wrong > 0) fmt::print("seed {}, {} functions\n", seed + p, functions);
    }
    fmt::print("{} programs of {} functions from seed {}: {} differences\n", programs, functions, seed, wrong);
  } catch (Error const& error) {
    std::fputs(error.text("seqprof_differential").c_str(), stdout);
    return 1;
  }
  return wrong > 0;
}
