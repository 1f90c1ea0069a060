// A naive profiler, to check seqprof against: it interprets the code that seqprof measures (seqprof --keep), follows
// every byte and every loop by definition, and keeps the references in a list.
//
//   seqprof_reference FILE.ll KERNEL [all]   ->   quantity,low,count rows; all: all dependences
//
// It shares with the pass only what is known without running: which loops have reductions or recurrences.
// Limits: the scalar types and the instructions of the programs that generator.cpp writes.
#include <cmath>
#include <cstdio>
#include <cstring>
#include <list>
#include <map>
#include <unordered_map>

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Operator.h>
#include <llvm/IRReader/IRReader.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/SourceMgr.h>
#include <llvm/Support/raw_ostream.h>

#include "sequential/llvm/seqprof/levels.hpp"
#include "sequential/llvm/seqprof/loops.hpp"

using namespace llvm;
using kernelcast::llvm_passes::Operation;

namespace {

struct Cell {
  std::uint64_t bits = 0;
  std::uint64_t level = 0;
};

// One running loop: which run of it, and its iteration.
struct Step {
  Loop const* loop;
  std::uint64_t run, iteration;
};
using Place = std::vector<Step>;

struct LoopTotals {
  std::uint64_t iterations = 0, entries = 0;
  bool carried = false;
};

[[noreturn]] void unknown(std::string const& what) {
  std::fprintf(stderr, "reference: cannot interpret %s\n", what.c_str());
  std::exit(1);
}

class Interpreter {
 public:
  Interpreter(Module& module, std::string kernel, bool all)
      : module_(module), layout_(module.getDataLayout()), kernel_(std::move(kernel)), all_(all) {
    PassBuilder builder;
    builder.registerModuleAnalyses(module_analyses_);
    builder.registerCGSCCAnalyses(component_analyses_);
    builder.registerFunctionAnalyses(analyses_);
    builder.registerLoopAnalyses(loop_analyses_);
    builder.crossRegisterProxies(loop_analyses_, analyses_, component_analyses_, module_analyses_);
    for (auto& global : module.globals()) {
      auto const size = layout_.getTypeAllocSize(global.getValueType()).getFixedValue();
      auto* const memory = static_cast<char*>(std::aligned_alloc(64, (size + 63) / 64 * 64));
      std::memset(memory, 0, size);
      globals_[&global] = memory;
    }
    for (auto& global : module.globals())
      if (global.hasInitializer()) initialise(globals_[&global], global.getInitializer());
  }

  void run() { call(*module_.getFunction("main"), {}); }
  void print() const;

 private:
  struct Frame {
    std::unordered_map<Value const*, Cell> values;
    std::unordered_map<LoadInst const*, std::uint64_t> addresses;  // of the last execution
  };

  void initialise(char* to, Constant const* c) {
    if (isa<ConstantAggregateZero, UndefValue>(c)) return;
    if (auto const* const data = dyn_cast<ConstantDataSequential>(c)) {
      auto const raw = data->getRawDataValues();
      std::memcpy(to, raw.data(), raw.size());
    } else if (auto const* const array = dyn_cast<ConstantAggregate>(c)) {
      auto const step = layout_.getTypeAllocSize(array->getOperand(0)->getType()).getFixedValue();
      for (unsigned i = 0; i < array->getNumOperands(); ++i)
        initialise(to + i * step, cast<Constant>(array->getOperand(i)));
    } else {
      auto const bits = constant(c);
      std::memcpy(to, &bits, layout_.getTypeStoreSize(c->getType()).getFixedValue());
    }
  }

  std::uint64_t constant(Constant const* c) {
    if (auto const* const i = dyn_cast<ConstantInt>(c)) return i->getZExtValue();
    if (auto const* const f = dyn_cast<ConstantFP>(c)) return f->getValueAPF().bitcastToAPInt().getZExtValue();
    if (isa<ConstantPointerNull, UndefValue>(c)) return 0;
    if (auto const* const g = dyn_cast<GlobalVariable>(c)) return reinterpret_cast<std::uint64_t>(globals_.at(g));
    if (auto const* const e = dyn_cast<GEPOperator>(c)) {
      APInt offset(64, 0);
      if (e->accumulateConstantOffset(layout_, offset))
        return constant(cast<Constant>(e->getPointerOperand())) + static_cast<std::uint64_t>(offset.getSExtValue());
    }
    unknown("a constant");
  }
  Cell value(Frame& frame, Value const* v) {
    if (auto const* const c = dyn_cast<Constant>(v)) return {constant(c), 0};
    return frame.values.at(v);
  }

