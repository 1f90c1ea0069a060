#include "models/ake/rows.hpp"

#include <map>
#include <optional>

#include <fmt/format.h>

#include "base/process/input.hpp"
#include "models/ake/calibrate.hpp"
#include "models/ake/devices.hpp"
#include "models/queue.hpp"
#include "records/cli/values.hpp"
#include "records/device/device.hpp"
#include "records/kernel.hpp"
#include "records/table/passed_through.hpp"
#include "records/table/selection.hpp"
#include "records/table/table.hpp"

namespace kernelcast::model::ake {

namespace {

std::map<std::string, Listing> listings(cli::Streams& io, std::vector<std::string> const& paths) {
  std::map<std::string, Listing> out;
  for (auto const& path : paths) {
    auto const name = cli::Streams::input_name(path);
    out.merge(read_listing(read_all(io.input(path), name), name));
  }
  return out;
}

SlotRows slot_rows(cli::Streams& io, std::vector<std::string> const& paths) {
  SlotRows out;
  for (auto const& path : paths) {
    auto csv = io.csv(path);
    record::Reader<record::Kernel> rows(csv);
    for (record::Kernel row; rows.next(row);) out.add(row);
  }
  return out;
}

Options model_options(EmulateRows const& o, device::DeviceDatabase const& database) {
  Options out;
  out.scheduler = o.scheduler == "rr"          ? Scheduler::rr
                  : o.scheduler == "two-level" ? Scheduler::two_level
                                               : Scheduler::gto;
  out.dual_issue = o.dual_issue;
  out.active_warps = o.active_warps;
  using Kind = MemoryMode::Kind;
  if (!o.hit_rates.empty()) out.memory = {Kind::given, o.hit_rates[0], o.hit_rates.back()};
  if (o.no_cache) out.memory.kind = Kind::none;
  out.memory.warm = o.warm;
  out.program_order = o.order != "list";
  out.list_order = o.order != "program";
  out.replace = o.replace;
  out.group_launch_cycles = o.group_launch_cycles;
  out.strict = o.strict;
  out.launch_cost = {.of_host = model::queue::Constants{}.launch_s, .of = {}};
  if (!o.launch_cost.empty())
    out.launch_cost = device::launch_cost_named(o.launch_cost, database, std::move(out.launch_cost));
  return out;
}

}  // namespace

void emulate_rows(EmulateRows const& options, cli::Streams& io) {
  auto const database = device::load(device::find_database(options.devdb));
  auto model = model_options(options, database);
  auto const sass = listings(io, options.sass);
  model.sass = &sass;
  auto const slots = slot_rows(io, options.slots);
  model.slots = &slots;
  auto const latencies = read_latencies(database.path(), [&](std::string const& path) { return io.csv(path); });
  std::optional<record::Selection> only;
  if (!options.only.empty()) {
    auto csv = io.csv(options.only);
    only.emplace(csv);
  }
  Devices devices(database, options.devices, latencies, model, options.neighbours, only ? &*only : nullptr);
  TimelineFile timeline(options.timeline);
  record::PassingWriter<record::Emulation> out(
      [&](std::vector<std::string> names) { return io.writer<record::Emulation>(std::move(names)); });
  for (auto const& path : io.inputs()) {
    auto csv = io.csv(path);
    record::TraceStream rows(csv);
    out.begin(rows.reader());
    std::map<std::pair<std::string, std::string>, std::vector<std::string>> cells;  // by kernel and case
    devices.emulate(
        rows, timeline.get(),
        [&](record::Trace const& launch) {
          cells.try_emplace({launch.kernel, launch.case_name}, out.cells(rows.reader()));
        },
        [&](record::Emulation const& row) {
          out.of(cells.at({row.kernel, row.case_name}));
          out.write(row);
        });
  }
  out.finish();
  timeline.finish();
}

void calibrate_rows(EmulateRows const& options, cli::Streams& io) {
  auto csv = io.csv(options.calibrate);
  auto const measurements = record::read_rows<record::Measurement>(csv);
  auto const database = device::load(device::find_database(options.devdb));
  auto out = io.writer<record::LatencyGap>();
  for (auto const* device : database.choose(options.devices, device::is_gpu))
    for (auto const& row : calibrate(measurements, *device)) out.write(row);
  out.finish();
}

}  // namespace kernelcast::model::ake
