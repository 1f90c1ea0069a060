// perdome: how fast a code can be at most when it is divided over the processors of a system, and how to divide it.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <memory>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/cli.hpp"
#include "model/partition.hpp"

using namespace kernelcast;

namespace {

struct Options {
  std::vector<std::string> systems, intensities, flop_rates, byte_rates;
  std::string devdb, grid = "0.0625:64:41";
  bool sweep = false, best = false, peaks = false, roof = false;
  double link_bandwidth = 0;
};

double number(std::string const& text, std::string const& option) {
  double value = 0;
  auto const result = std::from_chars(text.data(), text.data() + text.size(), value);
  if (result.ec != std::errc() || result.ptr != text.data() + text.size() || !(value > 0) || !std::isfinite(value))
    throw Error(Status::usage, fmt::format("{}: '{}' is no number above 0", option, text), "for example 1.7");
  return value;
}

std::vector<std::string> split(std::string const& text, char at) {
  std::vector<std::string> out{""};
  for (char const c : text)
    if (c == at)
      out.emplace_back();
    else
      out.back() += c;
  return out;
}

// DEVICE=RATE, by slug.
std::map<std::string, double> rates(device::DeviceDatabase const& database, std::vector<std::string> const& given,
                                    std::string const& option) {
  std::map<std::string, double> out;
  for (auto const& text : given) {
    auto const equal = text.find('=');
    if (equal == std::string::npos)
      throw Error(Status::usage, fmt::format("{}: '{}' has no =", option, text), "for example v100=1.4e13");
    out[database.find(text.substr(0, equal)).device] = number(text.substr(equal + 1), option);
  }
  return out;
}

// Systems by name, resolved once.
class Systems {
 public:
  explicit Systems(Options const& options)
      : database_(device::load(device::find_database(options.devdb))),
        paper_(!options.peaks),
        flop_rates_(rates(database_, options.flop_rates, "--flop-rate")),
        byte_rates_(rates(database_, options.byte_rates, "--byte-rate")) {}

  model::Processors const& operator[](std::string const& name) {
    auto const [at, is_new] = known_.try_emplace(name);
    if (is_new)
      for (auto const& id : split(name, '+')) at->second.push_back(resolve(id));
    return at->second;
  }

 private:
  model::Processor resolve(std::string const& id) const {
    auto const& device = database_.find(id);
    auto const flops = flop_rates_.find(device.device), bytes = byte_rates_.find(device.device);
    bool const f = flops != flop_rates_.end(), b = bytes != byte_rates_.end();
    auto out = f && b ? model::Processor{device.device, 0, 0, device.tdp_w, ""} : model::processor(device, paper_);
    if (f) out.flop_s = 1 / flops->second;
    if (b) out.byte_s = 1 / bytes->second;
    if (f || b) out.rates = "given";
    return out;
  }

