#include "kernels/ptx/inline.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <type_traits>
#include <utility>

#include "kernels/ptx/call_parameters.hpp"

namespace kernelcast::ptx {

namespace {

using Kind = Operand::Kind;

constexpr std::size_t max_instructions = 1'000'000;
// A whole function that would be longer than the first keeps its calls of functions that are longer than the second.
constexpr std::size_t max_whole_instructions = 20'000, max_repeated_instructions = 500;
constexpr std::uint32_t unset = ~std::uint32_t{0};

Function const* called(Module const& module, Instruction const& call) {
  auto const index = callee_of(module, call);
  return index ? &module.functions[*index] : nullptr;
}

// Functions that direct calls lead back to.
class Recursion {
 public:
  explicit Recursion(Module const& module) : module_(module) {}
  bool operator()(Function const& f) {
    auto const [known, fresh] = known_.try_emplace(&f, false);
    if (fresh) {
      std::set<Function const*> seen;
      known->second = reaches(f, f, seen);
    }
    return known->second;
  }

 private:
  bool reaches(Function const& from, Function const& goal, std::set<Function const*>& seen) const {
    for (Instruction const& i : from.instructions) {
      if (!i.is_call()) continue;
      Function const* const callee = called(module_, i);
      if (!callee) continue;
      if (callee == &goal || (seen.insert(callee).second && reaches(*callee, goal, seen))) return true;
    }
    return false;
  }
  Module const& module_;
  std::map<Function const*, bool> known_;
};

// How long functions are with all their calls replaced.
class Length {
 public:
  Length(Module const& module, Recursion& recursive) : module_(module), recursive_(recursive) {}
  std::size_t operator()(Function const& f) {
    auto const [known, fresh] = known_.try_emplace(&f, f.instructions.size());
    if (!fresh) return known->second;
    auto length = f.instructions.size();
    for (Instruction const& i : f.instructions) {
      Function const* const callee = i.is_call() ? called(module_, i) : nullptr;
      if (callee && callee->has_body && !recursive_(*callee))
        length = std::min(max_instructions, length + (*this)(*callee));
    }
    return known_[&f] = length;
  }

 private:
  Module const& module_;
  Recursion& recursive_;
  std::map<Function const*, std::size_t> known_;
};

// The operands of a call: (results), callee, (arguments), prototype or targets.
template <class Call>
struct CallParts {
  explicit CallParts(Call& call) {
    for (auto& operand : call.operands) {
      if (operand.kind == Kind::list || operand.kind == Kind::sink)
        (callee ? arguments : results) = operand.kind == Kind::list ? &operand.elements : nullptr;
      else if (!callee)
        callee = &operand;
    }
  }
  using Given = std::conditional_t<std::is_const_v<Call>, Operand const, Operand>;
  using List = std::conditional_t<std::is_const_v<Call>, std::vector<Operand> const, std::vector<Operand>>;
  List *results = nullptr, *arguments = nullptr;
  Given* callee = nullptr;
};
template <class Call>
CallParts(Call&) -> CallParts<Call>;

struct Passed {
  std::vector<Operand> results, arguments;
};
Passed passed(Instruction const& call) {
  CallParts const parts(call);
  Passed result;
  if (parts.results) result.results = *parts.results;
  if (parts.arguments) result.arguments = *parts.arguments;
  return result;
}

Operand operand_of(Kind kind, std::uint32_t id) {
  Operand made;
  made.kind = kind;
  made.id = id;
  made.local = kind == Kind::variable;
  return made;
}

Operand address_of(std::uint32_t variable) {
  Operand made;
  made.kind = Kind::address;
  made.elements = {operand_of(Kind::variable, variable)};
  return made;
}

// The type by which a register of this type is moved.
std::string_view move_type(Type type) {
  return size_bytes(type) == 2   ? "b16"
         : type == Type::f32     ? "f32"
         : type == Type::f64     ? "f64"
         : size_bytes(type) == 8 ? "b64"
                                 : "b32";
}

// Copies the caller, and at each call the callee, into one list of instructions.
class Inliner {
 public:
  Inliner(Module const& module, Function const& caller)
      : module_(module), caller_(caller), recursive_(module), length_(module, recursive_) {}

