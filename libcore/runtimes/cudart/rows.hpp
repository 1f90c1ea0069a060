// The `kernel` rows of an application: which launches are counted, and what is counted is left in the spool.
//
//   row-PID-N.csv        the row of configuration N, for one launch, without registers
//   kernel-PID-N.txt     its kernel and the file of its PTX, a line each
//   program-HASH.ptx     PTX
//   totals-PID-K         what all its launches so far have found touched before, by distance: record::Powers
//   counts-PID           how often each configuration was launched: see ../spool.hpp
//   skipped-PID-N.txt    kernel and reason of a configuration that has no row
//
// With attach::Settings::keep also launch files: see keep.hpp. Each is whole from the moment that it is there, while
// the application runs on.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "emulator/emu.hpp"
#include "emulator/launch/group_sample.hpp"
#include "emulator/launch/history.hpp"
#include "emulator/launch/launch.hpp"
#include "emulator/launch/spread.hpp"
#include "emulator/observe/kernel_counters.hpp"
#include "records/kernel.hpp"
#include "runtimes/attach/description.hpp"
#include "runtimes/attach/launch_budget.hpp"
#include "runtimes/attach/settings.hpp"
#include "runtimes/cudart/library_calls.hpp"
#include "runtimes/cudart/registry.hpp"

namespace kernelcast::cudart {

// A launch whose chosen groups are counted while all of them run, or, where that costs too much, only they.
class CountedLaunch {
 public:
  CountedLaunch(Kernel const&, emu::Launch const&, launch::GroupChoice const&, std::uint64_t number);

  // Runs all groups, in order, unless what has run shows that they cost more than `budget` affords. `also`
  // observe all of them, too. `seen` is called once the row is known, where the rest may take long.
  emu::Outcome run(emu::Memory&, emu::Limits const&, unsigned threads, attach::LaunchBudget const& budget,
                   std::span<emu::Observer* const> also, std::function<void()> const& seen);
  bool whole() const { return whole_; }                       // all groups have run
  std::uint64_t whole_steps() const { return whole_steps_; }  // of all groups, extrapolated where they did not run
  record::Kernel row(emu::Memory const&) const;
  launch::Touched touched(emu::Memory const& memory) const {
    return {launch_, counters_.footprint(), memory, growth(memory)};
  }
  // Of each block, of wavefronts so wide.
  std::vector<std::uint64_t> entries(unsigned width) const { return counters_.entries(width); }
  std::uint64_t number() const { return number_; }
  emu::Launch const& launch() const { return launch_; }

 private:
  struct Run {
    emu::Memory& memory;
    emu::Limits const& limits;
    unsigned threads;
    attach::LaunchBudget const& budget;
    std::span<emu::Observer* const> also;
    std::function<void()> const& seen;
  };
  emu::Outcome run_together(Run const&);
  emu::Outcome run_in_parts(Run const&);
  bool run_some(Run const&, std::span<std::uint64_t const> groups, bool counts);
  bool run_chosen(Run const&, std::span<std::uint64_t const> groups);
  bool run_spread(Run const&, std::span<std::uint64_t const> groups);
  void reconsider_sample();
  std::vector<std::uint64_t> sampled() const;
  void add_candidates(std::span<std::uint64_t const> groups);
  void choose_sample();
  bool is_long(attach::LaunchBudget const&) const;
  double growth(emu::Memory const&) const;  // of the footprint, from the groups that are counted to all

  Kernel const& kernel_;
  emu::Launch const& launch_;
  std::uint64_t number_, whole_steps_ = 0;
  bool whole_ = true;
  std::optional<launch::Spread> spread_;  // of --groups spread
  std::vector<std::uint64_t> chosen_;     // that are counted, ascending
  emu::Outcome outcome_;                  // in parts, so far
  std::uint64_t executed_ = 0;            // groups
  emu::KernelObserver counters_;
  // Of the group in the middle; none where it costs too much. Where that is unlike others, those of some of the next
  // groups, as none can run twice: the program sees what each leaves in memory.
  std::unique_ptr<launch::GroupSample> sample_;
  std::vector<std::unique_ptr<launch::GroupSample>> candidates_;
};

// The column `case` of a launch's row.
std::string case_of(emu::Launch const&);

class Rows {
 public:
  explicit Rows(attach::Settings const&);

  attach::LaunchBudget& budget() { return budget_; }
  // What a launch of this configuration costs that runs whole, in warp instructions; 0: not known.
  std::uint64_t& whole_steps(std::uint64_t configuration) { return whole_steps_[configuration]; }

  // Counts this launch: the number of its configuration, and where it is new the launch, to be run with counters.
  struct Begun {
    std::optional<std::uint64_t> configuration;  // empty where no rows are requested, or the spool is full
    std::unique_ptr<CountedLaunch> counted;
  };
  Begun begin(Kernel const&, emu::Launch const&, std::uint64_t allocated_bytes);
  // After a launch: what it has found in the cache, as column touched_before has it.
  std::string finish(CountedLaunch const&, Kernel const&, emu::Memory const&, launch::TouchHistory&);
  void touch(std::uint64_t configuration, emu::Launch const&, emu::Memory const&, launch::TouchHistory&);
  void skip(CountedLaunch const&, Kernel const&, std::string const& why);
  // A call of a library: its row where it is new. `keep`: launch files are wanted, and it has none.
  std::optional<std::uint64_t> library_called(LibraryCall const&, std::uint64_t allocated_bytes, bool keep);
  attach::Spool const& spool() const { return policy_->spool(); }  // where begin() has counted

 private:
  struct Known {
    launch::Touched touched;
    double footprint_bytes = 0;
  };

  // Adds what one launch has found in the cache to its configuration's totals.
  void note(std::uint64_t configuration, record::Powers const& found);

  launch::GroupChoice groups_;
  attach::LaunchBudget budget_;
  std::unordered_map<std::uint64_t, std::uint64_t> whole_steps_;
  std::unordered_map<std::uint64_t, Known> known_;  // by configuration
  std::optional<attach::LaunchPolicy> policy_;      // none: no rows are requested
  // Of libraries' calls: by name, and in each the numbers of its cases.
  std::unordered_map<std::string, std::unordered_map<std::string, std::size_t>> calls_;

  void publish(record::Kernel const&, std::uint64_t number) const;
};

}  // namespace kernelcast::cudart
