#include "kernels/frontend/unrolling.hpp"

#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <fmt/format.h>

#include "base/diag/text.hpp"
#include "kernels/frontend/build.hpp"

namespace kernelcast::frontend {
namespace {

using Text = std::string_view;

bool is_name_character(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.' || c == '-' || c == '$';
}

// "%name" at the beginning of a text, else empty.
Text value_at(Text text) {
  if (text.size() < 2 || text[0] != '%') return {};
  std::size_t end = 1;
  while (end < text.size() && is_name_character(text[end])) ++end;
  return end > 1 ? text.substr(0, end) : Text{};
}

std::vector<Text> values_in(Text text) {
  std::vector<Text> out;
  for (auto at = text.find('%'); at != text.npos; at = text.find('%', at + 1))
    if (auto const value = value_at(text.substr(at)); !value.empty()) out.push_back(value);
  return out;
}

// What follows the first `key`, else empty.
Text after(Text text, Text key) {
  auto const at = text.find(key);
  return at == text.npos ? Text{} : text.substr(at + key.size());
}

// Whether an argument is a pointer without an address space: "ptr noundef %3".
bool has_private_pointer(Text arguments) {
  for (auto rest = after(arguments, "ptr "); !rest.empty(); rest = after(rest, "ptr "))
    if (!rest.starts_with("addrspace(")) return true;
  return false;
}

// The number in "!name !7", else empty.
Text metadata_number(Text line, Text name) {
  auto const rest = after(line, name);
  std::size_t end = 0;
  while (end < rest.size() && std::isdigit(static_cast<unsigned char>(rest[end]))) ++end;
  return rest.substr(0, end);
}

struct Instruction {
  enum class Kind : std::uint8_t { other, variable, load, store, address, comparison, call };
  Kind kind = Kind::other;
  Text result;             // empty: none
  std::vector<Text> uses;  // of a load or store the stored value alone, of an address its indices
  Text pointer;            // of a load, store or address: its base
  std::size_t line = 0;
};

Instruction parse_instruction(Text line, std::size_t number) {
  using Kind = Instruction::Kind;
  Instruction out;
  out.line = number;
  Text body = trimmed(line);
  if (auto const result = value_at(body); !result.empty() && body.substr(result.size()).starts_with(" = ")) {
    out.result = result;
    body.remove_prefix(result.size() + 3);
  }
  if (body.starts_with("alloca ")) {
    out.kind = Kind::variable;
  } else if (body.starts_with("load ")) {
    out.kind = Kind::load;
    out.pointer = value_at(after(body, ", ptr "));
  } else if (body.starts_with("store ")) {
    out.kind = Kind::store;
    out.uses = values_in(body.substr(0, body.find(", ptr ")));
    out.pointer = value_at(after(body, ", ptr "));
  } else if (body.starts_with("getelementptr ")) {
    auto const operands = after(body, ", ptr ");
    out.pointer = value_at(operands);
    out.kind = out.pointer.empty() ? Kind::other : Kind::address;  // of another address space: other
    out.uses = values_in(out.pointer.empty() ? body : operands.substr(out.pointer.size()));
  } else {
    out.uses = values_in(body);
    if (body.starts_with("icmp ")) out.kind = Kind::comparison;
    if (body.find("call ") != body.npos && body.find("@llvm.") == body.npos && has_private_pointer(body))
      out.kind = Kind::call;
  }
  return out;
}

// Lines from a label to the last branch back to it.
struct Loop {
  std::size_t first = 0, last = 0;
  bool holds(std::size_t line) const { return first <= line && line <= last; }
  bool holds(Loop const& other) const { return first < other.first && other.last <= last; }
};

// The body of one function, line by line.
class Function {
 public:
  explicit Function(std::span<Text const> lines) {
    std::unordered_map<Text, std::size_t> labels;
    std::map<std::size_t, std::size_t> last_of;  // of a loop, by its first line
    for (std::size_t n = 1; n < lines.size(); ++n) {
      Text const line = lines[n];
      if (!line.starts_with(' ')) {
        if (auto const colon = line.find(':'); colon != line.npos) labels[line.substr(0, colon)] = n;
        continue;
      }
      if (line.starts_with("  br ")) {
        for (auto rest = after(line, "label %"); !rest.empty(); rest = after(rest, "label %"))
          if (auto const at = labels.find(rest.substr(0, rest.find_first_of(", "))); at != labels.end())
            last_of[at->second] = n;
        continue;
      }
      auto instruction = parse_instruction(line, n);
      if (instruction.kind == Instruction::Kind::variable) variables_.insert(instruction.result);
      if (!instruction.result.empty()) by_result_[instruction.result] = instructions_.size();
      instructions_.push_back(std::move(instruction));
    }
    for (auto const& [first, last] : last_of) loops_.push_back({first, last});
  }

