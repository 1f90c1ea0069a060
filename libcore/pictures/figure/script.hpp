// A gnuplot script that holds its data.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

namespace kernelcast::figure {

// Colours that people with colour-blindness tell apart (Okabe and Ito), by index; repeats after this many.
constexpr std::size_t colours = 8;
std::string_view colour(std::size_t index);

class Script {
 public:
  int width_px = 900, height_px = 560;
  std::string title;  // empty: the kind's own

  // One line of gnuplot.
  template <class... Arguments>
  void line(fmt::format_string<Arguments...> text, Arguments&&... arguments) {
    body_ += fmt::format(text, std::forward<Arguments>(arguments)...);
    body_ += '\n';
  }

  // A data block; returns its name, "$d0", "$d1", …. Cells are numbers or cell() texts; an unknown one is "NaN". An
  // empty row is gnuplot's break between lines or scans of a surface.
  std::string data(std::vector<std::vector<std::string>> const& rows);

  // A curve of the next plot.
  template <class... Arguments>
  void curve(fmt::format_string<Arguments...> text, Arguments&&... arguments) {
    curves_.push_back(fmt::format(text, std::forward<Arguments>(arguments)...));
  }
  // Draws the curves since the last plot. `command`: plot or splot.
  void plot(std::string_view command = "plot");

  // `set title`, with the user's own where there is one.
  void set_title(std::string_view text);
  std::string const& body() const { return body_; }

 private:
  std::string body_;
  std::vector<std::string> curves_;
  int blocks_ = 0;
};

// "text" with what gnuplot would interpret escaped. Of a longer text its begin: gnuplot drops rows with thousands of
// bytes.
inline constexpr std::size_t max_text_bytes = 256;
std::string quote(std::string_view text, std::size_t max_bytes = max_text_bytes);
// The same where gnuplot reads more into a text: in a data block, and in a list of tics, where % begins a format.
std::string cell(std::string_view text);
std::string tic(std::string_view text);
// Shortest form; "NaN" for an unknown one.
std::string number(double);

}  // namespace kernelcast::figure
