// What the mutators of texts share: chance, lines, words, and the entries that libFuzzer calls. A mutator defines
// changed(); libFuzzer's own changes of bytes take half of the time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace kernelcast::fuzz {

class Random {
 public:
  explicit Random(unsigned seed) : state_(seed) {}
  std::size_t below(std::size_t bound) {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return static_cast<std::size_t>(state_ >> 33) % bound;
  }
  template <class List>
  auto const& of(List const& list) {
    return list[below(list.size())];
  }

 private:
  std::uint64_t state_;
};

// One change of a text.
std::string changed(std::string const& text, Random&);

// Lines with their ends.
std::vector<std::string> lines_of(std::string_view text);
std::string joined(std::vector<std::string> const& lines);
// One line doubled elsewhere, left out, or changed with another.
std::string change_lines(std::string const& text, Random&);
// One word replaced by another one of the text, or of the list.
std::string change_word(std::string const& text, std::vector<std::string_view> const& list, Random&);

struct Word {
  std::size_t begin, length;
};
std::vector<Word> words_of(std::string_view text);

}  // namespace kernelcast::fuzz
