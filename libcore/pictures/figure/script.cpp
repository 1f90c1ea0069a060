#include "pictures/figure/script.hpp"

#include <array>
#include <cmath>

#include <fmt/ranges.h>

#include "records/table/table.hpp"

namespace kernelcast::figure {

std::string_view colour(std::size_t index) {
  static constexpr std::array<std::string_view, colours> all{"#0072b2", "#e69f00", "#009e73", "#cc79a7",
                                                             "#56b4e9", "#d55e00", "#f0e442", "#000000"};
  return all[index % all.size()];
}

namespace {

std::string begin_of(std::string_view text, std::size_t max_bytes = max_text_bytes) {
  if (text.size() <= max_bytes) return std::string(text);
  auto end = max_bytes;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;  // within a character
  return std::string(text.substr(0, end)) + "\u2026";
}

std::string with(std::string text, char from, std::string_view to) {
  for (auto at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, 1, to);
  return text;
}

std::string escaped(std::string_view text) {
  std::string out = "\"";
  for (char const c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (c == '\n')
      out += "\\n";
    else if (c == '`')
      out += "\u02cb";  // looks alike; gnuplot would run what stands between two of them as a command
    else if (static_cast<unsigned char>(c) >= 0x20)
      out += c;
  }
  return out + '"';
}

}  // namespace

std::string quote(std::string_view text, std::size_t max_bytes) {
  return escaped(begin_of(text, max_bytes));
}

std::string cell(std::string_view text) {
  return escaped(with(begin_of(text), '"', "\u02ba"));  // looks alike; a label of a tic would end there
}

std::string tic(std::string_view text) {
  return escaped(with(begin_of(text), '%', "%%"));
}

std::string number(double value) {
  return std::isfinite(value) ? record::number_text(value) : "NaN";
}

std::string Script::data(std::vector<std::vector<std::string>> const& rows) {
  auto const name = fmt::format("$d{}", blocks_++);
  body_ += name + " << EOD\n";
  for (auto const& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (i > 0) body_ += ' ';
      body_ += row[i];
    }
    body_ += '\n';
  }
  body_ += "EOD\n";
  return name;
}

void Script::plot(std::string_view command) {
  line("{} {}", command, fmt::join(curves_, ", "));
  curves_.clear();
}

void Script::set_title(std::string_view text) {
  line("set title {}", quote(title.empty() ? text : std::string_view(title)));
}

}  // namespace kernelcast::figure
