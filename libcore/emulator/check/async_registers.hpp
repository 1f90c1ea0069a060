// Registers that asynchronous operations still write or read: accumulators and fragments of wgmma before
// wgmma.wait_group, results of tcgen05.ld before tcgen05.wait::ld.
//
// [ptx] "wgmma.mma_async": accessing them before is undefined. Products may accumulate into one register one after the
// other. A mov copies what is not there yet: compilers emit it where they rename registers, and it is no instruction
// of the machine; what it writes is in flight as well. Reading a fragment does no harm.
// Compilers move what uses the result of a tcgen05.ld before the wait that follows, which they do not know to produce
// it: such a use is a finding only if the straight code that it is in ends without that wait.
// Limits: of whole warps.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "emulator/check/async_order.hpp"
#include "emulator/check/async_text.hpp"
#include "emulator/check/report.hpp"

namespace kernelcast::emu {

class AsyncRegisterCheck {
 public:
  explicit AsyncRegisterCheck(Reporter& reporter) : reporter_(reporter) {}

  void begin(Program const&, AsyncText const&);
  void begin_group();
  // An instruction that reads or writes such registers; `group` is that of the products which the warp issues now.
  void execute(std::uint32_t instruction, std::uint32_t warp, std::uint32_t group);
  void products_done(std::uint32_t warp, std::uint32_t groups);  // of all groups before this one
  void loads_done(std::uint32_t warp);
  void end_straight_code(std::uint32_t warp);

 private:
  enum class Use : std::uint8_t { none, sum, fragment, loaded };
  struct State {
    Use use = Use::none;
    std::uint32_t number = 0;       // group of products, or of loads
    std::uint32_t instruction = 0;  // that began it
  };
  struct Warp {
    std::vector<State> registers;
    std::uint32_t products_done = 0, loads_done = 0;
    bool any = false;
    // The first use of a load's result in this straight code, without a wait so far.
    std::uint32_t used_by = 0, used = 0;
    State used_state;
  };
  static bool in_flight(Warp const& w, State const& s) {
    return s.use != Use::none && s.number >= (s.use == Use::loaded ? w.loads_done : w.products_done);
  }
  void report(std::uint32_t warp, std::uint32_t instruction, std::uint32_t reg, State const&, bool reads);

  Reporter& reporter_;
  Program const* program_ = nullptr;
  AsyncText const* text_ = nullptr;
  std::vector<Warp> warps_;
};

}  // namespace kernelcast::emu
