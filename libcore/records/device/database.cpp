// Reading the device database and finding devices in it.
#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/diag/text.hpp"
#include "records/device/check.hpp"
#include "records/device/device.hpp"
#include "records/device/measurements.hpp"
#include "records/device/siblings.hpp"
#include "records/table/table.hpp"

namespace kernelcast::device {

namespace fs = std::filesystem;

double Curve::at(double where) const {
  if (occupancy.empty()) return 0;
  auto const above = std::lower_bound(occupancy.begin(), occupancy.end(), where);
  if (above == occupancy.end()) return bandwidth_bytes_per_s.back();
  auto const i = static_cast<std::size_t>(above - occupancy.begin());
  double const x0 = i ? occupancy[i - 1] : 0, y0 = i ? bandwidth_bytes_per_s[i - 1] : 0;
  return y0 + (bandwidth_bytes_per_s[i] - y0) * (where - x0) / (occupancy[i] - x0);
}

namespace {

// Calls `each` with every row and the reader (for errors with the row's place).
template <class R, class Each>
void read(fs::path const& path, Each each) {
  std::ifstream in(path, std::ios::binary);
  if (!in)
    throw Error(Status::io, Where{path.string()}, "cannot open this file of the device database",
                "see devdb/README.md for the files that a device database has");
  csv::Reader rows(in, path.string());
  record::Reader<R> reader(rows);
  for (R row; reader.next(row);) each(row, reader);
}

void check(record::PipeRule const& row, record::Reader<record::PipeRule> const& reader) {
  if (!record::has_unit(row.throughput))
    throw reader.error("throughput", fmt::format("no device has a throughput of {}", name(row.throughput)),
                       "name a class that has a column throughput_<class>");
  if (!(row.results > 0)) throw reader.error("results", "must be above 0", "a lane gives one result, or two halves");
}

record::QueueConstant const* constant_of(record::ConstantRule const& row,
                                         record::Reader<record::ConstantRule> const& reader) {
  auto const* const constant = record::queue_constant(row.constant);
  if (!constant)
    throw reader.error("constant", fmt::format("the queue has no constant '{}'", row.constant),
                       "perfcast --constants lists them");
  if (!(row.value >= 0)) throw reader.error("value", "must not be below 0", "see the constant's unit");
  return constant;
}

bool is_listed(std::string_view target, std::string_view targets) {
  auto const all = listed(targets);
  return std::find(all.begin(), all.end(), target) != all.end();
}

std::vector<fs::path> csv_files(fs::path const& folder) {
  std::vector<fs::path> files;
  if (std::error_code error; fs::is_directory(folder, error))
    for (auto const& entry : fs::directory_iterator(folder))
      if (entry.path().extension() == ".csv") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

// Letters and digits only, lower case: "Tesla C1060" and "tesla_c1060" are the same name.
std::string key(std::string_view name) {
  std::string out;
  for (char const c : name)
    if (std::isalnum(static_cast<unsigned char>(c)))
      out += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

std::vector<std::string> names_of(Device const& device, std::vector<record::Alias> const& aliases) {
  std::vector<std::string> names{device.device, device.name, device.vendor + device.name};
  for (auto const alias : listed(device.alias)) names.emplace_back(alias);
  for (auto const& alias : aliases)
    if (alias.device == device.device) names.push_back(alias.name);
  return names;
}

void check(record::Interval const& row, record::Reader<record::Interval> const& reader) {
  if (!(row.low > 0 && row.low <= 1)) throw reader.error("low", "must be above 0 and not above 1", "low <= 1 <= high");
  if (!(row.high >= 1)) throw reader.error("high", "must not be below 1", "low <= 1 <= high");
}

void check(record::HostLink const& row, record::Reader<record::HostLink> const& reader) {
  using L = record::HostLink;
  for (auto const& [column, member] : {std::pair{"lane_bytes_per_s", &L::lane_bytes_per_s},
                                       {"to_device_part", &L::to_device_part},
                                       {"to_host_part", &L::to_host_part},
                                       {"reached_low", &L::reached_low},
                                       {"slot_low", &L::slot_low},
                                       {"staging_low_bytes_per_s", &L::staging_low_bytes_per_s}})
    if (!(row.*member > 0)) throw reader.error(column, "must be above 0", "a link without a figure has no row");
  if (row.fault_bytes_per_s &&
      !(row.fault_low_bytes_per_s.value_or(0) > 0 && *row.fault_low_bytes_per_s <= *row.fault_bytes_per_s &&
        row.fault_high_bytes_per_s && *row.fault_bytes_per_s <= *row.fault_high_bytes_per_s))
    throw reader.error("fault_bytes_per_s", "must lie in its range", "0 < low <= fault_bytes_per_s <= high");
  if (!(row.reached_low <= 1 && row.reached_high >= 1))
    throw reader.error("reached_low", "the range must hold 1", "reached_low <= 1 <= reached_high");
  if (!(row.staging_low_bytes_per_s <= row.staging_bytes_per_s &&
        row.staging_bytes_per_s <= row.staging_high_bytes_per_s))
    throw reader.error("staging_bytes_per_s", "must lie in its range", "low <= staging_bytes_per_s <= high");
}

void read_residuals(fs::path const& folder, std::vector<Device>& devices) {
  std::error_code error;
  if (fs::exists(folder / "intervals.csv", error)) {
    std::vector<record::Interval> rows;
    read<record::Interval>(folder / "intervals.csv", [&](auto const& row, auto& reader) {
      check(row, reader);
      rows.push_back(row);
    });
    ResidualTables tables(std::move(rows));
    std::map<std::string, std::string> architectures;
    for (auto const& device : devices) architectures[device.device] = device.architecture;
    for (auto& device : devices) device.residuals = tables.of(device.device, architectures);
  }
  if (fs::exists(folder / "ratios.csv", error)) {
    std::vector<record::Ratio> rows;
    read<record::Ratio>(folder / "ratios.csv", [&](auto const& row, auto& reader) {
      if (!(row.factor >= 1)) throw reader.error("factor", "must not be below 1", "the longer over the shorter time");
      rows.push_back(row);
    });
    for (auto& device : devices) device.residuals.set_ratios(rows);
  }
}

}  // namespace

DeviceDatabase load(std::string const& path, Trust trust) {
  DeviceDatabase out;
  fs::path const folder = path;
  out.path_ = path;
  read<record::OccupancyRule>(folder / "occupancy.csv", [&](auto const& row, auto&) { out.rules_.push_back(row); });
  std::vector<std::string> ids;
  read<record::Device>(folder / "devices.csv", [&](auto const& row, auto& reader) {
    if (std::find(ids.begin(), ids.end(), row.device) != ids.end())
      throw reader.error("device", fmt::format("device '{}' is there twice", row.device), "give each row its own id");
    ids.push_back(row.device);
    check_figures(row, reader);
    Device device;
    static_cast<record::Device&>(device) = row;
    set_rule(device, out.rules_, reader);
    out.devices_.push_back(std::move(device));
  });
  for (auto const& [name, origin] : {std::pair{"siblings.csv", Origin::database}, {"slices.csv", Origin::slices}})
    if (std::error_code error; fs::exists(folder / name, error))
      read_siblings((folder / name).string(), origin, out.rules_, out.devices_);
  for (auto const& file : user_files()) read_siblings(file, Origin::user, out.rules_, out.devices_);
  ids.clear();
  for (auto const& device : out.devices_) ids.push_back(device.device);
  auto const device_of = [&](std::string const& id, auto& reader) -> Device& {
    auto const at = std::find(ids.begin(), ids.end(), id);
    if (at == ids.end())
      throw reader.error("device", fmt::format("no device '{}' in devices.csv", id), did_you_mean(id, ids));
    return out.devices_[static_cast<std::size_t>(at - ids.begin())];
  };
  if (std::error_code error; fs::exists(folder / "aliases.csv", error))
    read<record::Alias>(folder / "aliases.csv", [&](auto const& row, auto& reader) {
      device_of(row.device, reader);
      out.aliases_.push_back(row);
    });
  if (std::error_code error; fs::exists(folder / "pipes.csv", error))
    read<record::PipeRule>(folder / "pipes.csv", [&](auto const& row, auto& reader) {
      check(row, reader);
      for (auto& device : out.devices_)
        if (is_listed(device.target, row.target)) device.pipes.push_back(row);
    });
  if (std::error_code error; fs::exists(folder / "constants.csv", error))
    read<record::ConstantRule>(folder / "constants.csv", [&](auto const& row, auto& reader) {
      auto const* const constant = constant_of(row, reader);
      for (auto const target : listed(row.target)) {
        for (auto& device : out.devices_)
          if (device.target == target) device.constants.emplace_back(constant->value, row.value);
        out.constants_.push_back({std::string(target), row.constant, row.value, row.source});
      }
    });
  if (std::error_code error; fs::exists(folder / "host_links.csv", error))
    read<record::HostLink>(folder / "host_links.csv", [&](auto const& row, auto& reader) {
      check(row, reader);
      out.host_links_.push_back(row);
    });
  if (std::error_code error; fs::exists(folder / "libraries.csv", error))
    read<record::LibraryRule>(folder / "libraries.csv", [&](auto const& row, auto& reader) {
      if (!(row.value >= 0)) throw reader.error("value", "must not be below 0", "see devdb/README.md for its unit");
      for (auto& device : out.devices_)
        if (row.target.empty() || is_listed(device.target, row.target)) device.libraries.push_back(row);
    });
  if (std::error_code error; fs::exists(folder / "matrix.csv", error)) {
    for (auto& device : out.devices_) device.knows_matrix = true;
    read<record::MatrixRule>(folder / "matrix.csv", [&](auto const& row, auto& reader) {
      if (row.flop_per_cycle && !(*row.flop_per_cycle > 0))
        throw reader.error("flop_per_cycle", "must be above 0", "empty where it is not known");
      for (auto& device : out.devices_) {
        bool const own = is_listed(device.device, row.target);
        if (!own && !is_listed(device.target, row.target)) continue;
        for (auto const kind : listed(row.kind)) {
          record::MatrixRule one{row.target, std::string(kind), row.flop_per_cycle, row.source};
          auto const known = std::ranges::find(device.matrix, kind, &record::MatrixRule::kind);
          if (known == device.matrix.end())
            device.matrix.push_back(std::move(one));
          else if (own && !is_listed(device.device, known->target))
            *known = std::move(one);
          else if (own || !is_listed(device.device, known->target))
            throw reader.error("kind", fmt::format("'{}' of {} is duplicated", kind, device.device), "one row of each");
        }
      }
    });
  }
  read_residuals(folder, out.devices_);
  for (auto const& file : csv_files(folder / "curves"))
    read<record::Measurement>(file, [&](auto const& row, auto& reader) {
      add_measurement(device_of(row.device, reader), row, reader, trust);
    });
  measure_siblings(out.devices_);
  return out;
}

bool DeviceDatabase::set_constant(std::string_view target, std::string_view constant, double value) {
  bool found = false;
  for (auto& row : constants_)
    if (row.target == target && row.constant == constant) row.value = value, found = true;
  if (!found) return false;
  auto const* const member = record::queue_constant(constant);
  for (auto& device : devices_)
    if (device.target == target)
      for (auto& [own, figure] : device.constants)
        if (own == member->value) figure = value;
  return true;
}

std::vector<Device const*> DeviceDatabase::choose(std::vector<std::string> const& names,
                                                  std::function<bool(Device const&)> const& otherwise) const {
  std::set<std::string> wanted;
  for (auto const& name : names) wanted.insert(find(name).device);
  std::vector<Device const*> chosen;
  for (auto const& device : devices_)
    if (names.empty() ? otherwise(device) : wanted.contains(device.device)) chosen.push_back(&device);
  return chosen;
}

Device const& DeviceDatabase::find(std::string_view name) const {
  std::string const wanted = key(name);
  std::vector<Device const*> exact, within;
  std::vector<std::string> known;
  for (auto const& device : devices_)
    if (key(device.device) == wanted) return device;  // an id is not ambiguous, whatever else has that name
  for (auto const& device : devices_) {
    known.push_back(device.device);
    bool same = false, part = false;
    for (auto const& other : names_of(device, aliases_)) {
      std::string const k = key(other);
      same = same || k == wanted;
      part = part || (wanted.size() >= 3 && k.find(wanted) != std::string::npos);
    }
    if (same) exact.push_back(&device);
    if (part) within.push_back(&device);
  }
  auto const& found = exact.empty() ? within : exact;
  if (found.size() == 1) return *found.front();
  if (found.empty()) {
    std::vector<std::string> candidates = known;
    for (auto const& device : devices_) candidates.push_back(device.name);
    bool const near = !nearest(name, candidates).empty();
    throw Error(Status::unavailable, fmt::format("no device '{}' in {}", name, path_),
                did_you_mean(name, near ? candidates : known, known.size()));
  }
  std::vector<std::string> candidates;
  for (auto const* const device : found) candidates.push_back(fmt::format("{} ({})", device->device, device->name));
  throw Error(Status::unavailable, fmt::format("'{}' may be {} devices", name, found.size()),
              fmt::format("name one of {}", fmt::join(candidates, ", ")));
}

}  // namespace kernelcast::device
