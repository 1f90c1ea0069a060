#include "sequential/llvm/seqprof/levels.hpp"

#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>

namespace kernelcast::llvm_passes {

using namespace llvm;

namespace {

bool may_carry(Type const* type) {
  return type->isFPOrFPVectorTy() || type->isIntOrIntVectorTy() || type->isAggregateType();
}

// Functions of <math.h> that are bit operations, roundings or choices.
bool is_free(LibFunc function) {
  switch (function) {
    case LibFunc_fabs:
    case LibFunc_fabsf:
    case LibFunc_fabsl:
    case LibFunc_copysign:
    case LibFunc_copysignf:
    case LibFunc_copysignl:
    case LibFunc_floor:
    case LibFunc_floorf:
    case LibFunc_floorl:
    case LibFunc_ceil:
    case LibFunc_ceilf:
    case LibFunc_ceill:
    case LibFunc_trunc:
    case LibFunc_truncf:
    case LibFunc_truncl:
    case LibFunc_round:
    case LibFunc_roundf:
    case LibFunc_roundl:
    case LibFunc_rint:
    case LibFunc_rintf:
    case LibFunc_rintl:
    case LibFunc_nearbyint:
    case LibFunc_nearbyintf:
    case LibFunc_nearbyintl:
    case LibFunc_fmin:
    case LibFunc_fminf:
    case LibFunc_fminl:
    case LibFunc_fmax:
    case LibFunc_fmaxf:
    case LibFunc_fmaxl:
      return true;
    default:
      return false;
  }
}

Operation of_intrinsic(Intrinsic::ID id) {
  switch (id) {
    case Intrinsic::sqrt:
      return Operation::sqrt;
    case Intrinsic::fma:
    case Intrinsic::fmuladd:
    case Intrinsic::pow:
    case Intrinsic::powi:
    case Intrinsic::exp:
    case Intrinsic::exp2:
    case Intrinsic::exp10:
    case Intrinsic::log:
    case Intrinsic::log2:
    case Intrinsic::log10:
    case Intrinsic::sin:
    case Intrinsic::cos:
    case Intrinsic::tan:
    case Intrinsic::ldexp:
      return Operation::call;
    default:
      return Operation::none;
  }
}

bool library_function(CallBase const& call, TargetLibraryInfo const& library, LibFunc& function) {
  auto const* const callee = call.getCalledFunction();
  return callee && !callee->isIntrinsic() && library.getLibFunc(*callee, function) && library.has(function);
}

}  // namespace

bool is_mathematics(CallBase const& call, TargetLibraryInfo const& library) {
  if (isa<IntrinsicInst>(call)) return true;
  LibFunc function;
  if (!library_function(call, library, function)) return false;
  if (!call.getType()->isFloatingPointTy() || call.arg_size() == 0) return false;
  for (auto const& argument : call.args())
    if (!argument->getType()->isFloatingPointTy() && !argument->getType()->isIntegerTy()) return false;
  return true;
}

Operation operation_of(Instruction const& i, TargetLibraryInfo const& library) {
  if (!i.getType()->isFPOrFPVectorTy()) return Operation::none;
  switch (i.getOpcode()) {
    case Instruction::FAdd:
    case Instruction::FSub:
      return Operation::add;
    case Instruction::FMul:
      return Operation::mul;
    case Instruction::FDiv:
      return Operation::div;
    case Instruction::FRem:
      return Operation::call;
    default:
      break;
  }
  auto const* const call = dyn_cast<CallBase>(&i);
  if (!call) return Operation::none;
  if (auto const* const intrinsic = dyn_cast<IntrinsicInst>(call)) return of_intrinsic(intrinsic->getIntrinsicID());
  LibFunc function;
  if (!is_mathematics(*call, library) || !library_function(*call, library, function) || is_free(function))
    return Operation::none;
  if (function == LibFunc_sqrt || function == LibFunc_sqrtf || function == LibFunc_sqrtl) return Operation::sqrt;
  return Operation::call;
}

LoadInst const* loaded_from(Value const* v) {
  for (auto const* i = dyn_cast<Instruction>(v); i; i = dyn_cast<Instruction>(v)) {
    if (auto const* const load = dyn_cast<LoadInst>(i)) return load;
    if (!isa<CastInst, FreezeInst>(i) && i->getOpcode() != Instruction::FNeg) return nullptr;
    v = i->getOperand(0);
  }
  return nullptr;
}

unsigned lanes_of(Instruction const& i) {
  auto const* const vector = dyn_cast<FixedVectorType>(i.getType());
  return vector ? vector->getNumElements() : 1;
}

SmallPtrSet<Value const*, 32> values_with_level(Function& function, TargetLibraryInfo const& library) {
  SmallPtrSet<Value const*, 32> possible, wanted;
  SmallVector<Value const*, 32> todo;
  // Forwards: what may be above 0.
  auto const mark = [&](Value const* v) {
    if (may_carry(v->getType()) && possible.insert(v).second) todo.push_back(v);
  };
  for (auto const& argument : function.args()) mark(&argument);
  for (auto const& i : instructions(function))
    if (isa<LoadInst>(i) || operation_of(i, library) != Operation::none || (isa<CallBase>(i) && !isa<IntrinsicInst>(i)))
      mark(&i);
  while (!todo.empty())
    for (auto const* const user : todo.pop_back_val()->users())
      if (isa<Instruction>(user) && !isa<LoadInst>(user)) mark(user);
  // Backwards: what is asked for.
  auto const want = [&](Value const* v) {
    if (possible.contains(v) && wanted.insert(v).second) todo.push_back(v);
  };
  for (auto const& i : instructions(function)) {
    bool const operation = operation_of(i, library) != Operation::none;
    if (operation || isa<ReturnInst>(i) || (isa<CallBase>(i) && !isa<IntrinsicInst>(i)))
      for (auto const& operand : i.operands()) want(operand);
    if (auto const* const store = dyn_cast<StoreInst>(&i)) want(store->getValueOperand());
  }
  while (!todo.empty()) {
    auto const* const v = todo.pop_back_val();
    if (auto const* const i = dyn_cast<Instruction>(v); i && !isa<LoadInst>(i))
      for (auto const& operand : i->operands()) want(operand);
  }
  for (auto const& i : instructions(function))
    if (operation_of(i, library) != Operation::none) wanted.insert(&i);
  return wanted;
}

}  // namespace kernelcast::llvm_passes
