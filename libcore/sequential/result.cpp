#include "sequential/result.hpp"

#include <algorithm>
#include <map>

namespace kernelcast::seq {

namespace q = record::quantity;

namespace {

constexpr std::size_t profile_bins = 2048;  // of level_profile

Totals all_of(Gathered const& gathered) {
  auto totals = totals_of(gathered.functions, Side::program);
  totals += totals_of(gathered.functions, Side::consumer);
  totals.loads += gathered.rows->range_loads();
  totals.stores += gathered.rows->range_stores();
  totals.bytes += gathered.rows->range_bytes();
  return totals;
}

std::string place(Site const& site) {
  if (site.line == 0) return site.file;
  return std::string(site.file) + ':' + std::to_string(site.line);
}

class Builder {
 public:
  Builder(Gathered const& gathered, Settings const& settings) : gathered_(gathered), settings_(settings) {}

  std::vector<record::Profile> build() {
    auto const totals = all_of(gathered_);
    add(q::invocations, gathered_.contexts ? calls_of_kernel() : 0);
    operations(totals);
    bool const apart = gathered_.invocations && !gathered_.invocations->empty();
    auto const depth = levels(0, totals.flop());
    if (apart) rows_[depth].note = "calls of the kernel one after another";
    level_profile(rows_[depth].count);
    references(totals);
    for (auto& stream : gathered_.rows->streams()) distances(stream);
    if (settings_.sample > 1) {
      add(q::sample_rate, settings_.sample);
      for (auto const& stream : gathered_.rows->streams()) {
        auto const error = stream.error();
        auto& row = add(q::sample_error, error.references);
        row.granularity_bytes = stream.granularity_bytes();
        row.low = error.distance;
      }
    }
    auto const outcome = gathered_.contexts->outcome();
    loops(outcome);
    calls();
    if (apart) invocations(outcome);
    return std::move(rows_);
  }

 private:
  record::Profile& add(char const* quantity, std::uint64_t count) {
    auto& row = rows_.emplace_back();
    row.kernel = gathered_.kernel;
    row.case_name = settings_.case_name;
    row.invocation = invocation_;
    row.quantity = quantity;
    row.count = count;
    return row;
  }
  void add_bin(char const* quantity, std::uint64_t low, std::uint64_t high, std::uint64_t count) {
    auto& row = add(quantity, count);
    row.low = low;
    row.high = high;
  }
  std::uint64_t calls_of_kernel() const { return const_cast<Contexts*>(gathered_.contexts)->invocations().iterations; }

  void operations(Totals const& totals) {
    add(q::flop, totals.flop());
    add(q::w_add, totals.add);
    add(q::w_mul, totals.mul);
    add(q::w_div, totals.div);
    add(q::w_sqrt, totals.sqrt);
    add(q::w_call, totals.call);
    add(q::w_vec, totals.vectorizable);
  }
  void references(Totals const& totals) {
    add(q::load, totals.loads);
    add(q::store, totals.stores);
    add(q::reference_bytes, totals.bytes);
  }

  // The levels above `floor` that hold so many operations; gives the index of the row of their number.
  std::size_t levels(std::uint64_t floor, std::uint64_t flop) {
    std::map<std::uint64_t, std::uint64_t> of_width;
    auto level = floor;
    for (std::uint64_t seen = 0; seen < flop && level < level_mask;) {
      auto const width = gathered_.widths[++level];
      ++of_width[width];
      seen += width;
    }
    auto const index = rows_.size();
    add(q::depth, level - floor);
    for (auto const& [width, count] : of_width) add_bin(q::level_width, width, width + 1, count);
    return index;
  }
  void level_profile(std::uint64_t depth) {
    auto const step = std::max<std::uint64_t>(1, (depth + profile_bins - 1) / profile_bins);
    for (std::uint64_t low = 1; low <= depth; low += step) {
      auto const high = std::min(low + step, depth + 1);
      std::uint64_t sum = 0;
      for (auto level = low; level < high; ++level) sum += gathered_.widths[level];
      add_bin(q::level_profile, low, high, sum);
    }
  }

  void distances(RowStream& stream) {
    auto const& histogram = stream.histogram();
    DistancePart whole;
    whole.cold = histogram.cold_count();
    for (std::size_t bin = 0; bin < DistanceHistogram::bins; ++bin)
      if (histogram.count(bin) > 0) whole.bins.emplace_back(static_cast<std::uint32_t>(bin), histogram.count(bin));
    distances(stream, whole, stream.references());
  }
  void distances(RowStream const& stream, DistancePart const& part, std::uint64_t references) {
    auto const factor = stream.sample();
    auto followed = part.cold;
    for (auto const& [bin, count] : part.bins) followed += count;
    // A sample holds a little more or less than its part of the references; the nearest ones make up for it.
    auto const missing = static_cast<std::int64_t>(references) - static_cast<std::int64_t>(followed * factor);
    auto const nearest = [&](std::uint64_t count) {
      return static_cast<std::uint64_t>(std::max<std::int64_t>(0, static_cast<std::int64_t>(count) + missing));
    };
    auto const write = [&](std::size_t bin, std::uint64_t count) {
      if (count == 0) return;
      add_bin(q::stack_distance, DistanceHistogram::low_of(bin) * factor, DistanceHistogram::low_of(bin + 1) * factor,
              count);
      rows_.back().granularity_bytes = stream.granularity_bytes();
    };
    bool const has_nearest = !part.bins.empty() && part.bins.front().first == 0;
    if (!has_nearest) write(0, nearest(0));
    for (auto const& [bin, count] : part.bins) write(bin, bin == 0 ? nearest(count * factor) : count * factor);
    auto& never = add(q::stack_distance, part.cold * factor);
    never.granularity_bytes = stream.granularity_bytes();
    auto& touched = add(q::footprint_bytes, part.cold * factor * stream.granularity_bytes());
    touched.granularity_bytes = stream.granularity_bytes();
  }

