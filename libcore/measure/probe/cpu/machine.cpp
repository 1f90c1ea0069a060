#include "measure/probe/cpu/machine.hpp"

#include <hwloc.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/utsname.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <fstream>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>

#include <fmt/format.h>

#include "base/process/input.hpp"
#include "measure/probe/random.hpp"

namespace kernelcast::probe::cpu {

namespace {

struct Cache {
  std::uint64_t count = 0, bytes = 0, line_bytes = 0;
};

// What hwloc counts, as it is sent from process to process.
struct Counts {
  std::uint64_t cores = 0, threads = 0, memory_bytes = 0;
  Cache l1, l2, l3;
};

struct Topology {
  Counts counts;
  std::vector<unsigned> processors;  // see processors()
};

// hwloc's own memory is not checked: where there is none it crashes.
class Hwloc {
 public:
  Hwloc() {
    if (hwloc_topology_init(&topology_) != 0) throw std::bad_alloc();
    if (hwloc_topology_load(topology_) == 0) return;
    hwloc_topology_destroy(topology_);
    throw Error(Status::io, "hwloc cannot read this machine's topology", "what does lstopo say?");
  }
  ~Hwloc() { hwloc_topology_destroy(topology_); }
  Hwloc(Hwloc const&) = delete;

  Topology read() const {
    Topology out;
    out.counts = {number(HWLOC_OBJ_CORE),   number(HWLOC_OBJ_PU),     hwloc_get_root_obj(topology_)->total_memory,
                  cache(HWLOC_OBJ_L1CACHE), cache(HWLOC_OBJ_L2CACHE), cache(HWLOC_OBJ_L3CACHE)};
    for (unsigned nth = 0;; ++nth) {
      std::size_t const before = out.processors.size();
      for (auto* core = hwloc_get_next_obj_by_type(topology_, HWLOC_OBJ_CORE, nullptr); core;
           core = hwloc_get_next_obj_by_type(topology_, HWLOC_OBJ_CORE, core)) {
        auto* const unit = hwloc_get_obj_inside_cpuset_by_type(topology_, core->cpuset, HWLOC_OBJ_PU, nth);
        if (unit) out.processors.push_back(unit->os_index);
      }
      if (out.processors.size() == before) break;
    }
    return out;
  }

 private:
  std::uint64_t number(hwloc_obj_type_t type) const {
    return static_cast<std::uint64_t>(std::max(0, hwloc_get_nbobjs_by_type(topology_, type)));
  }
  Cache cache(hwloc_obj_type_t type) const {
    auto const* const first = hwloc_get_obj_by_type(topology_, type, 0);
    if (!first) return {};
    return {number(type), first->attr->cache.size, first->attr->cache.linesize};
  }

  hwloc_topology_t topology_ = nullptr;
};

std::string packed(Topology const& topology) {
  std::string out(sizeof(Counts) + topology.processors.size() * sizeof(unsigned), '\0');
  std::memcpy(out.data(), &topology.counts, sizeof(Counts));
  if (!topology.processors.empty())
    std::memcpy(out.data() + sizeof(Counts), topology.processors.data(), out.size() - sizeof(Counts));
  return out;
}

Topology unpacked(std::string const& text) {
  Topology out;
  std::memcpy(&out.counts, text.data(), sizeof(Counts));
  out.processors.resize((text.size() - sizeof(Counts)) / sizeof(unsigned));
  if (!out.processors.empty())
    std::memcpy(out.processors.data(), text.data() + sizeof(Counts), out.processors.size() * sizeof(unsigned));
  return out;
}

// Read once, in a process of its own.
Topology const& topology() {
  static Topology const read = unpacked(in_child("hwloc", "", [] { return packed(Hwloc().read()); }));
  return read;
}

// "model name" of /proc/cpuinfo, and other fields of its first processor.
std::string cpuinfo(std::string const& field) {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with(field) && line.find(':') != std::string::npos) {
      auto const colon = line.find(':');
      return colon + 2 <= line.size() ? line.substr(colon + 2) : "";
    }
  return {};
}

double stated_clock_hz() {
  // Megahertz here; the highest clock that the governor allows where it is known, else what the processor says now.
  if (std::ifstream file("/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq"); file) {
    double khz = 0;
    if (file >> khz) return khz * 1e3;
  }
  std::string const mhz = cpuinfo("cpu MHz");
  return mhz.empty() ? 0 : std::strtod(mhz.c_str(), nullptr) * 1e6;
}

// Additions and multiplications of a core and clock, a multiply-add being two: two vector pipes, on processors with
// fused multiply-adds two of those. AMD's fourth Zen runs 512-bit vectors in halves.
double flop_per_cycle(unsigned element_bytes) {
#if defined(__x86_64__)
  bool const fused = __builtin_cpu_supports("fma");
  unsigned vector_bytes = fused ? 32 : 16;
  bool const halves = cpuinfo("vendor_id") == "AuthenticAMD" && std::atoi(cpuinfo("cpu family").c_str()) < 26;
  if (__builtin_cpu_supports("avx512f") && !halves) vector_bytes = 64;
  return (fused ? 4.0 : 2.0) * vector_bytes / element_bytes;
#else
  return element_bytes == 0 ? 0 : 4.0 * 16 / element_bytes;
#endif
}

std::string level_name() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq")) return "x86-64-v4";
  if (__builtin_cpu_supports("avx2")) return "x86-64-v3";
  return "x86-64";
#else
  utsname host{};
  uname(&host);
  return host.machine;
#endif
}

}  // namespace

