// Assembly of AMD's machine code as LLVM prints it, and its issue slots for a kernel of one block.
#include <array>

#include "emulator/observe/amd_code.hpp"
#include "fuzz.hpp"
#include "kernels/amdgcn/amdgcn.hpp"
#include "kernels/ptx/parser.hpp"

namespace kernelcast::fuzz {

void run_input(std::string_view input) {
  static auto const module = ptx::parse(
      ".version 7.5\n.target sm_75\n.address_size 64\n.file 1 \"/k.cl\"\n.visible .entry k()\n{\n.reg .f32 %f<3>;\n"
      ".loc 1 3 1\nadd.f32 %f1, %f2, %f2;\n.loc 1 4 1\nbar.sync 0;\nret;\n}\n",
      "fuzz.ptx");
  static emu::Program const program(*module, *module->find_kernel("k"));
  for (auto const& [name, code] : amdgcn::read(input, "fuzz"))
    emu::amd_slots(program, code, std::array<std::uint64_t, 1>{8});
}

}  // namespace kernelcast::fuzz
