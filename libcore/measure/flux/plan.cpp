#include "measure/flux/plan.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "kernels/ptx/inline.hpp"
#include "kernels/ptx/liveness.hpp"

namespace kernelcast::flux {

namespace {

using ptx::Instruction;
using ptx::Operand;

constexpr std::uint32_t no_function = ~std::uint32_t{0};
constexpr double per_loop = 16;            // iterations that a loop is taken to have
constexpr double trip_cost = 4;            // instructions to compute a loop's iterations
constexpr std::size_t max_registers = 16;  // for counters, per function

// Functions whose entries the calls do not tell: called by address, or from themselves.
std::vector<bool> entries_unknown_from_calls(ptx::Module const& module) {
  std::vector<bool> out(module.functions.size(), false);
  auto const take = [&](auto const& self, Operand const& o) -> void {
    if (o.kind == Operand::Kind::function) out[ptx::without_alias(module, o.id)] = true;
    for (Operand const& element : o.elements) self(self, element);
  };
  for (auto const& v : module.variables)
    for (auto const& init : v.initializers) take(take, init.value);
  std::vector<std::set<std::uint32_t>> callees(module.functions.size());
  for (std::size_t f = 0; f < module.functions.size(); ++f) {
    auto const& function = module.functions[f];
    for (auto const& v : function.variables)
      for (auto const& init : v.initializers) take(take, init.value);
    for (auto const& list : function.call_targets)
      for (auto const id : list.ids) out[ptx::without_alias(module, id)] = true;
    for (auto const& i : function.instructions) {
      auto const callee = i.is_call() ? ptx::callee_of(module, i) : std::nullopt;
      if (callee)
        callees[f].insert(*callee);
      else
        for (auto const& o : i.operands) take(take, o);
    }
  }
  for (std::uint32_t f = 0; f < callees.size(); ++f) {
    std::set<std::uint32_t> seen;
    std::vector<std::uint32_t> pending(callees[f].begin(), callees[f].end());
    while (!pending.empty() && !out[f]) {
      auto const at = pending.back();
      pending.pop_back();
      if (at == f) out[f] = true;
      if (seen.insert(at).second) pending.insert(pending.end(), callees[at].begin(), callees[at].end());
    }
  }
  return out;
}

// ---------------------------------------------------------------- one function

class Planner {
 public:
  Planner(ptx::Module const& module, std::uint32_t function, PlanOptions const& options,
          std::vector<bool> const& may_end, bool entries_from_calls)
      : f_(module.functions[function]), options_(options) {
    plan_.function = function;
    plan_.graph = build_graph(module, f_, may_end);
    plan_.entries_from_calls = f_.entry || entries_from_calls;
  }

  FunctionPlan run() {
    if (plan_.graph.blocks == 0) return std::move(plan_);
    find_groups();
    if (options_.scheme == Scheme::every_block) {
      count_blocks();
    } else {
      find_trips();
      find_costs();
      count_chords();
    }
    count_groups();
    return std::move(plan_);
  }

 private:
  Graph const& graph() const { return plan_.graph; }
  ptx::CfgBlock const& block(std::uint32_t b) const { return graph().cfg.blocks[b]; }

  // ---- guarded instructions

