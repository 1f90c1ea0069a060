// How wrong the models are, as measured: rows of devdb/intervals.csv and devdb/ratios.csv, and how well they hold.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "records/table/schema.hpp"
#include "records/vocabulary.hpp"

namespace kernelcast::record {

// Models of whose projections residuals are known; `…_launches`: projected with a stated cost of launches, which of the
// queue is the system's own.
enum class ResidualModel : std::uint8_t { queue, queue_launches, panwar, panwar_launches, ake, ake_launches };
template <>
inline constexpr std::array names_of<ResidualModel>{std::string_view("queue"),  std::string_view("queue+launches"),
                                                    std::string_view("panwar"), std::string_view("panwar+launches"),
                                                    std::string_view("ake"),    std::string_view("ake+launches")};

// Of the devices that residuals are of: this one, one of its architecture, or none such.
enum class Tested : std::uint8_t { device, architecture, none };
template <>
inline constexpr std::array names_of<Tested>{std::string_view("device"), std::string_view("architecture"),
                                             std::string_view("none")};

// By the projection, so that it is known before anything is measured: the launches take most of it, or else it takes
// less than short_s in all.
enum class Regime : std::uint8_t { launch, short_, long_ };
template <>
inline constexpr std::array names_of<Regime>{std::string_view("launch"), std::string_view("short"),
                                             std::string_view("long")};
inline constexpr double short_s = 100e-6;
constexpr Regime regime_of(std::optional<Limiter> limiter, double time_s) {
  return limiter == Limiter::launch ? Regime::launch : time_s < short_s ? Regime::short_ : Regime::long_;
}

// Of two devices.
enum class Relation : std::uint8_t { same_architecture, other_architecture, other_vendor };
template <>
inline constexpr std::array names_of<Relation>{
    std::string_view("same architecture"), std::string_view("other architecture"), std::string_view("other vendor")};

// The measured time lies between `low` and `high` times the projected one.
struct Interval {
  ResidualModel model{};
  Tested tested{};
  std::string architecture;        // empty: any
  std::optional<Limiter> limiter;  // none: any
  std::optional<Regime> regime;    // none: any
  std::uint64_t kernels = 0, times = 0;
  std::string devices;  // joined by ";"
  double low = 1, high = 1;
  std::string source, hash;

  static Schema<Interval> const& schema();
};

// The order of two devices is that of their projected times where these differ by more than this factor.
struct Ratio {
  ResidualModel model{};
  Relation relation{};
  std::uint64_t kernels = 0, pairs = 0;
  double factor = 1;
  std::string source, hash;

  static Schema<Ratio> const& schema();
};

// How intervals and decisions hold for what was left out when they were made.
struct Coverage {
  ResidualModel model{};
  std::string left_out, suite;
  std::uint64_t kernels = 0, times = 0;
  double coverage_pct = 0, below_pct = 0, interval_ratio = 1;
  std::uint64_t pairs = 0;
  std::optional<double> decided_pct, wrong_pct;

  static Schema<Coverage> const& schema();
};

}  // namespace kernelcast::record
