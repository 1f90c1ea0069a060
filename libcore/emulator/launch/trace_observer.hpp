// Writes the `trace` record while the emulator runs.
//
// Problem: a trace has a row for each wavefront and block, billions for a large kernel: writing must cost little more
// than emulating, and memory must not grow.
// Method: the addresses of each wavefront are turned into text as they come and kept until the block ends; rows go to
// the output in large pieces. Only CSV takes this way; the other formats go through record::Writer row by row.
// Limits: one thread, so that rows come in one order.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "emulator/emu.hpp"
#include "records/kernel.hpp"
#include "records/table/table.hpp"
#include "records/trace.hpp"

namespace kernelcast::launch {

// Where a trace goes: all its launches share one.
class TraceOutput {
 public:
  // `labels` are the values of the columns behind the record's, in rows of launches alone.
  TraceOutput(record::Writer<record::Trace>& rows, record::Format format, std::vector<std::string> labels = {});

  void write(record::Trace const& row);  // launch and inst rows
  // The instructions of the kernel are missing; those of another kernel of its name may be there.
  bool is_new(std::string const& kernel, emu::Program const&);
  // `addresses` ends in its missing items: as many ';' as are to follow.
  void execute(std::uint64_t group, std::uint64_t warp, std::uint64_t seq, std::uint64_t block, std::uint64_t mask,
               std::string_view addresses);
  void flush();

 private:
  static constexpr std::size_t piece_bytes = 1 << 18;
  record::Writer<record::Trace>& rows_;
  bool csv_;
  std::vector<std::string> labels_, no_labels_;
  std::string row_end_;  // of an exec row
  std::vector<char> text_ = std::vector<char>(2 * piece_bytes);
  std::size_t used_ = 0;
  std::uint64_t held_ = 0;                      // rows in text_
  std::map<std::string, std::size_t> kernels_;  // by name: a hash of the instructions that were written last
};

class TraceObserver final : public emu::Observer {
 public:
  // `width` is 32 or 64 lanes.
  TraceObserver(emu::Program const&, unsigned width, TraceOutput&);
  ~TraceObserver() override;

  // The rows of this kernel's instructions; once, before its first launch.
  void write_instructions(std::string const& kernel);
  void write_launch(record::Kernel const&, std::uint64_t groups_total);

  bool needs_order() const override { return true; }
  bool follows_clusters() const override { return true; }
  void group_begin(std::uint64_t) override;
  void group_end() override;
  void block(std::uint32_t, emu::Lanes const&) override;
  void memory(emu::MemoryAccess const&) override;
  void barrier(std::uint32_t, emu::Lanes const&, std::uint32_t number, std::uint32_t threads) override;
  void product(std::uint32_t, std::uint32_t lane, char const*, double flop) override;
  std::unique_ptr<Observer> fork() const override;  // on the same output: see Limits
  void join(Observer const&) override;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace kernelcast::launch
