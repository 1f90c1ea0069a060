// Rankings by what a run costs and by the energy that it takes, beside the time.
//
// Method: the cost of a run is the projected time by the price of the instance that holds the device, as a whole: who
// rents eight devices to use one pays for eight. Of several offers of a device the cheapest one counts. The energy is
// bounded by the stated board power over the whole time. A ranking by either is a ranking of times that are scaled by
// the price or the power, so that `decided` says of costs what it says of times.
// Limits: the time is that of the device's work alone; what an instance costs while it starts, loads data or waits is
// not in it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "models/rank.hpp"
#include "records/device/device.hpp"
#include "records/projection.hpp"
#include "records/ranking.hpp"

namespace kernelcast::model {

enum class RankBy : std::uint8_t { time, cost, energy };

// The cheapest offer of each device, by id; of equal ones the first. Devices are named as find() of the database takes
// them.
class Prices {
 public:
  // Nothing where the offer counts or has no price; else the column that is wrong, and why. Offers of devices that the
  // database does not have are left out, and noted in unknown().
  struct Fault {
    std::string column, text;
  };
  std::optional<Fault> add(record::Price, device::DeviceDatabase const&);
  record::Price const* of(std::string const& device) const;
  bool empty() const { return cheapest_.empty(); }
  std::vector<std::string> const& unknown() const { return unknown_; }

 private:
  std::map<std::string, record::Price> cheapest_;
  std::vector<std::string> unknown_;
  std::string currency_;
};

struct PricedRankings {
  std::vector<record::PricedRanking> rows;  // as of rank(), but in the order of cost or energy where `by` says so
  std::vector<std::string> left_out;        // devices whose price or power is not known, which the order needs
};
PricedRankings rank_priced(std::vector<record::Projection> const&, RankBy by, Prices const&,
                           device::DeviceDatabase const&, Together together = Together::model,
                           Orders const& orders = {});

}  // namespace kernelcast::model
