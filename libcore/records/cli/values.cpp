#include "records/cli/values.hpp"

#include <cmath>

#include <fmt/format.h>

#include "base/diag/diag.hpp"
#include "base/diag/text.hpp"

namespace kernelcast::cli {

namespace {

constexpr double max_points = 1e6;  // of a range

}  // namespace

CLI::Validator number_from(double low, double high) {
  return {[low, high](std::string& text) {
            auto const value = to_number<double>(text);  // nan is from nowhere to nowhere
            if (value && *value >= low && *value <= high) return std::string();
            return fmt::format("expected a number from {} to {}, got '{}'", low, high, text);
          },
          ""};
}

CLI::Validator seconds() {
  return number_from(0, 1e9);
}

CLI::Validator bandwidth() {
  return number_from(1, 1e18);
}

double positive_number(std::string_view text, std::string_view option) {
  auto const value = to_number<double>(text);
  if (!value || !(*value > 0) || !std::isfinite(*value))
    throw Error(Status::usage, fmt::format("{}: '{}' is not a number above 0", option, text),
                "for example 1.7 or 4096");
  return *value;
}

std::vector<double> positive_numbers(std::vector<std::string> const& texts, std::string_view option) {
  std::vector<double> out;
  for (auto const& text : texts) {
    std::vector<double> ends;
    for (auto const piece : split(text, ':')) ends.push_back(positive_number(piece, option));
    if (ends.size() == 1) {
      out.push_back(ends[0]);
      continue;
    }
    if (ends.size() != 3 || ends[0] > ends[1] || (ends[1] - ends[0]) / ends[2] >= max_points)
      throw Error(Status::usage, fmt::format("{}: '{}' is neither a number nor a range", option, text),
                  "for example 4096, or 4096:61440:4096 for low, high and step");
    for (double i = 0; ends[0] + i * ends[2] <= ends[1]; ++i) out.push_back(ends[0] + i * ends[2]);
  }
  return out;
}

std::vector<std::uint32_t> counts(std::vector<std::string> const& texts, std::string_view option, std::string_view what,
                                  std::uint32_t most) {
  std::vector<std::uint32_t> out;
  for (auto const& text : texts) {
    auto const ends = split(text, '-');
    auto const low = to_number<std::uint64_t>(ends.front()), high = to_number<std::uint64_t>(ends.back());
    if (ends.size() > 2 || !low || !high || *low == 0 || *high < *low || *high > most)
      throw Error(Status::usage, fmt::format("{}: '{}' is neither a number of {} nor a range", option, text, what),
                  "for example 4, or 1-16");
    for (auto g = *low; g <= *high; ++g) out.push_back(static_cast<std::uint32_t>(g));
  }
  return out;
}

}  // namespace kernelcast::cli
