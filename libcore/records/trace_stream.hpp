// Reads a trace row by row at the speed of its text.
//
// Problem: a trace has a row for each wavefront and block, millions a second; to fill a record::Trace with strings for
// each costs more than to emulate it.
// Method: rows of kind `exec` become a view of five numbers and the text of the addresses; the few `launch` and `inst`
// rows are read in full. Columns are found by name, in any order.
// Limits: what a row means (that its block exists, that none is missing) is for the caller to check.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "records/table/table.hpp"
#include "records/trace.hpp"

namespace kernelcast::record {

// One wavefront executes one block.
struct TraceExecution {
  std::uint64_t group = 0, warp = 0, seq = 0, block = 0;
  std::uint64_t mask = 0;
  std::string_view addresses;  // valid until the next row
};

class TraceStream {
 public:
  enum class Kind { end, launch, instruction, execution };

  explicit TraceStream(csv::Reader& reader);

  // The next row's kind. Throws Error(bad_data) for an unknown kind, an empty or bad cell that this kind needs.
  Kind next();
  Trace const& row() const { return row_; }                       // of kind launch and instruction
  TraceExecution const& execution() const { return execution_; }  // of kind execution
  RowReader const& reader() const { return rows_; }               // of the current row's further columns

  // An error about a cell of the current row.
  Error error(std::string_view column, std::string const& message, std::string hint = {}) const {
    return rows_.error(column, message, std::move(hint));
  }

 private:
  void read_execution();
  std::uint64_t number(std::size_t column, int base = 10) const;

  RowReader rows_;
  Trace row_;
  TraceExecution execution_;
  std::size_t kind_, block_, group_, warp_, seq_, mask_, addresses_;  // columns of the schema
};

}  // namespace kernelcast::record
