// What the host sees: launches, the barrier between two of them, copies.
#include "measure/probe/accelerator_probe.hpp"

namespace kernelcast::probe {

void AcceleratorProbe::launch() {
  auto& one = add("launch", "launch_s");
  one.measure = [this, lazy = std::make_shared<Lazy>()] { return empty(*lazy, 1, group_, 1); };
  auto& delay = add("launch", "launch_delay_s");
  if (!device_->reports_delays())
    delay.unsupported = "the driver does not say when it took a launch";
  else
    delay.measure = [this, lazy = std::make_shared<Lazy>()] {
      empty(*lazy, 1, group_, 1);
      return lazy->kernel->delay_s(1, group_, {lazy->out, std::uint32_t{0}}).value_or(std::nan(""));
    };
  auto& many = add("launch", "launch_throughput_s");
  many.measure = [this, lazy = std::make_shared<Lazy>()] { return empty(*lazy, 1, group_, 100) / 100; };
  auto& graph = add("launch", "launch_throughput_s");
  graph.row.variant = "in a graph";
  if (!device_->has_graphs())
    graph.unsupported = "launches are not recorded as graphs";
  else
    graph.measure = [this, lazy = std::make_shared<Lazy>()] {
      empty(*lazy, 1, group_, 1);
      return lazy->kernel->run_in_graph(1, group_, {lazy->out, std::uint32_t{0}}, 100) / 100;
    };
  add("launch", "compile_s").measure = [this] { return device_->compile_s(); };
}

double AcceleratorProbe::empty(Lazy& lazy, std::uint64_t groups, std::uint64_t group, std::uint64_t times) {
  if (!lazy.kernel) {
    lazy.kernel = kernel("empty", "empty", {});
    lazy.out = random_buffer(4096);
  }
  return lazy.kernel->run_queued(groups, group, {lazy.out, std::uint32_t{0}}, times);
}

void AcceleratorProbe::barrier() {
  // [automatch] III-A: from one kernel to the next, four groups of 32 x 32 on each unit.
  auto& point = add("barrier", "barrier_s");
  point.row.variant = "host";
  point.row.occupancy = 1;
  std::uint64_t const group = std::min<std::uint64_t>(1024, std::max<std::uint64_t>(1, facts_.max_group_size));
  point.measure = [this, group, lazy = std::make_shared<Lazy>()] { return empty(*lazy, 4 * units_, group, 50) / 50; };
}

void AcceleratorProbe::copies() {
  constexpr std::uint64_t bytes = 16 << 20;
  std::vector<std::uint64_t> sizes = {bytes};
  if (settings_.depth == Depth::thorough) sizes = {64 << 10, 1 << 20, bytes, 256 << 20};
  struct Copy {
    char const* variant;
    Way way;
    bool pinned;
  };
  for (auto const& c : {Copy{"h2d pinned", Way::to_device, true}, Copy{"h2d pageable", Way::to_device, false},
                        Copy{"d2h pinned", Way::to_host, true}, Copy{"d2h pageable", Way::to_host, false},
                        Copy{"d2d", Way::on_device, true}})
    for (std::uint64_t const size : sizes) {
      auto& point = add("copy", "copy_bandwidth_bytes_per_s");
      point.row.direction = "copy";
      point.row.variant = c.variant;
      point.row.working_set_bytes = static_cast<double>(size);
      point.measure = [this, c, size] { return static_cast<double>(size) / device_->copy_s(c.way, size, c.pinned); };
    }
  auto& both = add("copy", "copy_bandwidth_bytes_per_s");
  both.row.direction = "copy";
  both.row.variant = "h2d and d2h pinned";
  both.row.working_set_bytes = static_cast<double>(2 * bytes);
  both.measure = [this] { return 2.0 * static_cast<double>(bytes) / device_->copy_both_s(bytes); };
  auto& peer = add("copy", "copy_bandwidth_bytes_per_s");
  peer.row.direction = "copy";
  peer.row.variant = "p2p";
  if (!device_->copy_peer_s(4))
    peer.unsupported = "there is no second device";
  else
    peer.measure = [this] { return static_cast<double>(bytes) / *device_->copy_peer_s(bytes); };
  for (auto const& c : {Copy{"h2d", Way::to_device, true}, Copy{"d2h", Way::to_host, true},
                        Copy{"h2d pageable", Way::to_device, false}, Copy{"d2h pageable", Way::to_host, false}}) {
    auto& point = add("copy", "copy_latency_s");
    point.row.direction = "copy";
    point.row.variant = c.variant;
    point.row.working_set_bytes = 4;
    point.measure = [this, c] { return device_->copy_s(c.way, 4, c.pinned); };
  }
  auto& rows = add("copy", "copy_row_s");
  rows.row.direction = "copy";
  rows.row.variant = "h2d";
  rows.row.working_set_bytes = 4096 * 256;
  // The same bytes in many rows and in one: what a row adds.
  rows.measure = [this] {
    constexpr std::uint64_t count = 4096, row = 256;
    double const strided = device_->copy_rows_s(count, row, 2 * row);
    double const whole = device_->copy_rows_s(1, count * row, count * row);
    return std::max(strided - whole, 1e-12) / static_cast<double>(count);
  };
}

}  // namespace kernelcast::probe
