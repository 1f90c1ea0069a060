// Copies of tiles of tensors, and changes of tensor maps. Class memory.
//
// A tile is a box of a tensor of up to five dimensions, at coordinates that may lie outside: elements there are filled
// in a load, left out in a store. In shared memory the box lies densely, the innermost dimension first; with a swizzle
// its rows are as long as that, and of an address bits 4 to 6 change by bits 7 to 9, as many as the swizzle has
// ([ptx] "Tensors", "Swizzling Modes"). A copy is done when it is issued (copy.cpp).
//
// How they are counted. As copies by a whole warp: 16 bytes per lane of global and of shared memory, rows one after the
// other, so that transactions are those of the rows; 16 bytes at the tensor's edge, element by element. They are
// accesses of the lane that issues the copy (MemoryAccess::issuer). Reading the tensor map is not counted.
//
// To several groups of a cluster: read once, written to the same place in each; their mbarriers at the same place
// count, or (.cta_group::2) for both groups of a pair that of one of them.
//
// Limits: no halo of im2col::w, which the manual shows in figures alone. NaN for elements outside is 0x7fff…; tf32 is
// copied unrounded, f32.ftz unflushed.
#include "emulator/tensor_map.hpp"

#include <algorithm>
#include <utility>

#include "emulator/opcodes/barrier_object.hpp"
#include "emulator/opcodes/engine.hpp"
#include "emulator/opcodes/families.hpp"
#include "emulator/opcodes/reduction.hpp"

namespace kernelcast::emu::KERNELCAST_EMU_ISA {
namespace {

constexpr u32 piece_bytes = shared_granule_bytes, destination_alignment = 128, max_pieces = lanes_per_warp;

struct Piece {
  u64 global = 0;  // address of its first element
  u64 shared = 0;
  u32 first = 0, last = 0;  // its elements within the tensor
  u8 data[piece_bytes] = {};
};

s64 floor_divide(s64 a, s64 b) {
  return a / b - (a % b < 0 ? 1 : 0);
}

// What one lane copies.
struct Tile {
  TensorMap map;
  s32 at[TensorMap::max_rank] = {};
  bool by_rows = false;
  s32 row_at[TensorCopy::rows] = {};
  u32 offsets[TensorMap::max_rank - 2] = {};
  u64 shared = 0;
  // Elements of less than 8 bits are counted in bytes; `granule` bytes of the tensor become a piece.
  u32 rank = 1, element_bits = 8, element_bytes = 1, granule = 16, row_bytes = 16, row_pitch = 16, pieces_of_row = 1,
      swizzle_mask = 0;
  u32 counts[TensorMap::max_rank] = {1, 1, 1, 1, 1};  // elements of the box
  u64 pieces = 1;

  void prepare() {
    rank = map.rank();
    element_bits = kernelcast::emu::element_bits(map.element);
    granule = granule_bytes(map.element);
    element_bytes = std::max(element_bits / 8, 1u);
    if (element_bits < 8) {
      map.dims[0] = static_cast<u32>(u64{map.dims[0]} * element_bits / 8);
      map.box[0] = static_cast<u16>(map.box[0] * element_bits / 8);
    }
    row_bytes = map.box[0] * element_bytes / granule * piece_bytes;
    row_pitch = map.swizzle ? piece_bytes << map.swizzle : row_bytes;
    swizzle_mask = map.swizzle ? (1u << map.swizzle) - 1 : 0;
    pieces_of_row = row_bytes / piece_bytes;
    pieces = pieces_of_row;
    counts[0] = map.box[0];
    if (map.has_pixels()) {
      pieces *= map.tile_pixels();
      return;
    }
    if (by_rows) {
      pieces *= TensorCopy::rows;
      return;
    }
    for (u32 i = 1; i < rank; ++i) {
      counts[i] = (map.box[i] + map.steps[i] - 1u) / map.steps[i];
      pieces *= counts[i];
    }
  }
  u64 bytes() const { return pieces * granule; }  // as mbarriers count them: without padding

