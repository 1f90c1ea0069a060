// Small pieces of IR that the instrumented code is made of.
#pragma once

#include <cstddef>
#include <string>

#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

#include "sequential/abi.hpp"

namespace kernelcast::llvm_passes {

class Emitter {
 public:
  explicit Emitter(llvm::Module&);

  llvm::Type *none, *word, *pointer;  // void, i64, ptr

  llvm::Constant* number(std::uint64_t) const;
  llvm::FunctionCallee runtime(llvm::StringRef name, llvm::Type* result, llvm::ArrayRef<llvm::Type*> arguments) const;

  // A field of seq::State, by its offset.
  llvm::Value* state(llvm::IRBuilderBase&, std::size_t offset) const;
  llvm::Value* load_state(llvm::IRBuilderBase&, std::size_t offset) const;
  void store_state(llvm::IRBuilderBase&, std::size_t offset, llvm::Value*) const;

  llvm::Value* field(llvm::IRBuilderBase&, llvm::Value* base, std::ptrdiff_t offset) const;
  void add_to(llvm::IRBuilderBase&, llvm::Value* address, llvm::Value* amount) const;

  // Addresses of the cells of the 8-byte and the 4-byte word at `address` (i64).
  llvm::Value* word_cell(llvm::IRBuilderBase&, llvm::Value* address) const;
  llvm::Value* half_cell(llvm::IRBuilderBase&, llvm::Value* address) const;
  llvm::Value* width_counter(llvm::IRBuilderBase&, llvm::Value* level) const;
  // The larger of two levels; a constant 0 costs nothing.
  llvm::Value* larger(llvm::IRBuilderBase&, llvm::Value*, llvm::Value*) const;

  // Constants of the descriptors.
  llvm::Constant* text(llvm::StringRef) const;
  llvm::Constant* site(llvm::DebugLoc const&, llvm::StringRef file_of_function) const;  // {ptr, i64}
  llvm::Constant* site(llvm::StringRef file, std::uint64_t line) const;
  llvm::GlobalVariable* variable(llvm::Constant* content, llvm::StringRef name, bool constant) const;

 private:
  llvm::Module* module_;
  llvm::Constant* state_;
};

// The source file as the user can open it: relative only to the folder of the compilation.
std::string file_of(llvm::DILocalScope const&);

// The branch is almost never taken.
llvm::MDNode* unlikely(llvm::LLVMContext&);

}  // namespace kernelcast::llvm_passes
