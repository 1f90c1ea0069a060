// .file, .loc and .section: source positions are kept, the rest is checked and dropped.
#include <fmt/format.h>

#include "kernels/ptx/parsing.hpp"

namespace kernelcast::ptx {

namespace {
constexpr std::uint64_t max_u32 = 0xFFFFFFFF;
}

void Parser::file() {
  auto const index = count_constant("a file number", max_u32);
  module_.files[static_cast<std::uint32_t>(index)] = std::string(expect_string("a file name"));
  if (take(',')) {  // time of change, size
    count_constant("a time", ~std::uint64_t{0});
    expect(',', "between time and size");
    count_constant("a size", ~std::uint64_t{0});
  }
}

void Parser::loc() {
  auto const position = [this] {
    SourcePosition at;
    at.file = static_cast<std::uint32_t>(count_constant("a file number", max_u32));
    at.line = static_cast<std::uint32_t>(count_constant("a line", max_u32));
    at.column = static_cast<std::uint32_t>(count_constant("a column", max_u32));
    return at;
  };
  source_ = position();
  while (take(',')) {
    auto const what = expect_word("function_name or inlined_at");
    if (what == "inlined_at") {
      position();
    } else if (what == "function_name") {
      expect_word("a label");
      if (take('+')) count_constant("an offset", ~std::uint64_t{0});
    } else {
      fail(fmt::format("unknown attribute '{}' of .loc", what), did_you_mean(what, {"function_name", "inlined_at"}));
    }
  }
}

void Parser::section_value() {
  if (token_.is_word() || token_.kind == Token::Kind::dot_word) {  // a label or another section's start
    advance();
    if (take('+')) {
      integer_constant("an offset");
    } else if (take('-')) {
      if (token_.is_word())
        advance();
      else
        integer_constant("an offset");
    }
    return;
  }
  integer_constant("a number or a label");
}

void Parser::section() {
  if (token_.kind != Token::Kind::dot_word && !token_.is_word())
    fail(fmt::format("expected a section name such as .debug_info, got {}", shown(token_)));
  advance();
  expect('{', "before the contents of a section");
  while (!take('}')) {
    if (token_.kind == Token::Kind::end) fail("this section has no end", "a section ends in '}'");
    if (token_.is_word()) {
      advance();
      expect(':', "after a label");
      continue;
    }
    bool known = false;
    for (auto size : {"b8", "b16", "b32", "b64"}) known = known || token_.is_dot(size);
    if (!known)
      fail(fmt::format("unknown item {} of a section", shown(token_)), "known: .b8, .b16, .b32, .b64 and labels");
    advance();
    do section_value();
    while (take(','));
    take(';');
  }
}

}  // namespace kernelcast::ptx
