#include "runtimes/advise/rows.hpp"

#include <filesystem>
#include <optional>

#include <fmt/format.h>

#include "emulator/launch/options.hpp"
#include "models/rank.hpp"
#include "records/cli/values.hpp"
#include "records/device/device.hpp"
#include "runtimes/advise/messages.hpp"
#include "runtimes/advise/online.hpp"
#include "runtimes/attach/attach.hpp"

namespace kernelcast::advise {

namespace {

// Everything that the application launched as one case, called as the application is.
std::vector<record::Projection> whole_application(Online const& online, AdviseRows const& options) {
  auto rows = online.totals;
  for (auto& row : rows) row.case_name = std::filesystem::path(options.application.front()).filename().string();
  return model::total(rows).rows;
}

std::string summary(Online const& online, AdviseRows const& options) {
  auto const whole = model::rank(whole_application(online, options));
  std::string const best =
      whole.empty() ? "" : fmt::format("; all of them: {} {}", whole.front().device, message(whole.front().time_s));
  double const share_pct = online.run_s > 0 ? 100 * online.advice_cpu_s / online.run_s : 0;
  std::uint64_t steered = 0;
  for (auto const& row : online.steering) steered += row.launches_steered;
  std::string const moved = options.steer ? fmt::format(", {} steered", steered) : "";
  return fmt::format(
      "{} of {} configurations advised, {} from the cache, {} launches{}{}; advice took {}, {:.1f} % of {}",
      online.advised, online.configurations, online.from_cache, online.launches, moved, best,
      message(online.advice_cpu_s), share_pct, message(online.run_s));
}

OnlineOptions online_options(AdviseRows const& options, device::DeviceDatabase const& database) {
  OnlineOptions out;
  out.command = options.application;
  out.devices = database.choose(options.devices, device::is_gpu);
  out.model.common.clock = model::panwar::clock_named(options.clock);
  if (options.budget_pct) out.budget_share = *options.budget_pct / 100;
  out.worker.groups = launch::parse_groups(options.groups);
  out.worker.limits.timeout_s = options.timeout_s;
  out.worker.cache = !options.no_cache;
  out.worker.registers = options.registers;
  out.with_gpu = options.with_gpu;
  out.as = attach::devices_named(options.as, database);
  out.database = std::filesystem::absolute(database.path()).string();
  if (!options.steer) return out;
  auto& steering = out.steering.emplace();
  steering.database = &database;
  steering.model = out.model;
  for (auto const& mapping : options.mappings) steering.mappings.push_back(parse_mapping(mapping, database));
  return out;
}

template <class Record>
void write(std::vector<Record> const& rows, cli::Streams& io) {
  auto out = io.writer<Record>();
  for (auto const& row : rows) out.write(row);
  out.finish();
}

}  // namespace

Status advise_rows(AdviseRows const& options, cli::Streams& io) {
  bool const as_messages = io.to_standard_output();
  if (options.emit != "advice" && as_messages)
    throw Error(Status::usage,
                fmt::format("--emit {} needs a file to write to: standard output is the application's", options.emit),
                fmt::format("kernelcast-advise --emit {} -o p.csv -- ./app its arguments", options.emit));
  if (options.emit == "steering" && !options.steer)
    throw Error(Status::usage, "--emit steering is for --steer",
                "kernelcast-advise --steer --emit steering -o s.csv -- ./app");
  auto const database = device::load(device::find_database(options.devdb));
  auto advice = online_options(options, database);
  advice.threads = io.threads();
  std::optional<record::Writer<record::Advice>> out;
  if (options.emit == "advice" && !as_messages) out.emplace(io.writer<record::Advice>());
  advice.report = [&](record::Advice const& row) {
    if (as_messages || (!out && row.status != record::RowStatus::ok)) return io.note(message(row));
    if (!out) return;
    out->write(row);
    io.publish();  // each row at once
  };
  auto const online = run_online(advice);
  if (out) out->finish();
  for (auto const& row : online.steering)
    if (auto const text = message(row); as_messages && !text.empty()) io.note(text);
  for (auto const& remark : online.remarks) io.note(remark);
  if (as_messages) io.note(summary(online, options));
  if (options.emit == "steering") write(online.steering, io);
  if (options.emit == "projection") write(online.totals, io);
  if (options.emit == "total") write(whole_application(online, options), io);
  return static_cast<Status>(online.status);
}

}  // namespace kernelcast::advise