  void find_groups() {
    for (std::uint32_t b = 0; b < graph().blocks; ++b)
      if (block(b).reachable) find_groups(b);
  }
  void find_groups(std::uint32_t b) {
    std::map<std::uint32_t, std::size_t> open;  // by predicate
    ptx::Effects effects;
    for (auto i = block(b).first; i < block(b).last; ++i) {
      Instruction const& instruction = f_.instructions[i];
      if (instruction.guard.present) {
        auto const [at, fresh] = open.try_emplace(instruction.guard.reg, plan_.groups.size());
        if (fresh) plan_.groups.push_back({b, instruction.guard.reg, {}, false, 0, false});
        plan_.groups[at->second].members.push_back({i, instruction.guard.negated});
        if (i + 1 == block(b).last) ask_branch(plan_.groups[at->second], instruction);
      }
      ptx::effects(instruction, effects);
      for (auto const reg : effects.written) open.erase(reg);
    }
  }
  // Where the group's predicate decides where the block goes.
  void ask_branch(GuardGroup& group, Instruction const& last) const {
    auto const kind = last.is(ptx::Op::bra) ? Edge::Kind::branch : Edge::Kind::leave;
    if (!last.is(ptx::Op::bra) && !last.ends_function()) return;
    auto const e = find_edge(graph(), group.block, kind);
    if (e == graph().edges.size()) return;
    group.counted_by_branch = true;
    group.edge = static_cast<std::uint32_t>(e);
    group.edge_negated = last.guard.negated;
  }
  void count_groups() {
    if (options_.scheme == Scheme::every_block && !options_.guards) return;
    for (std::uint32_t g = 0; g < plan_.groups.size(); ++g) {
      auto const& group = plan_.groups[g];
      bool const told = group.counted_by_branch && options_.scheme == Scheme::minimal;
      if (!told) add(Measured::What::group, g, block(group.block).loop_depth);
    }
  }

  // ---- edges

  double frequency(std::uint32_t b) const { return std::pow(per_loop, block(b).loop_depth); }
  double frequency(Edge const& e) const {
    if (e.from == graph().outside() || e.to == graph().outside()) return 1;
    // Of the loops around the source, the innermost that is also around the target.
    auto loop = block(e.from).loop;
    auto const around = [&](std::uint32_t l) {
      for (auto at = block(e.to).loop; at != ptx::no_block; at = graph().cfg.loops[at].parent)
        if (at == l) return true;
      return false;
    };
    while (loop != ptx::no_block && !around(loop)) loop = graph().cfg.loops[loop].parent;
    double const depth = loop == ptx::no_block ? 0 : graph().cfg.loops[loop].depth;
    bool const left = depth < block(e.from).loop_depth;
    return std::pow(per_loop, depth) * (block(e.from).successors.size() > 1 && !left ? 0.5 : 1);
  }
  bool only_way_in(std::uint32_t e) const {
    auto const to = graph().edges[e].to;
    if (to == graph().outside()) return false;
    return std::count_if(graph().edges.begin(), graph().edges.end(), [to](Edge const& x) { return x.to == to; }) == 1;
  }
  bool guarded_end(std::uint32_t b) const { return f_.instructions[block(b).last - 1].guard.present; }

  void find_costs() {
    for (std::uint32_t e = 0; e < graph().edges.size(); ++e) {
      Edge const& edge = graph().edges[e];
      double cost = frequency(edge);
      if (edge.kind == Edge::Kind::entry)
        cost = plan_.entries_from_calls ? 0 : 1;
      else if (edge.kind == Edge::Kind::lost)
        cost = must_derive;
      else if (edge.kind == Edge::Kind::table && !only_way_in(e))
        cost = frequency(edge.from) * 2 * static_cast<double>(edge.positions.size());
      else if ((edge.kind == Edge::Kind::branch || edge.kind == Edge::Kind::leave) && guarded_end(edge.from) &&
               !only_way_in(e))
        cost = frequency(edge.from);  // a guarded counter before the branch, executed whether it is taken or not
      if (auto const trip = trips_.find(e); trip != trips_.end())
        cost = trip->second.constant ? 0 : std::min(cost, trip_cost * entering_frequency(trip->second));
      cost_.push_back(cost);
    }
    // Work-items that end in a called function would take counters in registers with them.
    for (Edge const& edge : graph().edges) registers_ &= edge.kind != Edge::Kind::lost;
  }

  std::vector<std::uint32_t> entering(Trip const& trip) const {
    std::vector<std::uint32_t> out;
    for (std::uint32_t e = 0; e < graph().edges.size(); ++e)
      if (graph().edges[e].to == graph().cfg.loops[trip.loop].header && e != trip.back_edge) out.push_back(e);
    return out;
  }
  double entering_frequency(Trip const& trip) const {
    double sum = 0;
    for (auto const e : entering(trip)) sum += frequency(graph().edges[e]);
    return sum;
  }

