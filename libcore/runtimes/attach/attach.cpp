#include <algorithm>
#include <chrono>
#include <filesystem>
#include <map>
#include <set>
#include <sstream>

#include <fmt/format.h>

#include "base/diag/text.hpp"
#include "base/process/process.hpp"
#include "emulator/launch/compilations.hpp"
#include "records/table/table.hpp"
#include "runtimes/attach/application.hpp"
#include "runtimes/attach/attach.hpp"
#include "runtimes/attach/counted_rows.hpp"
#include "runtimes/attach/environment.hpp"
#include "runtimes/attach/fetched_code.hpp"
#include "runtimes/attach/kernel_names.hpp"
#include "runtimes/attach/recorder.hpp"
#include "runtimes/attach/settings.hpp"
#include "runtimes/attach/spool_reader.hpp"

namespace kernelcast::attach {

void SeenDevices::put_into(Settings& settings, bool has_database) const {
  settings.devices = settings.opencl_devices = devices;
  if (devices.empty() && has_database && !has_opencl_driver()) settings.opencl_devices = Settings{}.devices;
}

SeenDevices devices_named(std::vector<std::string> const& names, device::DeviceDatabase const& database) {
  SeenDevices out;
  for (auto const& name : names) out.devices.push_back(database.find(name).device);
  return out;
}

namespace fs = std::filesystem;

namespace {

constexpr int poll_interval_ms = 20;  // the application may have ended

class Attachment {
 public:
  Attachment(AttachOptions const& options, std::string spool)
      : options_(options),
        run_(options.run),
        spool_(std::move(spool)),
        machine_code_(options.run.machine_targets, options.cache, frontend::Request{}.time_limit_s, options.report),
        counted_reader_(spool_, options.cache, options.registers, &machine_code_) {
    run_.compilations = &compilations_;
  }

  Attached run() {
    FolderWatch const watch(spool_.folder());
    LeaveSignalsToTheApplication const keys;
    auto environment =
        environment_of_application(given(), options_.with_gpu ? Cuda::observed : Cuda::emulated, options_.database);
    for (auto const& [name, value] : options_.variables) replace(environment, name, value);
    pid_t const application = start_application(options_.command, std::move(environment));
    for (;;) {
      emulate_new();
      read_counted();
      if (auto const status = ended(application)) {
        result_.status = *status;
        break;
      }
      show_progress();
      watch.wait(poll_interval_ms);
    }
    if (options_.progress) options_.progress({});
    emulate_new();
    read_counted();
    finish();
    return std::move(result_);
  }

 private:
  // Where launches are kept their sources are kept with them.
  std::string programs() const { return options_.cache && options_.keep.empty() ? lasting_programs() : std::string{}; }

  Settings given() const {
    Settings out = settings();
    out.spool = spool_.folder();
    out.programs = programs();
    out.every = options_.every;
    out.commands = options_.graph;
    out.steer = false;
    if (options_.read_back_bytes) out.read_back_bytes = *options_.read_back_bytes;
    if (options_.with_gpu) return out;
    out.row_spool = spool_.folder();
    out.timeline = options_.commands;
    options_.as.put_into(out, !options_.database.empty());
    out.program = program_path().string();
    out.groups = launch::text_of(options_.run.groups);
    out.budget = options_.budget;
    out.budget_seconds = options_.budget_seconds;
    if (!options_.execute.empty()) out.execute = options_.execute;
    out.threads = options_.run.threads;
    out.memory_bytes = options_.run.max_memory_bytes;
    out.stack_bytes = options_.run.stack_bytes;
    out.heap_bytes = options_.run.heap_bytes;
    out.max_steps = options_.run.limits.max_steps;
    out.timeout_s = options_.run.limits.timeout_s;
    out.in_order = options_.run.limits.in_order;
    out.keep = !options_.keep.empty() || traces();
    if (options_.keep.empty()) out.kernels = options_.kernels;
    out.goes_on = options_.run.goes_on;
    auto const& checks = options_.run.check_options;
    for (auto const& [asked, word] : {std::pair{checks.uninit, "uninit"},
                                      {checks.races, "races"},
                                      {checks.division, "division"},
                                      {checks.lockstep_warps, "lockstep"}})
      if (asked) out.checks.emplace_back(word);
    out.findings = checks.findings;
    return out;
  }

