// The benchmarks of OpenCL and CUDA devices: which points, and how one sample of each is taken.
//
// Problem: one set of kernels must suit GPUs, where many work-items take turns, and CPUs behind OpenCL, where an item
// is a thread's loop.
// Method: on a GPU work-groups of 256 items; occupancy is steered by dynamic shared memory and the number of groups, as
// [panwar] IV-A does, and reported from the occupancy rules. On a CPU groups of one item with vectors, each on a range
// of its own; occupancy is groups over compute units. A latency is the difference of two runs of different length.
// Limits: without known limits of the compute unit only full occupancy is measured.
#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <random>

#include <fmt/format.h>

#include "device/device.hpp"
#include "probe/accelerator.hpp"
#include "probe/catalogue.hpp"

namespace kernelcast::probe {

std::string kernel_source(std::string const& prelude, std::string const& file) {
  return microbench_file(prelude) + "\n" + microbench_file(file);
}

namespace {

using Buffer = std::shared_ptr<DeviceBuffer>;

constexpr double sample_s = 1e-3;  // aimed at
constexpr std::uint64_t gpu_group = 256;

std::vector<std::uint32_t> random_words(std::size_t count, std::uint64_t seed) {
  std::vector<std::uint32_t> out(count);
  std::uint64_t state = seed + count;
  for (auto& word : out) {
    state += 0x9E3779B97F4A7C15u;
    std::uint64_t const z = (state ^ (state >> 30)) * 0xBF58476D1CE4E5B9u;
    word = static_cast<std::uint32_t>(z >> 32);
  }
  return out;
}

// A random cycle through `bytes`, one word used of every line of `line` bytes.
std::vector<std::uint32_t> cycle_words(std::size_t bytes, std::size_t line, std::uint64_t seed) {
  std::size_t const nodes = std::max<std::size_t>(bytes / line, 1), step = line / 4;
  std::vector<std::uint32_t> order(nodes);
  std::iota(order.begin(), order.end(), 0u);
  std::mt19937_64 random(seed);
  for (std::size_t i = nodes - 1; i > 0; --i) std::swap(order[i], order[(random() >> 32) * (i + 1) >> 32]);
  auto words = random_words(std::max<std::size_t>(bytes / 4, 1), seed);
  for (std::size_t i = 0; i < nodes; ++i)
    words[order[i] * step] = static_cast<std::uint32_t>(order[(i + 1) % nodes] * step);
  // Words between are no part of the cycle; they must not lead out of it.
  for (auto& word : words) word %= static_cast<std::uint32_t>(words.size());
  return words;
}

class AcceleratorProbe final : public Probe {
 public:
  explicit AcceleratorProbe(std::unique_ptr<Accelerator> device) : device_(std::move(device)) {
    facts_ = device_->facts();
    cpu_ = facts_.kind == "cpu";
    units_ = std::max<std::uint64_t>(1, facts_.compute_units);
    group_ = cpu_ ? 1 : std::min(gpu_group, std::max<std::uint64_t>(1, facts_.max_group_size));
  }

  std::optional<double> clock_hz() override {
    if (!cpu_) return device_->clock_hz();
    // A chain of additions, one per clock, on any processor.
    if (!clock_chain_) clock_chain_ = std::make_shared<Lazy>();
    return chain_rate(*clock_chain_, "int_add", {"VALUE=uint", "SCALAR=uint", "CHAINS=1", "INT_ADD"}, 2 * 4);
  }

  std::vector<Point> plan(Settings const& settings) override {
    settings_ = settings;
    std::vector<Point> points;
    points_ = &points;
    if (settings.wants("facts")) points = stated_points(facts_);
    if (settings.wants("clock")) clock();
    if (settings.wants("launch")) launch();
    if (settings.wants("barrier")) barrier();
    if (settings.wants("flops")) flops();
    if (settings.wants("instruction")) instructions();
    if (settings.wants("shared")) shared();
    if (settings.wants("constant")) constant();
    if (settings.wants("texture")) texture();
    if (settings.wants("atomics")) atomics();
    if (settings.wants("latency")) latency();
    if (settings.wants("cache")) caches();
    if (settings.wants("copy")) copies();
    if (settings.wants("global")) global();
    points_ = nullptr;
    return points;
  }

 private:
  // ---------------------------------------------------------------- helpers

  Point& add(std::string bench, std::string metric) {
    Point point;
    point.bench = std::move(bench);
    point.row.metric = std::move(metric);
    points_->push_back(std::move(point));
    return points_->back();
  }

