// read_hwloc(): hwloc's XML, through hwloc itself, which knows all versions of its format. It believes what it reads,
// so that attributes that are missing or wrong crash it: it reads in a process of its own, which sends the links as
// CSV.
#include <cmath>
#include <map>
#include <sstream>

#include <fmt/format.h>
#include <hwloc.h>

#include "base/process/input.hpp"
#include "models/graph/system_file.hpp"
#include "records/table/table.hpp"

namespace kernelcast::graph {

namespace {

class Topology {
 public:
  explicit Topology(std::string const& file, std::string const& text) {
    auto const refuse = [&](char const* hint) {
      return Error(Status::bad_data, Where{file, 1, 1}, "hwloc cannot read this XML", hint);
    };
    hwloc_topology_init(&topology_);
    hwloc_topology_set_io_types_filter(topology_, HWLOC_TYPE_FILTER_KEEP_ALL);
    hwloc_topology_set_flags(topology_, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED);
    if (hwloc_topology_set_xmlbuffer(topology_, text.c_str(), static_cast<int>(text.size() + 1)) != 0 ||
        hwloc_topology_load(topology_) != 0) {
      hwloc_topology_destroy(topology_);
      throw refuse("write it with lstopo --of xml FILE");
    }
  }
  ~Topology() { hwloc_topology_destroy(topology_); }
  Topology(Topology const&) = delete;
  Topology& operator=(Topology const&) = delete;
  hwloc_topology_t get() const { return topology_; }

 private:
  hwloc_topology_t topology_ = nullptr;
};

bool is_gpu(hwloc_obj_t device) {
  // Display and 3D controllers, and processing accelerators, of makers of GPUs that compute.
  auto const kind = device->attr->pcidev.class_id >> 8;
  auto const vendor = device->attr->pcidev.vendor_id;
  return (kind == 0x03 || kind == 0x12) && (vendor == 0x10de || vendor == 0x1002 || vendor == 0x8086);
}

class Walk {
 public:
  Walk(Topology const& topology, std::string const& file) : topology_(topology.get()), file_(file) {}

  void links() {
    auto const memories = hwloc_get_nbobjs_by_type(topology_, HWLOC_OBJ_NUMANODE);
    for (int i = 0; i < memories; ++i) {
      auto* const memory = hwloc_get_obj_by_type(topology_, HWLOC_OBJ_NUMANODE, static_cast<unsigned>(i));
      sockets_.push_back(memory->cpuset);
      auto const socket = next_switch();
      add(fmt::format("memory{}", i), socket, fmt::format("host{}", i), Assumed::host_memory, "shared",
          "bandwidth_bytes_per_s: hwloc does not say", "memory");
      if (i > 0)
        add(fmt::format("socket{}", i), "switch0", socket, Assumed::socket, "full",
            "bandwidth_bytes_per_s: hwloc does not say", "socket");
    }
    for (auto* device = hwloc_get_next_pcidev(topology_, nullptr); device;
         device = hwloc_get_next_pcidev(topology_, device))
      if (is_gpu(device)) gpu(device);
    if (gpus_ == 0)
      throw Error(Status::bad_data, Where{file_, 1, 1}, "the topology has no GPU",
                  "write it with lstopo --of xml --whole-io FILE, on the machine that has them");
  }

  std::vector<record::Link> out;

 private:
  std::string next_switch() { return fmt::format("switch{}", switches_++); }

  void add(std::string name, std::string from, std::string to, double bandwidth, std::string duplex,
           std::string assumed, std::string link_class) {
    out.push_back({std::move(name), std::move(from), std::move(to), bandwidth, std::nullopt, std::move(duplex), "hwloc",
                   std::move(assumed), std::move(link_class)});
  }

  // The switch of a bridge that leads to several devices, or of the socket above it.
  std::string above(hwloc_obj_t object) {
    for (auto* up = object->parent; up; up = up->parent) {
      if (up->type != HWLOC_OBJ_BRIDGE) return socket_of(up);
      if (up->attr->bridge.upstream_type != HWLOC_OBJ_BRIDGE_PCI || up->io_arity < 2) continue;
      auto const [at, is_new] = bridges_.try_emplace(up->gp_index);
      if (is_new) {
        at->second = next_switch();
        link(fmt::format("root{}", bridges_.size() - 1), above(up), at->second,
             up->attr->bridge.upstream.pci.linkspeed);
      }
      return at->second;
    }
    return "switch0";
  }
  std::string socket_of(hwloc_obj_t object) {
    while (object && !object->cpuset) object = object->parent;
    for (std::size_t i = 0; object && i < sockets_.size(); ++i)
      if (hwloc_bitmap_intersects(object->cpuset, sockets_[i])) return fmt::format("switch{}", i);
    return "switch0";
  }

  // hwloc gives GB/s each way, 0 where it could not see it.
  void link(std::string name, std::string from, std::string to, float gigabytes_per_s) {
    bool const known = gigabytes_per_s > 0 && std::isfinite(gigabytes_per_s);
    add(std::move(name), std::move(from), std::move(to),
        known ? std::round(gigabytes_per_s * 1e3) * 1e6 : Assumed::pcie3, "full",
        known ? "" : "bandwidth_bytes_per_s: PCIe 3 x16, hwloc does not say", "pcie");
  }
  void gpu(hwloc_obj_t device) {
    auto const parent = above(device);
    link(fmt::format("pcie{}", gpus_), parent, fmt::format("gpu{}", gpus_), device->attr->pcidev.linkspeed);
    ++gpus_;
  }

  hwloc_topology_t topology_;
  std::string const& file_;
  std::vector<hwloc_bitmap_t> sockets_;
  std::map<hwloc_uint64_t, std::string> bridges_;
  std::size_t switches_ = 0, gpus_ = 0;
};

}  // namespace

Interconnect read_hwloc(std::string const& file, std::string const& name, std::string const& text) {
  std::istringstream links(in_child("hwloc", file, [&] {
    Topology const topology(file, text);
    Walk walk(topology, file);
    walk.links();
    return record::rows_text(walk.out);
  }));
  auto out = record::read_rows<record::Link>(links, file);
  std::vector<Where> const where(out.size(), Where{file, 1, 1});
  return Interconnect(name, std::move(out), where);
}

}  // namespace kernelcast::graph
