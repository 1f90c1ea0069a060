#include <ostream>

#include "base/csv/csv.hpp"

namespace kernelcast::csv {

bool needs_quotes(std::string_view text) {
  bool special = !text.empty() && text.front() == '#';  // would make the header row a comment
  // Without an early exit, so that it becomes vector instructions.
  for (char const c : text) special |= (c == ',') | (c == '"') | (c == '\r') | (c == '\n');
  return special;
}

void append_field(std::string& out, std::string_view text) {
  if (!needs_quotes(text)) {
    out += text;
    return;
  }
  out += '"';
  for (std::size_t quote; (quote = text.find('"')) != std::string_view::npos; text.remove_prefix(quote + 1))
    out.append(text.substr(0, quote)) += "\"\"";
  out.append(text) += '"';
}

void Writer::field(std::string_view text) {
  if (!first_) line_ += ',';
  first_ = false;
  append_field(line_, text);
}

void Writer::end_row() {
  if (line_.empty()) line_ = "\"\"";
  line_ += '\n';
  out_->write(line_.data(), static_cast<std::streamsize>(line_.size()));
  line_.clear();
  first_ = true;
}

void Writer::row(std::vector<std::string> const& fields) {
  for (auto const& text : fields) field(text);
  end_row();
}

}  // namespace kernelcast::csv
