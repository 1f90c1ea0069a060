// The run-time library of instrumented programs: the functions that instrumented code calls, and the life of a run from
// the first call of the kernel to the profile that is written when the program ends.
// Limits: one thread; 2^30 levels; 2^33 iterations of all loops together.
#include <dlfcn.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <new>
#include <optional>
#include <unordered_map>
#include <vector>

#include "record/table.hpp"
#include "seq/buffers.hpp"
#include "seq/contexts.hpp"
#include "seq/crash.hpp"
#include "seq/result.hpp"
#include "seq/settings.hpp"
#include "seq/shadow.hpp"

#define KERNELCAST_EXPORT extern "C" __attribute__((visibility("default")))

KERNELCAST_EXPORT kernelcast::seq::State kernelcast_seq_state;
kernelcast::seq::State kernelcast_seq_state{};

namespace kernelcast::seq {

namespace {

constexpr std::size_t most_frames = 1 << 16;
constexpr std::uint64_t last_clock = (std::uint64_t{1} << 62);

// Ends the program with a word that the driver passes on.
[[noreturn]] void fail(Settings const& settings, char const* what) {
  // The driver, where there is one, says it.
  if (!std::getenv("KERNELCAST_SEQPROF_OUTPUT")) std::fprintf(stderr, "seqprof: error: %s\n", what);
  report_failure(settings.output, what);
  std::_Exit(125);
}

class Run {
 public:
  explicit Run(char const* kernel)
      : kernel_(kernel),
        settings_(settings_from_environment()),
        frames_(most_frames + 64),
        rows_(settings_.granularities_bytes, settings_.sample) {
    try {
      Shadow::map();
    } catch (std::bad_alloc const&) {
      fail(settings_, "no room for the shadow memory: it needs 50 TiB of address space (overcommit must be allowed)");
    }
    watch_for_crashes(settings_.output);
    starting_thread = true;
    buffers_.emplace([this](auto const* begin, auto const* end) { rows_.take(begin, end); });
    starting_thread = false;
    state().row = buffers_->begin();
    state().row_limit = buffers_->limit();
    state().clock = tick;
    frames_[0].counter = &contexts_.invocations();
    frames_[0].start = tick;
  }

  static State& state() { return kernelcast_seq_state; }

  void enter_kernel() {
    if (depth_++ > 0) return;
    auto& s = state();
    s.clock += tick;
    auto& frame = frames_[0];
    frame.now = s.clock;
    ++frame.counter->iterations;
    frame.hull = frame.counter->carried ? no_hull : frame.start;
    s.frames = &frames_[1];
    std::fill(std::begin(s.argument_levels), std::end(s.argument_levels), 0);
  }
  void exit_kernel() { --depth_; }

  LoopCounter* enter(FunctionDescriptor& function) {
    auto* const top = state().frames;
    if (top + 64 > frames_.data() + frames_.size())
      fail(settings_, "limit reached: more than 65536 loops run inside each other");
    auto* const parent = top[-1].counter;
    if (function.parent != parent || !function.counters) {
      function.counters = contexts_.enter(function, parent);
      function.parent = parent;
    }
    return function.counters;
  }

  std::uint64_t* flush(std::uint64_t const* end, std::uint64_t clock) {
    if (clock > last_clock) fail(settings_, "limit reached: more than 2^32 iterations of loops");
    buffers_->hand_over(end);
    state().row_limit = buffers_->limit();
    return buffers_->begin();
  }

  std::uint64_t load(std::uint64_t address, std::uint64_t size, Site const* site, LoopFrame* top) {
    std::uint64_t level = 0;
    shadow_.each(address, size, [&](std::uint64_t cell) {
      level = std::max(level, cell & level_mask);
      if (site) check(cell, *site, top);
    });
    return level;
  }

  // A word that an earlier iteration of a running loop wrote is read: that loop is sequential.
  void check(std::uint64_t cell, Site const& site, LoopFrame* top) {
    for (auto* frame = top; frame >= frames_.data(); --frame) {
      if (cell < frame->start) continue;
      if (cell >= frame->now || frame->counter->carried) return;
      frame->counter->carried = 1;
      frame->counter->reader = &site;
      return recompute_hulls(top);
    }
  }

  void copy(std::uint64_t to, std::uint64_t from, std::uint64_t size, Site const& site, LoopFrame* top) {
    range_row_of(from, to, size);
    auto const together = to | from | size;
    std::uint64_t const step = (together & 7) == 0 ? 8 : (together & 3) == 0 ? 4 : 1;
    std::vector<std::uint64_t> levels;
    for (std::uint64_t done = 0; done < size; done += step) levels.push_back(load(from + done, step, &site, top));
    for (std::uint64_t done = 0; done < size; done += step)
      shadow_.store(to + done, step, state().clock + levels[done / step]);
  }
  void fill(std::uint64_t to, std::uint64_t size) {
    range_row_of(0, to, size);
    shadow_.store(to, size, state().clock);
  }
  Shadow& shadow() { return shadow_; }

