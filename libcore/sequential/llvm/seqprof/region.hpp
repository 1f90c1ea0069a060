// A region of a function between calls of seqprof_begin("NAME") and seqprof_end("NAME"), as a function of its own.
#pragma once

#include <string>
#include <vector>

#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>

namespace kernelcast::llvm_passes {

inline constexpr char const* region_begin = "seqprof_begin";
inline constexpr char const* region_end = "seqprof_end";
inline constexpr char const* sync_mark = "seqprof_sync";
inline constexpr char const* openmp_mark = "seqprof_sync_openmp";

// The names of all regions of the module, in their order.
std::vector<std::string> region_names(llvm::Module&);

// The function in which the region begins; its marks may not be copied from now on. Null with `why` where there is no
// such region or where it begins at several places.
llvm::Function* function_of_region(llvm::Module&, llvm::StringRef name, std::string& why);

// Moves the code of the region, whose values are in registers, into a function of that name, and gives it. Null with
// `why` where control can come in or leave otherwise than by its marks.
llvm::Function* extract_region(llvm::Function&, llvm::StringRef name, std::string& why);

// A call of seqprof_begin or seqprof_end.
bool is_region_mark(llvm::Instruction const&);

// Calls of seqprof_sync(), and what OpenMP's directives have become (sequential/driver/openmp.hpp): they stay where
// they are and touch no memory of the program.
void keep_sync_marks(llvm::Module&);
// Whether it is one, and which directive; empty for seqprof_sync().
bool is_sync_mark(llvm::CallBase const&, llvm::StringRef& directive);

// Whether a store only hands a value of the region to what comes after it.
bool is_result_of_region(llvm::StoreInst const&);

}  // namespace kernelcast::llvm_passes
