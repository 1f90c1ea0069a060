// The seqprof pass as a plug-in of clang-19: at the start of the optimiser's pipeline it brings the code into a
// canonical form (values in registers, calls inlined, loops rotated), copies the kernel and what it calls, and
// instruments the copies; the rest of the pipeline then optimises the measuring code with the program's.
//
// Its settings come from the environment, since clang reads -mllvm options before it loads a plug-in:
//   KERNELCAST_SEQPROF_KERNEL    the function to profile
//   KERNELCAST_SEQPROF_REGION    the region to profile instead
//   KERNELCAST_SEQPROF_MODE      words: all (dependences), invocations
//   KERNELCAST_SEQPROF_NAMES     where to write the names of all functions or regions when there is no such one
//   KERNELCAST_SEQPROF_WITHOUT   which programs without the kernel stay as they are: all, or declared (those that have
//                                its declaration: it lies in another library); else none
//   KERNELCAST_SEQPROF_KEEP      where to write the canonical code, for reference profilers
#include <cstdlib>

#include <llvm/IR/Module.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Passes/PassPlugin.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Transforms/Utils/ModuleUtils.h>

#include "base/process/variables.hpp"
#include "sequential/llvm/seqprof/emit.hpp"
#include "sequential/llvm/seqprof/functions.hpp"
#include "sequential/llvm/seqprof/instrument.hpp"
#include "sequential/llvm/seqprof/region.hpp"

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

void write_names(std::vector<std::string> const& names) {
  auto const path = environment(variables::seqprof_names);
  if (path.empty()) return;
  std::error_code error;
  raw_fd_ostream out(path, error);
  for (auto const& name : names)
    if (!error) out << name << '\n';
}

class Seqprof : public PassInfoMixin<Seqprof> {
 public:
  explicit Seqprof(PassBuilder& builder) : builder_(&builder) {}
  static bool isRequired() { return true; }

  PreservedAnalyses run(Module& module, ModuleAnalysisManager& analyses) {
    auto const region = environment(variables::seqprof_region);
    auto const holder = region.empty() ? kernel_of(module) : holder_of(module, region);
    if (!holder) return PreservedAnalyses::all();
    expand_computed_branches(module);
    keep_sync_marks(module);
    mark_for_inlining(reachable_from(*holder), *holder);
    transform(module, analyses, canonical_form());
    auto* const kernel = region.empty() ? holder : taken_out(*holder, region);
    if (!kernel) return PreservedAnalyses::none();
    if (kernel != holder) transform(module, analyses, "function(loop-simplify,lcssa)");
    keep(module);

    auto const functions = reachable_from(*kernel);
    analyses.invalidate(module, PreservedAnalyses::none());
    auto& of_functions = analyses.getResult<FunctionAnalysisManagerModuleProxy>(module).getManager();
    VectorizableLoops vectorizable;
    for (auto const& [original, scratch] : copy_functions(functions)) {
      find_vectorizable(*scratch, *builder_, of_functions, vectorizable);
      scratch->eraseFromParent();
    }
    auto const words = environment(variables::seqprof_mode);
    Mode const mode{StringRef(words).contains("all"), StringRef(words).contains("invocations")};
    auto const copies = copy_functions(functions);
    std::vector<Constant*> descriptors;
    for (auto const& [original, copy] : copies)
      descriptors.push_back(instrument(*copy, *original, copies, mode, of_functions, vectorizable));
    register_all(module, descriptors, copies);
    wrap(*kernel, region.empty() ? environment(variables::seqprof_kernel) : region, *copies.find(kernel)->second,
         mode.flags());
    return PreservedAnalyses::none();
  }

 private:
  static Function* refuse(Module& module, std::string const& why) {
    module.getContext().emitError("seqprof: " + why);
    return nullptr;
  }

  static bool may_be_missing(Module const& module, std::string const& name) {
    auto const which = environment(variables::seqprof_without);
    return which == "all" || (which == "declared" && is_declared(module, name));
  }

  static Function* kernel_of(Module& module) {
    auto const name = environment(variables::seqprof_kernel);
    auto const kernels = functions_named(module, name);
    if (kernels.size() != 1) {
      if (kernels.empty() && may_be_missing(module, name)) return nullptr;
      std::vector<std::string> symbols;
      for (auto const* const kernel : kernels) symbols.push_back(kernel->getName().str());
      write_names(kernels.empty() ? names_of_functions(module) : symbols);
      return refuse(module, (kernels.empty() ? "no function '" : "several functions '") + name + "'");
    }
    auto& kernel = *kernels.front();
    if (!kernel.getSubprogram()) return refuse(module, "no debug information for '" + name + "'");
    if (kernel.isVarArg()) return refuse(module, "'" + name + "' takes a variable number of arguments");
    return &kernel;
  }

  static Function* holder_of(Module& module, std::string const& region) {
    std::string why;
    auto* const holder = function_of_region(module, region, why);
    if (!holder) {
      if (region_names(module).empty() && environment(variables::seqprof_without) == "all") return nullptr;
      write_names(region_names(module));
      return refuse(module, why);
    }
    if (!holder->getSubprogram()) return refuse(module, "no debug information for '" + holder->getName().str() + "'");
    return holder;
  }

  static Function* taken_out(Function& holder, std::string const& region) {
    std::string why;
    auto* const kernel = extract_region(holder, region, why);
    return kernel ? kernel : refuse(*holder.getParent(), why);
  }

  void transform(Module& module, ModuleAnalysisManager& analyses, std::string const& pipeline) {
    ModulePassManager passes;
    cantFail(builder_->parsePassPipeline(passes, pipeline));
    passes.run(module, analyses);
    analyses.invalidate(module, PreservedAnalyses::none());
  }

  static void keep(Module const& module) {
    auto const path = environment(variables::seqprof_keep);
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
