// A compute graph, as JSON or DOT. What can be read is simulated, and what is written of it can be read again.
#include <sstream>

#include "base/diag/diag.hpp"
#include "fuzz.hpp"
#include "models/graph/graph_file.hpp"
#include "models/graph/study.hpp"
#include "models/graph/system_file.hpp"
#include "records/device/device.hpp"

namespace kernelcast::fuzz {

namespace {

graph::Interconnect make_system() {
  std::istringstream in(
      "link,from,to,bandwidth_bytes_per_s,latency_s,duplex,source,assumed\n"
      "a,switch0,gpu0,1e10,1e-6,full,,\nb,switch0,gpu1,1e10,,shared,,\nc,switch0,gpu2,2e10,,full,,\nm,host0,switch0,"
      "5e10,,shared,,\n");
  return graph::read_system_file("fuzz.csv", in);
}

void read_again(graph::Graph const& graph, std::vector<double> const& times, graph::GraphFormat format) {
  std::ostringstream out;
  graph::write_graph(out, graph, times, "k20", format);
  std::istringstream in(out.str());
  try {
    graph::read_graph("written", in);
  } catch (Error const& error) {
    defect(error.text("fuzz") + out.str());
  }
}

void simulate(graph::Study& study, std::uint32_t parts) {
  if (!study.infeasible(0, parts).empty()) return;
  std::vector<std::size_t> map(parts);
  for (std::size_t i = 0; i < map.size(); ++i) map[i] = i;
  auto const placement = study.placement(map, {});
  study.simulate(0, parts, placement);
}

}  // namespace

void run_input(std::string_view input) {
  static auto const database = once([] { return device::load(small_database()); });
  static auto const gpu = once([] { return database.find("k20"); });
  static auto const system = once(make_system);
  TextStream in(input);
  auto file = graph::read_graph_file("fuzz", in);
  if (file.recording) {
    graph::Study study(std::move(*file.recording), system, gpu, {});
    for (std::uint32_t const parts : {1U, 3U}) simulate(study, parts);
    return;
  }
  graph::Study study(file.graph, system, gpu, {});
  auto const times = study.times(file.graph);
  for (auto const format : {graph::GraphFormat::json, graph::GraphFormat::dot}) read_again(file.graph, times, format);
  simulate(study, file.graph.parts);
}

}  // namespace kernelcast::fuzz