  Buffer words(std::vector<std::uint32_t> const& contents) {
    auto buffer = device_->allocate(contents.size() * 4);
    device_->upload(*buffer, contents.data(), contents.size() * 4);
    return buffer;
  }
  Buffer random_buffer(std::uint64_t bytes) {
    auto const most = facts_.memory_bytes / 3;
    if (most > 0 && static_cast<double>(bytes) > most)
      throw Error(Status::limit, fmt::format("{} bytes are more than a third of the device's memory", bytes),
                  "choose other benchmarks with --bench");
    return words(random_words(bytes / 4, settings_.seed + 1));
  }
  // Shared by several points; made at the first use.
  std::shared_ptr<Buffer> lazy() { return std::make_shared<Buffer>(); }

  struct Lazy {
    std::shared_ptr<DeviceKernel> kernel;
    Buffer in, out;
    std::uint64_t iterations = 0;
  };

  std::shared_ptr<DeviceKernel> kernel(std::string const& entry, std::string const& function,
                                       std::vector<std::string> macros) {
    return device_->kernel(device_catalogue().at(entry).file, function, macros);
  }

  // Iterations for which a launch takes about `aim`.
  template <class Seconds>
  static std::uint64_t calibrate(Seconds const& seconds, double aim) {
    std::uint64_t iterations = 16;
    for (;;) {
      double const s = seconds(iterations);
      if (s > aim / 8 || iterations > (std::uint64_t{1} << 28))
        return std::clamp<std::uint64_t>(
            static_cast<std::uint64_t>(static_cast<double>(iterations) * aim / std::max(s, 1e-9)), 8,
            std::uint64_t{1} << 30);
      iterations *= 4;
    }
  }

  static std::uint32_t u32(std::uint64_t value) { return static_cast<std::uint32_t>(value); }

  // Of a few runs the one that was disturbed least: for differences, which disturbances would spoil.
  template <class Seconds>
  static double shortest(Seconds const& seconds) {
    double best = seconds();
    for (int i = 0; i < 2; ++i) best = std::min(best, seconds());
    return best;
  }

  // Instructions per second of one chain in one wavefront; the launch is taken off by a run of twice the length.
  double chain_rate(Lazy& lazy, std::string const& entry, std::vector<std::string> const& macros,
                    double per_iteration) {
    std::uint64_t const group = cpu_ ? 1 : std::max<std::uint64_t>(facts_.wave_width, 1);
    if (!lazy.kernel) {
      lazy.kernel = kernel(entry, "arithmetic", macros);
      lazy.in = random_buffer(group * 16 * 4);
      lazy.out = random_buffer(group * 128);
      lazy.iterations = calibrate([&](std::uint64_t n) { return arithmetic_s(lazy, 1, group, n); }, 2e-4);
    }
    double const one = shortest([&] { return arithmetic_s(lazy, 1, group, lazy.iterations); });
    double const two = shortest([&] { return arithmetic_s(lazy, 1, group, 2 * lazy.iterations); });
    return per_iteration * static_cast<double>(lazy.iterations) / (two - one);
  }

  static double arithmetic_s(Lazy& lazy, std::uint64_t groups, std::uint64_t group, std::uint64_t iterations) {
    return lazy.kernel->run(groups, group, {lazy.in, lazy.out, 0.9999999f, 1e-7f, u32(iterations)});
  }

  // ---------------------------------------------------------------- arithmetic

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

  std::vector<Operation> operations() const {
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
        {"special", "special", "special", "rsqrt", {"SPECIAL"}, "float", false, 1, 0},
        {"convert", "convert", "", "", {"CONVERT"}, "float", false, 2, 0},
    };
  }

  unsigned lanes_of(Operation const& operation) const {
    if (!cpu_) return 1;
    // As many as fill the widest vectors: 16 for 32-bit elements, 8 for double.
    auto const lanes = static_cast<unsigned>(std::clamp<std::uint64_t>(facts_.lanes_per_cu, 1, 16));
    return operation.element == std::string("double") ? std::max(1u, lanes / 2) : lanes;
  }

  std::vector<std::string> macros_of(Operation const& operation, unsigned chains) const {
    unsigned const lanes = lanes_of(operation);
    std::string const element = operation.element;
    auto macros = operation.macros;
    macros.push_back(fmt::format("VALUE={}{}", element, lanes > 1 ? std::to_string(lanes) : ""));
    macros.push_back("SCALAR=" + element);
    macros.push_back(fmt::format("CHAINS={}", chains));
    std::string const width = lanes > 1 ? std::to_string(lanes) : "";
    macros.push_back(fmt::format("CONVERT_INT(x)=convert_int{}(x)", width));
    macros.push_back(fmt::format("CONVERT_FLOAT(x)=convert_float{}(x)", width));
    return macros;
  }

