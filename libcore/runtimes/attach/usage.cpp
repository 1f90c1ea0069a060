#include "runtimes/attach/usage.hpp"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace kernelcast::attach {

namespace {

constexpr std::size_t named_kernels = 3;

std::string bytes_text(std::uint64_t bytes) {
  constexpr std::array units{"bytes", "kB", "MB", "GB", "TB"};
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (; value >= 1000 && unit + 1 < units.size(); ++unit) value /= 1000;
  return unit == 0 ? fmt::format("{} bytes", bytes) : fmt::format("{:.3g} {}", value, units[unit]);
}

std::string seconds_text(std::uint64_t ns) {
  return fmt::format("{:.3g} s", 1e-9 * static_cast<double>(ns));
}

std::string percent_text(double part, double whole) {
  return fmt::format("{:.3g} %", whole > 0 ? 100 * part / whole : 0);
}

// The largest by name, and the rest as one.
std::string shares(std::map<std::string, double> const& by_name) {
  std::vector<std::pair<double, std::string>> all;
  double sum = 0;
  for (auto const& [name, part] : by_name) {
    all.emplace_back(part, name);
    sum += part;
  }
  std::ranges::sort(all, std::greater{});
  std::vector<std::string> out;
  double rest = 0;
  for (std::size_t k = 0; k < all.size(); ++k)
    if (k < named_kernels)
      out.push_back(fmt::format("{} {}", percent_text(all[k].first, sum), all[k].second));
    else
      rest += all[k].first;
  if (all.size() > named_kernels)
    out.push_back(fmt::format("{} {} others", percent_text(rest, sum), all.size() - named_kernels));
  return fmt::format("{}", fmt::join(out, ", "));
}

template <std::size_t n>
void add_each(std::array<std::uint64_t, n>& to, std::array<std::uint64_t, n> const& from) {
  std::ranges::transform(to, from, to.begin(), std::plus{});
}

}  // namespace

void add(Usage& to, Usage const& from) {
  to.launches += from.launches;
  to.executed += from.executed;
  to.cut += from.cut;
  to.library_calls += from.library_calls;
  add_each(to.copies, from.copies);
  add_each(to.copied_bytes, from.copied_bytes);
  to.host_ns += from.host_ns;
  to.device_ns += from.device_ns;
  add_each(to.peak_bytes, from.peak_bytes);
  if (from.running == 0) return;
  to.running = from.running;
  to.begin_ns = from.begin_ns;
  to.expected_ns = from.expected_ns;
}

std::string summary(Usage const& u, std::vector<record::Kernel> const& rows, std::uint64_t skipped) {
  std::map<std::string, double> instructions, calls;
  double covered = 0;
  std::size_t of_kernels = 0;
  for (auto const& row : rows) {
    auto const launches = static_cast<double>(row.launches);
    if (row.library.empty()) {
      instructions[row.kernel] += row.inst_total;
      covered += launches;
      ++of_kernels;
    } else {
      calls[row.kernel] += launches;
    }
  }
  std::string out;
  auto const line = [&](std::string_view name, std::string const& text) {
    out += fmt::format("  {:<15}{}\n", name, text);
  };
  auto const launches = static_cast<double>(u.launches);
  if (u.launches > 0) {
    line("launches", fmt::format("{}, of which {} ran ({})", u.launches, u.executed,
                                 percent_text(static_cast<double>(u.executed), launches)));
    line("configurations", fmt::format("{} with a row: {} of the launches", of_kernels,
                                       percent_text(std::min(covered, launches), launches)));
    line("kernels", fmt::format("by instructions: {}", shares(instructions)));
  }
  if (u.library_calls > 0) line("libraries", fmt::format("{} calls: {}", u.library_calls, shares(calls)));
  std::vector<std::string> copies;
  for (std::size_t kind = 0; kind < u.copies.size(); ++kind) {
    constexpr std::array words{"to the device", "to the host", "on the device", "filled"};
    if (u.copies[kind] > 0)
      copies.push_back(fmt::format("{} {} ({})", u.copies[kind], words[kind], bytes_text(u.copied_bytes[kind])));
  }
  if (!copies.empty()) line("copies", fmt::format("{}", fmt::join(copies, ", ")));
  line("time",
       fmt::format("{} in CUDA's calls, {} of the host's own", seconds_text(u.device_ns), seconds_text(u.host_ns)));
  std::vector<std::string> peaks;
  for (auto const bytes : u.peak_bytes)
    if (bytes > 0) peaks.push_back(bytes_text(bytes));
  if (!peaks.empty()) line("device memory", fmt::format("{} at most", fmt::join(peaks, ", ")));
  std::vector<std::string> missing;
  if (skipped > 0) missing.push_back(fmt::format("rows of {} configurations, each named above", skipped));
  if (u.cut > 0) missing.push_back(fmt::format("results of {} launches that exceeded --budget", u.cut));
  if (!missing.empty()) line("missing", fmt::format("{}", fmt::join(missing, "; ")));
  return out;
}

std::string progress(Usage const& u, std::string const& kernel, std::uint64_t now_ns) {
  auto out = fmt::format("{} launches, {} ran", u.launches, u.executed);
  if (u.running == 0) return out;
  auto const since = now_ns > u.begin_ns ? now_ns - u.begin_ns : 0;
  out += fmt::format("; {} for {:.0f} s", kernel.empty() ? "a kernel" : kernel, 1e-9 * static_cast<double>(since));
  if (u.expected_ns > since)
    out += fmt::format(", about {:.0f} s left", 1e-9 * static_cast<double>(u.expected_ns - since));
  return out;
}

}  // namespace kernelcast::attach
