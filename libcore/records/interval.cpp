#include "records/interval.hpp"

namespace kernelcast::record {

namespace {

constexpr char const* model_meaning =
    "the model; +launches: projected with a cost of launches, of the queue with the system's own instead of others'";
constexpr char const* source_meaning = "what was measured by whom";
constexpr char const* hash_meaning = "of the files that it was made from (XXH3, 64 bits)";

}  // namespace

Schema<Interval> const& Interval::schema() {
  static auto const schema =
      Schema<Interval>("interval",
                       "between which multiples of a projected time the measured one lies, nine times of ten")
          .column("model", &Interval::model, Unit::none, model_meaning)
          .column("tested", &Interval::tested, Unit::none,
                  "for which devices it is: those that were measured, others of their architectures, all others")
          .column("architecture", &Interval::architecture, Unit::none, "of the device; empty for any")
          .may_be_empty()
          .column("limiter", &Interval::limiter, Unit::none, "of the projection; empty for any")
          .may_be_empty()
          .column("regime", &Interval::regime, Unit::none,
                  "of the projection: launch where that is the limiter, else short below 100 us; empty for any")
          .may_be_empty()
          .column("kernels", &Interval::kernels, Unit::count, "programs that it is from")
          .column("times", &Interval::times, Unit::count, "measured times that it is from")
          .column("devices", &Interval::devices, Unit::none, "devices that were measured, joined by ;")
          .column("low", &Interval::low, Unit::none, "the lower end over the projected time")
          .column("high", &Interval::high, Unit::none, "the upper end over the projected time")
          .column("source", &Interval::source, Unit::none, source_meaning)
          .column("hash", &Interval::hash, Unit::none, hash_meaning);
  return schema;
}

Schema<Ratio> const& Ratio::schema() {
  static auto const schema =
      Schema<Ratio>("ratio", "by how much two projected times must differ for their order to be right, 19 times of 20")
          .column("model", &Ratio::model, Unit::none, "the model")
          .column("relation", &Ratio::relation, Unit::none, "of the two devices")
          .column("kernels", &Ratio::kernels, Unit::count, "programs that it is from")
          .column("pairs", &Ratio::pairs, Unit::count, "pairs of measured times that it is from")
          .column("factor", &Ratio::factor, Unit::none, "the longer over the shorter projected time")
          .column("source", &Ratio::source, Unit::none, source_meaning)
          .column("hash", &Ratio::hash, Unit::none, hash_meaning);
  return schema;
}

Schema<Coverage> const& Coverage::schema() {
  using R = Coverage;
  static auto const schema =
      Schema<R>("coverage", "how intervals and decided orders hold for what was left out when they were made")
          .column("model", &R::model, Unit::none, model_meaning)
          .column("left_out", &R::left_out, Unit::none,
                  "kernels; devices: the kernel and the device; or architectures: the kernel and all such devices")
          .column("suite", &R::suite, Unit::none, "which set of measurements; mean: that over the sets")
          .column("kernels", &R::kernels, Unit::count, "programs")
          .column("times", &R::times, Unit::count, "measured times")
          .column("coverage_pct", &R::coverage_pct, Unit::percent,
                  "share of the measured times within the interval; each program counts alike")
          .column("below_pct", &R::below_pct, Unit::percent, "share of those below it")
          .column("interval_ratio", &R::interval_ratio, Unit::none, "median of the upper over the lower end")
          .column("pairs", &R::pairs, Unit::count, "pairs of devices with measured times more than 1.5 apart")
          .column("decided_pct", &R::decided_pct, Unit::percent, "share of these whose order is decided")
          .column("wrong_pct", &R::wrong_pct, Unit::percent, "share of all decided pairs whose order is another");
  return schema;
}

}  // namespace kernelcast::record
