#include "emulator/check/async_registers.hpp"

#include <algorithm>
#include <utility>

namespace kernelcast::emu {

void AsyncRegisterCheck::begin(Program const& program, AsyncText const& text) {
  program_ = &program;
  text_ = &text;
}

void AsyncRegisterCheck::begin_group() {
  warps_.assign(AsyncOrder::max_warps, {});
}

void AsyncRegisterCheck::report(std::uint32_t warp, std::uint32_t instruction, std::uint32_t reg, State const& state,
                                bool reads) {
  auto const& kernel = program_->kernel();
  std::string const name(kernel.registers[text_->register_at(reg)].name);
  std::string const what = ptx::full_opcode(kernel.instructions[state.instruction]);
  std::string const wait = state.use == Use::loaded ? "tcgen05.wait::ld" : "wgmma.wait_group";
  reporter_.report(
      Finding::Kind::in_flight, warp * lanes_per_warp, instruction, state.instruction,
      "register in flight: " + ptx::full_opcode(kernel.instructions[instruction]) + (reads ? " reads " : " writes ") +
          name + ", which " + what + " at " + reporter_.place(state.instruction, true) +
          (state.use == Use::fragment ? " still reads" : " still writes") + ": no " + wait + " has waited for it");
}

void AsyncRegisterCheck::execute(std::uint32_t instruction, std::uint32_t warp, std::uint32_t group) {
  AsyncRegisters const* const r = text_->registers(instruction);
  AsyncRole const role = text_->role(instruction);
  Warp& w = warps_[warp];
  bool const product = role == AsyncRole::group_product, loads = role == AsyncRole::tensor_load;
  if (!r || (!w.any && !product && !loads)) return;
  w.registers.resize(text_->tracked_registers());
  State moved;
  for (std::uint32_t const reg : product ? r->fragment : r->read) {
    State const& s = w.registers[reg];
    if (s.use == Use::fragment || !in_flight(w, s)) continue;
    if (r->copies) {
      moved = s;
    } else if (s.use != Use::loaded) {
      report(warp, instruction, reg, s, true);
    } else if (w.used_state.use == Use::none) {
      w.used_state = s;
      w.used_by = instruction;
      w.used = reg;
    }
  }
  for (std::uint32_t const reg : r->written) {
    State& s = w.registers[reg];
    bool const goes_on = product && s.use == Use::sum;
    if (!goes_on && moved.use == Use::none && in_flight(w, s)) report(warp, instruction, reg, s, false);
    s = product ? State{Use::sum, group, instruction} : loads ? State{Use::loaded, w.loads_done, instruction} : moved;
  }
  for (std::uint32_t const reg : r->fragment)
    if (!in_flight(w, w.registers[reg])) w.registers[reg] = {Use::fragment, group, instruction};
  w.any |= product || loads;
}

void AsyncRegisterCheck::products_done(std::uint32_t warp, std::uint32_t groups) {
  Warp& w = warps_[warp];
  w.products_done = std::max(w.products_done, groups);
}

void AsyncRegisterCheck::loads_done(std::uint32_t warp) {
  ++warps_[warp].loads_done;
  warps_[warp].used_state = {};
}

void AsyncRegisterCheck::end_straight_code(std::uint32_t warp) {
  Warp& w = warps_[warp];
  if (w.used_state.use == Use::none) return;
  State const state = std::exchange(w.used_state, {});
  report(warp, w.used_by, w.used, state, true);
}

}  // namespace kernelcast::emu