  // Of those that index private memory by what they count: the line of the branch back.
  std::vector<std::size_t> marked(PrivatePointers pointers) const {
    std::vector<std::set<Text>> counted;
    for (auto const& loop : loops_) counted.push_back(counted_by(loop));
    std::vector<Loop> out;
    // The loops in a loop have begun behind it.
    for (std::size_t i = loops_.size(); i-- > 0;) {
      std::set<Text> inner;
      for (std::size_t k = i + 1; k < loops_.size(); ++k)
        if (loops_[i].holds(loops_[k])) inner.insert(counted[k].begin(), counted[k].end());
      std::set<Text> own;
      std::ranges::set_difference(counted[i], inner, std::inserter(own, own.end()));
      if (!own.empty() && decides_index(loops_[i], own, inner, out, pointers)) out.push_back(loops_[i]);
    }
    std::vector<std::size_t> lines;
    for (auto const& loop : out) lines.push_back(loop.last);
    return lines;
  }

 private:
  using Kind = Instruction::Kind;

  // Whether a value comes from a load of this variable, in straight-line code.
  bool comes_from(Text value, Text variable, unsigned depth = 0) const {
    auto const found = by_result_.find(value);
    if (found == by_result_.end() || depth > 32) return false;
    auto const& i = instructions_[found->second];
    if (i.kind == Kind::load) return i.pointer == variable;
    return std::ranges::any_of(i.uses, [&](Text one) { return comes_from(one, variable, depth + 1); });
  }

  // Variables that a loop sets from their own value, outside of the loops in it.
  std::set<Text> counted_by(Loop const& loop) const {
    std::set<Text> out;
    for (auto const& i : instructions_) {
      if (i.kind != Kind::store || !loop.holds(i.line) || !variables_.contains(i.pointer)) continue;
      bool const inner =
          std::ranges::any_of(loops_, [&](Loop const& other) { return loop.holds(other) && other.holds(i.line); });
      if (!inner && std::ranges::any_of(i.uses, [&](Text one) { return comes_from(one, i.pointer); }))
        out.insert(i.pointer);
    }
    return out;
  }

  bool is_private(Text pointer) const {
    for (unsigned steps = 0; steps < 32; ++steps) {
      if (variables_.contains(pointer)) return true;
      auto const found = by_result_.find(pointer);
      if (found == by_result_.end() || instructions_[found->second].kind != Kind::address) return false;
      pointer = instructions_[found->second].pointer;
    }
    return false;
  }

  // Whether an address in private memory depends on what the loop counts, or the length of a marked loop in it does.
  bool decides_index(Loop const& loop, std::set<Text> depends, std::set<Text> const& inner,
                     std::vector<Loop> const& marked_loops, PrivatePointers pointers) const {
    std::set<Text> values;
    auto const depend = [&](std::vector<Text> const& uses) {
      return std::ranges::any_of(uses, [&](Text one) { return values.contains(one); });
    };
    auto const in_marked = [&](std::size_t line) {
      return std::ranges::any_of(marked_loops, [&](Loop const& one) { return loop.holds(one) && one.holds(line); });
    };
    bool const has_marked = std::ranges::any_of(marked_loops, [&](Loop const& one) { return loop.holds(one); });
    for (std::size_t before = 0; before != values.size() + depends.size();) {
      before = values.size() + depends.size();
      for (auto i = std::ranges::lower_bound(instructions_, loop.first, {}, &Instruction::line);
           i != instructions_.end() && i->line <= loop.last; ++i) {
        bool const loaded = i->kind == Kind::load && depends.contains(i->pointer);
        if (!loaded && !depend(i->uses)) {
          // An address in what depends on the loop does, too.
          if (i->kind == Kind::address && values.contains(i->pointer)) values.insert(i->result);
          continue;
        }
        if (i->kind == Kind::address && (pointers == PrivatePointers::all || is_private(i->pointer))) return true;
        if (i->kind == Kind::call && pointers == PrivatePointers::all) return true;
        if (i->kind == Kind::comparison && in_marked(i->line)) return true;
        if (i->kind == Kind::store && inner.contains(i->pointer) && has_marked) return true;
        if (i->kind == Kind::store && variables_.contains(i->pointer) && !inner.contains(i->pointer))
          depends.insert(i->pointer);
        if (!i->result.empty()) values.insert(i->result);
      }
    }
    return false;
  }

