// Loads and stores: the row of their addresses, and the shadow cells of what they touch. The common case is a few
// instructions in line; split words, odd sizes and values carried from an earlier iteration go to the run-time.
#include "sequential/llvm/seqprof/instrumenter.hpp"
#include "sequential/llvm/seqprof/region.hpp"

#include <algorithm>

#include <llvm/Transforms/Utils/BasicBlockUtils.h>

namespace kernelcast::llvm_passes {

using namespace llvm;

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
    at.CreateStore(at.CreateOr(at.CreatePtrToInt(self, e_.word), e_.number(seq::row_tag)), open_.begin);
    auto* const end = e_.field(at, open_.begin, static_cast<std::ptrdiff_t>(8 * (accesses + 1)));
    auto* const end_number = at.CreatePtrToInt(end, e_.word);
    at.CreateStore(end_number, row_);
    auto* const full = at.CreateICmpUGT(end_number, e_.load_state(at, KERNELCAST_SEQ_STATE(row_limit)));
    IRBuilder<> flush(SplitBlockAndInsertIfThen(full, before, false, unlikely(f_.getContext())));
    flush.CreateStore(flush.CreateCall(e_.runtime("kernelcast_seq_flush", e_.word, {e_.word, e_.word}),
                                       {end_number, flush.CreateLoad(e_.word, clock_)}),
                      row_);
  }
  auto* const i32 = Type::getInt32Ty(f_.getContext());
  auto const small = [&](std::size_t n) { return ConstantInt::get(i32, n); };
  auto* const byte = Type::getInt8Ty(f_.getContext());
  SmallVector<Constant*, 32> round;
  for (std::size_t place = 0; place < accesses + 1 + seq::sizes_beyond; ++place) {
    auto const which = place % (accesses + 1);
    round.push_back(which == 0 ? ConstantInt::get(byte, 0) : open_.sizes[which - 1]);
  }
  auto* const sizes = e_.variable(ConstantArray::get(ArrayType::get(byte, round.size()), round), "seqprof.sizes", true);
  row_descriptors_.push_back(
      ConstantStruct::getAnon({e_.number(0), small(accesses), small(open_.loads), small(open_.stores), small(open_.add),
                               small(open_.mul), small(open_.div), small(open_.sqrt), small(open_.call),
                               small(open_.vectorizable), small(0), e_.number(open_.bytes), sizes}));
  open_ = {};
}

// Whole words, few enough to be handled one by one in line.
static bool is_words(std::uint64_t size, Align align) {
  return size % 8 == 0 && size <= 32 && align.value() >= 8;
}

// The run-time's own look at a load: split words, odd sizes, values carried from an earlier iteration. Gives a cell.
Value* Instrumenter::slow_load(Instruction& i, Value* address, std::uint64_t size, bool check, Instruction* before) {
  IRBuilder<> at(before);
  auto* const site = check ? site_of(i) : null();
  auto const* const name = mode_.all_dependences ? "kernelcast_seq_load_all" : "kernelcast_seq_load";
  return at.CreateCall(e_.runtime(name, e_.word, {e_.word, e_.word, e_.pointer, e_.pointer}),
                       {address, e_.number(size), site, top_frame(at)});
}

