#include "seq/result.hpp"

#include <algorithm>
#include <map>

namespace kernelcast::seq {

namespace q = record::quantity;

namespace {

constexpr std::size_t profile_bins = 2048;  // of level_profile

struct Totals {
  std::uint64_t add = 0, mul = 0, div = 0, sqrt = 0, call = 0, vectorizable = 0, loads = 0, stores = 0, bytes = 0;
  std::uint64_t flop() const { return add + mul + div + sqrt + call; }
};

Totals totals_of(Gathered const& gathered) {
  Totals t;
  for (auto const* const function : gathered.functions)
    for (std::uint64_t i = 0; i < function->row_count; ++i) {
      auto const& row = function->rows[i];
      t.add += row.executed * row.add;
      t.mul += row.executed * row.mul;
      t.div += row.executed * row.div;
      t.sqrt += row.executed * row.sqrt;
      t.call += row.executed * row.call;
      t.vectorizable += row.executed * row.vectorizable;
      t.loads += row.executed * row.loads;
      t.stores += row.executed * row.stores;
      t.bytes += row.executed * row.bytes;
    }
  t.loads += gathered.rows->range_loads();
  t.stores += gathered.rows->range_stores();
  t.bytes += gathered.rows->range_bytes();
  return t;
}

std::string place(Site const& site) {
  if (site.line == 0) return site.file;
  return std::string(site.file) + ':' + std::to_string(site.line);
}

class Builder {
 public:
  Builder(Gathered const& gathered, Settings const& settings) : gathered_(gathered), settings_(settings) {}

  std::vector<record::Profile> build() {
    auto const totals = totals_of(gathered_);
    add(q::invocations, gathered_.contexts ? invocations() : 0);
    add(q::flop, totals.flop());
    add(q::w_add, totals.add);
    add(q::w_mul, totals.mul);
    add(q::w_div, totals.div);
    add(q::w_sqrt, totals.sqrt);
    add(q::w_call, totals.call);
    add(q::w_vec, totals.vectorizable);
    levels(totals.flop());
    add(q::load, totals.loads);
    add(q::store, totals.stores);
    add(q::reference_bytes, totals.bytes);
    for (auto& stream : gathered_.rows->streams()) distances(stream);
    if (settings_.sample > 1) add(q::sample_rate, settings_.sample);
    loops();
    calls();
    return std::move(rows_);
  }

 private:
  record::Profile& add(char const* quantity, std::uint64_t count) {
    auto& row = rows_.emplace_back();
    row.kernel = gathered_.kernel;
    row.case_name = settings_.case_name;
    row.quantity = quantity;
    row.count = count;
    return row;
  }
  void add_bin(char const* quantity, std::uint64_t low, std::uint64_t high, std::uint64_t count) {
    auto& row = add(quantity, count);
    row.low = low;
    row.high = high;
  }
  std::uint64_t invocations() const { return const_cast<Contexts*>(gathered_.contexts)->invocations().iterations; }

  void levels(std::uint64_t flop) {
    std::map<std::uint64_t, std::uint64_t> of_width;
    std::uint64_t depth = 0;
    for (std::uint64_t seen = 0; seen < flop && depth < level_mask;) {
      auto const width = gathered_.widths[++depth];
      ++of_width[width];
      seen += width;
    }
    add(q::depth, depth);
    for (auto const& [width, count] : of_width) add_bin(q::level_width, width, width + 1, count);
    auto const step = std::max<std::uint64_t>(1, (depth + profile_bins - 1) / profile_bins);
    for (std::uint64_t low = 1; low <= depth; low += step) {
      auto const high = std::min(low + step, depth + 1);
      std::uint64_t sum = 0;
      for (auto level = low; level < high; ++level) sum += gathered_.widths[level];
      add_bin(q::level_profile, low, high, sum);
    }
  }

  void distances(RowStream& stream) {
    auto& histogram = stream.histogram();
    auto const factor = stream.sample();
    std::uint64_t followed = histogram.cold_count();
    for (std::size_t bin = 0; bin < DistanceHistogram::bins; ++bin) followed += histogram.count(bin);
    // A sample holds a little more or less than its part of the references; the nearest ones make up for it.
    auto const missing = static_cast<std::int64_t>(stream.references()) - static_cast<std::int64_t>(followed * factor);
    for (std::size_t bin = 0; bin < DistanceHistogram::bins; ++bin) {
      auto count = histogram.count(bin) * factor;
      if (bin == 0)
        count = static_cast<std::uint64_t>(std::max<std::int64_t>(0, static_cast<std::int64_t>(count) + missing));
      if (count == 0) continue;
      add_bin(q::stack_distance, DistanceHistogram::low_of(bin) * factor, DistanceHistogram::low_of(bin + 1) * factor,
              count);
      rows_.back().granularity_bytes = stream.granularity_bytes();
    }
    auto& never = add(q::stack_distance, histogram.cold_count() * factor);
    never.granularity_bytes = stream.granularity_bytes();
    auto& touched = add(q::footprint_bytes, histogram.cold_count() * factor * stream.granularity_bytes());
    touched.granularity_bytes = stream.granularity_bytes();
  }

  void loops() {
    auto const outcome = gathered_.contexts->outcome();
    add(q::sync, settings_.sync.value_or(outcome.sync));
    if (settings_.sync) rows_.back().note = "as told by --sync";
    if (outcome.sync_invocations > 0) {
      auto& row = add(q::sync_loop, outcome.sync_invocations);
      row.where = gathered_.kernel;
      row.note = "between invocations of the kernel";
    }
    for (auto const& loop : outcome.loops)
      if (loop.sync > 0) add(q::sync_loop, loop.sync).where = place(loop.descriptor->site);
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
  static std::string reason(Contexts::Loop const& loop) {
    if (!loop.ran) return "one iteration at a time";
    if (!loop.sequential) return loop.descriptor->kind == LoopKind::reduction ? "a reduction" : "";
    if (loop.descriptor->kind == LoopKind::recurrence) {
      std::string const name = loop.descriptor->variable;
      return name.empty() ? "a value goes from one iteration to the next"
                          : "the value of '" + name + "' goes from one iteration to the next";
    }
    return loop.reader ? place(*loop.reader) + " reads what an earlier iteration wrote"
                       : "it reads what an earlier iteration wrote";
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
  std::vector<record::Profile> rows_;
};

}  // namespace

std::vector<record::Profile> profile_of(Gathered const& gathered, Settings const& settings) {
  return Builder(gathered, settings).build();
}

}  // namespace kernelcast::seq
