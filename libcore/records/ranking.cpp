#include "records/ranking.hpp"

#include "records/table/meanings.hpp"

namespace kernelcast::record {

namespace {

constexpr auto rank_meaning = "1 is the first; equal times share a rank";
constexpr auto limiter_meaning = "what decides the time there, as the model says";

template <class R>
void add_case(Schema<R>& schema) {
  schema.column("model", &R::model, Unit::none, meaning::model)
      .column("kernel", &R::kernel, Unit::none, meaning::kernel)
      .column("case", &R::case_name, Unit::none, meaning::size)
      .may_be_empty();
}

template <class R>
Schema<R>& add_ranking(Schema<R>& s) {
  add_case(s);
  return s.column("rank", &R::rank, Unit::count, rank_meaning)
      .column("device", &R::device, Unit::none, meaning::device)
      .column("time_s", &R::time_s, Unit::seconds, "projected kernel time")
      .column("relative_time", &R::relative_time, Unit::none, "projected time over that of the fastest device")
      .column("decided", &R::decided, Unit::none,
              "whether the order of this device and the first is right 19 times of 20, by the ratios of measured "
              "times; where these are not known, whether their intervals do not overlap; on the row of the first, "
              "whether that holds of all others")
      .optional_column("limiter", &R::limiter, Unit::none, limiter_meaning)
      .may_be_empty()
      .optional_column("time_low_s", &R::time_low_s, Unit::seconds, meaning::low)
      .optional_column("time_high_s", &R::time_high_s, Unit::seconds, meaning::high);
}

}  // namespace

Schema<Ranking> const& Ranking::schema() {
  static auto const schema = [] {
    Schema<Ranking> s("ranking", "devices in the order of their projected time");
    add_ranking(s);
    return s;
  }();
  return schema;
}

Schema<Price> const& Price::schema() {
  static auto const schema =
      Schema<Price>("price", "what an hour of an instance with such a device costs")
          .column("device", &Price::device, Unit::none, "the device: a name that the device database has")
          .column("gpus_per_instance", &Price::gpus_per_instance, Unit::count,
                  "devices of the instance, which is rented as a whole; 1 where a single one can be had")
          .column("price_per_hour", &Price::price_per_hour, Unit::none,
                  "price of an hour of the instance; empty where it is not known")
          .column("currency", &Price::currency, Unit::none, "of the price, one in all rows, such as USD")
          .may_be_empty()
          .optional_column("provider", &Price::provider, Unit::none, "who offers it")
          .may_be_empty()
          .optional_column("region", &Price::region, Unit::none, "where")
          .may_be_empty()
          .optional_column("as_of", &Price::as_of, Unit::none, "date of the price, such as 2026-11-25")
          .may_be_empty();
  return schema;
}

Schema<PricedRanking> const& PricedRanking::schema() {
  static auto const schema = [] {
    Schema<PricedRanking> s("priced_ranking", "devices in the order of time, cost or energy, with all three");
    add_ranking(s)
        .optional_column(
            "cost", &PricedRanking::cost, Unit::none,
            "price of the instance over the projected time: of one run, alone on the instance; empty without a price")
        .optional_column("currency", &PricedRanking::currency, Unit::none, "of cost and price_per_hour")
        .may_be_empty()
        .optional_column(
            "energy_j", &PricedRanking::energy_j, Unit::joules,
            "stated board power over the projected time, which the device does not exceed; empty where that power "
            "is not known")
        .optional_column("price_per_hour", &PricedRanking::price_per_hour, Unit::none,
                         "the lowest price of an hour of an instance with this device")
        .optional_column("gpus_per_instance", &PricedRanking::gpus_per_instance, Unit::count,
                         "devices of that instance")
        .optional_column("provider", &PricedRanking::provider, Unit::none, "who offers it")
        .may_be_empty()
        .optional_column("region", &PricedRanking::region, Unit::none, "where")
        .may_be_empty()
        .optional_column("as_of", &PricedRanking::as_of, Unit::none, "date of the price")
        .may_be_empty();
    return s;
  }();
  return schema;
}

Schema<ConfigurationRanking> const& ConfigurationRanking::schema() {
  using R = ConfigurationRanking;
  static auto const schema =
      Schema<R>("configuration_ranking", "the cases of a kernel in the order of their projected time on a device")
          .column("model", &R::model, Unit::none, meaning::model)
          .column("kernel", &R::kernel, Unit::none, meaning::kernel)
          .column("device", &R::device, Unit::none, meaning::device)
          .column("rank", &R::rank, Unit::count, rank_meaning)
          .column("case", &R::case_name, Unit::none, meaning::size)
          .may_be_empty()
          .column("time_s", &R::time_s, Unit::seconds, "projected kernel time")
          .column("relative_time", &R::relative_time, Unit::none, "projected time over that of the fastest case")
          .column("limiter", &R::limiter, Unit::none, limiter_meaning)
          .may_be_empty()
          .column("time_low_s", &R::time_low_s, Unit::seconds, meaning::low)
          .column("time_high_s", &R::time_high_s, Unit::seconds, meaning::high);
  return schema;
}

Schema<Portability> const& Portability::schema() {
  using R = Portability;
  static auto const schema =
      Schema<R>("portability", "the cases of a kernel in the order of what they lose over several devices")
          .column("model", &R::model, Unit::none, meaning::model)
          .column("kernel", &R::kernel, Unit::none, meaning::kernel)
          .column("rank", &R::rank, Unit::count, "1 is the case whose worst loss is the least, then the mean one")
          .column("case", &R::case_name, Unit::none, meaning::size)
          .may_be_empty()
          .column("devices", &R::devices, Unit::count, "devices that have a time of every case")
          .column("worst_loss_pct", &R::worst_loss_pct, Unit::percent,
                  "most that its time is beyond that of the device's fastest configuration, in percent of the latter")
          .column("mean_loss_pct", &R::mean_loss_pct, Unit::percent, "mean of that over the devices")
          .column("worst_device", &R::worst_device, Unit::none, "the device of the worst loss");
  return schema;
}

Schema<ConfigurationScore> const& ConfigurationScore::schema() {
  using R = ConfigurationScore;
  static auto const schema =
      Schema<R>("configuration_score", "how good an order of the cases of a kernel is, against measured times")
          .column("model", &R::model, Unit::none,
                  "the model, or trivial:random (mean over all orders), trivial:occupancy (the highest first)")
          .column("kernel", &R::kernel, Unit::none, meaning::kernel)
          .column("device", &R::device, Unit::none, meaning::device)
          .column("configurations", &R::configurations, Unit::count, "cases that are both projected and measured")
          .column("tau", &R::tau, Unit::none, "Kendall's tau-b of the order and the measured times")
          .column("loss_top1_pct", &R::loss_top1_pct, Unit::percent,
                  "measured time of the first case beyond that of the best one, in percent of the latter")
          .column("loss_top5_pct", &R::loss_top5_pct, Unit::percent, "the same of the best of the first five")
          .column("loss_top10_pct", &R::loss_top10_pct, Unit::percent, "the same of the best of the first ten");
  return schema;
}

Schema<Assessment> const& Assessment::schema() {
  static auto const schema = [] {
    Schema<Assessment> s("assessment", "how good the choice of a model is, against measured times");
    add_case(s);
    s.column("chosen_device", &Assessment::chosen_device, Unit::none, "the device with the least projected time")
        .column("best_device", &Assessment::best_device, Unit::none, "the device with the least measured time")
        .column("selection_penalty_pct", &Assessment::selection_penalty_pct, Unit::percent,
                "measured time of the chosen device beyond that of the best one, in percent of the latter")
        .column("relative_error_pct", &Assessment::relative_error_pct, Unit::percent,
                "distance of the unit vectors of measured and projected times over the square root of 2; 100 is the "
                "most that two vectors of times can differ");
    return s;
  }();
  return schema;
}

Schema<AssessmentSummary> const& AssessmentSummary::schema() {
  static auto const schema =
      Schema<AssessmentSummary>("assessment_summary", "a model's assessments in one row, trivial rankings beside")
          .column("model", &AssessmentSummary::model, Unit::none,
                  "the model, or trivial:peak_flops, trivial:peak_bandwidth, trivial:most_often_best")
          .column("cases", &AssessmentSummary::cases, Unit::count, "kernels and cases assessed")
          .column("best_picked_pct", &AssessmentSummary::best_picked_pct, Unit::percent,
                  "share of the cases in which the chosen device is the best one")
          .column("mean_selection_penalty_pct", &AssessmentSummary::mean_selection_penalty_pct, Unit::percent,
                  "mean selection penalty over all cases")
          .column("max_selection_penalty_pct", &AssessmentSummary::max_selection_penalty_pct, Unit::percent,
                  "largest selection penalty")
          .column("mean_relative_error_pct", &AssessmentSummary::mean_relative_error_pct, Unit::percent,
                  "mean relative error over all cases; empty for a ranking that projects no times");
  return schema;
}

Schema<Comparison> const& Comparison::schema() {
  using R = Comparison;
  static auto const schema = [] {
    Schema<R> s("comparison", "a projected time and the measured one");
    add_projection_columns(s, values_of<Limiter>);
    s.column("measured_s", &R::measured_s, Unit::seconds, "measured kernel time")
        .column("error_pct", &R::error_pct, Unit::percent, "|projected / measured - 1|")
        .column("suite", &R::suite, Unit::none, "which set of measurements it is of")
        .may_be_empty()
        .column("program", &R::program, Unit::none, "the program or benchmark that was measured")
        .may_be_empty()
        .column("part", &R::part, Unit::none, "of a split: chosen or held")
        .may_be_empty()
        .column("regime", &R::regime, Unit::none, "by the measured time: < 10 us, 10 to 100 us, >= 100 us");
    return s;
  }();
  return schema;
}

Schema<Score> const& Score::schema() {
  using R = Score;
  static auto const schema =
      Schema<R>("score", "how right a model is on a group of measured times")
          .column("model", &R::model, Unit::none,
                  "the model; of one whose name begins with order: only the order counts, not the times")
          .column("by", &R::by, Unit::none,
                  "what the group is made by: all, suites (the mean over the suites), suite, program, part, device, "
                  "architecture, limiter or regime")
          .column("group", &R::group, Unit::none, "which of them; regime: by the measured time")
          .may_be_empty()
          .column("times", &R::times, Unit::count, "measured times that the model has a time for")
          .column("missing", &R::missing, Unit::count, "measured times that it has none for")
          .column("median_error_pct", &R::median_error_pct, Unit::percent,
                  "median of |projected / measured - 1|; empty without times")
          .column("mean_error_pct", &R::mean_error_pct, Unit::percent, "mean of the same")
          .column("bias_pct", &R::bias_pct, Unit::percent,
                  "geometric mean of projected / measured, less 1: above 0 is too slow")
          .column("within_15_pct", &R::within_15_pct, Unit::percent, "share of the times with an error up to 15 %")
          .column("within_30_pct", &R::within_30_pct, Unit::percent, "share of the times with an error up to 30 %")
          .column("within_half_pct", &R::within_half_pct, Unit::percent,
                  "share of the times within a factor of 1.5, either way")
          .column("of_all_within_30_pct", &R::of_all_within_30_pct, Unit::percent,
                  "the same up to 30 %, where a missing time is a miss")
          .column("cases", &R::cases, Unit::count, "kernels and cases with two or more devices")
          .column(
              "tau", &R::tau, Unit::none,
              "Kendall's tau of the devices' order, mean over the cases: 1 all pairs right, 0 as chance, -1 all wrong")
          .column("best_picked_pct", &R::best_picked_pct, Unit::percent,
                  "share of the cases in which the device chosen is the fastest; of several projected alike each "
                  "counts in part")
          .column("mean_penalty_pct", &R::mean_penalty_pct, Unit::percent,
                  "mean over the cases of the chosen device's measured time beyond that of the fastest")
          .column("decided_pct", &R::decided_pct, Unit::percent, "share of the cases in which the choice is decided")
          .column("wrongly_decided_pct", &R::wrongly_decided_pct, Unit::percent,
                  "share of those in which the device chosen is not the fastest")
          .column("problems", &R::problems, Unit::count,
                  "problems on a device with two or more alternatives whose projected times differ")
          .column(
              "regret_1_pct", &R::regret_1_pct, Unit::percent,
              "mean over the problems: measured time of the alternative projected fastest beyond that of the fastest")
          .column("regret_5_pct", &R::regret_5_pct, Unit::percent,
                  "the same for the best of the five projected fastest")
          .column("regret_10_pct", &R::regret_10_pct, Unit::percent,
                  "the same for the best of the ten projected fastest")
          .column("coverage_pct", &R::coverage_pct, Unit::percent,
                  "share of the times that lie within the projected interval")
          .column("interval_ratio", &R::interval_ratio, Unit::none,
                  "median of the upper over the lower end of the interval");
  return schema;
}

Schema<Share> const& Share::schema() {
  static auto const schema = [] {
    Schema<Share> s("share", "how much of a kernel's work each device takes");
    add_case(s);
    s.column("device", &Share::device, Unit::none, meaning::device)
        .column("share", &Share::share, Unit::none, "part of the work, proportional to 1/time; all devices together 1");
    return s;
  }();
  return schema;
}

Schema<Assignment> const& Assignment::schema() {
  static auto const schema =
      Schema<Assignment>("assignment", "which kernel runs on which device and when, for the least time of all together")
          .column("kernel", &Assignment::kernel, Unit::none, meaning::kernel)
          .column("case", &Assignment::case_name, Unit::none, meaning::size)
          .may_be_empty()
          .column("device", &Assignment::device, Unit::none, "slug of the device that runs it")
          .column("start_s", &Assignment::start_s, Unit::seconds, "when it starts, after the start of the first")
          .column("end_s", &Assignment::end_s, Unit::seconds, "when it ends")
          .optional_column("model", &Assignment::model, Unit::none, meaning::model)
          .may_be_empty()
          .optional_column("search", &Assignment::search, Unit::none,
                           "exhaustive: no assignment ends earlier; local: the best that a limited search found")
          .may_be_empty();
  return schema;
}

}  // namespace kernelcast::record
