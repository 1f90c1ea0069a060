// Memory and cache bandwidth over occupancy, word size and access.
#include "measure/probe/accelerator_probe.hpp"
#include "records/device/device.hpp"

namespace kernelcast::probe {

std::uint64_t AcceleratorProbe::memory_bytes() const {
  double const wanted = std::max(64.0 * (1 << 20), 4 * facts_.last_cache_bytes);
  return std::bit_ceil(static_cast<std::uint64_t>(wanted));
}

std::vector<AcceleratorProbe::Load> AcceleratorProbe::loads(bool curve) const {
  if (cpu_) {
    std::vector<Load> out;
    // One group has one unit; how few groups are spread over the others is the driver's choice.
    if (units_ > 1 && curve) out.push_back({1 / static_cast<double>(units_), 1, 0});
    out.push_back({1, units_ * cpu_groups, 0});
    return out;
  }
  std::vector<Load> out;
  std::uint64_t const most = resident();
  bool const known = facts_.threads_per_cu > 0 && facts_.shared_per_cu_bytes > 0 && facts_.wave_width > 0;
  for (std::uint64_t r = 1; r < most && curve && known; ++r) {
    if (settings_.depth == Depth::quick && r != 1 && r != most / 2 && r != most / 4) continue;
    auto const shared = static_cast<std::uint64_t>(facts_.shared_per_cu_bytes) / r / 1024 * 1024;
    auto const bytes =
        std::min(shared > 2048 ? shared - 1024 : shared, static_cast<std::uint64_t>(facts_.shared_per_group_bytes));
    auto const o = device::occupancy(rule(), {0, bytes}, group_);
    double const by_grid = static_cast<double>(r * group_) / static_cast<double>(facts_.threads_per_cu);
    // Whatever bounds it: the shared memory, or that no more groups are launched.
    out.push_back({std::min(o.occupancy, by_grid), units_ * r, bytes});
  }
  out.push_back({1, units_ * most * 4, 0});
  return out;
}

record::OccupancyRule AcceleratorProbe::rule() const {
  record::OccupancyRule rule;
  rule.target = facts_.target;
  rule.wave_width = facts_.wave_width;
  rule.max_waves_per_cu = facts_.threads_per_cu / std::max<std::uint64_t>(1, facts_.wave_width);
  rule.max_threads_per_cu = facts_.threads_per_cu;
  rule.max_groups_per_cu = facts_.max_groups_per_cu > 0 ? facts_.max_groups_per_cu : 16;
  rule.max_group_size = facts_.max_group_size;
  rule.shared_per_cu_bytes = static_cast<std::uint64_t>(facts_.shared_per_cu_bytes);
  rule.shared_per_group_bytes = static_cast<std::uint64_t>(facts_.shared_per_group_bytes);
  rule.shared_unit_bytes = 256;
  return rule;
}

void AcceleratorProbe::global() {
  auto const in = lazy(), out = lazy();
  Access const coalesced{"coalesced", "", 0};
  for (char const* const direction : {"read", "write", "copy"})
    for (unsigned const word_bytes : {4u, 8u, 16u})
      for (auto const& load : loads(true)) {
        if (word_bytes != 4 && (settings_.depth == Depth::quick || direction == std::string("copy"))) continue;
        memory_point("global", "global_bandwidth_bytes_per_s", coalesced, direction, word_bytes, load, memory_bytes(),
                     in, out);
      }
  std::vector<Access> patterns;
  for (std::uint32_t const shift : {1u, 2u, 3u, 4u, 5u})
    patterns.push_back({fmt::format("stride{}", 1 << shift), "STRIDED", shift});
  patterns.push_back({"random", "SCATTERED", 0});
  for (auto const& pattern : patterns)
    for (unsigned const word_bytes : {4u, 8u, 16u})
      for (char const* const direction : {"read", "write"}) {
        if (settings_.depth == Depth::quick && (word_bytes != 4 || direction == std::string("write"))) continue;
        if (settings_.depth == Depth::normal && word_bytes == 8) continue;
        memory_point("global", "global_bandwidth_bytes_per_s", pattern, direction, word_bytes, loads(false).back(),
                     memory_bytes(), in, out);
      }
}

void AcceleratorProbe::caches() {
  double const sizes[] = {facts_.l1_bytes, facts_.l2_bytes, facts_.l3_bytes};
  char const* const names[] = {"l1", "l2", "l3"};
  for (int level = 0; level < 3; ++level) {
    // On a GPU the first level belongs to a unit, and its bandwidth needs items that share nothing: left to `shared`.
    if (!(sizes[level] > 0) || (!cpu_ && level == 0)) continue;
    double const whole = sizes[level] * (cpu_ && level < 2 ? static_cast<double>(units_) : 1.0);
    auto const bytes = std::bit_floor(static_cast<std::uint64_t>(whole / 2));
    auto const in = lazy(), out = lazy();
    for (char const* const direction : {"read", "write"})
      memory_point("cache", "cache_bandwidth_bytes_per_s", {"coalesced", "", 0}, direction, 4, loads(false).back(),
                   bytes, in, out, names[level]);
  }
}

void AcceleratorProbe::memory_point(std::string const& bench, std::string const& metric, Access const& access,
                                    std::string const& direction, unsigned word_bytes, Load const& load,
                                    std::uint64_t bytes, std::shared_ptr<Buffer> const& in,
                                    std::shared_ptr<Buffer> const& out, std::string variant) {
  auto& point = add(bench, metric);
  point.row.access = access.name;
  point.row.direction = direction;
  point.row.word_bytes = word_bytes;
  point.row.occupancy = load.occupancy;
  point.row.working_set_bytes = static_cast<double>(bytes);
  point.row.variant = std::move(variant);
  if (facts_.memory_bus_bits > 0 && facts_.memory_clock_hz > 0 && bench == "global")
    point.most = 2 * facts_.memory_clock_hz * static_cast<double>(facts_.memory_bus_bits) / 8;
  std::uint64_t const all = bytes / word_bytes;
  point.measure = [=, this, kernel = std::shared_ptr<DeviceKernel>(), next = std::uint64_t{0}]() mutable {
    // Four accesses of each item at least, and no more than there are words.
    std::uint64_t const groups = std::min(load.groups, std::max<std::uint64_t>(1, all / (4 * group_)));
    std::uint64_t const items = groups * group_;
    // A GPU goes through all of it; a CPU through a window, which comes around after all the others.
    std::uint64_t window = all;
    if (cpu_ && bench == "global") {
      std::uint64_t const threads = std::min(groups, units_);
      window =
          std::min(all, std::bit_floor(threads * (access.name == "coalesced" ? (32 << 20) / word_bytes : 1 << 17)));
    }
    window = std::max<std::uint64_t>(window / (4 * items), 1) * 4 * items;
    if (!kernel) {
      kernel = memory_kernel(access, direction, word_bytes);
      // The driver knows the kernel's registers, which the rules are not told here.
      std::uint64_t const wanted = std::min(groups / units_, resident());
      if (auto const held = kernel->resident_groups(group_, load.shared_bytes); held > 0 && held < wanted)
        throw Error(
            Status::unavailable,
            fmt::format("the occupancy is not reached: a compute unit holds {} work-groups, not {}", held, wanted), "");
      if (!*in) *in = random_buffer(bytes);
      std::uint64_t const written = direction == "read" ? items * 4 : bytes;
      if (!*out || (*out)->bytes < written) *out = random_buffer(written);
    }
    auto const bits = u32(static_cast<std::uint64_t>(std::bit_width(all) - 1));
    std::uint64_t const first = next;
    next = next + 2 * window <= all ? next + window : 0;
    std::vector<KernelArgument> arguments;
    if (direction != "write") arguments.emplace_back(*in);
    arguments.emplace_back(*out);
    arguments.insert(arguments.end(), {bits, access.shift, u32(first), u32(window)});
    if (direction == "write") arguments.emplace_back(u32(0x2545F491u));
    arguments.emplace_back(SharedBytes{load.shared_bytes});
    double seconds = 0;
    std::uint64_t passes = 0;
    // Small sets several times, so that a sample is long against the timer.
    do {
      seconds += kernel->run(groups, group_, arguments);
      ++passes;
    } while (seconds < 5e-5 && passes < 100);
    double const moved = static_cast<double>(window * word_bytes * passes) * (direction == "copy" ? 2 : 1);
    return moved / seconds;
  };
}

std::shared_ptr<DeviceKernel> AcceleratorProbe::memory_kernel(Access const& access, std::string const& direction,
                                                              unsigned word_bytes) {
  std::vector<std::string> macros{word_bytes == 4 ? "WORD=uint" : fmt::format("WORD=uint{}", word_bytes / 4),
                                  fmt::format("WORD_UINTS={}", word_bytes / 4)};
  if (!access.macro.empty()) macros.push_back(access.macro);
  if (cpu_) macros.emplace_back("BLOCKED");
  return kernel("global_read", "global_" + direction, macros);
}

}  // namespace kernelcast::probe
