#include "pictures/report/html.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "records/table/table.hpp"

namespace kernelcast::report {

std::string escaped(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (char const c : text) switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        if (static_cast<unsigned char>(c) >= 0x20 || c == '\n' || c == '\t')
          out += c == '\x7f' ? std::string("\ufffd") : std::string(1, c);
        else
          out += "\ufffd";
    }
  return out;
}

namespace {

constexpr std::size_t max_name_bytes = 120;
constexpr double max_decade = 300;  // of a double, with room
constexpr double range_of_logarithm = 10, side = 0.04;

std::string with_micro(std::string text) {
  if (auto const at = text.find(" u"); at != std::string::npos) text.replace(at, 2, " µ");
  if (auto const at = text.find(' '); at != std::string::npos) text.replace(at, 1, "\u00a0");
  return text;
}

// 1, 2 or 5 times a power of ten, the next one up.
double round_step(double step) {
  double const power = std::pow(10, std::floor(std::log10(step)));
  for (double const digit : {1., 2., 5.})
    if (digit * power >= step * (1 - 1e-9)) return digit * power;
  return 10 * power;
}

}  // namespace

double bar_width(double value, double of) {
  double const part = value / of;
  return std::isfinite(part) ? 100 * std::clamp(part, 0., 1.) : 0;
}

std::string seconds(double s) {
  return with_micro(record::scaled_text(s, record::Unit::seconds));
}

std::string percent(double part) {
  double const value = 100 * part;
  return value > 0 && value < 0.1 ? "< 0.1\u00a0%" : fmt::format("{:.{}f}\u00a0%", value, value < 9.95 ? 1 : 0);
}

std::string counted(std::size_t n, std::string_view what, std::string_view ending) {
  return fmt::format("{} {}{}", n, what, n == 1 ? "" : ending);
}

std::string quantity(double value, std::string_view unit) {
  // Their prefixes, with another unit.
  auto text = with_micro(record::scaled_text(value, value < 1 ? record::Unit::joules : record::Unit::bytes));
  text.pop_back();
  return text + std::string(unit);
}

std::string without_zeros(std::string text) {
  auto const point = text.find('.');
  if (point == std::string::npos) return text;
  auto end = text.find_first_not_of("0123456789", point + 1);
  if (end == std::string::npos) end = text.size();
  auto keep = text.find_last_not_of('0', end - 1);
  if (keep != point) ++keep;
  return text.erase(keep, end - keep);
}

std::string money(double cost, std::string_view currency) {
  auto const text = cost >= 100 ? fmt::format("{:.0f}", cost) : fmt::format("{:.3g}", cost);
  return text + "\u00a0" + std::string(currency);
}

Runs runs_for(double lowest_cost) {
  for (auto const& runs : {Runs{}, Runs{1e3, "1000 runs"}, Runs{1e6, "a million runs"}})
    if (lowest_cost * runs.number >= 0.01) return runs;
  return {1e9, "a billion runs"};
}

Html name(std::string_view text, std::string_view full) {
  if (text.size() > max_name_bytes) {
    constexpr std::string_view dots = "\u2026";
    auto end = max_name_bytes - dots.size();
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;  // within a character
    return name(std::string(text.substr(0, end)) + std::string(dots), full.empty() ? text : full);
  }
  std::string out;
  auto const broken = escaped(text);
  for (std::size_t i = 0; i < broken.size(); ++i) {
    out += broken[i];
    bool const scope = broken[i] == ':' && i > 0 && broken[i - 1] == ':';
    if (scope || broken[i] == '_' || broken[i] == '/' || broken[i] == ',') out += "<wbr>";
  }
  return full.empty() || full == text ? Html{"<span class=name>" + out + "</span>"}
                                      : markup("<span class=name title=\"{}\">{}</span>", full, Html{out});
}

std::string limiter_class(std::string_view limiter) {
  struct Group {
    std::string_view name;
    std::array<std::string_view, 6> limiters;
  };
  static constexpr std::array groups{
      Group{"issue", {"issue", "compute", "core"}},
      Group{"math", {"fp32", "int", "integer", "fp64", "special", "tensor"}},
      Group{"cache", {"l1", "l2", "lsu"}},
      Group{"dram", {"dram", "global", "memory", "slow_memory", "memory wait", "transfer"}},
      Group{"shared", {"shared", "fast_memory", "atomics"}},
      Group{"latency", {"latency", "dependency wait", "barrier", "barrier wait", "sync"}},
      Group{"launch", {"launch"}},
  };
  for (auto const& group : groups)
    if (std::ranges::find(group.limiters, limiter) != group.limiters.end() && !limiter.empty())
      return fmt::format("l-{}", group.name);
  return "l-other";
}

Html limiter(std::string_view name) {
  return name.empty() ? Html{} : markup("<span class=\"chip {}\">{}</span>", limiter_class(name), name);
}

Axis Axis::over(std::vector<double> const& values) {
  Axis out;
  if (values.empty()) return out;
  auto const [low, high] = std::ranges::minmax(values);
  if (low > 0 && high / low > range_of_logarithm) return logarithmic(values, side);
  out.high_ = high > 0 ? std::clamp(high * (1 + side), std::pow(10, -max_decade), std::pow(10, max_decade)) : 1;
  return out;
}

Axis Axis::logarithmic(std::vector<double> const& values, double margin) {
  Axis out;
  out.logarithmic_ = true;
  auto const [low, high] = values.empty() ? std::ranges::minmax_result<double>{1, 10} : std::ranges::minmax(values);
  double const decades = std::max(std::log10(high) - std::log10(low), 0.5);
  double const middle = (std::log10(low) + std::log10(high)) / 2, half = decades * (0.5 + margin);
  out.low_ = std::pow(10, std::max(middle - half, -max_decade));
  out.high_ = std::pow(10, std::min(middle + half, max_decade));
  return out;
}

double Axis::at(double value) const {
  double const part = logarithmic_
                          ? (std::log(std::max(value, low_)) - std::log(low_)) / (std::log(high_) - std::log(low_))
                          : (value - low_) / (high_ - low_);
  return 100 * std::clamp(part, 0., 1.);
}

std::vector<Axis::Tick> Axis::ticks(std::size_t at_most) const {
  std::vector<Tick> out;
  auto const add = [&](double value) {
    if (value >= low_ * (1 - 1e-9) && value <= high_ * (1 + 1e-9)) out.push_back({at(value), value});
  };
  if (!logarithmic_) {
    double const step = round_step((high_ - low_) / static_cast<double>(at_most));
    for (int i = 0; i * step <= high_; ++i) add(i * step);
    return out;
  }
  int const first = static_cast<int>(std::floor(std::log10(low_))),
            last = static_cast<int>(std::ceil(std::log10(high_)));
  static std::vector<std::vector<double>> const digits{{1, 2, 5}, {1, 3}, {1}};
  for (auto const& of_decade : digits) {
    out.clear();
    for (int power = first; power <= last; ++power)
      for (double const digit : of_decade) add(digit * std::pow(10, power));
    if (out.size() <= at_most) return out;
  }
  auto const every = (out.size() + at_most - 1) / at_most;
  std::vector<Tick> some;
  for (std::size_t i = 0; i < out.size(); i += every) some.push_back(out[i]);
  return some;
}

}  // namespace kernelcast::report
