// The part of a sweep that one run does.
//
// Problem: the points of a sweep are to be shared among machines, or among the tasks of an array job.
// Method: --shard i/N. The points are dealt out in turn as they come: run i takes those whose number is i modulo N.
// Shards put together and sorted are the serial run.
#pragma once

#include <cstdint>
#include <string>

#include "records/cli/cli.hpp"

namespace kernelcast::cli {

class Shard {
 public:
  // "i/N" with i below N, "slurm": i and N from SLURM_ARRAY_TASK_ID (counted from _MIN) and _COUNT, or empty: all
  // points. Throws Error(usage).
  explicit Shard(std::string const& text = {});

  // Whether the next point is this run's; to be called once for each point of the sweep.
  bool takes_next() { return next_++ % count_ == index_; }

  // The option, the same for every program.
  static CLI::Option* declare(Tool& tool, std::string& text);

 private:
  std::uint64_t index_ = 0, count_ = 1, next_ = 0;
};

}  // namespace kernelcast::cli
