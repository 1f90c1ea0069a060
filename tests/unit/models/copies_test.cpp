// What copies between host and device reach: closed forms, and measurements that are in the database.
#include "models/copies.hpp"
#include "catch.hpp"
#include "devdb.hpp"
#include "error_of.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <vector>

#include "base/process/process.hpp"
#include "records/measurement.hpp"
#include "records/table/table.hpp"

namespace kernelcast::copies_test {

namespace {

using record::HostMemory;

TEST_CASE("a link's lanes and what copies reach of them make a rate, and the driver's buffer comes on top") {
  auto const& known = database();
  auto const& links = known.host_links();
  auto const pcie4 = *std::ranges::find(links, "PCIe 4.0", &record::HostLink::link);
  auto const& a100 = known.find("a100");
  REQUIRE(a100.link == "PCIe 4.0 x16");
  model::DeviceLinks const own(known, "");
  auto const pinned = own.rate(a100, HostMemory::pinned, true);
  REQUIRE(pinned);
  CHECK(pinned->bytes_per_s == Approx(16 * pcie4.lane_bytes_per_s * pcie4.to_device_part));
  CHECK(own.rate(a100, HostMemory::pinned, false)->bytes_per_s ==
        Approx(16 * pcie4.lane_bytes_per_s * pcie4.to_host_part));
  auto const pageable = own.rate(a100, HostMemory::pageable, true);
  CHECK(1 / pageable->bytes_per_s == Approx(1 / pinned->bytes_per_s + 1 / pcie4.staging_bytes_per_s));
  CHECK(pageable->low_bytes_per_s < pageable->bytes_per_s);
  CHECK(pageable->bytes_per_s < pageable->high_bytes_per_s);
  // Where the slot is stated, it is no longer open.
  model::DeviceLinks const stated(known, "PCIe 4.0 x16");
  CHECK(stated.rate(a100, HostMemory::pinned, true)->bytes_per_s == pinned->bytes_per_s);
  CHECK(stated.rate(a100, HostMemory::pinned, true)->low_bytes_per_s ==
        Approx(pinned->low_bytes_per_s / pcie4.slot_low));
  model::DeviceLinks const narrow(known, "PCIe 4 x8");
  CHECK(narrow.rate(a100, HostMemory::pinned, true)->bytes_per_s == Approx(pinned->bytes_per_s / 2));
  model::DeviceLinks const bytes(known, "2e10");
  CHECK(bytes.rate(a100, HostMemory::pinned, true)->bytes_per_s == 2e10);
  CHECK(bytes.rate(a100, HostMemory::pinned, true)->low_bytes_per_s == 2e10);
}

TEST_CASE("faults move managed memory as fast as the host serves them, and devices without faults get it whole") {
  auto const& known = database();
  model::DeviceLinks const own(known, "");
  auto const rate = [&](char const* device, HostMemory memory) {
    return own.rate(known.find(device), memory, true)->bytes_per_s;
  };
  auto const pcie4 = *std::ranges::find(known.host_links(), "PCIe 4.0", &record::HostLink::link);
  CHECK(rate("a100", HostMemory::managed) == pcie4.fault_bytes_per_s);
  CHECK(rate("k80", HostMemory::managed) == rate("k80", HostMemory::pinned));      // Kepler
  CHECK(rate("gh200", HostMemory::managed) == rate("gh200", HostMemory::pinned));  // reads it where it is
}

TEST_CASE("a link that is none is refused, and one that is not known has no rate") {
  auto const& known = database();
  for (auto const* const wrong :
       {"PCIe", "PCIe 9.0 x16", "PCIe 3.0 x", "PCIe 3.0 x0", "PCIe 3.0", "NVLink3", "-1", "0"})
    CHECK(error_of([&] { model::DeviceLinks(known, wrong); }).status() == Status::usage);
  device::Device unknown;
  CHECK_FALSE(model::DeviceLinks(known, "").rate(unknown, HostMemory::pinned, true));
  CHECK(model::DeviceLinks(known, "PCIe 3.0 x16").rate(unknown, HostMemory::pinned, true));
}

// Copies that were measured lie in the ranges, and the rates are their middle where the slot is as wide as the device.
TEST_CASE("measured copies of pinned memory are as fast as their links say") {
  auto const& known = database();
  model::DeviceLinks const own(known, "");
  std::vector<double> errors;
  std::size_t narrow = 0, all = 0;
  for (auto const& file : std::filesystem::directory_iterator(std::filesystem::path(known.path()) / "curves")) {
    auto in = open_file(file.path().string());
    for (auto const& row : record::read_rows<record::Measurement>(in, file.path().string())) {
      if (row.metric != "copy_bandwidth_bytes_per_s" || (row.variant != "h2d pinned" && row.variant != "d2h pinned") ||
          !row.value)
        continue;
      auto const rate = own.rate(known.find(row.device), HostMemory::pinned, row.variant.starts_with('h'));
      REQUIRE(rate);
      ++all;
      // Seven of eight devices of PCIe 3.0 sat in slots of 2.0, and one of 2.1 is slow to the host.
      if (*row.value >= 0.6 * rate->bytes_per_s) {
        errors.push_back(std::abs(rate->bytes_per_s / *row.value - 1));
        continue;
      }
      ++narrow;
      CHECK((known.find(row.device).link == "PCIe 3.0 x16" || row.device == "hd5870"));
    }
  }
  REQUIRE(all >= 18);
  std::ranges::sort(errors);
  INFO(all << " copies, " << narrow << " in slots of an earlier generation");
  CHECK(errors[errors.size() / 2] <= 0.05);
  CHECK(errors.back() <= 0.15);
  CHECK(narrow <= 15);
}

struct Transfer {
  std::string device;
  std::optional<double> write, read, unmapped;  // GB/s: pageable, and what was mapped, which is pinned

