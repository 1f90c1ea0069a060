// The `projection` record: how long a kernel takes on a device according to a model.
#pragma once

#include <optional>
#include <string>

#include "record/schema.hpp"

namespace kernelcast::record {

// Infeasible or unknown: times empty, `status` other than "ok", `reason` says why.
struct Projection {
  std::string kernel;
  std::string case_name;  // column `case`
  std::string device;     // slug of the device database
  std::string model;
  std::optional<double> time_s, time_low_s, time_high_s;
  std::string limiter;        // the term that bounds the time: compute, global, shared
  std::string status = "ok";  // ok, infeasible, unknown
  std::string reason;

  // The model's terms; a projection of another model has other columns here and leaves these out.
  std::optional<double> t_compute_s, t_global_s, t_shared_s;
  std::optional<double> occupancy;
  std::string bandwidth_source;

  static Schema<Projection> const& schema();
};

// A time that somebody measured, read from any table that has these columns (`size` is accepted for `case`).
struct Measured {
  std::string kernel, case_name, device;
  std::optional<double> time_s;

  static Schema<Measured> const& schema();
};

}  // namespace kernelcast::record
