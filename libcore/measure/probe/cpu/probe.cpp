// The CPU as a device: what is measured on it, and how one sample is taken.
//
// Problem: a processor's own figures, without a driver or compiler between.
// Method: kernels for each instruction set, chosen at run time; threads pinned by hwloc; a sample is a piece of work of
// about a millisecond, long against the clock and short against the time slice of the operating system. Bandwidth goes
// through a working set of four last-level caches in windows that come around only after all the others.
// Limits: on several sockets memory is spread over all of them. Occupancy is cores in use over all cores.
#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <map>
#include <system_error>

#include <fmt/format.h>

#include "measure/probe/catalogue.hpp"
#include "measure/probe/cpu/kernels.hpp"
#include "measure/probe/cpu/machine.hpp"
#include "measure/probe/probe.hpp"
#include "measure/probe/random.hpp"

namespace kernelcast::probe {

namespace {

using namespace cpu;

constexpr double sample_s = 1e-3;  // aimed at

struct Class {
  char const* name;    // column `class` of latency and gap
  char const* kernel;  // of the catalogue
  Arithmetic what;
  bool two_steps;  // a step of the latency form is two instructions
};
constexpr Class instruction_classes[] = {
    {"fp32_fma", "multiply_add", Arithmetic::fma_fp32, false},
    {"fp32_add", "add", Arithmetic::add_fp32, true},
    {"fp32_mul", "multiply", Arithmetic::mul_fp32, false},
    {"fp64_fma", "multiply_add", Arithmetic::fma_fp64, false},
    {"fp64_add", "add", Arithmetic::add_fp64, true},
    {"fp64_mul", "multiply", Arithmetic::mul_fp64, false},
    {"int_add", "add", Arithmetic::add_int32, true},
    {"int_mul", "multiply", Arithmetic::mul_int32, false},
    {"fp32_div", "divide", Arithmetic::div_fp32, false},
    {"fp64_div", "divide", Arithmetic::div_fp64, false},
};

unsigned element_bytes(Arithmetic what) {
  switch (what) {
    case Arithmetic::fma_fp64:
    case Arithmetic::mix_fp64:
    case Arithmetic::add_fp64:
    case Arithmetic::mul_fp64:
    case Arithmetic::div_fp64:
      return 8;
    default:
      return 4;
  }
}

// Memory that is made at the first use and goes with its last user.
class LazyMemory {
 public:
  LazyMemory(std::size_t bytes, bool huge, std::uint64_t seed) : bytes_(bytes), huge_(huge), seed_(seed) {}
  Memory& get() {
    if (!memory_) memory_ = std::make_unique<Memory>(bytes_, huge_, seed_);
    return *memory_;
  }
  std::size_t bytes() const { return bytes_; }

 private:
  std::size_t bytes_;
  bool huge_;
  std::uint64_t seed_;
  std::unique_ptr<Memory> memory_;
};

// A random cycle through all lines of `bytes`, at a random place of each line; the pages in any order.
void* make_cycle(std::byte* data, std::size_t bytes, std::size_t line, std::uint64_t seed) {
  std::size_t const nodes = bytes / line;
  auto const order = random_order(nodes, seed);
  auto const node = [&](std::size_t i) { return reinterpret_cast<void**>(data + order[i % nodes] * line); };
  for (std::size_t i = 0; i < nodes; ++i) *node(i) = node(i + 1);
  return node(0);
}

class CpuProbe final : public Probe {
 public:
  CpuProbe() {
    facts_ = read_facts();
    auto const all = processors();
    std::size_t const cores = std::min<std::size_t>(facts_.compute_units, all.size());
    for (std::size_t n = 1; n < cores; n *= 2) teams_[n] = nullptr;
    teams_[cores] = nullptr;
    processors_ = all;
    best_ = levels().back();
  }

  std::optional<double> clock_hz() override {
    double best = 0;
    for (int i = 0; i < 5; ++i) {
      constexpr std::uint64_t steps = 1 << 17;
      best = std::max(best, static_cast<double>(steps) / team(1).run([](std::size_t) { count_clocks(steps); }));
    }
    return best;
  }