  std::uint64_t full_groups() const { return cpu_ ? units_ * 4 : units_ * std::max<std::uint64_t>(8, resident()); }
  std::uint64_t resident() const {
    return facts_.threads_per_cu > 0 && !cpu_ ? std::max<std::uint64_t>(1, facts_.threads_per_cu / group_) : 8;
  }

  Variables counting(std::uint64_t items, unsigned lanes, unsigned chains, std::uint64_t iterations) const {
    return {{"items", static_cast<std::int64_t>(items)},
            {"lanes", lanes},
            {"chains", chains},
            {"iterations", static_cast<std::int64_t>(iterations)}};
  }

  // One sample of the rate at which all units run `operation`.
  std::function<double()> rate(Operation const& operation, std::uint64_t groups, unsigned chains) {
    return [this, operation, groups, chains, lazy = std::make_shared<Lazy>()] {
      std::uint64_t const items = groups * group_;
      unsigned const lanes = lanes_of(operation);
      if (!lazy->kernel) {
        lazy->kernel = kernel(operation.entry, "arithmetic", macros_of(operation, chains));
        lazy->in = random_buffer(items * chains * 4);
        lazy->out = random_buffer(items * 8 * lanes);
        lazy->iterations = calibrate([&](std::uint64_t n) { return arithmetic_s(*lazy, groups, group_, n); }, sample_s);
      }
      double const count = device_catalogue().count(operation.entry, operation.flop ? "flop" : "op",
                                                    counting(items, lanes, chains, lazy->iterations));
      return count / arithmetic_s(*lazy, groups, group_, lazy->iterations);
    };
  }

  std::string refusal(Operation const& operation) const {
    if (operation.element == std::string("double") && !facts_.fp64) return "the device has no double precision";
    return {};
  }

  void flops() {
    for (auto const& operation : operations()) {
      if (std::string(operation.item_class).empty()) continue;
      auto& point = add("flops", operation.flop ? "peak_flop_per_s" : "peak_op_per_s");
      point.row.item_class = operation.item_class;
      point.row.variant = operation.variant;
      point.row.occupancy = 1;
      point.row.word_bytes = operation.element == std::string("double") ? 8 : 4;
      point.unsupported = refusal(operation);
      if (!point.unsupported.empty()) continue;
      // Two registers for each chain of integers.
      point.measure = rate(operation, full_groups(), operation.entry == std::string("int_add") ? 4 : cpu_ ? 12 : 8);
      if (operation.per_cycle > 0 && facts_.clock_hz > 0 && !cpu_)
        point.most = operation.per_cycle * static_cast<double>(units_) * facts_.clock_hz;
    }
    half();
  }

  void half() {
    auto& point = add("flops", "peak_flop_per_s");
    point.row.item_class = "fp16";
    point.row.variant = "fma";
    point.row.occupancy = 1;
    point.row.word_bytes = 2;
    auto const macros = device_->half_macros();
    if (macros.empty()) {
      point.unsupported = "the device has no half precision";
      return;
    }
    point.measure = [this, macros, lazy = std::make_shared<Lazy>()] {
      std::uint64_t const groups = full_groups(), items = groups * group_;
      if (!lazy->kernel) {
        auto all = macros;
        all.push_back("CHAINS=8");
        lazy->kernel = kernel("fma_fp16", "arithmetic", all);
        lazy->in = random_buffer(items * 8 * 4);
        lazy->out = random_buffer(items * 4);
        lazy->iterations = calibrate([&](std::uint64_t n) { return arithmetic_s(*lazy, groups, group_, n); }, sample_s);
      }
      double const count =
          device_catalogue().count("fma_fp16", "flop", counting(items, device_->half_lanes(), 8, lazy->iterations));
      return count / arithmetic_s(*lazy, groups, group_, lazy->iterations);
    };
  }

  double cycles_hz() { return clock_hz().value_or(facts_.clock_hz); }

  void instructions() {
    for (auto const& operation : operations()) {
      if (std::string(operation.finer).empty() || !refusal(operation).empty()) continue;
      bool const usual = operation.flop && std::string(operation.variant) == "fma";
      if (settings_.depth == Depth::quick && !usual && std::string(operation.finer) != "int_add") continue;
      auto& latency = add("instruction", "latency_cycles");
      latency.row.item_class = operation.finer;
      latency.measure = [this, operation, macros = macros_of(operation, 1), lazy = std::make_shared<Lazy>()] {
        return cycles_hz() / chain_rate(*lazy, operation.entry, macros, 4.0 * operation.per_step);
      };
      auto& gap = add("instruction", "gap_cycles");
      gap.row.item_class = operation.finer;
      unsigned const chains = operation.entry == std::string("int_add") ? 4 : cpu_ ? 12 : 8;
      gap.measure = [this, operation, one = rate(operation, full_groups(), chains)] {
        double const results =
            one() / (operation.entry == std::string("fma_fp32") || operation.entry == std::string("fma_fp64") ? 2 : 1);
        double const per_issue =
            cpu_ ? lanes_of(operation) : static_cast<double>(std::max<std::uint64_t>(facts_.wave_width, 1));
        return cycles_hz() * static_cast<double>(units_) * per_issue / results;
      };
    }
    if (!cpu_) shared_latency();
  }

