// Rows of the records of flux-count, made of counted launches.
#pragma once

#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "measure/flux/counts.hpp"

namespace kernelcast::flux {

// One launch. `issues` are instructions issued by wavefronts of 32, counters' own included. `counts` are empty where
// launch.status is uncounted.
struct CountedRun {
  record::CountedLaunch const& launch;
  ptx::Module const& module;
  Counts const& counts;
  std::uint64_t issues = 0;
};

std::vector<record::Count> count_rows(CountedRun const&);
std::vector<record::CountGroup> group_rows(CountedRun const&);

// Feature rows need all launches of a configuration.
class FeatureRows {
 public:
  explicit FeatureRows(record::FeatureDefinition definition = record::FeatureDefinition::suite)
      : definition_(definition) {}
  void add(CountedRun const&);
  std::vector<record::Feature> rows() const;  // in the order of each configuration's first launch

 private:
  struct Configuration {
    record::CountedLaunch launch;
    std::vector<record::Feature> launches;
  };
  record::FeatureDefinition definition_;
  std::vector<Configuration> configurations_;
};

// Writes rows of one kind (counts, groups, features) as CSV as launches end; features at the end.
class RowWriter {
 public:
  RowWriter(std::ostream&, std::string const& emit);
  ~RowWriter();
  void add(CountedRun const&);
  void end();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// "1024x64/16x16": a launch's sizes in work-items, as many dimensions as there are.
std::string sizes_text(record::CountedLaunch const&);

}  // namespace kernelcast::flux
