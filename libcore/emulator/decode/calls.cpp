// Calls that are executed: layout of frames, callees, alloca.
//
// A frame is local memory of each lane: the callee's parameters and results, then its variables. The kernel's own frame
// begins at offset 0; that of a call lies where the machine puts it, and is found through a register that the machine
// supplies (Pin::Kind::frame).
#include <algorithm>

#include "base/diag/diag.hpp"
#include "emulator/decode/decode.hpp"

namespace kernelcast::emu {

void allocate_stack(Context&, MicroOp const&);  // machine/calls.cpp
void save_stack(Context&, MicroOp const&);
void restore_stack(Context&, MicroOp const&);

namespace {

using ptx::StateSpace;
using Callee = CallSite::Callee;

constexpr std::uint64_t frame_alignment = 32;
constexpr std::uint64_t max_frame_bytes = std::uint64_t{512} << 10;

// What the device's run-time library does.
Callee builtin(ptx::Function const& f) {
  if (f.has_body) return Callee::unknown;
  if (f.name == "vprintf" && f.parameters.size() == 2 && f.results.size() <= 1) return Callee::print;
  if (f.name == "malloc" && f.parameters.size() == 1 && f.results.size() == 1) return Callee::allocate;
  if (f.name == "free" && f.parameters.size() == 1 && f.results.empty()) return Callee::release;
  if (f.name == "__assertfail" && f.parameters.size() >= 4) return Callee::assertion;
  return Callee::external;
}

}  // namespace

void Decoder::lay_out_frames() {
  ptx::Whole const& whole = *p_.whole;
  std::vector<std::uint64_t> top(whole.callables.size() + 1, 0);
  top[0] = p_.local_bytes;
  for (std::size_t v = 0; v < f_.variables.size(); ++v) {
    ptx::Variable const& variable = f_.variables[v];
    if (variable.space != StateSpace::local && variable.space != StateSpace::param) continue;
    std::uint64_t& end = top[whole.owner[v]];
    end = align_up(end, std::max<std::uint64_t>(variable.align, 1));
    local_offsets_[v] = end;
    end += variable.size;
    if (end > max_frame_bytes)
      throw Error(Status::bad_data, {m_.path, f_.at.line, f_.at.column},
                  "kernel '" + std::string(f_.name) + "' needs more than " + std::to_string(max_frame_bytes) +
                      " bytes of local memory per work-item",
                  "no device has more");
  }
  p_.local_bytes = static_cast<std::uint32_t>(align_up(top[0], frame_alignment));
  p_.stacked |= !whole.callables.empty();
  auto const slices = [&](std::vector<std::uint32_t> const& variables) {
    std::vector<Slice> result;
    for (std::uint32_t v : variables)
      result.push_back(
          {static_cast<std::uint32_t>(local_offsets_[v]), static_cast<std::uint32_t>(f_.variables[v].size)});
    return result;
  };
  for (std::size_t k = 0; k < whole.callables.size(); ++k) {
    ptx::Callable const& callable = whole.callables[k];
    CallableCode& code = p_.callables.emplace_back();
    code.function = callable.function;
    code.frame_bytes = static_cast<std::uint32_t>(align_up(top[k + 1], frame_alignment));
    code.parameters = slices(callable.parameters);
    code.results = slices(callable.results);
  }
}

bool Decoder::in_callable() const {
  return p_.whole && !p_.whole->callables.empty() && current_ >= p_.whole->callables[0].first;
}

bool Decoder::accesses_argument(Instruction const& i) const {
  if (!p_.whole || !i.accesses_parameter() || i.operands.size() != 2) return false;
  Operand const& address = i.operands[i.is(ptx::Op::ld) ? 1 : 0];
  return address.kind == Operand::Kind::address && !address.elements.empty() &&
         address.elements[0].kind == Operand::Kind::variable && address.elements[0].local;
}

// A variable whose place depends on the call.
bool Decoder::lies_in_call_frame(Operand const& o) const {
  if (!p_.whole || o.kind != Operand::Kind::variable || !o.local || p_.whole->owner[o.id] == 0) return false;
  StateSpace const space = f_.variables[o.id].space;
  return space == StateSpace::local || space == StateSpace::param;
}

std::uint32_t Decoder::frame() {
  return d_.pin({Pin::Kind::frame, true, 0, 0, 0, false, no_slot});
}

std::uint32_t Decoder::frame_address(std::uint32_t variable, std::uint64_t offset) {
  offset += local_offsets_[variable];
  if (p_.whole->owner[variable] == 0) return d_.immediate(offset, true);
  std::uint32_t const address = d_.add_register(true);
  emit("add.u64", {address}, {frame(), d_.immediate(offset, true)});
  return address;
}

void Decoder::decode_call(Instruction const& i) {
  CallSite site;
  std::uint32_t target = no_register;
  bool before = true;
  auto const slices = [&](Operand const& list) {
    std::vector<Slice> result;
    for (Operand const& o : list.elements) {
      bool const named =
          o.kind == Operand::Kind::variable && o.local &&
          (f_.variables[o.id].space == StateSpace::param || f_.variables[o.id].space == StateSpace::local);
      if (named)
        result.push_back(
            {static_cast<std::uint32_t>(local_offsets_[o.id]), static_cast<std::uint32_t>(f_.variables[o.id].size)});
      else
        result.push_back({});
    }
    return result;
  };
  for (Operand const& o : i.operands) {
    if (o.kind == Operand::Kind::list) {
      (before ? site.results : site.arguments) = slices(o);
    } else if (o.kind == Operand::Kind::reg && before) {
      site.callee = Callee::indirect;
      target = source(o, LaneType::u64);
      before = false;
    } else if (o.kind != Operand::Kind::sink) {
      before = false;
    }
  }
  if (auto const callee = ptx::callee_of(m_, i)) {
    ptx::Function const& f = m_.functions[*callee];
    site.callee = builtin(f);
    for (std::uint32_t k = 0; k < p_.callables.size(); ++k) {
      CallableCode const& c = p_.callables[k];
      if (c.function != *callee) continue;
      site.callable = k;
      site.callee = Callee::function;
    }
    bool const fits = site.arguments.size() == f.parameters.size() && site.results.size() <= f.results.size();
    if (!fits) site.callee = Callee::unknown;
  }
  if (site.callee == Callee::allocate || site.callee == Callee::release || site.callee == Callee::external)
    p_.order_dependent = true;
  end_->kind = End::Kind::call;
  end_->index = target;
  end_->target = static_cast<std::uint32_t>(p_.calls.size());
  p_.calls.push_back(std::move(site));
}

// alloca.type d, bytes{, align}; stacksave.type d; stackrestore.type a. Addresses of local memory.
void Decoder::decode_stack(Instruction const& i) {
  p_.stacked = true;
  Draft draft = origin_;
  draft.kind = Draft::Kind::machine;
  if (i.is(ptx::Op::stackrestore)) {
    draft.handler = restore_stack;
    draft.sources = {source(i.operands.at(0), LaneType::u64)};
    d_.drafts.push_back(std::move(draft));
    return;
  }
  if (i.is(ptx::Op::alloca)) {
    draft.handler = allocate_stack;
    draft.sources = {source(i.operands.at(1), LaneType::u64)};
    std::uint64_t const align = i.operands.size() > 2 ? i.operands[2].value : 8;
    if (align == 0 || (align & (align - 1)) != 0 || align > 4096) throw Unsupported{"this alignment"};
    draft.extra = static_cast<std::uint32_t>(align);
  } else {
    draft.handler = save_stack;
  }
  std::uint32_t const written = destination(i.operands.at(0), LaneType::u64);
  draft.destinations = {written};
  d_.drafts.push_back(std::move(draft));
  finish();
}

}  // namespace kernelcast::emu