  std::string trouble() const override {
    for (auto const& [threads, team] : teams_)
      if (team && team->pinning_error() != 0)
        return fmt::format("threads could not be held to their cores: {}",
                           std::generic_category().message(team->pinning_error()));
    return {};
  }

  std::vector<Point> plan(Settings const& settings) override {
    std::vector<Point> points;
    settings_ = settings;
    points_ = &points;
    if (settings.wants("facts")) points = stated_points(facts_);
    if (settings.wants("clock")) clock();
    if (settings.wants("flops")) flops();
    if (settings.wants("instruction")) instructions();
    if (settings.wants("cache")) caches();
    if (settings.wants("latency")) latency();
    if (settings.wants("atomics")) atomics();
    if (settings.wants("launch")) launch();
    if (settings.wants("barrier")) barrier();
    if (settings.wants("global")) global();
    for (auto const& [bench, metric, why] : absent_)
      if (settings.wants(bench)) add(bench, metric).unsupported = why;
    points_ = nullptr;
    return points;
  }

 private:
  struct Absent {
    char const *bench, *metric, *why;
  };
  static constexpr Absent absent_[] = {
      {"shared", "shared_bandwidth_bytes_per_s", "a CPU has no memory of its own for a work-group"},
      {"texture", "texture_bandwidth_bytes_per_s", "a CPU has no texture units"},
      {"constant", "constant_bandwidth_bytes_per_s", "a CPU has no constant memory"},
      {"copy", "copy_bandwidth_bytes_per_s", "a CPU works in the host's memory"},
  };

  Team& team(std::size_t threads) {
    auto& team = teams_[threads];
    if (!team)
      team = std::make_unique<Team>(std::vector<unsigned>(
          processors_.begin(),
          processors_.begin() + static_cast<std::ptrdiff_t>(std::min(threads, processors_.size()))));
    return *team;
  }

  double occupancy(std::size_t threads) const {
    return static_cast<double>(threads) / static_cast<double>(facts_.compute_units);
  }

  std::vector<std::size_t> thread_counts() const {
    std::vector<std::size_t> out;
    for (auto const& [threads, team] : teams_)
      if (threads <= facts_.compute_units) out.push_back(threads);
    if (settings_.depth == Depth::quick && out.size() > 2) out = {out.front(), out.back()};
    return out;
  }

  Point& add(std::string bench, std::string metric) {
    Point point;
    point.bench = std::move(bench);
    point.row.metric = std::move(metric);
    points_->push_back(std::move(point));
    return points_->back();
  }

  void clock() {
    add("clock", "clock_hz").measure = [this] { return *clock_hz(); };
  }

  // Seconds per call on every thread of a team.
  double arithmetic_s(std::size_t threads, Arithmetic what, bool latency, std::uint64_t iterations) {
    return team(threads).run(
        [&](std::size_t self) { best_->arithmetic(what, latency, iterations, settings_.seed + self); });
  }

  Variables counting(Arithmetic what, bool latency, std::uint64_t iterations) const {
    return {{"iterations", static_cast<std::int64_t>(iterations)},
            {"chains", latency ? 1 : best_->chains},
            {"unroll", best_->unroll},
            {"lanes", best_->vector_bytes / element_bytes(what)}};
  }

  // Sustained rate of `quantity` (flop, op) over all threads.
  std::function<double()> rate(std::size_t threads, Arithmetic what, std::string const& kernel,
                               std::string const& quantity) {
    return [this, threads, what, kernel, quantity, iterations = std::uint64_t{0}]() mutable {
      if (iterations == 0)
        iterations = iterations_for([&](std::uint64_t n) { return arithmetic_s(threads, what, false, n); }, sample_s);
      double const count = cpu_catalogue().count(kernel, quantity, counting(what, false, iterations));
      return static_cast<double>(threads) * count / arithmetic_s(threads, what, false, iterations);
    };
  }

