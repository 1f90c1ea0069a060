// perfcast: how long a kernel takes on every GPU of the device database, and what limits it there.
#include <memory>

#include <fmt/format.h>

#include "cli/cli.hpp"
#include "device/device.hpp"
#include "model/panwar.hpp"
#include "record/explanation.hpp"

using namespace kernelcast;

namespace {

struct Options {
  std::string devdb;
  std::vector<std::string> devices;
  std::string clock = "usual";
  bool explain = false, doubtful = false, launch_delay = false;
  CLI::App const* app = nullptr;  // to see whether --format was given
};

void check(record::Reader<record::Kernel> const& rows, record::Kernel const& k) {
  for (auto const& [column, value] :
       {std::pair{"launches", k.launches}, std::pair{"block_x", k.block_x}, std::pair{"block_y", k.block_y},
        std::pair{"block_z", k.block_z}, std::pair{"groups_total", k.groups_total}})
    if (value == 0) throw rows.error(column, "must be at least 1", "a row of no launch or no work-item has no time");
  if (k.spread_pct && *k.spread_pct < 0) throw rows.error("spread_pct", "must not be negative", "leave it empty");
}

record::Explanation explanation(model::panwar::Terms const& t) {
  auto const& p = t.projection;
  record::Explanation e{p.kernel,     p.case_name,
                        p.device,     p.time_s,
                        p.limiter,    p.t_compute_s,
                        p.t_global_s, p.t_shared_s,
                        p.occupancy,  t.occupancy.bound,
                        {},           {},
                        t.registers,  {},
                        {},           {},
                        {},           {},
                        {},           {},
                        {},           {},
                        p.status,     p.reason};
  if (p.t_launch_s) e.reason += fmt::format("{}launches {:.3g} s", e.reason.empty() ? "" : "; ", *p.t_launch_s);
  if (!p.time_s) return e;
  e.groups_per_cu = t.occupancy.groups_per_cu;
  e.waves_per_group = t.occupancy.waves_per_group;
  e.groups_per_launch = t.groups_per_launch;
  e.units_used = t.units_used;
  e.rounds = t.rounds;
  e.clock_hz = t.clock_hz;
  e.global_read_bytes = t.global_read_bytes;
  e.global_write_bytes = t.global_write_bytes;
  e.global_bytes_per_s = t.global_read_bytes_per_s;
  e.saturation = t.saturation;
  e.shared_passes = t.shared_passes;
  return e;
}

void run(Options const& options, cli::Streams& io) {
  auto const database = device::load(device::find_database(options.devdb),
                                     options.doubtful ? device::Trust::doubtful : device::Trust::ok);
  auto const devices = database.choose(options.devices, device::is_gpu);
  using model::panwar::Clock;
  model::panwar::Options const model{options.clock == "base"    ? Clock::base
                                     : options.clock == "boost" ? Clock::boost
                                                                : Clock::usual,
                                     options.launch_delay};
  auto const format = options.explain && options.app->count("--format") == 0 ? record::Format::table : io.format();
  auto const each_row = [&](auto const& write) {
    for (auto const& path : io.inputs()) {
      auto csv = io.csv(path);
      record::Reader<record::Kernel> rows(csv);
      for (record::Kernel kernel; rows.next(kernel);) {
        check(rows, kernel);
        for (auto const* const device : devices) write(model::panwar::explain(kernel, *device, model));
      }
    }
  };
  if (options.explain) {
    record::Writer<record::Explanation> out(io.output(), format);
    each_row([&](model::panwar::Terms const& terms) { out.write(explanation(terms)); });
    return out.finish();
  }
  auto out = io.writer<record::Projection>();
  each_row([&](model::panwar::Terms const& terms) { out.write(terms.projection); });
  out.finish();
}

void declare(cli::Tool& tool) {
  auto const options = std::make_shared<Options>();
  auto& app = tool.app();
  cli::database_option(app, options->devdb);
  tool.list("--device", options->devices,
            "only these devices, by id, marketing name or alias; every GPU of the database when not given", "NAME");
  app.add_option("--clock", options->clock, "usual (default; what the database says a kernel runs at), base or boost")
      ->type_name("CLOCK")
      ->check(CLI::IsMember({"usual", "base", "boost"}));
  app.add_flag("--explain", options->explain,
               "write explanations: the three terms, the occupancy and what bounds it, as a table unless --format "
               "says otherwise");
  app.add_flag("--doubtful", options->doubtful,
               "also use measurements of the database that are marked doubtful; the reason stands beside them");
  app.add_flag("--launch-delay", options->launch_delay,
               "add to every launch what the database has measured from its submission to its start, to compare with "
               "times that were taken so");
  options->app = &app;
  tool.run([options](cli::Streams& io) { run(*options, io); });
}

}  // namespace

int main(int argc, char** argv) {
  cli::About const about{
      .name = "perfcast",
      .summary = "project kernels onto devices",
      .description =
          "Reads what kernels do, as miniemu counts it, and writes how long they take on every GPU of the device "
          "database and what limits them there: compute, global or shared memory. A device that cannot run a kernel, "
          "or about which too little is known, gets a row without a time that says why. Transfers between host and "
          "device are not part of the model, launches only with --launch-delay.",
      .input = {&record::Kernel::schema()},
      .output = {&record::Projection::schema(), &record::Explanation::schema()},
      .statuses = {{Status::unavailable, "no such device in the database, or a name that may be several"}},
      .see_also = {"miniemu(1)", "rank(1)", "kernelcast-models(7)"},
      .examples = {
          {"miniemu mmul.cl -k mmul -g 1024,1024 -l 16,16 | perfcast | rank", "which device runs this kernel fastest"},
          {"perfcast --device c1060,hd7970 --explain k.csv", "why two devices take as long as they do"}}};
  return cli::tool_main(argc, argv, about, declare);
}
