// Advice on every distinct launch of an application, while it runs.
//
// Problem: [panwar] IV is a technique for running applications: launches are caught, emulated in miniature and
// projected, and a device is chosen while the choice still matters.
// Method: the application runs with the layer of runtimes/attach/opencl in it, and leaves its launches in a spool; one
// in CUDA runs on the emulator in place of a GPU and leaves their counts there, or, where there is a GPU, is observed.
// A worker process counts them (worker.hpp), this one projects the counts onto devices and reports. Nothing in the
// application waits for either. With a budget both together use no more processor time than a share of the
// application's run time (budget.hpp); launches that do not fit are reported. Limits: what the layer, or the runtime
// on the emulator, costs inside the application is not part of the budget.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "records/advice.hpp"
#include "runtimes/advise/projections.hpp"
#include "runtimes/advise/steering.hpp"
#include "runtimes/advise/worker.hpp"
#include "runtimes/attach/attach.hpp"

namespace kernelcast::advise {

struct OnlineOptions {
  std::vector<std::string> command;  // the application and its arguments
  std::vector<device::Device const*> devices;
  model::queue::Options model;
  std::optional<double> budget_share;  // of the run time; empty: no bound, all launches are counted
  WorkerOptions worker;
  std::optional<SteeringOptions> steering;  // send launches to other devices of the application's
  bool with_gpu = false;   // applications in CUDA run on the GPU that there is; otherwise on the emulator
  attach::SeenDevices as;  // of applications on the emulator
  std::string database;    // the folder of the device database that describes those
  unsigned threads = 1;    // of the emulator that they run on
  std::function<void(record::Advice const&)> report;  // called with each row as soon as it is known
};

struct Online {
  int status = 0;                          // of the application; 128 + signal where a signal ended it
  std::vector<record::Projection> totals;  // of all launches that were counted: per configuration, all devices
  double run_s = 0;                        // of the application
  double advice_cpu_s = 0;                 // of this process, the worker and its compilers
  std::vector<record::Steering> steering;  // of each configuration
  std::vector<std::string> remarks;        // on devices that could not be steered to
  std::uint64_t launches = 0, configurations = 0, advised = 0, from_cache = 0;
};

// Runs the application to its end. Throws Error: usage (an empty command), io (it cannot be started), unavailable (no
// layer).
Online run_online(OnlineOptions const&);

}  // namespace kernelcast::advise