  void find_trips() {
    if (graph().cfg.irreducible) return;
    for (std::uint32_t l = 0; l < graph().cfg.loops.size(); ++l)
      if (auto const trip = trip_of(f_, graph(), l)) trips_.emplace(trip->back_edge, *trip);
  }

  void count_chords() {
    auto const nodes = graph().blocks + 1;
    auto const counted = chords(nodes, graph().edges, cost_);
    std::vector<std::optional<std::uint64_t>> known(graph().edges.size());
    std::vector<std::uint32_t> constant;
    if (plan_.entries_from_calls) known[0] = 0;
    for (auto const e : counted) {
      auto const trip = trips_.find(e);
      if (trip != trips_.end() && trip->second.constant) {
        plan_.relations.push_back({e, *trip->second.constant, entering(trip->second)});
        constant.push_back(e);
      } else {
        known[e] = 0;
      }
    }
    // Relations between edges that are themselves derived need not suffice.
    for (; !solve(nodes, graph().edges, known, plan_.relations); plan_.relations.pop_back())
      known[plan_.relations.back().edge] = 0;
    for (auto const e : counted)
      if (known[e] && !(e == 0 && plan_.entries_from_calls)) count_edge(e);
  }

  void count_edge(std::uint32_t e) {
    Edge const& edge = graph().edges[e];
    if (edge.kind == Edge::Kind::entry) return add(Measured::What::entry, e, 0);
    auto const trip = trips_.find(e);
    bool const ahead =
        trip != trips_.end() && !trip->second.constant && cost_[e] >= trip_cost * entering_frequency(trip->second);
    std::uint32_t depth = std::min(edge.from == graph().outside() ? 0 : block(edge.from).loop_depth,
                                   edge.to == graph().outside() ? 0 : block(edge.to).loop_depth);
    if (ahead) depth = graph().cfg.loops[trip->second.loop].depth - 1;
    add(Measured::What::edge, e, depth);
    if (!ahead) return;
    plan_.measured.back().trip = trip->second;
    plan_.measured.back().counter.per_lane = true;
  }

  void count_blocks() {
    for (std::uint32_t b = 0; b < graph().blocks; ++b) {
      if (!block(b).reachable) continue;
      plan_.measured.push_back({Measured::What::block, b, false, {}, {}});
      if (options_.warps) plan_.measured.push_back({Measured::What::block_warps, b, false, {}, {}});
    }
  }

  void add(Measured::What what, std::uint32_t index, std::uint32_t depth) {
    bool const in_register =
        depth > 0 && registers_ && in_registers_ < max_registers && options_.scheme == Scheme::minimal;
    in_registers_ += in_register;
    plan_.measured.push_back({what, index, in_register, {}, {in_register, 0}});
  }

