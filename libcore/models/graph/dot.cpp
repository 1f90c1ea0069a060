// parse_dot(): the DOT language as far as graphs of tasks need it: nodes, chains of edges, attributes, defaults,
// subgraphs, comments. Ports are read and forgotten; HTML labels are kept as text.
#include <algorithm>
#include <cctype>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/diag/text.hpp"
#include "models/graph/graph_file.hpp"

namespace kernelcast::graph {

namespace {

struct Token {
  enum Kind { end, id, arrow, symbol } kind = end;
  std::string text;
  bool quoted = false;
  Where where;
};

class Lexer {
 public:
  Lexer(RawGraph const& graph, std::string file, std::string const& text)
      : graph_(graph), file_(std::move(file)), text_(text) {}

  Token next() {
    skip();
    Token token{Token::end, "", false, here()};
    if (at_ >= text_.size()) return token;
    char const c = text_[at_];
    if (c == '-' && at_ + 1 < text_.size() && (text_[at_ + 1] == '>' || text_[at_ + 1] == '-')) {
      token.kind = Token::arrow;
      token.text = text_.substr(at_, 2);
      if (token.text == "--") throw graph_.refuse(token.where, "an edge without direction", "write -> in a digraph");
      take();
      take();
    } else if (c == '"') {
      token = quoted(token);
    } else if (c == '<') {
      token = html(token);
    } else if (is_word(c) || c == '-' || c == '.') {
      token.kind = Token::id;
      do token.text += take();
      while (at_ < text_.size() && (is_word(text_[at_]) || text_[at_] == '.'));
    } else if (std::string_view("{}[]=;,:").find(c) != std::string_view::npos) {
      token.kind = Token::symbol;
      token.text = std::string(1, take());
    } else {
      throw graph_.refuse(token.where, fmt::format("unexpected '{}'", c), "is this Graphviz DOT?");
    }
    return token;
  }

 private:
  static bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || (c & 0x80) != 0; }
  Where here() const { return {file_, line_, at_ - line_begin_ + 1}; }
  char take() {
    char const c = text_[at_++];
    if (c == '\n') {
      ++line_;
      line_begin_ = at_;
    }
    return c;
  }
  bool starts(std::string_view what) const { return text_.compare(at_, what.size(), what) == 0; }

  void skip() {
    while (at_ < text_.size()) {
      char const c = text_[at_];
      if (std::isspace(static_cast<unsigned char>(c))) {
        take();
      } else if (starts("//") || (c == '#' && at_ == line_begin_)) {
        while (at_ < text_.size() && text_[at_] != '\n') take();
      } else if (starts("/*")) {
        auto const begin = here();
        while (at_ < text_.size() && !starts("*/")) take();
        if (at_ >= text_.size()) throw graph_.refuse(begin, "a comment is not closed", "end it with */");
        take();
        take();
      } else {
        break;
      }
    }
  }

  // Backslashes stay, except before a quote: labels have their own escapes.
  Token quoted(Token token) {
    take();
    while (at_ < text_.size() && text_[at_] != '"') {
      if (text_[at_] == '\\' && at_ + 1 < text_.size()) {
        if (text_[at_ + 1] == '"')
          take();
        else if (text_[at_ + 1] == '\\')
          token.text += take();
      }
      token.text += take();
    }
    if (at_ >= text_.size()) throw graph_.refuse(token.where, "a quoted text is not closed", "end it with \"");
    take();
    token.kind = Token::id;
    token.quoted = true;
    return token;
  }

  Token html(Token token) {
    int depth = 0;
    do {
      if (at_ >= text_.size()) throw graph_.refuse(token.where, "an HTML label is not closed", "end it with >");
      char const c = take();
      depth += c == '<' ? 1 : c == '>' ? -1 : 0;
      token.text += c;
    } while (depth > 0);
    token.kind = Token::id;
    token.quoted = true;
    return token;
  }

  RawGraph const& graph_;
  std::string file_;
  std::string const& text_;
  std::size_t at_ = 0, line_ = 1, line_begin_ = 0;
};

using Attributes = std::map<std::string, RawValue>;

bool is_utf8(std::string const& text) {
  try {
    (void)nlohmann::json(text).dump();
    return true;
  } catch (nlohmann::json::type_error const&) {
    return false;
  }
}

class Parser {
 public:
  Parser(std::string const& path, std::string const& text, RawGraph& out) : out_(out), lexer_(out, path, text) {
    advance();
  }

  void graph() {
    if (word("strict")) advance();
    if (word("graph"))
      throw out_.refuse(token_.where, "a graph without directions", "a compute graph is a digraph: who waits for whom");
    if (!word("digraph")) throw out_.refuse(token_.where, "no digraph", "a graph file is JSON or Graphviz DOT");
    advance();
    if (token_.kind == Token::id) {
      if (token_.text != "dot") out_.app = token_.text;  // the name that CUDA gives every graph
      advance();
    }
    expect("{");
    statements({});
    expect("}");
    if (token_.kind != Token::end) throw out_.refuse(token_.where, "text after the graph", "one graph a file");
  }

