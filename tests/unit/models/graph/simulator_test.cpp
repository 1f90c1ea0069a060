// Simulations against closed forms, and what must hold of every one.
#include <cmath>
#include <map>

#include "boxes.hpp"
#include "catch.hpp"

using namespace kernelcast;
using test::application;
using test::box;
using test::in_order;
using test::link;

namespace {

// Two GPUs on one switch with the host, 10 and 20 bytes per second; host memory 100 both ways together.
graph::Interconnect small(double latency_s = 0) {
  return test::made_of({link("m", "switch0", "host0", 100, true, latency_s),
                        link("p0", "switch0", "gpu0", 10, false, latency_s),
                        link("p1", "switch0", "gpu1", 20, false, latency_s)});
}

graph::Graph graph_of(std::vector<graph::Task> tasks, std::vector<double> kernel_s,
                      std::vector<std::pair<std::uint32_t, std::uint32_t>> const& edges) {
  graph::Graph g;
  g.tasks = std::move(tasks);
  for (std::size_t i = 0; i < g.tasks.size(); ++i) {
    g.tasks[i].name = static_cast<std::uint32_t>(i);
    g.names.push_back("t" + std::to_string(i));
  }
  for (double const s : kernel_s) g.kernels.push_back({"k", {}, 1, s, {}});
  g.parts = g.part_columns = 2;
  graph::set_edges(g, edges);
  return g;
}

double run(graph::Interconnect const& system, graph::Graph const& g, graph::SimulationOptions const& options = {},
           std::vector<graph::Event>* events = nullptr) {
  graph::Simulator simulator(system, options);
  simulator.prepare(g, graph::kernel_times(g, {}, "none"), {{0, 1}, {0, 0}});
  return simulator.run(events).time_s;
}

using graph::TaskKind;
graph::Task in(std::uint32_t part, double bytes) {
  return {TaskKind::h2d, 0, part, 0, 0, bytes, 0};
}
graph::Task across(std::uint32_t from, std::uint32_t to, double bytes) {
  return {TaskKind::d2d, 0, from, to, 0, bytes, 0};
}
graph::Task kernel(std::uint32_t part, std::uint32_t which) {
  return {TaskKind::kernel, 0, part, 0, 0, 0, which};
}

}  // namespace

TEST_CASE("simulator: one copy, two that share a link, a chain") {
  auto const system = small();
  CHECK(run(system, graph_of({in(0, 50)}, {}, {})) == Approx(5));
  // The pair shares its rate of 10: the short one ends at 4, the long one then has all of it.
  std::vector<graph::Event> events;
  CHECK(run(system, graph_of({in(0, 20), in(0, 60)}, {}, {}), {}, &events) == Approx(8));
  CHECK(events[0].end_s == Approx(4));
  // Copies that end at GPU 1 from host and GPU 0: 10 each of its 20; the host's goes on with 20 when the other is done.
  CHECK(run(system, graph_of({across(0, 1, 50), in(1, 100)}, {}, {})) == Approx(7.5));
  CHECK(run(system, graph_of({in(0, 50), kernel(0, 0), across(0, 1, 30), kernel(1, 1)}, {2, 4},
                             {{0, 1}, {1, 2}, {2, 3}})) == Approx(5 + 2 + 3 + 4));
}

TEST_CASE("simulator: copies as connections of their own") {
  graph::SimulationOptions copies;
  copies.fair_copies = true;
  auto const g = graph_of({in(1, 60), in(1, 60), across(0, 1, 60)}, {}, {});
  // 20 into GPU 1: by pair 10, and 5 for each of the two; by copy 20/3 each.
  CHECK(run(small(), g) == Approx(9));
  CHECK(run(small(), g, copies) == Approx(9));
  std::vector<graph::Event> pairs, each;
  run(small(), g, {}, &pairs);
  run(small(), g, copies, &each);
  CHECK(pairs[0].end_s == Approx(6));
  CHECK(each[0].end_s == Approx(9));
}

TEST_CASE("simulator: latency, overheads and engines") {
  auto const g = graph_of({in(0, 50), kernel(0, 0)}, {2}, {{0, 1}});
  graph::SimulationOptions options;
  options.launch_overhead_s = 0.5;
  options.copy_overhead_s = 0.25;
  CHECK(run(small(1), g, options) == Approx(2 + 0.25 + 5 + 0.5 + 2));
  // The host starts one thing after the other, each when what it waits for is done.
  graph::SimulationOptions host;
  host.host_overhead_s = 0.5;
  CHECK(run(small(1), g, host) == Approx(0.5 + 2 + 5 + 0.5 + 2));
  std::vector<graph::Event> started;
  CHECK(run(small(), graph_of({kernel(0, 0), kernel(1, 0), kernel(1, 0)}, {2}, {}), host, &started) ==
        Approx(1 + 2 + 2));
  CHECK(started[0].start_s == Approx(0.5));
  CHECK(started[1].start_s == Approx(1));
  CHECK(started[2].start_s == Approx(3));
  graph::SimulationOptions one_engine;
  one_engine.copy_engines = 1;
  auto const two = graph_of({in(0, 20), in(0, 60)}, {}, {});
  std::vector<graph::Event> events;
  CHECK(run(small(), two, one_engine, &events) == Approx(8));
  CHECK(events[0].end_s == Approx(2));
  CHECK(events[1].start_s == Approx(2));
  // One direction does not hold up the other.
  auto const both = graph_of({in(0, 50), across(0, 1, 50)}, {}, {});
  CHECK(run(small(), both, one_engine) == Approx(5));
}

