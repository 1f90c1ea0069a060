// The metrics of [braun] Table 4.3 by nvprof's definitions, as far as PTX has what they count.
//
// nvprof counts machine instructions, these count PTX: one PTX instruction may become several machine instructions or
// none. Where CUDA Flux groups differently than nvprof documents, both values are given: its flop_count_dp and
// flop_count_sp are instructions rather than operations, and its ..._add leave out subtractions.
#include <iterator>

#include "measure/flux/classify.hpp"
#include "measure/flux/counts.hpp"

namespace kernelcast::flux {

namespace {

using ptx::StateSpace;

using Weight = unsigned (*)(Traits const&);

struct Metric {
  char const* name;
  char const* definition;
  bool lanes;  // else wavefronts
  Weight weight;
  Weight braun = nullptr;  // where it is another definition
};

bool is(Traits const& t, Kind kind, Operation operation) {
  return t.kind == kind && t.operation == operation;
}
bool adds(Traits const& t, Kind kind) {
  return is(t, kind, Operation::add) || is(t, kind, Operation::subtract);
}
template <Kind kind>
unsigned flops(Traits const& t) {
  if (t.kind != kind) return 0;
  if (t.operation == Operation::fma) return 2 * t.elements;
  return t.operation == Operation::other ? 0 : t.elements;
}
template <Kind kind>
unsigned additions(Traits const& t) {
  return adds(t, kind) ? t.elements : 0;
}
template <Kind kind>
unsigned braun_additions(Traits const& t) {
  return is(t, kind, Operation::add);
}
template <Kind kind, Operation operation>
unsigned operations(Traits const& t) {
  return is(t, kind, operation) ? t.elements : 0;
}
template <unsigned bits>
bool floating(Traits const& t) {
  return t.kind == (bits == 64 ? Kind::fp64 : Kind::fp32) || (t.kind == Kind::special && t.type_bits == bits);
}
template <unsigned bits>
unsigned floating_instructions(Traits const& t) {
  return floating<bits>(t);
}
template <Kind kind>
unsigned of_kind(Traits const& t) {
  return t.kind == kind;
}
bool global(StateSpace space) {
  return space == StateSpace::global || space == StateSpace::generic;
}
template <Kind kind, StateSpace space>
unsigned access(Traits const& t) {
  return t.kind == kind && (space == StateSpace::global ? global(t.space) : t.space == space);
}
unsigned load_or_store(Traits const& t) {
  bool const counted = global(t.space) || t.space == StateSpace::shared || t.space == StateSpace::local;
  return ((t.kind == Kind::load || t.kind == Kind::store) && counted) || t.kind == Kind::copy;
}
unsigned global_load(Traits const& t) {
  return access<Kind::load, StateSpace::global>(t) || t.kind == Kind::copy;
}
unsigned shared_atomic(Traits const& t) {
  return (t.kind == Kind::atomic || t.kind == Kind::reduction) && t.space == StateSpace::shared;
}
unsigned integer(Traits const& t) {
  return t.kind == Kind::integer || t.kind == Kind::logic;
}
unsigned all(Traits const&) {
  return 1;
}
unsigned nothing(Traits const&) {
  return 0;
}
unsigned miscellaneous(Traits const& t) {
  switch (t.kind) {
    case Kind::other:
    case Kind::sync:
    case Kind::matrix:
      return 1;
    case Kind::load:
    case Kind::store:
      return t.space == StateSpace::param || t.space == StateSpace::constant;
    default:
      return 0;
  }
}

constexpr bool lanes = true, wavefronts = false;
constexpr Metric table[] = {
    {"flop_count_dp", "f64 add, sub and mul count 1, fma 2", lanes, flops<Kind::fp64>, floating_instructions<64>},
    {"flop_count_dp_add", "f64 add and sub", lanes, additions<Kind::fp64>, braun_additions<Kind::fp64>},
    {"flop_count_dp_fma", "f64 fma, each once", lanes, operations<Kind::fp64, Operation::fma>},
    {"flop_count_dp_mul", "f64 mul", lanes, operations<Kind::fp64, Operation::multiply>},
    {"flop_count_sp", "f32 add, sub and mul count 1, fma 2", lanes, flops<Kind::fp32>, floating_instructions<32>},
    {"flop_count_sp_add", "f32 add and sub", lanes, additions<Kind::fp32>, braun_additions<Kind::fp32>},
    {"flop_count_sp_fma", "f32 fma and mad, each once", lanes, operations<Kind::fp32, Operation::fma>},
    {"flop_count_sp_mul", "f32 mul", lanes, operations<Kind::fp32, Operation::multiply>},
    {"flop_count_sp_special", "f32 sin, cos, ex2, lg2, tanh, rcp, sqrt, rsqrt", lanes,
     [](Traits const& t) -> unsigned { return t.kind == Kind::special && t.type_bits == 32; }},
    {"inst_bit_convert", "cvt", lanes, of_kind<Kind::convert>},
    {"inst_compute_ld_st", "loads and stores of global, shared and local memory", lanes, load_or_store},
    {"inst_control", "bra (where taken), brx, call, ret, exit, trap", lanes, of_kind<Kind::control>},
    {"inst_executed", "all PTX instructions", wavefronts, all},
    {"inst_executed_global_atomics", "atom on global memory", wavefronts, access<Kind::atomic, StateSpace::global>},
    {"inst_executed_global_loads", "ld, ldu, cp.async on global memory", wavefronts, global_load},
    {"inst_executed_global_reductions", "red on global memory", wavefronts,
     access<Kind::reduction, StateSpace::global>},
    {"inst_executed_global_stores", "st on global memory", wavefronts, access<Kind::store, StateSpace::global>},
    {"inst_executed_local_loads", "ld on local memory", wavefronts, access<Kind::load, StateSpace::local>},
    {"inst_executed_local_stores", "st on local memory", wavefronts, access<Kind::store, StateSpace::local>},
    {"inst_executed_shared_atomics", "atom and red on shared memory", wavefronts, shared_atomic},
    {"inst_executed_shared_loads", "ld on shared memory", wavefronts, access<Kind::load, StateSpace::shared>},
    {"inst_executed_shared_stores", "st on shared memory", wavefronts, access<Kind::store, StateSpace::shared>},
    {"inst_executed_surface_atomics", "PTX has none that return a value", wavefronts, nothing},
    {"inst_executed_surface_loads", "suld", wavefronts, of_kind<Kind::surface_load>},
    {"inst_executed_surface_reductions", "sured", wavefronts, of_kind<Kind::surface_reduction>},
    {"inst_executed_surface_stores", "sust", wavefronts, of_kind<Kind::surface_store>},
    {"inst_executed_tex_ops", "tex, tld4", wavefronts, of_kind<Kind::texture>},
    {"inst_fp_32", "f32 arithmetic, comparisons and special functions", lanes, floating_instructions<32>},
    {"inst_fp_64", "f64 arithmetic, comparisons and special functions", lanes, floating_instructions<64>},
    {"inst_integer", "integer arithmetic, comparisons, logic and shifts", lanes, integer},
    {"inst_inter_thread_communication", "shfl, vote, match, redux, activemask", lanes, of_kind<Kind::exchange>},
    {"inst_issued", "not a property of PTX: replays depend on the device", wavefronts, nullptr},
    {"inst_misc", "all that no other metric counts: mov, selp, cvta, prmt, ld.param, ld.const, barriers, ...", lanes,
     miscellaneous},
};

struct Sum {
  std::uint64_t value = 0, braun = 0;
};

std::vector<Sum> sums_of(ptx::Module const& module, Counts const& counts) {
  std::vector<Sum> sums(std::size(table));
  for (std::size_t f = 0; f < counts.functions.size(); ++f)
    for (std::size_t i = 0; i < counts.functions[f].size(); ++i) {
      auto const& [work_items, warps, reached] = counts.functions[f][i];
      if (!reached) continue;
      Traits const traits = traits_of(module.functions[f].instructions[i], module.functions[f]);
      for (std::size_t m = 0; m < std::size(table); ++m) {
        std::uint64_t const count = table[m].lanes ? work_items : warps;
        if (table[m].weight) sums[m].value += count * table[m].weight(traits);
        if (table[m].braun) sums[m].braun += count * table[m].braun(traits);
      }
    }
  return sums;
}

}  // namespace

std::vector<record::CountGroup> groups(ptx::Module const& module, Counts const& counts,
                                       record::CountedLaunch const& launch) {
  std::vector<record::CountGroup> rows;
  auto const sums = sums_of(module, counts);
  for (std::size_t m = 0; m < sums.size(); ++m) {
    Metric const& metric = table[m];
    auto& row = rows.emplace_back();
    static_cast<record::CountedLaunch&>(row) = launch;
    row.metric = metric.name;
    row.counts = metric.lanes ? "lanes" : "wavefronts";
    row.definition = metric.definition;
    if (metric.weight && (metric.lanes || counts.warps_known)) row.value = sums[m].value;
    if (metric.braun) row.value_braun = sums[m].braun;
  }
  return rows;
}

}  // namespace kernelcast::flux
