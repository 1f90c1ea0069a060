// cp.async and its kin, and mbarrier: the words of the opcode become facts for one handler each.
#include <algorithm>

#include "emulator/decode/decode.hpp"
#include "emulator/decode/matrix_words.hpp"
#include "emulator/opcodes/copy.hpp"

namespace kernelcast::emu {

namespace {

using ptx::StateSpace;
using ptx::Type;
using BarrierKind = BarrierOperation::Kind;
using Reduction = BulkCopy::Reduction;

bool is_shared_space(std::string_view word) {
  return word == "shared" || word == "shared::cta" || word == "shared::cluster";
}
StateSpace space_of(ptx::Instruction const& i) {
  return std::any_of(i.modifiers.begin(), i.modifiers.end(), is_shared_space) ? StateSpace::shared
                                                                              : StateSpace::generic;
}

std::uint8_t last_of(std::vector<std::uint32_t> const& sources) {
  return static_cast<std::uint8_t>(sources.size() - 1);
}

}  // namespace

Reduction reduction_named(std::string_view word) {
  static constexpr std::pair<std::string_view, Reduction> reductions[] = {
      {"add", Reduction::add},        {"min", Reduction::minimum},   {"max", Reduction::maximum},
      {"inc", Reduction::increment},  {"dec", Reduction::decrement}, {"and", Reduction::conjunction},
      {"or", Reduction::disjunction}, {"xor", Reduction::exclusive}};
  for (auto const& [known, reduction] : reductions)
    if (known == word) return reduction;
  return Reduction::none;
}

// Appends the address's register to the sources.
CopyAddress Decoder::copy_address(Operand const& address, std::vector<std::uint32_t>& sources) {
  sources.push_back(address_register(address));
  return {d_.registers[sources.back()].wide, last_of(sources), address.value};
}

// st.bulk [to], size, 0
void Decoder::decode_bulk_fill(Instruction const& i) {
  Operand const& value = i.operands.at(2);
  if (i.operands.size() != 3 || value.kind != Operand::Kind::integer || value.value != 0) throw refused(i);
  BulkFill f;
  std::vector<std::uint32_t> sources;
  f.to = copy_address(i.operands[0], sources);
  Operand const& size = i.operands[1];
  f.wide_size = size.kind == Operand::Kind::reg && ptx::size_bytes(register_type(size.id)) == 8;
  sources.push_back(source(size, f.wide_size ? LaneType::u64 : LaneType::u32));
  f.size = last_of(sources);
  std::uint32_t const access = add_plain_access(space_of(i), Direction::store);
  Draft& draft = emit_with("#st.bulk", f, {}, std::move(sources));
  draft.access = access;
  draft.effect = true;
}

// st.async, red.async that signal an mbarrier
void Decoder::decode_async_store(Instruction const& i) {
  if (!i.has("shared::cluster") || i.operands.size() != 3) throw refused(i);
  AsyncStore f;
  for (std::string_view const m : i.modifiers) {
    if (i.is(ptx::Op::red) && f.reduction == Reduction::none) f.reduction = reduction_named(m);
    if (Type const type = type_named(m); type != Type::none) f.type = type;
  }
  f.element_bytes = static_cast<std::uint8_t>(ptx::size_bytes(f.type));
  if ((f.element_bytes != 4 && f.element_bytes != 8) || (i.is(ptx::Op::red) && f.reduction == Reduction::none))
    throw refused(i);
  std::vector<std::uint32_t> sources;
  f.to = copy_address(i.operands[0], sources);
  f.barrier = copy_address(i.operands[2], sources);
  f.values = static_cast<std::uint8_t>(sources.size());
  std::vector<Operand> const values = elements_of(i.operands[1]);
  if (values.size() != i.elements() || values.size() > 4) throw refused(i);
  f.count = static_cast<std::uint8_t>(values.size());
  for (Operand const& value : values)
    sources.push_back(source(value, f.element_bytes == 8 ? LaneType::u64 : LaneType::u32));
  std::uint32_t const store =
      add_plain_access(StateSpace::shared, f.reduction == Reduction::none ? Direction::store : Direction::atomic);
  add_plain_access(StateSpace::shared, Direction::atomic);
  Draft& draft = emit_with("#st.async", f, {}, std::move(sources));
  draft.access = store;
  draft.effect = true;
  finish();
}

void Decoder::decode_copy(Instruction const& i) {
  if (i.is(ptx::Op::mbarrier)) return decode_barrier_object(i);
  if (i.is(ptx::Op::tensormap)) return decode_tensor_map(i);
  if (i.is(ptx::Op::clusterlaunchcontrol)) return decode_launch_control(i);
  if (i.has("commit_group") || i.has("wait_group") || i.has("wait_all")) {
    p_.classes[current_] = Class::sync;  // copies are done when they are issued
    return;
  }
  if (i.has("prefetch")) return;
  if (i.has("tensor")) return decode_tensor_copy(i);
  if (i.has("mbarrier")) return decode_barrier_object(i);
  if (i.has("bulk")) return decode_bulk_copy(i);
  if (!i.is(ptx::Op::cp) || !i.has("async") || !i.has("global") || space_of(i) != StateSpace::shared) throw refused(i);
  AsyncCopy f;
  std::vector<std::uint32_t> sources;
  f.to = copy_address(i.operands.at(0), sources);
  f.from = copy_address(i.operands.at(1), sources);
  Operand const& bytes = i.operands.at(2);
  if (bytes.kind != Operand::Kind::integer || (bytes.value != 4 && bytes.value != 8 && bytes.value != 16))
    throw refused(i);
  f.bytes = static_cast<std::uint8_t>(bytes.value);
  // A fourth operand is a size, a predicate, or, where a hint is announced and nothing else follows, the hint.
  bool const hinted = i.has("L2::cache_hint");
  std::size_t const others = i.operands.size() - (hinted ? 1 : 0);
  if (others > 3) {
    Operand const& fourth = i.operands[3];
    bool const predicate = fourth.kind == Operand::Kind::reg && register_type(fourth.id) == Type::pred;
    sources.push_back(source(fourth, predicate ? LaneType::pred : LaneType::u32));
    (predicate ? f.ignore : f.size) = last_of(sources);
  }
  std::uint32_t const load = add_plain_access(StateSpace::global, Direction::load);
  add_plain_access(StateSpace::shared, Direction::store);
  Draft& draft = emit_with("#cp.async", f, {}, std::move(sources));
  draft.access = load;
  draft.effect = true;
}

void Decoder::decode_bulk_copy(Instruction const& i) {
  BulkCopy f;
  // The first two spaces are the destination's and the source's.
  std::vector<StateSpace> spaces;
  for (std::string_view const m : i.modifiers) {
    if (is_shared_space(m)) spaces.push_back(StateSpace::shared);
    if (m == "global") spaces.push_back(StateSpace::global);
    if (i.has("reduce") && f.reduction == Reduction::none) f.reduction = reduction_named(m);
    if (Type const type = type_named(m); type != Type::none) f.type = type;
  }
  if (spaces.size() != 2 || (i.has("reduce") && (f.reduction == Reduction::none || f.type == Type::none)))
    throw refused(i);
  f.signals = i.has("mbarrier::complete_tx::bytes");
  if (!f.signals && !i.has("bulk_group")) throw refused(i);
  std::vector<std::uint32_t> sources;
  f.to = copy_address(i.operands.at(0), sources);
  f.from = copy_address(i.operands.at(1), sources);
  sources.push_back(source(i.operands.at(2), LaneType::u32));
  f.size = last_of(sources);
  if (f.signals) f.barrier = copy_address(i.operands.at(3), sources);
  if (i.has("multicast::cluster")) {
    if (!f.signals) throw refused(i);
    sources.push_back(source(i.operands.at(4), LaneType::u16));
    f.group_mask = last_of(sources);
    sources.push_back(own_rank());
  }
  if (i.has("cp_mask")) {
    sources.push_back(source(i.operands.back(), LaneType::u32));
    f.byte_mask = last_of(sources);
  }
  bool const reduces = f.reduction != Reduction::none;
  f.to_global = spaces[0] == StateSpace::global;
  if (reduces && f.to_global) p_.order_dependent = true;
  std::uint32_t const load = add_plain_access(spaces[1], Direction::load);
  add_plain_access(spaces[0], reduces ? Direction::atomic : Direction::store);
  add_plain_access(StateSpace::shared, Direction::atomic);
  Draft& draft = emit_with("#cp.async.bulk", f, {}, std::move(sources));
  draft.access = load;
  draft.effect = true;
}

void Decoder::decode_barrier_object(Instruction const& i) {
  p_.classes[current_] = Class::sync;
  static constexpr std::pair<std::string_view, BarrierKind> kinds[] = {{"init", BarrierKind::init},
                                                                       {"inval", BarrierKind::invalidate},
                                                                       {"arrive", BarrierKind::arrive},
                                                                       {"arrive_drop", BarrierKind::arrive_drop},
                                                                       {"expect_tx", BarrierKind::expect},
                                                                       {"complete_tx", BarrierKind::complete},
                                                                       {"test_wait", BarrierKind::test},
                                                                       {"try_wait", BarrierKind::test},
                                                                       {"pending_count", BarrierKind::pending_count}};
  std::string_view const word = i.is(ptx::Op::mbarrier) ? i.modifiers.at(0) : "arrive";
  auto const found = std::find_if(std::begin(kinds), std::end(kinds), [&](auto const& k) { return k.first == word; });
  if (found == std::end(kinds)) throw refused(i);
  BarrierOperation f;
  f.kind = found->second;
  if (f.kind == BarrierKind::pending_count) {
    std::uint32_t const state = source(i.operands.at(1), LaneType::u64);
    emit("#mbarrier.pending_count", {destination(i.operands.at(0), LaneType::u32)}, {state});
    return finish();
  }
  if (i.is(ptx::Op::cp)) {
    f.kind = BarrierKind::async_arrive;
    f.increments = !i.has("noinc");
  }
  if (f.kind == BarrierKind::test && i.has("parity")) f.kind = BarrierKind::test_parity;
  bool const arrives = f.kind == BarrierKind::arrive || f.kind == BarrierKind::arrive_drop;
  bool const tests = f.kind == BarrierKind::test || f.kind == BarrierKind::test_parity;
  f.expects = arrives && i.has("expect_tx");
  bool const returns = arrives || tests;
  std::size_t const first = returns ? 1 : 0;
  std::vector<std::uint32_t> sources, destinations;
  f.object = copy_address(i.operands.at(first), sources);
  if (f.kind != BarrierKind::async_arrive && i.operands.size() > first + 1) {
    sources.push_back(source(i.operands[first + 1], f.kind == BarrierKind::test ? LaneType::u64 : LaneType::u32));
    f.value = last_of(sources);
  }
  bool const needs_value = tests || f.expects || f.kind == BarrierKind::init || f.kind == BarrierKind::expect ||
                           f.kind == BarrierKind::complete;
  if (needs_value && f.value == BarrierOperation::nothing) throw refused(i);
  if (returns && i.operands[0].kind != Operand::Kind::sink)
    destinations.push_back(destination(i.operands[0], tests ? LaneType::pred : LaneType::u64));
  bool const stores = f.kind == BarrierKind::init || f.kind == BarrierKind::invalidate;
  Draft& draft = emit_with("#mbarrier", f, std::move(destinations), std::move(sources));
  draft.access = add_plain_access(space_of(i), stores ? Direction::store : Direction::atomic);
  draft.effect = true;
  finish();
}

// try_cancel [answer], [mbarrier]; query_cancel.is_canceled p, answer; query_cancel.get_first_ctaid{::x} registers,
// answer. An answer of zeros is that no group was cancelled.
void Decoder::decode_launch_control(Instruction const& i) {
  std::vector<std::uint32_t> sources;
  if (i.has("try_cancel")) {
    if (!i.has("async") || !i.has("mbarrier::complete_tx::bytes")) throw refused(i);
    LaunchQuery f;
    f.answer = copy_address(i.operands.at(0), sources);
    f.barrier = copy_address(i.operands.at(1), sources);
    if (i.has("multicast::cluster::all")) {
      f.ranks = static_cast<std::uint8_t>(sources.size());
      Operand count;
      count.kind = Operand::Kind::special;
      count.id = static_cast<std::uint32_t>(ptx::Special::cluster_nctarank);
      sources.push_back(source(count, LaneType::u32));
      sources.push_back(own_rank());
    }
    std::uint32_t const store = add_plain_access(space_of(i), Direction::store);
    add_plain_access(space_of(i), Direction::atomic);
    Draft& draft = emit_with("#launch_query", f, {}, std::move(sources));
    draft.access = store;
    draft.effect = true;
    return;
  }
  if (!i.has("query_cancel")) throw refused(i);
  p_.classes[current_] = Class::other;
  std::vector<std::uint32_t> const answer = halves(i.operands.at(1));
  if (answer.size() != 2) throw refused(i);
  if (i.has("is_canceled")) {
    emit("#canceled", {destination(i.operands.at(0), LaneType::pred)}, {answer[1]});
    return finish();
  }
  static constexpr std::pair<std::string_view, std::size_t> dimensions[] = {
      {"get_first_ctaid::x", 0}, {"get_first_ctaid::y", 1}, {"get_first_ctaid::z", 2}};
  std::vector<std::pair<Operand, std::size_t>> wanted;
  if (i.has("get_first_ctaid")) {
    std::vector<Operand> const all = elements_of(i.operands.at(0));
    for (std::size_t k = 0; k < all.size() && k < 3; ++k)
      if (all[k].kind != Operand::Kind::sink) wanted.emplace_back(all[k], k);
  }
  for (auto const& [word, k] : dimensions)
    if (i.has(word)) wanted.emplace_back(i.operands.at(0), k);
  if (wanted.empty()) throw refused(i);
  for (auto const& [to, k] : wanted)
    emit(k == 1 ? "#high.b64" : "#low.b64", {destination(to, LaneType::u32)}, {answer[k / 2]});
  finish();
}

}  // namespace kernelcast::emu
