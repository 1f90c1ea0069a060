#include "kernels/ptx/parser.hpp"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "kernels/ptx/parsing.hpp"

namespace kernelcast::ptx {

namespace {

constexpr unsigned max_nesting = 100;
constexpr std::size_t max_text_bytes = std::size_t{1} << 30;

std::vector<std::string> const module_directives = {
    "version", "target", "address_size", "file",   "loc",   "section", "extern", "visible", "weak",   "common", "entry",
    "func",    "global", "const",        "shared", "local", "param",   "reg",    "tex",     "pragma", "alias",
};
std::vector<std::string> const performance_directives = {
    "maxntid",
    "reqntid",
    "minnctapersm",
    "maxnctapersm",
    "maxnreg",
    "reqnctapercluster",
    "explicitcluster",
    "maxclusterrank",
    "blocksareclusters",
    "noreturn",
    "pragma",
    "abi_preserve",
    "abi_preserve_control",
    "attribute",
    "unified",
    "local_maxnreg",
    "maxntidpersm",
    "ptr",
    "unreachable",
};

}  // namespace

Parser::Parser(Module& module) : module_(module), lexer_(module.text) {}

Parser::Nesting::Nesting(Parser& parser) : parser_(parser) {
  if (++parser.depth_ > max_nesting) {
    --parser.depth_;
    parser.fail(fmt::format("nested more than {} deep", max_nesting));
  }
}

void Parser::advance() {
  token_ = lexer_.next();
  if (token_.kind == Token::Kind::invalid) fail(token_.problem);
}

Token Parser::peek() const {
  Lexer copy = lexer_;
  return copy.next();
}

bool Parser::take(char punctuation) {
  if (token_.mark != punctuation) return false;
  advance();
  return true;
}

bool Parser::take_dot(std::string_view name) {
  if (!token_.is_dot(name)) return false;
  advance();
  return true;
}

void Parser::expect(char punctuation, char const* after) {
  if (take(punctuation)) return;
  fail(fmt::format("expected '{}' {}, got {}", punctuation, after, shown(token_)),
       punctuation == ';' ? "every statement ends in ';'" : "");
}

std::string_view Parser::expect_word(char const* what) {
  if (!token_.is_word()) fail(fmt::format("expected {}, got {}", what, shown(token_)));
  auto const text = token_.text;
  advance();
  return text;
}

std::string_view Parser::expect_string(char const* what) {
  if (token_.kind != Token::Kind::string) fail(fmt::format("expected {} in quotes, got {}", what, shown(token_)));
  auto const text = token_.text;
  advance();
  return text;
}

std::string Parser::shown(Token const& token) const {
  switch (token.kind) {
    case Token::Kind::end:
      return "the end of the text";
    case Token::Kind::dot_word:
      return fmt::format("'.{}'", token.text.substr(0, 80));
    case Token::Kind::string:
      return fmt::format("\"{}\"", token.text.substr(0, 80));
    default:
      return fmt::format("'{}'", token.text.substr(0, 80));
  }
}

void Parser::fail_at(Token const& token, std::string const& message, std::string hint) const {
  if (hint.empty()) hint = "the PTX ISA manual, chapter \"Syntax\", describes the grammar";
  throw Error(Status::bad_data, Where{module_.path, token.line, token.column}, message, std::move(hint),
              std::string(module_.line(token.line)));
}

std::uint64_t Parser::slice(std::string_view words) const {
  auto const offset = static_cast<std::uint64_t>(words.data() - module_.text.data());
  return offset << 16 | std::min<std::size_t>(words.size(), 0xFFFF);
}

// Where the module does not say: as wide as the registers that hold addresses before 2.3, which had no directive for
// it, and later the manual's default.
unsigned default_address_size(Module const& module) {
  if (module.version_major > 2 || (module.version_major == 2 && module.version_minor >= 3)) return 32;
  for (auto const& function : module.functions)
    for (auto const& instruction : function.instructions)
      for (auto const& operand : instruction.operands)
        if (operand.kind == Operand::Kind::address && operand.elements[0].kind == Operand::Kind::reg)
          return 8 * size_bytes(function.registers[operand.elements[0].id].type);
  return 32;
}

void Parser::run() {
  if (module_.text.size() > max_text_bytes) fail("this text is longer than 1 GiB");
  advance();
  header();
  while (token_.kind != Token::Kind::end) module_item();
  if (module_.address_size == 0) module_.address_size = default_address_size(module_);
}

void Parser::header() {
  if (!take_dot("version"))
    fail(fmt::format("expected .version, got {}", shown(token_)),
         "a PTX module begins with .version, such as '.version 8.5'");
  Token const at = token_;
  auto const text = token_.text;
  auto const dot = text.find('.');
  bool good = token_.kind == Token::Kind::real && dot != std::string_view::npos;
  if (good) {
    auto const* end = text.data() + text.size();
    auto const major = std::from_chars(text.data(), end, module_.version_major);
    auto const minor = std::from_chars(text.data() + dot + 1, end, module_.version_minor);
    good = major.ptr == text.data() + dot && minor.ptr == end && minor.ec == std::errc() && major.ec == std::errc();
  }
  if (!good) fail(fmt::format("expected a version, got {}", shown(at)), "major.minor, such as '.version 8.5'");
  if (module_.version_major < 1 || module_.version_major > 9)
    fail(fmt::format("PTX version {} is not supported", text), "versions 1.0 to 9.x are");
  advance();
  if (!token_.is_dot("target")) fail(fmt::format("expected .target after .version, got {}", shown(token_)));
  module_.address_size = 0;
  target();
}

void Parser::target() {
  advance();
  do module_.targets.push_back(expect_word("a target such as sm_75"));
  while (take(','));
}

void Parser::alias() {
  Token const at = token_;
  auto const* name = symbols_.find(expect_word("the alias"));
  expect(',', "between alias and function");
  Token const to = token_;
  auto const* target = symbols_.find(expect_word("the function"));
  expect(';', "after .alias");
  if (!name || name->kind != Symbol::Kind::function) unknown_name(at);
  if (!target || target->kind != Symbol::Kind::function) unknown_name(to);
  if (module_.functions[name->id].has_body) fail_at(at, "an alias cannot have a body");
  module_.functions[name->id].alias_of = target->id;
}

void Parser::pragma() {
  do {
    auto const text = expect_string("a pragma");
    if (std::ranges::find(fence_pragmas, text) != fence_pragmas.end()) fence_ = text;
    if (std::ranges::find(wavefront_pragmas, text) != wavefront_pragmas.end()) wavefront_ = text;
  } while (take(','));
  expect(';', "after .pragma");
}

void Parser::module_item() {
  if (take(';')) return;
  if (token_.kind != Token::Kind::dot_word)
    fail(fmt::format("expected a directive, got {}", shown(token_)),
         token_.is_word() ? "instructions belong in the body of an .entry or .func" : "");
  if (take_dot("file")) return file();
  if (take_dot("loc")) return loc();
  if (take_dot("section")) return section();
  if (take_dot("pragma")) return pragma();
  if (take_dot("alias")) return alias();
  if (token_.is_dot("target")) return target();
  if (take_dot("version")) fail("a second .version");
  if (take_dot("address_size")) {
    Token const at = token_;
    auto const bits = count_constant("an address size", 64);
    if (bits != 32 && bits != 64) fail_at(at, "the address size is 32 or 64");
    module_.address_size = static_cast<unsigned>(bits);
    return;
  }
  Linkage linkage = Linkage::none;
  if (take_dot("extern"))
    linkage = Linkage::external;
  else if (take_dot("visible"))
    linkage = Linkage::visible;
  else if (take_dot("weak"))
    linkage = Linkage::weak;
  else if (take_dot("common"))
    linkage = Linkage::common;
  if (take_dot("entry")) return function(linkage, true);
  if (take_dot("func")) return function(linkage, false);
  for (auto space : {"global", "const", "shared", "local", "param", "tex", "sreg"})
    if (token_.is_dot(space)) return variables(linkage);
  if (token_.is_dot("reg")) fail("a register cannot be declared outside a function");
  fail(fmt::format("unknown directive {}", shown(token_)), did_you_mean(token_.text, module_directives));
}

bool Parser::at_performance_directive() const {
  return token_.kind == Token::Kind::dot_word;
}

void Parser::performance_directive(Function& function) {
  Token const at = token_;
  auto const name = token_.text;
  if (take_dot("pragma")) return pragma();
  if (take_dot("attribute")) {
    std::vector<std::pair<std::string_view, std::uint64_t>> ignored;
    return attributes(ignored);
  }
  if (std::find(performance_directives.begin(), performance_directives.end(), name) == performance_directives.end())
    fail_at(at, fmt::format("unknown directive {} of a function", shown(at)),
            did_you_mean(name, performance_directives));
  advance();
  if (name == "noreturn") function.noreturn = true;
  auto& values = function.directives[name];
  values.clear();
  if (token_.kind != Token::Kind::integer) return;
  do values.push_back(count_constant("a number", ~std::uint64_t{0}));
  while (values.size() < 3 && take(','));
}

void Parser::function(Linkage linkage, bool entry) {
  Function function;
  function.linkage = linkage;
  function.entry = entry;
  symbols_.open();
  prefixes_.open();
  ranges_.clear();
  nested_ranges_ = false;
  function_ = &function;
  while (token_.is_dot("attribute") || token_.is_dot("noreturn")) performance_directive(function);
  if (!entry && token_.is('(')) function.results = parameters(true, true);
  function.at = here();
  Token const name = token_;
  function.name = expect_word(entry ? "the name of a kernel" : "the name of a function");
  if (token_.is('(')) function.parameters = parameters(true, false);
  for (auto& parameter : function.parameters) {
    if (parameter.in_register) continue;
    auto const align = std::max<std::uint64_t>(1, parameter.align);
    parameter.offset = (function.parameter_bytes + align - 1) / align * align;
    function.parameter_bytes = parameter.offset + parameter.size;
  }
  while (at_performance_directive()) performance_directive(function);
  bool const has_body = token_.is('{');
  function.has_body = has_body;
  auto const id = declare_function(std::move(function), name);
  if (has_body) {
    body(id);
  } else {
    expect(';', "after a function's declaration");
  }
  function_ = nullptr;
  symbols_.close();
  prefixes_.close();
}

std::uint32_t Parser::declare_function(Function&& signature, Token const& name) {
  auto const* old = symbols_.find_global(name.text);  // a parameter may have the function's name
  if (!old) {
    auto const id = static_cast<std::uint32_t>(module_.functions.size());
    module_.functions.push_back(std::move(signature));
    symbols_.declare(name.text, Symbol::Kind::function, id, 0);
    return id;
  }
  if (old->kind != Symbol::Kind::function)
    fail_at(name, fmt::format("'{}' is declared already, as a variable", name.text));
  auto& known = module_.functions[old->id];
  if (known.has_body && signature.has_body) fail_at(name, fmt::format("function '{}' has a body already", name.text));
  if (known.entry != signature.entry || known.parameters.size() != signature.parameters.size() ||
      known.results.size() != signature.results.size())
    fail_at(name, fmt::format("this does not agree with the declaration of '{}' in line {}", name.text, known.at.line),
            "parameters and results must be the same");
  if (signature.has_body || !known.has_body) {
    if (signature.linkage == Linkage::none) signature.linkage = known.linkage;
    signature.noreturn = signature.noreturn || known.noreturn;
    known = std::move(signature);
  }
  return old->id;
}

std::unique_ptr<Module> parse(std::string text, std::string path) {
  auto module = std::make_unique<Module>();
  module->path = std::move(path);
  module->text = std::move(text);
  Parser(*module).run();
  return module;
}

}  // namespace kernelcast::ptx