  void finish(std::vector<FunctionDescriptor const*> const& functions) {
    buffers_->hand_over(state().row);
    if (auto const failure = buffers_->finish(); !failure.empty()) fail(settings_, failure.c_str());
    rows_.finish();
    Gathered const gathered{kernel_, functions, &contexts_, &rows_,
                            reinterpret_cast<std::uint64_t const*>(widths_base)};  // NOLINT
    std::ofstream out(settings_.output, std::ios::binary);
    record::Writer<record::Profile> writer(out);
    for (auto const& row : profile_of(gathered, settings_)) writer.write(row);
    writer.finish();
    out.flush();
    if (!out) fail(settings_, ("cannot write the profile to '" + settings_.output + "'").c_str());
  }

  static inline bool starting_thread = false;

 private:
  void recompute_hulls(LoopFrame* top) {
    auto outer = no_hull;
    for (auto* frame = frames_.data(); frame <= top; ++frame) {
      if (outer == no_hull && !frame->counter->carried) outer = frame->start;
      frame->hull = outer;
    }
  }
  void range_row_of(std::uint64_t from, std::uint64_t to, std::uint64_t size) {
    auto* row = state().row;
    row[0] = reinterpret_cast<std::uint64_t>(&range_row);
    row[1] = from;
    row[2] = to;
    row[3] = size;
    row += 4;
    state().row = row > state().row_limit ? flush(row, state().clock) : row;
  }

  std::string kernel_;
  Settings settings_;
  std::vector<LoopFrame> frames_;
  Contexts contexts_;
  Shadow shadow_;
  RowConsumer rows_;
  std::optional<Buffers> buffers_;
  unsigned depth_ = 0;
};

// Never destroyed: instrumented code may run in the destructors of the program.
Run* run = nullptr;
pid_t owner = 0;

std::vector<FunctionDescriptor const*>& functions() {
  static auto* const list = new std::vector<FunctionDescriptor const*>;
  return *list;
}
std::unordered_map<void*, void*>& copies() {
  static auto* const map = new std::unordered_map<void*, void*>;
  return *map;
}

__attribute__((destructor)) void finish_run() {
  if (run && getpid() == owner) run->finish(functions());
}

}  // namespace

}  // namespace kernelcast::seq

using namespace kernelcast::seq;

KERNELCAST_EXPORT void kernelcast_seq_register(FunctionDescriptor* function) {
  functions().push_back(function);
}
KERNELCAST_EXPORT void kernelcast_seq_copy_of(void* original, void* copy) {
  copies()[original] = copy;
}
KERNELCAST_EXPORT void* kernelcast_seq_find(void* original) {
  auto const at = copies().find(original);
  return at == copies().end() ? nullptr : at->second;
}
KERNELCAST_EXPORT void kernelcast_seq_kernel_enter(char const* name) {
  if (!run) {
    owner = getpid();
    run = new Run(name);
  }
  run->enter_kernel();
}
KERNELCAST_EXPORT void kernelcast_seq_kernel_exit() {
  run->exit_kernel();
}
KERNELCAST_EXPORT LoopCounter* kernelcast_seq_enter(FunctionDescriptor* function) {
  return run->enter(*function);
}
KERNELCAST_EXPORT std::uint64_t* kernelcast_seq_flush(std::uint64_t const* end, std::uint64_t clock) {
  return run->flush(end, clock);
}
KERNELCAST_EXPORT std::uint64_t kernelcast_seq_load(std::uint64_t address, std::uint64_t size, Site const* site,
                                                    LoopFrame* top) {
  return run->load(address, size, site, top);
}
KERNELCAST_EXPORT void kernelcast_seq_store(std::uint64_t address, std::uint64_t size, std::uint64_t cell) {
  run->shadow().store(address, size, cell);
}
KERNELCAST_EXPORT void kernelcast_seq_split(std::uint64_t address) {
  run->shadow().split(address);
}
KERNELCAST_EXPORT void kernelcast_seq_clear(void const* memory, std::uint64_t size) {
  if (memory) run->shadow().clear(reinterpret_cast<std::uint64_t>(memory), size);
}
KERNELCAST_EXPORT void kernelcast_seq_copy(void const* to, void const* from, std::uint64_t size, Site const* site,
                                           LoopFrame* top) {
  run->copy(reinterpret_cast<std::uint64_t>(to), reinterpret_cast<std::uint64_t>(from), size, *site, top);
}
KERNELCAST_EXPORT void kernelcast_seq_fill(void const* to, std::uint64_t size) {
  run->fill(reinterpret_cast<std::uint64_t>(to), size);
}

// Stands before the C library's: a profile of several threads at once would be wrong, so there is none.
KERNELCAST_EXPORT int pthread_create(pthread_t* thread, pthread_attr_t const* attributes, void* (*start)(void*),
                                     void* argument) {
  using Create = int (*)(pthread_t*, pthread_attr_t const*, void* (*)(void*), void*);
  static auto const real = reinterpret_cast<Create>(dlsym(RTLD_NEXT, "pthread_create"));
  if (!Run::starting_thread)
    fail(settings_from_environment(), "the program starts a thread, and only sequential programs can be profiled");
  return real(thread, attributes, start, argument);
}
