// From counters back to executions.
#include <stdexcept>

#include "kernels/ptx/inline.hpp"
#include "measure/flux/plan.hpp"

namespace kernelcast::flux {

namespace {

constexpr std::uint32_t no_group = ~std::uint32_t{0};

class Recovery {
 public:
  Recovery(ptx::Module const& module, Plan const& plan, std::uint32_t kernel, std::uint64_t work_items,
           std::span<std::uint64_t const> words)
      : module_(module), plan_(plan), kernel_(kernel), work_items_(work_items), words_(words), counts_(module) {
    done_.assign(plan.functions.size(), false);
    // A kernel whose counters begin where a bank does reaches no function that counts.
    auto const& own = plan.functions[plan.plan_of[kernel]];
    reachable_ = own.takes_bank && (own.first_byte > 0 || own.measured.empty());
  }

  Counts run() {
    bool const warps = plan_.options.scheme == Scheme::every_block && plan_.options.warps;
    counts_.warps_known = warps;
    for (auto const& p : plan_.functions) recover(p);
    return std::move(counts_);
  }

 private:
  bool runs(FunctionPlan const& p) const { return p.function == kernel_ || !module_.functions[p.function].entry; }

  std::uint64_t value(FunctionPlan const& p, Counter const& counter) const {
    if (!reachable_ && p.function != kernel_) return 0;
    std::size_t const first = counter.offset / 8, count = counter.per_lane ? 32 : 1;
    if (first + count > words_.size()) throw std::logic_error("the counters are not those of this module");
    std::uint64_t sum = 0;
    for (std::size_t w = first; w < first + count; ++w) sum += words_[w];
    return sum;
  }

  // Its callers' counts tell how often a function is entered, so they come first; recursive ones count their entries.
  std::uint64_t entries(FunctionPlan const& p) {
    if (p.function == kernel_) return work_items_;
    std::uint64_t sum = 0;
    for (auto const& caller : plan_.functions) {
      if (!runs(caller)) continue;
      auto const& instructions = module_.functions[caller.function].instructions;
      for (std::uint32_t i = 0; i < instructions.size(); ++i) {
        if (!instructions[i].is_call() || ptx::callee_of(module_, instructions[i]) != p.function) continue;
        recover(caller);
        sum += counts_.at(caller.function, i, module_).lanes;
      }
    }
    return sum;
  }

  void recover(FunctionPlan const& p) {
    auto const index = plan_.plan_of[p.function];
    if (done_[index] || !runs(p) || p.graph.blocks == 0) return;
    done_[index] = true;
    std::vector<std::uint64_t> blocks, warps(p.graph.blocks, 0), edges, groups(p.groups.size(), no_group);
    if (plan_.options.scheme == Scheme::every_block)
      blocks.assign(p.graph.blocks + 1, 0);
    else
      edges = solve_edges(p), blocks = node_counts(p.graph.blocks + 1, p.graph.edges, edges);
    for (auto const& m : p.measured) {
      if (m.what == Measured::What::block) blocks[m.index] = value(p, m.counter);
      if (m.what == Measured::What::block_warps) warps[m.index] = value(p, m.counter);
      if (m.what == Measured::What::group) groups[m.index] = value(p, m.counter);
    }
    for (std::uint32_t b = 0; b < p.graph.blocks; ++b)
      for (auto i = p.graph.cfg.blocks[b].first; i < p.graph.cfg.blocks[b].last; ++i)
        if (blocks[b] || warps[b]) counts_.at(p.function, i, module_) = {blocks[b], warps[b], true};
    add_groups(p, blocks, edges, groups);
  }

  std::vector<std::uint64_t> solve_edges(FunctionPlan const& p) {
    std::vector<std::optional<std::uint64_t>> known(p.graph.edges.size());
    if (p.entries_from_calls) known[0] = entries(p);
    for (auto const& m : p.measured)
      if (m.what == Measured::What::edge || m.what == Measured::What::entry) known[m.index] = value(p, m.counter);
    auto solved = solve(p.graph.blocks + 1, p.graph.edges, std::move(known), p.relations);
    if (!solved) throw std::logic_error("counters do not suffice");
    return std::move(*solved);
  }

  void add_groups(FunctionPlan const& p, std::vector<std::uint64_t> const& blocks,
                  std::vector<std::uint64_t> const& edges, std::vector<std::uint64_t> const& groups) {
    bool const every = plan_.options.scheme == Scheme::every_block;
    if (every && !plan_.options.guards) return;
    for (std::size_t g = 0; g < p.groups.size(); ++g) {
      auto const& group = p.groups[g];
      auto const all = blocks[group.block];
      if (all == 0) continue;
      auto holds = groups[g];
      if (group.counted_by_branch && !every) holds = group.edge_negated ? all - edges[group.edge] : edges[group.edge];
      for (auto const& member : group.members)
        counts_.at(p.function, member.instruction, module_).lanes = member.negated ? all - holds : holds;
    }
  }

  ptx::Module const& module_;
  Plan const& plan_;
  std::uint32_t kernel_;
  std::uint64_t work_items_;
  std::span<std::uint64_t const> words_;
  Counts counts_;
  std::vector<bool> done_;
  bool reachable_ = false;  // functions that count, from this kernel
};

}  // namespace

Counts recover(ptx::Module const& module, Plan const& plan, std::uint32_t kernel, std::uint64_t work_items,
               std::span<std::uint64_t const> words) {
  return Recovery(module, plan, kernel, work_items, words).run();
}

}  // namespace kernelcast::flux