  void shared_latency() {
    auto& point = add("instruction", "shared_latency_cycles");
    point.row.access = "random";
    point.row.word_bytes = 4;
    point.measure = [this, lazy = std::make_shared<Lazy>()] {
      constexpr std::uint32_t count = 1024;
      std::uint64_t const group = std::max<std::uint64_t>(facts_.wave_width, 1);
      if (!lazy->kernel) {
        lazy->kernel = kernel("shared_chase", "shared_chase", {});
        // Items of a wavefront walk side by side, without conflict: all move on by the same number of banks.
        std::vector<std::uint32_t> next(count);
        for (std::uint32_t i = 0; i < count; ++i) next[i] = (i + 33) % count;
        lazy->in = words(next);
        lazy->out = random_buffer(group * 4);
      }
      auto const run = [&](std::uint32_t n) {
        return lazy->kernel->run(1, group, {lazy->in, lazy->out, count, n, SharedBytes{count * 4}});
      };
      constexpr std::uint32_t n = 8192;
      double const one = shortest([&] { return run(n); }), two = shortest([&] { return run(2 * n); });
      return (two - one) / (4.0 * n) * cycles_hz();
    };
  }

  void clock() {
    auto& point = add("clock", "clock_hz");
    if (!cpu_ && !device_->clock_hz()) {
      point.unsupported = "the back end has no clock to compare with; stated_clock_hz says what the driver does";
      return;
    }
    point.measure = [this] { return *clock_hz(); };
  }

  // ---------------------------------------------------------------- memory

  std::uint64_t memory_bytes() const {
    double const wanted = std::max(64.0 * (1 << 20), 4 * facts_.last_cache_bytes);
    return std::bit_ceil(static_cast<std::uint64_t>(wanted));
  }

  // Occupancies that can be set, each with the groups of a unit and their shared memory.
  struct Load {
    double occupancy = 1;
    std::uint64_t groups = 0;  // of the whole device
    std::uint64_t shared_bytes = 0;
  };

  std::vector<Load> loads(bool curve) const {
    if (cpu_) {
      std::vector<Load> out;
      for (std::uint64_t n = 1; n < units_ && curve; n *= 2)
        out.push_back({static_cast<double>(n) / static_cast<double>(units_), n, 0});
      out.push_back({1, units_ * 8, 0});
      return out;
    }
    std::vector<Load> out;
    std::uint64_t const most = resident();
    bool const known = facts_.threads_per_cu > 0 && facts_.shared_per_cu_bytes > 0 && facts_.wave_width > 0;
    for (std::uint64_t r = 1; r < most && curve && known; ++r) {
      if (settings_.depth == Depth::quick && r != 1 && r != most / 2 && r != most / 4) continue;
      auto const shared = static_cast<std::uint64_t>(facts_.shared_per_cu_bytes) / r / 1024 * 1024;
      auto const bytes =
          std::min(shared > 2048 ? shared - 1024 : shared, static_cast<std::uint64_t>(facts_.shared_per_group_bytes));
      auto const o = device::occupancy(rule(), {0, bytes}, group_);
      double const by_grid = static_cast<double>(r * group_) / static_cast<double>(facts_.threads_per_cu);
      // Whatever bounds it: the shared memory, or that no more groups are launched.
      out.push_back({std::min(o.occupancy, by_grid), units_ * r, bytes});
    }
    out.push_back({1, units_ * most * 4, 0});
    return out;
  }

  record::OccupancyRule rule() const {
    record::OccupancyRule rule;
    rule.target = facts_.target;
    rule.wave_width = facts_.wave_width;
    rule.max_waves_per_cu = facts_.threads_per_cu / std::max<std::uint64_t>(1, facts_.wave_width);
    rule.max_threads_per_cu = facts_.threads_per_cu;
    rule.max_groups_per_cu = facts_.max_groups_per_cu > 0 ? facts_.max_groups_per_cu : 16;
    rule.max_group_size = facts_.max_group_size;
    rule.shared_per_cu_bytes = static_cast<std::uint64_t>(facts_.shared_per_cu_bytes);
    rule.shared_per_group_bytes = static_cast<std::uint64_t>(facts_.shared_per_group_bytes);
    rule.shared_unit_bytes = 256;
    return rule;
  }

