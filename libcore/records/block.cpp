#include "records/block.hpp"

#include "records/table/meanings.hpp"

namespace kernelcast::record {

Schema<Block> const& Block::schema() {
  static auto const schema =
      Schema<Block>("block", "how often each basic block of a kernel is executed")
          .column("kernel", &Block::kernel, Unit::none, meaning::kernel)
          .column("case", &Block::case_name, Unit::none, meaning::launch)
          .may_be_empty()
          .column("block", &Block::block, Unit::count, "number of the basic block, from 0, in the order of the text")
          .column("ptx_first_line", &Block::ptx_first_line, Unit::count, "line of its first instruction in the PTX")
          .column("ptx_last_line", &Block::ptx_last_line, Unit::count, "line of its last instruction in the PTX")
          .column("source", &Block::source, Unit::none, "source file of its first instruction that has one")
          .may_be_empty()
          .column("line", &Block::line, Unit::count, "line of that file")
          .column("share_pct", &Block::share_pct, Unit::percent, "part of the kernel's issues_w32")
          .column("entered_lanes", &Block::entered_lanes, Unit::lanes, "entries by work-items")
          .column("entered_w32", &Block::entered_w32, Unit::count, "entries by wavefronts of 32 work-items")
          .column("entered_groups", &Block::entered_groups, Unit::count,
                  "work-groups of which a work-item enters it at least once")
          .column("inst_total", &Block::inst_total, Unit::lanes,
                  "instructions executed by work-items, counted where the predicate holds")
          .column("issues_w32", &Block::issues_w32, Unit::count, "instructions issued by wavefronts of 32 work-items");
  return schema;
}

}  // namespace kernelcast::record
