// akemu: how long a kernel takes on a device by emulating one of its compute units, instruction by instruction.
#include <algorithm>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>

#include <fmt/format.h>

#include "cli/cli.hpp"
#include "device/device.hpp"
#include "model/ake/calibrate.hpp"
#include "model/ake/projection.hpp"
#include "timeline.hpp"

using namespace kernelcast;
namespace ake = model::ake;

namespace {

struct Options {
  std::string devdb;
  std::vector<std::string> devices;
  std::string scheduler = "gto", order = "both";
  unsigned active_warps = 8;
  std::vector<double> hit_rates;
  bool no_cache = false, dual_issue = false, replace = false, strict = false;
  double group_launch_cycles = 0;
  std::size_t neighbours = 4;
  std::vector<std::string> sass;
  std::string timeline, calibrate;
};

template <class R>
std::vector<R> rows_of(cli::Streams& io, std::string const& path) {
  auto csv = io.csv(path);
  record::Reader<R> reader(csv);
  std::vector<R> rows;
  for (R row; reader.next(row);) {
    if constexpr (std::is_same_v<R, record::LatencyFallback>) {
      if (!ake::class_named(row.class_name))
        throw reader.error("class", fmt::format("unknown class '{}'", row.class_name),
                           did_you_mean(row.class_name, {ake::class_names.begin(), ake::class_names.end()}, 30));
      if (row.quantity != "latency" && row.quantity != "gap")
        throw reader.error("quantity", fmt::format("expected latency or gap, got '{}'", row.quantity));
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

ake::LatencyTable latencies(cli::Streams& io, std::string const& database) {
  return {rows_of<record::LatencyGap>(io, database + "/latgap.csv"),
          rows_of<record::LatencyFallback>(io, database + "/latgap_fallbacks.csv")};
}

std::map<std::string, ake::Listing> listings(cli::Streams& io, std::vector<std::string> const& paths) {
  std::map<std::string, ake::Listing> out;
  for (auto const& path : paths) {
    std::string const text{std::istreambuf_iterator<char>(io.input(path)), {}};
    out.merge(ake::read_listing(text, cli::Streams::input_name(path)));
  }
  return out;
}

ake::Options model_options(Options const& o) {
  ake::Options out;
  out.scheduler = o.scheduler == "rr"          ? ake::Scheduler::rr
                  : o.scheduler == "two-level" ? ake::Scheduler::two_level
                                               : ake::Scheduler::gto;
  out.dual_issue = o.dual_issue;
  out.active_warps = o.active_warps;
  using Kind = ake::MemoryMode::Kind;
  if (!o.hit_rates.empty()) out.memory = {Kind::given, o.hit_rates[0], o.hit_rates.back()};
  if (o.no_cache) out.memory.kind = Kind::none;
  out.program_order = o.order != "list";
  out.list_order = o.order != "program";
  out.replace = o.replace;
  out.group_launch_cycles = o.group_launch_cycles;
  out.strict = o.strict;
  return out;
}

// When no device is named, those whose latencies are known.
std::vector<ake::Projector> projectors(device::DeviceDatabase const& database, ake::LatencyTable const& table,
                                       Options const& options, ake::Options const& model) {
  std::vector<ake::Projector> out;
  for (auto const* const device : database.choose(options.devices, device::is_gpu)) {
    auto resolved = ake::resolve(*device, table);
    if (!options.devices.empty() || resolved.missing.empty()) out.emplace_back(*device, std::move(resolved), model);
  }
  return out;
}

// How many groups of a launch the devices need: the resident ones, and with simulated caches neighbours of them.
std::size_t groups_needed(record::Trace const& launch, std::vector<ake::Projector> const& devices,
                          Options const& options) {
  std::size_t most = 1;
  for (auto const& d : devices) most = std::max(most, ake::fit(launch, d.device()).groups_per_cu);
  bool const simulated = !options.no_cache && options.hit_rates.empty();
  return most * (simulated ? std::max<std::size_t>(1, options.neighbours) : 1);
}

void project(Options const& options, cli::Streams& io) {
  auto const database = device::load(device::find_database(options.devdb));
  auto const table = latencies(io, database.path());
  auto model = model_options(options);
  auto const sass = listings(io, options.sass);
  model.sass = &sass;
  auto devices = projectors(database, table, options, model);
  std::ofstream timeline_file;
  std::unique_ptr<akemu::Timeline> timeline;
  if (!options.timeline.empty()) {
    timeline_file.open(options.timeline, std::ios::binary);
    if (!timeline_file) throw Error(Status::io, Where{options.timeline}, "cannot write this file");
    timeline = std::make_unique<akemu::Timeline>(timeline_file);
  }
  auto out = io.writer<record::Emulation>();
  for (auto const& path : io.inputs()) {
    auto csv = io.csv(path);
    record::TraceStream rows(csv);
    ake::LaunchReader launches(rows, [&](record::Trace const& head) { return groups_needed(head, devices, options); });
    for (ake::Launch launch; launches.next(launch);)
      for (auto& device : devices) {
        if (timeline) timeline->begin(launch, device.device(), device.cycle_ticks());
        device.add(launch, timeline ? timeline->observer() : nullptr);
      }
    // Rows in the order of the kernels, the devices of each in that of the database.
    std::vector<std::vector<record::Emulation>> results;
    for (auto& device : devices) results.push_back(device.rows());
    for (std::size_t kernel = 0; !results.empty() && kernel < results[0].size(); ++kernel)
      for (auto const& of_device : results) out.write(of_device[kernel]);
  }
  out.finish();
  if (timeline) {
    timeline->finish();
    timeline_file.close();
    if (!timeline_file) throw Error(Status::io, Where{options.timeline}, "cannot write this file");
  }
}

void run(Options const& options, cli::Streams& io) {
  if (options.calibrate.empty()) return project(options, io);
  auto const measurements = rows_of<record::Measurement>(io, options.calibrate);
  auto const database = device::load(device::find_database(options.devdb));
  auto out = io.writer<record::LatencyGap>();
  for (auto const* device : database.choose(options.devices, device::is_gpu))
    for (auto const& row : ake::calibrate(measurements, *device)) out.write(row);
  out.finish();
}

void declare(cli::Tool& tool) {
  auto const options = std::make_shared<Options>();
  auto& app = tool.app();
  app.add_option("--devdb", options->devdb,
                 "the device database; else KERNELCAST_DEVDB, else the one that belongs to the program")
      ->type_name("DIR");
  tool.list("--device", options->devices,
            "only these devices, by id, marketing name or alias; when not given, every GPU whose latencies are known",
            "NAME");
  app.add_option("--scheduler", options->scheduler, "gto (default: greedy, then oldest), rr (in turn) or two-level")
      ->type_name("NAME")
      ->check(CLI::IsMember({"gto", "rr", "two-level"}));
  app.add_option("--active-warps", options->active_warps, "active wavefronts of a scheduler with two-level (default 8)")
      ->type_name("N")
      ->check(CLI::Range(1, 64));
  auto* const rates = app.add_option("--hit-rates", options->hit_rates,
                                     "hit rates of the first-level and second-level cache, 0 to 1, instead of "
                                     "simulated caches")
                          ->type_name("L1,L2")
                          ->delimiter(',')
                          ->expected(2)
                          ->check(CLI::Range(0.0, 1.0));
  app.add_flag("--no-cache", options->no_cache, "every access goes to device memory")->excludes(rates);
  app.add_option("--neighbours", options->neighbours,
                 "with simulated caches, use at most this many times the resident groups of the trace (default 4)")
      ->type_name("N")
      ->check(CLI::Range(1, 1024));
  app.add_option("--order", options->order, "instruction orders to emulate: both (default), program or list")
      ->type_name("ORDER")
      ->check(CLI::IsMember({"both", "program", "list"}));
  app.add_option("--sass", options->sass, "also the order of this listing of nvdisasm, for the kernels that it has")
      ->type_name("FILE")
      ->allow_extra_args(false);
  app.add_flag("--dual-issue", options->dual_issue,
               "let a scheduler issue a second, independent instruction of the same wavefront to another unit");
  app.add_flag("--replace", options->replace, "a group starts when another ends, instead of waves of groups");
  app.add_option("--group-launch-cycles", options->group_launch_cycles,
                 "with --replace, cycles from a group's end to its successor's start (default 0)")
      ->type_name("N")
      ->check(CLI::Range(0.0, 1e9));
  app.add_flag("--strict", options->strict, "no projection where latgap.csv lacks a figure, instead of its fallback");
  app.add_option("--timeline", options->timeline, "write the wavefronts of the emulation as a Chrome trace")
      ->type_name("FILE");
  app.add_option("--calibrate", options->calibrate,
                 "write latgap rows of the devices in this measurement table, and read no trace")
      ->type_name("FILE");
  tool.run([options](cli::Streams& io) { run(*options, io); });
}

}  // namespace

int main(int argc, char** argv) {
  cli::About const about{
      .name = "akemu",
      .summary = "emulate a compute unit by latencies and gaps",
      .description =
          "Reads what the wavefronts of a kernel execute, as miniemu --emit trace writes it, and emulates the compute "
          "unit of each device that runs them: every unit has a latency and a gap, wavefronts issue in order, the "
          "scheduler is greedy then oldest. Writes the time, what limits it, how busy each unit is and what the "
          "wavefronts wait for. Figures that the database lacks are assumed by its stated fallbacks, which the column "
          "reason names.",
      .input = {&record::Trace::schema()},
      .output = {&record::Emulation::schema(), &record::LatencyGap::schema()},
      .statuses = {{Status::unavailable, "no such device in the database, or a name that may be several"}},
      .see_also = {"miniemu(1)", "perfcast(1)", "rank(1)", "kernelcast-models(7)"},
      .examples = {
          {"miniemu mmul.cl -k mmul -g 1024,1024 -l 16,16 … --emit trace --groups resident:32 | akemu --device "
           "v100",
           "how long on a V100, and what it waits for"},
          {"akemu --device k20 --no-cache --timeline warps.json trace.csv", "see the warps in Perfetto"}}};
  return cli::tool_main(argc, argv, about, declare);
}
