// The `trace` record (`miniemu --emit trace`): what each wavefront executes, block by block, for models of time.
//
// Three kinds of rows in one table: `launch` opens a launch; `inst` describes an instruction of the kernel, once per
// pc, before the first row that executes it (a kernel of the same name with other code has its own behind its launch);
// `exec` is one wavefront that executes one basic block. A wavefront's rows are in its own order; rows of different
// wavefronts interleave as the emulator ran them.
//
// `addresses` of an exec row has one item per instruction of the block that has a `space`, in order, joined by ';':
// memory instructions, arrivals at mbarriers and tests of them, numbered barriers, products whose shape is data.
//   item   = "" | part { "|" part }          empty: no lane takes part, or the instruction has no address
//   part   = [mask "@"] [space] (base "+" stride | address { " " address })
// base is the address of the lowest lane that takes part and stride the bytes from lane to lane (negative: "64+-4");
// else there is one address for each lane that takes part. All are decimal: device addresses of global and constant
// memory, offsets within the group's shared memory, the work-item's local memory or the kernel's parameters. mask (hex)
// stands where other lanes take part than execute the block: fewer, or, of a copy engine, any of the wavefront, which
// carry pieces of the copy in the emulator. space is a letter (g, s, l, c, p, t) where the part is
// in another space than the instruction's column `space` says (generic: other than global).
// An item of space `barrier` is no address but barrier_number(); one of space `product` the operations of a product of
// matrices (tcgen05.mma). The last part of a bulk copy that signals an mbarrier (of shared memory, one lane) is that
// mbarrier.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "records/kernel.hpp"
#include "records/table/schema.hpp"

namespace kernelcast::record {

struct Trace : RegisterCounts {
  using Count = std::optional<std::uint64_t>;

  std::string kind;  // launch, inst, exec
  std::string kernel, case_name;
  Count block;
  Count groups_total;
  Count shared_bytes;
  Count pc;
  std::string class_name;  // column `class`
  std::string dst, src;    // registers, joined by ';'
  std::string space;
  Count bytes_per_lane;
  Count group, warp, seq;
  std::string mask, addresses;
  Count width;
  std::string opcode, source;
  Count line;
  Count pending;

  static Schema<Trace> const& schema();
};

inline constexpr std::string_view barrier_space = "barrier", product_space = "product";
// A barrier 0 to 15 that `threads` work-items open; 0: all of the group that have not left.
constexpr std::uint64_t barrier_number(std::uint32_t barrier, std::uint32_t threads) {
  return barrier + std::uint64_t{16} * threads;
}

// ---------------------------------------------------------------- the text of `addresses`

inline constexpr unsigned max_trace_lanes = 64;

// One part: the addresses of some lanes.
struct LaneAddresses {
  std::size_t item = 0;  // which of the block's instructions that have one
  char space = 0;        // a letter, or 0: the instruction's own space
  std::uint64_t mask = 0;
  std::array<std::uint64_t, max_trace_lanes> address;  // where the mask has a bit
};

// One part as in the text, not spread over the lanes: for readers of very many.
struct AddressPart {
  std::size_t item = 0;
  char space = 0;
  std::uint64_t mask = 0;
  bool affine = true;
  std::uint64_t first = 0;  // address of the mask's lowest lane
  std::int64_t stride = 0;  // bytes from lane to lane, where affine
};

// Room that write_lane_addresses() may need.
inline constexpr std::size_t max_part_text = max_trace_lanes * 21 + 24;

// Writes one part at `out` and returns its end. `mask` is not 0; lane l's address is base + offsets[l].
char* write_lane_addresses(char* out, std::uint64_t row_mask, std::uint64_t mask, char space, std::uint64_t base,
                           std::uint32_t const* offsets);

// Reads them back, part by part: AddressReader parts(row.addresses, row_mask); while (parts.next(lanes)) …
class AddressReader {
 public:
  AddressReader(std::string_view addresses, std::uint64_t row_mask) : rest_(addresses), row_mask_(row_mask) {}
  // False at the end. Throws Error(bad_data) for a text that breaks the grammar.
  bool next(LaneAddresses&);
  // The same without spreading: where the part is not affine, `list` gets the addresses of the mask's lanes in order.
  bool next(AddressPart&, std::vector<std::uint64_t>& list);
  // How many items there are; to be called when next() has returned false.
  std::size_t items() const { return item_ + 1; }

 private:
  [[noreturn]] void refuse(char const* what) const;
  std::uint64_t number(int base);
  bool take(char);
  void take_mask();

  std::uint64_t mask_ = 0;

  std::string_view rest_;
  std::uint64_t row_mask_;
  std::size_t item_ = 0;
};

}  // namespace kernelcast::record
