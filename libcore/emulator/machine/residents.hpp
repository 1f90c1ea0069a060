// Groups that are resident together: each keeps its registers and memory while others have their turn.
//
// Problem: groups run one after the other, so that one which waits for a later one (a barrier over the grid, a flag)
// would wait for ever; a device has many resident at a time.
// Method: a group whose turn ends because it has executed many blocks with a synchronising operation (turns.hpp) is
// set aside, and later groups begin on machines of their own, twice as many after each round of turns. Groups set aside
// take turns in the order of their numbers. A cooperative launch does so from the start. Observers of further groups
// are forks, as with threads. Turns depend on nothing but the program: the same run each time.
// Limits: one thread; observers that cannot be forked are excluded (Observer::follows_waiting_groups). Of a launch that
// is not cooperative no more groups begin than max_waiting_bytes hold.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "emulator/machine/machine.hpp"

namespace kernelcast::emu {

class Residents {
 public:
  static constexpr std::uint64_t max_waiting_bytes = std::uint64_t{2} << 30;

  Residents(Program const&, Launch const&, Memory&, std::span<Observer* const>, Budget&);
  // Finishes the groups that `first` has begun, and runs the others. Throws Fault and Stop; Error(limit) where the
  // groups of a cooperative launch need more memory than there is.
  void run(Machine& first, std::span<std::uint64_t const> others);
  // What further groups did goes to the observers; once, after run(), also when it threw.
  void join();
  std::string take_printed();               // of all groups, in their order
  std::uint64_t warp_instructions() const;  // without those of `first`

 private:
  struct Resident {
    std::vector<std::unique_ptr<Observer>> forks;
    std::vector<Observer*> observers;
    std::unique_ptr<Machine> own;
    Machine* machine = nullptr;
    bool running = false;
    std::size_t text = 0;  // which of texts_ its groups print to
  };

  bool take_turn(Resident&);  // false: it is still running
  void begin(Resident&);
  void add();

  Program const& program_;
  Launch const& launch_;
  Memory& memory_;
  std::span<Observer* const> observers_;
  Budget& budget_;
  std::span<std::uint64_t const> others_;
  std::vector<std::unique_ptr<Resident>> residents_;
  std::vector<std::string> texts_;
};

}  // namespace kernelcast::emu
