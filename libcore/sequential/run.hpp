// One run of an instrumented program: from the first call of the kernel to the profile that is written when the program
// ends.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "sequential/buffers.hpp"
#include "sequential/contexts.hpp"
#include "sequential/invocations.hpp"
#include "sequential/reads.hpp"
#include "sequential/rows.hpp"
#include "sequential/settings.hpp"
#include "sequential/shadow.hpp"

namespace kernelcast::seq {

// Ends the program with a word that the driver passes on.
[[noreturn]] void fail(Settings const&, char const* what);

class Run {
 public:
  // `state` is what instrumented code works on; `mode` what it was made for: all_dependences, invocations. The list of
  // functions may grow until the kernel is called.
  Run(State& state, char const* kernel, std::uint64_t mode, std::vector<FunctionDescriptor const*> const& functions);

  void enter_kernel();
  void exit_kernel();
  LoopCounter* enter(FunctionDescriptor&);
  // The rows up to `end` are complete; gives the place of the next.
  std::uint64_t* flush(std::uint64_t const* end, std::uint64_t clock);

  // The level of what stands at [address, address + size). With a site, an earlier iteration that wrote it makes its
  // loop sequential. `top` is the innermost running loop.
  std::uint64_t load(std::uint64_t address, std::uint64_t size, Site const*, LoopFrame* top);
  void store(std::uint64_t address, std::uint64_t size, std::uint64_t cell) { shadow_.store(address, size, cell); }
  void split(std::uint64_t address) { shadow_.split(address); }
  // The same with all dependences: reads are kept, and a write comes after what it overwrites and its users.
  std::uint64_t load_all(std::uint64_t address, std::uint64_t size, Site const*, LoopFrame* top);
  void store_all(std::uint64_t address, std::uint64_t size, std::uint64_t cell, Site const*, LoopFrame* top);
  void used(std::uint64_t address, std::uint64_t size, std::uint64_t level) { reads_.used(address, size, level); }
  void copy(std::uint64_t to, std::uint64_t from, std::uint64_t size, Site const&, LoopFrame* top);
  void fill(std::uint64_t to, std::uint64_t size, Site const&, LoopFrame* top);
  void clear(std::uint64_t address, std::uint64_t size);

  // A mark in the source that stands for a global synchronization; `what` it is: a directive, or "" for seqprof_sync().
  void synchronize(Site const& site, char const* what) { sync_marks_.pass(site, what); }

  // In a process that was forked: it goes on, and is not measured.
  void abandon() { buffers_->abandon(); }
  void finish();

 private:
  void check(std::uint64_t cell, Site const&, LoopFrame* top, Dependence);
  void recompute_hulls(LoopFrame* top);
  void append_row(std::initializer_list<std::uint64_t> words);
  bool all() const { return (mode_ & all_dependences) != 0; }

  State& state_;
  std::string kernel_;
  std::uint64_t mode_;
  std::vector<FunctionDescriptor const*> const& functions_;
  Settings settings_;
  std::vector<LoopFrame> frames_;
  Contexts contexts_;
  Shadow shadow_;
  Reads reads_;
  RowConsumer rows_;
  SyncMarks sync_marks_;
  std::deque<Invocation> invocations_;
  std::optional<Buffers> buffers_;
  unsigned depth_ = 0;
};

}  // namespace kernelcast::seq
