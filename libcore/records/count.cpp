#include "records/count.hpp"

#include "records/table/meanings.hpp"

namespace kernelcast::record {

namespace {

constexpr auto status_meaning =
    "how it was counted; sampled: on some work-items and extrapolated to the launch, uncounted: the launch ran, its "
    "counts are unknown";
constexpr std::array statuses{RowStatus::ok, RowStatus::sampled, RowStatus::uncounted};

template <class R>
void add_launch(Schema<R>& schema) {
  schema.column("kernel", &R::kernel, Unit::none, meaning::kernel)
      .column("case", &R::case_name, Unit::none, meaning::launch)
      .may_be_empty()
      .column("launch", &R::launch, Unit::count, "number of the launch, from 0, in the order in which they were made");
}

template <class R>
void add_status(Schema<R>& schema) {
  schema.column("status", &R::status, Unit::none, status_meaning)
      .template among<RowStatus>(statuses)
      .column("reason", &R::reason, Unit::none, "why, where the status is not ok")
      .may_be_empty();
}

template <class R>
void add_configuration(Schema<R>& schema) {
  schema.optional_column("grid_x", &R::grid_x, Unit::count, "work-groups along x")
      .optional_column("grid_y", &R::grid_y, Unit::count, "work-groups along y")
      .optional_column("grid_z", &R::grid_z, Unit::count, "work-groups along z")
      .optional_column("block_x", &R::block_x, Unit::count, "work-items of a work-group along x")
      .optional_column("block_y", &R::block_y, Unit::count, "work-items of a work-group along y")
      .optional_column("block_z", &R::block_z, Unit::count, "work-items of a work-group along z")
      .optional_column("shared_bytes", &R::shared_bytes, Unit::bytes,
                       "shared memory of one work-group, static and dynamic")
      .optional_column("device", &R::device, Unit::none, "what ran it: emulator, or the device's number and name")
      .may_be_empty();
}

}  // namespace

Schema<Count> const& Count::schema() {
  static auto const schema = [] {
    Schema<Count> s("count", "how often a launch executes each PTX opcode");
    add_launch(s);
    s.column("opcode", &Count::opcode, Unit::none, "with all modifiers, as the PTX has it")
        .may_be_empty()
        .column("executed", &Count::executed, Unit::lanes,
                "work-items that execute it, counted where its predicate holds")
        .column("issued", &Count::issued, Unit::count,
                "wavefronts of 32 that reach it, whatever its predicate says; empty where only work-items were "
                "counted");
    add_status(s);
    add_configuration(s);
    return s;
  }();
  return schema;
}

Schema<CountGroup> const& CountGroup::schema() {
  static auto const schema = [] {
    Schema<CountGroup> s("count_group", "opcode counts summed up to the metrics of nvprof");
    add_launch(s);
    s.column("metric", &CountGroup::metric, Unit::none, "nvprof's name")
        .may_be_empty()
        .column("value", &CountGroup::value, Unit::count, "by the definition beside")
        .column("value_braun", &CountGroup::value_braun, Unit::count,
                "the same as CUDA Flux groups it, where that is another definition")
        .column("counts", &CountGroup::counts, Unit::none, "lanes (work-items) or wavefronts (of 32)")
        .may_be_empty()
        .column("definition", &CountGroup::definition, Unit::none, "which PTX instructions are summed")
        .may_be_empty();
    add_status(s);
    add_configuration(s);
    return s;
  }();
  return schema;
}

Schema<CountOverhead> const& CountOverhead::schema() {
  static auto const schema =
      Schema<CountOverhead>("count_overhead", "what counters cost in instructions")
          .column("kernel", &CountOverhead::kernel, Unit::none, meaning::kernel)
          .column("case", &CountOverhead::case_name, Unit::none, meaning::launch)
          .may_be_empty()
          .column("launches", &CountOverhead::launches, Unit::count, "launches; all counts are totals over them")
          .column("blocks", &CountOverhead::blocks, Unit::count,
                  "basic blocks of the kernel and the functions it may call")
          .column("counters", &CountOverhead::counters, Unit::count, "counters that the minimal placement needs")
          .column("issues_w32", &CountOverhead::issues_w32, Unit::count,
                  "instructions issued by wavefronts of 32 without counters")
          .column("issues_minimal_w32", &CountOverhead::issues_minimal_w32, Unit::count,
                  "the same with the minimal placement")
          .column("issues_every_block_w32", &CountOverhead::issues_every_block_w32, Unit::count,
                  "the same with a counter in every block, as [braun] places them")
          .column("overhead", &CountOverhead::overhead, Unit::none, "issues_minimal_w32 over issues_w32")
          .column("overhead_every_block", &CountOverhead::overhead_every_block, Unit::none,
                  "issues_every_block_w32 over issues_w32")
          .column("status", &CountOverhead::status, Unit::none, "whether it was counted")
          .among({RowStatus::ok, RowStatus::uncounted})
          .column("reason", &CountOverhead::reason, Unit::none, "why, where the status is not ok")
          .may_be_empty()
          .column("device", &CountOverhead::device, Unit::none, "which device was measured")
          .may_be_empty()
          .column("time_s", &CountOverhead::time_s, Unit::seconds, "time on the device without counters")
          .column("time_minimal_s", &CountOverhead::time_minimal_s, Unit::seconds,
                  "the same with the minimal placement")
          .column("time_every_block_s", &CountOverhead::time_every_block_s, Unit::seconds,
                  "the same with a counter in every block, as [braun] places them")
          .column("time_overhead", &CountOverhead::time_overhead, Unit::none, "time_minimal_s over time_s")
          .column("time_overhead_every_block", &CountOverhead::time_overhead_every_block, Unit::none,
                  "time_every_block_s over time_s");
  return schema;
}

}  // namespace kernelcast::record
