// The flux pass as a plug-in of clang-19: a CUDA program's host code registers its kernels with flux-count's run-time
// and launches them through it. For programs that cannot be attached to, because they hold the static CUDA runtime.
//
// Method: in host modules every use of a function that registers or launches kernels becomes one of the function of the
// same name with the prefix kernelcast_flux_, which replaces the fat binary's PTX by its instrumented form as it is
// registered (runtimes/attach/count). A constructor that runs before the registration hands the run-time the addresses
// of the CUDA functions that this program was linked with (kernels/cuda/entry_points.def). Device code is left alone:
// it is instrumented as PTX.
#include <llvm/IR/Constants.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Passes/PassPlugin.h>
#include <llvm/Transforms/Utils/ModuleUtils.h>

namespace kernelcast::llvm_passes {

using namespace llvm;

namespace {

constexpr char const* prefix = "kernelcast_flux_";

constexpr char const* replaced_functions[] = {
#define KERNELCAST_REGISTERED(name) #name,
#define KERNELCAST_LAUNCHED(name, stream) #name,
#define KERNELCAST_LAUNCHED_BY(name, stream) #name,
#define KERNELCAST_IN_GRAPH(name) #name,
#include "kernels/cuda/entry_points.def"
};

constexpr char const* called_functions[] = {
#define KERNELCAST_CALLED(name, parameters, users) #name,
#include "kernels/cuda/entry_points.def"
};

constexpr int before_registration = 101;  // of constructors; clang's own have 65535

class Flux : public PassInfoMixin<Flux> {
 public:
  static bool isRequired() { return true; }

  PreservedAnalyses run(Module& module, ModuleAnalysisManager&) {
    if (module.getTargetTriple().find("nvptx") != std::string::npos) return PreservedAnalyses::all();
    bool changed = false;
    for (auto const* const name : replaced_functions) changed |= redirect(module, name);
    if (!changed) return PreservedAnalyses::all();
    hand_over(module);
    return PreservedAnalyses::none();
  }

 private:
  static bool redirect(Module& module, char const* name) {
    Function* const original = module.getFunction(name);
    if (!original || !original->isDeclaration()) return false;
    auto ours =
        module.getOrInsertFunction(prefix + std::string(name), original->getFunctionType(), original->getAttributes());
    original->replaceAllUsesWith(ours.getCallee());
    return true;
  }

  // kernelcast_flux_give(name, address) for all that the run-time calls. Weak: what the program's runtime lacks is
  // null.
  static void hand_over(Module& module) {
    auto& context = module.getContext();
    auto* const pointer = PointerType::getUnqual(context);
    auto* const nothing = Type::getVoidTy(context);
    auto* const constructor = Function::Create(FunctionType::get(nothing, false), GlobalValue::InternalLinkage,
                                               "kernelcast_flux_hand_over", module);
    IRBuilder<> builder(BasicBlock::Create(context, "", constructor));
    auto give = module.getOrInsertFunction(std::string(prefix) + "give", nothing, pointer, pointer);
    auto const add = [&](char const* name, Value* function) {
      builder.CreateCall(give, {builder.CreateGlobalString(name), function});
    };
    for (auto const* const name : replaced_functions)
      if (auto* const function = module.getFunction(name)) add(name, function);
    auto* const type =
        FunctionType::get(Type::getInt32Ty(context), true);  // whatever it takes: only its address counts
    for (auto const* const name : called_functions) add(name, module.getOrInsertFunction(name, type).getCallee());
    builder.CreateRetVoid();
    appendToGlobalCtors(module, constructor, before_registration);
  }
};

}  // namespace
}  // namespace kernelcast::llvm_passes

extern "C" __attribute__((visibility("default"))) ::llvm::PassPluginLibraryInfo llvmGetPassPluginInfo() {
  return {LLVM_PLUGIN_API_VERSION, "kernelcast-flux", "1", [](::llvm::PassBuilder& builder) {
            builder.registerPipelineStartEPCallback([](::llvm::ModulePassManager& passes, ::llvm::OptimizationLevel) {
              passes.addPass(kernelcast::llvm_passes::Flux());
            });
          }};
}
