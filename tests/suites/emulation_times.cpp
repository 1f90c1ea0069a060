// emulation_times REPEAT FILE.toml [--set NAME=VALUE|SET]...
//
// [panwar] Table III: the time to emulate all groups over the time to emulate one, both after compiling, decoding and
// filling buffers. One thread; pairs of runs, medians. CSV: workload, groups_total, one_group_s, all_groups_s, ratio.
// The ratio cannot exceed the number of groups but by chance: it is what emulating one group saves.
#include <fmt/format.h>

#include <charconv>
#include <cstring>
#include <exception>
#include <vector>

#include "../launches.hpp"
#include "base/statistics/median.hpp"

namespace {

using namespace kernelcast;

launch::Report run(launch::Plan const& plan, bool all) {
  launch::RunOptions options;
  options.groups = launch::parse_groups(all ? "all" : "first");
  return launch::run(plan, options);
}

void print_times(launch::Plan const& plan, int repeat) {
  std::uint64_t groups = 0;
  for (auto const& row : run(plan, false).rows) groups += row.groups_total;
  std::vector<double> one_s, all_s, ratio;
  for (int i = 0; i < repeat; ++i) {
    one_s.push_back(run(plan, false).times.emulation_s);
    all_s.push_back(run(plan, true).times.emulation_s);
    ratio.push_back(all_s.back() / one_s.back());
  }
  fmt::print("{},{},{:.3g},{:.3g},{:.1f}\n", plan.case_name, groups / plan.calls.size(), median(one_s), median(all_s),
             median(ratio));
}

}  // namespace

int main(int argc, char** argv) {
  int repeat = 0;
  if (argc > 2) std::from_chars(argv[1], argv[1] + std::strlen(argv[1]), repeat);
  if (repeat < 1) {
    fmt::print(stderr, "usage: emulation_times REPEAT FILE.toml [--set NAME=VALUE|SET]...\n");
    return 2;
  }
  try {
    fmt::print("workload,groups_per_launch,one_group_s,all_groups_s,ratio\n");
    for (auto const& plan : read_plans(argv + 2, argv + argc)) print_times(plan, repeat);
  } catch (std::exception const& error) {
    fmt::print(stderr, "emulation_times: {}\n", error.what());
    return 1;
  }
}
