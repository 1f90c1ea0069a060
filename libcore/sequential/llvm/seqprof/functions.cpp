#include "sequential/llvm/seqprof/functions.hpp"

#include <cstdlib>
#include <memory>
#include <set>

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/SetVector.h>
#include <llvm/Demangle/Demangle.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/Transforms/Utils/Cloning.h>

namespace kernelcast::llvm_passes {

using namespace llvm;

namespace {

// What is called becomes part of its caller up to these sizes, counted with all that became part of it before.
constexpr std::size_t max_instructions_inlined = 5000, max_instructions_of_caller = 30000;

// "space::grid::update" of "int space::grid<double>::update<3>(double*)": arguments of templates are left out. As the
// source has it where that is C or Fortran.
std::string qualified_name(Function const& function) {
  if (auto const* const program = function.getSubprogram())
    if (program->getLinkageName() == (program->getName() + "_").str()) return program->getName().str();
  ItaniumPartialDemangler parts;
  auto symbol = function.getName().str();
  if (parts.partialDemangle(symbol.c_str()) || !parts.isFunction()) return symbol;
  auto const text = [&](char* (ItaniumPartialDemangler::*get)(char*, size_t*) const) {
    std::unique_ptr<char, decltype(&std::free)> const made((parts.*get)(nullptr, nullptr), std::free);
    return std::string(made ? made.get() : "");
  };
  std::string plain;
  unsigned inside = 0;
  for (char const c : text(&ItaniumPartialDemangler::getFunctionDeclContextName)) {
    if (c == '>' && inside > 0) --inside;
    if (inside == 0 && c != '<' && c != '>') plain += c;
    if (c == '<') ++inside;
  }
  auto const own = text(&ItaniumPartialDemangler::getFunctionBaseName);
  return plain.empty() ? own : plain + "::" + own;
}
bool is_called(Function const& function, StringRef name) {
  auto const own = qualified_name(function);
  StringRef rest = own;
  return own == name || (rest.consume_back(name) && rest.ends_with("::"));
}

SetVector<Function*> called_by(Function& function) {
  SetVector<Function*> callees;
  for (auto& i : instructions(function))
    if (auto* const call = dyn_cast<CallBase>(&i))
      if (auto* const callee = call->getCalledFunction(); callee && !callee->isDeclaration()) callees.insert(callee);
  return callees;
}

// Decides call by call what is inlined, callees first.
class Inlining {
 public:
  explicit Inlining(Function const& kernel) : kernel_(&kernel) {}

  // Instructions of the function once its calls are inlined.
  std::size_t size(Function& function) {
    if (auto const known = size_.find(&function); known != size_.end()) return known->second;
    auto total = size_[&function] = function.getInstructionCount();
    for (auto& i : instructions(function)) {
      auto* const call = dyn_cast<CallBase>(&i);
      auto* const callee = call ? call->getCalledFunction() : nullptr;
      if (!callee || callee->isDeclaration() || !may_be_inlined(*callee)) continue;
      auto const more = size(*callee);
      bool const small = more <= max_instructions_inlined && total + more <= max_instructions_of_caller;
      if (small && !call->isNoInline()) call->addFnAttr(Attribute::AlwaysInline), total += more;
    }
    return size_[&function] = total;
  }

 private:
  bool may_be_inlined(Function& function) {
    return &function != kernel_ && !function.isVarArg() && !function.hasFnAttribute(Attribute::NoInline) &&
           !function.hasFnAttribute(Attribute::OptimizeNone) && !calls_itself(function);
  }
  bool calls_itself(Function& function) {
    if (auto const known = recursive_.find(&function); known != recursive_.end()) return known->second;
    bool found = false;
    SetVector<Function*> seen;
    seen.insert(&function);
    for (std::size_t n = 0; n < seen.size() && !found; ++n)
      for (auto* const callee : callees(*seen[n])) found |= !seen.insert(callee) && callee == &function;
    return recursive_[&function] = found;
  }
  SetVector<Function*> const& callees(Function& function) {
    auto& known = callees_[&function];
    if (!known) known = std::make_unique<SetVector<Function*>>(called_by(function));
    return *known;
  }

