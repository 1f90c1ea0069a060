// The work on one function, in three files: instrument.cpp has its blocks, loops and descriptors, memory.cpp loads,
// stores and rows of addresses, calls.cpp what is called.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/TargetLibraryInfo.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>

#include "sequential/abi.hpp"
#include "sequential/llvm/seqprof/emit.hpp"
#include "sequential/llvm/seqprof/functions.hpp"
#include "sequential/llvm/seqprof/instrument.hpp"
#include "sequential/llvm/seqprof/levels.hpp"
#include "sequential/llvm/seqprof/loops.hpp"

// The place of a member of the state that instrumented code and run-time share.
#define KERNELCAST_SEQ_STATE(member) offsetof(seq::State, member)

namespace kernelcast::llvm_passes {

// Where the clock window of a loop lies: a cell c was written by an earlier iteration of a running loop that is not
// known to be sequential iff c - hull < window, unsigned.
struct Window {
  llvm::Value *hull = nullptr, *size = nullptr;
  unsigned frames = 0;  // running loops of this function there
};

// A row in the making: accesses and operations since the last call or branch.
struct Row {
  llvm::Value* begin = nullptr;
  llvm::SmallVector<llvm::Constant*, 16> sizes;
  unsigned loads = 0, stores = 0;
  std::uint64_t bytes = 0;
  unsigned add = 0, mul = 0, div = 0, sqrt = 0, call = 0, vectorizable = 0;
  bool has_operations() const { return add + mul + div + sqrt + call > 0; }
};

class Instrumenter {
 public:
  Instrumenter(llvm::Function& copy, llvm::Function const& original, Copies const& copies, Mode mode,
               llvm::FunctionAnalysisManager& analyses, VectorizableLoops const& vectorizable)
      : f_(copy),
        original_(original),
        copies_(copies),
        mode_(mode),
        loops_(analyses.getResult<llvm::LoopAnalysis>(copy)),
        library_(analyses.getResult<llvm::TargetLibraryAnalysis>(copy)),
        facts_(study_loops(copy, analyses, vectorizable)),
        has_level_(values_with_level(copy, library_)),
        layout_(copy.getDataLayout()),
        e_(*copy.getParent()) {
    if (auto const* const program = original.getSubprogram()) file_ = file_of(*program);
  }

  llvm::Constant* run();

 private:
  void prologue();
  void enter_loop(llvm::Loop&, unsigned index);
  void visit(llvm::BasicBlock const&, std::vector<llvm::Instruction*> const&);
  void visit_load(llvm::LoadInst&);
  void visit_store(llvm::StoreInst&);
  void visit_operation(llvm::Instruction&, Operation);
  void visit_level(llvm::Instruction&);
  void visit_call(llvm::CallBase&);
  void call_copy(llvm::CallBase&, llvm::Value* found);
  void call_outside(llvm::CallBase&);
  void allocated(llvm::CallBase&, llvm::StringRef name);
  void used(llvm::Instruction& operation, llvm::Value const* operand, llvm::Value* level);
  void begin_lifetime(llvm::Instruction* before, llvm::Value* memory, llvm::Value* size);
  void local_begins(llvm::AllocaInst&);
  void note_access(llvm::Instruction&, llvm::Value* address, std::uint64_t size, bool is_load);
  void close_row(llvm::Instruction* before);
  void save(llvm::IRBuilder<>&);
  void restore(llvm::IRBuilder<>&);
  void finish_phis();
  void finish_joined();
  void epilogue(llvm::Instruction&);
  llvm::Constant* describe();

  llvm::Value* level(llvm::Value const* v) const {
    auto const found = level_.find(v);
    return found == level_.end() ? e_.number(0) : found->second;
  }
  llvm::Value* top_frame(llvm::IRBuilder<>& at) {
    return e_.field(at, frames_,
                    (static_cast<std::ptrdiff_t>(window_.frames) - 1) * std::ptrdiff_t{sizeof(seq::LoopFrame)});
  }
  llvm::Constant* site_of(llvm::Instruction const& i) {
    return e_.variable(e_.site(i.getDebugLoc(), file_), "seqprof.site", true);
  }
  llvm::Constant* null() const { return llvm::ConstantPointerNull::get(llvm::cast<llvm::PointerType>(e_.pointer)); }
  llvm::Value* slow_load(llvm::Instruction& i, llvm::Value* address, std::uint64_t size, bool check,
                         llvm::Instruction* before);

  llvm::Function& f_;
  llvm::Function const& original_;
  Copies const& copies_;
  Mode mode_;
  llvm::LoopInfo& loops_;
  llvm::TargetLibraryInfo& library_;
  FunctionLoops facts_;
  llvm::SmallPtrSet<llvm::Value const*, 32> has_level_;
  llvm::DataLayout const& layout_;
  Emitter e_;
  std::string file_;

  llvm::DenseMap<llvm::Value const*, llvm::Value*> level_;
  llvm::SmallVector<std::pair<llvm::PHINode*, llvm::PHINode*>, 16> phis_;
  llvm::DenseMap<llvm::Loop const*, Window> windows_;
  llvm::SmallVector<llvm::Loop const*, 8> loop_order_;
  llvm::SmallVector<llvm::Constant*, 8> loop_sites_;
  Window window_;  // of the block being visited
  bool vectorizable_ = false;
  llvm::AllocaInst *row_ = nullptr, *clock_ = nullptr;
  llvm::Value *frames_ = nullptr, *counters_ = nullptr;
  llvm::Value* floor_ = nullptr;  // no operation lies at this level or below; null: 0
  llvm::GlobalVariable *rows_ = nullptr, *calls_ = nullptr, *self_ = nullptr;
  llvm::SmallVector<llvm::Constant*, 16> row_descriptors_, call_descriptors_;
  llvm::SmallPtrSet<llvm::BasicBlock*, 8> joined_;  // where an invoked copy and other ways meet
  Row open_;
};

}  // namespace kernelcast::llvm_passes
