#include "models/libraries.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <vector>

#include <fmt/format.h>

#include "models/rates.hpp"

namespace kernelcast::model::queue {

namespace {

using device::Device;
using record::Limiter, record::RowStatus;

struct Call {
  std::string_view operation, type;
  std::vector<double> sizes;

  [[nodiscard]] bool is_batch() const { return operation == "gemm" && sizes[3] > 1; }
};

// On matrix units where the device has them; sizes are m, n, k, batch, of attention batch * heads, queries, keys,
// width.
bool has_tiles(std::string_view operation) {
  return operation == "gemm" || operation == "convolution" || operation == "attention";
}

std::optional<Call> call_of(std::string_view text) {
  auto const first = text.find(':'), second = text.find(':', first + 1);
  if (first == std::string_view::npos || second == std::string_view::npos) return std::nullopt;
  Call out{text.substr(0, first), text.substr(first + 1, second - first - 1), {}};
  for (auto rest = text.substr(second + 1); !rest.empty();) {
    double size = 0;
    auto const [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), size, std::chars_format::fixed);
    if (error != std::errc{} || !(size >= 0) || !std::isfinite(size)) return std::nullopt;
    out.sizes.push_back(size);
    rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
    if (!rest.empty() && (rest.front() != 'x' || rest.size() == 1)) return std::nullopt;
    if (!rest.empty()) rest.remove_prefix(1);
  }
  bool const complete = !out.operation.empty() && !out.type.empty() && !out.sizes.empty();
  return complete && (!has_tiles(out.operation) || out.sizes.size() == 4) ? std::optional(out) : std::nullopt;
}

constexpr std::string_view batch_operation = "gemm_batch";

// How well a row of the table fits a call, -1 if it is of others: the row that names the operation before one that does
// not, for batches their own row, then the one of the architecture, then of the type.
int fits(record::LibraryRule const& rule, Call const& call) {
  bool const of_batch = rule.operation == batch_operation && call.is_batch();
  if (!of_batch && !rule.operation.empty() && rule.operation != call.operation) return -1;
  if (!rule.type.empty() && rule.type != call.type) return -1;
  return (of_batch ? 8 : 0) + (rule.operation.empty() ? 0 : 4) + (rule.target.empty() ? 0 : 2) +
         (rule.type.empty() ? 0 : 1);
}

std::optional<double> figure(Device const& device, Call const& call, std::string_view name) {
  std::optional<double> out;
  int best = -1;
  for (auto const& rule : device.libraries) {
    if (rule.figure != name) continue;
    if (int const fit = fits(rule, call); fit > best) best = fit, out = rule.value;
  }
  return out;
}

// A kernel of the library: a work-group makes `wide` columns of `high` rows.
struct Tile {
  double wide = 0, high = 0;
};

// The kernels that the library has for a call, from rows such as tile_128x64: those that fit it best.
std::vector<Tile> tiles_of(Device const& device, Call const& call) {
  constexpr std::string_view prefix = "tile_";
  std::vector<Tile> out;
  int best = 0;
  for (auto const& rule : device.libraries) {
    std::string_view const name = rule.figure;
    auto const cross = name.find('x');
    if (!name.starts_with(prefix) || cross == std::string_view::npos) continue;
    int const fit = fits(rule, call);
    if (fit < best) continue;
    Tile one;
    std::from_chars(name.data() + prefix.size(), name.data() + cross, one.wide);
    std::from_chars(name.data() + cross + 1, name.data() + name.size(), one.high);
    if (one.wide < 1 || one.high < 1) continue;
    if (fit > best) best = fit, out.clear();
    out.push_back(one);
  }
  return out;
}

std::optional<double> peak(Device const& device, std::string_view type) {
  if (type == "f64" || type == "c64") return device.peak_fp64_flop_per_s;
  if (type == "f8") return std::nullopt;  // of devices with units for it alone
  if (type == "f16" && device.peak_fp16_flop_per_s) return device.peak_fp16_flop_per_s;
  return device.peak_fp32_flop_per_s;
}

// What a library computes in: weights of four bits as halves, and, where the device has no units for a type, PyTorch's
// bfloat16 and TensorFloat-32 as float32.
std::string_view computed_in(std::string_view type) {
  return type == "i4" ? "f16" : type;
}
std::string_view otherwise(std::string_view type) {
  return type == "bf16" || type == "tf32" ? "f32" : type;
}

// Factors and sums of the products that libraries are taken to make.
std::string products_of(std::string_view type) {
  if (type == "f64" || type == "c64") return "f64/f64";
  return fmt::format("{}/{}", type, type == "i8" ? "i32" : "f32");
}

struct Rates {
  double units = 1, clock_hz = 1, flop_per_s = 0, part = 1, bytes_per_s = 0;
};

// What a tile's beginning and end cost, in steps of k: as stated, or as many clocks, in which units of higher rate
// would do more steps.
double fill_of(Call const& call, double flop_of_step, double part, Device const& device, Rates const& rates) {
  if (auto const clocks = figure(device, call, "fill_clocks"))
    return *clocks * part * rates.flop_per_s / (rates.units * rates.clock_hz) / flop_of_step;
  return figure(device, call, "fill_k").value_or(0);
}

// A work-group has the queries of a tile, and all keys.
double attention_s(Call const& call, double flop, Device const& device, Rates const& rates) {
  double const tile = figure(device, call, "tile").value_or(128);
  double const fill = fill_of(call, 4 * tile * call.sizes[3], rates.part, device, rates);
  double const groups = call.sizes[0] * std::ceil(call.sizes[1] / tile);
  if (groups == 0 || call.sizes[2] == 0) return 0;
  double const waves = std::ceil(groups / rates.units), longer = 1 + fill / call.sizes[2];
  return waves * rates.units * longer * flop / groups / (rates.part * rates.flop_per_s);
}

// What the units need for the numbers themselves, however fast the memory is, and, where a work-group has a row, such
// as a channel, for a row: so many run at a time on a unit.
double numbers_s(Call const& call, Device const& device, Rates const& rates) {
  double out = 0;
  if (auto const each = figure(device, call, "per_clock"))
    out = call.sizes[0] * (call.sizes.size() > 1 && call.operation != "depthwise" ? call.sizes[1] : 1) /
          (*each * rates.units * rates.clock_hz);
  if (auto const each = figure(device, call, "row_per_clock"); each && call.sizes.size() == 2) {
    constexpr double rows_of_unit = 4;
    double const waves = std::ceil(call.sizes[0] / (rates.units * rows_of_unit));
    out = std::max(out, waves * call.sizes[1] / (*each * rates.clock_hz));
  }
  return out;
}

// Kernels that load several numbers at a time need rows of whole such groups.
double part_of(Call const& call, double part, Device const& device) {
  constexpr double aligned = 8;
  if (std::fmod(call.sizes[1], aligned) == 0 && std::fmod(call.sizes[2], aligned) == 0) return part;
  return part * figure(device, call, "unaligned").value_or(1);
}

// What the products of a tile cost beside those of a tile without edges: each operand that is read is used `size`
// times.
double slower(Tile const& tile, double operand_cost) {
  return 1 + operand_cost * (1 / tile.wide + 1 / tile.high);
}

// At the rate that the clock gives, or that its power supplies.
double within_power_s(double flop, Call const& call, Device const& device, Rates const& rates) {
  double const at_clock = flop / (rates.part * rates.flop_per_s);
  auto const joule = figure(device, call, "joule_per_flop");
  return joule && device.tdp_w ? std::max(at_clock, flop * *joule / *device.tdp_w) : at_clock;
}

// By the kernel, among those of the library, that takes the least time.
double tiled_s(Call const& call, double flop, std::vector<Tile> const& tiles, Device const& device,
               Rates const& rates) {
  double const m = call.sizes[0], n = call.sizes[1], k = call.sizes[2], batch = call.sizes[3];
  if (!(m * n * k * batch > 0)) return 0;
  auto const or_else = [&](std::string_view name, double value) { return figure(device, call, name).value_or(value); };
  double const of_product = flop / (m * n * k * batch), fill = or_else("fill_k", 0);
  double const operand_cost = or_else("operand_cost", 0);
  double const split_most = batch > 1 ? 1 : or_else("split_most", 1), split_least = or_else("split_least_k", 128);
  double best = std::numeric_limits<double>::infinity();
  for (auto const& tile : tiles) {
    double const area = tile.wide * tile.high;
    double const groups = std::ceil(n / tile.wide) * std::ceil(m / tile.high) * batch;
    for (double split = 1; split <= split_most && (split == 1 || k / split >= split_least); split *= 2) {
      double const of_unit = std::ceil(groups * split / rates.units);
      double const done = of_unit * rates.units * of_product * area * (std::ceil(k / split) + fill);
      double time = within_power_s(done * slower(tile, operand_cost), call, device, rates);
      // The parts of a split are written, and read again to be summed by a further kernel.
      if (split > 1) time += (split + 1) * m * n * batch * 2 * of_product / rates.bytes_per_s + or_else("start_s", 0);
      best = std::min(best, time);
    }
  }
  return best;
}

double gemm_s(Call const& call, double flop, Device const& device, Rates const& rates) {
  if (auto const tiles = tiles_of(device, call); !tiles.empty()) return tiled_s(call, flop, tiles, device, rates);
  double const m = call.sizes[0], n = call.sizes[1], k = call.sizes[2], batch = call.sizes[3];
  double const tile = figure(device, call, "tile").value_or(32);
  double const split_most = figure(device, call, "split_most").value_or(1);
  double const split_least = figure(device, call, "split_least_k").value_or(128);
  // Products with few rows or columns have kernels with narrower tiles, down to those of a matrix unit.
  constexpr double narrowest = 16;
  auto const side = [&](double size) {
    return std::min(tile, std::max(narrowest, std::exp2(std::ceil(std::log2(std::max(1.0, size))))));
  };
  double const high = side(m), wide = side(n);
  double const tiles = std::ceil(m / high) * std::ceil(n / wide) * batch;
  double const of_product = m * n * k * batch > 0 ? flop / (m * n * k * batch) : 0;  // 2, of complex numbers 8
  double const part = part_of(call, rates.part, device),
               fill = fill_of(call, of_product * high * wide, part, device, rates);
  double best = std::numeric_limits<double>::infinity();
  for (double split = 1; split <= split_most && (split == 1 || k / split >= split_least); split *= 2) {
    double const waves = std::ceil(tiles * split / rates.units);
    double time =
        waves * of_product * high * wide * (std::ceil(k / split) + fill) / (part * rates.flop_per_s / rates.units);
    // The parts of a split are written, and read again to be summed.
    if (split > 1) time += (split + 1) * m * n * batch * 2 * of_product / rates.bytes_per_s;
    best = std::min(best, time);
  }
  return best;
}

double compute_s(Call const& call, double flop, Device const& device, Rates const& rates) {
  if (call.operation == "attention") return attention_s(call, flop, device, rates);
  if (has_tiles(call.operation)) return gemm_s(call, flop, device, rates);
  return std::max(flop / (rates.part * rates.flop_per_s), numbers_s(call, device, rates));
}

// How often a kernel reads what it has read: rows that are longer than it keeps.
double reads_again(Call const& call, Device const& device) {
  double const kept = figure(device, call, "row_kept").value_or(0);
  return call.sizes.size() > 1 && call.sizes[1] > kept ? figure(device, call, "reads_again").value_or(0) : 0;
}

// What a call's bytes come at: from memory, or, as far as they fit its cache, from the second level, where what ran
// before has left them; weights have been there a step before.
double bytes_per_s(Call const& call, double bytes, Device const& device, double clock_hz, Constants const& constants) {
  if (auto const part = figure(device, call, "memory_part")) return *part * *device.peak_bandwidth_bytes_per_s;
  double const reach = figure(device, call, "reach").value_or(1);
  double const memory = reach * dram_bytes_per_s(device, constants),
               cache = reach * l2_bytes_per_s(device, clock_hz, constants);
  if (has_tiles(call.operation) || !device.l2_bytes || cache <= memory) return memory;
  double const fill = bytes / static_cast<double>(*device.l2_bytes), held = std::clamp(1.5 - fill, 0.0, 1.0);
  return 1 / (held / cache + (1 - held) / memory);
}

}  // namespace