Facts read_facts() {
  auto const& counts = topology().counts;
  Facts out;
  out.spec = out.backend = out.kind = "cpu";
  out.name = cpuinfo("model name");
  if (out.name.empty()) out.name = "CPU";
  std::string const vendor = cpuinfo("vendor_id");
  out.vendor = vendor == "AuthenticAMD" ? "AMD" : vendor == "GenuineIntel" ? "Intel" : vendor;
  out.device = slug(out.name);
  utsname host{};
  uname(&host);
  out.driver = fmt::format("{} {}", host.sysname, host.release);
  out.target = level_name();
  out.compute_units = std::max<std::uint64_t>(1, counts.cores);
  out.threads_per_cu = std::max<std::uint64_t>(1, counts.threads / out.compute_units);
  out.clock_hz = stated_clock_hz();
  out.flop_per_cycle_fp32 = flop_per_cycle(4);
  out.flop_per_cycle_fp64 = flop_per_cycle(8);
  out.memory_bytes = static_cast<double>(counts.memory_bytes);
  out.l1_bytes = static_cast<double>(counts.l1.bytes);
  out.l2_bytes = static_cast<double>(counts.l2.bytes);
  out.l3_bytes = static_cast<double>(counts.l3.bytes);
  auto const& last = counts.l3.bytes > 0 ? counts.l3 : counts.l2.bytes > 0 ? counts.l2 : counts.l1;
  out.last_cache_bytes = static_cast<double>(last.count * last.bytes);
  out.line_bytes = static_cast<double>(counts.l1.line_bytes);
  // Lanes of single precision by the widest vector.
#if defined(__x86_64__)
  out.lanes_per_cu = __builtin_cpu_supports("avx512f") ? 16 : __builtin_cpu_supports("avx") ? 8 : 4;
#else
  out.lanes_per_cu = 4;
#endif
  out.wave_width = out.lanes_per_cu;
  return out;
}

std::vector<unsigned> processors() {
  auto out = topology().processors;
  if (out.empty())
    for (unsigned i = 0; i < std::max(1u, std::thread::hardware_concurrency()); ++i) out.push_back(i);
  return out;
}

Memory::Memory(std::size_t bytes, bool huge, std::uint64_t seed) : bytes_(bytes) {
  void* const p = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (p == MAP_FAILED)
    throw Error(Status::limit, fmt::format("no memory for {} bytes", bytes), "free some, or choose fewer --bench");
  madvise(p, bytes, huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
  data_ = static_cast<std::byte*>(p);
  fill_randomly({data_, bytes}, seed);
}

Memory::~Memory() {
  if (data_) munmap(data_, bytes_);
}

void SpinBarrier::wait() {
  std::uint64_t const turn = turn_.load(std::memory_order_acquire);
  if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == threads_) {
    arrived_.store(0, std::memory_order_relaxed);
    turn_.store(turn + 1, std::memory_order_release);
    return;
  }
  for (unsigned spins = 0; turn_.load(std::memory_order_acquire) == turn;) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
    // The thread waited for may need this processor.
    if (++spins % 65536 == 0) sched_yield();
  }
}

struct Team::State {
  using Clock = std::chrono::steady_clock;
  explicit State(std::size_t count) : begin(count), ended(count) {}
  std::vector<std::thread> threads;
  std::mutex mutex;
  std::condition_variable wake, done;
  std::uint64_t job = 0;
  std::size_t running = 0;
  bool stop = false;
  std::function<void(std::size_t)> const* work = nullptr;
  int pinning_error = 0;
  SpinBarrier begin;
  std::vector<Clock::time_point> ended;
  Clock::time_point started;

  void serve(std::size_t self) {
    for (std::uint64_t seen = 0;;) {
      {
        std::unique_lock lock(mutex);
        wake.wait(lock, [&] { return stop || job != seen; });
        if (stop) return;
        seen = job;
      }
      begin.wait();
      if (self == 0) started = Clock::now();
      (*work)(self);
      ended[self] = Clock::now();
      std::lock_guard const lock(mutex);
      if (--running == 0) done.notify_one();
    }
  }
};

Team::Team(std::vector<unsigned> processors) : state_(std::make_unique<State>(processors.size())) {
  for (std::size_t i = 0; i < processors.size(); ++i) {
    try {
      state_->threads.emplace_back([this, i] { state_->serve(i); });
    } catch (std::system_error const& error) {
      dismiss();
      throw Error(Status::limit, fmt::format("no {} threads: {}", processors.size(), error.code().message()),
                  "limits of processes and memory (ulimit -u, -v) say how many there may be");
    } catch (...) {
      dismiss();
      throw;
    }
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(processors[i], &set);
    // Where it is not allowed the thread runs anywhere.
    int const error = pthread_setaffinity_np(state_->threads.back().native_handle(), sizeof set, &set);
    if (error != 0) state_->pinning_error = error;
  }
}

Team::~Team() {
  dismiss();
}

void Team::dismiss() {
  {
    std::lock_guard const lock(state_->mutex);
    state_->stop = true;
  }
  state_->wake.notify_all();
  for (auto& thread : state_->threads) thread.join();
}

int Team::pinning_error() const {
  return state_->pinning_error;
}

std::size_t Team::size() const {
  return state_->threads.size();
}

double Team::run(std::function<void(std::size_t)> const& work) {
  std::unique_lock lock(state_->mutex);
  state_->work = &work;
  state_->running = state_->threads.size();
  ++state_->job;
  state_->wake.notify_all();
  state_->done.wait(lock, [&] { return state_->running == 0; });
  auto const last = *std::max_element(state_->ended.begin(), state_->ended.end());
  return std::chrono::duration<double>(last - state_->started).count();
}

}  // namespace kernelcast::probe::cpu
