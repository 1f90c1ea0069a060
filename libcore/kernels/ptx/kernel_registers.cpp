#include "kernels/ptx/kernel_registers.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "kernels/ptx/inline.hpp"
#include "kernels/ptx/liveness.hpp"

namespace kernelcast::ptx {

namespace {

bool calls_by_address(Module const& module, Function const& function) {
  return std::any_of(function.instructions.begin(), function.instructions.end(),
                     [&](Instruction const& i) { return i.is_call() && !callee_of(module, i); });
}

bool calls_a_body(Module const& module, Function const& function) {
  return std::any_of(function.instructions.begin(), function.instructions.end(), [&](Instruction const& i) {
    auto const callee = i.is_call() ? callee_of(module, i) : std::nullopt;
    return callee && module.functions[*callee].has_body;
  });
}

// What the functions may reach: what they call or name, in operands and in variables that hold addresses.
class Reach {
 public:
  Reach(Module const& module, Function const& kernel) : module_(module) {
    for (auto const& variable : module.variables) add(variable);
    add(kernel);
    while (!waiting_.empty()) {
      auto const next = waiting_.back();
      waiting_.pop_back();
      add(module.functions[next]);
    }
  }
  std::set<std::uint32_t> functions() && { return std::move(found_); }

 private:
  void add(std::uint32_t function) {
    function = without_alias(module_, function);
    if (module_.functions[function].has_body && found_.insert(function).second) waiting_.push_back(function);
  }
  void add(Operand const& operand) {
    if (operand.kind == Operand::Kind::function) add(operand.id);
    for (auto const& element : operand.elements) add(element);
  }
  void add(Variable const& variable) {
    for (auto const& initializer : variable.initializers) add(initializer.value);
  }
  void add(Function const& function) {
    for (auto const& variable : function.variables) add(variable);
    for (auto const& list : function.call_targets)
      for (auto const id : list.ids) add(id);
    for (auto const& instruction : function.instructions)
      for (auto const& operand : instruction.operands) add(operand);
  }

  Module const& module_;
  std::set<std::uint32_t> found_;
  std::vector<std::uint32_t> waiting_;
};

}  // namespace

std::uint32_t kernel_registers(Module const& module, Function const& kernel) {
  auto const reached = Reach(module, kernel).functions();
  bool const by_address = calls_by_address(module, kernel) || std::ranges::any_of(reached, [&](auto const function) {
                            return calls_by_address(module, module.functions[function]);
                          });
  if (!by_address) {
    auto const whole = inline_calls(module, kernel);
    if (!whole || !calls_a_body(module, *whole)) return registers_needed(whole ? *whole : kernel).registers;
  }
  std::uint32_t most = registers_needed(kernel).registers;
  for (auto const function : reached) most = std::max(most, registers_needed(module.functions[function]).registers);
  return most;
}

}  // namespace kernelcast::ptx
