// A traced launch: its kernel, and the rows of the work-groups that are to be emulated.
//
// Problem: a trace may hold every group of a launch, in any order, and be far larger than memory.
// Method: only the groups with the lowest numbers are kept, as many as the caller requests, whatever the order of the
// rows; a row takes 8 bytes and an access 24, so that memory grows with the resident groups. What is dropped is only
// checked for its form.
// Limits: rows of one wavefront must be in its own order; a launch ends with the next launch row or the input. What
// waits for an mbarrier's phase waits for the arrivals that stand before it in the trace: rows of a group that uses
// mbarriers must be in the order in which they ran.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "models/ake/access.hpp"
#include "models/ake/code.hpp"
#include "records/trace_stream.hpp"

namespace kernelcast::model::ake {

// One wavefront executes a block: its accesses are parts [parts, next row's parts) of the wavefront.
struct TracedRow {
  std::uint32_t block = 0;
  std::uint32_t parts = 0;
};

// What an item of a row says besides addresses; a wavefront's are in their order.
struct TracedEvent {
  std::uint32_t row = 0, item = 0;
  Event event;
};

struct TracedWarp {
  std::vector<TracedRow> rows;
  std::vector<TracedEvent> events;
  std::vector<Part> parts;
  std::vector<std::uint64_t> lists;  // addresses of parts that are listed
};

struct TracedGroup {
  std::uint64_t number = 0;
  std::vector<TracedWarp> warps;
  // Of each mbarrier, by its address: its number, and how many arrivals there have been so far.
  struct Object {
    std::uint32_t number = 0;
    std::uint64_t arrivals = 0;
  };
  std::unordered_map<std::uint64_t, Object> objects;
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
  void add_parts(Launch const&, TracedWarp&, record::TraceExecution const&);
  void add_events(Launch const&, TracedGroup&, TracedWarp&, record::TraceExecution const&);
  void check_complete(Launch const&);

  record::TraceStream& rows_;
  std::function<std::size_t(record::Trace const&)> keep_;
  std::map<std::string, Kernel> kernels_;
  std::map<std::string, std::optional<std::uint64_t>> first_pc_;  // of the kernels
  // Of a block: how many of its instructions have an item, and which of these say something besides addresses.
  struct Items {
    unsigned count = 0;
    std::vector<bool> engine;  // [item] copy engines use any lanes
    std::vector<std::pair<std::uint32_t, InstructionType>> events;
  };
  std::map<std::string, std::vector<Items>> items_;  // [kernel][block]
  std::vector<Items> const* items_of_ = nullptr;     // of the launch's kernel
  std::optional<record::Trace> next_head_;
  std::map<std::uint64_t, TracedGroup> kept_;
  TracedGroup* last_ = nullptr;
  std::size_t max_kept_ = 1;
  bool has_opcodes_ = false;  // without them the end of a wavefront cannot be told
  std::vector<std::uint64_t> scratch_;
  record::AddressPart part_;
};

}  // namespace kernelcast::model::ake
