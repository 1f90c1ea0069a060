#include "records/forest.hpp"

namespace kernelcast::record {

namespace {

template <class P>
void add_forest_columns(Schema<P>& s) {
  add_projection_columns(s, {})  // a forest knows no terms
      .optional_column("power_w", &P::power_w, Unit::watts, "projected mean power while the kernel runs")
      .optional_column("power_low_w", &P::power_low_w, Unit::watts, "lower end of the interval that holds the power")
      .optional_column("power_high_w", &P::power_high_w, Unit::watts, "upper end of the interval that holds the power")
      .optional_column("support", &P::support, Unit::none,
                       "share of the trees in which the nearest training sample falls into the same leaf")
      .optional_column(
          "extrapolated", &P::extrapolated, Unit::none,
          "yes when a feature lies outside the training samples, or no sample is near (support below 0.05)")
      .optional_column("nearest", &P::nearest, Unit::none, "the nearest training sample: kernel/case")
      .may_be_empty();
}

template <class P>
Schema<P> forest_projection(std::string name, std::string summary) {
  Schema<P> s(std::move(name), std::move(summary));
  add_forest_columns(s);
  return s;
}

}  // namespace

Schema<ForestProjection> const& ForestProjection::schema() {
  static auto const schema =
      forest_projection<ForestProjection>("projection", "how long a kernel takes on a device according to a model");
  return schema;
}

Schema<HeldOut> const& HeldOut::schema() {
  static auto const schema = [] {
    auto s = forest_projection<HeldOut>("held_out", "projections of samples that were not learnt from, and the truth");
    s.column("measured_s", &HeldOut::measured_s, Unit::seconds, "measured kernel time; empty for a forest of power")
        .optional_column("measured_w", &HeldOut::measured_w, Unit::watts, "measured power; empty for a forest of times")
        .column("error_pct", &HeldOut::error_pct, Unit::percent, "distance of the projection from the measured value")
        .optional_column("scheme", &HeldOut::scheme, Unit::none, "how samples were held out: k-fold, leave-one-out, …")
        .optional_column("iteration", &HeldOut::iteration, Unit::none, "0 and up; each has a seed of its own")
        .optional_column("fold", &HeldOut::fold, Unit::none, "the fold that was held out, 0 and up");
    return s;
  }();
  return schema;
}

Schema<Validation> const& Validation::schema() {
  static auto const schema =
      Schema<Validation>("validation", "how well a forest predicts what it has not seen")
          .column("device", &Validation::device, Unit::none, "the device; all for one forest of several devices")
          .column("target", &Validation::target, Unit::none, "time_s or power_w")
          .column("scheme", &Validation::scheme, Unit::none,
                  "k-fold, leave-one-out, leave-<column>-out or nested: how samples were held out")
          .column("iteration", &Validation::iteration, Unit::none, "0 and up; each has a seed of its own")
          .column("fold", &Validation::fold, Unit::none, "the fold, 0 and up; empty: all of them together")
          .column("samples", &Validation::samples, Unit::count, "samples predicted")
          .column("trees", &Validation::trees, Unit::count, "trees of the forest")
          .column("max_features", &Validation::max_features, Unit::none, "features tried at a node: all, log2, sqrt")
          .column("criterion", &Validation::criterion, Unit::none, "what a cut reduces: mse or mae")
          .column("mape_pct", &Validation::mape_pct, Unit::percent, "mean absolute percentage error, [braun] eq. (5.1)")
          .column("median_pct", &Validation::median_pct, Unit::percent, "median absolute percentage error")
          .column("within_10_pct", &Validation::within_10_pct, Unit::percent,
                  "share of the samples predicted with an error of at most 10 %")
          .column("coverage_pct", &Validation::coverage_pct, Unit::percent,
                  "share of the samples whose measured value lies in the predicted interval")
          .column("extrapolated", &Validation::extrapolated, Unit::count, "samples whose prediction is extrapolated")
          .column("chosen_mape_pct", &Validation::chosen_mape_pct, Unit::percent,
                  "nested: the error in the inner cross-validation that chose these settings");
  return schema;
}

Schema<Importance> const& Importance::schema() {
  static auto const schema =
      Schema<Importance>("importance", "what each feature is worth to a forest")
          .column("device", &Importance::device, Unit::none, "the device; all for one forest of several devices")
          .column("target", &Importance::target, Unit::none, "time_s or power_w")
          .column("feature", &Importance::feature, Unit::none, "the feature's column")
          .column("impurity_pct", &Importance::impurity_pct, Unit::percent,
                  "its part in reducing the criterion, all features together 100")
          .optional_column("permutation_pct", &Importance::permutation_pct, Unit::percent,
                           "by how many points the error of held-out samples grows when its values are exchanged")
          .optional_column("rank", &Importance::rank, Unit::none, "1 is the largest impurity_pct of the device");
  return schema;
}

Schema<Correlation> const& Correlation::schema() {
  static auto const schema =
      Schema<Correlation>("correlation", "how the importance of a feature goes with a property of devices")
          .column("target", &Correlation::target, Unit::none, "time_s or power_w")
          .column("feature", &Correlation::feature, Unit::none, "the feature's column")
          .column("property", &Correlation::property, Unit::none, "the property's column in the file of devices")
          .column("devices", &Correlation::devices, Unit::count, "devices with both")
          .column("correlation", &Correlation::correlation, Unit::none,
                  "Pearson's coefficient, -1 to 1; empty for fewer than two devices or a constant side");
  return schema;
}

}  // namespace kernelcast::record