  ptx::Function const& f_;
  PlanOptions const& options_;
  FunctionPlan plan_;
  std::map<std::uint32_t, Trip> trips_;  // by back edge
  std::vector<double> cost_;
  bool registers_ = true;
  std::size_t in_registers_ = 0;
};

// ---------------------------------------------------------------- the module

// Words that all lanes share first, then those of one per lane, each on a 256-byte row.
std::uint32_t place_counters(FunctionPlan& plan, std::uint32_t first) {
  std::uint32_t at = first;
  plan.first_byte = first;
  for (auto& m : plan.measured)
    if (!m.counter.per_lane) m.counter.offset = at, at += 8;
  at = (at + 255) / 256 * 256;
  for (auto& m : plan.measured)
    if (m.counter.per_lane) m.counter.offset = at, at += 256;
  plan.bytes = plan.measured.empty() ? 0 : at - first;
  return first + plan.bytes;
}

bool is_kernel(ptx::Module const& module, FunctionPlan const& p) {
  return module.functions[p.function].entry;
}

// Whether a call in this function reaches one that gets the address of a bank; one by address may reach any.
bool calls_what_counts(ptx::Module const& module, Plan const& plan, FunctionPlan const& p) {
  auto const counts = [&](FunctionPlan const& callee) { return callee.takes_bank && !is_kernel(module, callee); };
  for (auto const& i : module.functions[p.function].instructions) {
    if (!i.is_call()) continue;
    if (auto const callee = ptx::callee_of(module, i)) {
      auto const at = plan.plan_of[*callee];
      if (at != no_function && counts(plan.functions[at])) return true;
    } else if (std::any_of(plan.functions.begin(), plan.functions.end(), counts)) {
      return true;
    }
  }
  return false;
}

// Which functions must be handed the address of a bank: those that count, and all on the way to them. A call by address
// must look the same whomever it reaches, so then all do.
void hand_banks(ptx::Module const& module, Plan& plan) {
  bool by_address = false, any = false;
  for (auto& p : plan.functions) {
    p.takes_bank = !p.measured.empty();
    any |= p.takes_bank && !is_kernel(module, p);
    for (auto const& i : module.functions[p.function].instructions)
      by_address |= i.is_call() && !ptx::callee_of(module, i);
  }
  for (auto& p : plan.functions) p.takes_bank |= by_address && any && !is_kernel(module, p);
  for (bool changed = true; changed;) {
    changed = false;
    for (auto& p : plan.functions)
      if (!p.takes_bank && calls_what_counts(module, plan, p)) p.takes_bank = changed = true;
  }
}

// What cannot be instrumented.
void find_refusal(ptx::Module const& module, Plan& plan) {
  auto const refuse = [&](ptx::TextPosition at, std::string why) {
    if (plan.refusal) return;
    plan.refusal = std::move(why);
    plan.refused_at = at;
  };
  if (module.address_size != 64) refuse({1, 1}, "addresses of 32 bits");
  // Counters need 3.0, where the same instructions are written otherwise: mad with a rounding, no map_f64_to_f32.
  if (module.version_major < 2) refuse({1, 1}, "PTX before 2.0");
  // A kernel takes 4096 bytes of parameters, or 32764 where it is made for that; one more pointer must fit.
  for (auto const& f : module.functions)
    if (f.entry && f.parameter_bytes > (f.parameter_bytes > 4096 ? 32764 : 4096) - 16)
      refuse(f.at, "a kernel whose parameters leave no room for one more");
    else if (!f.entry && !f.parameters.empty() && !f.parameters.back().in_register && f.parameters.back().size == 0)
      refuse(f.at, "a function whose last parameter is of unknown size");
  for (auto const& f : module.functions)
    for (auto const& i : f.instructions) {
      if (i.is_call() && !i.operands.empty())
        for (auto const& o : i.operands)
          if (o.kind == Operand::Kind::function && module.functions[o.id].name.starts_with("cudaLaunchDevice"))
            refuse(i.at, "a kernel launched by a kernel");
      if (i.is(ptx::Op::bra) && (i.operands.empty() || i.operands[0].kind != Operand::Kind::label))
        refuse(i.at, "an indirect branch");
    }
}

}  // namespace

Plan make_plan(ptx::Module const& module, PlanOptions options) {
  Plan plan;
  plan.options = options;
  plan.plan_of.assign(module.functions.size(), no_function);
  find_refusal(module, plan);
  if (plan.refusal) return plan;
  auto const may_end = may_end_caller(module);
  auto const entries_unknown = entries_unknown_from_calls(module);
  for (std::uint32_t f = 0; f < module.functions.size(); ++f) {
    if (!module.functions[f].has_body) continue;
    plan.plan_of[f] = static_cast<std::uint32_t>(plan.functions.size());
    plan.functions.push_back(Planner(module, f, options, may_end, !entries_unknown[f]).run());
  }
  hand_banks(module, plan);
  for (auto& p : plan.functions)
    if (!is_kernel(module, p)) plan.callee_bytes = place_counters(p, plan.callee_bytes);
  plan.callee_bytes = (plan.callee_bytes + 255) / 256 * 256;
  for (auto& p : plan.functions)
    if (is_kernel(module, p)) place_counters(p, calls_what_counts(module, plan, p) ? plan.callee_bytes : 0);
  return plan;
}

std::uint32_t bank_bytes(Plan const& plan, std::uint32_t kernel) {
  auto const& p = plan.functions[plan.plan_of[kernel]];
  return p.takes_bank ? (p.first_byte + p.bytes + 255) / 256 * 256 : 0;
}

}  // namespace kernelcast::flux