  void flops() {
    struct Peak {
      char const *metric, *item_class, *variant, *kernel, *quantity;
      Arithmetic what;
      double per_cycle;  // of a core, at most; 0: no bound is known
    };
    double const f32 = facts_.flop_per_cycle_fp32, f64 = facts_.flop_per_cycle_fp64;
    Peak const peaks[] = {
        {"peak_flop_per_s", "fp32", "fma", "multiply_add", "flop", Arithmetic::fma_fp32, f32},
        {"peak_flop_per_s", "fp64", "fma", "multiply_add", "flop", Arithmetic::fma_fp64, f64},
        // Processors may have other pipes for additions than for multiplications: up to the rate of fused ones.
        {"peak_flop_per_s", "fp32", "add_mul", "add_or_multiply", "flop", Arithmetic::mix_fp32, f32},
        {"peak_flop_per_s", "fp64", "add_mul", "add_or_multiply", "flop", Arithmetic::mix_fp64, f64},
        {"peak_op_per_s", "int_add", "", "add", "op", Arithmetic::add_int32, 0},
        {"peak_op_per_s", "int_mul", "", "multiply", "op", Arithmetic::mul_int32, 0},
        {"peak_op_per_s", "special", "div fp32", "divide", "op", Arithmetic::div_fp32, 0},
        {"peak_op_per_s", "special", "div fp64", "divide", "op", Arithmetic::div_fp64, 0},
    };
    auto const counts = thread_counts();
    for (auto const& peak : peaks)
      for (std::size_t const threads : counts) {
        if (threads != counts.back() && peak.variant != std::string("fma")) continue;
        auto& point = add("flops", peak.metric);
        point.row.item_class = peak.item_class;
        point.row.variant = peak.variant;
        point.row.occupancy = occupancy(threads);
        point.row.word_bytes = element_bytes(peak.what);
        point.measure = rate(threads, peak.what, peak.kernel, peak.quantity);
        if (peak.per_cycle > 0) point.most = peak_of(threads, peak.per_cycle);
      }
    auto& half = add("flops", "peak_flop_per_s");
    half.row.item_class = "fp16";
    half.unsupported = "no half-precision arithmetic in the instruction sets that are used here";
  }

  double peak_of(std::size_t threads, double per_cycle) {
    if (!(bound_clock_hz_ > 0)) bound_clock_hz_ = *clock_hz();
    return static_cast<double>(threads) * per_cycle * std::max(bound_clock_hz_, facts_.clock_hz);
  }

  void instructions() {
    for (auto const& c : instruction_classes)
      for (bool const latency : {true, false}) {
        auto& point = add("instruction", latency ? "latency_cycles" : "gap_cycles");
        point.row.item_class = c.name;
        point.row.word_bytes = best_->vector_bytes;
        point.measure = [this, c, latency, iterations = std::uint64_t{0}]() mutable {
          if (iterations == 0)
            iterations = iterations_for([&](std::uint64_t n) { return arithmetic_s(1, c.what, latency, n); }, sample_s);
          double const seconds = arithmetic_s(1, c.what, latency, iterations);
          double const steps =
              static_cast<double>(iterations) * best_->unroll * (latency ? (c.two_steps ? 2 : 1) : best_->chains);
          return seconds * *clock_hz() / steps;
        };
      }
  }

  // The first `bytes` of a window of the memory for each thread, in turn.
  struct Windows {
    std::size_t words = 0, window = 0, next = 0;
    std::size_t advance() {
      std::size_t const at = next;
      next = (next + window) % words;
      return at;
    }
  };

  static constexpr std::size_t cache_pass_words = 1 << 18;  // 2 MiB moved per sample at least