TEST_CASE("simulator: kernels of one GPU run one after the other, joins and empty copies take no time") {
  auto const g = graph_of({kernel(0, 0), kernel(0, 1), {TaskKind::join, 0, 0, 0, 0, 0, 0}, in(1, 0), kernel(1, 0)},
                          {2, 3}, {{2, 3}, {3, 4}});
  std::vector<graph::Event> events;
  CHECK(run(small(), g, {}, &events) == Approx(5));
  CHECK(events.size() == 5);
}

TEST_CASE("simulator: the work is done, whatever the application, system and mode") {
  for (auto const* app : {"matmul", "stencil", "nbody"})
    for (auto const* name : {"octane", "victoria", "brook", "dgx1-v100", "dgx-a100", "hgx-h100", "hgx-h200", "pcie4-8",
                             "pcie5-8", "dgx-a100-x2"})
      for (auto const how : {graph::Allocation::maxmin, graph::Allocation::seed, graph::Allocation::rounds}) {
        auto const system = box(name);
        auto const a = application(app);
        graph::SimulationOptions options;
        options.allocation = how;
        graph::Simulator simulator(system, options);
        for (std::uint32_t parts = 1; parts <= system.gpu_count(); parts += 3) {
          std::string misfit;
          auto const g = a.graph(5000, parts, 5, misfit);
          auto const times = graph::kernel_times(g, graph::supply(test::gpu("a100")), "a100");
          simulator.prepare(g, times, {in_order(parts), std::vector<std::size_t>(parts, 0)});
          std::vector<graph::Event> events;
          auto const result = simulator.run(&events);
          double kernels = 0, work_s = 0;
          for (auto const& task : g.tasks)
            if (task.kind == TaskKind::kernel) {
              ++kernels;
              work_s += times[task.kernel];
            }
          INFO(app << " on " << name << ", " << parts << " GPUs");
          REQUIRE(result.bytes == Approx(g.bytes_copied()).epsilon(1e-9));
          REQUIRE(result.kernels_done == kernels);
          REQUIRE(result.kernels_done + result.copies_done == static_cast<double>(g.tasks.size()));
          // Nothing runs before what it waits for; kernel time is kernel time.
          std::vector<double> start(g.tasks.size()), end(g.tasks.size());
          double ran_s = 0;
          for (auto const& e : events) {
            start[e.task] = e.start_s;
            end[e.task] = e.end_s;
            if (g.tasks[e.task].kind == TaskKind::kernel) ran_s += e.end_s - e.start_s;
          }
          REQUIRE(ran_s == Approx(work_s).epsilon(1e-9));
          for (std::size_t t = 0; t < g.tasks.size(); ++t)
            for (auto const next : g.successors_of(t)) REQUIRE(start[next] >= end[t]);
          if (parts == 1)
            for (auto const& task : g.tasks) REQUIRE(task.kind != TaskKind::d2d);
          // Operations do not depend on the split, up to halos of nothing.
          auto const whole = a.graph(5000, 1, 5, misfit);
          REQUIRE(g.operations(3) == Approx(whole.operations(3)).epsilon(1e-12));
        }
      }
}

TEST_CASE("simulator: links c times as fast, copies c times as short") {
  for (auto const* app : {"matmul", "stencil", "nbody"})
    for (double const c : {0.25, 3.0}) {
      auto const slow = box("victoria");
      auto const fast = slow.scaled("", c);
      std::string misfit;
      auto g = application(app).graph(8192, 12, 4, misfit);
      std::vector<double> const no_time(g.kernels.size(), 0);
      std::vector<graph::Event> before, after;
      graph::Simulator a(slow, {}), b(fast, {});
      graph::Placement const placement{in_order(12), std::vector<std::size_t>(12, 0)};
      a.prepare(g, no_time, placement);
      b.prepare(g, no_time, placement);
      a.run(&before);
      b.run(&after);
      std::map<std::uint32_t, double> lasted;
      for (auto const& e : before) lasted[e.task] = e.end_s - e.start_s;
      for (auto const& e : after)
        REQUIRE((e.end_s - e.start_s) * c == Approx(lasted[e.task]).epsilon(1e-9).margin(1e-15));
    }
}

TEST_CASE("simulator: repeated iterations continued equal all of them simulated") {
  for (auto const* app : {"stencil", "nbody"})
    for (auto const* name : {"octane", "victoria", "brook"}) {
      auto const system = box(name);
      auto const a = application(app);
      graph::Study study(a, system, test::gpu("v100"), {}, 60);
      for (std::uint32_t parts = 1; parts <= system.gpu_count(); ++parts)
        for (double const n : {4096.0, 20000.0}) {
          auto const placement = study.placement(in_order(parts), {0});
          std::vector<graph::Event> events;
          auto const all = study.simulate(n, parts, placement, &events);
          auto const few = study.simulate(n, parts, placement);
          INFO(app << " on " << name << ", " << parts << " GPUs, n " << n);
          REQUIRE(few.time_s == Approx(all.time_s).epsilon(1e-9));
          REQUIRE(few.compute_s == Approx(all.compute_s).epsilon(1e-9));
          REQUIRE(few.copy_s == Approx(all.copy_s).epsilon(1e-6));
          REQUIRE(few.bytes == Approx(all.bytes).epsilon(1e-9));
        }
    }
}
