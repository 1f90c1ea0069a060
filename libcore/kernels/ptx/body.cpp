// Function bodies: scopes, labels, directives and instructions.

#include <fmt/format.h>

#include <utility>

#include "kernels/ptx/parsing.hpp"

namespace kernelcast::ptx {

namespace {

constexpr std::uint32_t max_scopes = 200;

std::vector<std::string> const body_directives = {
    "reg", "local", "shared", "param",         "const",       "global",        "tex",
    "loc", "file",  "pragma", "branchtargets", "calltargets", "callprototype", "attribute",
};

}  // namespace

void Parser::open_scope() {
  if (symbols_.depth() >= max_scopes) fail(fmt::format("more than {} nested scopes", max_scopes));
  symbols_.open();
  prefixes_.open();
  forwards_.emplace_back();
}

void Parser::close_scope() {
  auto const waiting = std::move(forwards_.back());
  forwards_.pop_back();
  for (auto const& forward : waiting) {
    if (bind(forward, symbols_.depth())) continue;
    if (forwards_.empty()) unknown_name(forward.name);
    forwards_.back().push_back(forward);
  }
  symbols_.close();
  prefixes_.close();
}

bool Parser::bind(Forward const& forward, std::uint32_t depth) {
  auto const* symbol = symbols_.find(forward.name.text);
  if (!symbol || symbol->depth < depth) return false;
  if (forward.target_list) {
    if (symbol->kind != Symbol::Kind::label)
      fail_at(forward.name, fmt::format("'{}' is not a label", forward.name.text));
    function_->branch_targets[forward.target_list - 1].ids[forward.operand] = symbol->id;
    return true;
  }
  auto& operand = function_->instructions[forward.instruction].operands[forward.operand];
  operand.id = symbol->id;
  operand.kind = operand_kind(symbol->kind);
  if (operand.kind != Operand::Kind::label && operand.kind != Operand::Kind::prototype &&
      operand.kind != Operand::Kind::targets)
    fail_at(forward.name, fmt::format("'{}' is used before its declaration", forward.name.text));
  return true;
}

void Parser::body(std::uint32_t function) {
  function_ = &module_.functions[function];
  source_ = {};
  fence_ = wavefront_ = {};
  forwards_.clear();
  Token const begin = token_;
  expect('{', "before a body");
  open_scope();
  auto const outermost = forwards_.size();
  while (forwards_.size() >= outermost) {
    if (token_.kind == Token::Kind::end)
      fail_at(begin, fmt::format("the body of '{}' has no end", function_->name), "a '}' is missing");
    statement();
  }
}

void Parser::statement() {
  if (token_.is_word()) {
    Token const first = token_;
    advance();
    if (take(':')) return label(first);
    // Not a label: an instruction whose opcode is read already.
    Instruction made;
    made.opcode = first.text;
    made.at = {first.line, first.column};
    function_->instructions.push_back(std::move(made));
    return instruction({});
  }
  if (token_.kind == Token::Kind::dot_word) return body_directive();
  if (token_.is('@')) {
    Instruction made;
    made.at = here();
    auto const condition = guard();
    made.opcode = expect_word("an instruction after its guard");
    function_->instructions.push_back(std::move(made));
    return instruction(condition);
  }
  if (take('{')) return open_scope();
  if (token_.is('}')) {
    close_scope();
    return advance();
  }
  if (take(';')) return;
  fail(fmt::format("expected an instruction, got {}", shown(token_)));
}

Guard Parser::guard() {
  advance();
  Guard out;
  out.present = true;
  out.negated = take('!');
  Token const name = token_;
  expect_word("a predicate");
  auto const operand = resolve(name, false);
  if (operand.kind != Operand::Kind::reg) fail_at(name, fmt::format("'{}' is not a register", name.text));
  if (function_->registers[operand.id].type != Type::pred)
    fail_at(name, fmt::format("'{}' is not a predicate", name.text), "a guard is a register of type .pred");
  out.reg = operand.id;
  return out;
}

void Parser::label(Token const& name) {
  if (take_dot("branchtargets")) return branch_targets(name);
  if (take_dot("calltargets")) return call_targets(name);
  if (take_dot("callprototype")) return call_prototype(name);
  auto const id = static_cast<std::uint32_t>(function_->labels.size());
  function_->labels.push_back({name.text, static_cast<std::uint32_t>(function_->instructions.size())});
  if (!symbols_.declare(name.text, Symbol::Kind::label, id))
    fail_at(name, fmt::format("'{}' is declared already", name.text));
}

void Parser::branch_targets(Token const& name) {
  auto const id = static_cast<std::uint32_t>(function_->branch_targets.size());
  function_->branch_targets.push_back({name.text, {}});
  if (!symbols_.declare(name.text, Symbol::Kind::branch_targets, id))
    fail_at(name, fmt::format("'{}' is declared already", name.text));
  do {
    Token const target = token_;
    expect_word("a label");
    auto& ids = function_->branch_targets[id].ids;
    Forward forward{target, 0, static_cast<std::uint32_t>(ids.size()), id + 1};
    ids.push_back(0);
    if (!bind(forward, symbols_.depth())) forwards_.back().push_back(forward);
  } while (take(','));
  expect(';', "after .branchtargets");
}

void Parser::call_targets(Token const& name) {
  TargetList list{name.text, {}};
  do {
    Token const target = token_;
    auto const* symbol = symbols_.find(expect_word("a function"));
    if (!symbol) unknown_name(target);
    if (symbol->kind != Symbol::Kind::function) fail_at(target, fmt::format("'{}' is not a function", target.text));
    list.ids.push_back(symbol->id);
  } while (take(','));
  expect(';', "after .calltargets");
  auto const id = static_cast<std::uint32_t>(function_->call_targets.size());
  function_->call_targets.push_back(std::move(list));
  if (!symbols_.declare(name.text, Symbol::Kind::call_targets, id))
    fail_at(name, fmt::format("'{}' is declared already", name.text));
}

// name: .callprototype (.param .b32 _) _ (.param .b64 _) .noreturn;
void Parser::call_prototype(Token const& name) {
  Prototype prototype;
  prototype.name = name.text;
  if (token_.is('(')) prototype.results = parameters(false, true);
  expect_word("the name of a prototype, usually '_'");
  if (token_.is('(')) prototype.parameters = parameters(false, false);
  Function directives;
  while (token_.kind == Token::Kind::dot_word) performance_directive(directives);
  prototype.noreturn = directives.noreturn;
  expect(';', "after .callprototype");
  auto const id = static_cast<std::uint32_t>(function_->prototypes.size());
  function_->prototypes.push_back(std::move(prototype));
  if (!symbols_.declare(name.text, Symbol::Kind::prototype, id))
    fail_at(name, fmt::format("'{}' is declared already", name.text));
}

void Parser::body_directive() {
  if (take_dot("reg")) return registers();
  if (take_dot("loc")) return loc();
  if (take_dot("file")) return file();
  if (take_dot("pragma")) return pragma();
  if (take_dot("unreachable")) return expect(';', "after .unreachable");
  Linkage linkage = Linkage::none;
  if (take_dot("extern")) linkage = Linkage::external;
  for (auto space : {"local", "shared", "param", "global", "const", "tex"})
    if (token_.is_dot(space)) return variables(linkage);
  fail(fmt::format("unknown directive {} in a body", shown(token_)), did_you_mean(token_.text, body_directives));
}

// The opcode is read already; token_ is what follows it.
void Parser::instruction(Guard guard) {
  auto& made = function_->instructions.back();
  instruction_ = &made;
  made.guard = guard;
  made.source = source_;
  f32_context_ = false;
  if (token_.kind == Token::Kind::dot_word) {
    made.modifiers.reserve(3);
    do {
      made.modifiers.push_back(token_.text);
      // The type of a decimal constant is that of the sources: the last one.
      if (token_.text == "f32")
        f32_context_ = true;
      else if (token_.text == "f64")
        f32_context_ = false;
      advance();
    } while (token_.kind == Token::Kind::dot_word);
  }
  if (!fence_.empty() && made.is_barrier()) made.modifiers.push_back(std::exchange(fence_, {}));
  if (!wavefront_.empty() && made.is(Op::shfl, Op::vote)) made.modifiers.push_back(std::exchange(wavefront_, {}));
  call_ = made.is_call();
  if (!token_.is(';') && !token_.is('}')) {
    made.operands.reserve(3);
    do made.operands.push_back(operand());
    while (take(','));
  }
  expect(';', "after an instruction");
}

}  // namespace kernelcast::ptx
