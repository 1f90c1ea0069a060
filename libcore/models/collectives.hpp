// How long a collective operation of the devices of one node takes: what NCCL itself expects.
//
// Method: of its algorithms (ring, tree, and the switch's own sums, NVLS) and protocols (LL, LL128, simple) NCCL takes
// the one with the least latency + bytes / bandwidth. A ring of n devices sends 2 (n - 1) / n of the bytes of an
// all-reduce over each link in as many steps, (n - 1) / n of others; a tree goes up and down. Source:
// NVIDIA/nccl@5067397c, src/graph/tuning.cc and topo.h (Apache-2.0), its constants for one node; what NVLS reaches in
// an all-reduce on eight H100: 480 GB/s of bus bandwidth, NVIDIA/nccl-tests#212. Limits: NCCL searches rings over the
// links that there are; here all devices are alike, and the narrowest link of two of them counts. Limits of single
// channels are left out, so are several nodes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace kernelcast::model {

enum class Collective : std::uint8_t { all_reduce, broadcast, reduce, all_gather, reduce_scatter, send };

// By NCCL's name of the call; none: no such.
std::optional<Collective> collective_named(std::string_view call);

// What joins the devices.
struct Fabric {
  double bytes_per_s = 0;  // of a device's links to the others, in one direction
  bool nvlink = false;     // else PCI Express
  bool switched = false;   // NVSwitch
};

// Seconds. `bytes`: as NCCL's tests have it, of all-gather and reduce-scatter those of all devices together.
// `capability`: 90 of sm_90. `devices` at least 2.
double collective_s(Collective, double bytes, std::size_t devices, Fabric const&, unsigned capability);

}  // namespace kernelcast::model
