#include "runtimes/advise/online.hpp"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <map>
#include <new>
#include <set>
#include <thread>

#include <fmt/format.h>

#include "base/process/process.hpp"
#include "runtimes/advise/budget.hpp"
#include "runtimes/attach/application.hpp"
#include "runtimes/attach/fetched_code.hpp"
#include "runtimes/attach/settings.hpp"

namespace kernelcast::advise {

namespace {

using attach::Spooled;
using attach::SpoolReader;

constexpr double poll_interval_s = 0.02;  // the application may have ended
constexpr int max_workers = 8;            // that may die before their launches are given up

// A worker process. Signals from a terminal are the application's; it dies with this process.
pid_t start_worker(SpoolReader const& spool, WorkerOptions const& options) {
  pid_t const parent = getpid(), worker = fork();
  if (worker == -1) throw Error(Status::io, "cannot start a process", "are there too many already?");
  if (worker != 0) return worker;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() == parent) work(spool, options);
  _exit(0);
}

class Session {
 public:
  Session(OnlineOptions const& options, std::string folder) : options_(options), spool_(std::move(folder)) {
    if (options.steering) steering_.emplace(spool_, *options.steering);
  }

  Online run() {
    attach::FolderWatch const watch(spool_.folder());
    attach::LeaveSignalsToTheApplication const keys;
    start();
    auto const cuda = options_.with_gpu ? attach::Cuda::observed : attach::Cuda::emulated;
    auto environment = attach::environment_of_application(given(), cuda, options_.database);
    try {
      application_ = attach::start_application(options_.command, std::move(environment));
    } catch (...) {
      end_worker();
      throw;
    }
    start_ = Clock::now();
    try {
      accompany(watch);
    } catch (...) {
      await_application_end();
      throw;
    }
    total();
    if (steering_) conclude_steering();
    return std::move(result_);
  }

 private:
  using Clock = std::chrono::steady_clock;

  void accompany(attach::FolderWatch const& watch) {
    for (double pause_s = 0; !finished();) {
      if (watch.wait(static_cast<int>(std::ceil(1e3 * pause_s)))) report_new();
      poll_application();
      pause_s = supervise_worker();
    }
    report_new();
    report_missing();
  }

  // The application is the user's: whatever fails here, it runs to its end.
  void await_application_end() {
    end_worker();
    for (; application_running_; poll_application())
      std::this_thread::sleep_for(std::chrono::duration<double>(poll_interval_s));
  }

  // Limits are of the worker's emulation: the application has its own time.
  attach::Settings given() const {
    auto out = attach::settings();
    out.spool = spool_.folder();
    out.programs = options_.worker.cache ? attach::lasting_programs() : std::string{};
    out.every.clear();
    out.commands = false;
    out.steer = steering_.has_value();
    if (options_.with_gpu) return out;
    out.row_spool = spool_.folder();
    out.keep = false;
    options_.as.put_into(out, true);
    out.program = program_path().string();
    out.groups = launch::text_of(options_.worker.groups);
    out.budget = 0;
    out.threads = options_.threads;
    out.max_steps = 0;
    out.timeout_s = 0;
    out.in_order = false;
    return out;
  }

  double elapsed_s() const {
    return application_running_ ? std::chrono::duration<double>(Clock::now() - start_).count() : result_.run_s;
  }

  void start() {
    worker_ = start_worker(spool_, options_.worker);
    worker_running_ = true;
    ++workers_;
    if (options_.budget_share) budget_.emplace(worker_, *options_.budget_share, ended_workers_s_);
  }

  void poll_application() {
    if (!application_running_) return;
    auto const status = attach::ended(application_);
    if (!status) return;
    result_.run_s = elapsed_s();
    application_running_ = false;
    result_.status = *status;
    if (worker_running_) announce_end(spool_);
  }

