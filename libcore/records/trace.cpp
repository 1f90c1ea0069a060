#include "records/trace.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <system_error>

#include <fmt/format.h>

#include "base/diag/diag.hpp"

namespace kernelcast::record {

namespace {

constexpr std::string_view space_letters = "gslcpt";

void add_launch(Schema<Trace>& schema) {
  schema.column("kind", &Trace::kind, Unit::none, "launch, inst or exec: which of the other columns are filled")
      .column("kernel", &Trace::kernel, Unit::none, "launch, inst: name of the kernel function")
      .may_be_empty()
      .column("case", &Trace::case_name, Unit::none,
              "launch: the launch file's stem and what --set chose, or <global>/<local> sizes in work-items")
      .may_be_empty()
      .column("block", &Trace::block, Unit::count,
              "launch: work-items of a work-group; inst, exec: number of the basic block")
      .column("groups_total", &Trace::groups_total, Unit::count, "launch: work-groups of the launch")
      .column("registers_ptx", &Trace::registers_ptx, Unit::count,
              "launch: 32-bit registers per work-item by live ranges of the PTX; empty when unknown")
      .column("registers_sm75", &Trace::registers_sm75, Unit::count,
              "launch: registers per work-item that ptxas assigns for sm_75")
      .column("vgprs_gfx6", &Trace::vgprs_gfx6, Unit::count,
              "launch: vector registers per work-item for AMD gfx6 (tahiti)")
      .column("vgprs_gfx90a", &Trace::vgprs_gfx90a, Unit::count,
              "launch: vector registers per work-item for AMD gfx90a")
      .column("vgprs_gfx1030", &Trace::vgprs_gfx1030, Unit::count,
              "launch: vector registers per work-item for AMD gfx1030")
      .column("gprs_cypress", &Trace::gprs_cypress, Unit::count,
              "launch: 128-bit registers per work-item for AMD cypress (VLIW5)")
      .column("shared_bytes", &Trace::shared_bytes, Unit::bytes,
              "launch: shared memory of one work-group, static and dynamic");
}

void add_instruction(Schema<Trace>& schema) {
  schema.column("pc", &Trace::pc, Unit::count, "inst: number of the PTX instruction in its kernel, from 0")
      .column("class", &Trace::class_name, Unit::none, "inst: class of the instruction, as in the kernel record")
      .may_be_empty()
      .column("dst", &Trace::dst, Unit::none, "inst: numbers of the registers it writes, joined by ';'")
      .may_be_empty()
      .column("src", &Trace::src, Unit::none,
              "inst: numbers of the registers it reads, those of addresses and of the guard included, joined by ';'")
      .may_be_empty()
      .column("space", &Trace::space, Unit::none,
              "inst: generic, global, shared, local, const, param, tex, barrier or product: what its item in addresses "
              "is about; empty where it has none")
      .may_be_empty()
      .column("bytes_per_lane", &Trace::bytes_per_lane, Unit::bytes,
              "inst: bytes that a memory instruction moves per work-item, all elements of a vector together");
}

void add_execution(Schema<Trace>& schema) {
  schema.column("group", &Trace::group, Unit::count, "exec: linear number of the work-group, x fastest")
      .column("warp", &Trace::warp, Unit::count, "exec: number of the wavefront in its work-group")
      .column("seq", &Trace::seq, Unit::count, "exec: number of the row among those of its wavefront, from 0")
      .column("mask", &Trace::mask, Unit::none, "exec: lanes that execute the block, hexadecimal, bit l = lane l")
      .may_be_empty()
      .column("addresses", &Trace::addresses, Unit::none,
              "exec: one item per instruction of the block that has a space, joined by ';': base+stride in bytes from "
              "lane to lane, or a list joined by blanks; with mask@ before it where other lanes take part, and a "
              "letter of the space (g, s, l, c, p, t) where it is not the instruction's own; of a barrier its number + "
              "16 x the work-items that open it (0: all), of a product its operations")
      .may_be_empty()
      .optional_column("width", &Trace::width, Unit::lanes, "launch: lanes of a wavefront, 32 or 64; without it 32")
      .optional_column("opcode", &Trace::opcode, Unit::none, "inst: the PTX opcode with its modifiers")
      .may_be_empty()
      .optional_column("source", &Trace::source, Unit::none, "inst: source file, the PTX itself where it names none")
      .may_be_empty()
      .optional_column("line", &Trace::line, Unit::count, "inst: line of that file")
      .optional_column("pending", &Trace::pending, Unit::count,
                       "inst: wait_group of cp.async, cp.async.bulk and wgmma: groups of asynchronous operations that "
                       "may be under way still")
      .optional_column("registers", &Trace::registers, Unit::none,
                       "launch: target:n joined by ;: registers per work-item that ptxas assigns for each")
      .may_be_empty();
}

template <class Number>
char* put(char* out, Number value, int base = 10) {
  return std::to_chars(out, out + 24, value, base).ptr;
}

// Whether offset(l) = offset(first) + stride * (l - first) for every lane of the mask.
bool is_affine(std::uint64_t mask, std::uint32_t const* offsets, std::int64_t& stride) {
  auto const first = static_cast<unsigned>(std::countr_zero(mask));
  std::uint64_t const others = mask & (mask - 1);
  stride = 0;
  if (!others) return true;
  auto const second = static_cast<unsigned>(std::countr_zero(others));
  std::int64_t const distance = std::int64_t{offsets[second]} - offsets[first];
  stride = distance / static_cast<std::int64_t>(second - first);
  if (stride * static_cast<std::int64_t>(second - first) != distance) return false;
  auto const step = static_cast<std::uint32_t>(stride);
  // A wrong offset differs in its lower 32 bits, too, unless the line leaves them: then the last lane's does not.
  auto const last = static_cast<unsigned>(63 - std::countl_zero(mask));
  if (std::int64_t{offsets[last]} - offsets[first] != stride * static_cast<std::int64_t>(last - first)) return false;
  if (mask == 0xffffffffu) {
    std::uint32_t differs = 0;
    for (unsigned l = 0; l < 32; ++l) differs |= offsets[l] ^ (offsets[0] + step * l);
    return differs == 0;
  }
  for (std::uint64_t m = others; m; m &= m - 1) {
    auto const l = static_cast<unsigned>(std::countr_zero(m));
    if (offsets[l] != offsets[first] + step * (l - first)) return false;
  }
  return true;
}

}  // namespace

Schema<Trace> const& Trace::schema() {
  static auto const schema = [] {
    Schema<Trace> s("trace", "what each wavefront executes, one row per basic block, with the addresses it uses");
    add_launch(s);
    add_instruction(s);
    add_execution(s);
    return s;
  }();
  return schema;
}

char* write_lane_addresses(char* out, std::uint64_t row_mask, std::uint64_t mask, char space, std::uint64_t base,
                           std::uint32_t const* offsets) {
  if (mask != row_mask) {
    out = put(out, mask, 16);
    *out++ = '@';
  }
  if (space) *out++ = space;
  std::int64_t stride = 0;
  if (is_affine(mask, offsets, stride)) {
    out = put(out, base + offsets[std::countr_zero(mask)]);
    *out++ = '+';
    return put(out, stride);
  }
  for (std::uint64_t m = mask; m; m &= m - 1) {
    out = put(out, base + offsets[std::countr_zero(m)]);
    *out++ = ' ';
  }
  return out - 1;
}

void AddressReader::refuse(char const* what) const {
  throw Error(Status::bad_data, fmt::format("{} before '{}'", what, rest_.substr(0, 20)),
              "an item is base+stride or a list of decimal addresses; miniemu --emit trace writes it");
}

std::uint64_t AddressReader::number(int base) {
  if (base == 10) {
    // Up to 19 digits cannot overflow; longer numbers take the way below.
    std::size_t const most = std::min<std::size_t>(rest_.size(), 19);
    std::uint64_t value = 0;
    std::size_t i = 0;
    for (; i < most; ++i) {
      auto const digit = static_cast<unsigned>(static_cast<unsigned char>(rest_[i])) - '0';
      if (digit > 9) break;
      value = value * 10 + digit;
    }
    if (i > 0 && (i < 19 || i == rest_.size())) {
      rest_.remove_prefix(i);
      return value;
    }
  }
  std::uint64_t value = 0;
  auto const [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value, base);
  if (error != std::errc{}) refuse("a number is missing");
  rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
  return value;
}

bool AddressReader::take(char c) {
  if (rest_.empty() || rest_.front() != c) return false;
  rest_.remove_prefix(1);
  return true;
}

// Only a mask is followed by '@'; its digits may be those of an address, or a space's letter, until then.
void AddressReader::take_mask() {
  auto const is_hexadecimal = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
  std::size_t digits = 0;
  while (digits < rest_.size() && digits < 17 && is_hexadecimal(rest_[digits])) ++digits;
  mask_ = row_mask_;
  if (digits < rest_.size() && rest_[digits] == '@') {
    mask_ = number(16);
    take('@');
  }
  if (mask_ == 0) refuse("a part of no lanes");
}

bool AddressReader::next(AddressPart& part, std::vector<std::uint64_t>& list) {
  while (take(';')) ++item_;
  if (rest_.empty()) return false;
  take_mask();
  part.item = item_;
  part.mask = mask_;
  part.space = 0;
  if (!rest_.empty() && space_letters.find(rest_.front()) != std::string_view::npos) {
    part.space = rest_.front();
    rest_.remove_prefix(1);
  }
  part.first = number(10);
  part.affine = take('+');
  part.stride = 0;
  if (part.affine) {
    bool const negative = take('-');
    std::uint64_t const size = number(10);
    part.stride = static_cast<std::int64_t>(negative ? 0 - size : size);
  } else {
    list.push_back(part.first);
    for (std::uint64_t m = mask_ & (mask_ - 1); m; m &= m - 1) {
      if (!take(' ')) refuse("fewer addresses than lanes");
      list.push_back(number(10));
    }
  }
  if (!take('|') && !rest_.empty() && rest_.front() != ';') refuse("';' is missing");
  return true;
}

bool AddressReader::next(LaneAddresses& lanes) {
  AddressPart part;
  std::vector<std::uint64_t> list;
  if (!next(part, list)) return false;
  lanes.item = part.item;
  lanes.space = part.space;
  lanes.mask = part.mask;
  auto const lowest = static_cast<unsigned>(std::countr_zero(part.mask));
  auto const stride = static_cast<std::uint64_t>(part.stride);
  std::size_t i = 0;
  for (std::uint64_t m = part.mask; m; m &= m - 1) {
    auto const l = static_cast<unsigned>(std::countr_zero(m));
    lanes.address[l] = part.affine ? part.first + stride * (l - lowest) : list[i++];
  }
  return true;
}

}  // namespace kernelcast::record
