#include "sequential/run.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <new>

#include "base/process/setting.hpp"
#include "records/table/table.hpp"
#include "sequential/crash.hpp"
#include "sequential/result.hpp"

namespace kernelcast::seq {

namespace {

constexpr std::size_t max_frames = 1 << 16;
constexpr std::size_t max_invocations = 10000;  // that are told apart
constexpr std::uint64_t last_clock = (std::uint64_t{1} << 62);

std::uint64_t const* widths() {
  return reinterpret_cast<std::uint64_t const*>(widths_base);  // NOLINT
}

}  // namespace

void fail(Settings const& settings, char const* what) {
  // The driver, where there is one, says it.
  if (!setting(variables::seqprof_output)) std::fprintf(stderr, "seqprof: error: %s\n", what);
  report_failure(settings.output, what);
  std::_Exit(125);
}

namespace {

Settings usable_settings() {
  auto settings = settings_from_environment();
  if (!settings.level.empty() && !use_distance_level(settings.level))
    fail(settings, ("instruction-set level '" + settings.level + "' of KERNELCAST_ISA is not available here").c_str());
  return settings;
}

}  // namespace

Run::Run(State& state, char const* kernel, std::uint64_t mode, std::vector<FunctionDescriptor const*> const& functions)
    : state_(state),
      kernel_(kernel),
      mode_(mode),
      functions_(functions),
      settings_(usable_settings()),
      frames_(max_frames + 64),
      rows_(settings_.granularities_bytes, settings_.sample) {
  try {
    Shadow::map();
  } catch (std::bad_alloc const&) {
    fail(settings_, "no room for the shadow memory: it needs 50 TiB of address space (overcommit must be allowed)");
  }
  watch_for_crashes(settings_.output);
  for (auto const* const function : functions_)
    for (std::uint64_t i = 0; i < function->row_count; ++i)
      for (std::uint32_t n = 1; n <= function->rows[i].accesses; ++n)
        rows_.largest = std::max<std::uint64_t>(rows_.largest, function->rows[i].sizes[n]);
  rows_.at_invocation = [this](std::size_t number) {
    auto& totals = invocations_[number].by_consumer;
    totals = totals_of(functions_, Side::consumer);
    totals.loads += rows_.range_loads();
    totals.stores += rows_.range_stores();
    totals.bytes += rows_.range_bytes();
  };
  buffers_.emplace([this](auto const* begin, auto const* end) { rows_.take(begin, end); },
                   settings_.sample > 1 ? Buffers::Place::here : Buffers::Place::own_thread);
  state_.row = buffers_->begin();
  state_.row_limit = buffers_->limit();
  state_.clock = tick;
  frames_[0].counter = &contexts_.invocations();
  frames_[0].start = tick;
}

void Run::enter_kernel() {
  if (depth_++ > 0) return;
  state_.clock += tick;
  auto& frame = frames_[0];
  frame.now = state_.clock;
  ++frame.counter->iterations;
  state_.frames = &frames_[1];
  recompute_hulls(&frame);
  std::fill(std::begin(state_.argument_levels), std::end(state_.argument_levels), 0);
}

void Run::exit_kernel() {
  if (--depth_ > 0 || (mode_ & invocations) == 0) return;
  if (invocations_.size() == max_invocations) fail(settings_, "limit reached: more than 10000 calls of the kernel");
  while (widths()[state_.floor + 1] != 0) ++state_.floor;
  auto const number = invocations_.size();
  auto trips = contexts_.trips();
  invocations_.push_back(
      {totals_of(functions_, Side::program), {}, state_.floor, std::move(trips), sync_marks_.total()});
  append_row({header_of(invocation_row), number});
}

LoopCounter* Run::enter(FunctionDescriptor& function) {
  auto* const top = state_.frames;
  if (top + 64 > frames_.data() + frames_.size())
    fail(settings_, "limit reached: more than 65536 loops run inside each other");
  auto* const parent = top[-1].counter;
  if (function.parent != parent || !function.counters) {
    function.counters = contexts_.enter(function, parent);
    function.parent = parent;
  }
  return function.counters;
}

std::uint64_t* Run::flush(std::uint64_t const* end, std::uint64_t clock) {
  if (clock > last_clock) fail(settings_, "limit reached: more than 2^32 iterations of loops");
  buffers_->hand_over(end);
  state_.row_limit = buffers_->limit();
  return buffers_->begin();
}

std::uint64_t Run::load(std::uint64_t address, std::uint64_t size, Site const* site, LoopFrame* top) {
  // The most frequent ones.
  if (site && size == 8 && Shadow::is_whole(address)) {
    auto const cell = Shadow::cell_of_whole(address);
    check(cell, *site, top, Dependence::read_after_write);
    return cell & level_mask;
  }
  if (site && size == 16 && Shadow::is_whole(address) && Shadow::is_whole(address + 8)) {
    auto const first = Shadow::cell_of_whole(address), second = Shadow::cell_of_whole(address + 8);
    check(first, *site, top, Dependence::read_after_write);
    check(second, *site, top, Dependence::read_after_write);
    return std::max(first & level_mask, second & level_mask);
  }
  std::uint64_t level = 0;
  shadow_.each(address, size, [&](std::uint64_t cell) {
    level = std::max(level, cell & level_mask);
    if (site) check(cell, *site, top, Dependence::read_after_write);
  });
  return level;
}

std::uint64_t Run::load_all(std::uint64_t address, std::uint64_t size, Site const* site, LoopFrame* top) {
  if (site) reads_.read(address, size, frames_.data(), top);
  return load(address, size, site, top);
}

void Run::store_all(std::uint64_t address, std::uint64_t size, std::uint64_t cell, Site const* site, LoopFrame* top) {
  auto level = cell & level_mask;
  shadow_.each(address, size, [&](std::uint64_t old) {
    level = std::max(level, old & level_mask);
    if (site) check(old, *site, top, Dependence::write_after_write);
  });
  level = std::max(level, reads_.written(address, size, [&](std::uint64_t clock) {
    if (site) check(clock, *site, top, Dependence::write_after_read);
  }));
  shadow_.store(address, size, (cell & ~level_mask) + level);
}

// A word that an earlier iteration of a running loop wrote or read: that loop is sequential.
void Run::check(std::uint64_t cell, Site const& site, LoopFrame* top, Dependence dependence) {
  for (auto* frame = top; frame >= frames_.data(); --frame) {
    if (cell < frame->start) continue;
    if (cell >= frame->now || frame->counter->carried) return;
    frame->counter->carried = 1;
    frame->counter->reader = &site;
    frame->counter->dependence = dependence;
    return recompute_hulls(top);
  }
}

void Run::recompute_hulls(LoopFrame* top) {
  auto outer = no_hull;
  for (auto* frame = frames_.data(); frame <= top; ++frame) {
    // Nothing was written before the first call of the kernel.
    bool const first = frame == frames_.data() && frame->counter->iterations == 1;
    if (outer == no_hull && !frame->counter->carried && !first) outer = frame->start;
    frame->hull = outer;
  }
}

void Run::copy(std::uint64_t to, std::uint64_t from, std::uint64_t size, Site const& site, LoopFrame* top) {
  append_row({header_of(range_row), from, to, size});
  auto const together = to | from | size;
  std::uint64_t const step = (together & 7) == 0 ? 8 : (together & 3) == 0 ? 4 : 1;
  std::vector<std::uint64_t> levels;
  for (std::uint64_t done = 0; done < size; done += step)
    levels.push_back(all() ? load_all(from + done, step, &site, top) : load(from + done, step, &site, top));
  for (std::uint64_t done = 0; done < size; done += step) {
    auto const cell = state_.clock + levels[done / step];
    all() ? store_all(to + done, step, cell, &site, top) : shadow_.store(to + done, step, cell);
  }
}

void Run::fill(std::uint64_t to, std::uint64_t size, Site const& site, LoopFrame* top) {
  append_row({header_of(range_row), 0, to, size});
  if (!all()) return shadow_.store(to, size, state_.clock);
  for (std::uint64_t done = 0; done < size; ++done) store_all(to + done, 1, state_.clock, &site, top);
}

void Run::clear(std::uint64_t address, std::uint64_t size) {
  shadow_.clear(address, size);
  if (all()) reads_.clear(address, size);
}

void Run::append_row(std::initializer_list<std::uint64_t> words) {
  auto* const end = std::copy(words.begin(), words.end(), state_.row);
  state_.row = end > state_.row_limit ? flush(end, state_.clock) : end;
}

void Run::finish() {
  buffers_->hand_over(state_.row);
  if (auto const failure = buffers_->finish(); !failure.empty()) fail(settings_, failure.c_str());
  rows_.finish();
  Gathered const gathered{kernel_, functions_, &contexts_, &rows_, widths(), &invocations_, &sync_marks_};
  std::ofstream out(settings_.output, std::ios::binary);
  record::Writer<record::Profile> writer(out);
  for (auto const& row : profile_of(gathered, settings_)) writer.write(row);
  writer.finish();
  out.flush();
  if (!out) fail(settings_, ("cannot write the profile to '" + settings_.output + "'").c_str());
}

}  // namespace kernelcast::seq
