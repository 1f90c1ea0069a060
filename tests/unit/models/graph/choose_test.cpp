// The choice against all maps and placements simulated.
#include <algorithm>

#include "boxes.hpp"
#include "catch.hpp"

using namespace kernelcast;

namespace {

// The least time of a number of parts over every map and placement of host buffers.
double brute_force(graph::Study& study, double n, std::uint32_t parts) {
  auto const& system = study.system();
  std::vector<graph::HostBuffer> buffers{{}};
  for (std::size_t h = 0; h < system.host_count(); ++h) buffers.push_back({h});
  double best = 1e300;
  std::vector<std::size_t> order = test::in_order(system.gpu_count());
  do {
    // The GPUs behind the parts count once, whatever their order.
    if (!std::is_sorted(order.begin() + parts, order.end())) continue;
    std::vector<std::size_t> const map(order.begin(), order.begin() + parts);
    for (auto const& buffer : buffers)
      best = std::min(best, study.simulate(n, parts, study.placement(map, buffer)).time_s);
  } while (std::next_permutation(order.begin(), order.end()));
  return best;
}

graph::ChooseOptions everything(graph::Interconnect const& system) {
  graph::ChooseOptions out;
  for (std::uint32_t g = 1; g <= system.gpu_count(); ++g) out.gpus.push_back(g);
  for (std::size_t h = 0; h < system.host_count(); ++h) out.buffers.push_back({h});
  out.buffers.emplace_back();
  return out;
}

}  // namespace

TEST_CASE("choose: no map or placement of 4 GPUs is faster") {
  auto const system = test::box("octane");
  for (auto const* app : {"matmul", "stencil", "nbody"})
    for (double const n : {1024.0, 9000.0, 30000.0}) {
      auto const a = test::application(app);
      graph::Study study(a, system, test::gpu("p100"), {}, 30);
      auto const chosen = graph::choose(study, n, everything(system));
      double best = 1e300;
      for (std::uint32_t parts = 1; parts <= 4; ++parts)
        if (study.infeasible(n, parts).empty()) best = std::min(best, brute_force(study, n, parts));
      INFO(app << ", n " << n);
      CHECK(chosen.exhaustive);
      CHECK(chosen.best.front().time_s == Approx(best).epsilon(1e-6));
      CHECK(chosen.lower_bound_s <= best);
      if (chosen.best.size() > 1) CHECK(chosen.best[1].time_s >= chosen.best[0].time_s);
    }
}

TEST_CASE("choose: lower bounds are below every simulated time") {
  for (auto const* name : {"victoria", "dgx1-v100"}) {
    auto const system = test::box(name);
    for (auto const* app : {"matmul", "stencil", "nbody"}) {
      auto const a = test::application(app);
      graph::Study study(a, system, test::gpu("v100"), {}, 20);
      for (std::uint32_t parts = 1; parts <= 8; ++parts)
        for (std::size_t const host : {std::size_t{0}, std::size_t{1}})
          CHECK(study.lower_bound_s(6000, parts) <=
                study.simulate(6000, parts, study.placement(test::in_order(parts), {host})).time_s);
    }
  }
}
