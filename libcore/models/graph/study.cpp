#include "models/graph/study.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/diag/text.hpp"
#include "models/graph/split.hpp"
#include "records/table/table.hpp"

namespace kernelcast::graph {

namespace {

constexpr std::size_t max_graphs = 8;  // kept at a time

}  // namespace

std::string HostBuffer::text() const {
  return host ? fmt::format("host{}", *host) : "nearest";
}

void ProjectedTimes::add(record::Projection const& row) {
  if (row.time_s) times_[{row.kernel, row.device}][row.case_name] = *row.time_s;
}

std::optional<double> ProjectedTimes::of_case(std::string const& kernel, std::string const& gpu,
                                              std::string const& case_name) const {
  auto const at = times_.find({kernel, gpu});
  if (at == times_.end()) return std::nullopt;
  auto const found = at->second.find(case_name);
  return found == at->second.end() ? std::nullopt : std::optional(found->second);
}

std::optional<double> ProjectedTimes::only(std::string const& kernel, std::string const& gpu) const {
  auto const at = times_.find({kernel, gpu});
  return at == times_.end() || at->second.size() != 1 ? std::nullopt : std::optional(at->second.begin()->second);
}

std::map<double, double> ProjectedTimes::by_size(std::string const& kernel, std::string const& gpu) const {
  std::map<double, double> out;
  if (auto const at = times_.find({kernel, gpu}); at != times_.end())
    for (auto const& [case_name, time_s] : at->second)
      if (auto const n = to_number<double>(case_name)) out[*n] = time_s;
  return out;
}

Study::Study(Application const& application, Interconnect const& system, device::Device const& gpu,
             SimulationOptions const& options, std::uint32_t iterations, ProjectedTimes const* projected)
    : application_(&application),
      app_name_(application.name),
      system_(&system),
      gpu_(&gpu),
      options_(options),
      iterations_(application.loop.empty() ? 1 : iterations),
      projected_(projected),
      supply_(supply(gpu)),
      simulator_(system, options) {}

Study::Study(Graph graph, Interconnect const& system, device::Device const& gpu, SimulationOptions const& options,
             ProjectedTimes const* projected)
    : app_name_(graph.app),
      system_(&system),
      gpu_(&gpu),
      options_(options),
      projected_(projected),
      supply_(supply(gpu)),
      simulator_(system, options) {
  Key const key{graph.n, graph.parts, 1};
  graphs_.emplace(key, std::move(graph));
}

Study::Study(Recording recording, Interconnect const& system, device::Device const& gpu,
             SimulationOptions const& options, ProjectedTimes const* projected)
    : recording_(std::move(recording)),
      app_name_(recording_->app),
      system_(&system),
      gpu_(&gpu),
      options_(options),
      projected_(projected),
      supply_(supply(gpu)),
      simulator_(system, options) {}

void Study::set_system(Interconnect const& system) {
  system_ = &system;
  simulator_ = Simulator(system, options_);
}

std::vector<std::string> Study::kernels() const {
  std::vector<std::string> out;
  if (!recording_) return out;
  for (auto const& command : recording_->commands)
    if (command.kind == Command::Kind::kernel && std::ranges::find(out, command.kernel) == out.end())
      out.push_back(command.kernel);
  return out;
}

void Study::set_kernel_parts(KernelParts of_kernels) {
  if (of_kernels == kernel_parts_) return;
  kernel_parts_ = std::move(of_kernels);
  graphs_.clear();
}

Graph const& Study::graph(double n, std::uint32_t parts, std::uint32_t iterations) {
  if (!divisible()) return graphs_.begin()->second;
  Key const key{n, parts, iterations};
  if (auto const found = graphs_.find(key); found != graphs_.end()) return found->second;
  if (graphs_.size() >= max_graphs) graphs_.clear();
  if (recording_) return graphs_.emplace(key, split(*recording_, parts, kernel_parts_)).first->second;
  std::string misfit;
  auto const at = graphs_.emplace(key, application_->graph(n, parts, iterations, misfit)).first;
  misfits_[{n, parts}] = misfit;
  return at->second;
}

std::string Study::infeasible(double n, std::uint32_t parts) {
  if (parts > system_->gpu_count()) return fmt::format("{} has {} GPUs", system_->name(), system_->gpu_count());
  auto const& g = graph(n, parts, 1);
  if (auto const misfit = misfits_.find({n, parts}); misfit != misfits_.end() && !misfit->second.empty())
    return misfit->second;
  if (!gpu_->memory_bytes) return {};
  for (std::uint32_t part = 0; part < g.memory_bytes.size(); ++part)
    if (g.memory_bytes[part] > *gpu_->memory_bytes)
      return fmt::format("part ({},{}) needs {} bytes, a {} has {}", part / g.part_columns, part % g.part_columns,
                         record::number_text(g.memory_bytes[part]), gpu_->device,
                         record::number_text(*gpu_->memory_bytes));
  return {};
}

Placement Study::placement(std::vector<std::size_t> const& map, HostBuffer const& buffer) const {
  Placement out{map, {}};
  for (auto const gpu : map) out.host.push_back(buffer.host ? *buffer.host : system_->nearest_host(gpu));
  return out;
}

// Times of another model: those of the very parts, else (3.1) times how much the model differs from it at this size,
// between sizes linearly in log n.
std::vector<double> Study::times(Graph const& g) {
  std::vector<double> out;
  double largest = 0;
  for (auto const& kernel : g.kernels) largest = std::max(largest, kernel.elements);
  std::map<std::string, double> correction;
  for (auto const& kernel : g.kernels) {
    if (projected_ && !application_) {
      if (auto const time_s = projected_->only(kernel.name, gpu_->device)) {
        out.push_back(recording_ ? *time_s * kernel.elements : *time_s);
        continue;
      }
    }
    if (projected_ && application_) {
      auto const parts = fmt::format("{}/{}", record::number_text(g.n), g.parts);
      if (auto const time_s = projected_->of_case(kernel.name, gpu_->device, parts)) {
        out.push_back(*time_s * kernel.elements / largest);
        continue;
      }
      auto const [at, is_new] = correction.try_emplace(kernel.name, 1);
      if (is_new) {
        std::vector<std::pair<double, double>> points;  // log n, quotient
        for (auto const& [n, time_s] : projected_->by_size(kernel.name, gpu_->device)) {
          std::string misfit;
          auto const whole = application_->graph(n, 1, 1, misfit);
          for (auto const& k : whole.kernels)
            if (k.name == kernel.name)
              points.emplace_back(std::log(n), time_s / kernel_time_s(k.demand, supply_, gpu_->device));
        }
        if (!points.empty()) {
          double const x = std::clamp(std::log(g.n), points.front().first, points.back().first);
          at->second = points.front().second;
          for (std::size_t i = 1; i < points.size(); ++i)
            if (x > points[i - 1].first)
              at->second = points[i - 1].second +
                           (points[i].second - points[i - 1].second) *
                               std::min(1.0, (x - points[i - 1].first) / (points[i].first - points[i - 1].first));
        }
      }
      out.push_back(at->second * kernel_time_s(kernel.demand, supply_, gpu_->device));
      continue;
    }
    if (!kernel.time_s && std::all_of(kernel.demand.begin(), kernel.demand.end(), [](double d) { return d == 0; }) &&
        !application_)
      throw Error(Status::bad_data, kernel.where, fmt::format("kernel '{}' cannot be costed", kernel.name),
                  fmt::format("give it time_s or demands, or a time for kernel '{}' on '{}' with --times", kernel.name,
                              gpu_->device));
    out.push_back(kernel.time_s ? *kernel.time_s : kernel_time_s(kernel.demand, supply_, gpu_->device));
  }
  return out;
}

SimulationResult Study::simulate(double n, std::uint32_t parts, Placement const& placement,
                                 std::vector<Event>* events) {
  if (events || iterations_ == 1) {
    auto const& g = graph(n, parts, iterations_);
    simulator_.prepare(g, times(g), placement);
    return simulator_.run(events);
  }
  return simulate_periodic(
      simulator_, iterations_, [&](std::uint32_t k) -> Graph const& { return graph(n, parts, k); },
      [&](Graph const& g) { return times(g); }, placement);
}

double Study::estimate_s(double n, std::uint32_t parts, Placement const& placement) {
  if (iterations_ <= 12) return simulate(n, parts, placement).time_s;
  auto const time_s = [&](std::uint32_t iterations) {
    auto const& g = graph(n, parts, iterations);
    simulator_.prepare(g, times(g), placement);
    return simulator_.run().time_s;
  };
  double const four = time_s(4), eight = time_s(8);
  return eight + (iterations_ - 8) * (eight - four) / 4;
}

double Study::lower_bound_s(double n, std::uint32_t parts) {
  // Widest routes by kind of copy.
  double host = 0, peer = 0;
  for (std::size_t gpu = 0; gpu < system_->gpu_count(); ++gpu) {
    for (std::size_t h = 0; h < system_->host_count(); ++h) {
      host = std::max(host, system_->width(system_->pair(system_->host(h), gpu)));
      host = std::max(host, system_->width(system_->pair(gpu, system_->host(h))));
    }
    for (std::size_t other = 0; other < system_->gpu_count(); ++other)
      if (other != gpu) peer = std::max(peer, system_->width(system_->pair(gpu, other)));
  }
  auto const bound = [&](std::uint32_t iterations) {
    auto const& g = graph(n, parts, iterations);
    auto const kernel_s = times(g);
    std::vector<double> ready(g.tasks.size(), 0);
    double last = 0, host_s = 0;
    for (std::size_t t = 0; t < g.tasks.size(); ++t) {  // tasks of an application are in topological order
      auto const& task = g.tasks[t];
      double takes = 0;
      if (task.kind == TaskKind::kernel)
        takes = options_.host_overhead_s + kernel_s[task.kernel] + options_.launch_overhead_s;
      else if (task.kind != TaskKind::join)
        takes = options_.host_overhead_s + task.amount / (task.kind == TaskKind::d2d ? peer : host) +
                options_.copy_overhead_s;
      if (task.kind != TaskKind::join) host_s += options_.host_overhead_s;
      last = std::max(last, ready[t] + takes);
      for (auto const next : g.successors_of(t)) ready[next] = std::max(ready[next], ready[t] + takes);
    }
    return std::max(last, host_s);
  };
  return application_ ? bound(iterations_) * (1 - 1e-12) : 0;
}

}  // namespace kernelcast::graph
