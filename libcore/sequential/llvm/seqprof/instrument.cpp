#include "sequential/llvm/seqprof/instrument.hpp"

#include <llvm/ADT/PostOrderIterator.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/InstIterator.h>

#include "sequential/llvm/seqprof/instrumenter.hpp"

namespace kernelcast::llvm_passes {

using namespace llvm;

void Instrumenter::prologue() {
  auto const placeholder = [&](char const* name) {
    return new GlobalVariable(*f_.getParent(), e_.word, false, GlobalValue::InternalLinkage, e_.number(0), name);
  };
  rows_ = placeholder("seqprof.rows");
  calls_ = placeholder("seqprof.calls");
  self_ = placeholder("seqprof.function");
  IRBuilder<> at(&*f_.getEntryBlock().getFirstInsertionPt());
  row_ = at.CreateAlloca(e_.word, nullptr, "seqprof.row");
  clock_ = at.CreateAlloca(e_.word, nullptr, "seqprof.clock");
  frames_ = at.CreateIntToPtr(e_.load_state(at, KERNELCAST_SEQ_STATE(frames)), e_.pointer);
  counters_ = at.CreateCall(e_.runtime("kernelcast_seq_enter", e_.pointer, {e_.pointer}), {self_});
  restore(at);
  if (mode_.invocations) floor_ = e_.load_state(at, KERNELCAST_SEQ_STATE(floor));
  // Accesses outside the loops of this function may still be carried by those around the call.
  auto* const around = e_.field(at, frames_, -std::ptrdiff_t{sizeof(seq::LoopFrame)});
  auto* const hull = at.CreateLoad(e_.word, e_.field(at, around, offsetof(seq::LoopFrame, hull)));
  auto* const now = at.CreateLoad(e_.word, e_.field(at, around, offsetof(seq::LoopFrame, now)));
  auto* const low = at.CreateBinaryIntrinsic(Intrinsic::umin, hull, now);
  windows_[nullptr] = {low, at.CreateSub(now, low), 0};
  unsigned index = 0;
  for (auto& argument : f_.args()) {
    if (index == seq::max_level_arguments) break;
    if (has_level_.contains(&argument))
      level_[&argument] = e_.load_state(at, KERNELCAST_SEQ_STATE(argument_levels) + index * sizeof(std::uint64_t));
    ++index;
  }
}

void Instrumenter::enter_loop(Loop& loop, unsigned index) {
  loop_sites_.push_back(e_.site(loop.getStartLoc(), file_));
  auto const depth = loop.getLoopDepth();
  auto const of_frame = [&](IRBuilder<>& at, std::ptrdiff_t which, std::size_t member) {
    return e_.field(at, frames_, which * std::ptrdiff_t{sizeof(seq::LoopFrame)} + static_cast<std::ptrdiff_t>(member));
  };
  auto const own = static_cast<std::ptrdiff_t>(depth) - 1;
  IRBuilder<> entry(&*f_.getEntryBlock().getFirstInsertionPt());
  auto* const trips = entry.CreateAlloca(e_.word, nullptr, "seqprof.trips");

  IRBuilder<> before(loop.getLoopPreheader()->getTerminator());
  auto* const counter = e_.field(before, counters_, static_cast<std::ptrdiff_t>(index * sizeof(seq::LoopCounter)));
  auto* const start = before.CreateAdd(before.CreateLoad(e_.word, clock_), e_.number(seq::tick));
  before.CreateStore(start, of_frame(before, own, offsetof(seq::LoopFrame, start)));
  before.CreateStore(counter, of_frame(before, own, offsetof(seq::LoopFrame, counter)));
  auto* const outer = before.CreateLoad(e_.word, of_frame(before, own - 1, offsetof(seq::LoopFrame, hull)));
  auto* const carried = before.CreateLoad(e_.word, e_.field(before, counter, offsetof(seq::LoopCounter, carried)));
  auto* const open = before.CreateSelect(before.CreateICmpEQ(carried, e_.number(0)), start, e_.number(seq::no_hull));
  before.CreateStore(before.CreateSelect(before.CreateICmpEQ(outer, e_.number(seq::no_hull)), open, outer),
                     of_frame(before, own, offsetof(seq::LoopFrame, hull)));
  before.CreateStore(e_.number(0), trips);

  IRBuilder<> head(&*loop.getHeader()->getFirstInsertionPt());
  auto* const now = head.CreateAdd(head.CreateLoad(e_.word, clock_), e_.number(seq::tick));
  head.CreateStore(now, clock_);
  head.CreateStore(now, of_frame(head, own, offsetof(seq::LoopFrame, now)));
  head.CreateStore(head.CreateAdd(head.CreateLoad(e_.word, trips), e_.number(1)), trips);
  auto* const low = head.CreateBinaryIntrinsic(
      Intrinsic::umin, head.CreateLoad(e_.word, of_frame(head, own, offsetof(seq::LoopFrame, hull))), now);
  windows_[&loop] = {low, head.CreateSub(now, low), depth};

  SmallVector<BasicBlock*, 4> exits;
  loop.getUniqueExitBlocks(exits);
  for (auto* const exit : exits) {
    auto const place = exit->getFirstInsertionPt();
    if (place == exit->end()) continue;
    IRBuilder<> after(&*place);
    auto* count = static_cast<Value*>(after.CreateLoad(e_.word, trips));
    // A loop that tests at its top enters the header once more than its body.
    bool const at_top = !loop.isLoopExiting(loop.getLoopLatch()) &&
                        all_of(predecessors(exit), [&](auto* from) { return from == loop.getHeader(); });
    if (at_top && loop.getLoopLatch() != loop.getHeader()) count = after.CreateSub(count, e_.number(1));
    auto* const at_exit = e_.field(after, counters_, static_cast<std::ptrdiff_t>(index * sizeof(seq::LoopCounter)));
    e_.add_to(after, e_.field(after, at_exit, offsetof(seq::LoopCounter, iterations)), count);
    e_.add_to(after, e_.field(after, at_exit, offsetof(seq::LoopCounter, entries)), e_.number(1));
  }
}

void Instrumenter::visit_operation(Instruction& i, Operation operation) {
  IRBuilder<> at(&i);
  auto const lanes = lanes_of(i);
  Value* deepest = e_.number(0);
  if (auto const* const call = dyn_cast<CallBase>(&i)) {
    for (auto const& argument : call->args()) deepest = e_.larger(at, deepest, level(argument));
  } else {
    for (auto const& operand : i.operands()) deepest = e_.larger(at, deepest, level(operand));
  }
  if (floor_) deepest = e_.larger(at, deepest, floor_);
  auto* const own = at.CreateAdd(deepest, e_.number(1));
  if (mode_.all_dependences)
    for (auto const& operand : i.operands()) used(i, operand, own);
  e_.add_to(at, e_.width_counter(at, own), e_.number(lanes));
  level_[&i] = own;
  (operation == Operation::add    ? open_.add
   : operation == Operation::mul  ? open_.mul
   : operation == Operation::div  ? open_.div
   : operation == Operation::sqrt ? open_.sqrt
                                  : open_.call) += lanes;
  if (vectorizable_) open_.vectorizable += lanes;
}

// Everything else through which levels flow, at no cost of its own.
void Instrumenter::visit_level(Instruction& i) {
  if (!has_level_.contains(&i)) return;
  IRBuilder<> at(&i);
  if (auto* const choice = dyn_cast<SelectInst>(&i); choice && !choice->getCondition()->getType()->isVectorTy()) {
    auto *const yes = level(choice->getTrueValue()), *no = level(choice->getFalseValue());
    level_[&i] = yes == no ? yes : at.CreateSelect(choice->getCondition(), yes, no);
    return;
  }
  Value* deepest = e_.number(0);
  for (auto const& operand : i.operands()) deepest = e_.larger(at, deepest, level(operand));
  level_[&i] = deepest;
}

void Instrumenter::visit(BasicBlock const& block, std::vector<Instruction*> const& instructions) {
  auto const* const loop = loops_.getLoopFor(&block);
  window_ = windows_.lookup(loop);
  vectorizable_ = loop && facts_.facts.lookup(loop).vectorizable;
  for (auto* const i : instructions) {
    if (auto* const phi = dyn_cast<PHINode>(i)) {
      if (!has_level_.contains(phi)) continue;
      auto* const own = PHINode::Create(e_.word, phi->getNumIncomingValues(), "seqprof.level", phi->getIterator());
      level_[phi] = own;
      phis_.push_back({phi, own});
    } else if (auto* const load = dyn_cast<LoadInst>(i)) {
      visit_load(*load);
    } else if (auto* const store = dyn_cast<StoreInst>(i)) {
      visit_store(*store);
    } else if (auto const operation = operation_of(*i, library_); operation != Operation::none) {
      visit_operation(*i, operation);
    } else if (auto* const local = dyn_cast<AllocaInst>(i)) {
      if (mode_.all_dependences) local_begins(*local);
    } else if (auto* const call = dyn_cast<CallBase>(i)) {
      visit_call(*call);
      if (i->isTerminator()) close_row(i);
    } else if (i->isTerminator()) {
      close_row(i);
      if (isa<ReturnInst, ResumeInst>(i)) epilogue(*i);
    } else {
      visit_level(*i);
    }
  }
}

// The function is left: by a return, or by an exception that goes on.
void Instrumenter::epilogue(Instruction& end) {
  IRBuilder<> at(&end);
  e_.store_state(at, KERNELCAST_SEQ_STATE(row), at.CreateLoad(e_.word, row_));
  e_.store_state(at, KERNELCAST_SEQ_STATE(clock), at.CreateLoad(e_.word, clock_));
  auto const* const ret = dyn_cast<ReturnInst>(&end);
  auto const* const value = ret ? ret->getReturnValue() : nullptr;
  e_.store_state(at, KERNELCAST_SEQ_STATE(return_level), value ? level(value) : e_.number(0));
}

void Instrumenter::finish_phis() {
  for (auto const& [phi, own] : phis_)
    for (unsigned n = 0; n < phi->getNumIncomingValues(); ++n)
      own->addIncoming(level(phi->getIncomingValue(n)), phi->getIncomingBlock(n));
}

Constant* Instrumenter::describe() {
  auto const array = [&](ArrayRef<Constant*> items, GlobalVariable* placeholder, char const* name,
                         bool constant) -> Constant* {
    if (items.empty()) {
      if (placeholder) placeholder->replaceAllUsesWith(ConstantPointerNull::get(cast<PointerType>(e_.pointer)));
      if (placeholder) placeholder->eraseFromParent();
      return ConstantPointerNull::get(cast<PointerType>(e_.pointer));
    }
    auto* const made =
        e_.variable(ConstantArray::get(ArrayType::get(items[0]->getType(), items.size()), items), name, constant);
    if (placeholder) {
      placeholder->replaceAllUsesWith(made);
      placeholder->eraseFromParent();
    }
    return made;
  };
  SmallVector<Constant*, 8> loops;
  for (auto const* const loop : loop_order_) {
    auto const facts = facts_.facts.lookup(loop);
    std::int64_t parent = -1;
    for (std::size_t n = 0; n < loop_order_.size(); ++n)
      if (loop_order_[n] == loop->getParentLoop()) parent = static_cast<std::int64_t>(n);
    auto const name = facts.culprit ? facts.culprit->getName().split('.').first : StringRef{};
    loops.push_back(
        ConstantStruct::getAnon({loop_sites_[loops.size()], e_.number(static_cast<std::uint64_t>(facts.kind)),
                                 e_.number(static_cast<std::uint64_t>(parent)), e_.text(name)}));
  }
  auto* const program = original_.getSubprogram();
  auto* const site = ConstantStruct::getAnon({e_.text(file_), e_.number(program ? program->getLine() : 0)});
  auto* const null = ConstantPointerNull::get(cast<PointerType>(e_.pointer));
  auto* const content = ConstantStruct::getAnon(
      {e_.text(original_.getName()), site, e_.number(loops.size()), e_.number(row_descriptors_.size()),
       e_.number(call_descriptors_.size()), array(loops, nullptr, "seqprof.loops", true),
       array(row_descriptors_, rows_, "seqprof.rows", false), array(call_descriptors_, calls_, "seqprof.calls", false),
       null, null, null});
  auto* const made = e_.variable(content, "seqprof.function", false);
  self_->replaceAllUsesWith(made);
  self_->eraseFromParent();
  return made;
}

Constant* Instrumenter::run() {
  ReversePostOrderTraversal<Function*> order(&f_);
  std::vector<std::pair<BasicBlock*, std::vector<Instruction*>>> blocks;
  for (auto* const block : order) {
    auto& entry = blocks.emplace_back(block, std::vector<Instruction*>{});
    for (auto& i : *block) entry.second.push_back(&i);
  }
  prologue();
  auto const loops = loops_.getLoopsInPreorder();
  // Only computed branches leave a loop without a preheader; then loops are not told apart in this function.
  bool const regular = all_of(loops, [](auto* loop) { return loop->getLoopPreheader() && loop->getLoopLatch(); });
  for (auto* const loop : loops) {
    windows_[loop] = windows_.lookup(loop->getParentLoop());
    if (!regular) continue;
    enter_loop(*loop, static_cast<unsigned>(loop_order_.size()));
    loop_order_.push_back(loop);
  }
  for (auto const& [block, instructions] : blocks) visit(*block, instructions);
  finish_phis();
  finish_joined();
  return describe();
}

Constant* instrument(Function& copy, Function const& original, Copies const& copies, Mode mode,
                     FunctionAnalysisManager& analyses, VectorizableLoops const& vectorizable) {
  return Instrumenter(copy, original, copies, mode, analyses, vectorizable).run();
}

}  // namespace kernelcast::llvm_passes