void Instrumenter::visit_load(LoadInst& load) {
  auto const size = layout_.getTypeStoreSize(load.getType()).getFixedValue();
  IRBuilder<> at(&load);
  auto* const address = at.CreatePtrToInt(load.getPointerOperand(), e_.word);
  note_access(load, address, size, true);
  bool const check = !facts_.reduction_loads.contains(&load);
  bool const wanted = has_level_.contains(&load);
  if (!check && !wanted && !mode_.all_dependences) return;
  bool const scalar = !load.getType()->isVectorTy() && load.getAlign().value() >= size;
  bool const words = is_words(size, load.getAlign());
  Value* cell = nullptr;
  if (mode_.all_dependences || !(words || (scalar && size <= 8 && (size & (size - 1)) == 0))) {
    cell = slow_load(load, address, size, check, &load);
  } else {
    at.SetInsertPoint(&load);
    cell = at.CreateLoad(e_.word, e_.word_cell(at, address));
    auto const carried = [&](Value* of) { return at.CreateICmpULT(at.CreateSub(of, window_.hull), window_.size); };
    // Of several words: the clock of the first, the highest level, odd where any is.
    Value* others = nullptr;
    for (std::uint64_t done = 8; words && done < size; done += 8) {
      auto* const next = at.CreateLoad(e_.word, e_.word_cell(at, at.CreateAdd(address, e_.number(done))));
      auto* odd = at.CreateICmpSLT(next, e_.number(0));
      if (check) odd = at.CreateOr(odd, carried(next));
      others = others ? at.CreateOr(others, odd) : odd;
      auto* const level = at.CreateAnd(next, e_.number(seq::level_mask));
      auto* const own = at.CreateAnd(cell, e_.number(seq::level_mask));
      auto* const rest = at.CreateAnd(cell, e_.number(~seq::level_mask));
      cell = at.CreateOr(rest, e_.larger(at, own, level));
    }
    auto* const context = unlikely(f_.getContext());
    auto const join = [&](Value* common, Value* other, BasicBlock* common_from, BasicBlock* other_from) {
      auto* const phi = PHINode::Create(e_.word, 2, "seqprof.cell", load.getParent()->begin());
      phi->addIncoming(common, common_from);
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
    if (check) odd = at.CreateOr(odd, carried(cell));
    if (others) odd = at.CreateOr(odd, others);
    auto* const from = load.getParent();
    auto* const then = SplitBlockAndInsertIfThen(odd, &load, false, context);
    auto* const looked = slow_load(load, address, size, check, then);
    if (wanted) cell = join(cell, looked, from, then->getParent());
  }
  at.SetInsertPoint(&load);
  if (wanted) level_[&load] = at.CreateAnd(cell, e_.number(seq::level_mask));
}

void Instrumenter::visit_store(StoreInst& store) {
  if (is_result_of_region(store)) return;
  auto* const type = store.getValueOperand()->getType();
  auto const size = layout_.getTypeStoreSize(type).getFixedValue();
  IRBuilder<> at(&store);
  auto* const address = at.CreatePtrToInt(store.getPointerOperand(), e_.word);
  note_access(store, address, size, false);
  at.SetInsertPoint(&store);
  auto* const cell = at.CreateAdd(at.CreateLoad(e_.word, clock_), level(store.getValueOperand()));
  bool const scalar = !type->isVectorTy() && store.getAlign().value() >= size;
  if (mode_.all_dependences) {
    auto* const site = facts_.reduction_stores.contains(&store) ? null() : site_of(store);
    at.CreateCall(e_.runtime("kernelcast_seq_store_all", e_.none, {e_.word, e_.word, e_.word, e_.pointer, e_.pointer}),
                  {address, e_.number(size), cell, site, top_frame(at)});
  } else if ((scalar && size == 8) || is_words(size, store.getAlign())) {
    for (std::uint64_t done = 0; done < size; done += 8)
      at.CreateStore(cell, e_.word_cell(at, done == 0 ? address : at.CreateAdd(address, e_.number(done))));
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

// With all dependences: what overwrites a place waits for the operations that used what stood there.
void Instrumenter::used(Instruction& operation, Value const* operand, Value* level) {
  auto const* const load = loaded_from(operand);
  if (!load) return;
  IRBuilder<> at(&operation);
  at.CreateCall(e_.runtime("kernelcast_seq_used", e_.none, {e_.word, e_.word, e_.word}),
                {at.CreatePtrToInt(const_cast<Value*>(load->getPointerOperand()), e_.word),
                 e_.number(layout_.getTypeStoreSize(load->getType()).getFixedValue()), level});
}

// Memory is allotted: what happened at these addresses before does not affect the new allocation.
void Instrumenter::begin_lifetime(Instruction* before, Value* memory, Value* size) {
  IRBuilder<> at(before);
  at.CreateCall(e_.runtime("kernelcast_seq_clear", e_.none, {e_.pointer, e_.word}), {memory, size});
}
void Instrumenter::local_begins(AllocaInst& local) {
  auto* const next = local.getNextNode();
  IRBuilder<> at(next);
  auto* const count = at.CreateZExtOrTrunc(local.getArraySize(), e_.word);
  auto const size = layout_.getTypeAllocSize(local.getAllocatedType()).getFixedValue();
  begin_lifetime(next, &local, at.CreateMul(count, e_.number(size)));
}

}  // namespace kernelcast::llvm_passes