  void show_progress() {
    using namespace std::chrono;
    auto const now = steady_clock::now();
    if (!options_.progress || now - shown_ < milliseconds(500)) return;
    shown_ = now;
    auto const usage = spool_.usage();
    if (!usage) return;
    auto const now_ns = static_cast<std::uint64_t>(nanoseconds(now.time_since_epoch()).count());
    options_.progress(progress(*usage, running(*usage), now_ns));
  }

  // The kernel that runs, or empty where it is not known by now.
  std::string running(Usage const& usage) const {
    for (auto const& [key, rows] : counted_)
      if (key.second + 1 == usage.running && !rows.empty()) return rows.front().kernel;
    return {};
  }

  void read_commands() {
    for (auto const& path : spool_.timelines()) try {
        auto text = read_file(path);
        text.resize(text.rfind('\n') + 1);  // of a killed application the last line may be a part
        std::istringstream lines(text);
        auto rows = record::read_rows<record::Command>(lines, path);
        for (auto& row : rows)
          if (row.interface == record::Interface::opencl && row.kind == record::CommandKind::kernel) name(row);
        result_.commands.insert(result_.commands.end(), std::make_move_iterator(rows.begin()),
                                std::make_move_iterator(rows.end()));
      } catch (Error const& error) {
        options_.report(error.text("commands"));
      }
  }

  // Of OpenCL the layer knows the configuration, and this side its row.
  void name(record::Command& command) const {
    auto const number = to_number<std::uint64_t>(command.case_name);
    if (!number) return;
    auto const found = rows_.find({command.process, *number});
    if (found == rows_.end() || found->second.empty()) {
      for (auto const& [kernel, why, of] : spool_.skipped())
        if (of.key() == std::pair(command.process, *number)) command.kernel = kernel;
      return;
    }
    command.kernel = found->second.front().kernel;
    command.case_name = found->second.front().case_name;
  }

  bool traces() const { return options_.run.emit == launch::Emit::trace; }

  // Findings are this run's result, too.
  bool looks() const { return options_.run.goes_on || options_.run.check_options.any(); }

  // Each once, of as many as are wanted.
  void tell(std::string const& text) {
    std::size_t const most = options_.run.goes_on ? options_.run.check_options.findings : 1000;
    if (told_.size() < most && told_.insert(text).second) options_.report(text);
  }

  void read_findings() {
    for (auto const& [kind, times, text] : spool_.findings()) {
      result_.found |= kind != "equal";
      tell(text);
    }
  }

  void emulate_new() {
    for (auto const& launch : spool_.launches())
      if (done_.insert(launch.file).second && (traces() || !is_reported(launch))) emulate(launch);
  }

  // The application has counted this launch itself: it has a row, or a reason to have none.
  bool is_reported(Spooled const& launch) const {
    auto const of_it = [&](std::string_view kind, std::string_view ending) {
      return fs::exists(fmt::format("{}/{}-{}-{}{}", spool_.folder(), kind, launch.process, launch.number, ending));
    };
    return of_it("row", ".csv") || of_it("skipped", ".txt");
  }

  void emulate(Spooled const& spooled) {
    try {
      auto plan = launch::read_launch_file(spool_.path(spooled));
      plan.case_name.clear();  // its sizes
      plan.request.cache = options_.cache;
      plan.request.registers = options_.registers;
      plan.lazy_files = true;
      auto const kernel = plan.calls.front().kernel.text;
      if (!is_among(options_.kernels, kernel)) {
        if (options_.keep.empty()) spool_.remove_buffers(spooled);
        return;
      }
      auto const cut = std::any_of(plan.buffers.begin(), plan.buffers.end(),
                                   [](launch::Buffer const& b) { return b.fill == launch::Fill::start; });
      if (cut && cut_.insert(kernel).second)
        options_.report(
            fmt::format("kernel '{}': only the beginning of its buffers was read back, zeros follow\n"
                        "hint: --read-back sets how much is read back for one launch",
                        kernel));
      try {
        auto report = launch::run(plan, run_);
        for (auto const& text : report.check_notes) tell(text);
        if (report.finding)
          tell(fmt::format("kernel '{}' has findings:\n{}", kernel, report.finding->text("emulation"))),
              result_.found = true;
        auto& rows = rows_[spooled.key()] = std::move(report.rows);
        if (options_.known) std::ranges::for_each(rows, options_.known);
        if (options_.graph && !rows.empty())
          known_[spooled.key()] = {rows.front(), find_accesses(std::move(plan), run_)};
      } catch (Error const& error) {
        ++result_.skipped;
        result_.found |= looks() && error.status() == Status::finding;
        options_.report(fmt::format("kernel '{}' has no row:\n{}", kernel, error.text("emulation")));
      }
    } catch (Error const& error) {
      ++result_.skipped;
      options_.report(error.text("emulation"));
    }
    if (options_.keep.empty()) spool_.remove_buffers(spooled);
  }

