// Least makespan of independent jobs on unrelated machines (R || Cmax).
//
// Problem: job j takes time t[j][d] on device d, or cannot run there; every job runs on one device, a device runs one
// job at a time; the last end shall be as early as possible.
// Method: list scheduling (longest job first, each to the device where it ends first) gives a start; branch and bound
// improves it. A partial placement with device loads L is cut off when max(max L, (sum L + sum of the open jobs'
// shortest times) / devices, max over open jobs of min_d (L_d + t[j][d])) is no better than the best found.
// Limits: the problem is NP-hard; the search stops after a given number of steps and says so.
#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "models/rank.hpp"

namespace kernelcast::model {

namespace {

constexpr double impossible = std::numeric_limits<double>::infinity();

struct Job {
  std::string kernel, case_name;
  std::vector<double> time_s;  // [device], or impossible
  double shortest_s = impossible;
};

struct Problem {
  std::vector<std::string> devices;
  std::vector<Job> jobs;  // longest first
};

Problem problem_of(std::string const& model, std::vector<record::Projection> const& projections) {
  std::set<std::string> devices;
  std::map<std::pair<std::string, std::string>, std::map<std::string, double>> jobs;
  for (auto const& p : projections) {
    if (p.model != model || !p.time_s) continue;
    devices.insert(p.device);
    jobs[{p.kernel, p.case_name}][p.device] = *p.time_s;
  }
  Problem problem{{devices.begin(), devices.end()}, {}};
  for (auto const& [key, times] : jobs) {
    Job job{key.first, key.second, {}, impossible};
    for (auto const& device : problem.devices) {
      auto const found = times.find(device);
      job.time_s.push_back(found == times.end() ? impossible : found->second);
      job.shortest_s = std::min(job.shortest_s, job.time_s.back());
    }
    problem.jobs.push_back(std::move(job));
  }
  std::sort(problem.jobs.begin(), problem.jobs.end(), [](Job const& a, Job const& b) {
    return std::tie(b.shortest_s, a.kernel, a.case_name) < std::tie(a.shortest_s, b.kernel, b.case_name);
  });
  return problem;
}

class Search {
 public:
  Search(Problem const& problem, std::uint64_t max_steps)
      : problem_(problem),
        steps_left_(max_steps),
        load_(problem.devices.size(), 0.0),
        place_(problem.jobs.size(), 0),
        open_shortest_(problem.jobs.size() + 1, 0.0) {
    for (std::size_t j = problem.jobs.size(); j-- > 0;)
      open_shortest_[j] = open_shortest_[j + 1] + problem.jobs[j].shortest_s;
    list_schedule();
    descend(0);
  }

  std::vector<std::size_t> const& best() const { return best_; }
  double makespan_s() const { return best_s_; }
  bool exact() const { return !stopped_; }

 private:
  std::vector<std::size_t> devices_by_end(Job const& job) const {
    std::vector<std::size_t> order;
    for (std::size_t d = 0; d < load_.size(); ++d)
      if (job.time_s[d] < impossible) order.push_back(d);
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return std::pair(load_[a] + job.time_s[a], a) < std::pair(load_[b] + job.time_s[b], b);
    });
    return order;
  }

  void list_schedule() {
    for (std::size_t j = 0; j < place_.size(); ++j) {
      place_[j] = devices_by_end(problem_.jobs[j]).front();
      load_[place_[j]] += problem_.jobs[j].time_s[place_[j]];
    }
    keep();
    std::fill(load_.begin(), load_.end(), 0.0);
  }

  void keep() {
    best_ = place_;
    best_s_ = *std::max_element(load_.begin(), load_.end());
  }

  double bound(std::size_t next) const {
    double most = 0, sum = open_shortest_[next];
    for (double const load : load_) {
      most = std::max(most, load);
      sum += load;
    }
    most = std::max(most, sum / static_cast<double>(load_.size()));
    for (std::size_t j = next; j < place_.size(); ++j) {
      double soonest = impossible;
      for (std::size_t d = 0; d < load_.size(); ++d) soonest = std::min(soonest, load_[d] + problem_.jobs[j].time_s[d]);
      most = std::max(most, soonest);
    }
    return most;
  }

  void descend(std::size_t next) {
    if (stopped_) return;
    if (steps_left_ == 0) {
      stopped_ = true;
      return;
    }
    --steps_left_;
    if (next == place_.size()) {
      if (*std::max_element(load_.begin(), load_.end()) < best_s_) keep();
      return;
    }
    if (bound(next) >= best_s_) return;
    auto const& job = problem_.jobs[next];
    for (std::size_t const d : devices_by_end(job)) {
      double const before = load_[d];  // restored as it was: subtracting again would round
      load_[d] += job.time_s[d];
      place_[next] = d;
      descend(next + 1);
      load_[d] = before;
    }
  }

  Problem const& problem_;
  std::uint64_t steps_left_;
  bool stopped_ = false;
  std::vector<double> load_;
  std::vector<std::size_t> place_, best_;
  std::vector<double> open_shortest_;  // [j]: sum of the shortest times of jobs j and later
  double best_s_ = impossible;
};

}  // namespace

std::vector<Schedule> assign(std::vector<record::Projection> const& projections, std::uint64_t max_steps) {
  std::set<std::string> models;
  for (auto const& p : projections)
    if (p.time_s) models.insert(p.model);
  std::vector<Schedule> schedules;
  for (auto const& model : models) {
    auto const problem = problem_of(model, projections);
    Search const search(problem, max_steps);
    Schedule schedule{model, {}, search.makespan_s(), search.exact()};
    for (std::size_t d = 0; d < problem.devices.size(); ++d) {
      double now_s = 0;
      for (std::size_t j = 0; j < problem.jobs.size(); ++j) {
        if (search.best()[j] != d) continue;
        auto const& job = problem.jobs[j];
        schedule.rows.push_back({job.kernel, job.case_name, problem.devices[d], now_s, now_s + job.time_s[d], model,
                                 search.exact() ? "exhaustive" : "local"});
        now_s += job.time_s[d];
      }
    }
    schedules.push_back(std::move(schedule));
  }
  return schedules;
}

}  // namespace kernelcast::model
