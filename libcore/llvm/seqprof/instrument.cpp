#include "llvm/seqprof/instrument.hpp"

#include <llvm/ADT/PostOrderIterator.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

#include "llvm/seqprof/emit.hpp"
#include "llvm/seqprof/levels.hpp"
#include "llvm/seqprof/loops.hpp"

namespace kernelcast::llvm_passes {

using namespace llvm;

namespace {

// Where the clock window of a loop lies: a cell c was written by an earlier iteration of a running loop that is not
// known to be sequential iff c - hull < window, unsigned.
struct Window {
  Value *hull = nullptr, *size = nullptr;
  unsigned frames = 0;  // running loops of this function there
};

// A row in the making: accesses and operations since the last call or branch.
struct Row {
  Value* begin = nullptr;
  SmallVector<Constant*, 16> sizes;
  unsigned loads = 0, stores = 0;
  std::uint64_t bytes = 0;
  unsigned add = 0, mul = 0, div = 0, sqrt = 0, call = 0, vectorizable = 0;
  bool has_operations() const { return add + mul + div + sqrt + call > 0; }
};

class Instrumenter {
 public:
  Instrumenter(Function& copy, Function const& original, Copies const& copies, FunctionAnalysisManager& analyses,
               VectorizableLoops const& vectorizable)
      : f_(copy),
        original_(original),
        copies_(copies),
        loops_(analyses.getResult<LoopAnalysis>(copy)),
        library_(analyses.getResult<TargetLibraryAnalysis>(copy)),
        facts_(study_loops(copy, analyses, vectorizable)),
        has_level_(values_with_level(copy, library_)),
        layout_(copy.getDataLayout()),
        e_(*copy.getParent()) {
    if (auto const* const program = original.getSubprogram()) file_ = file_of(*program);
  }

  Constant* run();

 private:
  void prologue();
  void enter_loop(Loop&, unsigned index);
  void visit(BasicBlock const&, std::vector<Instruction*> const&);
  void visit_load(LoadInst&);
  void visit_store(StoreInst&);
  void visit_operation(Instruction&, Operation);
  void visit_level(Instruction&);
  void visit_call(CallBase&);
  void call_copy(CallBase&, Value* found);
  void call_outside(CallBase&);
  void allocated(CallBase&, StringRef name);
  void note_access(Instruction&, Value* address, std::uint64_t size, bool is_load);
  void close_row(Instruction* before);
  void save(IRBuilder<>&);
  void restore(IRBuilder<>&);
  void finish_phis();
  void epilogue(ReturnInst&);
  Constant* describe();

  Value* level(Value const* v) const {
    auto const found = level_.find(v);
    return found == level_.end() ? e_.number(0) : found->second;
  }
  Value* top_frame(IRBuilder<>& at) {
    return e_.field(at, frames_,
                    (static_cast<std::ptrdiff_t>(window_.frames) - 1) * std::ptrdiff_t{sizeof(seq::LoopFrame)});
  }
  Constant* site_of(Instruction const& i) { return e_.variable(e_.site(i.getDebugLoc(), file_), "seqprof.site", true); }
  Value* slow_load(Instruction& i, Value* address, std::uint64_t size, bool check, Instruction* before);

  Function& f_;
  Function const& original_;
  Copies const& copies_;
  LoopInfo& loops_;
  TargetLibraryInfo& library_;
  FunctionLoops facts_;
  SmallPtrSet<Value const*, 32> has_level_;
  DataLayout const& layout_;
  Emitter e_;
  std::string file_;

