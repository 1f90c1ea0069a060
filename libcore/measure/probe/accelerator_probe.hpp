// The benchmarks of OpenCL and CUDA devices; accelerator_probe.cpp describes how they are made.
#pragma once

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "measure/probe/accelerator.hpp"
#include "measure/probe/catalogue.hpp"
#include "records/device.hpp"

namespace kernelcast::probe {

using Buffer = std::shared_ptr<DeviceBuffer>;

constexpr std::uint64_t gpu_group = 256;
// Work-groups for each unit of a CPU: PoCL gives up to 32 at a time to one thread.
constexpr std::uint64_t cpu_groups = 64;

class AcceleratorProbe final : public Probe {
 public:
  explicit AcceleratorProbe(std::unique_ptr<Accelerator> device) : device_(std::move(device)) {
    facts_ = device_->facts();
    cpu_ = facts_.kind == "cpu";
    units_ = std::max<std::uint64_t>(1, facts_.compute_units);
    group_ = cpu_ ? 1 : std::min(gpu_group, std::max<std::uint64_t>(1, facts_.max_group_size));
  }
  std::optional<double> clock_hz() override;
  std::vector<Point> plan(Settings const& settings) override;

 private:
  Point& add(std::string bench, std::string metric);
  Buffer words(std::vector<std::uint32_t> const& contents);
  Buffer random_buffer(std::uint64_t bytes);
  // Shared by several points; made at the first use.
  std::shared_ptr<Buffer> lazy();
  struct Lazy {
    std::shared_ptr<DeviceKernel> kernel;
    Buffer in, out;
    std::uint64_t iterations = 0;
  };
  std::shared_ptr<DeviceKernel> kernel(std::string const& entry, std::string const& function,
                                       std::vector<std::string> const& macros);
  // What a launch should take: long against the timer; on CPUs against the time until all threads are awake.
  double sample_s() const { return cpu_ ? 4e-3 : 1e-3; }
  static std::uint32_t u32(std::uint64_t value) { return static_cast<std::uint32_t>(value); }
  // Of a few runs the one that was disturbed least: for differences, which disturbances would spoil.
  template <class Seconds>
  static double shortest(Seconds const& seconds) {
    double best = seconds();
    for (int i = 0; i < 2; ++i) best = std::min(best, seconds());
    return best;
  }
  // Instructions per second of one chain in one wavefront; the launch is taken off by a run of twice the length.
  double chain_rate(Lazy& lazy, std::string const& entry, std::vector<std::string> const& macros, double per_iteration);
  static double arithmetic_s(Lazy& lazy, std::uint64_t groups, std::uint64_t group, std::uint64_t iterations);

  // accelerator_arithmetic.cpp
  struct Operation {
    char const* entry;       // of the catalogue
    char const* item_class;  // column `class` of a peak
    char const* finer;       // column `class` of latency and gap
    char const* variant;
    std::vector<std::string> macros;
    char const* element;  // type of VALUE's elements
    bool flop;
    int per_step;      // instructions of the class in a step of a chain
    double per_cycle;  // most of a compute unit; 0 unknown
  };
  std::vector<Operation> operations() const;
  unsigned lanes_of(Operation const& operation) const;
  unsigned many_chains(Operation const& operation) const;
  std::vector<std::string> macros_of(Operation const& operation, unsigned chains) const;
  std::uint64_t full_groups() const;
  std::uint64_t resident() const;
  Variables counting(std::uint64_t items, unsigned lanes, unsigned chains, std::uint64_t iterations) const;
  // Many chains side by side, with what the kernel counts of them.
  struct Chains {
    std::string entry;  // of the catalogue
    std::vector<std::string> macros;
    unsigned lanes, count;
    std::string quantity;  // flop or op
  };
  Chains chains_of(Operation const& operation) const;
  // One sample of the rate at which all units run them.
  std::function<double()> rate(Chains const& chains, std::uint64_t groups);
  std::string refusal(Operation const& operation) const;
  void flops();
  void half();
  double cycles_hz() { return clock_hz().value_or(facts_.clock_hz); }
  void instructions();
  void clock();

  // accelerator_memory.cpp
  std::uint64_t memory_bytes() const;
  // Occupancies that can be set, each with the groups of a unit and their shared memory.
  struct Load {
    double occupancy = 1;
    std::uint64_t groups = 0;  // of the whole device
    std::uint64_t shared_bytes = 0;
  };
  std::vector<Load> loads(bool curve) const;
  record::OccupancyRule rule() const;
  struct Access {
    std::string name;  // column access
    std::string macro;
    std::uint32_t shift = 0;
  };
  void global();
  void caches();
  void memory_point(std::string const& bench, std::string const& metric, Access const& access,
                    std::string const& direction, unsigned word_bytes, Load const& load, std::uint64_t bytes,
                    std::shared_ptr<Buffer> const& in, std::shared_ptr<Buffer> const& out, std::string variant = {});
  std::shared_ptr<DeviceKernel> memory_kernel(Access const& access, std::string const& direction, unsigned word_bytes);

  // accelerator_units.cpp: shared and constant memory, images, atomics, latency
  void shared();
  void shared_latency();  // of bench instruction
  void shared_point(std::string const& direction, std::uint32_t stride, Load const& load);
  void constant();
  void texture();
  void atomics();
  void latency();

  // accelerator_host.cpp: launches, barriers, copies
  void launch();
  double empty(Lazy& lazy, std::uint64_t groups, std::uint64_t group, std::uint64_t times);
  void barrier();
  void copies();

  std::unique_ptr<Accelerator> device_;
  Settings settings_;
  std::vector<Point>* points_ = nullptr;
  bool cpu_ = false;
  std::uint64_t units_ = 1, group_ = 1;
  std::shared_ptr<Lazy> clock_chain_;
};

}  // namespace kernelcast::probe
