#include "models/graph/report.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "pictures/timeline/timeline.hpp"
#include "records/table/table.hpp"

namespace kernelcast::graph {

std::string map_text(std::vector<std::size_t> const& map) {
  return fmt::format("{}", fmt::join(map, ";"));
}

std::string bottleneck(SimulationResult const& result, Interconnect const& system) {
  int const channel = result.bottleneck();
  return channel < 0 ? std::string() : system.channels()[static_cast<std::size_t>(channel)].name;
}

record::Simulation simulation(Study& study, double n, std::uint32_t parts, std::string const& gpu,
                              std::string const& alloc, Placement const& placement, HostBuffer const& buffer,
                              SimulationResult const* result, std::string const& reason) {
  record::Simulation out;
  out.app = study.app();
  out.n = n;
  out.gpus = parts;
  out.gpu = gpu;
  out.system = study.system().name();
  out.alloc = alloc;
  out.map = map_text(placement.gpu);
  out.host_buffer = buffer.text();
  out.iterations = study.iterations();
  if (!result) {
    out.status = record::RowStatus::infeasible;
    out.reason = reason;
    return out;
  }
  out.time_s = result->time_s;
  out.compute_s = result->compute_s;
  out.copy_s = result->copy_s;
  out.bottleneck_link = bottleneck(*result, study.system());
  out.copied_bytes = std::round(result->bytes);  // rates add up to whole bytes but for rounding
  return out;
}

DonePoints::Key DonePoints::key(record::Simulation const& row) {
  return {row.app,   row.n,   row.gpus,        row.gpu,        row.system,
          row.alloc, row.map, row.host_buffer, row.iterations, row.clock_hz};
}

void DonePoints::add(record::Simulation const& row) {
  rows_.insert_or_assign(key(row), row);
}

record::Simulation const* DonePoints::find(record::Simulation const& point) const {
  auto const at = rows_.find(key(point));
  return at == rows_.end() ? nullptr : &at->second;
}

record::Choice choice(Study& study, double n, std::string const& gpu, Choice const& chosen) {
  auto const& best = chosen.best.front();
  record::Choice out;
  out.app = study.app();
  out.n = n;
  out.gpu = gpu;
  out.system = study.system().name();
  out.gpus = best.parts;
  out.time_s = best.time_s;
  out.model = "simulation";
  out.map = map_text(best.map);
  out.host_buffer = best.buffer.text();
  out.bottleneck_link =
      bottleneck(study.simulate(n, best.parts, study.placement(best.map, best.buffer)), study.system());
  out.search = chosen.exhaustive ? "exhaustive" : "local";
  out.lower_bound_s = chosen.lower_bound_s;
  if (chosen.best.size() > 1) {
    auto const& second = chosen.best[1];
    out.runner_up_gpus = second.parts;
    out.margin_pct = 100 * (second.time_s / best.time_s - 1);
    out.runner_up_map = map_text(second.map);
    out.runner_up_host_buffer = second.buffer.text();
  }
  return out;
}

std::vector<record::Sensitivity> sensitivities(Study& study, double n, std::string const& gpu, Choice const& chosen) {
  std::vector<record::Sensitivity> out;
  auto const& nominal = study.system();
  for (auto const& link_class : nominal.classes())
    for (double const factor : {0.75, 1.25}) {
      auto const changed = nominal.scaled(link_class, factor);
      study.set_system(changed);
      auto const& kept = chosen.best.front();
      auto const now = choose_again(study, n, chosen.best);
      double const kept_s = study.simulate(n, kept.parts, study.placement(kept.map, kept.buffer)).time_s;
      out.push_back({study.app(), n, gpu, nominal.name(), link_class, factor, now.parts, now.time_s,
                     100 * (kept_s / now.time_s - 1)});
      study.set_system(nominal);
    }
  return out;
}

std::string sensitive_to(std::vector<record::Sensitivity> const& rows, std::uint64_t gpus) {
  std::vector<std::string> out;
  for (auto const& row : rows)
    if (row.gpus != gpus)
      out.push_back(fmt::format("{}{}:{}", row.link_class, row.bandwidth_factor < 1 ? '-' : '+', row.gpus));
  return fmt::format("{}", fmt::join(out, ";"));
}

namespace {

// The first lane that is free at `start_s`; lanes hold when each becomes free.
std::size_t lane(std::vector<double>& lanes, double start_s, double end_s) {
  std::size_t free = 0;
  while (free < lanes.size() && lanes[free] > start_s) ++free;
  if (free == lanes.size()) lanes.push_back(0);
  lanes[free] = end_s;
  return free;
}

}  // namespace

void write_timeline(std::ostream& out, Graph const& graph, std::vector<Event> const& events, Placement const& placement,
                    Interconnect const& system) {
  timeline::ChromeTrace trace(out);
  std::vector<std::vector<double>> lanes(system.gpu_count());
  std::vector<std::size_t> named(system.gpu_count(), 0);
  for (std::size_t g = 0; g < system.gpu_count(); ++g) {
    trace.name_process(g, system.endpoint_name(g));
    trace.name_thread(g, 0, "kernels");
  }
  auto ordered = events;
  std::sort(ordered.begin(), ordered.end(), [](auto const& a, auto const& b) {
    return a.start_s != b.start_s ? a.start_s < b.start_s : a.task < b.task;
  });
  for (auto const& e : ordered) {
    auto const& task = graph.tasks[e.task];
    if (task.kind == TaskKind::join) continue;
    std::size_t const gpu = placement.gpu[task.part];
    std::size_t thread = 0;
    timeline::Arguments arguments{{"kind", std::string(name(task.kind))}};
    if (task.kind != TaskKind::kernel) {
      thread = 1 + lane(lanes[gpu], e.start_s, e.end_s);
      if (thread > named[gpu]) {
        trace.name_thread(gpu, thread, fmt::format("copies {}", thread));
        named[gpu] = thread;
      }
      auto const other = task.kind == TaskKind::d2d ? placement.gpu[task.to] : system.host(placement.host[task.part]);
      arguments.emplace_back(task.kind == TaskKind::h2d ? "from" : "to", system.endpoint_name(other));
      arguments.emplace_back("bytes", record::number_text(task.amount));
    }
    trace.span(gpu, thread, graph.label(e.task), e.start_s * 1e6, (e.end_s - e.start_s) * 1e6, arguments);
  }
  trace.finish();
}

}  // namespace kernelcast::graph