  void find_row(u64 row, s64* places) const {
    if (by_rows) {
      places[1] = row_at[row];
      return;
    }
    for (u32 i = 1; i < rank; ++i) {
      places[i] = s64{at[i]} + static_cast<s64>(row % counts[i] * map.steps[i]);
      row /= counts[i];
    }
  }
  // [ptx] "im2col mode": pixel after pixel from the coordinates on, through the box of pixels of one image after the
  // other; offsets are added at the end.
  void find_pixel(u64 number, s64* places) const {
    s64 carry = static_cast<s64>(number);
    for (u32 i = 1; i <= map.spatial(); ++i) {
      s64 const low = map.lower[i - 1], step = map.steps[i], count = map.box_pixels(i);
      s64 const index = floor_divide(at[i] - low, step) + carry;
      carry = floor_divide(index, count);
      places[i] = low + (index - carry * count) * step + offsets[i - 1];
    }
    places[map.last_dim] = s64{at[map.last_dim]} + carry;
  }

  // [ptx] "im2col::w mode": along the innermost spatial dimension from the coordinate to the end of the box, then
  // through the box in the next images; offsets[1] moves all of it.
  void find_wide_pixel(u64 number, s64* places) const {
    s64 const step = map.steps[1], low = map.lower[0], count = map.box_pixels(1);
    s64 const end = s64{map.dims[1]} + map.upper[0], of_first = std::max<s64>((end - at[1] + step - 1) / step, 0);
    for (u32 i = 2; i < rank; ++i) places[i] = at[i];
    s64 const later = static_cast<s64>(number) - of_first;
    places[1] = (later < 0 ? at[1] + static_cast<s64>(number) * step : low + later % count * step) + offsets[1];
    if (later >= 0) places[map.last_dim] += 1 + later / count;
  }

  Piece piece(u64 number) const {
    Piece p;
    u64 const row = number / pieces_of_row;
    u32 const column = static_cast<u32>(number % pieces_of_row), elements = granule / element_bytes;
    p.shared = shared + row * row_pitch + column * piece_bytes;
    u32 const atom = map.atoms == 0 ? 0 : map.atoms == 1 ? 1 : 2;  // of 16 bytes to this power
    p.shared ^= (p.shared >> 7 & swizzle_mask >> atom) << (4 + atom);
    s64 const x = s64{at[0]} + column * elements;
    p.global = map.address + static_cast<u64>(x) * element_bytes;
    bool inside = true;
    s64 places[TensorMap::max_rank];
    if (map.mode == TensorMap::Mode::tile)
      find_row(row, places);
    else if (map.mode == TensorMap::Mode::im2col)
      find_pixel(row, places);
    else
      find_wide_pixel(row, places);
    for (u32 i = 1; i < rank; ++i) {
      s64 const y = places[i];
      inside = inside && y >= 0 && y < s64{map.dims[i]};
      p.global += static_cast<u64>(y) * map.strides[i - 1];
    }
    if (!inside) return p;
    s64 const whole = elements;
    p.first = static_cast<u32>(std::clamp<s64>(-x, 0, whole));
    p.last = static_cast<u32>(std::clamp<s64>(s64{map.dims[0]} - x, 0, whole));
    return p;
  }
  void fill(Piece& p) const {
    if (map.fill == 0) return;
    for (u32 k = 0; k < piece_bytes; ++k) p.data[k] = k % element_bytes == element_bytes - 1 ? 0x7f : 0xff;
  }
};

// Of a reduction.
ptx::Type type_of(TensorMap::Element element, BulkCopy::Reduction r) {
  using Element = TensorMap::Element;
  using ptx::Type;
  bool const bitwise = r >= BulkCopy::Reduction::increment;
  switch (element) {
    case Element::u32:
      return Type::u32;
    case Element::s32:
      return bitwise ? Type::b32 : Type::s32;
    case Element::u64:
      return Type::u64;
    case Element::s64:
      return bitwise ? Type::b64 : Type::s64;
    case Element::f16:
      return bitwise ? Type::none : Type::f16;
    case Element::bf16:
      return bitwise ? Type::none : Type::bf16;
    case Element::f32:
    case Element::f32_ftz:
      return r == BulkCopy::Reduction::add ? Type::f32 : Type::none;
    case Element::f64:
      return r == BulkCopy::Reduction::add ? Type::f64 : Type::none;
    default:
      return Type::none;
  }
}

class Copier {
 public:
  Copier(Context& c, MicroOp const& op, TensorCopy const& f, u32 lane)
      : c_(c), op_(op), f_(f), lane_(lane), carriers_(c, lane) {}

