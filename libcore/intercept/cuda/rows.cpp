#include "intercept/cuda/rows.hpp"

#include <algorithm>
#include <numeric>
#include <sstream>
#include <tuple>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "intercept/cuda/errors.hpp"
#include "intercept/text.hpp"
#include "launch/kernel_record.hpp"
#include "record/table.hpp"

namespace kernelcast::cudart {

namespace {

// Passes on what some groups do, of all that run.
class GroupFilter final : public emu::Observer {
 public:
  GroupFilter(emu::Observer& inner, std::vector<std::uint64_t> const& groups) : inner_(&inner), groups_(groups) {}
  void group_begin(std::uint64_t group) override {
    passing_ = std::binary_search(groups_.begin(), groups_.end(), group);
    if (passing_) inner_->group_begin(group);
  }
  void group_end() override {
    if (passing_) inner_->group_end();
  }
  void block(std::uint32_t block, emu::Lanes const& lanes) override {
    if (passing_) inner_->block(block, lanes);
  }
  void guarded(std::uint32_t instruction, emu::Lanes const& lanes) override {
    if (passing_) inner_->guarded(instruction, lanes);
  }
  void memory(emu::MemoryAccess const& access) override {
    if (passing_) inner_->memory(access);
  }
  void branch(std::uint32_t instruction, emu::Lanes const& executing, emu::Lanes const& taking) override {
    if (passing_) inner_->branch(instruction, executing, taking);
  }
  void barrier(std::uint32_t instruction, emu::Lanes const& lanes) override {
    if (passing_) inner_->barrier(instruction, lanes);
  }
  std::unique_ptr<emu::Observer> fork() const override {
    auto forked = inner_->fork();
    auto out = std::make_unique<GroupFilter>(*forked, groups_);
    out->own_ = std::move(forked);
    return out;
  }
  void join(emu::Observer const& other) override { inner_->join(*dynamic_cast<GroupFilter const&>(other).inner_); }

