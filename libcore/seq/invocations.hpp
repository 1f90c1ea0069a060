// What each call of the kernel adds to a run.
#pragma once

#include <cstdint>
#include <vector>

#include "seq/abi.hpp"

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

// The state of the counts at the end of a call; what the consumer counts comes later than the rest.
struct Invocation {
  Totals by_program, by_consumer;
  std::uint64_t depth = 0;           // the highest level until then
  std::vector<std::uint64_t> trips;  // of the loops, see Contexts
};

}  // namespace kernelcast::seq