  struct Access {
    std::string name;  // column access
    std::string macro;
    std::uint32_t shift = 0;
  };

  void global() {
    auto const in = lazy(), out = lazy();
    Access const coalesced{"coalesced", "", 0};
    for (char const* const direction : {"read", "write", "copy"})
      for (unsigned const word_bytes : {4u, 8u, 16u})
        for (auto const& load : loads(true)) {
          if (word_bytes != 4 && (settings_.depth == Depth::quick || direction == std::string("copy"))) continue;
          memory_point("global", "global_bandwidth_bytes_per_s", coalesced, direction, word_bytes, load, memory_bytes(),
                       in, out);
        }
    std::vector<Access> patterns;
    for (std::uint32_t const shift : {1u, 2u, 3u, 4u, 5u})
      patterns.push_back({fmt::format("stride{}", 1 << shift), "STRIDED", shift});
    patterns.push_back({"random", "SCATTERED", 0});
    for (auto const& pattern : patterns)
      for (unsigned const word_bytes : {4u, 8u, 16u})
        for (char const* const direction : {"read", "write"}) {
          if (settings_.depth == Depth::quick && (word_bytes != 4 || direction == std::string("write"))) continue;
          if (settings_.depth == Depth::normal && word_bytes == 8) continue;
          memory_point("global", "global_bandwidth_bytes_per_s", pattern, direction, word_bytes, loads(false).back(),
                       memory_bytes(), in, out);
        }
  }

  void caches() {
    double const sizes[] = {facts_.l1_bytes, facts_.l2_bytes, facts_.l3_bytes};
    char const* const names[] = {"l1", "l2", "l3"};
    for (int level = 0; level < 3; ++level) {
      // On a GPU the first level belongs to a unit, and its bandwidth needs items that share nothing: left to `shared`.
      if (!(sizes[level] > 0) || (!cpu_ && level == 0)) continue;
      double const whole = sizes[level] * (cpu_ && level < 2 ? static_cast<double>(units_) : 1.0);
      auto const bytes = std::bit_floor(static_cast<std::uint64_t>(whole / 2));
      auto const in = lazy(), out = lazy();
      for (char const* const direction : {"read", "write"})
        memory_point("cache", "cache_bandwidth_bytes_per_s", {"coalesced", "", 0}, direction, 4, loads(false).back(),
                     bytes, in, out, names[level]);
    }
  }

  void memory_point(std::string const& bench, std::string const& metric, Access const& access,
                    std::string const& direction, unsigned word_bytes, Load const& load, std::uint64_t bytes,
                    std::shared_ptr<Buffer> const& in, std::shared_ptr<Buffer> const& out, std::string variant = {}) {
    auto& point = add(bench, metric);
    point.row.access = access.name;
    point.row.direction = direction;
    point.row.word_bytes = word_bytes;
    point.row.occupancy = load.occupancy;
    point.row.working_set_bytes = static_cast<double>(bytes);
    point.row.variant = std::move(variant);
    if (facts_.memory_bus_bits > 0 && facts_.memory_clock_hz > 0 && bench == "global")
      point.most = 2 * facts_.memory_clock_hz * static_cast<double>(facts_.memory_bus_bits) / 8;
    std::uint64_t const all = bytes / word_bytes;
    point.measure = [=, this, kernel = std::shared_ptr<DeviceKernel>(), next = std::uint64_t{0}]() mutable {
      std::uint64_t const items = load.groups * group_;
      // A GPU goes through all of it; a CPU through a window, which comes around after all the others.
      std::uint64_t window = all;
      if (cpu_ && bench == "global")
        window = std::min(all, std::bit_floor(std::max<std::uint64_t>(
                                   load.groups * (access.name == "coalesced" ? (1 << 20) : (1 << 17)) / 8, 1 << 16)));
      if (cpu_ && access.name == "coalesced" && bench == "global")
        window = std::min(all, std::bit_floor(std::min(load.groups, units_) << 22) / word_bytes * 2);
      window = std::max<std::uint64_t>(window / (4 * items), 1) * 4 * items;
      if (window > all) window = all;
      if (!kernel) {
        kernel = memory_kernel(access, direction, word_bytes);
        if (!*in) *in = random_buffer(bytes);
        if (!*out && direction != "read") *out = random_buffer(bytes);
        if (!*out) *out = random_buffer(std::max<std::uint64_t>(items * 4, 4096));
        if (direction != "read" && (*out)->bytes < bytes) *out = random_buffer(bytes);
      }
      auto const bits = u32(static_cast<std::uint64_t>(std::bit_width(all) - 1));
      std::uint64_t const first = next;
      next = next + 2 * window <= all ? next + window : 0;
      std::vector<KernelArgument> arguments;
      if (direction != "write") arguments.push_back(*in);
      arguments.push_back(*out);
      arguments.insert(arguments.end(), {bits, access.shift, u32(first), u32(window)});
      if (direction == "write") arguments.push_back(u32(0x2545F491u));
      arguments.push_back(SharedBytes{load.shared_bytes});
      double seconds = 0;
      std::uint64_t passes = 0;
      // Small sets several times, so that a sample is long against the timer.
      do {
        seconds += kernel->run(load.groups, group_, arguments);
        ++passes;
      } while (seconds < 5e-5 && passes < 100);
      double const moved = static_cast<double>(window * word_bytes * passes) * (direction == "copy" ? 2 : 1);
      return moved / seconds;
    };
  }

