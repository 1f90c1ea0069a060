#include "runtimes/advise/worker.hpp"

#include <sys/resource.h>

#include <chrono>
#include <deque>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>

#include <fmt/format.h>

#include "base/csv/csv.hpp"
#include "base/diag/text.hpp"
#include "base/process/process.hpp"
#include "emulator/launch/compilations.hpp"
#include "emulator/launch/kernel_record.hpp"
#include "records/table/table.hpp"
#include "runtimes/advise/count.hpp"
#include "runtimes/attach/counted_rows.hpp"

namespace kernelcast::advise {

namespace {

using attach::Spooled;
using attach::SpoolReader;

constexpr int poll_interval_ms = 100;
constexpr char const* end_mark = "ended";

// Processor time of this process and of the compilers that it has run.
double used_s() {
  double sum = 0;
  for (int const who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
    rusage used{};
    getrusage(who, &used);
    for (auto const& t : {used.ru_utime, used.ru_stime})
      sum += static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  }
  return sum;
}

class Stopwatch {
 public:
  void fill(Outcome& outcome) const {
    outcome.wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
    outcome.cpu_s = used_s() - start_used_s_;
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  double start_used_s_ = used_s();
};

// A launch file without what differs from run to run: which process and launch its files are of.
std::string identity_of(std::string text, Spooled const& of) {
  std::string const name = fmt::format("buffer-{}-{}-", of.process, of.number);
  for (auto at = text.find(name); at != std::string::npos; at = text.find(name, at)) text.erase(at, name.size());
  return text;
}

// "4096/64", as miniemu writes it.
std::string case_of(launch::Plan const& plan) {
  auto const& call = plan.calls.front();
  auto const text = [](launch::Size const& size) { return launch::size_text(size.size, size.dimensions); };
  return call.local ? text(call.global) + "/" + text(*call.local) : text(call.global);
}

bool is_row(Spooled const& of) {
  return of.file.ends_with(".csv");
}

struct Job {
  Spooled of;
  launch::Plan plan;
  CountOptions options;
  Outcome outcome;
};

class Worker {
 public:
  Worker(SpoolReader const& spool, WorkerOptions const& options)
      : spool_(spool), options_(options), watch_(spool.folder()), rows_(spool, options.cache, options.registers) {
    for (auto const& done : outcomes(spool)) seen_.insert(done.key());
  }

  void run() {
    for (;;) {
      bool const ended = std::filesystem::exists(spool_.folder() + '/' + end_mark);  // before the last look
      take_new();
      if (!jobs_.empty()) {
        count_first();
        continue;
      }
      if (ended) return;
      watch_.wait(poll_interval_ms);
    }
  }

 private:
  void take_new() {
    for (auto const& launch : launches(spool_))
      if (seen_.insert(launch.key()).second) is_row(launch) ? take_row(launch) : take(launch);
  }

  // The same for one that the application has counted.
  void take_row(Spooled const& row) {
    Stopwatch const watch;
    Job job;
    job.of = job.outcome.of = row;
    try {
      if (auto known = rows_.recall(row)) return conclude(job, {std::move(*known), false}, watch);
    } catch (std::exception const& error) {
      return fail(job, error.what(), watch);
    }
    jobs_.push_back(std::move(job));
  }

  // Answers from the cache at once; else the launch waits for its turn.
  void take(Spooled const& launch) {
    Stopwatch const watch;
    Job job;
    job.of = job.outcome.of = launch;
    try {
      job.plan = plan_of(launch);
      job.outcome.row.kernel = job.plan.calls.front().kernel.text;
      job.outcome.row.case_name = case_of(job.plan);
      job.options.run.groups = options_.groups;
      job.options.run.limits = options_.limits;
      job.options.run.print = [](std::string_view) {};
      job.options.run.compilations = &compilations_;
      job.options.cache = options_.cache;
      job.options.identity = identity_of(read_file(spool_.path(launch)), launch);
      if (auto known = recall(job.plan, job.options)) return conclude(job, std::move(*known), watch);
    } catch (std::exception const& error) {
      return fail(job, error.what(), watch);
    }
    jobs_.push_back(std::move(job));
  }

  launch::Plan plan_of(Spooled const& launch) const {
    auto plan = launch::read_launch_file(spool_.path(launch));
    plan.case_name.clear();  // its sizes
    plan.request.cache = options_.cache;
    plan.request.registers = options_.registers;
    plan.lazy_files = true;
    return plan;
  }