  std::unique_ptr<Function> run() {
    out_ = std::make_unique<Function>(caller_);
    out_->instructions.clear();
    for (std::uint32_t v = 0; v < caller_.variables.size(); ++v) once_[{&caller_, v}] = v;
    Frame frame;
    frame.of = &caller_;
    for (std::uint32_t v = 0; v < caller_.variables.size(); ++v) frame.variables.push_back(v);
    copy(frame);
    return std::move(out_);
  }

  // Appends the functions that calls may still reach; which they are shows as they are copied.
  Whole run_whole() {
    keeps_calls_ = true;
    keeps_long_ = length_(caller_) > max_whole_instructions;
    Whole whole;
    std::unique_ptr<Function> kernel = run();
    out_ = std::move(kernel);
    whole.owner.assign(out_->variables.size(), 0);
    find_wanted();
    if (!wanted_.empty()) out_->instructions.push_back(end_of(caller_));
    for (std::size_t k = 0; k < wanted_.size(); ++k) {
      whole.callables.push_back(append_callable(wanted_[k]));
      whole.owner.resize(out_->variables.size(), static_cast<std::uint32_t>(k + 1));
      find_wanted();
    }
    whole.function = std::move(*out_);
    return whole;
  }

 private:
  // Where one copy's names lie in the result.
  struct Frame {
    Function const* of = nullptr;
    std::uint32_t registers = 0, labels = 0, prototypes = 0, branch_targets = 0, call_targets = 0;
    std::vector<std::uint32_t> variables, parameters, results;
    std::uint32_t behind = unset;  // label after the copy; unset for the kernel itself
    bool callable = false;         // not at one call's place: its `ret` stays
  };

  static Instruction end_of(Function const& f) {
    Instruction made;
    made.opcode = Op::ret;
    made.at = f.instructions.empty() ? f.at : f.instructions.back().at;
    if (!f.instructions.empty()) made.source = f.instructions.back().source;
    return made;
  }

  void want(std::uint32_t function) {
    if (!module_.functions[function].has_body || module_.functions[function].entry) return;
    if (std::find(wanted_.begin(), wanted_.end(), function) == wanted_.end()) wanted_.push_back(function);
  }
  void find_taken(Operand const& o) {
    if (o.kind == Kind::function) taken_.insert(without_alias(module_, o.id));
    for (Operand const& element : o.elements) find_taken(element);
  }
  // Looks through what has been copied since the last time.
  void find_wanted() {
    for (; scanned_ < out_->instructions.size(); ++scanned_) {
      Instruction const& i = out_->instructions[scanned_];
      if (!i.is_call()) {
        for (Operand const& o : i.operands) find_taken(o);
        continue;
      }
      if (auto const callee = callee_of(module_, i))
        want(*callee);
      else
        indirect_ = true;
    }
    if (!indirect_) return;
    for (Variable const& v : module_.variables)
      for (Initializer const& init : v.initializers) find_taken(init.value);
    for (TargetList const& list : out_->call_targets)
      for (std::uint32_t id : list.ids) taken_.insert(without_alias(module_, id));
    for (std::uint32_t id : taken_) want(id);
  }

  Callable append_callable(std::uint32_t index) {
    Function const& f = module_.functions[index];
    Callable made;
    made.function = index;
    Frame frame = enter(f);
    frame.callable = true;
    for (Parameter const& p : f.parameters) made.parameters.push_back(add_parameter(p));
    for (Parameter const& r : f.results) made.results.push_back(add_parameter(r));
    frame.parameters = made.parameters;
    frame.results = made.results;
    keeps_long_ = keeps_long_ || out_->instructions.size() + length_(f) > max_whole_instructions;
    made.first = static_cast<std::uint32_t>(out_->instructions.size());
    for (std::size_t k = 0; k < f.parameters.size(); ++k) {
      if (!f.parameters[k].in_register) continue;
      Instruction fetch = like(end_of(f), Op::ld, {"param", move_type(f.parameters[k].type)});
      fetch.operands = {operand_of(Kind::reg, f.parameters[k].reg + frame.registers), address_of(made.parameters[k])};
      out_->instructions.push_back(std::move(fetch));
    }
    copy(frame);
    Instruction last = end_of(f);
    leave_results(last, frame);
    out_->instructions.push_back(std::move(last));
    made.last = static_cast<std::uint32_t>(out_->instructions.size());
    return made;
  }