  void copy() {
    u32 const own = 1u << lane_ % lanes_per_warp;
    if (!read_map()) return;
    tile_.by_rows = f_.by_rows;
    tile_.prepare();
    if (!read_place()) return;
    if (tile_.shared % destination_alignment != 0)
      return pass_over_lane(c_, op_, Finding::Kind::misaligned, lane_,
                            "the address of a tile in shared memory is not a multiple of 128");
    type_ = type_of(tile_.map.element, f_.reduction);
    if (f_.reduction != BulkCopy::Reduction::none && type_ == ptx::Type::none)
      return pass_over_lane(c_, op_, Finding::Kind::bad_image, lane_, "no reduction of the tensor map's element type");
    c_.issuer = lane_;
    for (u64 done = 0; done < tile_.pieces; done += carriers_.count) move(done);
    c_.issuer = no_issuer;
    if (f_.signals) complete(own);
  }

 private:
  u32 warp() const { return lane_ / lanes_per_warp; }
  u64 address(CopyAddress const& a) const {
    return lane_address(c_, source_at(op_, a.source), a.wide, a.displacement, lane_);
  }

  bool read_map() {
    LaneBits bits{};
    LaneAddresses at{};
    bits[warp()] = 1u << lane_ % lanes_per_warp;
    bool const observed = std::exchange(c_.observed, false);
    constexpr u32 half = sizeof(TensorMap) / 2;
    static_assert(half == tensor_map_alignment);
    c_.any_dropped = false;
    for (u32 k = 0; k < 2; ++k) {
      at[lane_] = address(f_.map) + k * half;
      transfer(c_, op_, op_.access[0], half, at, bits, [&](std::byte const* host, u32) {
        std::memcpy(reinterpret_cast<std::byte*>(&tile_.map) + k * half, host, half);
      });
    }
    c_.observed = observed;
    if (std::exchange(c_.any_dropped, false)) return false;
    char const* fault = fault_of(tile_.map);
    if (!fault && tile_.map.rank() != f_.rank) fault = "the tensor map has another rank";
    if (!fault && tile_.map.mode != f_.mode) fault = "the tensor map has another mode";
    if (!fault && f_.by_rows && tile_.map.box[1] != 1) fault = "the tensor map's box must be one row";
    if (fault) pass_over_lane(c_, op_, Finding::Kind::bad_image, lane_, fault);
    return !fault;
  }

  bool read_place() {
    tile_.shared = address(f_.shared);
    auto const coordinate = [&](u32 i) {
      return static_cast<s32>(slot<u32>(c_, source_at(op_, f_.coordinates + i), 0)[lane_]);
    };
    for (u32 i = 0; i < f_.rank; ++i) tile_.at[i] = coordinate(i);
    for (u32 i = 0; f_.by_rows && i < TensorCopy::rows; ++i) tile_.row_at[i] = coordinate(1 + i);
    if (s64{tile_.at[0]} * tile_.element_bits % 8 != 0) {
      pass_over_lane(c_, op_, Finding::Kind::misaligned, lane_, "the tile begins within a byte of the tensor");
      return false;
    }
    if (tile_.element_bits < 8) tile_.at[0] = static_cast<s32>(s64{tile_.at[0]} * tile_.element_bits / 8);
    u32 const offsets = f_.mode == TensorMap::Mode::im2col ? f_.rank - 2u : 2;
    for (u32 i = 0; f_.offsets != TensorCopy::nothing && i < offsets; ++i)
      tile_.offsets[i] = slot<u32>(c_, source_at(op_, f_.offsets + i), 0)[lane_] & 0xffff;
    if (f_.mode >= TensorMap::Mode::wide && tile_.offsets[0] != 0) {
      pass_over_lane(c_, op_, Finding::Kind::bad_image, lane_, "a halo of im2col::w is not emulated");
      return false;
    }
    if (f_.group_mask != TensorCopy::nothing) targets_ = Targets(c_, op_, f_.group_mask, lane_);
    return true;
  }

