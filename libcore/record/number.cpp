#include <array>
#include <charconv>
#include <cmath>
#include <stdexcept>

#include <fmt/format.h>

#include "record/table.hpp"

namespace kernelcast::record {

std::size_t number_text(double value, NumberText& out) {
  if (!std::isfinite(value)) throw std::logic_error("a record cannot hold inf or nan");
  auto const integer = std::fabs(value) < 0x1p53 ? static_cast<std::int64_t>(value) : 0;
  bool const whole = value == static_cast<double>(integer) && !(value == 0 && std::signbit(value));
  auto const result = whole ? std::to_chars(out.data(), out.data() + out.size(), integer)
                            : std::to_chars(out.data(), out.data() + out.size(), value);
  return static_cast<std::size_t>(result.ptr - out.data());
}

std::string number_text(double value) {
  NumberText text;
  return {text.data(), number_text(value, text)};
}

namespace {

// Three significant digits; `value` is in [0, 1000).
std::string three_digits(double value) {
  return fmt::format("{:.{}f}", value, value < 9.995 ? 2 : value < 99.95 ? 1 : 0);
}

std::string with_prefix(double value, std::string_view unit, bool below_one) {
  struct Prefix {
    double factor;
    char const* name;
  };
  static constexpr std::array<Prefix, 9> prefixes{
      {{1e-12, "p"}, {1e-9, "n"}, {1e-6, "u"}, {1e-3, "m"}, {1, ""}, {1e3, "k"}, {1e6, "M"}, {1e9, "G"}, {1e12, "T"}}};
  double const magnitude = std::fabs(value);
  std::size_t const first = below_one ? 0 : 4;
  std::size_t const last = below_one ? 4 : prefixes.size() - 1;
  std::size_t i = first;
  while (i < last && magnitude / prefixes[i].factor >= 999.5) ++i;  // what would round to 1000 takes the next prefix
  if (magnitude == 0) i = 4;
  double const scaled = magnitude / prefixes[i].factor;
  return fmt::format(
      "{}{} {}{}", value < 0 ? "-" : "",
      prefixes[i].factor == 1 && scaled == std::trunc(scaled) ? number_text(scaled) : three_digits(scaled),
      prefixes[i].name, unit);
}

}  // namespace

std::string scaled_text(double value, Unit unit) {
  switch (unit) {
    case Unit::seconds:
      return with_prefix(value, "s", true);
    case Unit::bytes:
    case Unit::hertz:
    case Unit::watts:
    case Unit::flop_per_s:
    case Unit::bytes_per_s:
      return with_prefix(value, symbol(unit), false);
    case Unit::percent:
      return fmt::format("{:.4g} %", value);
    case Unit::none:
    case Unit::cycles:
    case Unit::lanes:
    case Unit::count:
      break;
  }
  if (std::fabs(value) < 0x1p53 && value == std::trunc(value)) return number_text(value);
  return fmt::format("{:.4g}", value);
}

}  // namespace kernelcast::record