  DenseMap<Value const*, Value*> level_;
  SmallVector<std::pair<PHINode*, PHINode*>, 16> phis_;
  DenseMap<Loop const*, Window> windows_;
  SmallVector<Loop const*, 8> loop_order_;
  SmallVector<Constant*, 8> loop_sites_;
  Window window_;  // of the block being visited
  bool vectorizable_ = false;
  AllocaInst *row_ = nullptr, *clock_ = nullptr;
  Value *frames_ = nullptr, *counters_ = nullptr;
  GlobalVariable *rows_ = nullptr, *calls_ = nullptr, *self_ = nullptr;
  SmallVector<Constant*, 16> row_descriptors_, call_descriptors_;
  Row open_;
};

#define STATE(member) offsetof(seq::State, member)

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
  frames_ = at.CreateIntToPtr(e_.load_state(at, STATE(frames)), e_.pointer);
  counters_ = at.CreateCall(e_.runtime("kernelcast_seq_enter", e_.pointer, {e_.pointer}), {self_});
  restore(at);
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
      level_[&argument] = e_.load_state(at, STATE(argument_levels) + index * sizeof(std::uint64_t));
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

void Instrumenter::save(IRBuilder<>& at) {
  e_.store_state(at, STATE(row), at.CreateLoad(e_.word, row_));
  e_.store_state(at, STATE(clock), at.CreateLoad(e_.word, clock_));
  auto* const free = e_.field(at, frames_, std::ptrdiff_t{sizeof(seq::LoopFrame)} * window_.frames);
  e_.store_state(at, STATE(frames), at.CreatePtrToInt(free, e_.word));
}

void Instrumenter::restore(IRBuilder<>& at) {
  at.CreateStore(e_.load_state(at, STATE(row)), row_);
  at.CreateStore(e_.load_state(at, STATE(clock)), clock_);
}

void Instrumenter::note_access(Instruction& i, Value* address, std::uint64_t size, bool is_load) {
  IRBuilder<> at(&i);
  if (open_.sizes.size() + 2 >= seq::row_words_at_most) close_row(&i), at.SetInsertPoint(&i);
  if (!open_.begin) open_.begin = at.CreateIntToPtr(at.CreateLoad(e_.word, row_), e_.pointer);
  open_.sizes.push_back(ConstantInt::get(at.getInt8Ty(), std::min<std::uint64_t>(size, 255)));
  at.CreateStore(address, e_.field(at, open_.begin, static_cast<std::ptrdiff_t>(8 * open_.sizes.size())));
  ++(is_load ? open_.loads : open_.stores);
  open_.bytes += size;
}

void Instrumenter::close_row(Instruction* before) {
  auto const accesses = open_.sizes.size();
  if (accesses == 0 && !open_.has_operations()) return;
  IRBuilder<> at(before);
  auto const index = row_descriptors_.size();
  auto* const self = e_.field(at, rows_, static_cast<std::ptrdiff_t>(index * sizeof(seq::RowDescriptor)));
  if (accesses == 0) {
    e_.add_to(at, e_.field(at, self, offsetof(seq::RowDescriptor, executed)), e_.number(1));
  } else {
    at.CreateStore(self, open_.begin);
    auto* const end = e_.field(at, open_.begin, static_cast<std::ptrdiff_t>(8 * (accesses + 1)));
    auto* const end_number = at.CreatePtrToInt(end, e_.word);
    at.CreateStore(end_number, row_);
    auto* const full = at.CreateICmpUGT(end_number, e_.load_state(at, STATE(row_limit)));
    IRBuilder<> flush(SplitBlockAndInsertIfThen(full, before, false, unlikely(f_.getContext())));
    flush.CreateStore(flush.CreateCall(e_.runtime("kernelcast_seq_flush", e_.word, {e_.word, e_.word}),
                                       {end_number, flush.CreateLoad(e_.word, clock_)}),
                      row_);
  }
  auto* const i32 = Type::getInt32Ty(f_.getContext());
  auto const small = [&](std::size_t n) { return ConstantInt::get(i32, n); };
  auto* const sizes =
      e_.variable(ConstantArray::get(ArrayType::get(Type::getInt8Ty(f_.getContext()), accesses), open_.sizes),
                  "seqprof.sizes", true);
  row_descriptors_.push_back(
      ConstantStruct::getAnon({e_.number(0), small(accesses), small(open_.loads), small(open_.stores), small(open_.add),
                               small(open_.mul), small(open_.div), small(open_.sqrt), small(open_.call),
                               small(open_.vectorizable), small(0), e_.number(open_.bytes), sizes}));
  open_ = {};
}

// The run-time's own look at a load: split words, odd sizes, values carried from an earlier iteration. Gives a cell.
Value* Instrumenter::slow_load(Instruction& i, Value* address, std::uint64_t size, bool check, Instruction* before) {
  IRBuilder<> at(before);
  auto* const site =
      check ? site_of(i) : static_cast<Constant*>(ConstantPointerNull::get(cast<PointerType>(e_.pointer)));
  return at.CreateCall(e_.runtime("kernelcast_seq_load", e_.word, {e_.word, e_.word, e_.pointer, e_.pointer}),
                       {address, e_.number(size), site, top_frame(at)});
}

void Instrumenter::visit_load(LoadInst& load) {
  auto const size = layout_.getTypeStoreSize(load.getType()).getFixedValue();
  IRBuilder<> at(&load);
  auto* const address = at.CreatePtrToInt(load.getPointerOperand(), e_.word);
  note_access(load, address, size, true);
  bool const check = !facts_.reduction_loads.contains(&load);
  bool const wanted = has_level_.contains(&load);
  if (!check && !wanted) return;
  bool const scalar = !load.getType()->isVectorTy() && load.getAlign().value() >= size;
  Value* cell = nullptr;
  if (!scalar || size > 8 || (size & (size - 1)) != 0) {
    cell = slow_load(load, address, size, check, &load);
  } else {
    at.SetInsertPoint(&load);
    cell = at.CreateLoad(e_.word, e_.word_cell(at, address));
    auto* const context = unlikely(f_.getContext());
    auto const join = [&](Value* usual, Value* other, BasicBlock* usual_from, BasicBlock* other_from) {
      auto* const phi = PHINode::Create(e_.word, 2, "seqprof.cell", load.getParent()->begin());
      phi->addIncoming(usual, usual_from);
      phi->addIncoming(other, other_from);
      return phi;
    };
    if (size == 4) {
      auto* const from = load.getParent();
      auto* const split = at.CreateICmpSLT(cell, e_.number(0));
      auto* const then = SplitBlockAndInsertIfThen(split, &load, false);
      IRBuilder<> half(then);
      auto* const own = half.CreateLoad(e_.word, e_.half_cell(half, address));
      cell = join(cell, own, from, then->getParent());
      at.SetInsertPoint(&load);
    }
    auto* odd = at.CreateICmpSLT(cell, e_.number(0));
    if (check) odd = at.CreateOr(odd, at.CreateICmpULT(at.CreateSub(cell, window_.hull), window_.size));
    auto* const from = load.getParent();
    auto* const then = SplitBlockAndInsertIfThen(odd, &load, false, context);
    auto* const looked = slow_load(load, address, size, check, then);
    if (wanted) cell = join(cell, looked, from, then->getParent());
  }
  at.SetInsertPoint(&load);
  if (wanted) level_[&load] = at.CreateAnd(cell, e_.number(seq::level_mask));
}

void Instrumenter::visit_store(StoreInst& store) {
  auto* const type = store.getValueOperand()->getType();
  auto const size = layout_.getTypeStoreSize(type).getFixedValue();
  IRBuilder<> at(&store);
  auto* const address = at.CreatePtrToInt(store.getPointerOperand(), e_.word);
  note_access(store, address, size, false);
  at.SetInsertPoint(&store);
  auto* const cell = at.CreateAdd(at.CreateLoad(e_.word, clock_), level(store.getValueOperand()));
  bool const scalar = !type->isVectorTy() && store.getAlign().value() >= size;
  if (scalar && size == 8) {
    at.CreateStore(cell, e_.word_cell(at, address));
  } else if (scalar && size == 4) {
    auto* const whole = at.CreateICmpSGE(at.CreateLoad(e_.word, e_.word_cell(at, address)), e_.number(0));
    IRBuilder<> split(SplitBlockAndInsertIfThen(whole, &store, false, unlikely(f_.getContext())));
    split.CreateCall(e_.runtime("kernelcast_seq_split", e_.none, {e_.word}), {address});
    at.SetInsertPoint(&store);
    at.CreateStore(cell, e_.half_cell(at, address));
  } else {
    at.CreateCall(e_.runtime("kernelcast_seq_store", e_.none, {e_.word, e_.word, e_.word}),
                  {address, e_.number(size), cell});
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
  auto* const own = at.CreateAdd(deepest, e_.number(1));
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

// After memory was allotted: what happened to these addresses before is no concern of its new life.
void Instrumenter::allocated(CallBase& call, StringRef name) {
  IRBuilder<> at(call.getNextNode());
  auto const argument = [&](unsigned n) { return at.CreateZExtOrTrunc(call.getArgOperand(n), e_.word); };
  Value* size = nullptr;
  if (name == "calloc")
    size = at.CreateMul(argument(0), argument(1));
  else
    size = argument(name == "realloc" || name == "aligned_alloc" ? 1 : 0);
  at.CreateCall(e_.runtime("kernelcast_seq_clear", e_.none, {e_.pointer, e_.word}), {&call, size});
}

void Instrumenter::call_copy(CallBase& call, Value* found) {
  IRBuilder<> at(&call);
  unsigned index = 0;
  for (auto const& argument : call.args()) {
    if (index == seq::max_level_arguments) break;
    if (argument->getType()->isFPOrFPVectorTy() || argument->getType()->isIntOrIntVectorTy())
      e_.store_state(at, STATE(argument_levels) + index * sizeof(std::uint64_t), level(argument));
    ++index;
  }
  e_.store_state(at, STATE(return_level), e_.number(0));
  save(at);
  if (found) call.setCalledOperand(found);
  call.removeFnAttr(Attribute::Memory);
  if (auto* const unwinding = dyn_cast<InvokeInst>(&call)) {
    for (auto* const edge : {unwinding->getNormalDest(), unwinding->getUnwindDest()}) {
      auto const place = edge->getFirstInsertionPt();
      if (place == edge->end()) continue;
      IRBuilder<> after(&*place);
      restore(after);
    }
    return;  // the level of an invoked function's result is not followed
  }
  if (!call.getNextNode()) return;
  IRBuilder<> after(call.getNextNode());
  restore(after);
  if (has_level_.contains(&call)) level_[&call] = e_.load_state(after, STATE(return_level));
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
    at.CreateCall(e_.runtime("kernelcast_seq_fill", e_.none, {e_.pointer, e_.word}),
                  {fill->getRawDest(), at.CreateZExtOrTrunc(fill->getLength(), e_.word)});
    return restore(at);
  }
  if (is_mathematics(call, library_)) return visit_level(call);
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
    } else if (auto* const call = dyn_cast<CallBase>(i)) {
      visit_call(*call);
      if (i->isTerminator()) close_row(i);
    } else if (i->isTerminator()) {
      close_row(i);
      if (auto* const ret = dyn_cast<ReturnInst>(i)) epilogue(*ret);
    } else {
      visit_level(*i);
    }
  }
}

void Instrumenter::epilogue(ReturnInst& ret) {
  IRBuilder<> at(&ret);
  e_.store_state(at, STATE(row), at.CreateLoad(e_.word, row_));
  e_.store_state(at, STATE(clock), at.CreateLoad(e_.word, clock_));
  e_.store_state(at, STATE(return_level), ret.getReturnValue() ? level(ret.getReturnValue()) : e_.number(0));
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
  return describe();
}

}  // namespace

Constant* instrument(Function& copy, Function const& original, Copies const& copies, FunctionAnalysisManager& analyses,
                     VectorizableLoops const& vectorizable) {
  return Instrumenter(copy, original, copies, analyses, vectorizable).run();
}

}  // namespace kernelcast::llvm_passes
