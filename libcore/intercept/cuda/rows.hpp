// The `kernel` rows of an application: which launches are counted, and what is counted is left in the spool.
//
//   row-PID-N.csv        the row of configuration N, for one launch, without registers
//   kernel-PID-N.txt     its kernel and the file of its PTX, a line each
//   program-HASH.ptx     PTX
//   counts-PID           how often each configuration was launched: see ../spool.hpp
//   skipped-PID-N.txt    kernel and reason of a configuration that has no row
//
// With Settings::keep also launch files: see keep.hpp. Each is whole from the moment that it is there, while the
// application runs on.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "emu/emu.hpp"
#include "emu/observe/kernel_counters.hpp"
#include "intercept/cuda/policy.hpp"
#include "intercept/cuda/registry.hpp"
#include "intercept/cuda_settings.hpp"
#include "launch/footprint.hpp"
#include "record/kernel.hpp"

namespace kernelcast::cudart {

// A launch whose chosen groups are counted while all of them run.
class CountedLaunch {
 public:
  CountedLaunch(Kernel const&, emu::Launch const&, launch::GroupChoice, std::uint64_t number);

  // Runs all groups, in order. `also` (or null) observes all of them, too.
  emu::Outcome run(emu::Memory&, emu::Limits const&, unsigned threads, emu::Observer* also = nullptr);
  record::Kernel row(emu::Memory const&) const;
  std::uint64_t number() const { return number_; }

 private:
  emu::Outcome run_together(emu::Memory&, emu::Limits const&, unsigned threads, emu::Observer* also);
  emu::Outcome run_in_parts(emu::Memory&, emu::Limits const&, unsigned threads, emu::Observer* also);

  Kernel const& kernel_;
  emu::Launch const& launch_;
  std::uint64_t number_;
  std::vector<std::uint64_t> chosen_;
  emu::KernelObserver counters_;
  std::optional<launch::FootprintSample> sample_;  // none where all groups are counted, or where it costs too much
};

class Rows {
 public:
  explicit Rows(Settings const&);

  // Counts this launch: the number of its configuration, and where it is new the launch, to be run with counters.
  struct Begun {
    std::optional<std::uint64_t> configuration;  // empty where no rows are requested, or the spool is full
    std::unique_ptr<CountedLaunch> counted;
  };
  Begun begin(Kernel const&, emu::Launch const&);
  void finish(CountedLaunch const&, Kernel const&, emu::Memory const&);
  void skip(CountedLaunch const&, Kernel const&, std::string const& why);
  intercept::Spool const& spool() const { return policy_->spool(); }  // where begin() has counted

 private:
  launch::GroupChoice groups_;
  std::optional<LaunchPolicy> policy_;  // none: no rows are requested
};

}  // namespace kernelcast::cudart
