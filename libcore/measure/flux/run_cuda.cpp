// Counting on an NVIDIA GPU: the instrumented module through the driver's own compiler; and what that costs in time.
//
// Method: the launches of a plan one after the other, as launch::run does, with the buffers copied to the device. After
// each launch the banks are read, added up and cleared. Times are those between two events around a launch.
#include <optional>
#include <utility>

#include "base/statistics/median.hpp"
#include "measure/flux/configurations.hpp"
#include "measure/flux/cuda_device.hpp"
#include "measure/flux/run.hpp"

namespace kernelcast::flux {

launch::Report count_on_cuda(launch::Plan const& plan, launch::RunOptions const& options, int number,
                             PlanOptions plan_options, Receiver const& receive) {
  CudaDevice device(number);
  auto const compiled = frontend::compile(plan.request);
  CudaBuffers const buffers(device, plan, options);
  CudaProgram program(device, compiled, plan_options);
  program.run(plan, buffers, [&](CudaLaunch const& launch) {
    if (!options.only_kernel.empty() && launch.row.kernel != options.only_kernel) return;
    receive({launch.row, *compiled.module,
             recover(*compiled.module, program.plan(), launch.kernel, launch.work_items, launch.words), 0});
  });
  launch::Report report;
  report.notes = compiled.notes;
  return report;
}

std::vector<record::CountOverhead> overhead_on_cuda(launch::Plan const& plan, launch::RunOptions const& options,
                                                    int number) {
  constexpr int repetitions = 11;  // and one more to warm up
  CudaDevice device(number);
  auto const compiled = frontend::compile(plan.request);
  CudaBuffers buffers(device, plan, options);
  PlanOptions every_block;
  every_block.scheme = Scheme::every_block;
  every_block.guards = false;
  CudaProgram programs[] = {
      {device, compiled, std::nullopt}, {device, compiled, PlanOptions{}}, {device, compiled, every_block}};
  auto const statics = statics_of(*compiled.module);
  struct Times {
    record::CountOverhead row;
    double sum[3] = {};
    std::vector<double> sums[3];  // by repetition
  };
  Configurations<Times> times;
  for (int r = 0; r <= repetitions; ++r)
    for (std::size_t p = 0; p < std::size(programs); ++p) {  // in turns: what else happens meets all three
      buffers.reset();
      for (auto& [launch, t] : times) t.sum[p] = 0, t.row.launches = 0;
      programs[p].run(plan, buffers, [&](CudaLaunch const& launch) {
        if (!options.only_kernel.empty() && launch.row.kernel != options.only_kernel) return;
        auto& t = times.of(launch.row);
        ++t.row.launches;
        t.sum[p] += launch.time_s;
      });
      for (auto& [launch, t] : times)
        if (r > 0) t.sums[p].push_back(t.sum[p]);
    }
  std::vector<record::CountOverhead> rows;
  for (auto& [launch, t] : times) {
    auto& row = rows.emplace_back(t.row);
    row.kernel = launch.kernel;
    row.case_name = launch.case_name;
    row.blocks = statics.at(launch.kernel).blocks;
    row.counters = statics.at(launch.kernel).counters;
    row.device = device.name();
    row.time_s = kernelcast::median(t.sums[0]);
    row.time_minimal_s = kernelcast::median(t.sums[1]);
    row.time_every_block_s = kernelcast::median(t.sums[2]);
    if (*row.time_s <= 0) continue;
    row.time_overhead = *row.time_minimal_s / *row.time_s;
    row.time_overhead_every_block = *row.time_every_block_s / *row.time_s;
  }
  return rows;
}

}  // namespace kernelcast::flux
