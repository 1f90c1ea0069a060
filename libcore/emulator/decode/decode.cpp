// The decoder's frame: layout of variables, and which function decodes which opcode.
#include "emulator/decode/decode.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "base/diag/diag.hpp"

namespace kernelcast::emu {

namespace {

using ptx::StateSpace;

// Opcodes that are decoded by code rather than by a table entry, and their class.
struct Structural {
  ptx::Op op;
  Class kind;
  enum class Meaning : std::uint8_t {
    load,
    store,
    atomic,
    move,
    address,
    space_test,
    compare,
    fence,
    cluster,
    texture,
    matrix,
    copy,
    stack,
    nothing,
    end
  } meaning;
};
using Meaning = Structural::Meaning;
constexpr Structural structural[] = {
    {ptx::Op::ld, Class::memory, Meaning::load},
    {ptx::Op::ldu, Class::memory, Meaning::load},
    {ptx::Op::st, Class::memory, Meaning::store},
    {ptx::Op::atom, Class::memory, Meaning::atomic},
    {ptx::Op::red, Class::memory, Meaning::atomic},
    {ptx::Op::mov, Class::other, Meaning::move},
    {ptx::Op::cvta, Class::convert, Meaning::address},
    {ptx::Op::isspacep, Class::int_add, Meaning::space_test},
    {ptx::Op::setp, Class::int_add, Meaning::compare},
    {ptx::Op::set, Class::int_add, Meaning::compare},
    {ptx::Op::membar, Class::sync, Meaning::fence},
    {ptx::Op::fence, Class::sync, Meaning::fence},
    {ptx::Op::bra, Class::control, Meaning::end},
    {ptx::Op::brx, Class::control, Meaning::end},
    {ptx::Op::ret, Class::control, Meaning::end},
    {ptx::Op::exit, Class::control, Meaning::end},
    {ptx::Op::trap, Class::control, Meaning::end},
    {ptx::Op::alloca, Class::other, Meaning::stack},
    {ptx::Op::stacksave, Class::other, Meaning::stack},
    {ptx::Op::stackrestore, Class::other, Meaning::stack},
    {ptx::Op::call, Class::control, Meaning::end},
    {ptx::Op::bar, Class::sync, Meaning::end},
    {ptx::Op::barrier, Class::sync, Meaning::end},
    // Hints and events without an effect on values.
    {ptx::Op::prefetch, Class::memory, Meaning::nothing},
    {ptx::Op::prefetchu, Class::memory, Meaning::nothing},
    {ptx::Op::discard, Class::memory, Meaning::nothing},
    {ptx::Op::applypriority, Class::memory, Meaning::nothing},
    {ptx::Op::pmevent, Class::other, Meaning::nothing},
    {ptx::Op::nanosleep, Class::other, Meaning::nothing},
    {ptx::Op::brkpt, Class::control, Meaning::nothing},
    {ptx::Op::griddepcontrol, Class::sync, Meaning::nothing},
    {ptx::Op::setmaxnreg, Class::other, Meaning::nothing},
    {ptx::Op::createpolicy, Class::other, Meaning::cluster},
    {ptx::Op::mapa, Class::convert, Meaning::cluster},
    {ptx::Op::getctarank, Class::convert, Meaning::cluster},
    {ptx::Op::tex, Class::memory, Meaning::texture},
    {ptx::Op::tld4, Class::memory, Meaning::texture},
    {ptx::Op::suld, Class::memory, Meaning::texture},
    {ptx::Op::sust, Class::memory, Meaning::texture},
    {ptx::Op::sured, Class::memory, Meaning::texture},
    {ptx::Op::txq, Class::memory, Meaning::texture},
    {ptx::Op::suq, Class::memory, Meaning::texture},
    {ptx::Op::istypep, Class::int_add, Meaning::texture},
    {ptx::Op::mma, Class::special, Meaning::matrix},
    {ptx::Op::wmma, Class::special, Meaning::matrix},
    {ptx::Op::wgmma, Class::special, Meaning::matrix},
    {ptx::Op::tcgen05, Class::special, Meaning::matrix},
    {ptx::Op::ldmatrix, Class::memory, Meaning::matrix},
    {ptx::Op::stmatrix, Class::memory, Meaning::matrix},
    {ptx::Op::movmatrix, Class::other, Meaning::matrix},
    {ptx::Op::cp, Class::memory, Meaning::copy},
    {ptx::Op::tensormap, Class::memory, Meaning::copy},
    {ptx::Op::mbarrier, Class::sync, Meaning::copy},
    {ptx::Op::clusterlaunchcontrol, Class::sync, Meaning::copy},
};

constexpr auto structural_of = [] {
  std::array<Structural const*, ptx::op_count> table{};
  for (Structural const& s : structural) table[static_cast<std::size_t>(s.op)] = &s;
  return table;
}();
Structural const* find_structural(ptx::Instruction const& i) {
  return structural_of[static_cast<std::size_t>(i.opcode.op())];
}

bool carries(ptx::Instruction const& i) {
  return i.is(ptx::Op::addc, ptx::Op::subc, ptx::Op::madc) ||
         (i.is(ptx::Op::add, ptx::Op::sub, ptx::Op::mad) && i.has("cc"));
}

}  // namespace

namespace {

constexpr std::uint64_t max_shared_bytes = std::uint64_t{16} << 20;
constexpr std::uint64_t max_local_bytes = std::uint64_t{512} << 10;

void mark_variables(ptx::Operand const& operand, std::vector<bool>& named) {
  if (operand.kind == ptx::Operand::Kind::variable && !operand.local) named[operand.id] = true;
  for (auto const& element : operand.elements) mark_variables(element, named);
}

// Variables of the module that the kernel and what it calls name: of files compiled apart all shared memory is declared
// in the module, and each kernel has what it uses.
std::vector<bool> named_variables(ptx::Module const& module, ptx::Function const& kernel) {
  std::vector<bool> out(module.variables.size());
  for (auto const& instruction : kernel.instructions)
    for (auto const& operand : instruction.operands) mark_variables(operand, out);
  return out;
}

// Only kernels that use it have a reserved part of shared memory (cooperative groups of several warps do).
bool names_reserved_shared(ptx::Module const& module, ptx::Function const& kernel) {
  for (ptx::Instruction const& i : kernel.instructions)
    for (ptx::Operand const& o : i.operands)
      if (o.kind == ptx::Operand::Kind::special && static_cast<ptx::Special>(o.id) == ptx::Special::other &&
          module.slice(o.value).starts_with("%reserved_smem"))
        return true;
  return false;
}

}  // namespace

Decoder::Decoder(Drafts& drafts)
    : d_(drafts), p_(drafts.program), f_(*drafts.program.kernel), m_(*drafts.program.module) {}

void Decoder::lay_out_variables() {
  std::uint64_t shared = 0, local = 0;
  auto const named = named_variables(m_, f_);
  auto place = [&](std::vector<ptx::Variable> const& variables, std::vector<std::uint64_t>& offsets) {
    offsets.assign(variables.size(), 0);
    for (std::size_t i = 0; i < variables.size(); ++i) {
      ptx::Variable const& v = variables[i];
      bool const dynamic = v.space == StateSpace::shared && v.size == 0;
      if (&variables == &m_.variables && v.space == StateSpace::shared && !named[i]) continue;
      if (&variables == &f_.variables && v.space != StateSpace::shared && p_.whole) continue;  // see lay_out_frames
      if (dynamic || (v.space != StateSpace::shared && v.space != StateSpace::local)) continue;
      std::uint64_t& top = v.space == StateSpace::shared ? shared : local;
      top = align_up(top, v.align ? v.align : 1);
      offsets[i] = top;
      top += v.size;
    }
  };
  place(m_.variables, module_offsets_);
  place(f_.variables, local_offsets_);
  if (names_reserved_shared(m_, f_)) {
    reserved_shared_ = align_up(shared, 128);
    shared = reserved_shared_ + reserved_shared_bytes;
  }
  // Dynamic shared memory follows the static variables; all extern arrays begin there.
  std::uint64_t dynamic = shared;
  auto widest = [&](std::vector<ptx::Variable> const& variables) {
    for (ptx::Variable const& v : variables)
      if (v.space == StateSpace::shared && v.size == 0)
        dynamic = std::max(dynamic, align_up(shared, std::max<std::uint64_t>(v.align, 16)));
  };
  widest(m_.variables);
  widest(f_.variables);
  auto put = [&](std::vector<ptx::Variable> const& variables, std::vector<std::uint64_t>& offsets) {
    for (std::size_t i = 0; i < variables.size(); ++i)
      if (variables[i].space == StateSpace::shared && variables[i].size == 0) offsets[i] = dynamic;
  };
  put(m_.variables, module_offsets_);
  put(f_.variables, local_offsets_);
  auto refuse = [&](std::uint64_t bytes, std::uint64_t most, char const* whose) {
    if (bytes <= most) return;
    throw Error(Status::bad_data, {m_.path, f_.at.line, f_.at.column},
                "kernel '" + std::string(f_.name) + "' declares " + std::to_string(bytes) + " bytes of " + whose,
                "at most " + std::to_string(most) + " can be emulated; no device has more");
  };
  refuse(dynamic, max_shared_bytes, "shared memory");
  refuse(local, max_local_bytes, "local memory per work-item");
  p_.static_shared_bytes = static_cast<std::uint32_t>(dynamic);
  p_.local_bytes = static_cast<std::uint32_t>(align_up(local, 16));
  if (p_.whole) lay_out_frames();
}

void Decoder::run() {
  for (ptx::Register const& r : f_.registers) d_.registers.push_back({ptx::size_bytes(r.type) >= 8, no_register});
  p_.classes.assign(f_.instructions.size(), Class::other);
  p_.guarded.assign(f_.instructions.size(), false);
  p_.of_pairs = std::ranges::any_of(f_.instructions, [](Instruction const& i) { return i.has("cta_group::2"); });
  lay_out_variables();
  split();
  find_commuting();
  for (BasicBlock const& b : p_.blocks) {
    DraftBlock block;
    block.first = static_cast<std::uint32_t>(d_.drafts.size());
    end_ = &block.end;
    note_synchronisation(b);
    for (std::uint32_t i = b.first; i < b.last; ++i) decode(i);
    block.last = static_cast<std::uint32_t>(d_.drafts.size());
    d_.blocks.push_back(std::move(block));
  }
}

void Decoder::decode(std::uint32_t index) {
  if (!accesses_argument(f_.instructions[index])) return decode(index, f_.instructions[index]);
  // Arguments and results of calls lie in frames, which are local memory.
  Instruction local = f_.instructions[index];
  local.modifiers[0] = "local";
  std::size_t const before = p_.accesses.size();
  decode(index, local);
  for (std::size_t k = before; k < p_.accesses.size(); ++k) p_.accesses[k].argument = true;
}

void Decoder::decode(std::uint32_t index, Instruction const& i) {
  current_ = index;
  origin_ = {};
  origin_.instruction = index;
  origin_.guard = i.guard.present ? i.guard.reg : no_register;
  origin_.guard_negated = i.guard.negated;
  // A conditional branch is known to observers as such.
  p_.guarded[index] = i.guard.present && !i.is_branch();
  std::size_t const before = d_.drafts.size();
  Structural const* known = find_structural(i);
  if (known) p_.classes[index] = known->kind;
  try {
    if (!known || !decode_structural(i)) {
      if (carries(i))
        decode_carry(i);
      else if (is_video(i.opcode.op()))
        decode_video(i);
      else
        decode_arithmetic(i);
    }
    if (d_.drafts.size() == before && p_.guarded[index] && !ends_block(i)) {
      // Nothing to do, but the guard is an event.
      Draft empty = origin_;
      empty.dead = true;
      d_.drafts.push_back(empty);
    }
  } catch (Unsupported const& reason) {
    auto text = std::make_shared<std::string const>(reason.what);
    p_.refused.push_back({current_, text->starts_with("opcode '") ? std::string() : *text});
    refuse(i, before).data = text.get();
    p_.facts.push_back(std::move(text));
  } catch (std::out_of_range const&) {  // an operand is missing
    p_.refused.push_back({current_, {}});
    refuse(i, before);
  }
}

// Nothing of what was decoded of an instruction stays: neither operations nor the end of its block.
Draft& Decoder::refuse(Instruction const& i, std::size_t drafts_before) {
  d_.drafts.resize(drafts_before, origin_);
  pending_.clear();
  if (ends_block(i)) *end_ = {};
  Draft refusal = origin_;
  refusal.kind = Draft::Kind::refuse;
  d_.drafts.push_back(refusal);
  return d_.drafts.back();
}

bool Decoder::decode_structural(Instruction const& i) {
  switch (find_structural(i)->meaning) {
    case Meaning::load:
      decode_load(i);
      return true;
    case Meaning::store:
      decode_store(i);
      return true;
    case Meaning::atomic:
      decode_atomic(i);
      return true;
    case Meaning::move:
      decode_move(i);
      return true;
    case Meaning::address:
      decode_address_conversion(i);
      return true;
    case Meaning::space_test:
      decode_space_test(i);
      return true;
    case Meaning::compare:
      decode_comparison(i);
      return true;
    case Meaning::fence:
      decode_fence(i);
      return true;
    case Meaning::cluster:
      decode_cluster(i);
      return true;
    case Meaning::texture:
      decode_texture(i);
      return true;
    case Meaning::matrix:
      decode_matrix(i);
      return true;
    case Meaning::copy:
      decode_copy(i);
      return true;
    case Meaning::stack:
      decode_stack(i);
      return true;
    case Meaning::nothing:
      return true;
    case Meaning::end:
      if (ends_block(i)) decode_end(i);
      return true;
  }
  return false;
}

void decode(Drafts& drafts) {
  Decoder(drafts).run();
}

}  // namespace kernelcast::emu