  void touch(std::uint64_t address, std::uint64_t size) {
    for (auto block = address / 8; block <= (address + size - 1) / 8; ++block) {
      auto const known = where_.find(block);
      if (known == where_.end()) {
        ++cold_;
      } else {
        std::uint64_t distance = 0;
        for (auto at = recent_.begin(); at != known->second; ++at) ++distance;
        ++distances_[distance];
        recent_.erase(known->second);
      }
      recent_.push_front(block);
      where_[block] = recent_.begin();
    }
  }
  // The loop whose iterations differ between the write and now.
  void carried(Place const& then) {
    for (std::size_t i = 0; i < then.size() && i < place_.size(); ++i) {
      if (then[i].run != place_[i].run) return;
      if (then[i].iteration != place_[i].iteration) {
        totals_[place_[i].loop].carried = true;
        return;
      }
    }
  }

  std::uint64_t read_level(std::uint64_t address, std::uint64_t size, bool orders) {
    std::uint64_t level = 0;
    for (std::uint64_t b = 0; b < size; ++b)
      if (auto const at = bytes_.find(address + b); at != bytes_.end()) {
        level = std::max(level, at->second.first);
        if (orders) carried(at->second.second);
      }
    return level;
  }
  // A write comes after what it overwrites, after its reads and the operations that used them, when all dependences
  // count; `orders` is false for reductions.
  void write_level(std::uint64_t address, std::uint64_t size, std::uint64_t level, bool orders) {
    for (std::uint64_t b = 0; b < size && all_; ++b) {
      if (auto const at = bytes_.find(address + b); at != bytes_.end()) {
        level = std::max(level, at->second.first);
        if (orders) carried(at->second.second);
      }
      auto& reads = reads_[address + b];
      level = std::max(level, reads.level);
      for (auto const& place : reads.places)
        if (orders) carried(place);
      reads = {};
    }
    for (std::uint64_t b = 0; b < size; ++b) bytes_[address + b] = {level, place_};
  }
  void note_read(std::uint64_t address, std::uint64_t size) {
    for (std::uint64_t b = 0; b < size && all_; ++b) {
      auto& places = reads_[address + b].places;
      if (places.empty() || !same(places.back(), place_)) places.push_back(place_);
    }
  }
  static bool same(Place const& a, Place const& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](Step const& x, Step const& y) {
      return x.loop == y.loop && x.run == y.run && x.iteration == y.iteration;
    });
  }
  void note_use(std::uint64_t address, std::uint64_t size, std::uint64_t level) {
    for (std::uint64_t b = 0; b < size; ++b) {
      auto& reads = reads_[address + b];
      reads.level = std::max(reads.level, level);
    }
  }
  void forget(std::uint64_t address, std::uint64_t size) {
    for (std::uint64_t b = 0; b < size && all_; ++b) {
      bytes_.erase(address + b);
      reads_.erase(address + b);
    }
  }

  Cell call(Function& f, std::vector<Cell> const& arguments);
  Cell outside(CallBase const&, Frame&, std::string const& name);
  Cell compute(Instruction&, Frame&);
  void enter(BasicBlock const* from, BasicBlock const* to, LoopInfo const&, std::size_t depth_of_function);

  static double as_double(std::uint64_t bits, Type const* type) {
    if (type->isFloatTy()) {
      auto const small = static_cast<std::uint32_t>(bits);
      float f;
      std::memcpy(&f, &small, 4);
      return f;
    }
    double d;
    std::memcpy(&d, &bits, 8);
    return d;
  }
  static std::uint64_t as_bits(double d, Type const* type) {
    if (type->isFloatTy()) {
      auto const f = static_cast<float>(d);
      std::uint32_t bits;
      std::memcpy(&bits, &f, 4);
      return bits;
    }
    std::uint64_t bits;
    std::memcpy(&bits, &d, 8);
    return bits;
  }
  static std::int64_t as_signed(std::uint64_t bits, Type const* type) {
    auto const width = type->getIntegerBitWidth();
    return static_cast<std::int64_t>(bits << (64 - width)) >> (64 - width);
  }
  static std::uint64_t cut(std::uint64_t bits, Type const* type) {
    auto const width = type->isIntegerTy() ? type->getIntegerBitWidth() : 64;
    return width == 64 ? bits : bits & ((std::uint64_t{1} << width) - 1);
  }

  Module& module_;
  DataLayout const& layout_;
  std::string kernel_;
  ModuleAnalysisManager module_analyses_;
  CGSCCAnalysisManager component_analyses_;
  FunctionAnalysisManager analyses_;
  LoopAnalysisManager loop_analyses_;
  std::map<Function*, kernelcast::llvm_passes::FunctionLoops> facts_;
  std::unordered_map<GlobalVariable const*, char*> globals_;
  bool all_, inside_ = false;

  std::map<std::uint64_t, std::uint64_t> widths_, distances_;
  std::map<Operation, std::uint64_t> operations_;
  std::uint64_t loads_ = 0, stores_ = 0, cold_ = 0, runs_ = 0;
  std::list<std::uint64_t> recent_;
  std::unordered_map<std::uint64_t, std::list<std::uint64_t>::iterator> where_;
  std::unordered_map<std::uint64_t, std::pair<std::uint64_t, Place>> bytes_;
  struct Reads {
    std::uint64_t level = 0;  // of the operations that used them
    std::vector<Place> places;
  };
  std::unordered_map<std::uint64_t, Reads> reads_;  // since the last write
  Place place_;
  std::map<Loop const*, LoopTotals> totals_;
};

