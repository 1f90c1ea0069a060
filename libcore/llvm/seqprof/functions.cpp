#include "llvm/seqprof/functions.hpp"

#include <llvm/ADT/SetVector.h>
#include <llvm/Demangle/Demangle.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/Transforms/Utils/Cloning.h>

namespace kernelcast::llvm_passes {

using namespace llvm;

namespace {

constexpr unsigned most_instructions_inlined = 5000;

// "update" of "grid::update(double*, int)"; as the source has it where that is Fortran.
std::string plain_name(Function const& function) {
  if (auto const* const program = function.getSubprogram())
    if (program->getLinkageName() == (program->getName() + "_").str()) return program->getName().str();
  auto name = demangle(function.getName().str());
  if (auto const open = name.find('('); open != std::string::npos) name.resize(open);
  if (auto const colon = name.rfind("::"); colon != std::string::npos) name.erase(0, colon + 2);
  return name;
}

SetVector<Function*> called_by(Function& function) {
  SetVector<Function*> callees;
  for (auto& i : instructions(function))
    if (auto* const call = dyn_cast<CallBase>(&i))
      if (auto* const callee = call->getCalledFunction(); callee && !callee->isDeclaration()) callees.insert(callee);
  return callees;
}

bool calls_itself(Function& function) {
  SetVector<Function*> seen;
  SmallVector<Function*, 16> todo{&function};
  while (!todo.empty())
    for (auto* const callee : called_by(*todo.pop_back_val())) {
      if (callee == &function) return true;
      if (seen.insert(callee)) todo.push_back(callee);
    }
  return false;
}

}  // namespace

std::vector<Function*> functions_named(Module& module, StringRef name) {
  std::vector<Function*> found;
  if (auto* const exact = module.getFunction(name); exact && !exact->isDeclaration()) return {exact};
  std::string const wanted = name.str();
  for (auto& function : module)
    if (!function.isDeclaration() && plain_name(function) == wanted) found.push_back(&function);
  return found;
}

bool is_declared(Module const& module, StringRef name) {
  return any_of(module, [&](auto const& function) {
    return function.isDeclaration() && (function.getName() == name || plain_name(function) == name);
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

void mark_for_inlining(std::vector<Function*> const& functions, Function& kernel) {
  for (auto* const function : functions) {
    if (function == &kernel || function->isVarArg() || function->hasFnAttribute(Attribute::NoInline) ||
        function->hasFnAttribute(Attribute::OptimizeNone) ||
        function->getInstructionCount() > most_instructions_inlined || calls_itself(*function))
      continue;
    function->addFnAttr(Attribute::AlwaysInline);
  }
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