  // Before a callable's `ret`: results that it has in registers.
  void leave_results(Instruction const& ret, Frame const& frame) {
    for (std::size_t k = 0; k < frame.of->results.size(); ++k) {
      Parameter const& result = frame.of->results[k];
      if (!result.in_register) continue;
      Instruction store = like(ret, Op::st, {"param", move_type(result.type)});
      store.guard = ret.guard;
      store.operands = {address_of(frame.results[k]), operand_of(Kind::reg, result.reg + frame.registers)};
      out_->instructions.push_back(std::move(store));
    }
  }

  // A call that remains: registers and constants go through .param variables.
  void keep(Instruction call) {
    std::vector<Parameter> const *parameters = nullptr, *results = nullptr;
    if (Function const* callee = called(module_, call)) {
      parameters = &callee->parameters;
      results = &callee->results;
    }
    for (Operand const& o : call.operands) {
      if (parameters) break;
      if (o.kind == Kind::prototype) {
        parameters = &out_->prototypes[o.id].parameters;
        results = &out_->prototypes[o.id].results;
      } else if (o.kind == Kind::targets && !out_->call_targets[o.id].ids.empty()) {
        Function const& first = module_.functions[out_->call_targets[o.id].ids[0]];
        parameters = &first.parameters;
        results = &first.results;
      }
    }
    Parameter word;
    word.type = Type::b64;
    word.align = word.size = 8;
    auto const formal = [&](std::vector<Parameter> const* list, std::size_t k) -> Parameter const& {
      return list && k < list->size() ? (*list)[k] : word;
    };
    CallParts const given(call);
    std::vector<Instruction> after;
    for (std::size_t k = 0; given.arguments && k < given.arguments->size(); ++k) {
      Operand& argument = (*given.arguments)[k];
      if (argument.kind == Kind::variable && argument.local) continue;
      Parameter const& p = formal(parameters, k);
      std::uint32_t const variable = add_parameter(p);
      Instruction store = like(call, Op::st, {"param", move_type(p.type)});
      store.operands = {address_of(variable), argument};
      out_->instructions.push_back(std::move(store));
      argument = operand_of(Kind::variable, variable);
    }
    for (std::size_t k = 0; given.results && k < given.results->size(); ++k) {
      Operand& result = (*given.results)[k];
      if (result.kind != Kind::reg) continue;
      Parameter const& r = formal(results, k);
      std::uint32_t const variable = add_parameter(r);
      Instruction fetch = like(call, Op::ld, {"param", move_type(r.type)});
      fetch.guard = call.guard;
      fetch.operands = {result, address_of(variable)};
      after.push_back(std::move(fetch));
      result = operand_of(Kind::variable, variable);
    }
    out_->instructions.push_back(std::move(call));
    for (Instruction& i : after) out_->instructions.push_back(std::move(i));
  }

  void copy(Frame const& frame) {
    auto const& instructions = frame.of->instructions;
    std::vector<std::uint32_t> position(instructions.size() + 1);
    for (std::size_t i = 0; i < instructions.size(); ++i) {
      position[i] = static_cast<std::uint32_t>(out_->instructions.size());
      Instruction made = instructions[i];
      rename(made, frame);
      if (made.is_call()) {
        if (replace(made)) continue;
        if (keeps_calls_) {
          keep(std::move(made));
          continue;
        }
      }
      if (frame.callable && made.is(Op::ret)) leave_results(made, frame);
      out_->instructions.push_back(std::move(made));
    }
    position.back() = static_cast<std::uint32_t>(out_->instructions.size());
    for (std::size_t l = 0; l < frame.of->labels.size(); ++l)
      out_->labels[frame.labels + l].instruction = position[frame.of->labels[l].instruction];
  }

  void rename(Instruction& i, Frame const& frame) const {
    if (i.guard.present) i.guard.reg += frame.registers;
    for (Operand& operand : i.operands) rename(operand, frame, i.is_call());
    if (frame.behind == unset) return;
    if (i.is(Op::ret) && !frame.callable) {
      i.opcode = Op::bra;
      i.modifiers.clear();
      i.operands = {operand_of(Kind::label, frame.behind)};
    }
    // A function reads its own parameters by an address: they are local memory then.
    if (i.accesses_parameter())
      for (Operand const& o : i.operands)
        if (o.kind == Kind::address && !o.elements.empty() && o.elements[0].kind == Kind::reg) i.modifiers[0] = "local";
  }

