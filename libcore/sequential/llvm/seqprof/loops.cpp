// Method for registers: the values on a cycle through a phi of the loop's header are its recurrence. It is an induction
// where SCEV says so or one operation with an invariant operand makes it; a reduction where the operations are all of
// one associative kind (or a choice of the smaller or larger) and no other instruction of the loop looks at an
// intermediate value; else it makes the loop sequential.
#include "sequential/llvm/seqprof/loops.hpp"

#include <llvm/Analysis/AssumptionCache.h>
#include <llvm/Analysis/BlockFrequencyInfo.h>
#include <llvm/Analysis/DemandedBits.h>
#include <llvm/Analysis/LoopAccessAnalysis.h>
#include <llvm/Analysis/OptimizationRemarkEmitter.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/Analysis/TargetLibraryInfo.h>
#include <llvm/Analysis/TargetTransformInfo.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/Transforms/Utils/LoopUtils.h>
#include <llvm/Transforms/Vectorize/LoopVectorizationLegality.h>

namespace kernelcast::llvm_passes {

using namespace llvm;

namespace {

using Members = SmallPtrSet<Instruction*, 16>;

// The instructions of the loop on a cycle through `phi`.
Members cycle_of(PHINode& phi, Loop const& loop) {
  Members reached, members;
  SmallVector<Instruction*, 16> todo{&phi};
  while (!todo.empty()) {
    auto* const at = todo.pop_back_val();
    for (auto* const user : at->users())
      if (auto* const next = dyn_cast<Instruction>(user); next && loop.contains(next) &&
                                                          !isa<LoadInst, StoreInst>(next) &&
                                                          !next->getType()->isVoidTy() && reached.insert(next).second)
        todo.push_back(next);
  }
  if (!reached.contains(&phi)) return members;
  todo.push_back(&phi);
  members.insert(&phi);
  while (!todo.empty()) {
    auto* const at = todo.pop_back_val();
    for (auto& operand : at->operands())
      if (auto* const before = dyn_cast<Instruction>(operand);
          before && loop.contains(before) && reached.contains(before) && members.insert(before).second)
        todo.push_back(before);
  }
  return members;
}

enum class Group { none, add, mul, bits, least, other };

Group group_of(Instruction const& i, Members const& members) {
  if (isa<PHINode, SelectInst, CastInst, CmpInst, FreezeInst>(i)) return Group::none;
  if (auto const* const call = dyn_cast<IntrinsicInst>(&i)) switch (call->getIntrinsicID()) {
      case Intrinsic::minnum:
      case Intrinsic::maxnum:
      case Intrinsic::minimum:
      case Intrinsic::maximum:
      case Intrinsic::smin:
      case Intrinsic::smax:
      case Intrinsic::umin:
      case Intrinsic::umax:
        return Group::least;
      default:
        return Group::other;
    }
  switch (i.getOpcode()) {
    case Instruction::FAdd:
    case Instruction::Add:
      return Group::add;
    case Instruction::FSub:
    case Instruction::Sub: {
      auto const* const subtrahend = dyn_cast<Instruction>(i.getOperand(1));
      return subtrahend && members.contains(subtrahend) ? Group::other : Group::add;
    }
    case Instruction::FMul:
    case Instruction::Mul:
      return Group::mul;
    case Instruction::And:
    case Instruction::Or:
    case Instruction::Xor:
      return Group::bits;
    default:
      return Group::other;
  }
}

// x = x op c with an invariant c, and phis only beside it: the value of any iteration has a closed form.
bool is_progression(Members const& members, Loop const& loop) {
  Instruction const* step = nullptr;
  for (auto const* const i : members) {
    if (isa<PHINode, CastInst>(i)) continue;
    if (!isa<BinaryOperator>(i) || step) return false;
    step = i;
  }
  if (!step) return true;
  auto const is_member = [&](Value const* v) {
    auto const* const i = dyn_cast<Instruction>(v);
    return i && members.contains(i);
  };
  auto const *const a = step->getOperand(0), *const b = step->getOperand(1);
  return (is_member(a) && loop.isLoopInvariant(b)) || (is_member(b) && loop.isLoopInvariant(a));
}

// A compare of a running value with a candidate, whose outcome chooses between the two.
bool chooses_smaller(CmpInst const& compare, Members const& members) {
  for (auto const& operand : compare.operands())
    for (auto const* const user : operand->users())
      if (auto const* const choice = dyn_cast<Instruction>(user);
          choice && isa<PHINode, SelectInst>(choice) && members.contains(choice))
        if (auto const* const candidate = dyn_cast<Instruction>(operand); !candidate || !members.contains(candidate))
          return true;
  return false;
}

// Nothing in the loop looks at an intermediate value of the recurrence, but what makes it.
bool is_reduction(Members const& members, Loop const& loop) {
  auto group = Group::none;
  for (auto const* const i : members) {
    auto const own = group_of(*i, members);
    if (own == Group::other || (own != Group::none && group != Group::none && own != group)) return false;
    if (own != Group::none) group = own;
  }
  for (auto const* const i : members)
    for (auto const* const user : i->users()) {
      auto const* const inside = dyn_cast<Instruction>(user);
      if (!inside || !loop.contains(inside) || members.contains(inside)) continue;
      if (isa<CmpInst>(i) && isa<SelectInst, BranchInst>(inside)) continue;
      if (auto const* const compare = dyn_cast<CmpInst>(inside); compare && chooses_smaller(*compare, members))
        continue;
      return false;
    }
  return true;
}

LoopFacts study_registers(Loop& loop, ScalarEvolution& evolution) {
  LoopFacts facts;
  for (auto& phi : loop.getHeader()->phis()) {
    auto const members = cycle_of(phi, loop);
    if (members.empty() || is_progression(members, loop)) continue;
    if (evolution.isSCEVable(phi.getType()))
      if (auto const* const closed = dyn_cast<SCEVAddRecExpr>(evolution.getSCEV(&phi));
          closed && closed->getLoop() == &loop)
        continue;
    if (is_reduction(members, loop)) {
      if (facts.kind == seq::LoopKind::plain) facts.kind = seq::LoopKind::reduction;
    } else if (facts.kind != seq::LoopKind::recurrence) {
      facts.kind = seq::LoopKind::recurrence;
      facts.culprit = &phi;
    }
  }
  return facts;
}

// `value` is `load` combined by operations of one group, none of whose results is used elsewhere.
bool accumulates(Value const* value, LoadInst const* load, Group group, int depth) {
  if (value == load) return load->hasOneUse();
  auto const* const i = dyn_cast<Instruction>(value);
  if (!i || depth == 0 || !i->hasOneUse()) return false;
  auto const own = group_of(*i, {});
  if (own == Group::other || own == Group::none || (group != Group::none && own != group)) return false;
  if (accumulates(i->getOperand(0), load, own, depth - 1)) return true;
  bool const commutes = i->getOpcode() != Instruction::FSub && i->getOpcode() != Instruction::Sub;
  return commutes && accumulates(i->getOperand(1), load, own, depth - 1);
}

void find_reductions(Function& function, FunctionLoops& out) {
  for (auto& block : function)
    for (auto& i : block)
      if (auto const* const store = dyn_cast<StoreInst>(&i))
        for (auto const* const user : store->getPointerOperand()->users())
          if (auto const* const load = dyn_cast<LoadInst>(user);
              load && load->getParent() == &block && load->getType() == store->getValueOperand()->getType() &&
              load != store->getValueOperand() && load->comesBefore(store) &&
              accumulates(store->getValueOperand(), load, Group::none, 8))
            out.reduction_loads.insert(load), out.reduction_stores.insert(store);
}

// Asks LLVM's vectoriser. The loop's metadata says for a moment that vectorising was asked for, which allows
// floating-point reductions.
bool is_vectorizable(Loop& loop, Function& function, FunctionAnalysisManager& analyses) {
  if (!loop.isInnermost() || !loop.isLoopSimplifyForm()) return false;
  auto& evolution = analyses.getResult<ScalarEvolutionAnalysis>(function);
  auto& infos = analyses.getResult<LoopAccessAnalysis>(function);
  auto& remarks = analyses.getResult<OptimizationRemarkEmitterAnalysis>(function);
  auto& target = analyses.getResult<TargetIRAnalysis>(function);
  auto* const metadata = loop.getLoopID();
  addStringMetadataToLoop(&loop, "llvm.loop.vectorize.enable", 1);
  PredicatedScalarEvolution predicated(evolution, loop);
  LoopVectorizeHints hints(&loop, true, remarks, &target);
  LoopVectorizationRequirements requirements;
  LoopVectorizationLegality legality(&loop, predicated, &analyses.getResult<DominatorTreeAnalysis>(function), &target,
                                     &analyses.getResult<TargetLibraryAnalysis>(function), &function, infos,
                                     &analyses.getResult<LoopAnalysis>(function), &remarks, &requirements, &hints,
                                     &analyses.getResult<DemandedBitsAnalysis>(function),
                                     &analyses.getResult<AssumptionAnalysis>(function), nullptr, nullptr);
  bool const legal = legality.canVectorize(false);
  loop.setLoopID(metadata);
  return legal;
}

}  // namespace

namespace {
std::string name_of(Loop const& loop) {
  std::string text;
  raw_string_ostream out(text);
  if (auto const start = loop.getStartLoc()) start.print(out);
  return text;
}
}  // namespace

void find_vectorizable(Function& scratch, PassBuilder& builder, FunctionAnalysisManager& analyses,
                       VectorizableLoops& out) {
  FunctionPassManager passes;
  cantFail(builder.parsePassPipeline(passes,
                                     "simplifycfg,instcombine<no-verify-fixpoint>,loop-mssa(licm),gvn,simplifycfg,"
                                     "instcombine<no-verify-fixpoint>,loop-simplify,lcssa"));
  passes.run(scratch, analyses);
  analyses.invalidate(scratch, PreservedAnalyses::none());
  for (auto* const loop : analyses.getResult<LoopAnalysis>(scratch).getLoopsInPreorder())
    if (auto const name = name_of(*loop); !name.empty() && is_vectorizable(*loop, scratch, analyses)) out.insert(name);
  analyses.clear(scratch, scratch.getName());
}

FunctionLoops study_loops(Function& function, FunctionAnalysisManager& analyses,
                          VectorizableLoops const& vectorizable) {
  FunctionLoops out;
  auto& evolution = analyses.getResult<ScalarEvolutionAnalysis>(function);
  for (auto* const loop : analyses.getResult<LoopAnalysis>(function).getLoopsInPreorder()) {
    auto facts = study_registers(*loop, evolution);
    facts.vectorizable = loop->isInnermost() && vectorizable.contains(name_of(*loop));
    out.facts[loop] = facts;
  }
  find_reductions(function, out);
  return out;
}

}  // namespace kernelcast::llvm_passes
