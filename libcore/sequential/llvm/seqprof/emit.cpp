#include "sequential/llvm/seqprof/emit.hpp"

#include <llvm/ADT/SmallString.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/Support/Path.h>

namespace kernelcast::llvm_passes {

using namespace llvm;

Emitter::Emitter(Module& module)
    : none(Type::getVoidTy(module.getContext())),
      word(Type::getInt64Ty(module.getContext())),
      pointer(PointerType::getUnqual(module.getContext())),
      module_(&module),
      state_(module.getOrInsertGlobal("kernelcast_seq_state", word)) {}

Constant* Emitter::number(std::uint64_t n) const {
  return ConstantInt::get(word, n);
}

FunctionCallee Emitter::runtime(StringRef name, Type* result, ArrayRef<Type*> arguments) const {
  auto callee = module_->getOrInsertFunction(name, FunctionType::get(result, arguments, false));
  if (auto* const function = dyn_cast<Function>(callee.getCallee())) function->addFnAttr(Attribute::NoUnwind);
  return callee;
}

Value* Emitter::field(IRBuilderBase& at, Value* base, std::ptrdiff_t offset) const {
  return offset == 0 ? base : at.CreateConstInBoundsGEP1_64(at.getInt8Ty(), base, static_cast<std::uint64_t>(offset));
}
Value* Emitter::state(IRBuilderBase& at, std::size_t offset) const {
  return field(at, state_, static_cast<std::ptrdiff_t>(offset));
}
Value* Emitter::load_state(IRBuilderBase& at, std::size_t offset) const {
  return at.CreateLoad(word, state(at, offset));
}
void Emitter::store_state(IRBuilderBase& at, std::size_t offset, Value* value) const {
  at.CreateStore(value, state(at, offset));
}

void Emitter::add_to(IRBuilderBase& at, Value* address, Value* amount) const {
  at.CreateStore(at.CreateAdd(at.CreateLoad(word, address), amount), address);
}

Value* Emitter::word_cell(IRBuilderBase& at, Value* address) const {
  auto* const offset = at.CreateAnd(address, number(seq::address_mask & ~std::uint64_t{7}));
  return at.CreateIntToPtr(at.CreateAdd(offset, number(seq::words_base)), pointer);
}
Value* Emitter::half_cell(IRBuilderBase& at, Value* address) const {
  auto* const offset = at.CreateShl(at.CreateAnd(address, number(seq::address_mask & ~std::uint64_t{3})), 1);
  return at.CreateIntToPtr(at.CreateAdd(offset, number(seq::halves_base)), pointer);
}
Value* Emitter::width_counter(IRBuilderBase& at, Value* level) const {
  return at.CreateIntToPtr(at.CreateAdd(at.CreateShl(level, 3), number(seq::widths_base)), pointer);
}

Value* Emitter::larger(IRBuilderBase& at, Value* a, Value* b) const {
  auto const is_zero = [](Value const* v) {
    auto const* const constant = dyn_cast<ConstantInt>(v);
    return constant && constant->isZero();
  };
  if (is_zero(a) || a == b) return b;
  if (is_zero(b)) return a;
  return at.CreateBinaryIntrinsic(Intrinsic::umax, a, b);
}

GlobalVariable* Emitter::variable(Constant* content, StringRef name, bool constant) const {
  return new GlobalVariable(*module_, content->getType(), constant, GlobalValue::PrivateLinkage, content, name);
}

Constant* Emitter::text(StringRef s) const {
  auto const name = ("seqprof.text." + s).str();
  if (auto* const known = module_->getGlobalVariable(name, true)) return known;
  auto* const content = ConstantDataArray::getString(module_->getContext(), s);
  auto* const made = variable(content, name, true);
  made->setUnnamedAddr(GlobalValue::UnnamedAddr::Global);
  return made;
}

std::string file_of(DILocalScope const& scope) {
  auto const name = scope.getFilename(), folder = scope.getDirectory();
  auto const* const function = scope.getSubprogram();
  auto const* const unit = function ? function->getUnit() : nullptr;
  // A path that leaves the folder of the compilation is split by clang where it does.
  if (sys::path::is_absolute(name) || folder.empty() || !unit || folder == unit->getDirectory()) return name.str();
  SmallString<256> path(folder);
  sys::path::append(path, name);
  return path.str().str();
}

Constant* Emitter::site(StringRef file, std::uint64_t line) const {
  return ConstantStruct::getAnon({text(file), number(line)});
}

Constant* Emitter::site(DebugLoc const& place, StringRef file_of_function) const {
  std::uint64_t line = 0;
  if (place) {
    line = place.getLine();
    if (auto const* const scope = dyn_cast<DILocalScope>(place.getScope())) return site(file_of(*scope), line);
  }
  return site(file_of_function, line);
}

MDNode* unlikely(LLVMContext& context) {
  return MDBuilder(context).createBranchWeights(1, 100000);
}

}  // namespace kernelcast::llvm_passes