  static record::Schema<Transfer> const& schema() {
    static auto const schema = record::Schema<Transfer>("transfer")
                                   .column("device", &Transfer::device, record::Unit::none, "")
                                   .may_be_empty()
                                   .column("write_gb_per_s", &Transfer::write, record::Unit::none, "")
                                   .column("read_gb_per_s", &Transfer::read, record::Unit::none, "")
                                   .column("unmap_after_write_gb_per_s", &Transfer::unmapped, record::Unit::none, "");
    return schema;
  }
};

// Of machines that are not known, and whose drivers are of ten years. The ranges of the later generations were taken
// from these in part, those of the first two were not.
TEST_CASE("copies of other machines lie in the ranges of their links") {
  std::string const path = std::string(KERNELCAST_SHARED_DATA) + "/data/measured/clpeak_transfers.csv";
  if (!std::filesystem::exists(path)) SKIP_BECAUSE("the measured transfers are not here");
  auto const& known = database();
  model::DeviceLinks const own(known, "");
  auto in = open_file(path);
  std::size_t all = 0, held = 0;
  for (auto const& row : record::read_rows<Transfer>(in, path)) {
    if (row.device.empty()) continue;
    auto const& device = known.find(row.device);
    auto const look = [&](std::optional<double> gb_per_s, HostMemory memory, bool to_device) {
      auto const rate = own.rate(device, memory, to_device);
      if (!gb_per_s || !rate || *gb_per_s > 100) return;  // beyond any link: nothing moved
      ++all;
      held += 1e9 * *gb_per_s >= rate->low_bytes_per_s && 1e9 * *gb_per_s <= rate->high_bytes_per_s ? 1 : 0;
    };
    look(row.write, HostMemory::pageable, true);
    look(row.read, HostMemory::pageable, false);
    if (device.vendor == "NVIDIA") look(row.unmapped, HostMemory::pinned, true);
  }
  INFO(held << " of " << all);
  CHECK(all >= 45);
  CHECK(held >= 0.8 * static_cast<double>(all));
}

}  // namespace

}  // namespace kernelcast::copies_test
