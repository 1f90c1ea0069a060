// Systems from files: links as CSV, what `nvidia-smi topo -m` prints, hwloc's XML (lstopo --of xml).
#pragma once

#include <iosfwd>
#include <string>

#include "models/graph/interconnect.hpp"

namespace kernelcast::graph {

// By what the content looks like. The file's stem becomes the system's name. Throws Error(bad_data).
Interconnect read_system_file(std::string const& path, std::istream& in);

// The matrix of `nvidia-smi topo -m`. It has no bandwidths: NVLink is taken at 25 GB/s each way per link, PCIe at 16
// lanes of generation 3, 4 or 5 by the links of NVLink (2, 3 and 4), host memory and sockets at fixed figures; all
// marked as assumed. GPUs that are all joined by equally many NVLinks are on an NVSwitch.
Interconnect read_topology_matrix(std::string const& file, std::string const& name, std::string const& text);

// hwloc's XML: memories, sockets, bridges and GPUs with the speed of their PCIe links, which hwloc knows; host memory
// and sockets are assumed. Throws Error(bad_data) also where hwloc cannot read it.
Interconnect read_hwloc(std::string const& file, std::string const& name, std::string const& text);

// Assumed where an imported topology does not say; bytes per second.
struct Assumed {
  static constexpr double host_memory = 100e9, socket = 38.4e9, nvlink = 25e9, pcie3 = 15.754e9, pcie4 = 31.508e9,
                          pcie5 = 63.015e9;
};

}  // namespace kernelcast::graph
