#include "measure/flux/instrument.hpp"

#include <algorithm>
#include <map>
#include <memory>

#include <fmt/format.h>

#include "base/diag/diag.hpp"
#include "kernels/ptx/inline.hpp"
#include "kernels/ptx/parser.hpp"
#include "kernels/ptx/printer.hpp"
#include "measure/flux/code.hpp"

namespace kernelcast::flux {

namespace {

using ptx::Instruction;
using ptx::Operand;
using Code = Insertions::Code;

constexpr std::uint32_t none = ~std::uint32_t{0};

// A place where an edge is counted: code runs there, its last instruction under `guard`.
struct Spot {
  Code* code = nullptr;
  ptx::Guard guard;
};

class Writer {
 public:
  Writer(ptx::Module& module, Plan const& plan, FunctionPlan const& p)
      : module_(module), plan_(plan), p_(p), f_(module.functions[p.function]), inserted_(f_.instructions.size()) {}

  void run() {
    if (!p_.takes_bank) return;
    bank_ = add_register("%kernelcast_bank", ptx::Type::b64);
    for (Measured const& m : p_.measured) count(m);
    flush();
    pass_bank_to_callees();
    fetch_bank();
    inserted_.apply(f_);
  }

 private:
  ptx::CfgBlock const& block(std::uint32_t b) const { return p_.graph.cfg.blocks[b]; }

  std::uint32_t add_register(std::string_view name, ptx::Type type) {
    f_.registers.push_back({name, type, 1});
    return static_cast<std::uint32_t>(f_.registers.size() - 1);
  }
  std::uint32_t word() { return add_register("%kernelcast_r", ptx::Type::b32); }
  std::uint32_t wide() { return add_register("%kernelcast_rd", ptx::Type::b64); }
  std::uint32_t predicate() { return add_register("%kernelcast_p", ptx::Type::pred); }

  // ---- the bank

  void fetch_bank() {
    Code code;
    if (f_.entry) {
      ptx::Parameter banks;
      banks.name = bank_parameter;
      banks.type = ptx::Type::u64;
      banks.align = banks.size = 8;
      banks.offset = (f_.parameter_bytes + 7) / 8 * 8;
      f_.parameters.push_back(banks);
      f_.parameter_bytes = banks.offset + 8;
      auto const base = wide(), unit = word();
      code.push_back(make("ld.param.u64", {reg(base), address(parameter(last_parameter()))}));
      code.push_back(make("mov.u32", {reg(unit), special(ptx::Special::smid)}));
      code.push_back(make("and.b32", {reg(unit), reg(unit), integer(plan_.options.banks - 1)}));
      code.push_back(make("mad.wide.u32", {reg(bank_), reg(unit), integer(bank_bytes(plan_, p_.function)), reg(base)}));
    } else {
      code.push_back(make("ld.param.b64", {reg(bank_), address(parameter(last_parameter()))}));
    }
    for (auto const& [measured, sum] : sums_) code.push_back(make("mov.b64", {reg(sum), integer(0)}));
    auto& gap = inserted_.gap(0);
    gap.insert(gap.begin(), code.begin(), code.end());
  }
  std::uint32_t last_parameter() const { return static_cast<std::uint32_t>(f_.parameters.size() - 1); }

  // Every call of a function that has the parameter hands the bank on.
  void pass_bank_to_callees() {
    for (auto& prototype : f_.prototypes)
      if (calls_by_address_take_bank()) prototype.parameters.push_back(bank_argument());
    for (std::size_t i = 0; i < f_.instructions.size(); ++i) {
      Instruction& call = f_.instructions[i];
      if (!call.is_call()) continue;
      auto const callee = ptx::callee_of(module_, call);
      bool const takes = callee ? takes_bank(*callee) : calls_by_address_take_bank();
      if (!takes) continue;
      ptx::Variable argument;
      argument.name = "kernelcast_bank_argument";
      argument.space = ptx::StateSpace::param;
      argument.type = ptx::Type::b64;
      argument.align = argument.size = 8;
      f_.variables.push_back(argument);
      auto const id = static_cast<std::uint32_t>(f_.variables.size() - 1);
      inserted_.tail(i).push_back(make("st.param.b64", {address(variable(id)), reg(bank_)}));
      arguments_of(call).elements.push_back(variable(id));
    }
  }
  bool takes_bank(std::uint32_t function) const {
    auto const at = plan_.plan_of[function];
    return at != none && plan_.functions[at].takes_bank && !module_.functions[function].entry;
  }
  bool calls_by_address_take_bank() const {
    return std::any_of(plan_.functions.begin(), plan_.functions.end(),
                       [&](FunctionPlan const& p) { return p.takes_bank && !module_.functions[p.function].entry; });
  }
  // The list of arguments, made where there is none.
  static Operand& arguments_of(Instruction& call) {
    std::size_t callee = 0;
    while (call.operands[callee].kind == Operand::Kind::list || call.operands[callee].kind == Operand::Kind::sink)
      ++callee;
    auto const next = callee + 1;
    bool const given = next < call.operands.size() && (call.operands[next].kind == Operand::Kind::list ||
                                                       call.operands[next].kind == Operand::Kind::sink);
    Operand list;
    list.kind = Operand::Kind::list;
    if (!given)
      call.operands.insert(call.operands.begin() + static_cast<std::ptrdiff_t>(next), list);
    else if (call.operands[next].kind == Operand::Kind::sink)
      call.operands[next] = list;
    return call.operands[next];
  }

