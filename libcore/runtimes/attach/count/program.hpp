// An attached application's program: one fat binary, each of its PTX texts replaced by the instrumented form.
//
// Which text a device runs is known when a kernel has been loaded (cudaFuncGetAttributes names its architecture).
// Machine code that would be taken in place of an instrumented text is left out of the fat binary; what only older
// devices run stays, and is not counted there.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "kernels/cuda/abi.hpp"
#include "kernels/ptx/module.hpp"
#include "measure/flux/plan.hpp"

namespace kernelcast::attach::count {

// The PTX for one architecture.
struct Variant {
  std::uint32_t sm = 0;                 // 75
  std::unique_ptr<ptx::Module> module;  // as the program has it; none where it cannot be read
  flux::Plan plan;
  std::string failure;  // why it is not counted, with file, line and construct; empty where it is
};

struct Program {
  std::vector<Variant> variants;
  std::string failure;  // why nothing of it is counted
  std::vector<std::byte> fatbin;
  cudart::FatbinWrapper wrapper{};  // what the runtime is given

  Variant const* variant_for(int ptx_version) const;
};

// `number` is for messages. Never throws: the application runs on with what it has.
std::unique_ptr<Program> instrumented_program(cudart::FatbinWrapper const& given, std::size_t number);

}  // namespace kernelcast::attach::count
