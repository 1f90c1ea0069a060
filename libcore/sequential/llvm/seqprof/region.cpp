#include "sequential/llvm/seqprof/region.hpp"

#include <llvm/ADT/SetVector.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/Demangle/Demangle.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <llvm/Transforms/Utils/CodeExtractor.h>

namespace kernelcast::llvm_passes {

using namespace llvm;

namespace {

constexpr char const* result_mark = "seqprof.result";

// The name in a call of `mark`, in C or C++; false for other instructions.
bool is_mark(Instruction const& i, StringRef mark, StringRef& name) {
  auto const* const call = dyn_cast<CallInst>(&i);
  auto const* const callee = call ? call->getCalledFunction() : nullptr;
  if (!callee || call->arg_size() != 1) return false;
  auto plain = demangle(callee->getName().str());
  plain.resize(std::min(plain.find('('), plain.size()));
  return plain == mark && getConstantStringInfo(call->getArgOperand(0), name);
}

SmallVector<CallInst*, 2> marks_of(Function& function, StringRef mark, StringRef name) {
  SmallVector<CallInst*, 2> found;
  StringRef text;
  for (auto& i : instructions(function))
    if (is_mark(i, mark, text) && text == name) found.push_back(cast<CallInst>(&i));
  return found;
}

}  // namespace

std::vector<std::string> region_names(Module& module) {
  SetVector<StringRef> names;
  StringRef name;
  for (auto& function : module)
    for (auto& i : instructions(function))
      if (is_mark(i, region_begin, name)) names.insert(name);
  return {names.begin(), names.end()};
}

Function* function_of_region(Module& module, StringRef name, std::string& why) {
  SmallVector<CallInst*, 2> begins;
  for (auto& function : module)
    for (auto const* const mark : {region_begin, region_end})
      for (auto* const call : marks_of(function, mark, name)) {
        call->addFnAttr(Attribute::NoDuplicate);
        call->addFnAttr(Attribute::NoInline);
        if (mark == region_begin) begins.push_back(call);
      }
  if (begins.size() == 1) return begins.front()->getFunction();
  why = (begins.empty() ? "no region '" : "several regions '") + name.str() + "'";
  return nullptr;
}

Function* extract_region(Function& function, StringRef name, std::string& why) {
  auto const begins = marks_of(function, region_begin, name), ends = marks_of(function, region_end, name);
  auto const refuse = [&](char const* reason) {
    why = "region '" + name.str() + "': " + reason;
    return nullptr;
  };
  if (begins.size() != 1) return refuse("its beginning is never reached");
  if (ends.empty()) return refuse("it has no end in the same function");
  auto* const first = SplitBlock(begins[0]->getParent(), begins[0]->getNextNode());
  SmallPtrSet<BasicBlock*, 2> after;
  for (auto* const end : ends) after.insert(SplitBlock(end->getParent(), end));
  SetVector<BasicBlock*> blocks;
  blocks.insert(first);
  for (std::size_t n = 0; n < blocks.size(); ++n) {
    auto const* const terminator = blocks[n]->getTerminator();
    if (isa<ReturnInst, ResumeInst>(terminator)) return refuse("it can be left without passing its end");
    for (auto* const next : successors(blocks[n]))
      if (!after.contains(next)) blocks.insert(next);
  }
  for (auto* const block : blocks)
    for (auto* const before : predecessors(block))
      if (block == first ? before != begins[0]->getParent() : !blocks.contains(before))
        return refuse("it can be entered without passing its beginning");
  DominatorTree dominators(function);
  CodeExtractor extractor(blocks.getArrayRef(), &dominators);
  if (!extractor.isEligible()) return refuse("its code cannot stand by itself");
  CodeExtractorAnalysisCache const cache(function);
  auto* const region = extractor.extractCodeRegion(cache);
  if (!region) return refuse("its code cannot stand by itself");
  region->setName(name);
  for (auto& i : instructions(*region))
    if (auto* const store = dyn_cast<StoreInst>(&i))
      if (auto const* const place = dyn_cast<Argument>(store->getPointerOperand());
          place && place->getName().ends_with(".out"))
        store->setMetadata(result_mark, MDNode::get(function.getContext(), {}));
  return region;
}

bool is_region_mark(Instruction const& i) {
  StringRef name;
  return is_mark(i, region_begin, name) || is_mark(i, region_end, name);
}

bool is_sync_mark(CallBase const& call, StringRef& directive) {
  auto const* const callee = call.getCalledFunction();
  if (!callee || !callee->getName().contains(sync_mark)) return false;
  auto plain = demangle(callee->getName().str());
  plain.resize(std::min(plain.find_first_of("(."), plain.size()));  // .1 and so on where several sources have it
  directive = "";
  return plain == sync_mark ||
         (plain == openmp_mark && call.arg_size() == 1 && getConstantStringInfo(call.getArgOperand(0), directive));
}

void keep_sync_marks(Module& module) {
  StringRef directive;
  for (auto& function : module)
    for (auto& i : instructions(function))
      if (auto* const call = dyn_cast<CallBase>(&i); call && is_sync_mark(*call, directive)) {
        call->addFnAttr(Attribute::NoInline);
        call->addFnAttr(Attribute::NoUnwind);
        call->addFnAttr(Attribute::WillReturn);
        call->setMemoryEffects(MemoryEffects::inaccessibleMemOnly());
      }
}

bool is_result_of_region(StoreInst const& store) {
  return store.getMetadata(result_mark) != nullptr;
}

}  // namespace kernelcast::llvm_passes
