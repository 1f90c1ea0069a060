#include "models/collectives.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace kernelcast::model {

namespace {

enum Protocol : std::size_t { ll, ll128, simple };
using PerProtocol = std::array<double, 3>;

// Microseconds: of each call, and of each step over NVLink and PCI Express.
constexpr PerProtocol ring_base{6.6, 14.0, 8.4}, tree_base{6.8, 14.0, 8.4};
constexpr PerProtocol ring_nvlink{0.6, 1.9, 3.4}, ring_pcie{1.0, 2.5, 5.7};
constexpr PerProtocol tree_nvlink{0.6, 1.25, 4.0}, tree_pcie{1.0, 1.9, 4.0};
constexpr double nvls_us = 25;

// By the size, from 64 bytes in powers of two.
constexpr std::array<std::array<double, 24>, 3> tree_part{
    {{1, 1, 1, 1, .9, .8, .7, .7, .7, .7, .6, .5, .4, .4, .5, .6, .7, .8, .9, 1, 1, 1, 1, 1},
     {1, 1, 1, 1, 1, .9, .8, .8, .8, .7, .6, .6, .6, .6, .6, .6, .8, .9, .9, .9, .9, 1, 1, 1},
     {.9, .9, .9, .9, .9, .9, .9, .8, .7, .6, .6, .5, .5, .5, .5, .6, .7, .8, .7, .7, .8, .9, .9, .9}}};

// Of what a link carries: topo.h's rate of a link over 20, 25 and 50 GB/s.
double nvlink_part(unsigned capability) {
  return capability >= 100  ? 40.1 / 50
         : capability >= 90 ? 20.6 / 25
         : capability == 86 ? 12.0 / 14
         : capability >= 70 ? 20.0 / 25
                            : 18.0 / 20;
}
constexpr double pcie_part = 12.0 / 15.75;
constexpr double nvls_part = 480.0 / 450;

double max_ll_of(unsigned capability) {
  return capability >= 100 ? 282e9 : capability >= 90 ? 141e9 : capability >= 80 ? 87.7e9 : 39e9;
}

double time_s(double latency_us, double bytes, double bytes_per_s) {
  return 1e-6 * latency_us + bytes / bytes_per_s;
}

double ring_s(Collective operation, double bytes, double devices, Fabric const& fabric, double bus, double max_ll) {
  bool const both_ways = operation == Collective::all_reduce;
  bool const shared = operation == Collective::all_gather || operation == Collective::reduce_scatter;
  double const steps = both_ways ? 2 * (devices - 1) : shared ? devices - 1 : devices;
  double const latency_steps = both_ways || shared ? steps : 1;
  PerProtocol const rates{std::min(max_ll, 0.5 * bus), 0.92 * bus, bus};
  auto const& step = fabric.nvlink ? ring_nvlink : ring_pcie;
  double best = HUGE_VAL;
  for (auto const p : {ll, ll128, simple}) {
    if (p == ll128 && !fabric.nvlink) continue;
    best = std::min(best, time_s(ring_base[p] + latency_steps * step[p], bytes, rates[p] * devices / steps));
  }
  return best;
}

double tree_s(double bytes, double devices, Fabric const& fabric, double bus, double max_ll) {
  double const up = 0.92 * bus;
  PerProtocol const rates{std::min(up / 3.8, max_ll), up * 7 / 9, up};
  auto const& step = fabric.nvlink ? tree_nvlink : tree_pcie;
  auto const size = std::log2(std::max(1.0, bytes / 64));
  double best = HUGE_VAL;
  for (auto const p : {ll, ll128, simple}) {
    if (p == ll128 && !fabric.nvlink) continue;
    double const part = size < 23 ? tree_part[p][static_cast<std::size_t>(size)] : 1;
    best = std::min(best, time_s(tree_base[p] + 2 * (devices - 1) * step[p], bytes, rates[p] / 2 * part));
  }
  return best;
}

}  // namespace

std::optional<Collective> collective_named(std::string_view call) {
  constexpr std::array<std::pair<std::string_view, Collective>, 7> names{
      {{"ncclAllReduce", Collective::all_reduce},
       {"ncclBroadcast", Collective::broadcast},
       {"ncclReduce", Collective::reduce},
       {"ncclAllGather", Collective::all_gather},
       {"ncclReduceScatter", Collective::reduce_scatter},
       {"ncclSend", Collective::send},
       {"ncclRecv", Collective::send}}};
  auto const found = std::ranges::find(names, call, &std::pair<std::string_view, Collective>::first);
  return found == names.end() ? std::nullopt : std::optional(found->second);
}

double collective_s(Collective operation, double bytes, std::size_t devices, Fabric const& fabric,
                    unsigned capability) {
  auto const n = static_cast<double>(devices);
  double const bus = fabric.bytes_per_s * (fabric.nvlink ? nvlink_part(capability) : pcie_part);
  double const max_ll = max_ll_of(capability);
  if (operation == Collective::send) return time_s(ring_base[simple] + ring_nvlink[simple], bytes, bus);
  double best = ring_s(operation, bytes, n, fabric, bus, max_ll);
  if (operation != Collective::all_reduce) return best;
  best = std::min(best, tree_s(bytes, n, fabric, bus, max_ll));
  if (capability >= 90 && fabric.nvlink && fabric.switched && devices > 2)
    best = std::min(best, time_s(nvls_us, bytes, fabric.bytes_per_s * nvls_part * n / (2 * (n - 1))));
  return best;
}

}  // namespace kernelcast::model
