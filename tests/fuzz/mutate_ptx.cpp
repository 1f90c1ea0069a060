// How libFuzzer changes PTX: by lines, words and modifiers, so that most changed texts still parse and reach the
// decoder and the machine.
#include "base/diag/text.hpp"
#include "mutate.hpp"

namespace kernelcast::fuzz {

namespace {

auto const vocabulary = split(
    "0 1 -1 31 32 63 64 255 256 1024 65535 65536 2147483647 -2147483648 4294967295 4294967296 "
    "0x7fffffffffffffff 0x8000000000000000 0xffffffffffffffff 0f7F800000 0f7FC00000 0f00000001 "
    "0d7FF0000000000000 0d0000000000000001 .u8 .s8 .u16 .s16 .u32 .s32 .u64 .s64 .f16 .f32 .f64 .b32 .b64 "
    ".pred .global .shared .local .param .const %tid.x",
    ' ');

// A modifier of one word for one of another: ".f32" of "add.f32" for ".s16" of "ld.global.s16".
std::string change_modifier(std::string const& text, Random& random) {
  auto const words = words_of(text);
  if (words.empty()) return text;
  Word const at = random.of(words), from = random.of(words);
  std::size_t const here = text.find('.', at.begin), there = text.find('.', from.begin);
  if (here >= at.begin + at.length || there >= from.begin + from.length) return text;
  auto const part = [&](std::size_t begin, Word const& word) {
    return std::min(text.find('.', begin + 1), word.begin + word.length) - begin;
  };
  std::string out = text;
  return out.replace(here, part(here, at), text, there, part(there, from));
}

}  // namespace

std::string changed(std::string const& text, Random& random) {
  switch (random.below(9)) {
    case 0:
    case 1:
    case 2:
      return change_lines(text, random);
    case 3:
    case 4:
      return change_modifier(text, random);
    default:
      return change_word(text, vocabulary, random);
  }
}

}  // namespace kernelcast::fuzz
