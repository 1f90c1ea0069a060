// A link of a multi-GPU system: a row of devdb/systems/*.csv.
#pragma once

#include <optional>
#include <string>

#include "records/table/schema.hpp"

namespace kernelcast::record {

// Nodes are named by kind and number: gpu0, host0 (memory of a socket, where host buffers lie), switch0 (sockets,
// bridges, NVSwitches: what data passes through).
struct Link {
  std::string link, from, to;
  double bandwidth_bytes_per_s = 0;
  std::optional<double> latency_s;
  std::string duplex;  // full: the bandwidth in each direction; shared: both directions together
  std::string source, assumed;
  std::string link_class;  // column `class`: links that are varied together

  static Schema<Link> const& schema();
};

}  // namespace kernelcast::record
