#include "records/fit.hpp"

namespace kernelcast::record {

namespace {

template <class R>
Schema<R> fitted(std::string name, std::string summary, std::string models = "nnls, wls or lassolars") {
  Schema<R> s(std::move(name), std::move(summary));
  s.column("app", &R::app, Unit::none, "application")
      .may_be_empty()
      .column("gpu", &R::gpu, Unit::none, "slug of the GPU in the device database")
      .may_be_empty()
      .column("system", &R::system, Unit::none, "name of the system")
      .may_be_empty()
      .column("model", &R::model, Unit::none, std::move(models));
  return s;
}

}  // namespace

Schema<Fit> const& Fit::schema() {
  static auto const schema = [] {
    auto s = fitted<Fit>("fit", "terms of a model of t(n, g)");
    s.column("term", &Fit::term, Unit::none,
             "what the coefficient is for; n: problem size, g: GPUs, p and q: rows and columns of parts; a colon is "
             "followed by the condition under which the term counts")
        .column("coefficient", &Fit::coefficient, Unit::none, "in seconds per unit of the term")
        .column("mape_pct", &Fit::mape_pct, Unit::percent, "mean absolute error of the model over its samples")
        .column("gpus", &Fit::gpus, Unit::count, "the number of GPUs that the term is for; empty: all")
        .column("alpha", &Fit::alpha, Unit::none,
                "lassolars: the penalty, as a fraction of the least that leaves no term")
        .column("kkt_violation", &Fit::kkt_violation, Unit::none,
                "lassolars: how far the solution is from its optimality conditions, relative to the penalty");
    return s;
  }();
  return schema;
}

Schema<Penalty> const& Penalty::schema() {
  static auto const schema = [] {
    auto s = fitted<Penalty>("penalty", "what the choice of a model loses against the best time known",
                             "nnls, wls, lassolars, trivial:all_gpus or trivial:most_often_best");
    s.column("n", &Penalty::n, Unit::none, "problem size")
        .column("gpus", &Penalty::gpus, Unit::count, "GPUs that the model chooses")
        .column("best_gpus", &Penalty::best_gpus, Unit::count, "GPUs with the least time")
        .column("time_s", &Penalty::time_s, Unit::seconds, "real time of the choice")
        .column("best_time_s", &Penalty::best_time_s, Unit::seconds, "least time")
        .column("loss_s", &Penalty::loss_s, Unit::seconds, "difference of the two")
        .column("penalty_pct", &Penalty::penalty_pct, Unit::percent, "the loss over the least time");
    return s;
  }();
  return schema;
}

Schema<Residual> const& Residual::schema() {
  static auto const schema = [] {
    auto s = fitted<Residual>("residual", "how far a model is off at one point");
    s.column("n", &Residual::n, Unit::none, "problem size")
        .column("gpus", &Residual::gpus, Unit::count, "number of GPUs")
        .column("time_s", &Residual::time_s, Unit::seconds, "real time")
        .column("fitted_s", &Residual::fitted_s, Unit::seconds, "what the model says")
        .column("error_s", &Residual::error_s, Unit::seconds, "model minus real time")
        .column("error_pct", &Residual::error_pct, Unit::percent, "the error over the real time");
    return s;
  }();
  return schema;
}

}  // namespace kernelcast::record
