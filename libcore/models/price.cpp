#include "models/price.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <tuple>

#include <fmt/format.h>

namespace kernelcast::model {

namespace {

constexpr double seconds_per_hour = 3600;

// What a second on the device counts for; none: not known.
std::optional<double> weight(RankBy by, record::Price const* price, device::Device const* device) {
  switch (by) {
    case RankBy::time:
      return 1;
    case RankBy::cost:
      return price ? std::optional(*price->price_per_hour / seconds_per_hour) : std::nullopt;
    case RankBy::energy:
      return device ? device->tdp_w : std::nullopt;
  }
  return std::nullopt;
}

void scale(record::Projection& p, double factor) {
  for (auto* const time : {&p.time_s, &p.time_low_s, &p.time_high_s})
    if (*time) **time *= factor;
}

}  // namespace

std::optional<Prices::Fault> Prices::add(record::Price price, device::DeviceDatabase const& database) {
  if (!price.price_per_hour) return std::nullopt;
  if (!(*price.price_per_hour > 0)) return Fault{"price_per_hour", "a price must be above 0"};
  if (price.gpus_per_instance == 0) return Fault{"gpus_per_instance", "an instance has at least one device"};
  if (currency_.empty()) currency_ = price.currency;
  if (price.currency != currency_)
    return Fault{"currency",
                 fmt::format("prices are in '{}' and in '{}' and cannot be compared", currency_, price.currency)};
  try {
    price.device = database.find(price.device).device;
  } catch (Error const& error) {
    if (error.status() != Status::unavailable) throw;
    unknown_.push_back(price.device);
    return std::nullopt;
  }
  auto const [known, is_new] = cheapest_.try_emplace(price.device, price);
  if (!is_new && *price.price_per_hour < *known->second.price_per_hour) known->second = std::move(price);
  return std::nullopt;
}

record::Price const* Prices::of(std::string const& device) const {
  auto const known = cheapest_.find(device);
  return known == cheapest_.end() ? nullptr : &known->second;
}

PricedRankings rank_priced(std::vector<record::Projection> const& projections, RankBy by, Prices const& prices,
                           device::DeviceDatabase const& database, Together together, Orders const& orders) {
  PricedRankings out;
  std::map<std::string, device::Device const*, std::less<>> devices;
  for (auto const& device : database.devices()) devices[device.device] = &device;
  auto const device_of = [&](std::string const& id) {
    auto const known = devices.find(id);
    return known == devices.end() ? nullptr : known->second;
  };
  std::vector<record::Projection> scaled;
  std::map<std::tuple<std::string, std::string>, double> fastest;  // by kernel and case, with the model unless together
  auto const case_of = [&](auto const& row) {
    return std::tuple{together == Together::all ? row.kernel : row.model + '\n' + row.kernel, row.case_name};
  };
  std::map<std::tuple<std::string, std::string, std::string, std::string>, record::Projection const*> unscaled;
  auto const key_of = [](auto const& row) { return std::tuple{row.model, row.kernel, row.case_name, row.device}; };
  std::set<std::string> left_out;
  for (auto const& p : projections) {
    if (!p.time_s) continue;
    auto const [known, is_new] = fastest.try_emplace(case_of(p), *p.time_s);
    if (!is_new) known->second = std::min(known->second, *p.time_s);
    auto const factor = weight(by, prices.of(p.device), device_of(p.device));
    if (!factor) {
      left_out.insert(p.device);
      continue;
    }
    scale(scaled.emplace_back(p), *factor);
    unscaled[key_of(p)] = &p;
  }
  out.left_out.assign(left_out.begin(), left_out.end());
  for (auto& ranked : rank(scaled, together, orders)) {
    record::PricedRanking row{std::move(ranked), {}, {}, {}, {}, {}, {}, {}, {}};
    auto const* const price = prices.of(row.device);
    auto const* const device = device_of(row.device);
    auto const& projection = *unscaled.at(key_of(row));
    row.time_s = *projection.time_s;
    row.time_low_s = projection.time_low_s;
    row.time_high_s = projection.time_high_s;
    row.relative_time = row.time_s / fastest.at(case_of(row));
    if (price) {
      row.cost = row.time_s * *price->price_per_hour / seconds_per_hour;
      row.currency = price->currency;
      row.price_per_hour = price->price_per_hour;
      row.gpus_per_instance = price->gpus_per_instance;
      row.provider = price->provider;
      row.region = price->region;
      row.as_of = price->as_of;
    }
    if (device && device->tdp_w) row.energy_j = row.time_s * *device->tdp_w;
    out.rows.push_back(std::move(row));
  }
  return out;
}

}  // namespace kernelcast::model