  std::shared_ptr<DeviceKernel> memory_kernel(Access const& access, std::string const& direction, unsigned word_bytes) {
    std::vector<std::string> macros{word_bytes == 4 ? "WORD=uint" : fmt::format("WORD=uint{}", word_bytes / 4),
                                    fmt::format("WORD_UINTS={}", word_bytes / 4)};
    if (!access.macro.empty()) macros.push_back(access.macro);
    if (cpu_) macros.push_back("BLOCKED");
    return kernel("global_read", "global_" + direction, macros);
  }

  // ---------------------------------------------------------------- shared memory, constants, images, atomics

  void shared() {
    if (!(facts_.shared_per_group_bytes > 0)) {
      add("shared", "shared_bandwidth_bytes_per_s").unsupported = "the device states no shared memory";
      return;
    }
    for (char const* const direction : {"read", "write"}) {
      for (auto const& load : loads(true)) shared_point(direction, 1, load);
      for (std::uint32_t stride = 2; stride <= 32; stride *= 2) shared_point(direction, stride, loads(false).back());
    }
  }

  void shared_point(std::string const& direction, std::uint32_t stride, Load const& load) {
    auto& point = add("shared", "shared_bandwidth_bytes_per_s");
    point.row.access = stride == 1 ? "coalesced" : fmt::format("stride{}", stride);
    point.row.direction = direction;
    point.row.word_bytes = 4;
    point.row.occupancy = load.occupancy;
    std::uint64_t const group = cpu_ ? std::min<std::uint64_t>(64, facts_.max_group_size) : group_;
    constexpr std::uint32_t count = 1024;  // words; a power of two, and 8 beyond
    point.row.working_set_bytes = count * 4;
    point.measure = [=, this, lazy = std::make_shared<Lazy>()] {
      std::uint64_t const bytes = std::max<std::uint64_t>(load.shared_bytes, (count + 8) * 4);
      if (!lazy->kernel) {
        lazy->kernel = kernel("shared_" + direction, "shared_" + direction, {});
        lazy->in = random_buffer((count + 8) * 4);
        lazy->out = random_buffer(load.groups * group * 4);
      }
      auto const run = [&](std::uint64_t n) {
        return lazy->kernel->run(load.groups, group, {lazy->in, lazy->out, count, stride, u32(n), SharedBytes{bytes}});
      };
      if (lazy->iterations == 0) lazy->iterations = calibrate(run, sample_s / 2);
      // What fills the memory at first is the same for both lengths.
      double const one = shortest([&] { return run(lazy->iterations); });
      double const two = shortest([&] { return run(2 * lazy->iterations); });
      auto const variables = counting(load.groups * group, 1, 1, lazy->iterations);
      auto const& catalogue = device_catalogue();
      double const moved =
          catalogue.count("shared_" + direction, direction == "read" ? "shared_load" : "shared_store", variables);
      return moved / (two - one);
    };
  }

  void constant() {
    auto& point = add("constant", "constant_bandwidth_bytes_per_s");
    point.row.access = "coalesced";
    point.row.direction = "read";
    point.row.word_bytes = 4;
    point.row.occupancy = 1;
    point.row.working_set_bytes = 2056 * 4;
    point.measure = [this, lazy = std::make_shared<Lazy>()] {
      std::uint64_t const groups = full_groups();
      std::uint64_t const group = cpu_ ? std::min<std::uint64_t>(64, facts_.max_group_size) : group_;
      if (!lazy->kernel) {
        lazy->kernel = kernel("constant_read", "constant_read", {});
        lazy->in = random_buffer(2056 * 4);
        lazy->out = random_buffer(groups * group * 4);
      }
      auto const run = [&](std::uint64_t n) {
        std::vector<KernelArgument> arguments{lazy->out, u32(n)};
        if (device_->constant_is_argument()) arguments.insert(arguments.begin(), lazy->in);
        return lazy->kernel->run(groups, group, arguments);
      };
      if (lazy->iterations == 0) lazy->iterations = calibrate(run, sample_s);
      return device_catalogue().count("constant_read", "constant_load",
                                      counting(groups * group, 1, 1, lazy->iterations)) /
             run(lazy->iterations);
    };
  }

