#include "records/line.hpp"

#include "records/table/meanings.hpp"

namespace kernelcast::record {

Schema<Line> const& Line::schema() {
  static auto const schema =
      Schema<Line>("line", "what each source line of a kernel executes and moves")
          .column("kernel", &Line::kernel, Unit::none, meaning::kernel)
          .column("case", &Line::case_name, Unit::none, meaning::launch)
          .may_be_empty()
          .column("source", &Line::source, Unit::none, "source file; the PTX for instructions of no source line")
          .column("line", &Line::line, Unit::count, "line of that file")
          .column("share_pct", &Line::share_pct, Unit::percent, "part of the kernel's issues_w32")
          .column("inst_total", &Line::inst_total, Unit::lanes,
                  "instructions executed by work-items, counted where the predicate holds")
          .column("issues_w32", &Line::issues_w32, Unit::count, "instructions issued by wavefronts of 32 work-items")
          .column("inst_float", &Line::inst_float, Unit::lanes,
                  "of inst_total, those of the classes fp32, fp64, fp16 and special")
          .column("inst_integer", &Line::inst_integer, Unit::lanes,
                  "of inst_total, those of the classes int_add, int_mul, shift and logic")
          .column("inst_memory", &Line::inst_memory, Unit::lanes, "of inst_total, those of the class memory")
          .column("global_bytes", &Line::global_bytes, Unit::bytes,
                  "bytes that loads and stores of global memory move for work-items")
          .column("global_tx_w32_s32", &Line::global_tx_w32_s32, Unit::count,
                  "transactions of global loads and stores: distinct sectors of 32 bytes per access of 32 work-items")
          .column("global_tx_ideal", &Line::global_tx_ideal, Unit::count,
                  "transactions if the work-items' data lay side by side: what exceeds this is uncoalesced access")
          .column("shared_bytes_moved", &Line::shared_bytes_moved, Unit::bytes,
                  "bytes that loads and stores of shared memory move for work-items")
          .column("shared_passes_w32_b32", &Line::shared_passes_w32_b32, Unit::count,
                  "passes over shared memory of 32 banks of 4 bytes by loads and stores of 32 work-items")
          .column("shared_passes_ideal", &Line::shared_passes_ideal, Unit::count,
                  "passes without bank conflicts: what exceeds this is conflicts")
          .column("local_bytes", &Line::local_bytes, Unit::bytes,
                  "bytes moved to and from memory private to a work-item (spills, indexed arrays)")
          .column("branches", &Line::branches, Unit::count,
                  "conditional branches executed by wavefronts of 32 work-items")
          .column("divergent_branches_w32", &Line::divergent_branches_w32, Unit::count,
                  "branches on which work-items of a wavefront of 32 disagree")
          .column("atomics", &Line::atomics, Unit::lanes,
                  "atomic operations on global and shared memory by work-items");
  return schema;
}

}  // namespace kernelcast::record
