// tcgen05: the words and immediates of the opcode become facts for one handler each.
#include <algorithm>

#include "emulator/decode/decode.hpp"
#include "emulator/opcodes/tensor_memory.hpp"

namespace kernelcast::emu {

namespace {

using ptx::Operand;
using ptx::StateSpace;
using ptx::Type;
using CellShape = TensorTransfer::Shape;
using ProductKind = TensorProduct::Kind;

constexpr std::size_t max_tensor_registers = 128;  // of tcgen05.ld and .st

template <class Value>
struct Word {
  std::string_view text;
  Value value;
};
// The value of the only word of the instruction that is among these.
template <class Value, std::size_t Count>
Value word_of(ptx::Instruction const& i, Word<Value> const (&words)[Count]) {
  Word<Value> const* found = nullptr;
  for (Word<Value> const& w : words)
    if (i.has(w.text)) {
      if (found) throw refused(i);
      found = &w;
    }
  if (!found) throw refused(i);
  return found->value;
}
bool pair_of(ptx::Instruction const& i) {
  static constexpr Word<bool> groups[] = {{"cta_group::1", false}, {"cta_group::2", true}};
  return word_of(i, groups);
}
// Words that this reader knows, beside those that it has looked at: others are refused.
void refuse_others(ptx::Instruction const& i, std::initializer_list<std::string_view> known) {
  for (std::string_view const m : i.modifiers)
    if (std::find(known.begin(), known.end(), m) == known.end() && !m.starts_with("cta_group::")) throw refused(i);
}
StateSpace tensor_space_of(ptx::Instruction const& i) {
  return i.has("shared::cta") || i.has("shared::cluster") ? StateSpace::shared : StateSpace::generic;
}

struct TransferShape {
  CellShape shape;
  unsigned registers;  // of .x1
};
constexpr Word<TransferShape> transfer_shapes[] = {{"32x32b", {CellShape::l32x32b, 1}},
                                                   {"16x64b", {CellShape::l16x64b, 1}},
                                                   {"16x128b", {CellShape::l16x128b, 2}},
                                                   {"16x256b", {CellShape::l16x256b, 4}},
                                                   {"16x32bx2", {CellShape::l16x32bx2, 1}}};
constexpr Word<unsigned> repetitions[] = {{"x1", 1},   {"x2", 2},   {"x4", 4},   {"x8", 8},
                                          {"x16", 16}, {"x32", 32}, {"x64", 64}, {"x128", 128}};

// Rows, pieces of 16 bytes in a row, and where the rows go: [ptx] "tcgen05.cp".
TensorStaging staging(std::uint8_t rows, std::uint8_t pieces, std::uint8_t copies, std::uint8_t shift) {
  TensorStaging f;
  f.rows = rows;
  f.pieces = pieces;
  f.copies = copies;
  f.shift = shift;
  return f;
}
TensorStaging staging_of(ptx::Instruction const& i) {
  if (i.has("128x256b")) return staging(128, 2, 1, 0);
  if (i.has("128x128b")) return staging(128, 1, 1, 0);
  if (i.has("32x128b") && i.has("warpx4")) return staging(32, 1, 4, 32);
  if (i.has("64x128b") && i.has("warpx2::02_13")) return staging(64, 1, 2, 64);
  if (i.has("64x128b") && i.has("warpx2::01_23")) {
    TensorStaging f = staging(64, 1, 2, 32);
    f.hops[1] = 64;
    return f;
  }
  if (!i.has("4x256b")) throw refused(i);
  TensorStaging f = staging(4, 2, 1, 0);  // a row for each quarter
  f.step = 32;
  return f;
}

}  // namespace

// fence and wait; [dst], columns; address, columns; registers, [address]{, split}; [address]{, split}, registers;
// [address], descriptor; [address]; [mbarrier]{, groups}
void Decoder::decode_tensor_memory(Instruction const& i) {
  p_.tensor_memory = true;
  std::string_view const what = i.modifiers.at(0);
  if (what.starts_with("fence::") || what.starts_with("wait::")) {
    p_.classes[current_] = Class::sync;  // what they wait for is done when it is issued
    return;
  }
  if (what == "alloc" || what == "dealloc" || what == "relinquish_alloc_permit") return decode_tensor_allocation(i);
  if (what == "ld" || what == "st") return decode_tensor_transfer(i);
  if (what == "mma") return decode_tensor_product(i);
  std::vector<std::uint32_t> sources;
  if (what == "cp") {
    TensorStaging f = staging_of(i);
    f.pair = pair_of(i);
    if (i.has("b4x16_p64")) f.unpack_bits = 4;
    if (i.has("b6x16_p32")) f.unpack_bits = 6;
    if (i.has("b8x16") != (f.unpack_bits != 8)) throw refused(i);
    f.address = copy_address(i.operands.at(0), sources);
    f.descriptor = static_cast<std::uint8_t>(sources.size());
    sources.push_back(source(i.operands.at(1), LaneType::u64));
    p_.classes[current_] = Class::memory;
    Draft& draft = emit_with("#tcgen05.cp", f, {}, std::move(sources));
    draft.access = add_plain_access(StateSpace::shared, Direction::load);
    draft.effect = true;
  } else if (what == "shift") {
    refuse_others(i, {"shift", "down"});
    TensorShift f;
    f.pair = pair_of(i);
    f.address = copy_address(i.operands.at(0), sources);
    p_.classes[current_] = Class::memory;
    emit_with("#tcgen05.shift", f, {}, std::move(sources)).effect = true;
  } else if (what == "commit") {
    refuse_others(i, {"commit", "mbarrier::arrive::one", "shared::cluster", "multicast::cluster", "b64"});
    TensorCommit f;
    f.barrier = copy_address(i.operands.at(0), sources);
    if (i.has("multicast::cluster")) {
      f.group_mask = static_cast<std::uint8_t>(sources.size());
      sources.push_back(source(i.operands.at(1), LaneType::u16));
      sources.push_back(own_rank());
    }
    p_.classes[current_] = Class::sync;
    Draft& draft = emit_with("#tcgen05.commit", f, {}, std::move(sources));
    draft.access = add_plain_access(tensor_space_of(i), Direction::atomic);
    draft.effect = true;
  } else {
    throw refused(i);
  }
}

void Decoder::decode_tensor_allocation(Instruction const& i) {
  refuse_others(i, {"alloc", "dealloc", "relinquish_alloc_permit", "sync", "aligned", "shared::cta", "b32"});
  p_.classes[current_] = Class::sync;
  TensorAllocation f;
  std::vector<std::uint32_t> sources;
  f.pair = pair_of(i);
  if (i.has("alloc")) {
    if (p_.tensor_allocation == 0) p_.tensor_allocation = current_;
    f.result = copy_address(i.operands.at(0), sources);
  } else if (i.has("dealloc")) {
    f.kind = TensorAllocation::Kind::release;
    sources.push_back(source(i.operands.at(0), LaneType::u32));
  } else {
    f.kind = TensorAllocation::Kind::relinquish;
  }
  if (f.kind != TensorAllocation::Kind::relinquish) {
    f.columns = static_cast<std::uint8_t>(sources.size());
    sources.push_back(source(i.operands.at(1), LaneType::u32));
  }
  Draft& draft = emit_with("#tcgen05.alloc", f, {}, std::move(sources));
  draft.access = add_plain_access(tensor_space_of(i), Direction::store);
  draft.effect = true;
}

void Decoder::decode_tensor_transfer(Instruction const& i) {
  p_.classes[current_] = Class::memory;
  TensorTransfer f;
  f.loads = i.has("ld");
  f.packs = i.has(f.loads ? "pack::16b" : "unpack::16b");
  TransferShape const shape = word_of(i, transfer_shapes);
  f.shape = shape.shape;
  std::size_t const count = std::size_t{shape.registers} * word_of(i, repetitions);
  if (f.loads && i.has("red")) return decode_tensor_reduction(i);
  std::size_t const known = 6 + (f.packs ? 1 : 0);  // ld, sync, aligned, the shape, how often, b32
  bool const splits = f.shape == CellShape::l16x32bx2;
  if (i.modifiers.size() != known || !i.has("b32") || count > max_tensor_registers ||
      i.operands.size() != (splits ? 3u : 2u))
    throw refused(i);
  std::vector<std::uint32_t> sources, destinations;
  f.address = copy_address(i.operands.at(f.loads ? 1 : 0), sources);
  if (splits) {
    Operand const& split = i.operands.at(f.loads ? 2 : 1);
    if (split.kind != Operand::Kind::integer || split.value > TensorMemory::columns) throw refused(i);
    f.split = static_cast<std::uint32_t>(split.value);
  }
  std::vector<Operand> const registers = elements_of(i.operands.at(f.loads ? 0 : splits ? 2 : 1));
  if (registers.size() != count) throw refused(i);
  f.registers = static_cast<std::uint8_t>(count);
  f.first = static_cast<std::uint8_t>(sources.size());
  for (Operand const& r : registers)
    f.loads ? destinations.push_back(destination(r, LaneType::u32)) : sources.push_back(source(r, LaneType::u32));
  emit_with(f.loads ? "#tcgen05.ld" : "#tcgen05.st", f, std::move(destinations), std::move(sources)).effect = true;
  finish();
}

// registers, result, [address]{, split}: a load, and the least or largest of each lane's registers.
void Decoder::decode_tensor_reduction(Instruction const& i) {
  static constexpr Word<Type> types[] = {{"f32", Type::f32}, {"u32", Type::u32}, {"s32", Type::s32}};
  static constexpr Word<bool> operations[] = {{"min", false}, {"max", true}};
  Type const type = word_of(i, types);
  bool const of_floats = type == Type::f32, maximum = word_of(i, operations);
  if (i.operands.size() < 3 || (!of_floats && (i.has("abs") || i.has("NaN")))) throw refused(i);
  refuse_others(i, {"ld", "red", "sync", "aligned", "32x32b", "16x32bx2", "x2", "x4", "x8", "x16", "x32", "x64", "x128",
                    "min", "max", "abs", "NaN", ptx::name(type)});
  Instruction load = i;
  load.operands.erase(load.operands.begin() + 1);
  std::erase_if(load.modifiers, [&](std::string_view m) {
    return m == "red" || m == "min" || m == "max" || m == "abs" || m == "NaN" || m == ptx::name(type);
  });
  load.modifiers.emplace_back("b32");
  decode_tensor_transfer(load);
  std::vector<Operand> const registers = elements_of(i.operands[0]);
  std::string const suffix = "." + std::string(ptx::name(type));
  Opcode const* const combine = opcode((maximum ? "max" : "min") + std::string(i.has("NaN") ? ".NaN" : "") + suffix);
  LaneType const lane = combine->sources[0];
  auto const value = [&](Operand const& r) {
    std::uint32_t const loaded = source(r, lane);
    if (!i.has("abs")) return loaded;
    std::uint32_t const magnitude = d_.add_register(false);
    emit("abs" + suffix, {magnitude}, {loaded});
    return magnitude;
  };
  std::uint32_t result = value(registers[0]);
  for (std::size_t k = 1; k < registers.size(); ++k) {
    std::uint32_t const next = d_.add_register(false);
    emit(combine, {next}, {result, value(registers[k])});
    result = next;
  }
  emit("#mov.b32", {destination(i.operands[1], LaneType::u32)}, {result});
  finish();
}

// [d], a or [a], b{, [metadata]}, shape, {masks}{, [scales of a], [scales of b]}, add{, shift or mask of columns}
void Decoder::decode_tensor_product(Instruction const& i) {
  static constexpr Word<ProductKind> kinds[] = {
      {"kind::f16", ProductKind::f16},           {"kind::tf32", ProductKind::tf32},
      {"kind::f8f6f4", ProductKind::f8f6f4},     {"kind::i8", ProductKind::i8},
      {"kind::mxf8f6f4", ProductKind::mxf8f6f4}, {"kind::mxf4", ProductKind::mxf4},
      {"kind::mxf4nvf4", ProductKind::mxf4nvf4}};
  TensorProduct f;
  f.kind = word_of(i, kinds);
  f.pair = pair_of(i);
  f.stationary = i.has("ws");
  f.sparse = i.has("sp");
  f.shifts_rows = i.has("ashift");
  if (f.sparse && (f.stationary || f.shifts_rows))
    throw Unsupported{"products of this kind with sparse matrices are not emulated"};
  bool const scaled = f.kind >= ProductKind::mxf8f6f4;
  if (f.shifts_rows && (scaled || f.stationary || i.has("collector::a::fill") || i.has("collector::a::use")))
    throw refused(i);
  if (i.has("block_scale") != scaled || (f.stationary && (scaled || f.pair))) throw refused(i);
  if (f.kind == ProductKind::mxf8f6f4)
    f.scales_of_row = 1;
  else if (scaled)
    f.scales_of_row = i.has("scale_vec::4X") || i.has("block16") ? 4 : 2;

  std::vector<std::uint32_t> sources;
  auto const add = [&](Operand const& o, LaneType type) {
    sources.push_back(source(o, type));
    return static_cast<std::uint8_t>(sources.size() - 1);
  };
  f.d = copy_address(i.operands.at(0), sources);
  if (i.operands.at(1).kind == Operand::Kind::address)
    f.a = copy_address(i.operands[1], sources);
  else
    f.a_descriptor = add(i.operands[1], LaneType::u64);
  if (f.shifts_rows && f.a_descriptor != TensorProduct::nothing) throw refused(i);
  f.b_descriptor = add(i.operands.at(2), LaneType::u64);
  std::size_t next = 3;
  if (f.sparse) f.metadata = copy_address(i.operands.at(next++), sources);
  f.shape = add(i.operands.at(next++), LaneType::u32);
  if (!f.stationary && !scaled && i.operands.at(next).kind == Operand::Kind::vector) {
    std::vector<Operand> const& masks = i.operands[next++].elements;
    f.mask_count = static_cast<std::uint8_t>(masks.size());
    if (f.mask_count != (f.pair ? 8 : 4)) throw refused(i);
    f.masks = static_cast<std::uint8_t>(sources.size());
    for (Operand const& m : masks) add(m, LaneType::u32);
  }
  if (scaled) {
    f.a_scales = copy_address(i.operands.at(next++), sources);
    f.b_scales = copy_address(i.operands.at(next++), sources);
  }
  f.adds = add(i.operands.at(next++), LaneType::pred);
  if (i.operands.size() > next && f.stationary) f.column_mask = add(i.operands[next++], LaneType::u64);
  if (i.operands.size() > next && !f.stationary && (f.kind == ProductKind::f16 || f.kind == ProductKind::tf32)) {
    Operand const& shift = i.operands[next++];
    if (shift.kind != Operand::Kind::integer || shift.value > 15) throw refused(i);
    f.shift = static_cast<std::uint8_t>(shift.value);
  }
  if (i.operands.size() != next) throw refused(i);
  std::uint32_t const load = add_plain_access(StateSpace::shared, Direction::load);
  add_plain_access(StateSpace::shared, Direction::load);
  Draft& draft = emit_with("#tcgen05.mma", f, {}, std::move(sources));
  draft.access = load;
  draft.effect = true;
}

std::uint32_t Decoder::own_rank() {
  Operand own;
  own.kind = Operand::Kind::special;
  own.id = static_cast<std::uint32_t>(ptx::Special::cluster_ctarank);
  return source(own, LaneType::u32);
}

}  // namespace kernelcast::emu