// Keeps the stack of running loops when control goes from one block to another.
void Interpreter::enter(BasicBlock const* from, BasicBlock const* to, LoopInfo const& info, std::size_t base) {
  if (!inside_) return;
  while (place_.size() > base && !place_.back().loop->contains(to)) place_.pop_back();
  auto const* const loop = info.getLoopFor(to);
  if (!loop || loop->getHeader() != to) return;
  if (loop->contains(from)) {
    ++place_.back().iteration;
  } else {
    place_.push_back({loop, ++runs_, 1});
    ++totals_[loop].entries;
  }
  ++totals_[loop].iterations;
}

Cell Interpreter::compute(Instruction& i, Frame& frame) {
  auto* const type = i.getType();
  auto const op = [&](unsigned n) { return value(frame, i.getOperand(n)); };
  Cell out;
  if (!type->isPointerTy())
    for (auto const& operand : i.operands())
      if (!operand->getType()->isPointerTy() && !operand->getType()->isLabelTy())
        out.level = std::max(out.level, value(frame, operand).level);
  auto const* const of = i.getOperand(0)->getType();
  if (isa<BinaryOperator>(i) && type->isFloatingPointTy()) {
    auto const a = as_double(op(0).bits, type), b = as_double(op(1).bits, type);
    switch (i.getOpcode()) {
      case Instruction::FAdd:
        out.bits = type->isFloatTy() ? as_bits(float(a) + float(b), type) : as_bits(a + b, type);
        break;
      case Instruction::FSub:
        out.bits = type->isFloatTy() ? as_bits(float(a) - float(b), type) : as_bits(a - b, type);
        break;
      case Instruction::FMul:
        out.bits = type->isFloatTy() ? as_bits(float(a) * float(b), type) : as_bits(a * b, type);
        break;
      case Instruction::FDiv:
        out.bits = type->isFloatTy() ? as_bits(float(a) / float(b), type) : as_bits(a / b, type);
        break;
      default:
        unknown(i.getOpcodeName());
    }
    return out;
  }
  if (isa<BinaryOperator>(i)) {
    auto const a = op(0).bits, b = op(1).bits;
    auto const sa = as_signed(a, type), sb = as_signed(b, type);
    switch (i.getOpcode()) {
      case Instruction::Add:
        out.bits = a + b;
        break;
      case Instruction::Sub:
        out.bits = a - b;
        break;
      case Instruction::Mul:
        out.bits = a * b;
        break;
      case Instruction::And:
        out.bits = a & b;
        break;
      case Instruction::Or:
        out.bits = a | b;
        break;
      case Instruction::Xor:
        out.bits = a ^ b;
        break;
      case Instruction::Shl:
        out.bits = a << b;
        break;
      case Instruction::LShr:
        out.bits = a >> b;
        break;
      case Instruction::AShr:
        out.bits = static_cast<std::uint64_t>(sa >> b);
        break;
      case Instruction::UDiv:
        out.bits = a / b;
        break;
      case Instruction::URem:
        out.bits = a % b;
        break;
      case Instruction::SDiv:
        out.bits = static_cast<std::uint64_t>(sa / sb);
        break;
      case Instruction::SRem:
        out.bits = static_cast<std::uint64_t>(sa % sb);
        break;
      default:
        unknown(i.getOpcodeName());
    }
    out.bits = cut(out.bits, type);
    return out;
  }
  switch (i.getOpcode()) {
    case Instruction::FNeg:
      out.bits = as_bits(-as_double(op(0).bits, type), type);
      break;
    case Instruction::ZExt:
    case Instruction::Trunc:
    case Instruction::BitCast:
    case Instruction::Freeze:
      out.bits = cut(op(0).bits, type);
      break;
    case Instruction::SExt:
      out.bits = cut(static_cast<std::uint64_t>(as_signed(op(0).bits, of)), type);
      break;
    case Instruction::FPExt:
    case Instruction::FPTrunc:
      out.bits = as_bits(as_double(op(0).bits, of), type);
      break;
    case Instruction::SIToFP:
      out.bits = as_bits(type->isFloatTy() ? static_cast<float>(as_signed(op(0).bits, of))
                                           : static_cast<double>(as_signed(op(0).bits, of)),
                         type);
      break;
    case Instruction::UIToFP:
      out.bits = as_bits(static_cast<double>(op(0).bits), type);
      break;
    case Instruction::FPToSI:
      out.bits = cut(static_cast<std::uint64_t>(static_cast<std::int64_t>(as_double(op(0).bits, of))), type);
      break;
    case Instruction::FPToUI:
      out.bits = cut(static_cast<std::uint64_t>(as_double(op(0).bits, of)), type);
      break;
    case Instruction::ICmp: {
      auto const& c = cast<ICmpInst>(i);
      auto const width = of->isPointerTy() ? 64 : of->getIntegerBitWidth();
      out.bits = ICmpInst::compare(APInt(width, op(0).bits), APInt(width, op(1).bits), c.getPredicate());
      break;
    }
    case Instruction::FCmp:
      out.bits = FCmpInst::compare(APFloat(as_double(op(0).bits, of)), APFloat(as_double(op(1).bits, of)),
                                   cast<FCmpInst>(i).getPredicate());
      break;
    case Instruction::Select: {
      auto const chosen = op(op(0).bits ? 1 : 2);
      out = chosen;
      break;
    }
    case Instruction::GetElementPtr: {
      auto const& gep = cast<GEPOperator>(i);
      MapVector<Value*, APInt> variable;
      APInt fixed(64, 0);
      if (!gep.collectOffset(layout_, 64, variable, fixed)) unknown("an address");
      out.bits = op(0).bits + fixed.getZExtValue();
      for (auto const& [index, scale] : variable)
        out.bits +=
            static_cast<std::uint64_t>(as_signed(value(frame, index).bits, index->getType())) * scale.getZExtValue();
      break;
    }
    default:
      unknown(i.getOpcodeName());
  }
  return out;
}