  // What the runtime of a CUDA application has counted since.
  void read_counted() {
    if (traces()) return;
    for (auto const& file : counted_reader_.rows()) {
      if (!done_.insert(file.file).second) continue;
      try {
        auto const& rows = counted_[file.key()] = counted_reader_.read_targets(file);
        if (options_.known) std::ranges::for_each(rows, options_.known);
      } catch (Error const& error) {
        options_.report(error.text("rows"));
      }
    }
  }

  void finish() {
    read_findings();
    result_.usage = spool_.usage();
    if (result_.usage && result_.usage->running > 0) {
      auto const kernel = running(*result_.usage);
      result_.running = kernel.empty() ? "a kernel" : "kernel '" + kernel + '\'';
    }
    read_commands();
    if (options_.graph) {
      for (auto const& [key, rows] : counted_)
        if (!rows.empty()) known_.try_emplace(key, Known{rows.front(), {}});
      result_.recording =
          recording_of(spool_, known_, fs::path(options_.command.front()).filename().string(), options_.report);
    }
    rows_.merge(std::move(counted_));
    struct Launches {
      std::vector<std::uint64_t> counts, allocated_bytes;
    };
    std::map<std::string, Launches> launches;
    FetchedCode code;
    for (auto& [key, rows] : rows_) {
      auto const& [process, number] = key;
      auto const [at, is_new] = launches.try_emplace(process);
      auto& [counts, allocated_bytes] = at->second;
      if (is_new) counts = spool_.counts(process), allocated_bytes = spool_.allocated_bytes(process);
      for (auto& row : rows) {
        record::repeat(row, number < counts.size() ? std::max<std::uint64_t>(1, counts[number]) : 1);
        if (number < allocated_bytes.size() && allocated_bytes[number] > 0)
          row.allocated_bytes = std::max(row.allocated_bytes.value_or(0), allocated_bytes[number]);
        if (auto touched = spool_.touched_before(process, number); !touched.empty())
          row.touched_before = std::move(touched);
        code.note(process, row);
        result_.rows.push_back(std::move(row));
      }
    }
    std::set<std::string> reported;
    for (auto const& [kernel, why, of] : spool_.unkept())
      if (reported.insert(kernel + why).second)
        options_.report(fmt::format("kernel '{}' has no launch file: {}", kernel, why));
    for (auto const& [kernel, why, of] : spool_.skipped()) {
      ++result_.skipped;
      if (reported.insert(kernel + why).second) options_.report(fmt::format("kernel '{}' has no row: {}", kernel, why));
    }
  }

  AttachOptions const& options_;
  launch::RunOptions run_;
  launch::Compilations compilations_;
  SpoolReader spool_;
  Attached result_;
  std::set<std::string> done_, told_;
  std::set<std::string> cut_;  // kernels whose buffers were not read back whole, of which this has been reported
  KnownLaunches known_;
  std::chrono::steady_clock::time_point shown_;
  launch::MachineCode machine_code_;
  attach::RowReader counted_reader_;
  // By process and number: a row, or one of each target.
  std::map<std::pair<std::string, std::uint64_t>, std::vector<record::Kernel>> rows_, counted_;
};

}  // namespace

Attached run(AttachOptions const& options) {
  if (options.command.empty())
    throw Error(Status::usage, "which application?", "miniemu --attach -o kernels.csv -- ./app its arguments");
  if (options.keep.empty()) {
    TemporaryFolder const spool;
    return Attachment(options, spool.path().string()).run();
  }
  std::error_code error;
  fs::create_directories(options.keep, error);
  auto const folder = fs::canonical(options.keep, error);
  if (error) throw Error(Status::io, Where{options.keep}, "cannot make the folder: " + error.message(), "--keep DIR");
  return Attachment(options, folder.string()).run();
}

}  // namespace kernelcast::attach
