// The `projection` record: how long a kernel takes on a device according to a model.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "records/table/schema.hpp"
#include "records/vocabulary.hpp"

namespace kernelcast::record {

// Infeasible or unknown: times empty, `status` other than "ok", `reason` says why.
struct Projection {
  std::string kernel;
  std::string case_name;  // column `case`
  std::string device;     // slug of the device database
  std::string model;
  std::optional<double> time_s, time_low_s, time_high_s;
  LimiterName limiter;
  RowStatus status = RowStatus::ok;
  std::string reason;

  // The model's terms; a projection of another model has other columns here and leaves these out.
  std::optional<double> t_compute_s, t_global_s, t_shared_s;
  std::optional<double> occupancy;
  std::string bandwidth_source;
  std::optional<double> t_launch_s;  // empty unless requested

  // As a new one; texts keep their memory.
  void clear();

  static Schema<Projection> const& schema();
};

// The columns that projections of every model have, for a record P with the members above `reason`; the model adds its
// terms after them. `limiters` lists the values of the column limiter.
template <class P>
Schema<P>& add_projection_columns(Schema<P>& s, std::span<Limiter const> limiters) {
  return s.column("kernel", &P::kernel, Unit::none, "name of the kernel function")
      .column("case", &P::case_name, Unit::none, "problem size or launch of the kernel")
      .may_be_empty()
      .accepts("size")
      .column("device", &P::device, Unit::none, "slug of the device in the device database")
      .optional_column("model", &P::model, Unit::none, "the model that made the projection")
      .column("time_s", &P::time_s, Unit::seconds,
              "projected kernel time of all launches; empty when infeasible or unknown")
      .optional_column("time_low_s", &P::time_low_s, Unit::seconds, "lower end of the interval that holds the time")
      .optional_column("time_high_s", &P::time_high_s, Unit::seconds, "upper end of the interval that holds the time")
      .optional_column("limiter", &P::limiter, Unit::none, "the term that decides the time")
      .may_be_empty()
      .among(limiters)
      .optional_column(
          "status", &P::status, Unit::none,
          "what became of it: infeasible where the device cannot run it, unvalidated where no measurement of such "
          "a device has tested the model")
      .among({RowStatus::ok, RowStatus::infeasible, RowStatus::unknown, RowStatus::unvalidated})
      .may_be_empty()
      .optional_column("reason", &P::reason, Unit::none, "why there is no time, or what was assumed")
      .may_be_empty();
}

// A measured time, read from any table that has these columns (`size` is accepted for `case`).
struct Measured {
  std::string kernel, case_name, device;
  std::optional<double> time_s;
  // Where it comes from, for scores; empty where nothing is said.
  std::string suite = {}, program = {};
  std::string problem = {};  // rows of one device and problem are alternatives
  std::string part = {};     // of a split into what constants were chosen on and what was held out

  static Schema<Measured> const& schema();
};

}  // namespace kernelcast::record