  // moved(host, piece, first byte, bytes) for those pieces that `takes`, each by its carrier.
  template <class Address, class Takes, class Moved>
  void transfer_pieces(Access& access, u32 count, u32 begin, u32 bytes, Address address, Takes takes, Moved moved) {
    LaneBits bits{};
    LaneAddresses at{};
    u8 piece_of[max_lanes_per_unit];
    for (u32 k = 0; k < count; ++k) {
      if (!takes(pieces_[k])) continue;
      u32 const lane = carriers_.lane[k];
      bits[warp()] |= 1u << lane % lanes_per_warp;
      at[lane] = address(pieces_[k]) + begin;
      piece_of[lane] = static_cast<u8>(k);
    }
    transfer(c_, op_, access, bytes, at, bits,
             [&](std::byte* host, u32 lane) { moved(host, pieces_[piece_of[lane]].data + begin, bytes); });
  }

  template <class Moved>
  void transfer_global(u32 count, Moved moved) {
    u32 const elements = tile_.granule / tile_.element_bytes;
    auto const whole = [&](Piece const& p) { return p.first == 0 && p.last == elements; };
    auto const address = [](Piece const& p) { return p.global; };
    u64 odd = tile_.granule;
    bool edges = false;
    for (u32 k = 0; k < count; ++k) {
      if (whole(pieces_[k])) odd |= pieces_[k].global;
      edges |= !whole(pieces_[k]) && pieces_[k].first < pieces_[k].last;
    }
    u32 const step = static_cast<u32>(odd & (~odd + 1));  // by which all addresses are divisible
    for (u32 begin = 0; begin < tile_.granule; begin += step)
      transfer_pieces(op_.access[1], count, begin, step, address, whole, moved);
    if (!edges) return;
    for (u32 e = 0; e < elements; ++e)
      transfer_pieces(
          op_.access[1], count, e * tile_.element_bytes, tile_.element_bytes, address,
          [&](Piece const& p) { return !whole(p) && p.first <= e && e < p.last; }, moved);
  }
  template <class Moved>
  void transfer_shared(u32 count, Moved moved) {
    for (u32 t = 0; t < targets_.count(); ++t)
      transfer_pieces(
          op_.access[2], count, 0, piece_bytes, [&](Piece const& p) { return targets_.place(p.shared, t); },
          [](Piece const&) { return true; }, moved);
  }

  void move(u64 done) {
    u32 const count = static_cast<u32>(std::min<u64>(carriers_.count, tile_.pieces - done));
    note_work(c_, op_, count);
    for (u32 k = 0; k < count; ++k) pieces_[k] = tile_.piece(done + k);
    auto const get = [](std::byte const* host, u8* data, u32 bytes) { std::memcpy(data, host, bytes); };
    auto const put = [](std::byte* host, u8 const* data, u32 bytes) { std::memcpy(host, data, bytes); };
    if (f_.loads) {
      for (u32 k = 0; k < count; ++k) tile_.fill(pieces_[k]);
      transfer_global(count, get);
      transfer_shared(count, put);
      return;
    }
    transfer_shared(count, get);
    if (f_.reduction == BulkCopy::Reduction::none) return transfer_global(count, put);
    transfer_global(
        count, [&](std::byte* host, u8 const* data, u32 bytes) { reduce(f_.reduction, type_, host, data, bytes); });
  }

