// Copies of tiles that a tensor map describes, and what changes tensor maps.
#include <algorithm>

#include "emulator/decode/decode.hpp"
#include "emulator/opcodes/copy.hpp"
#include "emulator/tensor_map.hpp"

namespace kernelcast::emu {

namespace {

using ptx::StateSpace;
using Reduction = BulkCopy::Reduction;

struct Field {
  std::string_view name;
  std::size_t offset;
  std::uint8_t bytes;
  std::uint32_t count = 1;  // above 1: the operand before the value says which
};
constexpr Field fields[] = {
    {"global_address", offsetof(TensorMap, address), 8},
    {"rank", offsetof(TensorMap, last_dim), 1},
    {"box_dim", offsetof(TensorMap, box), 2, TensorMap::max_rank},
    {"global_dim", offsetof(TensorMap, dims), 4, TensorMap::max_rank},
    {"global_stride", offsetof(TensorMap, strides), 8, TensorMap::max_rank - 1},
    {"element_stride", offsetof(TensorMap, steps), 1, TensorMap::max_rank},
    {"elemtype", offsetof(TensorMap, element), 1},
    {"interleave_layout", offsetof(TensorMap, interleave), 1},
    {"swizzle_atomicity", offsetof(TensorMap, atoms), 1},
    {"swizzle_mode", offsetof(TensorMap, swizzle), 1},
    {"fill_mode", offsetof(TensorMap, fill), 1},
};

// The only word of the instruction that says how a tile lies in the tensor; "tile" where none does.
std::string_view mode_of(ptx::Instruction const& i) {
  std::string_view found;
  for (std::string_view const m : i.modifiers) {
    if (m != "tile" && !m.starts_with("tile::") && !m.starts_with("im2col")) continue;
    if (!found.empty()) throw refused(i);
    found = m;
  }
  return found.empty() ? "tile" : found;
}

}  // namespace

// [shared], [map, {coordinates}], [mbarrier]{, {offsets}}{, groups}{, hint}, or [map, {coordinates}], [shared]{, hint}
void Decoder::decode_tensor_copy(Instruction const& i) {
  TensorCopy f;
  std::string_view const mode = mode_of(i);
  f.pair = i.has("cta_group::2");
  f.signals = i.has("mbarrier::complete_tx::bytes");
  f.loads = f.signals;
  if (f.loads == i.has("bulk_group") || !i.has("global")) throw refused(i);
  auto const dimensions = std::find_if(i.modifiers.begin(), i.modifiers.end(), [](auto m) {
    return m.size() == 2 && m[1] == 'd' && m[0] >= '1' && m[0] < '1' + static_cast<int>(TensorMap::max_rank);
  });
  if (dimensions == i.modifiers.end()) throw refused(i);
  f.rank = static_cast<std::uint8_t>((*dimensions)[0] - '0');
  for (std::string_view const m : i.modifiers)
    if (i.has("reduce") && f.reduction == Reduction::none) f.reduction = reduction_named(m);
  bool const reduces = f.reduction != Reduction::none;
  if (i.has("reduce") != reduces || (reduces && f.loads)) throw refused(i);

  Operand const& map = i.operands.at(f.loads ? 1 : 0);
  if (map.kind != Operand::Kind::address || map.elements.size() != 2) throw refused(i);
  Operand const& place = map.elements[1];
  std::vector<Operand> const coordinates =
      place.kind == Operand::Kind::vector ? place.elements : std::vector<Operand>{place};
  f.by_rows = mode == (f.loads ? "tile::gather4" : "tile::scatter4");
  if (f.by_rows ? f.rank != 2 || coordinates.size() != 1u + TensorCopy::rows : coordinates.size() != f.rank)
    throw refused(i);
  bool const has_offsets = mode.starts_with("im2col") && mode != "im2col_no_offs";
  if (mode == "im2col::w")
    f.mode = TensorMap::Mode::wide;
  else if (mode == "im2col::w::128")
    f.mode = TensorMap::Mode::wide_128;
  else if (mode.starts_with("im2col"))
    f.mode = TensorMap::Mode::im2col;
  else if (mode != "tile" && !f.by_rows)
    throw refused(i);
  if (f.mode != TensorMap::Mode::tile && (f.rank < 3 || has_offsets != f.loads)) throw refused(i);
  std::vector<std::uint32_t> sources;
  f.map = copy_address(map, sources);
  f.shared = copy_address(i.operands.at(f.loads ? 0 : 1), sources);
  if (f.signals) f.barrier = copy_address(i.operands.at(2), sources);
  f.coordinates = static_cast<std::uint8_t>(sources.size());
  for (Operand const& c : coordinates) sources.push_back(source(c, LaneType::u32));
  if (has_offsets) {
    std::vector<Operand> const offsets = i.operands.at(3).elements;
    if (offsets.size() != (f.mode == TensorMap::Mode::im2col ? f.rank - 2u : 2u)) throw refused(i);
    f.offsets = static_cast<std::uint8_t>(sources.size());
    for (Operand const& offset : offsets) sources.push_back(source(offset, LaneType::u16));
  }
  if (i.has("multicast::cluster")) {
    f.group_mask = static_cast<std::uint8_t>(sources.size());
    sources.push_back(source(i.operands.at(has_offsets ? 4 : 3), LaneType::u16));
    sources.push_back(own_rank());
  }
  if (reduces) p_.order_dependent = true;
  std::uint32_t const first = add_plain_access(StateSpace::generic, Direction::load);
  add_plain_access(StateSpace::global, f.loads ? Direction::load : reduces ? Direction::atomic : Direction::store);
  add_plain_access(StateSpace::shared, f.loads ? Direction::store : Direction::load);
  add_plain_access(StateSpace::shared, Direction::atomic);
  Draft& draft = emit_with("#cp.tensor", f, {}, std::move(sources));
  draft.access = first;
  draft.effect = true;
  finish();
}

// tensormap.replace.tile.field{.space}.b1024.type [map], {ordinal, }value; tensormap.cp_fenceproxy… [to], [from], 128
void Decoder::decode_tensor_map(Instruction const& i) {
  std::vector<std::uint32_t> sources;
  if (i.has("cp_fenceproxy")) {
    TensorMapCopy f;
    f.to = copy_address(i.operands.at(0), sources);
    f.from = copy_address(i.operands.at(1), sources);
    Operand const& bytes = i.operands.at(2);
    if (bytes.kind != Operand::Kind::integer || bytes.value != sizeof(TensorMap)) throw refused(i);
    std::uint32_t const load = add_plain_access(StateSpace::shared, Direction::load);
    add_plain_access(StateSpace::global, Direction::store);
    if (!i.has("cta")) p_.order_dependent = true;
    Draft& draft = emit_with("#tensormap.copy", f, {}, std::move(sources));
    draft.access = load;
    draft.effect = true;
    return finish();
  }
  auto const field = std::find_if(std::begin(fields), std::end(fields), [&](Field const& f) { return i.has(f.name); });
  if (!i.has("replace") || !i.has("tile") || field == std::end(fields)) throw refused(i);
  TensorMapField f;
  f.map = copy_address(i.operands.at(0), sources);
  std::size_t ordinal = 0;
  if (field->count > 1) {
    Operand const& which = i.operands.at(1);
    if (which.kind != Operand::Kind::integer || which.value >= field->count) throw refused(i);
    ordinal = which.value;
  }
  f.bytes = field->bytes;
  f.offset = static_cast<std::uint8_t>(field->offset + ordinal * field->bytes);
  f.value = static_cast<std::uint8_t>(sources.size());
  sources.push_back(source(i.operands.at(field->count > 1 ? 2 : 1), f.bytes == 8 ? LaneType::u64 : LaneType::u32));
  StateSpace const space = i.has("global")                           ? StateSpace::global
                           : i.has("shared::cta") || i.has("shared") ? StateSpace::shared
                                                                     : StateSpace::generic;
  Draft& draft = emit_with("#tensormap.replace", f, {}, std::move(sources));
  draft.access = add_plain_access(space, Direction::store);
  draft.effect = true;
  finish();
}

}  // namespace kernelcast::emu
