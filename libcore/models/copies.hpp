// How long a copy between host and device takes.
//
// Method: a copy of pinned memory takes its bytes over what copies reach of the link's lanes. One of pageable memory
// goes through a buffer of the driver's, too: the times of both ways add up. A copy of next to nothing has a latency.
// What machines differ by is a range: slots with fewer lanes or of an earlier generation, and hosts that fill the
// buffer faster or slower. Where it is stated how the device is attached, the slot is known. Source:
// devdb/host_links.csv.
// Between two devices of a system (models/graph/interconnect.hpp) a copy takes the narrowest link of its route, of
// which copies reach peer_part. Limits: copies share a link with no other device; a copy of rows is as fast as one of
// the same bytes in a row; that small copies of pageable memory return before they have ended is left out. Managed
// memory is what a kernel's faults move, whole and before it, as fast as the host serves them; that a device's first
// touch of managed memory takes its time, too, is left out (1 to 1.3 ms of 8 MiB on a P100 and an RTX 2060).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "models/collectives.hpp"
#include "records/device/device.hpp"
#include "records/vocabulary.hpp"

namespace kernelcast::model {

struct CopyRate {
  double bytes_per_s = 0, low_bytes_per_s = 0, high_bytes_per_s = 0;  // nine in ten machines between the last two
  double latency_s = 0;
};

// Of a link between two devices. NVIDIA/nccl#1264: 380 of 450 GB/s between two H100 on NVSwitch; NVIDIA/nvbandwidth#50:
// 26.3 of 31.5 GB/s between two A6000 on PCIe 4.0.
inline constexpr double peer_part = 0.84;

// 80 of sm_80; none of a target that is not CUDA's.
std::optional<unsigned> sm_number(std::string_view target);

// How devices are attached to their hosts, and to each other where their system is known.
class DeviceLinks {
 public:
  // `stated`: of every device, "PCIe 4.0 x8" or as the database has it, or bytes a second of copies of pinned memory;
  // empty: each as the database says. Throws Error(usage) for another text.
  DeviceLinks(device::DeviceDatabase const&, std::string_view stated);

  // None: it is not known how the device is attached.
  std::optional<CopyRate> rate(device::Device const&, record::HostMemory, bool to_device) const;

  // The system that all devices are in: how many it has, and the narrowest link between two of them, with the latency
  // of the route.
  struct System {
    std::string name;
    std::size_t devices = 0;
    struct Route {
      double bytes_per_s, latency_s;
      bool nvlink, switched;  // over NVLink alone; over a switch of it
    };
    std::function<Route(std::size_t from, std::size_t to)> route;
  };
  void set_system(System system) { system_ = std::move(system); }
  // Between two of an application's devices, by their numbers: over the system's links, else to the host and from
  // there. Throws Error(unavailable) where the system has fewer.
  std::optional<CopyRate> between(device::Device const&, std::uint64_t from, std::uint64_t to) const;
  // What joins the first devices; without a system PCI Express, as fast as copies of pinned memory.
  std::optional<Fabric> fabric(device::Device const&, std::uint64_t devices) const;

 private:
  void check_number(std::uint64_t device) const;
  struct Attached {
    record::HostLink const* link;
    double lanes;
  };
  std::optional<Attached> read(std::string_view text) const;

  device::DeviceDatabase const& database_;
  std::optional<Attached> stated_;
  std::optional<double> stated_bytes_per_s_;
  std::optional<System> system_;
};

}  // namespace kernelcast::model