  void caches() {
    auto const sizes = {std::pair{"l1", facts_.l1_bytes}, std::pair{"l2", facts_.l2_bytes},
                        std::pair{"l3", facts_.l3_bytes}};
    for (auto const& [level, capacity] : sizes)
      for (std::size_t const threads : thread_counts())
        for (char const* const direction : {"read", "write", "copy"}) {
          if (!(capacity > 0)) continue;
          bool const shared = std::string(level) == "l3";
          // Half of the cache, and a fair part of one that all share; whole vectors eight at a time.
          double const each = capacity / 2 / (shared ? static_cast<double>(threads) : 1.0);
          auto const words = static_cast<std::size_t>(each / 8) / 512 * 512;
          auto& point = add("cache", "cache_bandwidth_bytes_per_s");
          point.row.access = "coalesced";
          point.row.direction = direction;
          point.row.word_bytes = 4;
          point.row.variant = level;
          point.row.occupancy = occupancy(threads);
          point.row.working_set_bytes = static_cast<double>(words * 8);
          auto const memory = std::make_shared<LazyMemory>(threads * words * 8 + (1 << 21), true, settings_.seed);
          point.measure = [this, memory, words, threads, way = std::string(direction)] {
            auto* const data = reinterpret_cast<std::uint64_t*>(memory->get().data());
            std::size_t const half = words / 2;
            std::size_t const passes = std::max<std::size_t>(1, cache_pass_words / words);
            double const seconds = team(threads).run([&](std::size_t self) {
              auto* const mine = data + self * words;
              for (std::size_t i = 0; i < passes; ++i) move(way, mine, words, half, false);
            });
            return static_cast<double>(threads * passes * words * 8) / seconds;
          };
        }
  }

  // One pass over `words` at p; a copy goes from its upper half to its lower half, and both count.
  void move(std::string const& way, std::uint64_t* p, std::size_t words, std::size_t half, bool past_caches) const {
    if (way == "read") {
      if (best_->read(p, words) == 0x5555555555555555) p[0] = 0;
    } else if (way == "write")
      (past_caches ? best_->write_stream : best_->write)(p, words, 0x9E3779B97F4A7C15u);
    else
      (past_caches ? best_->copy_stream : best_->copy)(p, p + half, half);
  }

  std::size_t memory_words() const {
    double const bytes = std::max(64.0 * (1 << 20), 4 * facts_.last_cache_bytes);
    return std::bit_ceil(static_cast<std::size_t>(bytes)) / 8;
  }

  void global() {
    auto const memory = std::make_shared<LazyMemory>(memory_words() * 8, true, settings_.seed);
    for (std::size_t const threads : thread_counts())
      for (char const* const direction : {"read", "write", "copy"})
        for (bool const stream : {false, true}) {
          if (stream && direction == std::string("read")) continue;
          coalesced(memory, threads, direction, stream);
        }
    struct Pattern {
      std::string access;
      int shift;
    };
    std::vector<Pattern> patterns;
    for (int const shift : {1, 2, 3, 4, 5}) patterns.push_back({fmt::format("stride{}", 1 << shift), shift});
    patterns.push_back({"random", -1});
    bool const quick = settings_.depth == Depth::quick;
    for (auto const& pattern : patterns)
      for (unsigned const word_bytes : {4u, 8u, 16u})
        for (char const* const direction : {"read", "write"}) {
          if (quick && (word_bytes != 4 || direction != std::string("read"))) continue;
          patterned(memory, pattern.access, pattern.shift, word_bytes, direction);
        }
  }

  void coalesced(std::shared_ptr<LazyMemory> const& memory, std::size_t threads, std::string const& direction,
                 bool stream) {
    auto& point = add("global", "global_bandwidth_bytes_per_s");
    point.row.access = "coalesced";
    point.row.direction = direction;
    point.row.word_bytes = 4;
    point.row.variant = stream ? "streaming" : "";
    point.row.occupancy = occupancy(threads);
    point.row.working_set_bytes = static_cast<double>(memory->bytes());
    std::size_t const words = memory->bytes() / 8;
    // About a millisecond at 10 GB/s and core; whole vectors for each thread.
    std::size_t const window = std::min(words / 8, std::bit_floor(threads) * (std::size_t{1} << 21));
    point.measure = [this, memory, threads, direction, stream, windows = Windows{words, window, 0}]() mutable {
      auto* const data = reinterpret_cast<std::uint64_t*>(memory->get().data()) + windows.advance();
      std::size_t const each = windows.window / threads / 512 * 512;
      double const seconds =
          team(threads).run([&](std::size_t self) { move(direction, data + self * each, each, each / 2, stream); });
      return static_cast<double>(threads * each * 8) / seconds;
    };
  }

