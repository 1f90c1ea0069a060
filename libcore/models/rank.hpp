// Rankings, assessments, shares and assignments from projected times. Pure functions from records to records; the
// output is sorted by model, kernel and case and does not depend on the order of the input.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "records/device/device.hpp"
#include "records/projection.hpp"
#include "records/ranking.hpp"

namespace kernelcast::model {

// In all but total() a projection without a time takes no part. At most one projection per (model, kernel, case,
// device); times are above 0.

struct Totals {
  std::vector<record::Projection> rows;  // kernel is "total" of all; the limiter is the one that holds most of the time
  std::size_t incomplete = 0;            // (model, case, device) left out: a time is missing that another device has
};

enum class SumOf : std::uint8_t {
  all,         // kernels of a case
  each_kernel  // its configurations, and all that a compiler made of one region: region_of_kernel() is its name
};

// Adds up the times of everything that one case runs, one row per (model, case, device): kernels one after the other,
// and one kernel launched in several configurations. Here projections may repeat, and those without a time count: their
// device has no total. Ends of intervals add up too; an absent end is time_s.
// What a case runs is what the device with most times has; with `party`, which tells devices that may run different
// kernels from each other, what a device of its own party has, with a time or without.
Totals total(std::vector<record::Projection> const& projections,
             std::function<std::string(std::string const& device)> const& party = {}, SumOf of = SumOf::all);

// Of each (kernel, case, device) the projections of one model: of the first of `models` that has a time for all its
// rows of it, else of the last that has rows. Every row's model is one of `models`.
std::vector<record::Projection> prefer(std::vector<record::Projection> const& projections,
                                       std::vector<std::string> const& models);

// Which projections are ranked together: those of a model, or those of all models, of which each device has one.
enum class Together : std::uint8_t { model, all };

// When the order of two projections of a kernel is known: where the longer time exceeds the shorter one by the factor
// that the device database has of the residuals of ratios (device::Residuals::ratio) for the model and these two
// devices, of two models the larger one; where it has none, or copies take most of one of the times, where the
// intervals do not overlap: residuals are those of kernels, and copies depend on the machines around the devices.
class Orders {
 public:
  Orders() = default;  // by intervals
  explicit Orders(std::vector<device::Device const*> const& devices);
  bool decides(record::Projection const&, record::Projection const&) const;

 private:
  std::map<std::string, device::Device const*, std::less<>> devices_;
};

// Ranks the devices of each (model, kernel, case). Equal times share a rank, the next rank counts them (1, 1, 3).
// decided: whether the order of the row and of the fastest device is known.
std::vector<record::Ranking> rank(std::vector<record::Projection> const& projections,
                                  Together together = Together::model, Orders const& orders = {});
// The same row by row, where there are too many to keep.
void rank(std::vector<record::Projection> const& projections, Together, Orders const&,
          std::function<void(record::Ranking const&)> const& sink);

// Whether the intervals of two times share a point; an absent end is time_s.
bool intervals_overlap(record::Projection const&, record::Projection const&);

struct Assessments {
  std::vector<record::Assessment> rows;
  std::size_t too_few = 0;  // (model, kernel, case) with fewer than two devices both projected and measured
  std::size_t measured_not_projected = 0;  // measurements of assessed kernels for which the model has no time
};

// Compares each model's choice with measured times, over the devices that have both. Repeated measurements count with
// their median. [panwar] V: penalty (T(chosen) - T(best)) / T(best) on measured times T; relative error
// |t/|t| - p/|p|| / sqrt(2) of the vectors of measured times t and projected times p.
Assessments assess(std::vector<record::Projection> const& projections, std::vector<record::Measured> const& measured);

// What the trivial rankings know of a device.
struct Peaks {
  double flop_per_s = 0;   // fp32
  double bytes_per_s = 0;  // global memory
};

// One row per model with the means of assess(); below them the trivial rankings over the same cases, whose "projected
// time" is 1/peak: trivial:peak_flops and trivial:peak_bandwidth (left out unless `peaks` knows every device), and
// trivial:most_often_best, the device that is measured fastest in most cases.
std::vector<record::AssessmentSummary> summarise(std::vector<record::Projection> const& projections,
                                                 std::vector<record::Measured> const& measured,
                                                 std::map<std::string, Peaks> const& peaks);

// Splits each (model, kernel, case) over its devices, proportional to 1/time.
std::vector<record::Share> share(std::vector<record::Projection> const& projections);

struct Schedule {
  std::string model;
  std::vector<record::Assignment> rows;
  double makespan_s = 0;
  bool exact = false;
};

// Places every (kernel, case) of a model on one device so that the last one ends as early as possible; kernels on the
// same device run one after the other. Exact by branch and bound as long as the search stays below `max_steps`
// (always with up to about a dozen kernels), else the best of list scheduling and of the search so far.
std::vector<Schedule> assign(std::vector<record::Projection> const& projections, std::uint64_t max_steps = 2000000);

}  // namespace kernelcast::model
