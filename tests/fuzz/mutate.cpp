// The entries that libFuzzer calls to change an input, and changes that fit any text.
#include "mutate.hpp"

#include <cctype>

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);

namespace kernelcast::fuzz {

namespace {

bool in_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '%' || c == '.' || c == '$' || c == '-';
}

}  // namespace

std::vector<Word> words_of(std::string_view text) {
  std::vector<Word> words;
  for (std::size_t i = 0; i < text.size();) {
    std::size_t end = i;
    while (end < text.size() && in_word(text[end])) ++end;
    if (end > i) words.push_back({i, end - i});
    i = end + 1;
  }
  return words;
}

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    std::size_t const end = std::min(text.find('\n'), text.size() - 1) + 1;
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(end);
  }
  return lines;
}

std::string joined(std::vector<std::string> const& lines) {
  std::string text;
  for (auto const& line : lines) text += line;
  return text;
}

std::string change_lines(std::string const& text, Random& random) {
  auto lines = lines_of(text);
  if (lines.empty()) return text;
  std::size_t const at = random.below(lines.size()), to = random.below(lines.size());
  switch (random.below(3)) {
    case 0:
      lines.insert(lines.begin() + static_cast<std::ptrdiff_t>(to), std::string(lines[at]));
      break;
    case 1:
      lines.erase(lines.begin() + static_cast<std::ptrdiff_t>(at));
      break;
    default:
      std::swap(lines[at], lines[to]);
  }
  return joined(lines);
}

std::string change_word(std::string const& text, std::vector<std::string_view> const& list, Random& random) {
  auto const words = words_of(text);
  if (words.empty()) return text;
  Word const at = random.of(words), from = random.of(words);
  std::string changed = text;
  bool const own = list.empty() || random.below(2) == 0;
  return changed.replace(at.begin, at.length,
                         own ? std::string_view(text).substr(from.begin, from.length) : random.of(list));
}

}  // namespace kernelcast::fuzz

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most, unsigned seed) {
  using namespace kernelcast::fuzz;
  Random random(seed);
  if (random.below(2) == 0) return LLVMFuzzerMutate(data, size, most);
  std::string text(reinterpret_cast<char const*>(data), size);
  for (std::size_t n = 1 + random.below(4); n > 0; --n) text = changed(text, random);
  std::size_t const length = std::min(text.size(), most);
  std::memcpy(data, text.data(), length);
  return length;
}

// Some lines of one text put into another.
extern "C" std::size_t LLVMFuzzerCustomCrossOver(std::uint8_t const* data1, std::size_t size1,
                                                 std::uint8_t const* data2, std::size_t size2, std::uint8_t* out,
                                                 std::size_t most, unsigned seed) {
  using namespace kernelcast::fuzz;
  Random random(seed);
  auto into = lines_of({reinterpret_cast<char const*>(data1), size1});
  auto const from = lines_of({reinterpret_cast<char const*>(data2), size2});
  if (!from.empty()) {
    std::size_t const begin = random.below(from.size());
    std::size_t const end = std::min(from.size(), begin + 1 + random.below(8));
    into.insert(into.begin() + static_cast<std::ptrdiff_t>(random.below(into.size() + 1)),
                from.begin() + static_cast<std::ptrdiff_t>(begin), from.begin() + static_cast<std::ptrdiff_t>(end));
  }
  std::string const text = joined(into);
  std::size_t const length = std::min(text.size(), most);
  std::memcpy(out, text.data(), length);
  return length;
}
