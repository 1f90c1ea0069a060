// The simulator against SimGrid, another solver: every flow fair on its own, no latency, no TCP effects (CM02, weight-S
// 0, crosstraffic 0). SimGrid has one engine per process, so each configuration runs in a child.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <ctime>

#include "catch.hpp"
#include "unit/models/graph/boxes.hpp"

#ifdef KERNELCAST_SIMGRID
#include <simgrid/s4u.hpp>
#endif

using namespace kernelcast;

#ifdef KERNELCAST_SIMGRID
namespace {

namespace sg4 = simgrid::s4u;

double simgrid_time_s(graph::Interconnect const& system, graph::Graph const& graph, std::vector<double> const& kernel_s,
                      graph::Placement const& placement) {
  std::string program = "oracle", quiet = "--log=root.thresh:critical";
  char* arguments[] = {program.data(), quiet.data(), nullptr};
  int count = 2;
  sg4::Engine engine(&count, arguments);
  for (auto const* setting :
       {"network/model:CM02", "network/TCP-gamma:0", "network/crosstraffic:0", "network/weight-S:0"})
    sg4::Engine::set_config(setting);
  auto* const zone = sg4::create_full_zone("box");
  std::vector<sg4::Link*> links;
  for (auto const& channel : system.channels()) {
    links.push_back(zone->create_link("c" + std::to_string(links.size()), channel.bytes_per_s));
    links.back()->set_latency(0)->seal();
  }
  std::vector<sg4::Host*> hosts;
  for (std::size_t e = 0; e < system.endpoint_count(); ++e) {
    hosts.push_back(zone->create_host(system.endpoint_name(e), 1e9));
    hosts.back()->seal();
  }
  for (std::size_t a = 0; a < hosts.size(); ++a)
    for (std::size_t b = 0; b < hosts.size(); ++b) {
      if (a == b) continue;
      std::vector<sg4::LinkInRoute> route;
      for (auto const channel : system.route(system.pair(a, b))) route.emplace_back(links[channel]);
      zone->add_route(hosts[a]->get_netpoint(), hosts[b]->get_netpoint(), nullptr, nullptr, route, false);
    }
  zone->seal();

  std::vector<sg4::ActivityPtr> activities;
  for (auto const& task : graph.tasks) {
    if (task.kind == graph::TaskKind::kernel)
      activities.push_back(sg4::Exec::init()->set_flops_amount(kernel_s[task.kernel] * 1e9));
    else
      activities.push_back(sg4::Comm::sendto_init()->set_payload_size(task.amount));
  }
  for (std::size_t t = 0; t < activities.size(); ++t)
    for (auto const next : graph.successors_of(t)) {
      if (graph.tasks[t].kind == graph::TaskKind::kernel)
        static_cast<sg4::Exec*>(activities[t].get())->add_successor(activities[next]);
      else
        static_cast<sg4::Comm*>(activities[t].get())->add_successor(activities[next]);
    }
  for (std::size_t t = 0; t < activities.size(); ++t) {
    auto const& task = graph.tasks[t];
    auto* const gpu = hosts[placement.gpu[task.part]];
    auto* const host = hosts[system.host(placement.host[task.part])];
    if (task.kind == graph::TaskKind::kernel) {
      auto* const exec = static_cast<sg4::Exec*>(activities[t].get());
      exec->vetoable_start();
      exec->set_host(gpu);
    } else {
      auto* const copy = static_cast<sg4::Comm*>(activities[t].get());
      copy->set_source(task.kind == graph::TaskKind::h2d ? host : gpu);
      copy->set_destination(task.kind == graph::TaskKind::h2d   ? gpu
                            : task.kind == graph::TaskKind::d2h ? host
                                                                : hosts[placement.gpu[task.to]]);
    }
  }
  engine.run();
  return sg4::Engine::get_clock();
}

// In a child; a negative time where it failed.
template <class Run>
double in_child(Run run) {
  int ends[2];
  if (pipe(ends) != 0) return -1;
  std::cout.flush();
  std::fflush(stdout);  // what is in the buffers is written once
  pid_t const child = fork();
  if (child == 0) {
    double time_s = -2;
    try {
      time_s = run();
    } catch (...) {
    }
    bool const sent = write(ends[1], &time_s, sizeof time_s) == static_cast<ssize_t>(sizeof time_s);
    _exit(sent ? 0 : 1);
  }
  close(ends[1]);
  double time_s = -3;
  if (read(ends[0], &time_s, sizeof time_s) != static_cast<ssize_t>(sizeof time_s)) time_s = -4;
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  return time_s;
}

}  // namespace
#endif

