#include "measure/probe/messages.hpp"

#include <ctime>

#include <fmt/format.h>

namespace kernelcast::probe {

namespace {

// Of the processor time for others; below it a machine counts as idle.
constexpr double idle_pct = 5;

}  // namespace

std::string provenance(std::string_view program, Facts const& facts) {
  std::time_t const now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  return fmt::format("{}, {}, {:04}-{:02}-{:02}", program, facts.driver, parts.tm_year + 1900, parts.tm_mon + 1,
                     parts.tm_mday);
}

std::string bar(Progress const& p) {
  constexpr std::size_t width = 24;
  std::size_t const full = p.total ? width * p.done / p.total : 0;
  auto const seconds = static_cast<unsigned>(p.remaining_s + 0.5);
  return fmt::format("[{}{}] {}/{} {}:{:02} left  {}", std::string(full, '#'), std::string(width - full, ' '), p.done,
                     p.total, seconds / 60, seconds % 60, p.text);
}

std::vector<std::string> remarks(Report const& report) {
  std::vector<std::string> out;
  if (report.sampled > 0 && report.other_load_pct > idle_pct)
    out.push_back(
        fmt::format("the machine was not idle: other programs used {:.0f} % of its processors; run it again when it is",
                    report.other_load_pct));
  auto const rows = [](std::size_t n) { return fmt::format("{} row{}", n, n == 1 ? "" : "s"); };
  if (report.doubtful > 0)
    out.push_back(fmt::format("{} of status doubtful: the column reason says why", rows(report.doubtful)));
  if (report.failed > 0)
    out.push_back(fmt::format("{} could not be measured: the column reason says why", rows(report.failed)));
  return out;
}

}  // namespace kernelcast::probe
