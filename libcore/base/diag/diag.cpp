#include "base/diag/diag.hpp"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace kernelcast {

Error::Error(Status status, std::string const& message, std::string hint)
    : std::runtime_error(message), status_(status), hint_(std::move(hint)) {}

Error::Error(Status status, Where where, std::string const& message, std::string hint, std::string source_line)
    : std::runtime_error(message),
      status_(status),
      where_(std::move(where)),
      hint_(std::move(hint)),
      source_line_(std::move(source_line)) {}

namespace {

constexpr std::size_t shown_bytes = 160;

// The offending line and a caret below it. A long line is cut around the caret; control characters become blanks, so
// that a message never changes the state of the terminal.
std::string excerpt(std::string const& line, std::size_t column) {
  if (line.empty() || column == 0 || column > line.size() + 1) return {};
  std::size_t const at = column - 1;
  std::size_t begin = at > shown_bytes / 2 ? at - shown_bytes / 2 : 0;
  while (begin > 0 && (static_cast<unsigned char>(line[begin]) & 0xC0) == 0x80) --begin;  // not inside a UTF-8 sequence
  std::string shown = line.substr(begin, shown_bytes);
  for (char& c : shown)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) c = ' ';
  std::string const lead = begin ? "…" : "";
  std::size_t blanks = begin ? 1 : 0;
  for (std::size_t i = 0; i < at - begin && i < shown.size(); ++i)
    if ((static_cast<unsigned char>(shown[i]) & 0xC0) != 0x80) ++blanks;
  return fmt::format("  {}{}\n  {}^\n", lead, shown, std::string(blanks, ' '));
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      std::size_t const substitute = diagonal + (a[i] != b[j]);
      diagonal = row[j + 1];
      row[j + 1] = std::min({row[j] + 1, row[j + 1] + 1, substitute});
    }
  }
  return row.back();
}

}  // namespace

std::string Error::text(std::string_view program) const {
  std::string out;
  if (where_.file.empty()) {
    out = fmt::format("{}: error: {}\n", program, what());
  } else {
    out = where_.file;
    if (where_.line) out += fmt::format(":{}:{}", where_.line, std::max<std::size_t>(where_.column, 1));
    out += fmt::format(": error: {}\n", what());
    out += excerpt(source_line_, where_.column);
  }
  if (!hint_.empty()) out += fmt::format("hint: {}\n", hint_);
  for (Error const& error : further_) out += error.text(program);
  return out;
}

std::vector<std::string> nearest(std::string_view name, std::vector<std::string> const& candidates) {
  std::size_t const most = std::max<std::size_t>(2, name.size() / 3);
  std::vector<std::pair<std::size_t, std::string>> found;
  for (auto const& candidate : candidates) {
    std::size_t const distance = edit_distance(name, candidate);
    if (distance <= most && distance < candidate.size()) found.emplace_back(distance, candidate);
  }
  std::sort(found.begin(), found.end());
  if (found.size() > 3) found.resize(3);
  std::vector<std::string> names;
  for (auto& [distance, candidate] : found) names.push_back(std::move(candidate));
  return names;
}

std::string did_you_mean(std::string_view name, std::vector<std::string> const& candidates, std::size_t most) {
  auto const near = nearest(name, candidates);
  if (!near.empty()) return fmt::format("did you mean '{}'?", fmt::join(near, "' or '"));
  if (candidates.empty()) return {};
  auto const shown = std::min(most, candidates.size());
  return fmt::format("known: {}{}", fmt::join(candidates.begin(), candidates.begin() + shown, ", "),
                     shown < candidates.size() ? fmt::format(" and {} more", candidates.size() - shown) : "");
}

std::string mebibytes(std::size_t bytes) {
  return fmt::format("{} MiB", bytes >> 20);
}

}  // namespace kernelcast
