#include "models/forest/study/shipped.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/diag/diag.hpp"

namespace kernelcast::forest {

namespace {

std::string rows_text(std::uint64_t rows) {
  return fmt::format("{} row{}", rows, rows == 1 ? "" : "s");
}

// "… factor 1.2; the best trivial prediction 1.5"
std::string compared(double factor, std::string const& trivial, double trivial_factor) {
  if (factor < trivial_factor)
    return fmt::format("off by a factor of {:.2f} (the best trivial prediction, '{}': {:.2f})", factor, trivial,
                       trivial_factor);
  return fmt::format("no better than the trivial prediction '{}': off by a factor of {:.2f}, that one by {:.2f}",
                     trivial, factor, trivial_factor);
}

// Which program writes the columns of a data set.
std::string columns_from(std::string const& data_set) {
  if (data_set == "neusight") return "its columns come from mangrove operators";
  if (data_set == "hecbench" || data_set == "tunehub") return "its columns come from miniemu";
  return fmt::format("its columns are described in forests/README.md of the device database, at {}", data_set);
}

}  // namespace

std::vector<std::string> features_of(record::ShippedForest const& row) {
  std::vector<std::string> out;
  std::string_view rest = row.features;
  while (!rest.empty()) {
    auto const end = rest.find(';');
    out.emplace_back(rest.substr(0, end));
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  }
  return out;
}

record::ShippedForest const& choose(std::vector<record::ShippedForest> const& index, std::string const& device,
                                    std::vector<std::string> const& columns) {
  std::vector<record::ShippedForest const*> here, fitting;
  std::set<std::string> devices;
  for (auto const& row : index) {
    devices.insert(row.device);
    if (row.device != device) continue;
    here.push_back(&row);
    auto const features = features_of(row);
    auto const has = [&](auto const& name) { return std::ranges::find(columns, name) != columns.end(); };
    if (std::ranges::all_of(features, has)) fitting.push_back(&row);
  }
  if (here.empty())
    throw Error(Status::unavailable, fmt::format("no forest of device '{}' is shipped", device),
                fmt::format("there are forests of {}; or train one: mangrove train, then --model FILE",
                            fmt::join(devices, ", ")));
  if (fitting.empty()) {
    auto const features = features_of(*here.front());
    auto const lacks = std::ranges::find_if(
        features, [&](auto const& name) { return std::ranges::find(columns, name) == columns.end(); });
    throw Error(Status::bad_data,
                fmt::format("no shipped forest of '{}' reads these columns: that of {} lacks '{}'", device,
                            here.front()->data_set, *lacks),
                fmt::format("{}; or train one that reads these: mangrove train", columns_from(here.front()->data_set)));
  }
  if (fitting.size() > 1)
    throw Error(Status::usage,
                fmt::format("{} shipped forests of '{}' read these columns: {} and {}", fitting.size(), device,
                            fitting[0]->file, fitting[1]->file),
                "name one with --model FILE");
  return *fitting.front();
}

std::set<std::string> seen(std::vector<std::string> const& samples, std::set<std::string> const& kernels) {
  std::set<std::string> out;
  for (auto const& sample : samples)  // kernel/case, and either may hold a slash
    for (auto slash = sample.find('/'); slash != std::string::npos; slash = sample.find('/', slash + 1))
      if (auto const name = sample.substr(0, slash); kernels.contains(name)) out.insert(name);
  return out;
}

std::string trust(record::ShippedForest const& row, std::uint64_t seen_rows, std::uint64_t unseen_rows) {
  auto out = fmt::format("{}: forest '{}' of {} measured times", row.device, row.data_set, row.samples);
  if (seen_rows > 0)
    out += fmt::format("; {} of kernels with names that it was trained on: {}", rows_text(seen_rows),
                       compared(row.case_factor, row.case_trivial, row.case_trivial_factor));
  if (unseen_rows > 0)
    out += fmt::format("; {} of kernels that it has not seen: {}", rows_text(unseen_rows),
                       compared(row.unseen_factor, row.unseen_trivial, row.unseen_trivial_factor));
  return out;
}

}  // namespace kernelcast::forest