Cell Interpreter::outside(CallBase const& call, Frame& frame, std::string const& name) {
  std::vector<Cell> a;
  for (auto const& argument : call.args())
    a.push_back(argument->getType()->isMetadataTy() ? Cell{} : value(frame, argument));
  auto* const type = call.getType();
  Cell out;
  for (auto const& cell : a) out.level = std::max(out.level, cell.level);
  auto const x = [&](unsigned n) { return as_double(a[n].bits, call.getArgOperand(n)->getType()); };
  auto const begins = [&](char const* text) { return name.starts_with(text); };
  if (begins("llvm.lifetime.start") && inside_) forget(a[1].bits, a[0].bits);
  if (begins("llvm.dbg") || begins("llvm.lifetime") || begins("llvm.assume") || begins("llvm.experimental")) return {};
  if (name == "malloc" || name == "calloc") {
    auto const size = (name == "malloc" ? a[0].bits : a[0].bits * a[1].bits) + 64;
    auto* const memory = std::aligned_alloc(64, size / 64 * 64 + 64);
    std::memset(memory, 0, size);
    return {reinterpret_cast<std::uint64_t>(memory), 0};
  }
  if (name == "strtol" || name == "atoi")
    return {cut(static_cast<std::uint64_t>(std::strtol(reinterpret_cast<char const*>(a[0].bits), nullptr, 10)), type),
            0};
  if (name == "printf" || name == "puts" || name == "putchar") return {};
  if (begins("llvm.sqrt") || name == "sqrt") {
    out.bits = as_bits(std::sqrt(x(0)), type);
    return out;
  }
  if (begins("llvm.fabs") || name == "fabs") {
    out.bits = as_bits(std::fabs(x(0)), type);
    return out;
  }
  if (begins("llvm.exp") || name == "exp") {
    out.bits = as_bits(std::exp(x(0)), type);
    return out;
  }
  if (begins("llvm.memcpy") || begins("llvm.memmove") || begins("llvm.memset")) {
    auto const n = a[2].bits;
    bool const copies = !begins("llvm.memset");
    std::vector<std::uint64_t> levels;
    if (copies)
      std::memmove(reinterpret_cast<void*>(a[0].bits), reinterpret_cast<void*>(a[1].bits), n);
    else
      std::memset(reinterpret_cast<void*>(a[0].bits), static_cast<int>(a[1].bits), n);
    if (!inside_) return {};
    for (std::uint64_t at = 0; at < n; at += 8) {
      auto const size = std::min<std::uint64_t>(8, n - at);
      if (copies) touch(a[1].bits + at, size), ++loads_;
      touch(a[0].bits + at, size), ++stores_;
    }
    if (copies)
      for (std::uint64_t at = 0; at < n; ++at) {
        levels.push_back(read_level(a[1].bits + at, 1, true));
        note_read(a[1].bits + at, 1);
      }
    for (std::uint64_t at = 0; at < n; ++at) write_level(a[0].bits + at, 1, copies ? levels[at] : 0, true);
    return {};
  }
  unknown(name);
}