 private:
  emu::Observer* inner_;
  std::vector<std::uint64_t> const& groups_;
  std::unique_ptr<emu::Observer> own_;  // of a fork
  bool passing_ = false;
};

std::vector<std::uint64_t> groups_between(std::uint64_t begin, std::uint64_t end) {
  std::vector<std::uint64_t> out(end - begin);
  std::iota(out.begin(), out.end(), begin);
  return out;
}

}  // namespace

CountedLaunch::CountedLaunch(Kernel const& kernel, emu::Launch const& launch, launch::GroupChoice groups,
                             std::uint64_t number)
    : kernel_(kernel),
      launch_(launch),
      number_(number),
      chosen_(launch::choose_groups(std::move(groups), launch.grid.count())),
      counters_(*kernel.ready) {
  sample_.emplace(*kernel.ready, launch.grid);
}

emu::Outcome CountedLaunch::run(emu::Memory& memory, emu::Limits const& limits, unsigned threads, Budget const& budget,
                                emu::Observer* also) {
  // Groups that may wait for each other run together; others apart from those that are counted, which is faster.
  bool const together = launch_.cooperative || (kernel_.ready->order_dependent() && !budget.bounded());
  if (!together) return run_in_parts(memory, limits, threads, budget, also);
  auto const outcome = run_together(memory, limits, threads, also);
  whole_steps_ = outcome.warp_instructions;
  return outcome;
}

emu::Outcome CountedLaunch::run_together(emu::Memory& memory, emu::Limits const& limits, unsigned threads,
                                         emu::Observer* also) {
  GroupFilter counted(counters_, chosen_);
  std::vector<emu::Observer*> observers{&counted};
  if (also) observers.push_back(also);
  if (sample_) observers.push_back(&sample_->observer());
  return emu::run(*kernel_.ready, launch_, memory, groups_between(0, launch_.grid.count()), observers, limits, threads);
}

emu::Outcome CountedLaunch::run_in_parts(emu::Memory& memory, emu::Limits const& limits, unsigned threads,
                                         Budget const& budget, emu::Observer* also) {
  auto const total = launch_.grid.count();
  emu::Outcome outcome;
  std::uint64_t executed = 0;  // groups
  auto const run_some = [&](std::uint64_t first, std::uint64_t end, std::vector<emu::Observer*> observers) {
    if (also) observers.push_back(also);
    auto some = emu::run(*kernel_.ready, launch_, memory, groups_between(first, end), observers, limits, threads);
    some.warp_instructions += outcome.warp_instructions;
    outcome = std::move(some);
    executed += end - first;
    whole_steps_ = outcome.warp_instructions / executed * total;
    return outcome.ending == emu::Ending::done;
  };
  bool const all = chosen_.size() == total;
  std::uint64_t done = 0;
  while (done < total) {
    auto const in = [&](std::vector<std::uint64_t> const& groups) {
      return std::lower_bound(groups.begin(), groups.end(), done);
    };
    std::vector<std::uint64_t> const none;
    auto const& sampled = sample_ ? sample_->groups() : none;
    auto const next_chosen = in(chosen_), next_sampled = in(sampled);
    auto const next_of = [&](auto at, auto const& groups) { return at == groups.end() ? total : *at; };
    std::uint64_t const next = std::min(all ? total : next_of(next_chosen, chosen_), next_of(next_sampled, sampled));
    whole_ = whole_ && (all || budget.affords(whole_steps_));
    if (next > done) {
      // A few at a time: the first group may have had less to do than others.
      std::uint64_t const end = budget.bounded() ? std::min(next, done * 2 + 1) : next;
      std::vector<emu::Observer*> counted;
      if (all) counted.push_back(&counters_);
      if (whole_ && !run_some(done, end, counted)) break;
      done = whole_ ? end : next;
      continue;
    }
    std::vector<emu::Observer*> observers;
    if (next_chosen != chosen_.end() && *next_chosen == done) observers.push_back(&counters_);
    if (next_sampled != sampled.end() && *next_sampled == done) observers.push_back(&sample_->observer());
    if (!run_some(done, done + 1, observers)) break;
    ++done;
    if (!sample_) continue;
    auto const worth = launch::worth_sampling(launch_.grid, outcome.warp_instructions / executed);
    if (worth == launch::Worth::nothing) sample_.reset();
    if (worth == launch::Worth::middle) sample_->leave_out_neighbours();
  }
  if (!whole_)
    report("a launch exceeds --budget: groups that are not counted do not run, and their results are missing");
  return outcome;
}

record::Kernel CountedLaunch::row(emu::Memory const& memory) const {
  record::Kernel row;
  auto const& [grid, block] = std::tie(launch_.grid, launch_.block);
  emu::Dim3 const global{grid.x * block.x, grid.y * block.y, grid.z * block.z};
  row.kernel = kernel_.name;
  row.case_name = launch::sizes_text(global, block, global.z > 1 ? 3 : global.y > 1 ? 2 : 1);
  launch::fill_sizes(row, grid, block);
  row.groups_total = grid.count();
  row.groups_emulated = chosen_.size();
  row.shared_bytes = kernel_.ready->static_shared_bytes() + launch_.dynamic_shared_bytes;
  row.spread_pct = counters_.spread_pct();
  auto const counters = counters_.counters();
  launch::fill_counters(row, counters);
  double const growth = row.groups_emulated == row.groups_total ? 1
                        : sample_ && sample_->has_neighbours()
                            ? sample_->growth(chosen_).factor
                            : static_cast<double>(row.groups_total) / static_cast<double>(row.groups_emulated);
  if (sample_) sample_->fill(row.group);
  std::uint64_t memory_bytes = 0;
  for (auto const& buffer : memory.buffers()) memory_bytes += (buffer.size + 31) / 32 * 32;
  row.global_footprint_bytes =
      launch::footprint_bytes(static_cast<double>(counters.global_footprint_bytes), growth, memory_bytes);
  return row;
}

Rows::Rows(Settings const& settings) : groups_(settings.groups), budget_(settings.budget) {
  if (!settings.spool.empty()) policy_.emplace(settings.spool, settings.every);
}

Rows::Begun Rows::begin(Kernel const& kernel, emu::Launch const& launch) {
  if (!policy_) return {};
  auto const& [grid, block] = std::tie(launch.grid, launch.block);
  auto const counted =
      policy_->count(&kernel, {{grid.x, grid.y, grid.z}, {block.x, block.y, block.z}, launch.dynamic_shared_bytes});
  Begun out;
  if (counted.launches) out.configuration = policy_->spool().number_of(counted.launches);
  if (counted.number) out.counted = std::make_unique<CountedLaunch>(kernel, launch, groups_, *counted.number);
  return out;
}

void Rows::finish(CountedLaunch const& counted, Kernel const& kernel, emu::Memory const& memory) {
  auto const& spool = policy_->spool();
  auto const& text = kernel.program->module->text;
  if (kernel.program->file.empty()) {
    kernel.program->file = intercept::program_name(text, ".ptx");
    spool.publish(kernel.program->file, text);
  }
  spool.publish(spool.name("kernel", counted.number(), ".txt"), kernel.name + '\n' + kernel.program->file + '\n');
  spool.publish(spool.name("entries", counted.number(), ".txt"),
                fmt::format("{}\n", fmt::join(counted.entries(), " ")));
  std::ostringstream out;
  record::Writer<record::Kernel> writer(out);
  writer.write(counted.row(memory));
  writer.finish();
  spool.publish(spool.name("row", counted.number(), ".csv"), out.str());
}

void Rows::skip(CountedLaunch const& counted, Kernel const& kernel, std::string const& why) {
  auto const& spool = policy_->spool();
  spool.publish(spool.name("skipped", counted.number(), ".txt"), kernel.name + '\n' + why + '\n');
}

}  // namespace kernelcast::cudart