  device::DeviceDatabase database_;
  bool paper_;
  std::map<std::string, double> flop_rates_, byte_rates_;
  std::map<std::string, model::Processors> known_;
};

std::string rates_text(model::Processors const& processors) {
  std::vector<std::string> out;
  for (auto const& p : processors) out.push_back(p.rates);
  return fmt::format("{}", fmt::join(out, ";"));
}

std::optional<double> part_intensity(double whole, model::Division const& d, std::size_t k) {
  if (k >= d.x.size()) return std::nullopt;
  if (d.x[k] == 0) return 0.0;
  if (d.y[k] == 0) return std::nullopt;
  return whole * d.x[k] / d.y[k];
}

record::Bound row(std::string partition, std::string const& system, model::Processors const& processors,
                  double intensity, model::Division const& d, double link_s_per_flop = 0) {
  auto const b = model::bound(processors, intensity, d, link_s_per_flop);
  record::Bound out;
  out.partition = std::move(partition);
  out.system = system;
  out.bound_flop_per_s = b.flop_per_s;
  out.limiter = fmt::format("{} {}{}", processors[b.processor].name, b.memory ? "memory" : "compute",
                            link_s_per_flop > 0 ? "+link" : "");
  out.relative_to_best = std::min(1.0, b.flop_per_s / model::optimum(processors, intensity).flop_per_s);
  out.intensity = intensity;
  out.intensity_cpu = part_intensity(intensity, d, 0);
  out.intensity_gpu = part_intensity(intensity, d, 1);
  out.flops_shares = model::joined(d.x);
  out.bytes_shares = model::joined(d.y);
  double power_w = 0;
  bool known = true;
  for (std::size_t k = 0; k < processors.size(); ++k) {
    if (d.x[k] == 0 && d.y[k] == 0) continue;
    known &= processors[k].tdp_w.has_value();
    power_w += processors[k].tdp_w.value_or(0);
  }
  if (known) {
    out.power_w = power_w;
    out.flop_per_j = b.flop_per_s / power_w;
  }
  out.rates = rates_text(processors);
  return out;
}

record::Bound row_of(model::PartitionedWork const& work, std::string const& system, model::Processors const& processors,
                     Options const& options) {
  if (work.link_bytes_per_flop > 0 && !(options.link_bandwidth > 0))
    throw Error(Status::usage,
                fmt::format("partition '{}' moves bytes across the link, whose speed is not given", work.name),
                "--link-bandwidth BYTES_PER_S");
  double const link = work.link_bytes_per_flop > 0 ? work.link_bytes_per_flop / options.link_bandwidth : 0;
  auto const d = work.division ? *work.division : model::data_partition(processors, work.intensity);
  if (d.x.size() != processors.size())
    throw Error(Status::usage,
                fmt::format("partition '{}' is for {} processors, '{}' has {}", work.name, d.x.size(), system,
                            processors.size()),
                "intensities and _cpu, _gpu columns divide over two; flops_each and bytes_each over any number");
  return row(work.name, system, processors, work.intensity, d, link);
}

std::vector<double> grid(std::string const& text) {
  auto const parts = split(text, ':');
  if (parts.size() != 3)
    throw Error(Status::usage, fmt::format("--grid: '{}' is not LOW:HIGH:POINTS", text), "for example 0.0625:64:41");
  double const low = number(parts[0], "--grid"), high = number(parts[1], "--grid"), points = number(parts[2], "--grid");
  if (!(high > low) || points < 2 || points > 1000 || points != std::floor(points))
    throw Error(Status::usage, "--grid: the high end must be above the low one, points 2 to 1000", "0.0625:64:41");
  std::vector<double> out;
  for (int i = 0; i < points; ++i) out.push_back(low * std::exp2(std::log2(high / low) * i / (points - 1)));
  out.back() = high;
  return out;
}

// The surface of Figures 2 and 3: all pairs of intensities that a division can have, then the points on it.
template <class Out>
void write_sweep(Out& out, std::string const& system, model::Processors const& processors, double intensity,
                 std::vector<double> const& axis) {
  if (processors.size() != 2)
    throw Error(Status::usage, fmt::format("--sweep is for two processors; '{}' has {}", system, processors.size()),
                "--best serves any number");
  for (double const first : axis)
    for (double const second : axis)
      if (first != second && model::lemma_violation(intensity, first, second).empty()) {
        auto point = row("CP", system, processors, intensity, model::division(intensity, first, second));
        point.intensity_cpu = first;  // as they stand on the axes, not as they come back from the shares
        point.intensity_gpu = second;
        out.write(point);
      }
  for (std::size_t k = 0; k < processors.size(); ++k) {
    model::Division alone{{0, 0}, {0, 0}};
    alone.x[k] = alone.y[k] = 1;
    out.write(row(processors[k].name + " only", system, processors, intensity, alone));
  }
  out.write(row("p-DP", system, processors, intensity, model::data_partition(processors, intensity)));
  out.write(row("optimum", system, processors, intensity, model::optimum(processors, intensity).division));
}

// The corners of a system's roofline: where a processor turns from memory to compute bound, and both ends.
template <class Out>
void write_roof(Out& out, std::string const& system, model::Processors const& processors) {
  std::set<double> corners{1.0 / 64, 1024};
  for (auto const& p : processors) corners.insert(p.flop_per_s() / p.bytes_per_s());
  for (double const intensity : corners)
    out.write(row("roof", system, processors, intensity, model::data_partition(processors, intensity)));
}

template <class Out>
void write_optimum(Out& out, std::string const& system, model::Processors const& processors, double intensity) {
  auto const best = model::optimum(processors, intensity);
  for (std::size_t k = 0; k < processors.size(); ++k) {
    record::Optimum r;
    r.system = system;
    r.intensity = intensity;
    r.bound_flop_per_s = best.flop_per_s;
    r.limiter = best.memory ? "memory" : "compute";
    r.device = processors[k].name;
    r.flops_share = best.division.x[k];
    r.flops_share_low = best.x[k].low;
    r.flops_share_high = best.x[k].high;
    r.bytes_share = best.division.y[k];
    r.bytes_share_low = best.y[k].low;
    r.bytes_share_high = best.y[k].high;
    r.data_partition_flop_per_s = best.data_partition_flop_per_s;
    r.gain_over_data_partition_pct = 100 * (best.flop_per_s / best.data_partition_flop_per_s - 1);
    r.best_single_device = processors[best.best_single].name;
    r.single_flop_per_s = best.single_flop_per_s;
    r.gain_over_single_pct = 100 * (best.flop_per_s / best.single_flop_per_s - 1);
    r.rates = processors[k].rates;
    out.write(r);
  }
}

// The partitions of the inputs, each with its system.
std::vector<model::PartitionedWork> read(cli::Streams& io, Options const& options) {
  std::vector<model::PartitionedWork> out;
  for (auto const& path : io.inputs()) {
    auto csv = io.csv(path);
    model::PartitionRows rows(csv);
    for (record::Partition p; rows.next(p);) {
      auto const work = model::work_of(rows, p);
      if (options.systems.empty() && work.system.empty())
        throw rows.error("partition", "no system", "name one with --system, or in a column system");
      auto const systems = options.systems.empty() ? std::vector{work.system} : options.systems;
      for (auto const& system : systems) {
        out.push_back(work);
        out.back().system = system;
      }
    }
  }
  return out;
}

void run(Options const& options, cli::Streams& io) {
  Systems systems(options);
  std::vector<model::PartitionedWork> works;
  if (options.intensities.empty()) works = read(io, options);
  std::vector<std::pair<std::string, double>> codes;  // system and intensity, as first met
  auto const add = [&](std::string const& system, double intensity) {
    if (std::find(codes.begin(), codes.end(), std::pair{system, intensity}) == codes.end())
      codes.emplace_back(system, intensity);
  };
  if (!options.intensities.empty() && options.systems.empty())
    throw Error(Status::usage, "--intensity needs a --system", "for example --system i7-2600k+gtx750");
  for (auto const& text : options.intensities)
    for (auto const& system : options.systems) add(system, number(text, "--intensity"));
  for (auto const& work : works) add(work.system, work.intensity);

  if (options.best) {
    auto out = io.writer<record::Optimum>();
    for (auto const& [system, intensity] : codes) write_optimum(out, system, systems[system], intensity);
    return out.finish();
  }
  auto out = io.writer<record::Bound>();
  if (options.sweep) {
    auto const axis = grid(options.grid);
    for (auto const& [system, intensity] : codes) write_sweep(out, system, systems[system], intensity, axis);
  } else {
    for (auto const& [system, intensity] : codes)
      if (!options.intensities.empty())
        out.write(row("p-DP", system, systems[system], intensity, model::data_partition(systems[system], intensity)));
  }
  std::set<std::string> roofs;
  for (auto const& [system, intensity] : codes)
    if (options.roof && roofs.insert(system).second) write_roof(out, system, systems[system]);
  for (auto const& work : works) out.write(row_of(work, work.system, systems[work.system], options));
  out.finish();
}

void declare(cli::Tool& tool) {
  auto const options = std::make_shared<Options>();
  auto& app = tool.app();
  tool.list("--system", options->systems,
            "processors joined by +, as slugs of the device database; goes before a column system", "A+B");
  tool.list(
      "--intensity", options->intensities,
      "operations per byte of the whole code, instead of an input: its perfect data partition, or --sweep, --best",
      "I");
  auto* const sweep = app.add_flag("--sweep", options->sweep,
                                   "all pairs of intensities that two parts can have, with p-DP, each processor alone "
                                   "and the optimum; then the partitions of the input");
  app.add_option("--grid", options->grid, "with --sweep: intensities from LOW to HIGH, evenly on a log scale")
      ->type_name("LOW:HIGH:POINTS")
      ->needs(sweep);
  app.add_flag("--roof", options->roof,
               "also the corners of each system's roofline, as rows named roof, for figure roofline")
      ->excludes(sweep);
  app.add_flag("--best", options->best, "the best division there is, in closed form, and what it gains")
      ->excludes(sweep);
  app.add_option("--link-bandwidth", options->link_bandwidth,
                 "bytes per second between the processors, for partitions with link_bytes or link_intensity")
      ->type_name("BYTES_PER_S")
      ->check(CLI::PositiveNumber);
  app.add_flag("--peaks", options->peaks, "take the database's peaks also where it has the times of [perdome]");
  tool.list("--flop-rate", options->flop_rates, "operations per second of a device, instead of the database's",
            "DEVICE=RATE");
  tool.list("--byte-rate", options->byte_rates, "bytes per second of a device, instead of the database's",
            "DEVICE=RATE");
  app.add_option("--devdb", options->devdb, "the device database (default: the installed one)")->type_name("DIR");
  tool.run([options](cli::Streams& io) { run(*options, io); });
}

}  // namespace

int main(int argc, char** argv) {
  cli::About const about{
      .name = "perdome",
      .summary = "bounds of a code divided over the processors of a system",
      .description =
          "Reads ways to divide a code over a CPU and a GPU, or over any number of processors, and writes "
          "for each the performance that it cannot exceed and the term that limits it. --best gives the "
          "best division there is.",
      .input = {&record::Partition::schema()},
      .output = {&record::Bound::schema(), &record::Optimum::schema()},
      .statuses = {{Status::unavailable, "a device is not in the database, or a figure of it"}},
      .see_also = {"partsim(1)", "figure(1)"},
      .examples = {{"perdome --system i7-2600k+gtx750 partitions.csv", "the bound of each partition"},
                   {"perdome --system i7-2600k+gtx750 --intensity 1.7 --best", "how to divide a code best"},
                   {"perdome --system i7-2600k+gtx750 --intensity 1.7 --sweep", "the surface of all divisions"}}};
  return cli::tool_main(argc, argv, about, declare);
}