  void patterned(std::shared_ptr<LazyMemory> const& memory, std::string const& access, int shift, unsigned word_bytes,
                 std::string const& direction) {
    auto& point = add("global", "global_bandwidth_bytes_per_s");
    point.row.access = access;
    point.row.direction = direction;
    point.row.word_bytes = word_bytes;
    std::size_t const threads = facts_.compute_units;
    point.row.occupancy = occupancy(threads);
    point.row.working_set_bytes = static_cast<double>(memory->bytes());
    std::size_t const words = memory->bytes() / word_bytes;
    std::size_t const each = shift < 0 ? std::size_t{1} << 16 : std::size_t{1} << 18;
    point.measure = [this, memory, threads, word_bytes, shift, write = direction == "write",
                     windows = Windows{words, std::min(words, std::bit_floor(threads * each)), 0}]() mutable {
      auto* const data = memory->get().data();
      auto const bits = static_cast<unsigned>(std::bit_width(windows.words) - 1);
      std::size_t const first = windows.advance();
      std::size_t const mine = windows.window / threads;
      std::vector<std::uint64_t> sums(threads * 8);
      double const seconds = team(threads).run([&](std::size_t self) {
        if (write)
          best_->write_pattern(data, word_bytes, bits, shift, first + self * mine, mine);
        else
          sums[self * 8] = best_->read_pattern(data, word_bytes, bits, shift, first + self * mine, mine);
      });
      return static_cast<double>(threads * mine * word_bytes) / seconds;
    };
  }

  void latency() {
    double const line = facts_.line_bytes > 0 ? facts_.line_bytes : 64;
    double const largest = static_cast<double>(memory_words() * 8);
    double const ratio = settings_.depth == Depth::thorough ? std::sqrt(std::sqrt(2.0))
                         : settings_.depth == Depth::normal ? std::sqrt(2.0)
                                                            : 2.0;
    for (double bytes = 4096; bytes <= largest * 1.001; bytes *= ratio)
      chase_point(std::round(bytes / line) * line, line, true);
    if (settings_.depth != Depth::quick)
      for (double bytes = 4096; bytes <= largest; bytes *= 4) chase_point(bytes, line, false);
    line_point();
  }

  void chase_point(double bytes, double line, bool huge) {
    auto& point = add("latency", "load_latency_s");
    point.row.access = "random";
    point.row.direction = "read";
    point.row.word_bytes = sizeof(void*);
    point.row.working_set_bytes = bytes;
    point.row.variant = huge ? "" : "small pages";
    point.row.occupancy = occupancy(1);
    auto const size = static_cast<std::size_t>(bytes);
    auto const memory = std::make_shared<LazyMemory>((size + (1 << 21) - 1) >> 21 << 21, huge, settings_.seed);
    point.measure = [this, memory, size, line, at = static_cast<void*>(nullptr)]() mutable {
      std::uint64_t const steps = size > (1 << 20) ? 1 << 14 : 1 << 16;
      if (!at) {
        at = make_cycle(memory->get().data(), size, static_cast<std::size_t>(line), settings_.seed);
        std::uint64_t const around = std::min<std::uint64_t>(size / static_cast<std::size_t>(line), 1 << 20);
        team(1).run([&](std::size_t) { at = cpu::chase(at, around + 15); });
      }
      return team(1).run([&](std::size_t) { at = cpu::chase(at, steps); }) / static_cast<double>(steps);
    };
  }