 public:
  static ptx::Parameter bank_argument() {
    ptx::Parameter p;
    p.name = "kernelcast_bank";
    p.type = ptx::Type::b64;
    p.align = p.size = 8;
    return p;
  }

 private:
  // ---- counters

  void count(Measured const& m) {
    switch (m.what) {
      case Measured::What::entry:
        return add_one(m, {&inserted_.gap(0), {}});
      case Measured::What::edge:
        if (!m.trip) return add_at_edge(m, m.index);
        for (std::uint32_t e = 0; e < p_.graph.edges.size(); ++e)
          if (p_.graph.edges[e].to == p_.graph.cfg.loops[m.trip->loop].header && e != m.trip->back_edge)
            add_trip(m, spots_of(e));
        return;
      case Measured::What::group: {
        auto const& group = p_.groups[m.index];
        return add_one(m, {&inserted_.middle(group.members[0].instruction), {true, false, group.reg}});
      }
      case Measured::What::block:
        return count_block(m);
      case Measured::What::block_warps:
        return;  // with its block
    }
  }

  void add_at_edge(Measured const& m, std::uint32_t e) {
    for (Spot const& spot : spots_of(e)) add_one(m, spot);
  }

  // Where an edge can be counted: usually one place; for a table one for each index.
  std::vector<Spot> spots_of(std::uint32_t e) {
    Edge const& edge = p_.graph.edges[e];
    if (edge.kind == Edge::Kind::entry) return {{&inserted_.gap(0), {}}};
    auto const last = block(edge.from).last - 1;
    if (edge.kind == Edge::Kind::next || edge.kind == Edge::Kind::end) return {{&inserted_.gap(last + 1), {}}};
    ptx::Guard const& guard = f_.instructions[last].guard;
    bool const only = std::count_if(p_.graph.edges.begin(), p_.graph.edges.end(),
                                    [&](Edge const& x) { return x.to == edge.to; }) == 1;
    if (only && edge.to != p_.graph.outside()) return {{&inserted_.head(block(edge.to).first), {}}};
    if (edge.kind != Edge::Kind::table) return {{&inserted_.middle(last), guard}};
    std::vector<Spot> spots;
    for (auto const position : edge.positions) {
      auto const taken = predicate();
      auto const index = f_.instructions[last].operands[0];
      Instruction compare = make("setp.eq.u32", {reg(taken), index, integer(position)});
      if (guard.present) {
        Operand both = reg(guard.reg);
        both.negated = guard.negated;
        compare = make("setp.eq.and.u32", {reg(taken), index, integer(position), both});
      }
      inserted_.middle(last).push_back(std::move(compare));
      spots.push_back({&inserted_.middle(last), {true, false, taken}});
    }
    return spots;
  }

  std::uint32_t sum_of(Measured const& m) {
    auto const [at, fresh] = sums_.try_emplace(&m, none);
    if (fresh) at->second = wide();
    return at->second;
  }

  void add_one(Measured const& m, Spot const& spot) {
    if (m.in_register) {
      auto const sum = sum_of(m);
      spot.code->push_back(guarded(make("add.u64", {reg(sum), reg(sum), integer(1)}), spot.guard));
    } else {
      spot.code->push_back(
          guarded(make("red.global.add.u64", {address(reg(bank_), m.counter.offset), integer(1)}), spot.guard));
    }
  }

  void add_trip(Measured const& m, std::vector<Spot> const& spots) {
    for (Spot const& spot : spots) {
      auto const trips = put_trips(*m.trip, *spot.code);
      if (m.in_register) {
        auto const sum = sum_of(m);
        auto add = m.trip->wide ? make("add.u64", {reg(sum), reg(sum), reg(trips)})
                                : make("mad.wide.u32", {reg(sum), reg(trips), integer(1), reg(sum)});
        spot.code->push_back(guarded(std::move(add), spot.guard));
        continue;
      }
      auto value = trips;
      if (!m.trip->wide) {
        value = wide();
        spot.code->push_back(make("cvt.u64.u32", {reg(value), reg(trips)}));
      }
      put_lane_sum(m.counter, value, spot);
    }
  }

