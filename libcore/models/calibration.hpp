// Intervals and decisions from residuals: conformal prediction over whole kernels.
//
// Problem: between which multiples of a projected time does the measured one lie, and by how much must two projected
// times differ for their order to be right? Method: the residual of a time is ln(measured / projected). Its cells are
// those of device::cell_chain(); a cell's ends are the weighted quantiles at 10 and 90 %, drawn to those of the next of
// its chain the more the fewer programs it has, and five per cent further out, for what a measurement does not repeat.
// One with less than `min_kernels` programs has no row, so that the next of the chain replaces it. Suites count alike,
// in a suite its programs, in a program its times; in a cell, a suite of fewer than `min_kernels` by their number. Then
// each program is left out in turn, the cells are made of the others, and both ends of every cell are drawn out by the
// least factor at which so many of the residuals left out are inside as nominal, with the correction for a finite
// number of programs, on the mean over the suites, and as `least` says in each suite of at least `min_kernels`
// programs. Quantiles of few programs that lie further out are their extremes, and one factor for all keeps narrow
// cells narrow. That is done with the program left out; with its device besides, for unmeasured devices; and with all
// devices of the architecture besides.
// For orders, the residual of a pair is the difference of those of its two times, of one kernel and case on two
// devices: what a kernel's counts miss is the same on both and cancels. `decided` of them are below the factor, so that
// (1 + decided) / 2 of the orders are right where two projections differ by just that. There are too few programs with
// several devices for a correction.
// Source: Lei and others 2018 for split conformal prediction; Romano, Patterson, Candes 2019 for quantiles that are
// then moved; Dunn, Wasserman, Ramdas 2023 for groups of which each is exchangeable as a whole.
// Limits: coverage is nominal on the mean over the suites, for programs like theirs.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "records/device/device.hpp"
#include "records/interval.hpp"
#include "records/projection.hpp"

namespace kernelcast::model {

struct Residual {
  record::ResidualModel model{};
  std::string suite, program;  // what is left out as a whole
  std::string kernel, case_name;
  std::string device, architecture, vendor;
  std::optional<record::Limiter> limiter;
  double time_s = 0;           // projected
  double log = 0;              // ln(measured / projected)
  bool is_substitute = false;  // the projection is that of another model: for pairs only
};

struct CalibrationOptions {
  double nominal = 0.9;   // of the mean over the suites
  double least = 0.8;     // of each suite with min_kernels
  double quantile = 0.8;  // of a cell, before its ends are drawn out
  double broader = 20;    // programs that the ends of the next of the chain count like
  double repeat = 0.05;   // logarithm: what a measurement does not repeat, assumed
  double decided = 0.75;  // of pairs
  std::size_t min_kernels = 20;
  std::size_t min_kernels_of_pairs = 3;
};

// Measured times that are projected, with devices of the database only. A projection is that of a ResidualModel by its
// `model` as bench-suites/validation names it: `queue` has the system's cost of launches, "queue+others' launches" has
// not, and stands for all suites as far as it has times. Where the queue projects as by panwar, the residual is
// panwar's, and no residual of the queue.
std::vector<Residual> residuals(std::vector<record::Projection> const&, std::vector<record::Measured> const&,
                                device::DeviceDatabase const&);

std::vector<record::Interval> intervals(std::vector<Residual> const&, CalibrationOptions const& = {});

// The interval of residuals that were each made without its program, each program counting alike; none of so few
// programs that its ends would not be known: 19, with 90 %.
std::optional<device::Factors> factors_of(std::vector<Residual> const&, CalibrationOptions const& = {});

// A relation of devices with less than min_kernels_of_pairs has the factor of the one before it, and none has a smaller
// one than that.
std::vector<record::Ratio> ratios(std::vector<Residual> const&, CalibrationOptions const& = {});

// Each residual, and each pair, against what is made without its program: by model, what is left out, and suite.
std::vector<record::Coverage> coverage(std::vector<Residual> const&, CalibrationOptions const& = {});

}  // namespace kernelcast::model
