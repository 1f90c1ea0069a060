// The seqprof pass as a plug-in of clang-19: at the start of the optimiser's pipeline it brings the code into a
// canonical form (values in registers, calls inlined, loops rotated), copies the kernel and what it calls, and
// instruments the copies; the rest of the pipeline then optimises the measuring code with the program's.
//
// It is told what to do by the environment, since clang reads -mllvm options before it loads a plug-in:
//   KERNELCAST_SEQPROF_KERNEL    the function to profile
//   KERNELCAST_SEQPROF_NAMES     where to write the names of all functions when there is no such kernel
//   KERNELCAST_SEQPROF_SEPARATE  1: one file of several; a file without the kernel is no error
//   KERNELCAST_SEQPROF_KEEP      where to write the canonical code, for reference profilers
#include <cstdlib>

#include <llvm/IR/Module.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Passes/PassPlugin.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Transforms/Utils/ModuleUtils.h>

#include "llvm/seqprof/emit.hpp"
#include "llvm/seqprof/functions.hpp"
#include "llvm/seqprof/instrument.hpp"

namespace kernelcast::llvm_passes {

using namespace llvm;

namespace {

constexpr char const* tidy_control_flow =
    "simplifycfg<no-speculate-blocks;no-hoist-common-insts;no-sink-common-insts;no-switch-to-lookup;"
    "bonus-inst-threshold=0>";

std::string environment(char const* name) {
  auto const* const value = std::getenv(name);
  return value ? value : "";
}

// Branches stay branches: what is executed must not depend on what a processor finds cheap.
std::string canonical_form() {
  auto const tidy = std::string(tidy_control_flow);
  return "function(sroa," + tidy + "),always-inline,function(sroa,early-cse," + tidy +
         ",instcombine<no-verify-fixpoint>," + tidy + ",loop-simplify,lcssa,loop(loop-rotate,indvars)," + tidy +
         ",loop-simplify,lcssa)";
}

void write_names(Module const& module) {
  auto const path = environment("KERNELCAST_SEQPROF_NAMES");
  if (path.empty()) return;
  std::error_code error;
  raw_fd_ostream out(path, error);
  for (auto const& function : module)
    if (!error && !function.isDeclarationForLinker()) out << function.getName() << '\n';
}

class Seqprof : public PassInfoMixin<Seqprof> {
 public:
  explicit Seqprof(PassBuilder& builder) : builder_(&builder) {}
  static bool isRequired() { return true; }

  PreservedAnalyses run(Module& module, ModuleAnalysisManager& analyses) {
    auto const name = environment("KERNELCAST_SEQPROF_KERNEL");
    auto const kernels = functions_named(module, name);
    if (kernels.size() != 1) {
      if (!kernels.empty() || environment("KERNELCAST_SEQPROF_SEPARATE") != "1") {
        write_names(module);
        module.getContext().emitError(kernels.empty() ? "seqprof: no function '" + name + "'"
                                                      : "seqprof: several functions '" + name + "'");
      }
      return PreservedAnalyses::all();
    }
    auto& kernel = *kernels.front();
    if (!kernel.getSubprogram()) {
      module.getContext().emitError("seqprof: no debug information for '" + name + "'");
      return PreservedAnalyses::all();
    }
    if (kernel.isVarArg()) {
      module.getContext().emitError("seqprof: '" + name + "' takes a variable number of arguments");
      return PreservedAnalyses::all();
    }
    mark_for_inlining(reachable_from(kernel), kernel);
    ModulePassManager canonical;
    cantFail(builder_->parsePassPipeline(canonical, canonical_form()));
    canonical.run(module, analyses);
    keep(module);

    auto const functions = reachable_from(kernel);
    analyses.invalidate(module, PreservedAnalyses::none());
    auto& of_functions = analyses.getResult<FunctionAnalysisManagerModuleProxy>(module).getManager();
    VectorizableLoops vectorizable;
    for (auto const& [original, scratch] : copy_functions(functions)) {
      find_vectorizable(*scratch, *builder_, of_functions, vectorizable);
      scratch->eraseFromParent();
    }
    auto const copies = copy_functions(functions);
    std::vector<Constant*> descriptors;
    for (auto const& [original, copy] : copies)
      descriptors.push_back(instrument(*copy, *original, copies, of_functions, vectorizable));
    register_all(module, descriptors, copies);
    wrap(kernel, *copies.find(&kernel)->second);
    return PreservedAnalyses::none();
  }

 private:
  static void keep(Module const& module) {
    auto const path = environment("KERNELCAST_SEQPROF_KEEP");
    if (path.empty()) return;
    std::error_code error;
    raw_fd_ostream out(path, error);
    if (!error) module.print(out, nullptr);
  }

  static void register_all(Module& module, std::vector<Constant*> const& descriptors, Copies const& copies) {
    Emitter const emitter(module);
    auto* const function = Function::Create(FunctionType::get(emitter.none, false), GlobalValue::InternalLinkage,
                                            "seqprof.register", module);
    IRBuilder<> at(BasicBlock::Create(module.getContext(), "entry", function));
    for (auto* const descriptor : descriptors)
      at.CreateCall(emitter.runtime("kernelcast_seq_register", emitter.none, {emitter.pointer}), {descriptor});
    for (auto const& [original, copy] : copies)
      if (original->hasAddressTaken())
        at.CreateCall(emitter.runtime("kernelcast_seq_copy_of", emitter.none, {emitter.pointer, emitter.pointer}),
                      {original, copy});
    at.CreateRetVoid();
    appendToGlobalCtors(module, function, 0);
  }

  PassBuilder* builder_;
};

}  // namespace

}  // namespace kernelcast::llvm_passes

extern "C" LLVM_ATTRIBUTE_WEAK __attribute__((visibility("default"))) llvm::PassPluginLibraryInfo
llvmGetPassPluginInfo() {
  return {
      LLVM_PLUGIN_API_VERSION, "kernelcast-seqprof", "1", [](llvm::PassBuilder& builder) {
        builder.registerPipelineStartEPCallback([&builder](llvm::ModulePassManager& passes, llvm::OptimizationLevel) {
          passes.addPass(kernelcast::llvm_passes::Seqprof(builder));
        });
      }};
}