bool is_library_call(record::Kernel const& row) {
  return row.library_flop && *row.library_flop >= 0 && std::isfinite(*row.library_flop) && call_of(row.library);
}

void explain_library(record::Kernel const& row, Device const& device, Options const& options, Terms& terms) {
  auto& p = terms.projection;
  p.clear();
  terms.common = {};
  static_cast<Quantities&>(terms) = {};
  p.kernel = row.kernel;
  p.case_name = row.case_name;
  p.device = device.device;
  p.model = model_name;
  auto const refuse = [&](RowStatus status, std::string why) { p.status = status, p.reason = std::move(why); };
  if (device::Placement placement; true)
    if (auto why = device::refusal(row, device, placement); !why.empty()) return refuse(RowStatus::infeasible, why);
  auto call = call_of(row.library);
  if (!call || !row.library_flop) return refuse(RowStatus::unknown, "the column library is none");
  double const launches = static_cast<double>(row.launches), flop = *row.library_flop / launches;
  if (!device.compute_units || !device.clock_hz || !device.peak_bandwidth_bytes_per_s)
    return refuse(RowStatus::unknown, "the device database lacks its units, clock or bandwidth");
  Rates rates;
  rates.units = static_cast<double>(*device.compute_units);
  auto const& common = options.common;
  auto const chosen = common.clock == panwar::Clock::base    ? device.clock_base_hz
                      : common.clock == panwar::Clock::boost ? device.clock_boost_hz
                                                             : device.clock_hz;
  rates.clock_hz = common.clock_hz ? *common.clock_hz : chosen.value_or(*device.clock_hz);
  auto const of_matrices = [&] {
    return has_tiles(call->operation) ? device.matrix_flop_per_cycle(products_of(computed_in(call->type)))
                                      : std::nullopt;
  };
  auto per_cycle = of_matrices();
  if (!per_cycle && has_tiles(call->operation)) call->type = otherwise(call->type), per_cycle = of_matrices();
  rates.part = figure(device, *call, "part").value_or(1);
  auto const stated =
      per_cycle ? std::optional(*per_cycle * rates.units * *device.clock_hz) : peak(device, computed_in(call->type));
  if (!stated) return refuse(RowStatus::unknown, device::no_matrix_rate(call->type));
  rates.flop_per_s = *stated * rates.clock_hz / *device.clock_hz;
  double const bytes = (row.global_load_bytes * (1 + reads_again(*call, device)) + row.global_store_bytes) / launches;
  rates.bytes_per_s = bytes_per_s(*call, bytes, device, rates.clock_hz, options.constants);
  double const compute = compute_s(*call, flop, device, rates);
  double const memory = bytes / rates.bytes_per_s;
  double const start = figure(device, *call, "start_s").value_or(options.constants.ramp_s);
  double const body = std::max(compute, memory) + start;

  auto const type = call->type;
  terms.stations[type == "f64" || type == "c64" ? Station::fp64 : Station::fp32] = compute;
  terms.stations[Station::dram] = memory;
  terms.service = terms.queue = std::max(compute, memory);
  terms.groups_of_unit = terms.customers = 1;
  terms.start = start;
  terms.dram_bytes = bytes;
  terms.common.clock_hz = rates.clock_hz;
  terms.launch = launch_s(options, options.constants, device);
  p.t_compute_s = launches * compute;
  p.t_global_s = launches * memory;
  p.t_launch_s = options.launches == Launches::graph
                     ? terms.launch + (launches - 1) * std::min(terms.launch, options.constants.graph_node_s)
                 : options.launches == Launches::back_to_back ? launches * std::max(0.0, terms.launch - body)
                                                              : launches * terms.launch;
  p.time_s = launches * body + *p.t_launch_s;
  if (!std::isfinite(*p.time_s) || *p.time_s <= 0) {
    p.time_s.reset();
    return refuse(RowStatus::unknown, "the counts are too large");
  }
  p.limiter = *p.t_launch_s > launches * body ? Limiter::launch : compute >= memory ? Limiter::compute : Limiter::dram;
  auto const low = figure(device, *call, "interval_low"), high = figure(device, *call, "interval_high");
  if (low && high) p.time_low_s = *low * *p.time_s, p.time_high_s = *high * *p.time_s;
  p.reason = "library: from its sizes and a table";
  if (figure(device, *call, "tested").value_or(0) > 0) return;
  p.status = RowStatus::unvalidated;
  p.reason += fmt::format("; no measurement of {} {} on {} has tested it", call->operation, call->type, device.target);
}

}  // namespace kernelcast::model::queue
