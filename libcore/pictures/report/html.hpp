// Markup that cannot be confused with text, and scales for drawings.
//
// Html is markup. Everything else becomes text of the page: markup() escapes each argument that is not Html, so that
// the name of a kernel, whatever it contains, is never read as a tag or ends an attribute.
#pragma once

#include <concepts>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

namespace kernelcast::report {

struct Html {
  std::string text;

  Html& operator+=(Html const& more) {
    text += more.text;
    return *this;
  }
  bool empty() const { return text.empty(); }
};

// For elements and attributes in double quotes; control characters, which HTML does not have, become U+FFFD.
std::string escaped(std::string_view text);

inline std::string const& shown(Html const& markup) {
  return markup.text;
}
inline std::string shown(std::string_view text) {
  return escaped(text);
}
template <class N>
  requires std::integral<N> || std::floating_point<N>
N shown(N number) {
  return number;
}
template <class A>
using Shown = decltype(shown(std::declval<A const&>()));

template <class... A>
Html markup(fmt::format_string<Shown<A>...> text, A const&... arguments) {
  return {fmt::format(text, shown(arguments)...)};
}

// Percent of a bar's room, 0 to 100 whatever the values are.
double bar_width(double value, double of);

// For people: "79.1 µs", "12.3 %", "3 kernels".
std::string seconds(double);
std::string percent(double part);  // 1 is 100 %
std::string counted(std::size_t n, std::string_view what, std::string_view ending = "s");
std::string quantity(double value, std::string_view unit);  // with a decimal prefix: "1.2 Mflop/s"
std::string without_zeros(std::string text);                // "1.00 ms" as "1 ms", for ticks
std::string money(double cost, std::string_view currency);

// So many runs that the least of their costs, all above 0, is a cent or more.
struct Runs {
  double number = 1;
  std::string_view text = "a run";
};
Runs runs_for(double lowest_cost);

// A name that may be long: breaks where names can be broken, and shows `full` on demand where it says more.
Html name(std::string_view text, std::string_view full = {});

// What decides a time, with the colour that it has in all drawings.
Html limiter(std::string_view name);
std::string limiter_class(std::string_view name);

// From values to percent of a drawing's width.
class Axis {
 public:
  struct Tick {
    double at = 0;  // percent
    double value = 0;
  };

  // Logarithmic where the values, all above 0, are more than a factor of ten apart; else from 0. No values: from 0
  // to 1.
  static Axis over(std::vector<double> const& values);
  // Logarithmic, and `margin` wider than the values on both sides.
  static Axis logarithmic(std::vector<double> const& values, double margin);

  double at(double value) const;
  bool is_logarithmic() const { return logarithmic_; }
  double low() const { return low_; }
  double high() const { return high_; }
  std::vector<Tick> ticks(std::size_t at_most) const;

 private:
  double low_ = 0, high_ = 1;
  bool logarithmic_ = false;
};

}  // namespace kernelcast::report
