#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <stdexcept>

#include <fmt/format.h>

#include "records/table/table.hpp"

namespace kernelcast::record {

namespace {

// The 17 digits of a number below 10^17, in parts that do not wait for each other.
void write_digits(std::uint64_t number, char* out) {
  auto const four = [](std::uint32_t part, char* to) {
    to[0] = static_cast<char>('0' + part / 1000);
    to[1] = static_cast<char>('0' + part / 100 % 10);
    to[2] = static_cast<char>('0' + part / 10 % 10);
    to[3] = static_cast<char>('0' + part % 10);
  };
  auto const eight = [&](std::uint32_t part, char* to) { four(part / 10000, to), four(part % 10000, to + 4); };
  *out = static_cast<char>('0' + number / 10'000'000'000'000'000);
  number %= 10'000'000'000'000'000;
  eight(static_cast<std::uint32_t>(number / 100'000'000), out + 1);
  eight(static_cast<std::uint32_t>(number % 100'000'000), out + 9);
}

// The text that std::to_chars gives, in half of its time: fmt finds the digits. Not for whole numbers.
std::size_t fraction_text(double value, NumberText& out) {
#if FMT_VERSION < 80000 || FMT_VERSION >= 120000  // whose to_decimal is not known to be this one
  return static_cast<std::size_t>(std::to_chars(out.data(), out.data() + out.size(), value).ptr - out.data());
#else
  auto const decimal = fmt::detail::dragonbox::to_decimal(std::fabs(value));  // at most 17 digits
  int const exponent = decimal.exponent;
  int size = 17;
  std::uint64_t digits = decimal.significand;
  for (; digits < 10'000'000'000'000'000; --size)
    digits *= 10;                     // the zeros behind them are overwritten, or not counted
  int const whole = size + exponent;  // digits before the point
  char* end = out.data();
  if (value < 0) *end++ = '-';
  bool const fixed = exponent >= (size == 1 ? -3 : -(size + 3));  // not longer than with an exponent
  if (fixed && whole <= 0) {
    std::fill_n(end, 5, '0')[-4] = '.';
    write_digits(digits, end + 2 - whole);
    return static_cast<std::size_t>(end + 2 - whole + size - out.data());
  }
  write_digits(digits, end + 1);
  int const before = fixed ? whole : 1;
  for (int i = 0; i < before; ++i) end[i] = end[i + 1];
  end[before] = '.';
  end += size > before ? size + 1 : size;
  if (fixed) return static_cast<std::size_t>(end - out.data());
  *end++ = 'e', *end++ = '-';
  int const power = 1 - whole;
  if (power < 10) *end++ = '0';
  return static_cast<std::size_t>(std::to_chars(end, out.data() + out.size(), power).ptr - out.data());
#endif
}

}  // namespace

std::size_t number_text(double value, NumberText& out) {
  if (!std::isfinite(value)) throw std::logic_error("a record cannot hold inf or nan");
  auto const integer = std::fabs(value) < 0x1p53 ? static_cast<std::int64_t>(value) : 0;
  bool const whole = value == static_cast<double>(integer) && !(value == 0 && std::signbit(value));
  if (!whole && value != 0 && std::fabs(value) < 0x1p53) return fraction_text(value, out);
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
    case Unit::joules:
      return with_prefix(value, "J", true);
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