  // Returns the seconds until the next poll.
  double supervise_worker() {
    if (!worker_running_) return poll_interval_s;
    int status = 0;
    rusage used{};
    pid_t const ended = wait4(worker_, &status, WNOHANG, &used);
    if (ended == worker_) {
      ended_workers_s_ += processor_time_s(used);
      worker_running_ = false;
      if (WIFSIGNALED(status)) replace_worker(WTERMSIG(status));
      return 0;
    }
    if (!budget_) return poll_interval_s;
    double const again_s = budget_->hold(elapsed_s());
    if (budget_->held() && !application_running_) end_worker();  // no more time will be granted
    return std::min(again_s, poll_interval_s);
  }

  static double processor_time_s(rusage const& used) {
    auto const seconds = [](timeval const& t) {
      return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
    };
    return seconds(used.ru_utime) + seconds(used.ru_stime);
  }

  // The emulator failed, or the process was killed: its current launch has no advice, the others go on.
  void replace_worker(int signal) {
    auto const open = open_launches();
    if (!open.empty())
      write_outcome(spool_, undone(spool_, open.front(), fmt::format("the worker was ended by signal {}", signal)));
    if (workers_ < max_workers) start();
  }

  void end_worker() {
    if (!worker_running_) return;
    kill_process_tree(worker_);
    rusage used{};
    while (wait4(worker_, nullptr, 0, &used) == -1 && errno == EINTR) continue;
    ended_workers_s_ += processor_time_s(used);
    worker_running_ = false;
    try {
      remove_abandoned();  // a compilation that it was killed at
    } catch (std::bad_alloc const&) {
      // The next program does it.
    }
  }

  bool finished() const { return !application_running_ && !worker_running_; }

  std::vector<Spooled> open_launches() const {
    std::set<std::pair<std::string, std::uint64_t>> done;
    for (auto const& outcome : outcomes(spool_)) done.insert(outcome.key());
    auto out = launches(spool_);
    std::erase_if(out, [&](Spooled const& launch) { return done.contains(launch.key()); });
    return out;
  }

  void report_new() {
    if (steering_) steering_->look();
    for (auto const& file : outcomes(spool_)) {
      if (!reported_.insert(file.key()).second) continue;
      auto outcome = read_outcome(spool_, file);
      outcome.failed ? report(outcome, record::RowStatus::failed) : advise(std::move(outcome));
    }
  }

  void advise(Outcome outcome) {
    auto const start = Clock::now();
    auto const projections = project(outcome.row, options_.devices, options_.model);
    auto const wall_s = std::chrono::duration<double>(Clock::now() - start).count();
    auto advice = begin(outcome);
    if (steering_) advice.steered_to = steering_->decide(outcome);
    advice.source = outcome.from_cache ? "cache" : "emulated";
    advice.advice_wall_s = outcome.wall_s + wall_s;
    advice.advice_cpu_s = outcome.cpu_s + wall_s;  // this process does nothing else meanwhile
    if (projections.ranking.empty()) {
      advice.status = record::RowStatus::unknown;
      advice.reason = projections.rows.empty() ? "no device" : projections.rows.front().reason;
    } else {
      auto const& best = projections.rows.front();
      advice.device = best.device;
      advice.time_s = best.time_s;
      advice.time_low_s = best.time_low_s;
      advice.time_high_s = best.time_high_s;
      advice.limiter = best.limiter;
      advice.decided = projections.ranking.front().decided ? "yes" : "no";
      if (projections.ranking.size() > 1) {
        advice.next_device = projections.rows[1].device;
        advice.next_time_s = projections.rows[1].time_s;
      }
      ++result_.advised;
    }
    result_.from_cache += outcome.from_cache;
    options_.report(advice);
    counted_.push_back(std::move(outcome));
  }