 private:
  void advance() { token_ = lexer_.next(); }
  bool word(std::string_view text) const {
    if (token_.kind != Token::id || token_.quoted || token_.text.size() != text.size()) return false;
    for (std::size_t i = 0; i < text.size(); ++i)
      if (std::tolower(static_cast<unsigned char>(token_.text[i])) != text[i]) return false;
    return true;
  }
  bool symbol(std::string_view text) const { return token_.kind == Token::symbol && token_.text == text; }
  void expect(std::string_view text) {
    if (!symbol(text))
      throw out_.refuse(token_.where,
                        token_.kind == Token::end ? fmt::format("the file ends where '{}' should stand", text)
                                                  : fmt::format("expected '{}', got '{}'", text, token_.text),
                        "is a bracket missing?");
    advance();
  }

  void statements(Attributes defaults) {
    if (++depth_ > 100) throw out_.refuse(token_.where, "nested too deeply", "fewer subgraphs in one another");
    while (!symbol("}") && token_.kind != Token::end) {
      if (symbol(";") || symbol(",")) {
        advance();
      } else if (word("node") || word("edge") || word("graph")) {
        bool const for_nodes = word("node");
        advance();
        Attributes given;
        attributes(given);
        if (for_nodes)
          for (auto& [key, value] : given) defaults[key] = value;
      } else {
        statement(defaults);
      }
    }
    --depth_;
  }

  // A node, a chain of edges between nodes or subgraphs, or key = value of the graph.
  void statement(Attributes const& defaults) {
    bool const group = word("subgraph") || symbol("{");
    auto const first = token_;
    auto from = operand(defaults);
    if (!group && symbol("=")) {
      advance();
      value();
      return;
    }
    if (token_.kind != Token::arrow) {
      if (group) return;
      auto& node = node_of(first, defaults);
      attributes(node.attributes);
      return;
    }
    if (!group) node_of(first, {});
    while (token_.kind == Token::arrow) {
      advance();
      bool const next_is_group = word("subgraph") || symbol("{");
      auto const to_token = token_;
      auto to = operand(defaults);
      if (!next_is_group) node_of(to_token, {});
      for (auto const& a : from)
        for (auto const& b : to) out_.edges.emplace_back(a, b);
      from = std::move(to);
    }
    Attributes ignored;  // of the edges: colours, labels
    attributes(ignored);
  }

  // A node's name, or a subgraph; the nodes that it stands for.
  std::vector<RawValue> operand(Attributes const& defaults) {
    if (word("subgraph") || symbol("{")) {
      if (word("subgraph")) {
        advance();
        if (token_.kind == Token::id) advance();
      }
      std::size_t const before = out_.nodes.size();
      expect("{");
      statements(defaults);
      expect("}");
      std::vector<RawValue> members;
      for (std::size_t i = before; i < out_.nodes.size(); ++i)
        members.push_back({out_.nodes[i].name, out_.nodes[i].where});
      return members;
    }
    if (token_.kind != Token::id)
      throw out_.refuse(
          token_.where,
          token_.kind == Token::end ? "the file ends too early" : fmt::format("unexpected '{}'", token_.text),
          "a node, an edge or a subgraph");
    if (token_.text.empty()) throw out_.refuse(token_.where, "a node has no name", "write one between the quotes");
    if (!is_utf8(token_.text))  // it could not be written, nor told from another such
      throw out_.refuse(token_.where, "a node's name is not UTF-8", "save the file as UTF-8");
    RawValue const name{token_.text, token_.where};
    advance();
    for (int i = 0; i < 2 && symbol(":"); ++i) {  // a port and a compass point
      advance();
      value();
    }
    return {name};
  }

  // A node that is named for the first time is added; CUDA may describe one twice, what comes later counts.
  RawNode& node_of(Token const& name, Attributes const& defaults) {
    auto const [at, is_new] = index_.try_emplace(name.text, out_.nodes.size());
    if (is_new) out_.nodes.push_back({name.text, name.where, defaults});
    return out_.nodes[at->second];
  }

  RawValue value() {
    if (token_.kind != Token::id)
      throw out_.refuse(token_.where, "a value is missing", "a word, a number or a quoted text");
    RawValue const out{token_.text, token_.where};
    advance();
    return out;
  }

  void attributes(Attributes& into) {
    while (symbol("[")) {
      advance();
      while (!symbol("]")) {
        if (symbol(",") || symbol(";")) {
          advance();
          continue;
        }
        auto const key = value();
        RawValue given{"true", key.where};
        if (symbol("=")) {
          advance();
          given = value();
        }
        into[key.text] = given;
      }
      advance();
    }
  }

  RawGraph& out_;
  Lexer lexer_;
  Token token_;
  std::map<std::string, std::size_t> index_;
  int depth_ = 0;
};

}  // namespace

RawGraph parse_dot(std::string const& path, std::string const& text) {
  RawGraph out;
  for (auto const line : kernelcast::split(text, '\n')) out.lines.emplace_back(line);
  Parser(path, text, out).graph();
  return out;
}

}  // namespace kernelcast::graph