  void texture() {
    auto& point = add("texture", "texture_bandwidth_bytes_per_s");
    point.row.access = "coalesced";
    point.row.direction = "read";
    point.row.word_bytes = 16;
    point.row.occupancy = 1;
    constexpr std::uint32_t width = 1024, height = 512;
    point.row.working_set_bytes = 16.0 * width * height;
    if (!facts_.images) {
      point.unsupported = "the device has no images";
      return;
    }
    struct State {
      std::shared_ptr<DeviceKernel> kernel;
      std::shared_ptr<Texture> texture;
      Buffer out;
      std::uint64_t iterations = 0;
    };
    point.measure = [this, state = std::make_shared<State>()] {
      std::uint64_t const groups = full_groups();
      std::uint64_t const group = cpu_ ? std::min<std::uint64_t>(64, facts_.max_group_size) : group_;
      if (!state->kernel) {
        state->kernel = device_->kernel("texture", "texture_read", {});
        state->texture = device_->texture(width, height);
        if (!state->texture) throw Error(Status::unavailable, "the driver makes no image of four 32-bit channels", "");
        state->out = random_buffer(groups * group * 4);
      }
      auto const run = [&](std::uint64_t n) {
        return state->kernel->run(groups, group, {state->texture, state->out, width - 1, height - 1, u32(n)});
      };
      if (state->iterations == 0) state->iterations = calibrate(run, sample_s);
      return device_catalogue().count("texture_read", "texture_load",
                                      counting(groups * group, 1, 1, state->iterations)) /
             run(state->iterations);
    };
  }

  void atomics() {
    for (char const* const variant : {"same", "distinct", "shared"}) {
      auto& point = add("atomics", "atomic_op_per_s");
      point.row.variant = variant;
      point.row.word_bytes = 4;
      point.row.occupancy = 1;
      point.measure = [this, kind = std::string(variant), lazy = std::make_shared<Lazy>()] {
        std::uint64_t const groups = full_groups();
        std::uint64_t const group = cpu_ ? std::min<std::uint64_t>(64, facts_.max_group_size) : group_;
        bool const shared = kind == "shared";
        if (!lazy->kernel) {
          lazy->kernel =
              kernel(shared ? "atomic_shared" : "atomic_global", shared ? "atomic_shared" : "atomic_global", {});
          lazy->out = random_buffer(groups * group * 4);
        }
        auto const run = [&](std::uint64_t n) {
          if (shared) return lazy->kernel->run(groups, group, {lazy->out, u32(n), SharedBytes{256}});
          return lazy->kernel->run(groups, group, {lazy->out, u32(kind == "same" ? 0 : 1), u32(n)});
        };
        if (lazy->iterations == 0) lazy->iterations = calibrate(run, sample_s);
        return static_cast<double>(groups * group * lazy->iterations) / run(lazy->iterations);
      };
    }
  }

  void latency() {
    double const line = std::max(facts_.line_bytes, 64.0);
    double const largest = static_cast<double>(memory_bytes());
    double const ratio = settings_.depth == Depth::thorough ? std::sqrt(2.0)
                         : settings_.depth == Depth::quick  ? 4.0
                                                            : 2.0;
    for (double bytes = 4096; bytes <= largest * 1.001; bytes *= ratio) {
      auto const size = static_cast<std::size_t>(std::round(bytes / line) * line);
      auto& point = add("latency", "load_latency_s");
      point.row.access = "random";
      point.row.direction = "read";
      point.row.word_bytes = 4;
      point.row.working_set_bytes = static_cast<double>(size);
      point.measure = [this, size, line, lazy = std::make_shared<Lazy>()] {
        if (!lazy->kernel) {
          lazy->kernel = kernel("chase", "chase", {});
          lazy->in = words(cycle_words(size, static_cast<std::size_t>(line), settings_.seed));
          lazy->out = words({0});
          // Once around, so that what a cache can hold is there.
          lazy->kernel->run(1, 1,
                            {lazy->in, lazy->out,
                             u32(std::min<std::size_t>(size / static_cast<std::size_t>(line) / 8 + 1, 1 << 17))});
        }
        auto const run = [&](std::uint32_t n) { return lazy->kernel->run(1, 1, {lazy->in, lazy->out, n}); };
        std::uint32_t const n = size > (1 << 20) ? 1 << 10 : 1 << 12;
        double const one = shortest([&] { return run(n); }), two = shortest([&] { return run(3 * n); });
        return (two - one) / (2.0 * 8 * n);
      };
    }
  }