  // What each call of the kernel adds to the total.
  void invocations(Contexts::Outcome const& outcome) {
    Invocation before;
    for (std::size_t n = 0; n < gathered_.invocations->size(); ++n) {
      auto const& now = (*gathered_.invocations)[n];
      invocation_ = std::to_string(n + 1);
      auto totals = now.by_program - before.by_program;
      totals += now.by_consumer - before.by_consumer;
      operations(totals);
      levels(before.depth, totals.flop());
      references(totals);
      for (auto const& stream : gathered_.rows->streams()) {
        auto const& ends = stream.references_at();
        distances(stream, stream.parts()[n], ends[n] - (n == 0 ? 0 : ends[n - 1]));
      }
      std::uint64_t sync = 0;
      for (std::size_t i = 0; i < now.trips.size(); ++i)
        if (outcome.counts[i]) sync += now.trips[i] - (i < before.trips.size() ? before.trips[i] : 0);
      add(q::sync, settings_.sync_of_source ? now.sync_marks - before.sync_marks : sync);
      before = now;
    }
  }

  // S as the marks in the source have it.
  void marked_synchronization(Contexts::Outcome const& outcome) {
    auto const& marks = *gathered_.sync_marks;
    add(q::sync, marks.total()).note = fmt::format("as the source says; from its loops alone {}", outcome.sync);
    std::map<std::pair<std::string, std::string>, std::uint64_t> by_place;
    for (auto const& [site, mark] : marks.marks()) by_place[{place(*site), mark.what}] += mark.count;
    for (auto const& [key, count] : by_place) {
      auto& row = add(q::sync_source, count);
      row.where = key.first;
      row.note = key.second.empty() ? "seqprof_sync()" : "omp " + key.second;
    }
  }

  void loops(Contexts::Outcome const& outcome) {
    if (settings_.sync_of_source)
      marked_synchronization(outcome);
    else
      loop_synchronization(outcome);
    for (auto const& loop : outcome.loops) {
      bool const reduction = loop.descriptor->kind == LoopKind::reduction;
      auto& row = add(loop.sequential ? q::loop_sequential
                      : reduction     ? q::loop_reduction
                                      : q::loop_parallel,
                      loop.iterations);
      row.where = place(loop.descriptor->site);
      row.note = reason(loop);
      add(q::loop_entries, loop.entries).where = place(loop.descriptor->site);
    }
  }
  void loop_synchronization(Contexts::Outcome const& outcome) {
    add(q::sync, settings_.sync.value_or(outcome.sync));
    if (settings_.sync) rows_.back().note = "as set by --sync";
    if (outcome.sync_invocations > 0) {
      auto& row = add(q::sync_loop, outcome.sync_invocations);
      row.where = gathered_.kernel;
      row.note = "between invocations of the kernel";
    }
    for (auto const& loop : outcome.loops)
      if (loop.sync > 0) add(q::sync_loop, loop.sync).where = place(loop.descriptor->site);
  }
  static std::string reason(Contexts::Loop const& loop) {
    if (!loop.ran) return "one iteration at a time";
    if (!loop.sequential) return loop.descriptor->kind == LoopKind::reduction ? "a reduction" : "";
    if (loop.descriptor->kind == LoopKind::recurrence) {
      std::string const name = loop.descriptor->variable;
      return name.empty() ? "a value goes from one iteration to the next"
                          : "the value of '" + name + "' goes from one iteration to the next";
    }
    auto const* const what =
        loop.dependence == Dependence::write_after_read    ? " overwrites what an earlier iteration read"
        : loop.dependence == Dependence::write_after_write ? " overwrites what an earlier iteration wrote"
                                                           : " reads what an earlier iteration wrote";
    return (loop.reader ? place(*loop.reader) : "it") + what;
  }

  void calls() {
    std::map<std::string, std::uint64_t> counts;
    for (auto const* const function : gathered_.functions)
      for (std::uint64_t i = 0; i < function->call_count; ++i)
        if (function->calls[i].count > 0) counts[function->calls[i].name] += function->calls[i].count;
    for (auto const& [name, count] : counts) add(q::uninstrumented_call, count).where = name;
  }

  Gathered const& gathered_;
  Settings const& settings_;
  std::string invocation_ = "total";
  std::vector<record::Profile> rows_;
};

}  // namespace

std::vector<record::Profile> profile_of(Gathered const& gathered, Settings const& settings) {
  return Builder(gathered, settings).build();
}

}  // namespace kernelcast::seq