Cell Interpreter::call(Function& f, std::vector<Cell> const& arguments) {
  Frame frame;
  for (unsigned n = 0; n < arguments.size(); ++n) frame.values[f.getArg(n)] = arguments[n];
  auto& info = analyses_.getResult<LoopAnalysis>(f);
  auto& library = analyses_.getResult<TargetLibraryAnalysis>(f);
  if (!facts_.contains(&f)) facts_[&f] = kernelcast::llvm_passes::study_loops(f, analyses_, {});
  auto const& facts = facts_.at(&f);
  bool const outermost = f.getName() == kernel_ && !inside_;
  if (outermost) inside_ = true;
  auto const base = place_.size();
  std::vector<void*> locals;
  auto const* block = &f.getEntryBlock();
  BasicBlock const* before = nullptr;
  Cell result;
  for (bool running = true; running;) {
    std::vector<std::pair<Value const*, Cell>> merged;
    for (auto const& phi : block->phis()) merged.emplace_back(&phi, value(frame, phi.getIncomingValueForBlock(before)));
    for (auto const& [v, cell] : merged) frame.values[v] = cell;
    for (auto const& constant_i : *block) {
      auto& i = const_cast<Instruction&>(constant_i);
      if (isa<PHINode>(i)) continue;
      auto const operation = inside_ ? kernelcast::llvm_passes::operation_of(i, library) : Operation::none;
      if (auto const* const load = dyn_cast<LoadInst>(&i)) {
        auto const address = value(frame, load->getPointerOperand()).bits;
        auto const size = layout_.getTypeStoreSize(load->getType()).getFixedValue();
        Cell cell;
        std::memcpy(&cell.bits, reinterpret_cast<void*>(address), size);
        if (inside_) {
          ++loads_;
          touch(address, size);
          bool const orders = !facts.reduction_loads.contains(load);
          cell.level = read_level(address, size, orders);
          if (orders) note_read(address, size);
          frame.addresses[load] = address;
          if (load->getType()->isPointerTy()) cell.level = 0;
        }
        frame.values[&i] = cell;
      } else if (auto const* const store = dyn_cast<StoreInst>(&i)) {
        auto const address = value(frame, store->getPointerOperand()).bits;
        auto const cell = value(frame, store->getValueOperand());
        auto const size = layout_.getTypeStoreSize(store->getValueOperand()->getType()).getFixedValue();
        std::memcpy(reinterpret_cast<void*>(address), &cell.bits, size);
        if (inside_) {
          ++stores_;
          touch(address, size);
          write_level(address, size, cell.level, !facts.reduction_stores.contains(store));
        }
      } else if (auto const* const made = dyn_cast<AllocaInst>(&i)) {
        auto const size = layout_.getTypeAllocSize(made->getAllocatedType()).getFixedValue() *
                          value(frame, made->getArraySize()).bits;
        locals.push_back(std::aligned_alloc(64, (size + 63) / 64 * 64));
        std::memset(locals.back(), 0, size);
        frame.values[&i] = {reinterpret_cast<std::uint64_t>(locals.back()), 0};
      } else if (auto const* const made_call = dyn_cast<CallBase>(&i)) {
        auto* const callee = made_call->getCalledFunction();
        if (!callee) unknown("a call by pointer");
        if (callee->isDeclaration()) {
          frame.values[&i] = outside(*made_call, frame, callee->getName().str());
        } else {
          std::vector<Cell> given;
          for (auto const& argument : made_call->args()) {
            given.push_back(value(frame, argument));
            if (argument->getType()->isPointerTy() || callee->getName() == kernel_) given.back().level = 0;
          }
          frame.values[&i] = call(*callee, given);
          while (place_.size() > base && !place_.back().loop->contains(block)) place_.pop_back();
        }
      } else if (auto const* const ret = dyn_cast<ReturnInst>(&i)) {
        if (ret->getReturnValue()) result = value(frame, ret->getReturnValue());
        running = false;
      } else if (i.isTerminator()) {
        BasicBlock const* next = nullptr;
        if (auto const* const branch = dyn_cast<BranchInst>(&i))
          next = branch->isUnconditional() ? branch->getSuccessor(0)
                                           : branch->getSuccessor(value(frame, branch->getCondition()).bits ? 0 : 1);
        else if (auto const* const choice = dyn_cast<SwitchInst>(&i))
          next = choice
                     ->findCaseValue(ConstantInt::get(cast<IntegerType>(choice->getCondition()->getType()),
                                                      value(frame, choice->getCondition()).bits))
                     ->getCaseSuccessor();
        else
          unknown(i.getOpcodeName());
        before = block;
        enter(block, next, info, base);
        block = next;
      } else {
        frame.values[&i] = compute(i, frame);
      }
      if (operation != Operation::none) {
        auto& cell = frame.values.at(&i);
        ++widths_[++cell.level];
        ++operations_[operation];
        for (auto const& operand : i.operands())
          if (auto const* const load = all_ ? kernelcast::llvm_passes::loaded_from(operand) : nullptr)
            note_use(frame.addresses.at(load), layout_.getTypeStoreSize(load->getType()).getFixedValue(), cell.level);
      }
    }
  }
  if (place_.size() > base) place_.resize(base);
  if (outermost) inside_ = false;
  return result;
}

