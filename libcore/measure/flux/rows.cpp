#include "measure/flux/rows.hpp"

#include <algorithm>
#include <tuple>

#include <fmt/format.h>

#include "records/table/table.hpp"

namespace kernelcast::flux {

std::vector<record::Count> count_rows(CountedRun const& run) {
  std::vector<record::Count> rows;
  auto const add = [&]() -> record::Count& {
    static_cast<record::CountedLaunch&>(rows.emplace_back()) = run.launch;
    return rows.back();
  };
  if (run.launch.status == record::RowStatus::uncounted) {
    add();
    return rows;
  }
  for (auto const& [opcode, lanes, warps] : by_opcode(run.module, run.counts)) {
    auto& row = add();
    row.opcode = opcode;
    row.executed = lanes;
    if (run.counts.warps_known) row.issued = warps;
  }
  return rows;
}

std::vector<record::CountGroup> group_rows(CountedRun const& run) {
  if (run.launch.status != record::RowStatus::uncounted) return groups(run.module, run.counts, run.launch);
  record::CountGroup row;
  static_cast<record::CountedLaunch&>(row) = run.launch;
  return {row};
}

void FeatureRows::add(CountedRun const& run) {
  auto const sizes = [](record::CountedLaunch const& l) {
    return std::tie(l.kernel, l.case_name, l.grid_x, l.grid_y, l.grid_z, l.block_x, l.block_y, l.block_z,
                    l.shared_bytes, l.device);
  };
  auto at = std::find_if(configurations_.begin(), configurations_.end(),
                         [&](Configuration const& c) { return sizes(c.launch) == sizes(run.launch); });
  if (at == configurations_.end()) at = configurations_.insert(at, {run.launch, {}});
  auto const& l = run.launch;
  auto const counted = [&] {
    if (l.status == record::RowStatus::uncounted) return record::Feature{};
    return definition_ == record::FeatureDefinition::authors ? authors::features(run.module, run.counts)
                                                             : features(run.module, run.counts);
  };
  auto row = counted();
  row.definition = definition_;
  row.kernel = l.kernel;
  row.case_name = l.case_name;
  row.threads_per_cta = l.block_x * l.block_y * l.block_z;
  row.ctas = l.grid_x * l.grid_y * l.grid_z;
  row.status = l.status;
  row.reason = l.reason;
  at->launches.push_back(std::move(row));
}

std::vector<record::Feature> FeatureRows::rows() const {
  std::vector<record::Feature> out;
  for (auto const& configuration : configurations_) out.push_back(median(configuration.launches));
  return out;
}

struct RowWriter::State {
  std::optional<record::Writer<record::Count>> counts;
  std::optional<record::Writer<record::CountGroup>> groups;
  std::optional<record::Writer<record::Feature>> features;
  FeatureRows feature_rows;
};

RowWriter::RowWriter(std::ostream& out, std::string const& emit) : state_(std::make_unique<State>()) {
  if (emit == "groups")
    state_->groups.emplace(out);
  else if (emit == "features")
    state_->features.emplace(out);
  else
    state_->counts.emplace(out);
}
RowWriter::~RowWriter() = default;

void RowWriter::add(CountedRun const& run) {
  if (state_->features) state_->feature_rows.add(run);
  if (state_->counts)
    for (auto const& row : count_rows(run)) state_->counts->write(row);
  if (state_->groups)
    for (auto const& row : group_rows(run)) state_->groups->write(row);
}

void RowWriter::end() {
  if (state_->features)
    for (auto const& row : state_->feature_rows.rows()) state_->features->write(row);
  if (state_->features) state_->features->finish();
  if (state_->counts) state_->counts->finish();
  if (state_->groups) state_->groups->finish();
}

std::string sizes_text(record::CountedLaunch const& l) {
  bool const deep = l.grid_z * l.block_z > 1, wide = deep || l.grid_y * l.block_y > 1;
  auto text = [&](std::uint64_t x, std::uint64_t y, std::uint64_t z) {
    return deep ? fmt::format("{}x{}x{}", x, y, z) : wide ? fmt::format("{}x{}", x, y) : fmt::format("{}", x);
  };
  return text(l.grid_x * l.block_x, l.grid_y * l.block_y, l.grid_z * l.block_z) + "/" +
         text(l.block_x, l.block_y, l.block_z);
}

}  // namespace kernelcast::flux
