#include "records/kernel.hpp"

#include <fmt/format.h>

#include "records/phases.hpp"
#include "records/table/histogram.hpp"
#include "records/table/meanings.hpp"
#include "records/table/table.hpp"

namespace kernelcast::record {

namespace {

template <class Numbers>
Axis numbers(char const* placeholder, Numbers const& values) {
  Axis axis{placeholder, {}};
  for (auto const value : values) axis.values.push_back(std::to_string(value));
  return axis;
}
Axis widths() {
  return numbers("N", width_lanes);
}
Axis segments() {
  return numbers("B", segment_bytes);
}

void add_identity(Schema<Kernel>& schema) {
  schema.column("kernel", &Kernel::kernel, Unit::none, meaning::kernel)
      .column("case", &Kernel::case_name, Unit::none, meaning::launch)
      .may_be_empty()
      .accepts("size")
      .column("launches", &Kernel::launches, Unit::count,
              "launches of this configuration; all counters are totals over them")
      .column("grid_x", &Kernel::grid_x, Unit::count, "work-groups along x")
      .column("grid_y", &Kernel::grid_y, Unit::count, "work-groups along y")
      .column("grid_z", &Kernel::grid_z, Unit::count, "work-groups along z")
      .column("block_x", &Kernel::block_x, Unit::count, "work-items of a work-group along x")
      .column("block_y", &Kernel::block_y, Unit::count, "work-items of a work-group along y")
      .column("block_z", &Kernel::block_z, Unit::count, "work-items of a work-group along z")
      .column("groups_total", &Kernel::groups_total, Unit::count, "work-groups of all launches together")
      .column("groups_emulated", &Kernel::groups_emulated, Unit::count,
              "work-groups that were emulated; when fewer than groups_total the counters are extrapolated from them")
      .column("shared_bytes", &Kernel::shared_bytes, Unit::bytes,
              "shared memory of one work-group, static and dynamic");
}

void add_registers(Schema<Kernel>& schema) {
  schema
      .column("registers_ptx", &Kernel::registers_ptx, Unit::count,
              "32-bit registers per work-item by live ranges of the PTX; empty when unknown")
      .column("registers_sm75", &Kernel::registers_sm75, Unit::count,
              "registers per work-item that ptxas assigns for sm_75; empty without ptxas")
      .column("vgprs_gfx6", &Kernel::vgprs_gfx6, Unit::count,
              "vector registers per work-item for AMD gfx6 (tahiti); empty when unknown")
      .column("vgprs_gfx90a", &Kernel::vgprs_gfx90a, Unit::count,
              "vector registers per work-item for AMD gfx90a; empty when unknown")
      .column("vgprs_gfx1030", &Kernel::vgprs_gfx1030, Unit::count,
              "vector registers per work-item for AMD gfx1030; empty when unknown")
      .column("gprs_cypress", &Kernel::gprs_cypress, Unit::count,
              "128-bit registers per work-item for AMD cypress (VLIW5); empty when unknown")
      .column("vliw_ops_per_bundle", &Kernel::vliw_ops_per_bundle, Unit::none,
              "ALU operations per VLIW bundle on AMD cypress, 1 to 5; empty when unknown");
}

void add_instructions(Schema<Kernel>& schema) {
  schema
      .column("spread_pct", &Kernel::spread_pct, Unit::percent,
              "how much emulated groups differ: the largest of a counter less the smallest, over the mean; of "
              "instructions, issues, global transactions and shared passes the largest. Not the error of the totals: "
              "sampling_error_pct. Empty when one group was emulated")
      .column("inst_total", &Kernel::inst_total, Unit::lanes,
              "instructions executed by work-items, counted where the predicate holds");
  auto const classes = axis_of<InstructionClass>("CLASS", [](InstructionClass) { return true; });
  schema.family(
      "inst_CLASS", {classes}, [](Kernel& k, std::size_t c) -> auto& { return k.inst[values_of<InstructionClass>[c]]; },
      Unit::lanes, "instructions of class CLASS executed by work-items");
  schema.family(
      "issues_CLASS_wN", {classes, widths()},
      [](Kernel& k, std::size_t c, std::size_t w) -> auto& { return k.issues[values_of<InstructionClass>[c]][w]; },
      Unit::count, "instructions of class CLASS issued by wavefronts of N work-items");
  schema
      .column("branches", &Kernel::branches, Unit::count,
              "conditional branches executed by wavefronts of 32 work-items")
      .column("divergent_branches_w32", &Kernel::divergent_branches_w32, Unit::count,
              "branches on which work-items of a wavefront of 32 disagree")
      .column("divergent_branches_w64", &Kernel::divergent_branches_w64, Unit::count,
              "branches on which work-items of a wavefront of 64 disagree");
}

void add_volumes(Schema<Kernel>& schema) {
  schema
      .column("global_load_bytes", &Kernel::global_load_bytes, Unit::bytes,
              "bytes that work-items read from global memory")
      .column("global_store_bytes", &Kernel::global_store_bytes, Unit::bytes,
              "bytes that work-items write to global memory")
      .column("shared_load_bytes", &Kernel::shared_load_bytes, Unit::bytes,
              "bytes that work-items read from shared memory")
      .column("shared_store_bytes", &Kernel::shared_store_bytes, Unit::bytes,
              "bytes that work-items write to shared memory")
      .column("local_load_bytes", &Kernel::local_load_bytes, Unit::bytes,
              "bytes read from memory private to a work-item (spills, indexed arrays)")
      .column("local_store_bytes", &Kernel::local_store_bytes, Unit::bytes,
              "bytes written to memory private to a work-item")
      .column("param_bytes", &Kernel::param_bytes, Unit::bytes, "bytes of kernel arguments read by work-items")
      .column("const_bytes", &Kernel::const_bytes, Unit::bytes, "bytes read from constant memory")
      .column(
          "texture_bytes", &Kernel::texture_bytes, Unit::bytes,
          "bytes read or written through textures and images: for each work-item one texel, filtered or not, or what "
          "a surface access moves");
}

using ByWidth = std::array<std::array<double, 3>, 3> Kernel::*;

// Of loads or stores; all families have both.
void add_transactions(Schema<Kernel>& schema, std::string const& direction, ByWidth member) {
  schema.family(
      "global_" + direction + "_tx_wN_sB", {widths(), segments()},
      [member](Kernel& k, std::size_t w, std::size_t s) -> auto& { return (k.*member)[w][s]; }, Unit::count,
      "global " + direction + " transactions: distinct aligned segments of B bytes per access of N work-items");
}

void add_half_warp_segments(Schema<Kernel>& schema, std::string const& direction,
                            std::array<double, 3> Kernel::* member) {
  schema.family(
      "global_" + direction + "_cc13_B", {segments()},
      [member](Kernel& k, std::size_t s) -> auto& { return (k.*member)[s]; }, Unit::count,
      "global " + direction +
          " transactions of B bytes by the half-warp rule of compute capability 1.2 and 1.3, after shrinking");
}

void add_passes(Schema<Kernel>& schema, std::string const& direction, ByWidth member) {
  Axis const banks{"BANKS",
                   {bank_names.begin(), bank_names.end()},
                   {"16 banks of 4 bytes", "32 banks of 4 bytes", "32 banks of 8 bytes"}};
  schema.family(
      "shared_" + direction + "_passes_wN_BANKS", {widths(), banks},
      [member](Kernel& k, std::size_t w, std::size_t b) -> auto& { return (k.*member)[w][b]; }, Unit::count,
      "passes over shared memory of BANKS: bank-conflict degrees summed over the " + direction + "s of N work-items");
}

template <bool of_amd>
void add_slots(Schema<Kernel>& schema) {
  auto const first = schema.columns().size();
  static auto const chosen = [] {
    std::vector<Pipe> out;
    for (Pipe const pipe : values_of<Pipe>)
      if (is_of_amd(pipe) == of_amd) out.push_back(pipe);
    return out;
  }();
  schema.family(
      "slots_PIPE", {axis_of<Pipe>("PIPE", [](Pipe pipe) { return is_of_amd(pipe) == of_amd; })},
      [](Kernel& k, std::size_t i) -> auto& { return k.slots[chosen[i]]; }, Unit::count,
      of_amd ? "issue slots that wavefronts take of the PIPE pipe of AMD's machines; empty for others"
             : "issue slots that wavefronts of 32 take of the PIPE pipe of NVIDIA's machines; with an AMD target, "
               "wavefronts of its width of the unit that does the same");
  schema.may_be_missing(first);
  if (of_amd) return;
  schema.optional_column("code_slots", &Kernel::code_slots, Unit::count,
                         "instructions of machine code that were executed, each counted once");
}

void add_group(Schema<Kernel>& schema) {
  auto const number = [&](char const* name, std::optional<double> GroupColumns::* member, Unit unit,
                          std::string const& meaning) {
    schema.optional_column(
        fmt::format("group_{}", name), [member](Kernel& k) -> auto& { return k.group.*member; }, unit,
        meaning +
            "; this and all group_ columns: of one work-group, that in the middle of the grid unless it is unlike "
            "others");
  };
  auto const histogram = [&](char const* name, std::string GroupColumns::* member, std::string meaning) {
    schema
        .optional_column(
            fmt::format("group_{}", name), [member](Kernel& k) -> auto& { return k.group.*member; }, Unit::none,
            std::move(meaning))
        .may_be_empty();
  };
  using G = GroupColumns;
  number("slots", &G::slots, Unit::count, "issue slots of all pipes");
  histogram("load_requests", &G::load_requests,
            "loads of global memory by wavefronts of 32: lines of 128 bytes/sectors of 32/lines in the most loaded of "
            "a line's 32 banks (0: by a copy engine):how many");
  histogram("store_requests", &G::store_requests, "stores to global memory, likewise");
  histogram("load_sectors", &G::load_sectors,
            "distinct sectors of 32 bytes of global memory that are loaded, by which coordinates of the group they "
            "depend on (all: none of them):how many");
  histogram("store_sectors", &G::store_sectors, "distinct sectors that are stored or updated, likewise");
  histogram("load_lines", &G::load_lines, "distinct lines of 128 bytes that are loaded, likewise");
  histogram("store_lines", &G::store_lines, "distinct lines that are stored or updated, likewise");
  histogram("load_unions", &G::load_unions,
            "k:n: n distinct sectors are loaded by 2^k groups, one after the other in the grid, the last by all");
  histogram("store_unions", &G::store_unions, "distinct sectors that are stored or updated, likewise");
  histogram("reuse", &G::reuse,
            "k:n: n loads of a sector that was loaded before, with 2^(k-1) to 2^k - 1 other sectors in between (0: "
            "none; 31: by loads that pass the first-level cache by)");
  number("shared_requests", &G::shared_requests, Unit::count, "loads and stores of shared memory by wavefronts of 32");
  number("shared_engine_bytes", &G::shared_engine_bytes, Unit::bytes,
         "of shared memory that copy engines (bulk copies) and matrix units (wgmma) move");
  number("constant_requests", &G::constant_requests, Unit::count, "loads of constant memory");
  histogram("local_requests", &G::local_requests,
            "loads and stores of private memory, as group_load_requests, where they lie in memory: the same word of a "
            "wavefront's work-items in one line");
  number("local_lines", &G::local_lines, Unit::count, "distinct lines of 128 bytes of private memory");
  number("texture_requests", &G::texture_requests, Unit::count, "reads of textures and images");
  number("atomic_requests", &G::atomic_requests, Unit::count, "atomics on global memory");
  number(
      "atomic_serial", &G::atomic_serial, Unit::count,
      "the most lanes on one address of each of these, summed; 1 of 32-bit integers at an address that does not vary");
  number("atomic_sectors", &G::atomic_sectors, Unit::count, "distinct sectors of each of these, summed");
  number("atomic_lines", &G::atomic_lines, Unit::count, "distinct lines of 128 bytes of each of these, summed");
  number("atomic_wide_lanes", &G::atomic_wide_lanes, Unit::count, "work-items that update 8 bytes or more in these");
  histogram("atomic_unions", &G::atomic_unions, "distinct sectors that are updated, as group_load_unions");
  number("shared_atomic_requests", &G::shared_atomic_requests, Unit::count, "atomics on shared memory");
  number("shared_atomic_serial", &G::shared_atomic_serial, Unit::count,
         "the most lanes on one address of each of these, summed");
  number("shared_atomic_passes", &G::shared_atomic_passes, Unit::count,
         "distinct words in the most loaded bank of each of these, summed");
  auto const first = schema.columns().size();
  schema
      .family(
          "group_path_STEP", {axis_of<Step>("STEP", [](Step) { return true; })},
          [](Kernel& k, std::size_t i) -> auto& { return k.group.path[values_of<Step>[i]]; }, Unit::count,
          "results of kind STEP on the longest chain of results that need each other")
      .may_be_missing(first);
}

template <Named E>
std::string joined_names() {
  return fmt::format("{}", fmt::join(names_of<E>, ", "));
}

// What a launch has, however often it is repeated.
bool is_of_one_launch(std::string_view column) {
  return column == "vliw_ops_per_bundle" || column == "spread_pct" || column == "sampling_error_pct" ||
         column == "allocated_bytes" || column == "global_footprint_bytes" || column == "atomic_max_same_address" ||
         column == "code_slots" || column == "code_fetched" || column == "warp_lanes" || column == "registers_matrix" ||
         column == "scratch_bytes" || column.starts_with("group_");
}

}  // namespace

Schema<Kernel> const& Kernel::schema() {
  static auto const schema = [] {
    Schema<Kernel> s("kernel", "what a kernel launch executes and moves, independent of any device");
    add_identity(s);
    add_registers(s);
    add_instructions(s);
    add_volumes(s);
    add_transactions(s, "load", &Kernel::global_load_tx);
    add_transactions(s, "store", &Kernel::global_store_tx);
    add_half_warp_segments(s, "load", &Kernel::global_load_cc13);
    add_half_warp_segments(s, "store", &Kernel::global_store_cc13);
    s.column("global_footprint_bytes", &Kernel::global_footprint_bytes, Unit::bytes,
             "distinct global memory touched, in sectors of 32 bytes");
    add_passes(s, "load", &Kernel::shared_load_passes);
    add_passes(s, "store", &Kernel::shared_store_passes);
    s.column("atomics_global", &Kernel::atomics_global, Unit::lanes, "atomic operations on global memory by work-items")
        .column("atomics_shared", &Kernel::atomics_shared, Unit::lanes,
                "atomic operations on shared memory by work-items")
        .column("atomic_max_same_address", &Kernel::atomic_max_same_address, Unit::count,
                "most atomic operations that hit one address")
        .column("barriers", &Kernel::barriers, Unit::count, "barriers passed by work-groups")
        .optional_column("global_load_rounds", &Kernel::global_load_rounds, Unit::lanes,
                         "how often work-items wait for global loads: in each basic block they run, the longest chain "
                         "of loads that need each other's results");
    add_slots<false>(s);
    add_group(s);
    s.optional_column(
         "target", &Kernel::target, Unit::none,
         "the machine whose code the slots and registers_target are of, such as sm_86 or gfx90a; empty: rules for PTX")
        .may_be_empty()
        .optional_column(
            "registers_target", &Kernel::registers_target, Unit::count,
            "registers per work-item that the target's assembler or compiler assigns; empty without a target")
        .optional_column("sampling_error_pct", &Kernel::sampling_error_pct, Unit::percent,
                         "standard error of the totals for the groups that were not emulated, of the counter of "
                         "spread_pct that has the largest; 0 when all were; empty where the groups do not tell")
        .optional_column("allocated_bytes", &Kernel::allocated_bytes, Unit::bytes,
                         "device memory that is allocated when the kernel is launched: of its launches the most; empty "
                         "when unknown")
        .optional_column(
            "touched_before", &Kernel::touched_before, Unit::none,
            "k:n: n bytes of global_footprint_bytes, summed over the launches, that launches, copies or "
            "fills before had touched, with more than 2^(k-1) distinct bytes in between, at most 2^k; 0:0: "
            "none; empty when it is not known what ran before")
        .may_be_empty();
    add_slots<true>(s);
    s.optional_column("warp_lanes", &Kernel::warp_lanes, Unit::lanes,
                      "work-items of the warps that the kernel is written for: 32 where a CUDA kernel exchanges values "
                      "within a warp (shuffles, votes); such a kernel does not run on wider wavefronts. Empty: any")
        .optional_column(
            "registers_matrix", &Kernel::registers_matrix, Unit::count,
            "accumulation registers (AGPRs) per work-item of AMD's machine code; registers_target has them, "
            "too, where they share a file; empty for other targets")
        .optional_column(
            "scratch_bytes", &Kernel::scratch_bytes, Unit::bytes,
            "private memory per work-item of AMD's machine code: arrays and registers that do not fit; empty "
            "for other targets")
        .optional_column(
            "library", &Kernel::library, Unit::none,
            "of a call of a library (cuBLAS, cuFFT, cuRAND), whose kernels are machine code: operation:type:sizes, "
            "such "
            "as gemm:f32:1024x1024x512x1 (m, n, k, products of a batch); it has no instructions, and its time is taken "
            "from tables. Empty: a kernel that was counted")
        .may_be_empty()
        .optional_column("library_flop", &Kernel::library_flop, Unit::count,
                         "floating-point operations of such a call; empty for kernels")
        .optional_column(
            "matrix_flop", &Kernel::matrix_flop, Unit::none,
            "kind:n joined by ;: operations of matrix products, two for each multiply-add, by instruction, type of the "
            "factors and of the sums, such as mma/f16/f32:1073741824; /sparse behind it where half of a factor is "
            "zero, which counts as well. Empty: none")
        .may_be_empty()
        .optional_column(
            "runs_on", &Kernel::runs_on, Unit::none,
            "the target that alone runs this code: that of PTX for one architecture, such as sm_90a, or of "
            "a launch file's variant; of rows of a kernel and case a device takes its own. Or the vendor whose devices "
            "alone are given such launches by an application that asks its device. Empty: any")
        .may_be_empty()
        .optional_column(
            "registers", &Kernel::registers, Unit::none,
            "target:n joined by ;: registers per work-item that ptxas assigns for each of these targets, such as "
            "sm_75:32;sm_86:40; sm_86 also stands for sm_87 and sm_89, which get the same. Empty: not known")
        .may_be_empty()
        .optional_column(
            "group_shared_loads", [](Kernel& k) -> auto& { return k.group.shared_loads; }, Unit::none,
            "loads of shared memory by wavefronts of 32, as ptxas joins them: clocks that 32 banks are busy, which "
            "give "
            "128 bytes a clock:how many")
        .may_be_empty()
        .optional_column(
            "group_shared_stores", [](Kernel& k) -> auto& { return k.group.shared_stores; }, Unit::none,
            "stores to shared memory, likewise")
        .may_be_empty()
        .optional_column(
            "group_phases", [](Kernel& k) -> auto& { return k.group.phases; }, Unit::none,
            fmt::format("what the group does from one barrier to the next, by the places of both: parts of the group's "
                        "{}; results on the longest chain of one such phase, {}; all joined by /:how many. Empty: "
                        "without barriers",
                        joined_names<Work>(), joined_names<Step>()))
        .may_be_empty()
        .optional_column(
            "group_local_stores", [](Kernel& k) -> auto& { return k.group.local_stores; }, Unit::none,
            "of group_local_requests, the stores")
        .may_be_empty()
        .optional_column(
            "code_fetched", &Kernel::code_fetched, Unit::count,
            "launches before which an attached application had not run this code: 1, or 0 where it had, in "
            "another configuration. Empty: the first of the row")
        .optional_column(
            "source_line", &Kernel::source, Unit::none,
            "of an attached application with source lines (-g, -lineinfo): file:line where the kernel's code "
            "begins, of a region of OpenMP or OpenACC its directive. Empty: not known")
        .may_be_empty()
        .optional_column("source_text", &Kernel::source_text, Unit::none,
                         "that line, where its file was there when the application ran")
        .may_be_empty();
    return s;
  }();
  return schema;
}

void repeat(Kernel& row, std::uint64_t times) {
  if (Powers touched{}; read_powers(row.touched_before, touched)) {
    for (double& bytes : touched) bytes *= static_cast<double>(times);
    row.touched_before = text_of(touched);
  }
  if (!row.matrix_flop.empty()) {
    std::string repeated;
    read_histogram(row.matrix_flop, [&](std::string_view kind, double flop) {
      repeated +=
          fmt::format("{}{}:{}", repeated.empty() ? "" : ";", kind, number_text(flop * static_cast<double>(times)));
      return true;
    });
    row.matrix_flop = repeated;
  }
  row.launches *= times;
  row.groups_total *= times;
  for (auto const& column : Kernel::schema().columns()) {
    if (is_of_one_launch(column.name)) continue;
    auto* const field = reinterpret_cast<char*>(&row) + column.offset;
    auto const factor = static_cast<double>(times);
    if (column.type == FieldType::number) *reinterpret_cast<double*>(field) *= factor;
    if (column.type == FieldType::optional_number)
      if (auto& value = *reinterpret_cast<std::optional<double>*>(field)) *value *= factor;
  }
}

}  // namespace kernelcast::record