void Interpreter::print() const {
  auto const row = [](char const* quantity, std::string const& low, std::uint64_t count) {
    std::printf("%s,%s,%llu\n", quantity, low.c_str(), static_cast<unsigned long long>(count));
  };
  auto const count = [&](Operation o) { return operations_.contains(o) ? operations_.at(o) : 0; };
  row("w_add", "", count(Operation::add));
  row("w_mul", "", count(Operation::mul));
  row("w_div", "", count(Operation::div));
  row("w_sqrt", "", count(Operation::sqrt));
  row("w_call", "", count(Operation::call));
  row("depth", "", widths_.empty() ? 0 : widths_.rbegin()->first);
  std::map<std::uint64_t, std::uint64_t> of_width;
  for (auto const& [level, width] : widths_) ++of_width[width];
  for (auto const& [width, levels] : of_width) row("level_width", std::to_string(width), levels);
  row("load", "", loads_);
  row("store", "", stores_);
  for (auto const& [distance, n] : distances_) row("stack_distance", std::to_string(distance), n);
  row("stack_distance", "cold", cold_);
  std::map<std::string, std::array<std::uint64_t, 3>> loops;
  for (auto const& [loop, totals] : totals_) {
    auto* const function = loop->getHeader()->getParent();
    auto const& facts = facts_.at(function);
    bool const sequential = totals.carried || facts.facts.lookup(loop).kind == kernelcast::seq::LoopKind::recurrence;
    auto& entry = loops[std::to_string(loop->getStartLoc().getLine())];
    entry[0] += totals.iterations;
    entry[1] += totals.entries;
    entry[2] |= sequential;
  }
  for (auto const& [line, entry] : loops) {
    row("loop_iterations", line, entry[0]);
    row("loop_entries", line, entry[1]);
    row("loop_sequential", line, entry[2]);
  }
}

}  // namespace

int main(int argc, char** argv) {
  bool const all = argc == 4 && std::strcmp(argv[3], "all") == 0;
  if (argc != 3 && !all) {
    std::fputs("usage: seqprof_reference FILE.ll KERNEL [all]\n", stderr);
    return 2;
  }
  LLVMContext context;
  SMDiagnostic problem;
  auto const module = parseIRFile(argv[1], problem, context);
  if (!module) {
    problem.print("reference", errs());
    return 3;
  }
  Interpreter interpreter(*module, argv[2], all);
  interpreter.run();
  interpreter.print();
}
