// Rows of any record of the suite: the first byte chooses the record, the rest is CSV. Rows that are accepted are read
// again as they were written; those of texts of odd length can be written in the other formats, too.
#include <array>
#include <sstream>

#include "diag/diag.hpp"
#include "fuzz.hpp"
#include "record/advice.hpp"
#include "record/block.hpp"
#include "record/command.hpp"
#include "record/count.hpp"
#include "record/device.hpp"
#include "record/emulation.hpp"
#include "record/execution_cost.hpp"
#include "record/explanation.hpp"
#include "record/feature.hpp"
#include "record/fit.hpp"
#include "record/forest.hpp"
#include "record/interval.hpp"
#include "record/kernel.hpp"
#include "record/latency_gap.hpp"
#include "record/line.hpp"
#include "record/link.hpp"
#include "record/measurement.hpp"
#include "record/partition.hpp"
#include "record/profile.hpp"
#include "record/projection.hpp"
#include "record/ranking.hpp"
#include "record/simulation.hpp"
#include "record/steering.hpp"
#include "record/table.hpp"
#include "record/target.hpp"
#include "record/trace.hpp"

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
