#include "sequential/driver/report.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "models/execcost.hpp"
#include "records/table/table.hpp"

namespace kernelcast::seq {

namespace q = record::quantity;

namespace {

std::string number(std::uint64_t n) {
  auto text = record::scaled_text(static_cast<double>(n), record::Unit::count);
  return text;
}

std::string bytes(std::uint64_t n) {
  return record::scaled_text(static_cast<double>(n), record::Unit::bytes);
}

class Report {
 public:
  explicit Report(std::vector<record::Profile> const& rows) : rows_(rows) {
    for (auto const& row : rows)
      if (!row.low && row.where.empty()) totals_.try_emplace(row.quantity, row.count);
  }

  std::string text(std::vector<device::Device> const& devices) {
    if (rows_.empty()) return "nothing was profiled\n";
    parallelism();
    memory();
    loops();
    synchronization();
    calls();
    costs(devices);
    return std::move(out_);
  }

 private:
  std::uint64_t total(char const* quantity) const {
    auto const at = totals_.find(quantity);
    return at == totals_.end() ? 0 : at->second;
  }
  template <class... A>
  void line(fmt::format_string<A...> form, A&&... arguments) {
    out_ += fmt::format(form, std::forward<A>(arguments)...) + '\n';
  }

  void parallelism() {
    auto const flop = total(q::flop), depth = total(q::depth);
    auto const& first = rows_.front();
    line("{}{}{}, called {} time{}", first.kernel, first.case_name.empty() ? "" : " on ", first.case_name,
         number(total(q::invocations)), total(q::invocations) == 1 ? "" : "s");
    if (flop == 0) return line("no floating-point operations");
    std::uint64_t widest = 0, narrow_levels = 0;
    for (auto const& row : rows_)
      if (row.quantity == q::level_width) {
        widest = std::max(widest, *row.low);
        if (*row.low < 32) narrow_levels += row.count;
      }
    line("{} floating-point operations, the longest chain of dependent ones {}: {} at once on average, {} at most",
         number(flop), number(depth), number(flop / std::max<std::uint64_t>(depth, 1)), number(widest));
    if (narrow_levels * 2 > depth)
      line("{:.0f} % of the levels are narrower than 32 operations: little for a GPU to do there",
           100.0 * static_cast<double>(narrow_levels) / static_cast<double>(depth));
    line("{:.0f} % additions, {:.0f} % multiplications; {:.0f} % in loops that LLVM can vectorise",
         100.0 * static_cast<double>(total(q::w_add)) / static_cast<double>(flop),
         100.0 * static_cast<double>(total(q::w_mul)) / static_cast<double>(flop),
         100.0 * static_cast<double>(total(q::w_vec)) / static_cast<double>(flop));
  }

  void memory() {
    line("{} loads and {} stores move {}", number(total(q::load)), number(total(q::store)),
         bytes(total(q::reference_bytes)));
    for (auto const& row : rows_)
      if (row.quantity == q::footprint_bytes)
        line("{} are touched, in blocks of {} bytes", bytes(row.count), row.granularity_bytes.value_or(0));
  }

  void loops() {
    out_ += "\nloops\n";
    bool any = false;
    for (auto const& row : rows_) {
      bool const sequential = row.quantity == q::loop_sequential;
      if (!sequential && row.quantity != q::loop_parallel && row.quantity != q::loop_reduction) continue;
      any = true;
      auto const what = sequential                              ? "cannot run in parallel: " + row.note
                        : row.quantity == q::loop_reduction     ? std::string("can run in parallel, as a reduction")
                        : row.note == "one iteration at a time" ? std::string("never more than one iteration")
                                                                : std::string("can run in parallel");
      line("  {:<24} {:>9} iterations  {}", row.where, number(row.count), what);
    }
    if (!any) line("  none");
  }

  void synchronization() {
    line("\nglobal synchronizations: {}", number(total(q::sync)));
    for (auto const& row : rows_)
      if (row.quantity == q::sync_loop || row.quantity == q::sync_source)
        line("  {:<24} {:>9}{}{}", row.where, number(row.count), row.note.empty() ? "" : "  ", row.note);
  }

  void calls() {
    bool first = true;
    for (auto const& row : rows_)
      if (row.quantity == q::uninstrumented_call) {
        if (first) out_ += "\ncalls of code that is not measured\n";
        first = false;
        line("  {:<24} {:>9}", row.where, number(row.count));
      }
  }

  void costs(std::vector<device::Device> const& devices) {
    model::execcost::Work work;
    for (auto const& row : rows_)
      if (row.invocation == "total") work.add_row(row);
    auto const granularity = work.locality.contains(8) ? 8 : work.locality.empty() ? 8 : work.locality.begin()->first;
    std::vector<record::ExecutionCost> costs;
    for (auto const& device : devices)
      if (model::execcost::missing_columns(device).empty())
        if (auto cost = model::execcost::project(work, device, {granularity, {}}); cost.time_s) costs.push_back(cost);
    if (costs.empty()) return;
    std::sort(costs.begin(), costs.end(), [](auto const& a, auto const& b) {
      return std::pair(*a.time_s, a.device) < std::pair(*b.time_s, b.device);
    });
    out_ += "\nthe best parallel version would take\n";
    static std::map<record::LimiterName, std::string> const words{
        {record::Limiter::compute, "the operations"},
        {record::Limiter::fast_memory, "the on-chip memory"},
        {record::Limiter::slow_memory, "the off-chip memory"},
        {record::Limiter::latency, "the latency of dependent accesses"},
        {record::Limiter::sync, "global synchronization"}};
    constexpr std::size_t most = 10;
    for (std::size_t i = 0; i < std::min(most, costs.size()); ++i) {
      auto const& cost = costs[i];
      double const parts =
          std::max({*cost.t_comp_s, *cost.t_fast_s, *cost.t_slow_s, *cost.t_latency_s, *cost.t_sync_s});
      line("  {:<24} {:>9}  bound by {} ({:.0f} % of the time)", cost.device,
           record::scaled_text(*cost.time_s, record::Unit::seconds), words.at(cost.limiter),
           100 * parts / *cost.time_s);
    }
    if (costs.size() > most) line("  and {} slower devices", costs.size() - most);
  }

  std::vector<record::Profile> const& rows_;
  std::map<std::string, std::uint64_t> totals_;
  std::string out_;
};

}  // namespace

std::string report(std::vector<record::Profile> const& rows, std::vector<device::Device> const& devices) {
  return Report(rows).text(devices);
}

}  // namespace kernelcast::seq