  std::vector<Instruction> instructions_;
  std::set<Text> variables_;
  std::unordered_map<Text, std::size_t> by_result_;
  std::vector<Loop> loops_;
};

std::vector<Text> lines_of(Text text) {
  std::vector<Text> out;
  each_line(text, [&](Text line) { out.push_back(line); });
  return out;
}

// "!7 = distinct !{!7, !8}" -> the text between the braces, by number; of other nodes ("!7 = !DILocation(…)") none.
std::unordered_map<Text, Text> metadata_in(std::vector<Text> const& lines) {
  std::unordered_map<Text, Text> out;
  for (Text const line : lines) {
    auto const number = line.starts_with('!') ? metadata_number(line, "!") : Text{};
    auto const open = line.find("!{");
    if (!number.empty()) out[number] = open == line.npos ? Text{} : line.substr(open + 2, line.rfind('}') - open - 2);
  }
  return out;
}

bool is_any(Text option, std::initializer_list<Text> known) {
  return std::ranges::find(known, option) != known.end();
}

}  // namespace

std::vector<std::string> optimisation_options(std::vector<std::string> const& options) {
  std::vector<std::string> out{"-O3", "-Wno-pass-failed"};
  for (std::size_t i = 0; i < options.size(); ++i) {
    auto const& option = options[i];
    if (option == "-mllvm" && i + 1 < options.size())
      out.insert(out.end(), {option, options[++i]});
    else if (option.starts_with("-O") || option.starts_with("-ffp-contract=") ||
             is_any(option, {"-funroll-loops", "-fno-unroll-loops", "-fvectorize", "-fno-vectorize", "-fslp-vectorize",
                             "-fno-slp-vectorize"}))
      out.push_back(option);
    else if (option == "-cl-opt-disable")
      out.emplace_back("-O0");
  }
  return out;
}

void inline_functions(std::string& llvm_ir, UsedBy used_by) {
  auto const lines = lines_of(llvm_ir);
  std::set<Text> kept;  // numbers of attributes that have noinline
  for (Text const line : lines)
    if (line.starts_with("attributes #") && line.find(" noinline ") != line.npos)
      kept.insert(metadata_number(line, "attributes #"));
  constexpr Text define = "define ", visible = "define dso_local ";
  std::string out;
  for (Text line : lines) {
    if (line.starts_with(define) && line.find("spir_kernel ") == line.npos) {
      if (used_by == UsedBy::this_source && line.starts_with(visible)) {
        out += "define internal ";
        line.remove_prefix(visible.size());
      }
      if (auto const at = line.rfind(" #"); at != line.npos && !kept.contains(metadata_number(line.substr(at), " #"))) {
        out.append(line.substr(0, at)).append(" alwaysinline");
        line.remove_prefix(at);
      }
    }
    out.append(line).append("\n");
  }
  llvm_ir = std::move(out);
}

std::size_t unroll_private_arrays(std::string& llvm_ir, PrivatePointers pointers) {
  auto const lines = lines_of(llvm_ir);
  auto const metadata = metadata_in(lines);
  std::size_t next = 0;  // number of a node that is not in use
  for (auto const& [number, text] : metadata) next = std::max(next, to_number<std::size_t>(number).value_or(0) + 1);
  std::map<std::size_t, std::string> changed;  // by line
  std::string nodes;
  std::size_t count = 0;
  for (std::size_t begin = 0; begin < lines.size(); ++begin) {
    if (!lines[begin].starts_with("define ")) continue;
    auto const rest = std::span(lines).subspan(begin);
    auto const body = rest.first(static_cast<std::size_t>(std::ranges::find(rest, "}") - rest.begin()));
    for (auto const at : Function(body).marked(pointers)) {
      std::string branch(lines[begin + at]), others;
      constexpr Text key = ", !llvm.loop !";
      if (auto const old = metadata_number(branch, key); !old.empty()) {
        auto const node = metadata.find(old);
        auto const text = node == metadata.end() ? Text{} : node->second;
        bool hinted = false;
        for (auto parts = after(text, ", !"); !parts.empty(); parts = after(parts, ", !")) {
          auto const part = metadata.find(parts.substr(0, parts.find(',')));
          hinted = hinted || (part != metadata.end() && part->second.find("llvm.loop.unroll") != Text::npos);
        }
        if (hinted) continue;
        if (auto const comma = text.find(','); comma != text.npos) others = text.substr(comma);
        branch.erase(branch.find(key), key.size() + old.size());
      }
      changed[begin + at] = fmt::format("{}{}{}", branch, key, next);
      nodes += fmt::format("!{0} = distinct !{{!{0}, !{1}{2}}}\n!{1} = !{{!\"llvm.loop.unroll.full\"}}\n", next,
                           next + 1, others);
      next += 2;
      ++count;
    }
    begin += body.size();
  }
  if (count == 0) return 0;
  std::string out;
  for (std::size_t n = 0; n < lines.size(); ++n) {
    auto const other = changed.find(n);
    out.append(other == changed.end() ? lines[n] : Text(other->second)).append("\n");
  }
  llvm_ir = out + nodes;
  return count;
}

}  // namespace kernelcast::frontend
