// What each call of the kernel adds to a run.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "sequential/abi.hpp"

namespace kernelcast::seq {

// Sums over executed rows.
struct Totals {
  std::uint64_t add = 0, mul = 0, div = 0, sqrt = 0, call = 0, vectorizable = 0, loads = 0, stores = 0, bytes = 0;
  std::uint64_t flop() const { return add + mul + div + sqrt + call; }
  void count(RowDescriptor const&);
  Totals& operator+=(Totals const&);
  Totals operator-(Totals const&) const;
};

// Executed rows are counted by two sides: instrumented code counts those without accesses, the consumer the others.
enum class Side { program, consumer };
Totals totals_of(std::vector<FunctionDescriptor const*> const&, Side);

// How often the marks of global synchronizations in the source were passed.
class SyncMarks {
 public:
  struct Mark {
    char const* what;
    std::uint64_t count = 0;
  };
  void pass(Site const& site, char const* what) {
    ++total_;
    ++marks_.try_emplace(&site, Mark{what}).first->second.count;
  }
  std::uint64_t total() const { return total_; }
  std::map<Site const*, Mark> const& marks() const { return marks_; }

 private:
  std::uint64_t total_ = 0;
  std::map<Site const*, Mark> marks_;
};

// The state of the counts at the end of a call; what the consumer counts comes later than the rest.
struct Invocation {
  Totals by_program, by_consumer;
  std::uint64_t depth = 0;           // the highest level until then
  std::vector<std::uint64_t> trips;  // of the loops, see Contexts
  std::uint64_t sync_marks = 0;      // passed until then
};

}  // namespace kernelcast::seq