  void count_first() {
    Job job = std::move(jobs_.front());
    jobs_.pop_front();
    Stopwatch const watch;
    try {
      conclude(job, is_row(job.of) ? Counted{rows_.read(job.of), false} : count(job.plan, job.options), watch);
    } catch (std::exception const& error) {
      fail(job, error.what(), watch);
    }
  }

  void conclude(Job& job, Counted counted, Stopwatch const& watch) {
    job.outcome.row = std::move(counted.row);
    job.outcome.from_cache = counted.from_cache;
    finish(job, watch);
  }

  void fail(Job& job, std::string const& why, Stopwatch const& watch) {
    job.outcome.failed = true;
    job.outcome.reason = why.substr(0, why.find('\n'));
    if (job.outcome.row.kernel.empty()) job.outcome.row.kernel = job.of.file;
    finish(job, watch);
  }

  void finish(Job& job, Stopwatch const& watch) {
    watch.fill(job.outcome);
    write_outcome(spool_, job.outcome);
    spool_.remove_buffers(job.of);
  }

  SpoolReader const& spool_;
  WorkerOptions const& options_;
  attach::FolderWatch watch_;
  attach::RowReader rows_;
  launch::Compilations compilations_;
  std::set<std::pair<std::string, std::uint64_t>> seen_;
  std::deque<Job> jobs_;
};

std::vector<std::string> const& extra_names() {
  static std::vector<std::string> const names{"source", "reason", "wall_s", "cpu_s"};
  return names;
}

}  // namespace

void write_outcome(SpoolReader const& spool, Outcome const& outcome) {
  std::ostringstream text;
  record::Writer<record::Kernel> out(text, record::Format::csv, nullptr, extra_names());
  out.write(outcome.row, {outcome.failed       ? "failed"
                          : outcome.from_cache ? "cache"
                                               : "emulated",
                          outcome.reason, record::number_text(outcome.wall_s), record::number_text(outcome.cpu_s)});
  out.finish();
  auto const path = fmt::format("{}/counted-{}-{}.csv", spool.folder(), outcome.of.process, outcome.of.number);
  replace_file(path, text.str());
}

Outcome read_outcome(SpoolReader const& spool, Spooled const& of) {
  std::ifstream file(spool.path(of));
  csv::Reader csv(file, of.file);
  record::Reader<record::Kernel> rows(csv);
  Outcome out;
  out.of = of;
  if (rows.extra_names() != extra_names() || !rows.next(out.row))
    throw Error(Status::bad_data, Where{of.file}, "no count of a launch");
  auto const extras = rows.extras();
  out.failed = extras[0] == "failed";
  out.from_cache = extras[0] == "cache";
  out.reason = extras[1];
  out.wall_s = to_number<double>(extras[2]).value_or(0);
  out.cpu_s = to_number<double>(extras[3]).value_or(0);
  return out;
}

std::vector<Spooled> launches(SpoolReader const& spool) {
  auto out = spool.launches();
  auto rows = attach::RowReader(spool, false, {}).rows();
  std::move(rows.begin(), rows.end(), std::back_inserter(out));
  return out;
}

std::vector<Spooled> outcomes(SpoolReader const& spool) {
  return spool.files("counted-", ".csv");
}

Outcome undone(SpoolReader const& spool, Spooled const& of, std::string reason) {
  Outcome out;
  out.of = of;
  out.failed = true;
  out.reason = std::move(reason);
  out.row.kernel = of.file;
  try {
    if (is_row(of)) {
      auto const row = attach::RowReader(spool, false, {}).read_row(of);
      out.row.kernel = row.kernel;
      out.row.case_name = row.case_name;
      return out;
    }
    auto const plan = launch::read_launch_file(spool.path(of));
    out.row.kernel = plan.calls.front().kernel.text;
    out.row.case_name = case_of(plan);
  } catch (Error const&) {
    // Its name will do.
  }
  return out;
}

void announce_end(SpoolReader const& spool) {
  replace_file(spool.folder() + '/' + end_mark, "");
}

void work(SpoolReader const& spool, WorkerOptions const& options) {
  try {
    Worker(spool, options).run();
  } catch (std::exception const&) {
    // The spool is gone or the disk is full: the other side tells which launches have no advice.
  }
}

}  // namespace kernelcast::advise
