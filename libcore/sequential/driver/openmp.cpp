#include "sequential/driver/openmp.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace kernelcast::seq {

namespace {

bool in_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

std::string_view without_blanks(std::string_view text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front()))) text.remove_prefix(1);
  return text;
}

// The next word, taken off `text`; empty where something else is next.
std::string_view word(std::string_view& text) {
  text = without_blanks(text);
  auto const end = std::ranges::find_if_not(text, in_word) - text.begin();
  auto const out = text.substr(0, static_cast<std::size_t>(end));
  text.remove_prefix(out.size());
  return out;
}

// Words that names of constructs consist of.
constexpr std::array construct_words{"parallel", "for",    "sections", "single", "simd",   "loop",
                                     "scope",    "target", "teams",    "masked", "master", "distribute",
                                     "data",     "update", "enter",    "exit",   "barrier"};

// Outside of parentheses, where a clause has its list.
bool has_nowait(std::string_view clauses) {
  int depth = 0;
  while (!clauses.empty()) {
    if (clauses.front() == '(') ++depth;
    if (clauses.front() == ')') --depth;
    if (!in_word(clauses.front())) {
      clauses.remove_prefix(1);
      continue;
    }
    if (word(clauses) == "nowait" && depth == 0) return true;
  }
  return false;
}

// What follows `#pragma omp`, or nothing.
bool is_directive(std::string_view line, std::string_view& text) {
  line = without_blanks(line);
  if (line.empty() || line.front() != '#') return false;
  line.remove_prefix(1);
  if (word(line) != "pragma" || word(line) != "omp") return false;
  text = line;
  return true;
}

}  // namespace

std::string synchronizing_directive(std::string_view text) {
  std::vector<std::string_view> name;
  auto rest = text;
  for (auto next = rest; !next.empty();) {
    auto const one = word(next);
    if (one.empty() || std::ranges::find(construct_words, one) == construct_words.end()) break;
    if (auto const after = without_blanks(next); !after.empty() && after.front() == '(') break;
    name.push_back(one);
    rest = next;
  }
  if (name.empty()) return {};
  auto const has = [&](std::string_view one) { return std::ranges::find(name, one) != name.end(); };
  bool const waits = !has_nowait(rest);
  bool const of_target = name.front() == "target" && !has("data") && !has("update") && !has("enter") && !has("exit");
  bool const of_team = name.front() != "target" && (has("teams") || has("distribute"));  // a team's threads alone
  static constexpr std::array shared{"for", "sections", "single", "loop", "scope"};
  bool const of_threads = std::ranges::find(shared, name.front()) != shared.end();
  bool const synchronizes = name.front() == "barrier" || (of_target && waits) ||
                            (name.front() == "parallel" && !of_team) || (of_threads && waits);
  return synchronizes ? fmt::format("{}", fmt::join(name, " ")) : std::string();
}

std::string with_openmp_marks(std::string_view source) {
  std::string out;
  while (!source.empty()) {
    auto const end = std::min(source.find('\n'), source.size());
    auto const line = source.substr(0, end);
    std::string_view text;
    auto const directive = is_directive(line, text) ? synchronizing_directive(text) : std::string();
    if (directive == "barrier")
      out += fmt::format("{}(\"{}\");", openmp_mark, directive);
    else if (!directive.empty())
      out += fmt::format("switch ({}(\"{}\"), 0) default:", openmp_mark, directive);
    else
      out += line;
    if (end < source.size()) out += '\n';
    source.remove_prefix(std::min(end + 1, source.size()));
  }
  return fmt::format("static void {}(char const* directive) {{ (void)directive; }}\n", openmp_mark) + out;
}

}  // namespace kernelcast::seq
