// Chooses the loops of the instruction-set level that the interpreter uses.
#include "emulator/check/cells.hpp"
#include "emulator/emu.hpp"

namespace kernelcast::emu {

namespace base {
extern CellLoops const cell_loops_of_level;
}
#ifdef KERNELCAST_EMU_LEVELS
namespace v3 {
extern CellLoops const cell_loops_of_level;
}
namespace v4 {
extern CellLoops const cell_loops_of_level;
}
#endif

CellLoops const& cell_loops() {
#ifdef KERNELCAST_EMU_LEVELS
  if (isa_level() == "v4") return v4::cell_loops_of_level;
  if (isa_level() == "v3") return v3::cell_loops_of_level;
#endif
  return base::cell_loops_of_level;
}

}  // namespace kernelcast::emu