  // How often the loop goes round again, from registers at its entry.
  std::uint32_t put_trips(Trip const& t, Code& code) {
    bool const w = t.wide;
    auto const temporary = [&] { return w ? wide() : word(); };
    auto const narrow = [w](std::uint64_t value) { return w ? value : value & 0xffffffffu; };
    auto const out = temporary();
    std::string_view const add = w ? "add.s64" : "add.s32", sub = w ? "sub.s64" : "sub.s32";
    if (t.goes_on == GoesOn::not_equal) {
      auto const step = w ? static_cast<std::int64_t>(t.step) : static_cast<std::int32_t>(t.step);
      bool const up = step > 0;
      bool const constant = t.bound.kind == Operand::Kind::integer;
      if (up && constant) {
        code.push_back(make(sub, {reg(out), integer(narrow(t.bound.value - t.offset)), reg(t.reg)}));
      } else if (constant) {
        code.push_back(make(add, {reg(out), reg(t.reg), integer(narrow(t.offset - t.bound.value))}));
      } else {
        code.push_back(up ? make(sub, {reg(out), t.bound, reg(t.reg)}) : make(sub, {reg(out), reg(t.reg), t.bound}));
        if (t.offset) code.push_back(make(add, {reg(out), reg(out), integer(narrow(up ? 0 - t.offset : t.offset))}));
      }
      auto const by = division_by(static_cast<std::uint64_t>(up ? step : -step), w);
      if (by.shift) code.push_back(make(w ? "shr.u64" : "shr.u32", {reg(out), reg(out), integer(by.shift)}));
      if (by.inverse != 1) {
        code.push_back(make(w ? "mul.lo.s64" : "mul.lo.s32", {reg(out), reg(out), integer(by.inverse)}));
        if (by.shift) code.push_back(make(w ? "and.b64" : "and.b32", {reg(out), reg(out), integer(by.mask)}));
      }
      return out;
    }
    auto first = t.reg;
    if (t.offset) {
      first = temporary();
      code.push_back(make(add, {reg(first), reg(t.reg), integer(narrow(t.offset))}));
    }
    bool const up = t.goes_on == GoesOn::less || t.goes_on == GoesOn::less_equal;
    if (t.goes_on == GoesOn::less || t.goes_on == GoesOn::greater) {
      code.push_back(make(extreme(up, t), {reg(out), t.bound, reg(first)}));
      code.push_back(up ? make(sub, {reg(out), reg(out), reg(first)}) : make(sub, {reg(out), reg(first), reg(out)}));
      return out;
    }
    auto const any = predicate();
    code.push_back(make(comparison(up, t), {reg(any), reg(first), t.bound}));
    code.push_back(up ? make(sub, {reg(out), t.bound, reg(first)}) : make(sub, {reg(out), reg(first), t.bound}));
    code.push_back(make(add, {reg(out), reg(out), integer(1)}));
    code.push_back(make(w ? "selp.b64" : "selp.b32", {reg(out), reg(out), integer(0), reg(any)}));
    return out;
  }
  static std::string_view extreme(bool up, Trip const& t) {
    if (t.wide) return up ? (t.is_signed ? "max.s64" : "max.u64") : (t.is_signed ? "min.s64" : "min.u64");
    return up ? (t.is_signed ? "max.s32" : "max.u32") : (t.is_signed ? "min.s32" : "min.u32");
  }
  static std::string_view comparison(bool up, Trip const& t) {
    if (t.wide)
      return up ? (t.is_signed ? "setp.le.s64" : "setp.le.u64") : (t.is_signed ? "setp.ge.s64" : "setp.ge.u64");
    return up ? (t.is_signed ? "setp.le.s32" : "setp.le.u32") : (t.is_signed ? "setp.ge.s32" : "setp.ge.u32");
  }

  // The address of this lane's words in the bank, made anew at each place: few functions have more than one.
  std::uint32_t put_lane(Code& code) {
    auto const lane = word(), at = wide();
    code.push_back(make("mov.u32", {reg(lane), special(ptx::Special::laneid)}));
    code.push_back(make("mad.wide.u32", {reg(at), reg(lane), integer(8), reg(bank_)}));
    return at;
  }
  void put_lane_sum(Counter const& counter, std::uint32_t value, Spot const& spot) {
    auto const at = put_lane(*spot.code);
    spot.code->push_back(
        guarded(make("red.global.add.u64", {address(reg(at), counter.offset), reg(value)}), spot.guard));
  }

