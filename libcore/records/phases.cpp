#include "records/phases.hpp"

#include <algorithm>
#include <array>
#include <iterator>

#include <fmt/format.h>

#include "records/table/histogram.hpp"

namespace kernelcast::record {

namespace {
constexpr double max_steps = 1e6;  // what read_numbers() reads
}

std::string text_of(std::vector<Phase> const& phases) {
  std::string out;
  auto const to = std::back_inserter(out);
  for (Phase const& phase : phases) {
    if (!out.empty()) out += ';';
    for (Work const work : values_of<Work>) fmt::format_to(to, "{:.4g}/", phase.part[work]);
    for (Step const step : values_of<Step>)
      fmt::format_to(to, "{}{:.6g}", index_of(step) == 0 ? "" : "/", std::min(phase.steps[step], max_steps));
    fmt::format_to(to, ":{}", phase.count);
  }
  return out;
}

bool read_phases(std::string_view text, std::vector<Phase>& out) {
  return read_histogram(text, [&](std::string_view key, double n) {
    std::array<double, count_of<Work> + count_of<Step>> numbers{};
    if (n <= 0 || !read_numbers(key, numbers)) return false;
    Phase phase;
    phase.count = n;
    for (Work const work : values_of<Work>) phase.part[work] = numbers[index_of(work)];
    for (Step const step : values_of<Step>) phase.steps[step] = numbers[count_of<Work> + index_of(step)];
    out.push_back(phase);
    return true;
  });
}

}  // namespace kernelcast::record
