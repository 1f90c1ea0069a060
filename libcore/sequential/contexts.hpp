// The loops of a run in their calling contexts, and what follows from them: which are sequential, and the number of
// global synchronizations S [automatch] III-D.
//
// A context is the loop around a call; a function called from two loops has two sets of counters. Recursion is folded
// into the first context of the function.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "sequential/abi.hpp"

namespace kernelcast::seq {

class Contexts {
 public:
  Contexts();

  // The counters of the loops of `function` when it is called inside `parent`.
  LoopCounter* enter(FunctionDescriptor const& function, LoopCounter* parent);
  // The pseudo-loop over the invocations of the kernel, around all others.
  LoopCounter& invocations() { return *invocations_; }

  struct Loop {
    LoopDescriptor const* descriptor;
    std::uint64_t iterations = 0, entries = 0;
    std::uint64_t sync = 0;  // its part of S
    bool sequential = false;
    bool ran = false;  // more than one iteration at a time
    Site const* reader = nullptr;
    Dependence dependence = Dependence::read_after_write;
  };
  struct Outcome {
    std::vector<Loop> loops;             // by first appearance; contexts added up
    std::uint64_t sync = 0;              // S
    std::uint64_t sync_invocations = 0;  // the part of it between invocations of the kernel
    std::vector<char> counts;            // per counter, in the order of trips(): whether its trips are part of S
  };
  // S = sum of (trips - 1) over sequential loops that hold a parallel loop and have no parallel loop around them.
  Outcome outcome() const;
  // Iterations less entries of each loop in each context until now; later ones append.
  std::vector<std::uint64_t> trips() const;

 private:
  struct Entry {
    FunctionDescriptor const* function;
    std::vector<LoopCounter> counters;
  };
  bool folded(FunctionDescriptor const& function, LoopCounter const* parent, LoopCounter** found);

  std::deque<Entry> entries_;
  std::map<std::pair<LoopCounter*, FunctionDescriptor const*>, Entry*> known_;
  std::map<LoopCounter const*, FunctionDescriptor const*> function_of_;
  std::unique_ptr<LoopCounter> invocations_;
};

}  // namespace kernelcast::seq
