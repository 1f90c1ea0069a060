// What PTX, metadata and C++ names together say about each kernel; and finding a kernel by what a user calls it.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "base/diag/diag.hpp"
#include "base/diag/names.hpp"
#include "kernels/frontend/build.hpp"

namespace kernelcast::frontend {
namespace {

// The '(' that begins a signature's parameters: the last one at depth 0, so that "(anonymous namespace)::k(int)" works.
std::size_t parameters_at(std::string_view signature) {
  int depth = 0;
  for (std::size_t i = signature.size(); i-- > 0;) {
    if (signature[i] == ')' || signature[i] == '>') ++depth;
    if (signature[i] == '(' || signature[i] == '<') --depth;
    if (depth == 0 && signature[i] == '(') return i;
  }
  return std::string_view::npos;
}

// "void ns::k<float>(float*)" -> "ns::k<float>(float*)": templates carry their return type.
std::string without_result(std::string signature) {
  if (signature.starts_with("void ")) signature.erase(0, 5);
  return signature;
}

std::string qualified_name(std::string const& signature) {
  return signature.substr(0, parameters_at(signature));
}

// "ns::k<float, 4>" -> "k"
std::string plain_name(std::string const& signature) {
  std::string name = qualified_name(signature);
  int depth = 0;
  std::string outside;
  for (char const c : name) {
    if (c == '<') ++depth;
    if (depth == 0) outside += c;
    if (c == '>') --depth;
  }
  auto const colons = outside.rfind("::");
  return colons == std::string::npos ? outside : outside.substr(colons + 2);
}

// Parameters whose loaded value becomes a global address: PTX from CUDA declares pointers as plain .u64.
std::set<std::uint32_t> pointer_parameters(ptx::Function const& f) {
  std::map<std::uint32_t, std::uint32_t> holds;  // register -> parameter
  std::set<std::uint32_t> pointers;
  using Kind = ptx::Operand::Kind;
  for (auto const& i : f.instructions) {
    auto const& o = i.operands;
    if (i.is(ptx::Op::ld) && i.accesses_parameter() && o.size() == 2 && o[0].kind == Kind::reg &&
        o[1].kind == Kind::address && !o[1].elements.empty() && o[1].elements[0].kind == Kind::parameter &&
        o[1].value == 0) {
      holds[o[0].id] = o[1].elements[0].id;
    } else if (i.is(ptx::Op::mov, ptx::Op::cvta) && o.size() == 2 && o[0].kind == Kind::reg && o[1].kind == Kind::reg &&
               holds.contains(o[1].id)) {
      if (i.is(ptx::Op::cvta))
        pointers.insert(holds[o[1].id]);
      else
        holds[o[0].id] = holds[o[1].id];
    } else if (i.is(ptx::Op::ld, ptx::Op::st) || i.is_atomic()) {
      for (auto const& operand : o)
        if (operand.kind == Kind::address && !operand.elements.empty() && operand.elements[0].kind == Kind::reg &&
            holds.contains(operand.elements[0].id))
          pointers.insert(holds[operand.elements[0].id]);
    }
  }
  return pointers;
}

ArgumentKind kind_in_ptx(ptx::Parameter const& p, bool used_as_pointer) {
  if (p.pointer && p.pointer_space == ptx::StateSpace::shared) return ArgumentKind::shared_buffer;
  if (p.pointer && p.pointer_space == ptx::StateSpace::constant) return ArgumentKind::constant_buffer;
  if (p.pointer) return ArgumentKind::global_buffer;
  if (p.type == ptx::Type::texref || p.type == ptx::Type::surfref) return ArgumentKind::image;
  if (p.type == ptx::Type::samplerref) return ArgumentKind::sampler;
  return used_as_pointer && p.size == 8 ? ArgumentKind::global_buffer : ArgumentKind::value;
}

std::vector<Argument> arguments_of(ptx::Function const& f, KernelFacts const* facts, std::string const& signature) {
  auto const types = parameter_types(signature);
  auto const used_as_pointer = pointer_parameters(f);
  bool const types_fit = types.size() == f.parameters.size();
  std::vector<Argument> result;
  for (std::uint32_t i = 0; i < f.parameters.size(); ++i) {
    auto const& p = f.parameters[i];
    Argument a{std::string(p.name), types_fit ? types[i] : "", kind_in_ptx(p, used_as_pointer.contains(i)),
               static_cast<std::uint32_t>(p.size)};
    if (types_fit && !types[i].empty() && types[i].back() == '*' && a.kind == ArgumentKind::value)
      a.kind = ArgumentKind::global_buffer;
    if (facts && facts->arguments.size() == f.parameters.size()) {
      auto const& known = facts->arguments[i];
      if (!known.name.empty()) a.name = known.name;
      a.type_name = known.type_name;
      a.kind = known.kind;
      a.access = known.access;
      a.qualifiers = known.qualifiers;
    }
    result.push_back(std::move(a));
  }
  return result;
}

std::optional<std::array<std::uint32_t, 3>> required_group(ptx::Function const& f, KernelFacts const* facts) {
  if (facts && facts->required_group) return facts->required_group;
  auto const found = f.directives.find("reqntid");
  if (found == f.directives.end() || found->second.empty()) return std::nullopt;
  std::array<std::uint32_t, 3> group{1, 1, 1};
  for (std::size_t i = 0; i < std::min<std::size_t>(3, found->second.size()); ++i)
    group[i] = static_cast<std::uint32_t>(found->second[i]);
  return group;
}

// What one function names, directly, in its instructions.
struct Uses {
  std::set<std::uint32_t> variables, functions;
};

void collect(ptx::Operand const& o, Uses& uses) {
  if (o.kind == ptx::Operand::Kind::variable && !o.local) uses.variables.insert(o.id);
  if (o.kind == ptx::Operand::Kind::function) uses.functions.insert(o.id);
  for (auto const& element : o.elements) collect(element, uses);
}

// A kernel and the functions it calls, directly or not.
std::set<std::uint32_t> reachable(ptx::Module const& module, std::uint32_t kernel, std::set<std::uint32_t>& variables) {
  std::set<std::uint32_t> seen;
  std::vector<std::uint32_t> pending{kernel};
  while (!pending.empty()) {
    auto const at = pending.back();
    pending.pop_back();
    if (!seen.insert(at).second) continue;
    Uses uses;
    for (auto const& i : module.functions[at].instructions)
      for (auto const& o : i.operands) collect(o, uses);
    variables.insert(uses.variables.begin(), uses.variables.end());
    pending.insert(pending.end(), uses.functions.begin(), uses.functions.end());
  }
  return seen;
}

// Laid out one after the other, aligned, as ptxas does.
std::uint64_t shared_bytes(ptx::Module const& module, std::set<std::uint32_t> const& functions,
                           std::set<std::uint32_t> const& variables) {
  std::uint64_t bytes = 0;
  auto const add = [&](ptx::Variable const& v) {
    if (v.space != ptx::StateSpace::shared || v.size == 0) return;
    std::uint64_t const align = std::max<std::uint64_t>(v.align, 1);
    bytes = (bytes + align - 1) / align * align + v.size;
  };
  for (auto const id : variables) add(module.variables[id]);
  for (auto const id : functions)
    for (auto const& v : module.functions[id].variables) add(v);
  return bytes;
}

// Functions that PTX's ABI defines outside the module.
bool provided(std::string_view name) {
  static std::set<std::string_view> const names{"vprintf", "malloc", "free", "__assertfail"};
  return names.contains(name);
}

}  // namespace

std::vector<std::string> parameter_types(std::string_view signature) {
  auto const open = parameters_at(signature);
  if (open == signature.npos || signature.back() != ')') return {};
  auto const inside = signature.substr(open + 1, signature.size() - open - 2);
  std::vector<std::string> result;
  int depth = 0;
  std::string word;
  for (char const c : inside) {
    if (c == '<' || c == '(' || c == '[') ++depth;
    if (c == '>' || c == ')' || c == ']') --depth;
    if (c == ',' && depth == 0) {
      result.push_back(std::move(word));
      word.clear();
    } else if (!(c == ' ' && word.empty())) {
      word += c;
    }
  }
  if (!word.empty() && word != "void") result.push_back(std::move(word));
  return result;
}

std::vector<KernelInfo> describe_kernels(ptx::Module const& module, std::map<std::string, KernelFacts> const& facts) {
  std::vector<KernelInfo> result;
  for (std::uint32_t id = 0; id < module.functions.size(); ++id) {
    auto const& f = module.functions[id];
    if (!f.entry || !f.has_body) continue;
    KernelInfo kernel;
    kernel.name = f.name;
    auto const found = facts.find(kernel.name);
    KernelFacts const* known = found == facts.end() ? nullptr : &found->second;
    kernel.signature = without_result(demangled(kernel.name));
    kernel.arguments = arguments_of(f, known, kernel.signature);
    kernel.required_group = required_group(f, known);
    if (known) kernel.attributes = known->attributes;
    if (parameters_at(kernel.signature) == std::string::npos) {
      std::vector<std::string> types;
      for (auto const& a : kernel.arguments) types.push_back(a.type_name.empty() ? "?" : a.type_name);
      kernel.signature += fmt::format("({})", fmt::join(types, ", "));
    }
    std::set<std::uint32_t> variables;
    auto const functions = reachable(module, id, variables);
    kernel.shared_bytes = shared_bytes(module, functions, variables);
    for (auto const callee : functions) {
      std::string const name(module.functions[callee].name);
      if (module.functions[callee].has_body || provided(name)) continue;
      kernel.missing.push_back(name);
      kernel.notes.push_back(fmt::format("it calls '{}', which is not defined", demangled(name)));
    }
    result.push_back(std::move(kernel));
  }
  return result;
}

std::string describe(KernelInfo const& kernel) {
  std::vector<std::string> words;
  for (auto const& a : kernel.arguments)
    words.push_back(a.type_name.empty() ? fmt::format("{} bytes {}", a.bytes, a.name)
                                        : fmt::format("{} {}", a.type_name, a.name));
  return fmt::format("{}({})", qualified_name(kernel.signature), fmt::join(words, ", "));
}

KernelInfo const& find_kernel(std::vector<KernelInfo> const& kernels, std::string_view name, std::string const& path) {
  auto const spaceless = [](std::string text) {
    text.erase(std::remove(text.begin(), text.end(), ' '), text.end());
    return text;
  };
  auto const wanted = spaceless(std::string(name));
  using Form = std::string (*)(KernelInfo const&);
  Form const forms[] = {[](KernelInfo const& k) { return k.name; }, [](KernelInfo const& k) { return k.signature; },
                        [](KernelInfo const& k) { return qualified_name(k.signature); },
                        [](KernelInfo const& k) { return plain_name(k.signature); }};
  std::vector<std::string> names, near;
  for (auto const& k : kernels) {
    names.push_back(k.signature == k.name ? k.name : k.signature);
    near.push_back(plain_name(k.signature));
  }
  for (auto const form : forms) {
    std::vector<KernelInfo const*> found;
    for (auto const& k : kernels)
      if (spaceless(form(k)) == wanted) found.push_back(&k);
    if (found.size() == 1) return *found[0];
    if (found.size() > 1) {
      std::vector<std::string> candidates;
      for (auto const* k : found) candidates.push_back(k->signature);
      throw Error(Status::usage, Where{path}, fmt::format("kernel '{}' is ambiguous", name),
                  fmt::format("name one of: {}", fmt::join(candidates, "; ")));
    }
  }
  if (kernels.empty())
    throw Error(Status::usage, Where{path}, fmt::format("no kernel '{}': the file holds no kernel", name),
                "a kernel is a function marked __kernel (OpenCL C), __global__ (CUDA C++) or .entry (PTX)");
  std::string hint = fmt::format("kernels: {}", fmt::join(names, "; "));
  if (auto const nearby = nearest(name, near); !nearby.empty()) hint = did_you_mean(name, near) + "; " + hint;
  throw Error(Status::usage, Where{path}, fmt::format("no kernel '{}'", name), hint);
}

}  // namespace kernelcast::frontend
