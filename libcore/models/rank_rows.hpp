// Projections read; rankings, scores, shares, sums and what the database has of residuals written: what rank does.
#pragma once

#include <string>
#include <vector>

#include "models/price.hpp"
#include "records/cli/cli.hpp"

namespace kernelcast::model {

// The options of rank(1), by their names.
struct RankRows {
  std::string measured, devdb, total_as, commands, host, link, system;
  std::string calibrate, source, prices;
  std::vector<std::string> by, prefer, made_from;
  std::size_t top = 0;
  bool undecided = false, configurations = false, portable = false;
  bool summary = false, scores = false, comparisons = false, share = false, assign = false, total = false;
  bool vendors_apart = false, each_kernel = false;
  // Every measured time counts, also one that is not projected.
  bool each_time() const { return scores || comparisons || !calibrate.empty(); }
  bool is_ranking() const { return measured.empty() && !share && !assign && !total; }
  // What --by says of a ranking; it names groups where there are scores.
  RankBy order() const {
    if (by.empty()) return RankBy::time;
    return by.front() == "energy" ? RankBy::energy : by.front() == "cost" ? RankBy::cost : RankBy::time;
  }
  bool is_priced() const { return !prices.empty() || !by.empty(); }
};

// Rows of `io` in, those of the mode out. Throws Error(usage, bad_data).
void rank_rows(RankRows const&, cli::Streams& io);

}  // namespace kernelcast::model