  void rename(Operand& o, Frame const& frame, bool call) const {
    switch (o.kind) {
      case Kind::reg:
        o.id += frame.registers;
        break;
      case Kind::label:
        o.id += frame.labels;
        break;
      case Kind::prototype:
        o.id += frame.prototypes;
        break;
      case Kind::targets:
        o.id += call ? frame.call_targets : frame.branch_targets;
        break;
      case Kind::variable:
        if (o.local) o.id = frame.variables[o.id];
        break;
      case Kind::parameter:
        if (frame.behind == unset) break;
        o.kind = Kind::variable;
        o.local = true;
        o.id = (o.result ? frame.results : frame.parameters)[o.id];
        o.result = false;
        break;
      default:
        break;
    }
    for (Operand& element : o.elements) rename(element, frame, call);
  }

  bool replace(Instruction const& call) {
    Function const* const callee = called(module_, call);
    if (!callee || !callee->has_body || recursive_(*callee)) return false;
    if (out_->instructions.size() + callee->instructions.size() > max_instructions) return false;
    if (keeps_long_ && length_(*callee) > max_repeated_instructions) return false;
    auto const given = passed(call);
    if (given.arguments.size() != callee->parameters.size() || given.results.size() != callee->results.size())
      return false;
    for (Operand const& result : given.results)
      if (result.kind != Kind::variable && result.kind != Kind::reg && result.kind != Kind::sink) return false;

    Frame frame = enter(*callee);
    // The call itself: one instruction that goes to the copy.
    std::uint32_t const entry = add_label();
    Instruction jump = like(call, Op::bra, {});
    jump.guard = call.guard;
    jump.guard.negated = call.guard.present && !call.guard.negated;
    jump.operands = {operand_of(Kind::label, call.guard.present ? frame.behind : entry)};
    out_->instructions.push_back(std::move(jump));
    for (std::size_t k = 0; k < given.arguments.size(); ++k)
      frame.parameters.push_back(hand_over(call, callee->parameters[k], given.arguments[k], frame));
    for (std::size_t k = 0; k < given.results.size(); ++k) {
      Operand const& to = given.results[k];
      frame.results.push_back(to.kind == Kind::variable && to.local ? to.id : add_parameter(callee->results[k]));
    }
    out_->labels[entry].instruction = static_cast<std::uint32_t>(out_->instructions.size());
    copy(frame);
    out_->labels[frame.behind].instruction = static_cast<std::uint32_t>(out_->instructions.size());
    take_back(call, *callee, given.results, frame);
    return true;
  }

  Frame enter(Function const& callee) {
    Frame frame;
    frame.of = &callee;
    frame.registers = append(out_->registers, callee.registers);
    frame.labels = append(out_->labels, callee.labels);
    frame.prototypes = append(out_->prototypes, callee.prototypes);
    frame.call_targets = append(out_->call_targets, callee.call_targets);
    frame.branch_targets = append(out_->branch_targets, callee.branch_targets);
    for (std::size_t t = frame.branch_targets; t < out_->branch_targets.size(); ++t)
      for (std::uint32_t& label : out_->branch_targets[t].ids) label += frame.labels;
    for (std::uint32_t v = 0; v < callee.variables.size(); ++v) {
      auto const next = static_cast<std::uint32_t>(out_->variables.size());
      StateSpace const space = callee.variables[v].space;
      bool const lasting = space == StateSpace::shared || space == StateSpace::global || space == StateSpace::constant;
      auto const [known, fresh] = once_.try_emplace({&callee, v}, next);
      if (fresh || !lasting) {
        frame.variables.push_back(next);
        out_->variables.push_back(callee.variables[v]);
      } else {
        frame.variables.push_back(known->second);
      }
    }
    for (std::uint32_t const v : frame.variables)
      for (Initializer& init : out_->variables[v].initializers)
        if (init.value.kind == Kind::variable && init.value.local && init.value.id < frame.variables.size())
          init.value.id = frame.variables[init.value.id];
    frame.behind = add_label();
    return frame;
  }

