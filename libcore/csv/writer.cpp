#include <ostream>

#include "csv/csv.hpp"

namespace kernelcast::csv {

void append_field(std::string& out, std::string_view text) {
  // A leading '#' would make the header row a comment.
  if (text.find_first_of(",\"\r\n") == std::string_view::npos && (text.empty() || text.front() != '#')) {
    out += text;
    return;
  }
  out += '"';
  for (char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  out += '"';
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
