// Peaks, and latency and gap of instruction classes, from one kernel with other macros
// (microbench/opencl/arithmetic.cl).
#include "measure/probe/accelerator_probe.hpp"

namespace kernelcast::probe {

std::vector<AcceleratorProbe::Operation> AcceleratorProbe::operations() const {
  double const f32 = facts_.flop_per_cycle_fp32, f64 = facts_.flop_per_cycle_fp64;
  return {
      {"fma_fp32", "fp32", "fp32_fma", "fma", {"FMA"}, "float", true, 1, f32},
      {"fma_fp64", "fp64", "fp64_fma", "fma", {"FMA", "NEEDS_FP64"}, "double", true, 1, f64},
      {"mix_fp32", "fp32", "", "add_mul", {"ADD_MUL"}, "float", true, 1, f32},
      {"mix_fp64", "fp64", "", "add_mul", {"ADD_MUL", "NEEDS_FP64"}, "double", true, 1, f64},
      {"add_fp32", "", "fp32_add", "", {"ADD"}, "float", true, 1, 0},
      {"mul_fp32", "", "fp32_mul", "", {"MUL"}, "float", true, 1, 0},
      {"int_add", "int_add", "int_add", "", {"INT_ADD"}, "uint", false, 2, 0},
      {"int_mul", "int_mul", "int_mul", "", {"INT_MUL"}, "uint", false, 1, 0},
      {"shift", "shift", "shift", "", {"SHIFT"}, "uint", false, 1, 0},
      {"logic", "logic", "logic", "", {"LOGIC"}, "uint", false, 4, 0},
      {"special", "special", "special", "rsqrt", {"SPECIAL"}, "float", false, 1, 0},
      {"convert", "convert", "convert", "", {"CONVERT"}, "int", false, 1, 0},
  };
}

unsigned AcceleratorProbe::lanes_of(Operation const& operation) const {
  if (!cpu_) return 1;
  // As many as fill the widest vectors: 16 for 32-bit elements, 8 for double.
  auto const lanes = static_cast<unsigned>(std::clamp<std::uint64_t>(facts_.lanes_per_cu, 1, 16));
  return operation.element == std::string("double") ? std::max(1u, lanes / 2) : lanes;
}

// Chains that fill the units without spilling: int_add has two registers for each, logic four.
unsigned AcceleratorProbe::many_chains(Operation const& operation) const {
  std::string const entry = operation.entry;
  return entry == "int_add" || entry == "logic" ? 4 : cpu_ ? 12 : 8;
}

std::vector<std::string> AcceleratorProbe::macros_of(Operation const& operation, unsigned chains) const {
  unsigned const lanes = lanes_of(operation);
  std::string const element = operation.element;
  auto macros = operation.macros;
  macros.push_back(fmt::format("VALUE={}{}", element, lanes > 1 ? std::to_string(lanes) : ""));
  macros.push_back("SCALAR=" + element);
  macros.push_back(fmt::format("CHAINS={}", chains));
  std::string const width = lanes > 1 ? std::to_string(lanes) : "";
  macros.push_back(fmt::format("AS_INT(x)=as_int{}(x)", width));
  macros.push_back(fmt::format("CONVERT_FLOAT(x)=convert_float{}(x)", width));
  return macros;
}

std::uint64_t AcceleratorProbe::full_groups() const {
  return cpu_ ? units_ * cpu_groups : units_ * std::max<std::uint64_t>(8, resident());
}

std::uint64_t AcceleratorProbe::resident() const {
  return facts_.threads_per_cu > 0 && !cpu_ ? std::max<std::uint64_t>(1, facts_.threads_per_cu / group_) : 8;
}

Variables AcceleratorProbe::counting(std::uint64_t items, unsigned lanes, unsigned chains,
                                     std::uint64_t iterations) const {
  return {{"items", static_cast<std::int64_t>(items)},
          {"lanes", lanes},
          {"chains", chains},
          {"iterations", static_cast<std::int64_t>(iterations)}};
}

std::function<double()> AcceleratorProbe::rate(Chains const& chains, std::uint64_t groups) {
  return [this, chains, groups, lazy = std::make_shared<Lazy>()] {
    std::uint64_t const items = groups * group_;
    if (!lazy->kernel) {
      lazy->kernel = kernel(chains.entry, "arithmetic", chains.macros);
      lazy->in = random_buffer(items * chains.count * 4);
      lazy->out = random_buffer(items * 8 * chains.lanes);
      lazy->iterations =
          iterations_for([&](std::uint64_t n) { return arithmetic_s(*lazy, groups, group_, n); }, sample_s());
    }
    double const results = device_catalogue().count(chains.entry, chains.quantity,
                                                    counting(items, chains.lanes, chains.count, lazy->iterations));
    return results / arithmetic_s(*lazy, groups, group_, lazy->iterations);
  };
}

AcceleratorProbe::Chains AcceleratorProbe::chains_of(Operation const& operation) const {
  unsigned const count = many_chains(operation);
  return {operation.entry, macros_of(operation, count), lanes_of(operation), count, operation.flop ? "flop" : "op"};
}

std::string AcceleratorProbe::refusal(Operation const& operation) const {
  if (operation.element == std::string("double") && !facts_.fp64) return "the device has no double precision";
  return {};
}

void AcceleratorProbe::flops() {
  for (auto const& operation : operations()) {
    if (std::string(operation.item_class).empty()) continue;
    auto& point = add("flops", operation.flop ? "peak_flop_per_s" : "peak_op_per_s");
    point.row.item_class = operation.item_class;
    point.row.variant = operation.variant;
    point.row.occupancy = 1;
    point.row.word_bytes = operation.element == std::string("double") ? 8 : 4;
    point.unsupported = refusal(operation);
    if (!point.unsupported.empty()) continue;
    point.measure = rate(chains_of(operation), full_groups());
    if (operation.per_cycle > 0 && facts_.clock_hz > 0 && !cpu_)
      point.most = operation.per_cycle * static_cast<double>(units_) * facts_.clock_hz;
  }
  half();
}

void AcceleratorProbe::half() {
  auto& point = add("flops", "peak_flop_per_s");
  point.row.item_class = "fp16";
  point.row.variant = "fma";
  point.row.occupancy = 1;
  point.row.word_bytes = 2;
  auto macros = device_->half_macros();
  if (macros.empty()) {
    point.unsupported = "the device has no half precision";
    return;
  }
  macros.emplace_back("CHAINS=8");
  point.measure = rate({"fma_fp16", std::move(macros), device_->half_lanes(), 8, "flop"}, full_groups());
}

void AcceleratorProbe::instructions() {
  for (auto const& operation : operations()) {
    if (std::string(operation.finer).empty() || !refusal(operation).empty()) continue;
    bool const main_operation = operation.flop && std::string(operation.variant) == "fma";
    if (settings_.depth == Depth::quick && !main_operation && std::string(operation.finer) != "int_add") continue;
    auto& latency = add("instruction", "latency_cycles");
    latency.row.item_class = operation.finer;
    latency.measure = [this, operation, macros = macros_of(operation, 1), lazy = std::make_shared<Lazy>()] {
      return cycles_hz() / chain_rate(*lazy, operation.entry, macros, 4.0 * operation.per_step);
    };
    auto& gap = add("instruction", "gap_cycles");
    gap.row.item_class = operation.finer;
    gap.measure = [this, operation, one = rate(chains_of(operation), full_groups())] {
      double const results =
          one() / (operation.entry == std::string("fma_fp32") || operation.entry == std::string("fma_fp64") ? 2 : 1);
      double const per_issue =
          cpu_ ? lanes_of(operation) : static_cast<double>(std::max<std::uint64_t>(facts_.wave_width, 1));
      return cycles_hz() * static_cast<double>(units_) * per_issue / results;
    };
  }
  if (!cpu_) shared_latency();
}

void AcceleratorProbe::clock() {
  auto& point = add("clock", "clock_hz");
  if (!cpu_ && !device_->clock_hz()) {
    point.unsupported = "the back end has no clock to compare with; stated_clock_hz says what the driver does";
    return;
  }
  point.measure = [this] { return *clock_hz(); };
}

}  // namespace kernelcast::probe
