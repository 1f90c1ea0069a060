// The features of [braun] section 5.3, and medians of them.

#include "base/statistics/median.hpp"
#include "measure/flux/classify.hpp"
#include "measure/flux/counts.hpp"

namespace kernelcast::flux {

namespace {

using ptx::StateSpace;

struct Sums {
  std::uint64_t total = 0, special = 0, logic = 0, control = 0, arithmetic = 0, sync = 0;
  std::uint64_t global_bytes = 0, param_bytes = 0, shared_bytes = 0;
  std::uint64_t accesses = 0;  // of global and local memory

  void add(Traits const& t, std::uint64_t lanes) {
    total += lanes;
    switch (t.kind) {
      case Kind::special:
        special += lanes;
        break;
      case Kind::logic:
        logic += lanes;
        break;
      case Kind::control:
        control += lanes;
        break;
      case Kind::sync:
        sync += lanes;
        break;
      case Kind::fp16:
      case Kind::fp32:
      case Kind::fp64:
      case Kind::integer:
      case Kind::matrix:
        arithmetic += lanes;
        break;
      case Kind::copy:
        shared_bytes += t.bytes * lanes;
        [[fallthrough]];
      case Kind::load:
      case Kind::store:
      case Kind::atomic:
      case Kind::reduction:
        add_access(t, lanes);
        break;
      default:
        break;
    }
  }

  void add_access(Traits const& t, std::uint64_t lanes) {
    if (t.kernel_parameter) param_bytes += t.bytes * lanes;
    if (t.space == StateSpace::shared) shared_bytes += t.bytes * lanes;
    if (t.space == StateSpace::local) accesses += lanes;
    if (t.space != StateSpace::global && t.space != StateSpace::generic) return;
    global_bytes += t.bytes * lanes;
    accesses += lanes;
  }
};

using Field = std::optional<double> record::Feature::*;
constexpr Field fields[] = {&record::Feature::inst_total,         &record::Feature::inst_special,
                            &record::Feature::inst_logic,         &record::Feature::inst_control,
                            &record::Feature::inst_arithmetic,    &record::Feature::inst_sync,
                            &record::Feature::global_bytes,       &record::Feature::param_bytes,
                            &record::Feature::shared_bytes_moved, &record::Feature::arithmetic_intensity};

}  // namespace

record::Feature features(ptx::Module const& module, Counts const& counts) {
  Sums sums;
  for (std::size_t f = 0; f < counts.functions.size(); ++f)
    for (std::size_t i = 0; i < counts.functions[f].size(); ++i)
      if (auto const lanes = counts.functions[f][i].lanes)
        sums.add(traits_of(module.functions[f].instructions[i], module.functions[f]), lanes);
  auto const number = [](std::uint64_t sum) { return static_cast<double>(sum); };
  record::Feature row;
  row.inst_total = number(sums.total);
  row.inst_special = number(sums.special);
  row.inst_logic = number(sums.logic);
  row.inst_control = number(sums.control);
  row.inst_arithmetic = number(sums.arithmetic);
  row.inst_sync = number(sums.sync);
  row.global_bytes = number(sums.global_bytes);
  row.param_bytes = number(sums.param_bytes);
  row.shared_bytes_moved = number(sums.shared_bytes);
  if (sums.accesses) row.arithmetic_intensity = number(sums.arithmetic) / number(sums.accesses);
  return row;
}

record::Feature median(std::vector<record::Feature> const& rows) {
  record::Feature out = rows.front();
  out.launches = rows.size();
  for (Field const field : fields) {
    std::vector<double> values;
    for (auto const& row : rows)
      if (row.*field) values.push_back(*(row.*field));
    (out.*field).reset();
    if (!values.empty()) out.*field = kernelcast::median(values);
  }
  // Launches without counts do not make the others' unknown, but they are reported.
  for (auto const& row : rows)
    if (row.status != record::RowStatus::ok && out.status == record::RowStatus::ok)
      out.status = row.status, out.reason = row.reason;
  return out;
}

}  // namespace kernelcast::flux