  void report(Outcome const& outcome, record::RowStatus status) {
    if (steering_) unadvised_.push_back(outcome);
    auto advice = begin(outcome);
    advice.status = status;
    advice.reason = outcome.reason;
    if (status == record::RowStatus::failed && outcome.wall_s > 0) {
      advice.advice_wall_s = outcome.wall_s;
      advice.advice_cpu_s = outcome.cpu_s;
    }
    options_.report(advice);
  }

  record::Advice begin(Outcome const& outcome) {
    ++result_.configurations;
    record::Advice advice;
    advice.kernel = outcome.row.kernel;
    advice.case_name = outcome.row.case_name;
    advice.at_s = elapsed_s();
    advice.launches = launches_of(outcome.of);
    return advice;
  }

  // Those that the layer could not describe, and those that the budget had no time for.
  void report_missing() {
    std::set<std::pair<std::string, std::string>> reported;
    for (auto const& skipped : spool_.skipped()) {
      if (!reported.insert({skipped.kernel, skipped.why}).second) continue;
      Outcome outcome;
      outcome.of = skipped.of;
      outcome.row.kernel = skipped.kernel;
      outcome.reason = skipped.why;
      report(outcome, record::RowStatus::skipped);
    }
    for (auto const& launch : open_launches()) {
      bool const crashes = workers_ >= max_workers;
      report(undone(spool_, launch,
                    crashes ? "workers were ended by signals too often" : "the budget left no time for it"),
             crashes ? record::RowStatus::failed : record::RowStatus::over_budget);
    }
  }

  std::uint64_t launches_of(Spooled const& of) const {
    auto const counts = spool_.counts(of.process);
    return of.number < counts.size() ? std::max<std::uint64_t>(1, counts[of.number]) : 1;
  }

  void total() {
    std::map<std::string, std::vector<std::uint64_t>> counts;
    attach::FetchedCode code;
    for (auto& outcome : counted_) {
      auto const [at, is_new] = counts.try_emplace(outcome.of.process);
      if (is_new) at->second = spool_.counts(outcome.of.process);
      auto const number = outcome.of.number;
      std::uint64_t const launches = number < at->second.size() ? std::max<std::uint64_t>(1, at->second[number]) : 1;
      record::repeat(outcome.row, launches);
      if (auto touched = spool_.touched_before(outcome.of.process, number); !touched.empty())
        outcome.row.touched_before = std::move(touched);
      code.note(outcome.of.process, outcome.row);
      result_.launches += launches;
      for (auto& row : project(outcome.row, options_.devices, options_.model).rows)
        result_.totals.push_back(std::move(row));
    }
    timespec own{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &own);
    result_.advice_cpu_s = static_cast<double>(own.tv_sec) + 1e-9 * static_cast<double>(own.tv_nsec) + ended_workers_s_;
  }

  void conclude_steering() {
    for (auto const& outcome : counted_)
      result_.steering.push_back(steering_->row(outcome, launches_of(outcome.of), ""));
    for (auto const& outcome : unadvised_)
      result_.steering.push_back(steering_->row(outcome, launches_of(outcome.of), "no advice: " + outcome.reason));
    result_.remarks = steering_->remarks();
  }

  OnlineOptions const& options_;
  SpoolReader spool_;
  std::optional<Steering> steering_;
  Online result_;
  Clock::time_point start_{};
  pid_t application_ = -1, worker_ = -1;
  bool application_running_ = true, worker_running_ = false;
  std::optional<Budget> budget_;
  int workers_ = 0;  // that were started
  double ended_workers_s_ = 0;
  std::set<std::pair<std::string, std::uint64_t>> reported_;
  std::vector<Outcome> counted_;
  std::vector<Outcome> unadvised_;  // with steering
};

}  // namespace

Online run_online(OnlineOptions const& options) {
  if (options.command.empty())
    throw Error(Status::usage, "which application?", "kernelcast-advise -- ./app its arguments");
  TemporaryFolder const spool;
  return Session(options, spool.path().string()).run();
}

}  // namespace kernelcast::advise