TEST_CASE("oracle: durations equal SimGrid's") {
#ifndef KERNELCAST_SIMGRID
  SKIP_BECAUSE("SimGrid is not installed (libsimgrid-dev)");
#else
  graph::SimulationOptions options;
  options.fair_copies = true;
  int configurations = 0;
  for (auto const* name : {"octane", "victoria", "brook", "dgx1-v100", "dgx-a100", "pcie4-8"}) {
    auto const system = test::box(name);
    for (auto const* app : {"matmul", "stencil", "nbody"})
      for (std::uint32_t const parts : {1U, 2U, 3U, 4U, 6U, 8U, 16U}) {
        if (parts > system.gpu_count()) continue;
        std::string misfit;
        double const n = 3000 + 1000.0 * parts;
        auto const g = test::application(app).graph(n, parts, 3, misfit);
        auto const kernel_s = graph::kernel_times(g, graph::supply(test::gpu("v100")), "v100");
        graph::Placement placement{test::in_order(parts), std::vector<std::size_t>(parts, 0)};
        for (std::size_t p = 0; p < parts; ++p) placement.host[p] = parts % 2 ? 0 : system.nearest_host(p);
        graph::Simulator simulator(system, options);
        simulator.prepare(g, kernel_s, placement);
        double const ours = simulator.run().time_s;
        double const theirs = in_child([&] { return simgrid_time_s(system, g, kernel_s, placement); });
        INFO(app << " on " << parts << " GPUs of " << name << ": ours " << ours << ", SimGrid's " << theirs);
        CHECK(ours == Approx(theirs).epsilon(1e-6));
        ++configurations;
      }
  }
  CHECK(configurations >= 40);
  std::printf("%d configurations\n", configurations);
#endif
}

// On request, and by make bench: processor time for a run on 16 GPUs of victoria, 20 iterations, both from the graph to
// the time.
TEST_CASE("oracle: SimGrid takes longer", "[.speed]") {
#ifndef KERNELCAST_SIMGRID
  SKIP_BECAUSE("SimGrid is not installed (libsimgrid-dev)");
#else
  graph::SimulationOptions options;
  options.fair_copies = true;
  auto const system = test::box("victoria");
  for (auto const* app : {"matmul", "stencil", "nbody"}) {
    std::string misfit;
    auto const g = test::application(app).graph(16384, 16, 20, misfit);
    auto const kernel_s = graph::kernel_times(g, graph::supply(test::gpu("v100")), "v100");
    graph::Placement const placement{test::in_order(16), std::vector<std::size_t>(16, 0)};
    auto const cpu_s = [](auto run) {
      std::clock_t const begin = std::clock();
      run();
      return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
    };
    std::vector<double> ratios;
    for (int pair = 0; pair < 5; ++pair) {
      int const times = 20;
      double const ours = cpu_s([&] {
                            for (int i = 0; i < times; ++i) {
                              graph::Simulator simulator(system, options);
                              simulator.prepare(g, kernel_s, placement);
                              simulator.run();
                            }
                          }) /
                          times;
      double const theirs = in_child([&] { return cpu_s([&] { simgrid_time_s(system, g, kernel_s, placement); }); });
      ratios.push_back(theirs / ours);
    }
    std::sort(ratios.begin(), ratios.end());
    std::printf("%s: SimGrid takes %.0f times the processor time (median of 5 pairs)\n", app, ratios[2]);
    CHECK(ratios[2] > 1);
  }
#endif
}