  void complete(u32 own) {
    LaneBits bits{};
    LaneAddresses at{};
    bits[warp()] = own;
    for (u32 t = 0; t < targets_.count(); ++t) {
      u64 const named = address(f_.barrier);
      at[lane_] = f_.pair ? targets_.place_of_pair(named, t) : targets_.place(named, t);
      transfer(c_, op_, op_.access[3], sizeof(u64), at, bits, [&](std::byte* host, u32 lane) {
        change_barrier(c_, op_, host, lane,
                       [&](BarrierObject& b) { b.transactions -= static_cast<s64>(tile_.bytes()); });
      });
    }
  }

  Context& c_;
  MicroOp const& op_;
  TensorCopy const& f_;
  u32 lane_;
  Carriers carriers_;
  Targets targets_;
  Tile tile_;
  ptx::Type type_ = ptx::Type::none;
  Piece pieces_[max_pieces];
};

void copy_tile(Context& c, MicroOp const& op) {
  auto const& f = *static_cast<TensorCopy const*>(op.data);
  for (u32 warp = 0; warp < c.warps; ++warp)
    per_lane(c.bits[warp], [&](u32 lane) { Copier(c, op, f, lanes_per_warp * warp + lane).copy(); });
}

// What does not fit into the field becomes its largest value, which no field may have.
void replace_field(Context& c, MicroOp const& op) {
  auto const& f = *static_cast<TensorMapField const*>(op.data);
  LaneAddresses at;
  read_addresses(c, source_at(op, f.map.source), f.map.wide, f.map.displacement + f.offset, at);
  transfer(c, op, *op.access, f.bytes, at, c.bits, [&](std::byte* host, u32 lane) {
    u64 value =
        f.bytes == 8 ? slot<u64>(c, source_at(op, f.value), 0)[lane] : slot<u32>(c, source_at(op, f.value), 0)[lane];
    if (f.bytes < 4) value = std::min(value, (u64{1} << 8 * f.bytes) - 1);
    std::memcpy(host, &value, f.bytes);
  });
}

void copy_map(Context& c, MicroOp const& op) {
  require_whole_warps(c, op);
  auto const& f = *static_cast<TensorMapCopy const*>(op.data);
  LaneAddresses to, from;
  LaneBits bits{};
  constexpr u32 lanes = sizeof(TensorMap) / piece_bytes;
  u8 data[max_lanes_per_unit][piece_bytes] = {};
  read_addresses(c, source_at(op, f.to.source), f.to.wide, f.to.displacement, to);
  read_addresses(c, source_at(op, f.from.source), f.from.wide, f.from.displacement, from);
  each_warp(c, [&](u32 warp) {
    bits[warp] = (1u << lanes) - 1;
    for (u32 lane = 0; lane < lanes; ++lane) {
      to[lanes_per_warp * warp + lane] += lane * piece_bytes;
      from[lanes_per_warp * warp + lane] += lane * piece_bytes;
    }
  });
  transfer(c, op, op.access[0], piece_bytes, from, bits,
           [&](std::byte const* host, u32 lane) { std::memcpy(data[lane], host, piece_bytes); });
  transfer(c, op, op.access[1], piece_bytes, to, bits,
           [&](std::byte* host, u32 lane) { std::memcpy(host, data[lane], piece_bytes); });
}

constexpr Opcode table[] = {
    {"#cp.tensor", Class::memory, {}, {}, copy_tile, copy_tile},
    {"#tensormap.replace", Class::memory, {}, {}, replace_field, replace_field},
    {"#tensormap.copy", Class::memory, {}, {}, copy_map, copy_map},
};

}  // namespace

std::span<Opcode const> tensor_opcodes() {
  return table;
}

}  // namespace kernelcast::emu::KERNELCAST_EMU_ISA
