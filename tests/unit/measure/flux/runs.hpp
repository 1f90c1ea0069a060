// A kernel counted in every way there is.
#pragma once

#include <cstdlib>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "base/process/process.hpp"
#include "kernels/ptx/parser.hpp"
#include "launches.hpp"
#include "measure/flux/instrument.hpp"
#include "measure/flux/run.hpp"

namespace flux_test {

using namespace kernelcast;

class Scratch {
 public:
  std::string file(std::string const& name, std::string const& text) const {
    auto path = folder_.file(name);
    std::ofstream(path) << text;
    return path;
  }

 private:
  TemporaryFolder folder_;
};

inline launch::Plan plan_for(std::string const& path, std::string const& grid, std::string const& local,
                             std::vector<std::string> const& arguments, std::vector<std::string> const& bindings = {}) {
  return plain_plan({.path = path, .grid = grid, .local = local, .arguments = arguments, .bindings = bindings});
}

struct Way {
  std::map<std::string, std::uint64_t> lanes, warps;  // by opcode
  std::uint64_t issues = 0;
};

inline Way way_of(flux::CountedRun const& run) {
  Way way;
  for (auto const& [opcode, lanes, warps] : flux::by_opcode(run.module, run.counts)) {
    way.lanes[opcode] = lanes;
    way.warps[opcode] = warps;
  }
  way.issues = run.issues;
  return way;
}

struct Ways {
  Way emulator, minimal, every_block;
};

// Counters do not change results: the buffers of the first run are compared with those of the others.
inline Ways count_all_ways(launch::Plan const& plan, Scratch const& scratch) {
  Ways ways;
  launch::RunOptions options;
  options.limits.max_steps = 200'000'000;
  for (std::size_t b = 0; b < plan.buffers.size(); ++b)
    options.dumps.push_back(launch::parse_dump(std::to_string(b) + "=" + scratch.file(std::to_string(b), "")));
  auto const checks = options.dumps;
  flux::count(plan, options, flux::Sample::all, [&](auto const& run) { ways.emulator = way_of(run); });
  options.dumps.clear();
  options.checks = checks;
  flux::count_instrumented(plan, options, {}, [&](auto const& run) { ways.minimal = way_of(run); });
  flux::PlanOptions every;
  every.scheme = flux::Scheme::every_block;
  every.warps = true;
  flux::count_instrumented(plan, options, every, [&](auto const& run) { ways.every_block = way_of(run); });
  return ways;
}

// What ptxas says about a module, empty where it is content; none without ptxas.
inline bool have_ptxas() {
  return std::system("ptxas --version >/dev/null 2>&1") == 0;
}
inline bool ptxas_accepts(std::string const& path, std::string const& arch) {
  return std::system(("ptxas -arch=" + arch + " -o /dev/null '" + path + "' >/dev/null 2>&1").c_str()) == 0;
}

}  // namespace flux_test