  // ---------------------------------------------------------------- host

  void launch() {
    auto& one = add("launch", "launch_s");
    one.measure = [this, lazy = std::make_shared<Lazy>()] { return empty(*lazy, 1, group_, 1); };
    auto& many = add("launch", "launch_throughput_s");
    many.measure = [this, lazy = std::make_shared<Lazy>()] { return empty(*lazy, 1, group_, 100) / 100; };
    add("launch", "compile_s").measure = [this] { return device_->compile_s(); };
  }

  double empty(Lazy& lazy, std::uint64_t groups, std::uint64_t group, std::uint64_t times) {
    if (!lazy.kernel) {
      lazy.kernel = kernel("empty", "empty", {});
      lazy.out = random_buffer(4096);
    }
    return lazy.kernel->run_queued(groups, group, {lazy.out, std::uint32_t{0}}, times);
  }

  void barrier() {
    // [automatch] III-A: from one kernel to the next, four groups of 32 x 32 on each unit.
    auto& point = add("barrier", "barrier_s");
    point.row.variant = "host";
    point.row.occupancy = 1;
    std::uint64_t const group = std::min<std::uint64_t>(1024, std::max<std::uint64_t>(1, facts_.max_group_size));
    point.measure = [this, group, lazy = std::make_shared<Lazy>()] { return empty(*lazy, 4 * units_, group, 50) / 50; };
  }

  void copies() {
    constexpr std::uint64_t bytes = 16 << 20;
    struct Copy {
      char const* variant;
      Way way;
      bool pinned;
    };
    for (auto const& c : {Copy{"h2d pinned", Way::to_device, true}, Copy{"h2d pageable", Way::to_device, false},
                          Copy{"d2h pinned", Way::to_host, true}, Copy{"d2h pageable", Way::to_host, false},
                          Copy{"d2d", Way::on_device, true}}) {
      auto& point = add("copy", "copy_bandwidth_bytes_per_s");
      point.row.direction = "copy";
      point.row.variant = c.variant;
      point.row.working_set_bytes = static_cast<double>(bytes);
      point.measure = [this, c] { return static_cast<double>(bytes) / device_->copy_s(c.way, bytes, c.pinned); };
    }
    auto& both = add("copy", "copy_bandwidth_bytes_per_s");
    both.row.direction = "copy";
    both.row.variant = "h2d and d2h pinned";
    both.row.working_set_bytes = static_cast<double>(2 * bytes);
    both.measure = [this] { return 2.0 * static_cast<double>(bytes) / device_->copy_both_s(bytes); };
    auto& peer = add("copy", "copy_bandwidth_bytes_per_s");
    peer.row.direction = "copy";
    peer.row.variant = "p2p";
    if (!device_->copy_peer_s(4))
      peer.unsupported = "there is no second device";
    else
      peer.measure = [this] { return static_cast<double>(bytes) / *device_->copy_peer_s(bytes); };
    for (auto const& c : {Copy{"h2d", Way::to_device, true}, Copy{"d2h", Way::to_host, true}}) {
      auto& point = add("copy", "copy_latency_s");
      point.row.direction = "copy";
      point.row.variant = c.variant;
      point.row.working_set_bytes = 4;
      point.measure = [this, c] { return device_->copy_s(c.way, 4, true); };
    }
    auto& rows = add("copy", "copy_row_s");
    rows.row.direction = "copy";
    rows.row.variant = "h2d";
    rows.row.working_set_bytes = 4096 * 256;
    // The same bytes in many rows and in one: what a row adds.
    rows.measure = [this] {
      constexpr std::uint64_t count = 4096, row = 256;
      double const strided = device_->copy_rows_s(count, row, 2 * row);
      double const whole = device_->copy_rows_s(1, count * row, count * row);
      return std::max(strided - whole, 1e-12) / static_cast<double>(count);
    };
  }

  std::unique_ptr<Accelerator> device_;
  Settings settings_;
  std::vector<Point>* points_ = nullptr;
  bool cpu_ = false;
  std::uint64_t units_ = 1, group_ = 1;
  std::shared_ptr<Lazy> clock_chain_;
};

}  // namespace

std::unique_ptr<Probe> accelerator_probe(std::unique_ptr<Accelerator> device) {
  return std::make_unique<AcceleratorProbe>(std::move(device));
}

}  // namespace kernelcast::probe