  // The variable through which the copy reads this argument; unset where it is a register.
  std::uint32_t hand_over(Instruction const& call, Parameter const& parameter, Operand const& argument,
                          Frame const& frame) {
    if (parameter.in_register) {
      Instruction move = like(call, Op::mov, {move_type(parameter.type)});
      move.operands = {operand_of(Kind::reg, parameter.reg + frame.registers), argument};
      out_->instructions.push_back(std::move(move));
      return unset;
    }
    if (argument.kind == Kind::variable && argument.local) return argument.id;
    std::uint32_t const variable = add_parameter(parameter);
    Instruction store = like(call, Op::st, {"param", move_type(parameter.type)});
    store.operands = {address_of(variable), argument};
    out_->instructions.push_back(std::move(store));
    return variable;
  }

  // Results that the caller expects in registers, or that the callee leaves in registers.
  void take_back(Instruction const& call, Function const& callee, std::vector<Operand> const& results,
                 Frame const& frame) {
    for (std::size_t k = 0; k < results.size(); ++k) {
      if (results[k].kind != Kind::reg) continue;
      Parameter const& result = callee.results[k];
      Instruction fetch = result.in_register ? like(call, Op::mov, {move_type(result.type)})
                                             : like(call, Op::ld, {"param", move_type(result.type)});
      // Lanes that skip a guarded call meet it here again, and keep their value.
      fetch.guard = call.guard;
      fetch.operands = {results[k], result.in_register ? operand_of(Kind::reg, result.reg + frame.registers)
                                                       : address_of(frame.results[k])};
      out_->instructions.push_back(std::move(fetch));
    }
  }

  static Instruction like(Instruction const& call, Op opcode, std::vector<std::string_view> modifiers) {
    Instruction made;
    made.opcode = opcode;
    made.modifiers = std::move(modifiers);
    made.at = call.at;
    made.source = call.source;
    return made;
  }
  template <class T>
  static std::uint32_t append(std::vector<T>& to, std::vector<T> const& from) {
    auto const first = static_cast<std::uint32_t>(to.size());
    to.insert(to.end(), from.begin(), from.end());
    return first;
  }
  std::uint32_t add_label() {
    out_->labels.push_back({"behind_a_call", 0});
    return static_cast<std::uint32_t>(out_->labels.size() - 1);
  }
  std::uint32_t add_parameter(Parameter const& parameter) {
    Variable variable;
    variable.name = parameter.name;
    variable.space = StateSpace::param;
    variable.type = parameter.type;
    variable.align = parameter.align;
    variable.size = parameter.size;
    out_->variables.push_back(std::move(variable));
    return static_cast<std::uint32_t>(out_->variables.size() - 1);
  }

  Module const& module_;
  Function const& caller_;
  std::unique_ptr<Function> out_;
  Recursion recursive_;
  Length length_;
  bool keeps_calls_ = false, keeps_long_ = false;
  // Functions to append, in this order; those whose address is somewhere; how far calls have been looked for.
  std::vector<std::uint32_t> wanted_;
  std::set<std::uint32_t> taken_;
  std::size_t scanned_ = 0;
  bool indirect_ = false;
  std::map<std::pair<Function const*, std::uint32_t>, std::uint32_t> once_;
};

}  // namespace

std::uint32_t without_alias(Module const& module, std::uint32_t function) {
  for (std::size_t i = 0; module.functions[function].alias_of && i < module.functions.size(); ++i)
    function = *module.functions[function].alias_of;
  return function;
}

std::optional<std::uint32_t> callee_of(Module const& module, Instruction const& call) {
  CallParts const parts(call);
  if (!parts.callee || parts.callee->kind != Kind::function) return std::nullopt;
  return without_alias(module, parts.callee->id);
}

std::unique_ptr<Function> inline_calls(Module const& module, Function const& caller) {
  bool const any = std::any_of(caller.instructions.begin(), caller.instructions.end(), [&](Instruction const& i) {
    if (!i.is_call()) return false;
    Function const* const callee = called(module, i);
    return callee && callee->has_body;
  });
  if (!any) return nullptr;
  auto made = Inliner(module, caller).run();
  settle_parameters(*made);
  return made;
}

std::unique_ptr<Whole> whole_function(Module const& module, Function const& kernel) {
  bool const any = std::any_of(kernel.instructions.begin(), kernel.instructions.end(),
                               [](Instruction const& i) { return i.is_call(); });
  if (!any) return nullptr;
  auto made = std::make_unique<Whole>(Inliner(module, kernel).run_whole());
  settle_parameters(made->function, made->callables);
  return made;
}

}  // namespace kernelcast::ptx