  // Pairs of loads `distance` apart, at places that lie in the second-level cache but not in the first: while the two
  // share a line, the second is found in the first level.
  void line_point() {
    auto& point = add("latency", "cache_line_bytes");
    std::size_t const bytes = facts_.l2_bytes > 0 ? static_cast<std::size_t>(facts_.l2_bytes) / 2 : 1 << 17;
    auto const memory = std::make_shared<LazyMemory>((bytes + (1 << 21) - 1) >> 21 << 21, true, settings_.seed);
    point.measure = [this, memory, bytes] {
      constexpr std::size_t places = 1024;  // bytes between pairs
      std::vector<std::pair<std::size_t, double>> times;
      for (std::size_t distance = 8; distance <= places / 2; distance *= 2) {
        auto* const data = memory->get().data();
        void* at = make_cycle(data, bytes, places, settings_.seed);
        for (std::size_t p = 0; p + places <= bytes; p += places) {
          auto** const first = reinterpret_cast<void**>(data + p);
          auto** const second = reinterpret_cast<void**>(data + p + distance);
          *second = *first;
          *first = second;
        }
        team(1).run([&](std::size_t) { at = cpu::chase(at, 4 * bytes / places); });
        double best = 1;
        for (int i = 0; i < 5; ++i)
          best = std::min(best, team(1).run([&](std::size_t) { at = cpu::chase(at, 1 << 14); }));
        times.emplace_back(distance, best);
      }
      double const middle = (times.front().second + times.back().second) / 2;
      for (auto const& [distance, time] : times)
        if (time > middle) return static_cast<double>(distance);
      return static_cast<double>(times.back().first);
    };
  }

  void atomics() {
    for (bool const same : {true, false}) {
      auto& point = add("atomics", "atomic_op_per_s");
      point.row.variant = same ? "same" : "distinct";
      point.row.word_bytes = 4;
      std::size_t const threads = facts_.compute_units;
      point.row.occupancy = occupancy(threads);
      auto const memory = std::make_shared<LazyMemory>(threads * 4096 + (1 << 21), true, settings_.seed);
      point.measure = [this, memory, same, threads] {
        constexpr std::uint64_t each = 1 << 15;
        auto* const data = memory->get().data();
        double const seconds = team(threads).run([&](std::size_t self) {
          auto* const counter = reinterpret_cast<std::uint32_t*>(data + (same ? 0 : self * 4096));
          for (std::uint64_t i = 0; i < each; ++i) __atomic_fetch_add(counter, 1, __ATOMIC_RELAXED);
        });
        return static_cast<double>(threads * each) / seconds;
      };
    }
  }

  void launch() {
    auto& point = add("launch", "launch_s");
    point.row.variant = "threads";
    std::size_t const threads = facts_.compute_units;
    point.row.occupancy = occupancy(threads);
    point.measure = [this, threads] {
      auto const start = std::chrono::steady_clock::now();
      team(threads).run([](std::size_t) {});
      return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    };
  }

  void barrier() {
    // [automatch] III-A: one thread on each logical core.
    auto& point = add("barrier", "barrier_s");
    point.row.variant = "threads";
    std::size_t const threads = processors_.size();
    point.row.occupancy = 1;
    if (threads < 2) {
      point.unsupported = "one logical core: there is no other thread to wait for";
      return;
    }
    point.measure = [this, threads] {
      constexpr int turns = 1000;
      SpinBarrier barrier(threads);
      return team(threads).run([&](std::size_t) {
        for (int i = 0; i < turns; ++i) barrier.wait();
      }) / turns;
    };
  }

  Settings settings_;
  std::vector<Point>* points_ = nullptr;
  std::vector<unsigned> processors_;
  std::map<std::size_t, std::unique_ptr<Team>> teams_;
  Kernels const* best_ = nullptr;
  double bound_clock_hz_ = 0;
};

class CpuBackend final : public Backend {
 public:
  std::string name() const override { return "cpu"; }
  std::vector<Listed> list() override { return {{read_facts(), record::RowStatus::ok, ""}}; }
  std::string absence() const override { return {}; }
  std::string absence_hint() const override { return {}; }
  std::unique_ptr<Probe> open(Facts const&) override { return std::make_unique<CpuProbe>(); }
};

}  // namespace

std::unique_ptr<Backend> cpu_backend() {
  return std::make_unique<CpuBackend>();
}

}  // namespace kernelcast::probe
