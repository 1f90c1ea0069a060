// Counts from the emulator: its block events, mapped back to the module's instructions.
//
// Method: the emulator reports which lanes enter a basic block and for which a guard holds; nothing is added to the
// kernel's code, and memory accesses are not observed. It runs a kernel with its calls replaced by the functions'
// bodies (kernels/ptx/inline.hpp); every copy of an instruction counts for the one that the text has, a jump into a
// body for the call.
#pragma once

#include <memory>

#include "emulator/emu.hpp"
#include "measure/flux/counts.hpp"

namespace kernelcast::flux {

// Which instruction of the module each instruction of the emulated kernel stands for.
struct Origin {
  bool known = false;          // false: made by the replacement of calls
  bool skips = false;          // a jump around a guarded call: lanes that do not take it make the call
  std::uint32_t function = 0;  // index into Module::functions
  std::uint32_t instruction = 0;
};
std::vector<Origin> origins(ptx::Module const&, ptx::Function const& emulated);

enum class Sample : std::uint8_t { all, one_group, one_warp };

// Counts entries of blocks. With Sample::one_warp only those of the first warp of a group.
class CountObserver final : public emu::Observer {
 public:
  explicit CountObserver(emu::Program const&, Sample = Sample::all);
  ~CountObserver() override;

  bool accepts_packs() const override;
  void block(std::uint32_t block, emu::Lanes const&) override;
  void guarded(std::uint32_t instruction, emu::Lanes const&) override;
  void branch(std::uint32_t instruction, emu::Lanes const& executing, emu::Lanes const& taking) override;
  std::unique_ptr<Observer> fork() const override;
  void join(Observer const&) override;

  Counts counts(ptx::Module const&) const;
  std::uint64_t issues() const;  // instructions issued by wavefronts of 32, of the emulated kernel
  void clear();

 private:
  struct State;
  explicit CountObserver(std::unique_ptr<State>);
  std::unique_ptr<State> state_;
};

}  // namespace kernelcast::flux
