// How libFuzzer changes PTX: half of the time its own way with bytes, else by lines and words, so that most changed
// texts still parse and reach the decoder and the machine.
#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);

// Freed memory that the address sanitizer holds back counts as memory of the target: keep little.
extern "C" char const* __asan_default_options() {
  return "quarantine_size_mb=8:malloc_context_size=8";
}

namespace {

class Random {
 public:
  explicit Random(unsigned seed) : state_(seed) {}
  std::size_t below(std::size_t bound) {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return static_cast<std::size_t>(state_ >> 33) % bound;
  }

 private:
  std::uint64_t state_;
};

bool in_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '%' || c == '.' || c == '$' || c == '-';
}

struct Word {
  std::size_t begin, length;
};
std::vector<Word> words_of(std::string const& text) {
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

std::string change_word(std::string const& text, Random& random) {
  static constexpr std::array<std::string_view, 44> vocabulary{"0",
                                                               "1",
                                                               "-1",
                                                               "31",
                                                               "32",
                                                               "63",
                                                               "64",
                                                               "255",
                                                               "256",
                                                               "1024",
                                                               "65535",
                                                               "65536",
                                                               "2147483647",
                                                               "-2147483648",
                                                               "4294967295",
                                                               "4294967296",
                                                               "0x7fffffffffffffff",
                                                               "0x8000000000000000",
                                                               "0xffffffffffffffff",
                                                               "0f7F800000",
                                                               "0f7FC00000",
                                                               "0f00000001",
                                                               "0d7FF0000000000000",
                                                               "0d0000000000000001",
                                                               ".u8",
                                                               ".s8",
                                                               ".u16",
                                                               ".s16",
                                                               ".u32",
                                                               ".s32",
                                                               ".u64",
                                                               ".s64",
                                                               ".f16",
                                                               ".f32",
                                                               ".f64",
                                                               ".b32",
                                                               ".b64",
                                                               ".pred",
                                                               ".global",
                                                               ".shared",
                                                               ".local",
                                                               ".param",
                                                               ".const",
                                                               "%tid.x"};
  auto const words = words_of(text);
  if (words.empty()) return text;
  Word const at = words[random.below(words.size())], from = words[random.below(words.size())];
  std::string changed = text;
  switch (random.below(3)) {
    case 0:
      return changed.replace(at.begin, at.length, text.substr(from.begin, from.length));
    case 1:
      return changed.replace(at.begin, at.length, vocabulary[random.below(vocabulary.size())]);
    default: {  // a modifier of one word for one of another: ".f32" of "add.f32" for ".s16" of "ld.global.s16"
      std::size_t const here = text.find('.', at.begin), there = text.find('.', from.begin);
      if (here >= at.begin + at.length || there >= from.begin + from.length) return text;
      auto const part = [&](std::size_t begin, Word const& word) {
        return std::min(text.find('.', begin + 1), word.begin + word.length) - begin;
      };
      return changed.replace(here, part(here, at), text.substr(there, part(there, from)));
    }
  }
}

}  // namespace

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most, unsigned seed) {
  Random random(seed);
  if (random.below(2) == 0) return LLVMFuzzerMutate(data, size, most);
  std::string text(reinterpret_cast<char const*>(data), size);
  for (std::size_t n = 1 + random.below(4); n > 0; --n)
    text = random.below(3) == 0 ? change_lines(text, random) : change_word(text, random);
  std::size_t const length = std::min(text.size(), most);
  std::memcpy(data, text.data(), length);
  return length;
}

// Some lines of one text put into another.
extern "C" std::size_t LLVMFuzzerCustomCrossOver(std::uint8_t const* data1, std::size_t size1,
                                                 std::uint8_t const* data2, std::size_t size2, std::uint8_t* out,
                                                 std::size_t most, unsigned seed) {
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
