#include "records/profile.hpp"

namespace kernelcast::record {

Schema<Profile> const& Profile::schema() {
  static auto const schema =
      Schema<Profile>("profile", "what a sequential kernel does, one quantity or bin of a histogram per row")
          .column("kernel", &Profile::kernel, Unit::none, "name of the function that was profiled")
          .column("case", &Profile::case_name, Unit::none, "arguments of the program")
          .may_be_empty()
          .column("invocation", &Profile::invocation, Unit::none,
                  "total, or the number of one call of the kernel, from 1")
          .column("quantity", &Profile::quantity, Unit::none, "what is counted; kernelcast-records(5) lists them")
          .column("granularity_bytes", &Profile::granularity_bytes, Unit::bytes,
                  "size of the blocks of memory that stack_distance and footprint_bytes tell apart")
          .column("low", &Profile::low, Unit::none,
                  "lower end of the bin [low, high): stack distance in blocks, width or number of levels; empty for "
                  "first touches")
          .column("high", &Profile::high, Unit::none, "upper end of the bin; empty for first touches and unbounded")
          .column("count", &Profile::count, Unit::count,
                  "how many: operations, levels, references, iterations, calls, bytes")
          .optional_column("where", &Profile::where, Unit::none, "file:line of a loop, or name of a function")
          .may_be_empty()
          .optional_column("note", &Profile::note, Unit::none, "why, as a message")
          .may_be_empty();
  return schema;
}

}  // namespace kernelcast::record
