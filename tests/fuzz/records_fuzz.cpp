// Rows of any record of the suite: the first byte chooses the record, the rest is CSV. Rows that are accepted are read
// again as they were written; those of texts of odd length can be written in the other formats, too.
#include <array>
#include <sstream>

#include "base/diag/diag.hpp"
#include "fuzz.hpp"
#include "records/advice.hpp"
#include "records/block.hpp"
#include "records/command.hpp"
#include "records/count.hpp"
#include "records/device.hpp"
#include "records/emulation.hpp"
#include "records/execution_cost.hpp"
#include "records/explanation.hpp"
#include "records/feature.hpp"
#include "records/fit.hpp"
#include "records/forest.hpp"
#include "records/interval.hpp"
#include "records/kernel.hpp"
#include "records/latency_gap.hpp"
#include "records/line.hpp"
#include "records/link.hpp"
#include "records/measurement.hpp"
#include "records/partition.hpp"
#include "records/profile.hpp"
#include "records/projection.hpp"
#include "records/ranking.hpp"
#include "records/simulation.hpp"
#include "records/steering.hpp"
#include "records/table/table.hpp"
#include "records/target.hpp"
#include "records/trace.hpp"

namespace kernelcast::fuzz {

namespace {

template <class R>
std::string written(std::string_view text, record::Format format) {
  TextStream in(text);
  csv::Reader csv(in, "fuzz.csv");
  record::Reader<R> rows(csv);
  std::ostringstream out;
  record::Writer<R> writer(out, format, nullptr, rows.extra_names());
  for (R row; rows.next(row);) writer.write(row, rows.extras());
  writer.finish();
  return out.str();
}

template <class R>
void read_and_write(std::string_view text) {
  auto const once = written<R>(text, record::Format::csv);
  try {
    if (auto const twice = written<R>(once, record::Format::csv); twice != once)
      defect("the written rows are read otherwise:\n" + once + "----\n" + twice);
  } catch (Error const& error) {
    defect(error.text("fuzz") + once);
  }
  if (text.size() % 2 == 0) return;
  written<R>(text, record::Format::json);
  written<R>(text, record::Format::table);
}

template <class... Records>
constexpr auto readers() {
  return std::array{&read_and_write<Records>...};
}

}  // namespace

void run_input(std::string_view input) {
  using namespace record;
  static constexpr auto all =
      readers<Advice, Block, Count, CountGroup, CountOverhead, Device, OccupancyRule, PipeRule, Alias, Emulation,
              ExecutionCost, Explanation, Feature, Fit, Penalty, Residual, ForestProjection, HeldOut, Validation,
              Importance, Correlation, Kernel, LatencyGap, LatencyFallback, Line, Link, Measurement, ProbedDevice,
              DeviceDifference, Partition, Bound, Optimum, Profile, Projection, Measured, Ranking, Assessment,
              AssessmentSummary, Share, Assignment, Simulation, Choice, Sensitivity, Steering, Target, Trace, Interval,
              Ratio, Coverage, ConstantRule, IssueRule, LibraryRule, Command>();
  if (!input.empty()) all[static_cast<unsigned char>(input.front()) % all.size()](input.substr(1));
}

}  // namespace kernelcast::fuzz