  Function const* kernel_;
  DenseMap<Function*, std::size_t> size_;
  DenseMap<Function*, bool> recursive_;
  DenseMap<Function*, std::unique_ptr<SetVector<Function*>>> callees_;
};

}  // namespace

std::vector<Function*> functions_named(Module& module, StringRef name) {
  std::vector<Function*> found;
  if (auto* const exact = module.getFunction(name); exact && !exact->isDeclaration()) return {exact};
  for (auto& function : module)
    if (!function.isDeclaration() && is_called(function, name)) found.push_back(&function);
  return found;
}

std::vector<std::string> names_of_functions(Module const& module) {
  std::set<std::string> names;
  for (auto const& function : module)
    if (!function.isDeclarationForLinker() && function.getSubprogram()) names.insert(qualified_name(function));
  return {names.begin(), names.end()};
}

bool is_declared(Module const& module, StringRef name) {
  return any_of(module, [&](auto const& function) {
    return function.isDeclaration() && (function.getName() == name || is_called(function, name));
  });
}

std::vector<Function*> reachable_from(Function& kernel) {
  SetVector<Function*> reached;
  reached.insert(&kernel);
  for (auto& function : *kernel.getParent())
    if (!function.isDeclaration() && function.hasAddressTaken()) reached.insert(&function);
  for (std::size_t i = 0; i < reached.size(); ++i)
    for (auto* const callee : called_by(*reached[i])) reached.insert(callee);
  return {reached.begin(), reached.end()};
}

void expand_computed_branches(Module& module) {
  for (auto& function : module) {
    SmallVector<IndirectBrInst*, 4> branches;
    for (auto& block : function)
      if (auto* const branch = dyn_cast<IndirectBrInst>(block.getTerminator())) branches.push_back(branch);
    if (branches.empty()) continue;
    auto* const word = Type::getInt64Ty(module.getContext());
    // Addresses become numbers from 1.
    MapVector<BasicBlock*, ConstantInt*> number_of;
    for (auto& block : function)
      if (auto* const address = BlockAddress::lookup(&block)) {
        auto* const number = ConstantInt::get(word, number_of.size() + 1);
        number_of[&block] = number;
        address->replaceAllUsesWith(ConstantExpr::getIntToPtr(number, address->getType()));
      }
    for (auto* const branch : branches) {
      IRBuilder<> at(branch);
      auto* const nowhere = BasicBlock::Create(module.getContext(), "nowhere", &function);
      new UnreachableInst(module.getContext(), nowhere);
      auto* const choice = at.CreateSwitch(at.CreatePtrToInt(branch->getAddress(), word), nowhere);
      choice->setDebugLoc(branch->getDebugLoc());
      SmallPtrSet<BasicBlock*, 8> done;
      for (auto* const target : branch->successors()) {
        auto const known = number_of.find(target);
        if (known != number_of.end() && done.insert(target).second)
          choice->addCase(known->second, target);
        else
          target->removePredecessor(branch->getParent(), true);
      }
      branch->eraseFromParent();
    }
  }
}

void mark_for_inlining(std::vector<Function*> const& functions, Function& kernel) {
  Inlining inlining(kernel);
  for (auto* const function : functions) inlining.size(*function);
  kernel.removeFnAttr(Attribute::AlwaysInline);
  kernel.addFnAttr(Attribute::NoInline);
}

Copies copy_functions(std::vector<Function*> const& functions) {
  Copies copies;
  for (auto* const function : functions) {
    ValueToValueMapTy values;
    auto* const copy = CloneFunction(function, values);
    copy->setName(function->getName() + ".seqprof");
    copy->setLinkage(GlobalValue::InternalLinkage);
    copy->setVisibility(GlobalValue::DefaultVisibility);
    copy->setComdat(nullptr);
    copy->removeFnAttr(Attribute::AlwaysInline);
    copy->addFnAttr(Attribute::NoInline);
    // It writes to the profile, whatever the original does.
    copy->removeFnAttr(Attribute::Memory);
    copies[function] = copy;
  }
  return copies;
}

void wrap(Function& kernel, StringRef name, Function& copy, std::uint64_t mode) {
  auto& module = *kernel.getParent();
  auto& context = module.getContext();
  auto const linkage = kernel.getLinkage();
  auto* const comdat = kernel.getComdat();
  kernel.deleteBody();
  kernel.setLinkage(linkage);
  kernel.setComdat(comdat);
  kernel.setSubprogram(nullptr);
  kernel.removeFnAttr(Attribute::Memory);
  IRBuilder<> at(BasicBlock::Create(context, "entry", &kernel));
  auto* const nothing = FunctionType::get(at.getVoidTy(), false);
  auto* const named = FunctionType::get(at.getVoidTy(), {at.getPtrTy(), at.getInt64Ty()}, false);
  at.CreateCall(module.getOrInsertFunction("kernelcast_seq_kernel_enter", named),
                {at.CreateGlobalString(name), at.getInt64(mode)});
  SmallVector<Value*, 8> arguments;
  for (auto& argument : kernel.args()) arguments.push_back(&argument);
  auto const leave = module.getOrInsertFunction("kernelcast_seq_kernel_exit", nothing);
  auto* const personality = module.getFunction("__gxx_personality_v0");
  CallBase* result = nullptr;
  if (copy.doesNotThrow() || !personality) {
    result = at.CreateCall(&copy, arguments);
  } else {
    auto* const done = BasicBlock::Create(context, "done", &kernel);
    auto* const thrown = BasicBlock::Create(context, "thrown", &kernel);
    result = at.CreateInvoke(&copy, done, thrown, arguments);
    kernel.setPersonalityFn(personality);
    at.SetInsertPoint(thrown);
    auto* const pad = at.CreateLandingPad(StructType::get(at.getPtrTy(), at.getInt32Ty()), 0);
    pad->setCleanup(true);
    at.CreateCall(leave);
    at.CreateResume(pad);
    at.SetInsertPoint(done);
  }
  result->setCallingConv(copy.getCallingConv());
  result->setAttributes(copy.getAttributes());
  at.CreateCall(leave);
  if (kernel.getReturnType()->isVoidTy())
    at.CreateRetVoid();
  else
    at.CreateRet(result);
}

}  // namespace kernelcast::llvm_passes
