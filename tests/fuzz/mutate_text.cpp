// How libFuzzer changes texts of keys and numbers (TOML, JSON, DOT, options): by lines and words, with numbers at the
// ends of their ranges.
#include "base/diag/text.hpp"
#include "mutate.hpp"

namespace kernelcast::fuzz {

namespace {

auto const vocabulary = split(
    "0 1 -1 2 255 65536 4294967295 4294967296 9223372036854775807 -9223372036854775808 18446744073709551616 "
    "1e308 1e-308 1e999 -0 0.5 nan inf true null \"\" [] {}",
    ' ');

}  // namespace

std::string changed(std::string const& text, Random& random) {
  return random.below(3) == 0 ? change_lines(text, random) : change_word(text, vocabulary, random);
}

}  // namespace kernelcast::fuzz
