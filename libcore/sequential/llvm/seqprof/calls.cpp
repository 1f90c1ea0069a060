// Calls: of functions that are instrumented too, of the memory functions of the C library, and of all others.
#include "sequential/llvm/seqprof/instrumenter.hpp"
#include "sequential/llvm/seqprof/region.hpp"

#include <llvm/IR/IntrinsicInst.h>

namespace kernelcast::llvm_passes {

using namespace llvm;

void Instrumenter::save(IRBuilder<>& at) {
  e_.store_state(at, KERNELCAST_SEQ_STATE(row), at.CreateLoad(e_.word, row_));
  e_.store_state(at, KERNELCAST_SEQ_STATE(clock), at.CreateLoad(e_.word, clock_));
  auto* const free = e_.field(at, frames_, std::ptrdiff_t{sizeof(seq::LoopFrame)} * window_.frames);
  e_.store_state(at, KERNELCAST_SEQ_STATE(frames), at.CreatePtrToInt(free, e_.word));
}

void Instrumenter::restore(IRBuilder<>& at) {
  at.CreateStore(e_.load_state(at, KERNELCAST_SEQ_STATE(row)), row_);
  at.CreateStore(e_.load_state(at, KERNELCAST_SEQ_STATE(clock)), clock_);
}

// Blocks behind an invoked copy take row and clock from the state, so all other ways there leave them in it.
void Instrumenter::finish_joined() {
  for (auto* const block : joined_)
    for (auto* const before : predecessors(block)) {
      if (isa<InvokeInst>(before->getTerminator())) continue;
      IRBuilder<> at(before->getTerminator());
      e_.store_state(at, KERNELCAST_SEQ_STATE(row), at.CreateLoad(e_.word, row_));
      e_.store_state(at, KERNELCAST_SEQ_STATE(clock), at.CreateLoad(e_.word, clock_));
    }
}

void Instrumenter::allocated(CallBase& call, StringRef name) {
  auto* const next = call.getNextNode();  // what the size takes stands between the call and this
  IRBuilder<> at(next);
  auto const argument = [&](unsigned n) { return at.CreateZExtOrTrunc(call.getArgOperand(n), e_.word); };
  Value* size = nullptr;
  if (name == "calloc")
    size = at.CreateMul(argument(0), argument(1));
  else
    size = argument(name == "realloc" || name == "aligned_alloc" ? 1 : 0);
  begin_lifetime(next, &call, size);
}

void Instrumenter::call_copy(CallBase& call, Value* found) {
  IRBuilder<> at(&call);
  unsigned index = 0;
  for (auto const& argument : call.args()) {
    if (index == seq::max_level_arguments) break;
    if (argument->getType()->isFPOrFPVectorTy() || argument->getType()->isIntOrIntVectorTy())
      e_.store_state(at, KERNELCAST_SEQ_STATE(argument_levels) + index * sizeof(std::uint64_t), level(argument));
    ++index;
  }
  e_.store_state(at, KERNELCAST_SEQ_STATE(return_level), e_.number(0));
  save(at);
  if (found) call.setCalledOperand(found);
  call.removeFnAttr(Attribute::Memory);
  if (auto* const unwinding = dyn_cast<InvokeInst>(&call)) {
    for (auto* const edge : {unwinding->getNormalDest(), unwinding->getUnwindDest()}) {
      auto const place = edge->getFirstInsertionPt();
      if (place == edge->end()) continue;
      IRBuilder<> after(&*place);
      restore(after);
      bool const alone = edge->getSinglePredecessor();
      if (edge == unwinding->getUnwindDest()) continue;
      if (!alone) joined_.insert(edge);
      // Where other ways join, the level of the result is not followed.
      if (alone && has_level_.contains(&call)) level_[&call] = e_.load_state(after, KERNELCAST_SEQ_STATE(return_level));
    }
    return;
  }
  if (!call.getNextNode()) return;
  IRBuilder<> after(call.getNextNode());
  restore(after);
  if (has_level_.contains(&call)) level_[&call] = e_.load_state(after, KERNELCAST_SEQ_STATE(return_level));
}

void Instrumenter::call_outside(CallBase& call) {
  IRBuilder<> at(&call);
  auto const* const callee = call.getCalledFunction();
  StringRef const name = callee ? callee->getName() : call.isInlineAsm() ? "inline assembly" : "a function pointer";
  static constexpr StringRef allocators[] = {"malloc", "calloc", "realloc", "aligned_alloc", "_Znwm", "_Znam"};
  bool const allocates = is_contained(allocators, name);
  save(at);
  if (has_level_.contains(&call)) {
    Value* deepest = e_.number(0);
    for (auto const& argument : call.args()) deepest = e_.larger(at, deepest, level(argument));
    level_[&call] = deepest;
  }
  if (allocates && isa<CallInst>(call)) return allocated(call, name);
  if (name == "free" || name == "_ZdlPv" || name == "_ZdlPvm" || name == "_ZdaPv") return;
  auto const index = call_descriptors_.size();
  auto* const self = e_.field(at, calls_, static_cast<std::ptrdiff_t>(index * sizeof(seq::CallDescriptor)));
  e_.add_to(at, e_.field(at, self, offsetof(seq::CallDescriptor, count)), e_.number(1));
  call_descriptors_.push_back(ConstantStruct::getAnon({e_.text(name), e_.number(0)}));
  if (!call.hasFnAttr(Attribute::ReturnsTwice) || !call.getNextNode()) return;
  // setjmp: rows and clocks have gone on when it returns for the second time.
  IRBuilder<> after(call.getNextNode());
  restore(after);
}

void Instrumenter::visit_call(CallBase& call) {
  if (auto* const move = dyn_cast<MemTransferInst>(&call)) {
    close_row(&call);
    IRBuilder<> at(&call);
    save(at);
    at.CreateCall(e_.runtime("kernelcast_seq_copy", e_.none, {e_.pointer, e_.pointer, e_.word, e_.pointer, e_.pointer}),
                  {move->getRawDest(), move->getRawSource(), at.CreateZExtOrTrunc(move->getLength(), e_.word),
                   site_of(call), top_frame(at)});
    return restore(at);
  }
  if (auto* const fill = dyn_cast<MemSetInst>(&call)) {
    close_row(&call);
    IRBuilder<> at(&call);
    save(at);
    at.CreateCall(e_.runtime("kernelcast_seq_fill", e_.none, {e_.pointer, e_.word, e_.pointer, e_.pointer}),
                  {fill->getRawDest(), at.CreateZExtOrTrunc(fill->getLength(), e_.word), site_of(call), top_frame(at)});
    return restore(at);
  }
  if (auto* const life = dyn_cast<LifetimeIntrinsic>(&call)) {
    if (mode_.all_dependences && life->getIntrinsicID() == Intrinsic::lifetime_start)
      begin_lifetime(&call, life->getArgOperand(1), life->getArgOperand(0));
    return;
  }
  if (is_mathematics(call, library_)) return visit_level(call);
  if (is_region_mark(call)) return;
  if (StringRef directive; is_sync_mark(call, directive)) {
    IRBuilder<> at(&call);
    at.CreateCall(e_.runtime("kernelcast_seq_sync", e_.none, {e_.pointer, e_.pointer}),
                  {site_of(call), e_.text(directive)});
    return;
  }
  close_row(&call);
  auto* const callee = call.getCalledFunction();
  if (callee && copies_.contains(const_cast<Function*>(callee)))
    return call_copy(call, copies_.find(const_cast<Function*>(callee))->second);
  if (callee || call.isInlineAsm()) return call_outside(call);
  // By a pointer: the copy of that function where there is one.
  IRBuilder<> at(&call);
  auto* const target = call.getCalledOperand();
  auto* const found = at.CreateCall(e_.runtime("kernelcast_seq_find", e_.pointer, {e_.pointer}), {target});
  auto* const none = at.CreateZExt(at.CreateIsNull(found), e_.word);
  auto const index = call_descriptors_.size();
  auto* const self = e_.field(at, calls_, static_cast<std::ptrdiff_t>(index * sizeof(seq::CallDescriptor)));
  e_.add_to(at, e_.field(at, self, offsetof(seq::CallDescriptor, count)), none);
  call_descriptors_.push_back(ConstantStruct::getAnon({e_.text("a function pointer"), e_.number(0)}));
  call_copy(call, at.CreateSelect(at.CreateIsNull(found), target, found));
}

}  // namespace kernelcast::llvm_passes
