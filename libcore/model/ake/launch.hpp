// A traced launch: its kernel, and the rows of the work-groups that are to be emulated.
//
// Problem: a trace may hold every group of a launch, in any order, and be far larger than memory.
// Method: only the groups with the lowest numbers are kept, as many as the caller requests, whatever the order of the
// rows; a row takes 8 bytes and an access 24, so that memory grows with the resident groups. What is dropped is only
// checked for its form.
// Limits: rows of one wavefront must be in its own order; a launch ends with the next launch row or the input.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "model/ake/access.hpp"
#include "model/ake/code.hpp"
#include "record/trace_stream.hpp"

namespace kernelcast::model::ake {

// One wavefront executes a block: its accesses are parts [parts, next row's parts) of the wavefront.
struct TracedRow {
  std::uint32_t block = 0;
  std::uint32_t parts = 0;
};

struct TracedWarp {
  std::vector<TracedRow> rows;
  std::vector<Part> parts;
  std::vector<std::uint64_t> lists;  // addresses of parts that are listed
};

struct TracedGroup {
  std::uint64_t number = 0;
  std::vector<TracedWarp> warps;
};

struct Launch {
  record::Trace head;  // the launch row
  Kernel const* kernel = nullptr;
  std::vector<TracedGroup> groups;  // those kept, by number

  std::uint64_t block_size() const { return head.block.value_or(1); }
  std::uint64_t groups_total() const { return head.groups_total.value_or(1); }
  unsigned width() const { return static_cast<unsigned>(head.width.value_or(32)); }
  std::size_t warps_per_group() const { return (block_size() + width() - 1) / width(); }
};

// Reads launch after launch.
class LaunchReader {
 public:
  // `keep` says for a launch row how many groups to keep.
  LaunchReader(record::TraceStream& rows, std::function<std::size_t(record::Trace const&)> keep)
      : rows_(rows), keep_(std::move(keep)) {}

  // False at the end. The launch's kernel stays valid as long as the reader. Throws Error(bad_data), with the row's
  // place, for an unknown class or space, a row that does not fit what came before, and a trace that ends in the
  // middle.
  bool next(Launch&);

 private:
  void add_instruction();
  void begin(Launch&);
  void add_execution(Launch&);
  TracedGroup* group_of(Launch&, std::uint64_t number);
  void spread_out(Part&, std::vector<std::uint64_t>& list) const;
  void add_parts(TracedWarp&, record::TraceExecution const&);
  void check_complete(Launch const&);

  record::TraceStream& rows_;
  std::function<std::size_t(record::Trace const&)> keep_;
  std::map<std::string, Kernel> kernels_;
  std::map<std::string, std::vector<unsigned>> items_;  // [kernel][block] memory instructions
  std::vector<unsigned> const* items_of_ = nullptr;     // of the launch's kernel
  std::optional<record::Trace> next_head_;
  std::map<std::uint64_t, TracedGroup> kept_;
  TracedGroup* last_ = nullptr;
  std::size_t max_kept_ = 1;
  bool has_opcodes_ = false;  // without them the end of a wavefront cannot be told
  std::vector<std::uint64_t> scratch_;
  record::AddressPart part_;
};

}  // namespace kernelcast::model::ake