  // Counters in registers are written out where the function ends.
  void flush() {
    if (sums_.empty()) return;
    auto const put = [&](Code& code, ptx::Guard const& guard) {
      auto const at = put_lane(code);
      for (auto const& [measured, sum] : sums_)
        code.push_back(
            guarded(make("red.global.add.u64", {address(reg(at), measured->counter.offset), reg(sum)}), guard));
    };
    for (Edge const& edge : p_.graph.edges) {
      if (edge.kind != Edge::Kind::leave && edge.kind != Edge::Kind::end &&
          !(edge.to == p_.graph.outside() && edge.kind == Edge::Kind::branch))
        continue;
      auto const last = block(edge.from).last - 1;
      if (edge.kind == Edge::Kind::end)
        put(inserted_.gap(last + 1), {});
      else
        put(inserted_.tail(last), f_.instructions[last].guard);
    }
  }

  // [braun] listing 4.2, its bank computed once per kernel: the first active lane adds the number of active lanes.
  void count_block(Measured const& m) {
    Code& code = inserted_.head(block(m.index).first);
    auto const lane = word(), active = word(), number = word(), first = word();
    auto const value = wide();
    auto const leads = predicate();
    code.push_back(make("mov.u32", {reg(lane), special(ptx::Special::laneid)}));
    code.push_back(make("activemask.b32", {reg(active)}));
    code.push_back(make("popc.b32", {reg(number), reg(active)}));
    code.push_back(make("brev.b32", {reg(first), reg(active)}));
    code.push_back(make("clz.b32", {reg(first), reg(first)}));
    code.push_back(make("setp.eq.u32", {reg(leads), reg(lane), reg(first)}));
    code.push_back(make("cvt.u64.u32", {reg(value), reg(number)}));
    ptx::Guard const guard{true, false, leads};
    code.push_back(guarded(make("red.global.add.u64", {address(reg(bank_), m.counter.offset), reg(value)}), guard));
    if (!plan_.options.warps) return;
    Measured const& warps = *(&m + 1);  // made together
    code.push_back(guarded(make("red.global.add.u64", {address(reg(bank_), warps.counter.offset), integer(1)}), guard));
  }

  ptx::Module& module_;
  Plan const& plan_;
  FunctionPlan const& p_;
  ptx::Function& f_;
  Insertions inserted_;
  std::uint32_t bank_ = none;
  std::map<Measured const*, std::uint32_t> sums_;  // registers that add up
};

// What the counters' instructions need, mad.wide with 64-bit addresses, activemask.
void fit_header(ptx::Module& module, PlanOptions const& options) {
  std::erase(module.targets, "debug");  // promises sections that are not printed
  unsigned const major = options.scheme == Scheme::every_block ? 6 : 3,
                 minor = options.scheme == Scheme::every_block ? 2 : 0;
  if (module.version_major < major || (module.version_major == major && module.version_minor < minor)) {
    module.version_major = major;
    module.version_minor = minor;
  }
  if (options.scheme != Scheme::every_block) return;
  for (auto& target : module.targets)
    if (target.size() == 5 && target.starts_with("sm_") && target < "sm_30") target = "sm_30";
}

}  // namespace

Instrumented instrument(ptx::Module const& original, PlanOptions options) {
  Instrumented out;
  out.plan = make_plan(original, options);
  if (out.plan.refusal) {
    auto const at = out.plan.refused_at;
    throw Error(Status::bad_data, {original.path, at.line, at.column},
                fmt::format("{} cannot be instrumented", *out.plan.refusal),
                original.address_size == 64 ? "count it on the emulator" : "compile for a 64-bit target",
                std::string(original.line(at.line)));
  }
  auto const module = ptx::parse(original.text, original.path);
  fit_header(*module, options);
  // Callees first: calls are judged by what the plan says, not by what has been written.
  for (auto const& p : out.plan.functions) {
    auto& f = module->functions[p.function];
    if (p.takes_bank && !f.entry) f.parameters.push_back(Writer::bank_argument());
  }
  for (auto& f : module->functions) {
    if (!f.alias_of) continue;
    auto const target = ptx::without_alias(*module, *f.alias_of);
    auto const at = out.plan.plan_of[target];
    if (at != ~std::uint32_t{0} && out.plan.functions[at].takes_bank) f.parameters.push_back(Writer::bank_argument());
  }
  for (auto const& p : out.plan.functions) Writer(*module, out.plan, p).run();
  out.ptx = ptx::print(*module);
  return out;
}

}  // namespace kernelcast::flux
