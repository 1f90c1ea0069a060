#include "runtimes/cudart/rows.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <numeric>
#include <sstream>
#include <tuple>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "emulator/cluster.hpp"
#include "emulator/launch/kernel_record.hpp"
#include "records/table/table.hpp"
#include "runtimes/attach/text.hpp"
#include "runtimes/cudart/devices.hpp"
#include "runtimes/cudart/errors.hpp"

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
  void barrier(std::uint32_t instruction, emu::Lanes const& lanes, std::uint32_t number,
               std::uint32_t threads) override {
    if (passing_) inner_->barrier(instruction, lanes, number, threads);
  }
  void product(std::uint32_t instruction, std::uint32_t lane, char const* kind, double flop) override {
    if (passing_) inner_->product(instruction, lane, kind, flop);
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

CountedLaunch::CountedLaunch(Kernel const& kernel, emu::Launch const& launch, launch::GroupChoice const& groups,
                             std::uint64_t number)
    : kernel_(kernel), launch_(launch), number_(number), counters_(*kernel.ready) {
  if (groups.kind == launch::GroupChoice::Kind::spread)
    spread_.emplace(launch.grid, emu::runs_together(*kernel.ready, launch) || kernel.ready->order_dependent());
  else
    chosen_ = launch::choose_groups(groups, launch.grid.count());
  sample_ = std::make_unique<launch::GroupSample>(*kernel.ready, launch.grid);
}

emu::Outcome CountedLaunch::run(emu::Memory& memory, emu::Limits const& limits, unsigned threads,
                                attach::LaunchBudget const& budget, std::span<emu::Observer* const> also,
                                std::function<void()> const& seen) {
  Run const with{memory, limits, threads, budget, also, seen};
  // Groups that may wait for each other run together, with a budget those of a small grid; others apart from those that
  // are counted, which is faster.
  bool const is_small = launch_.grid.count() <= launch::spread_ordered_groups;
  bool const together = emu::runs_together(*kernel_.ready, launch_) ||
                        (kernel_.ready->order_dependent() && (is_small || !budget.bounded()));
  if (!together) return run_in_parts(with);
  auto const outcome = run_together(with);
  whole_steps_ = outcome.warp_instructions;
  return outcome;
}

emu::Outcome CountedLaunch::run_together(Run const& with) {
  if (spread_) {  // they all run: no need to count the first ones
    spread_.emplace(launch_.grid, false);
    chosen_ = spread_->take(launch::spread_cheap_groups);
  }
  GroupFilter counted(counters_, chosen_);
  std::vector<emu::Observer*> observers{&counted};
  observers.insert(observers.end(), with.also.begin(), with.also.end());
  if (sample_) observers.push_back(&sample_->observer());
  return emu::run(*kernel_.ready, launch_, with.memory, groups_between(0, launch_.grid.count()), observers, with.limits,
                  with.threads);
}

// Of several groups none is sampled.
bool CountedLaunch::run_some(Run const& with, std::span<std::uint64_t const> groups, bool counts) {
  if (groups.empty()) return true;
  std::vector<emu::Observer*> observers;
  if (counts) observers.push_back(&counters_);
  auto const watch = [&](launch::GroupSample& sample) {
    if (groups.size() == 1 && std::ranges::binary_search(sample.groups(), groups[0]))
      observers.push_back(&sample.observer());
  };
  if (sample_) watch(*sample_);
  for (auto const& candidate : candidates_) watch(*candidate);
  observers.insert(observers.end(), with.also.begin(), with.also.end());
  auto some = emu::run(*kernel_.ready, launch_, with.memory, groups, observers, with.limits, with.threads);
  some.warp_instructions += outcome_.warp_instructions;
  outcome_ = std::move(some);
  executed_ += groups.size();
  whole_steps_ = outcome_.warp_instructions / executed_ * launch_.grid.count();
  return outcome_.ending == emu::Ending::done;
}

void CountedLaunch::reconsider_sample() {
  if (!sample_) return;
  auto const worth = launch::worth_sampling(launch_.grid, outcome_.warp_instructions / executed_);
  if (worth == launch::Worth::nothing) sample_.reset();
  if (worth == launch::Worth::middle) sample_->leave_out_neighbours();
}

// The groups of all samples, ascending.
std::vector<std::uint64_t> CountedLaunch::sampled() const {
  auto out = sample_ ? sample_->groups() : std::vector<std::uint64_t>{};
  for (auto const& candidate : candidates_)
    out.insert(out.end(), candidate->groups().begin(), candidate->groups().end());
  std::ranges::sort(out);
  out.erase(std::ranges::unique(out).begin(), out.end());
  return out;
}

// Groups that are counted, ascending, the samples' apart.
bool CountedLaunch::run_chosen(Run const& with, std::span<std::uint64_t const> groups) {
  for (auto const group : sampled()) {
    auto const at = std::ranges::lower_bound(groups, group);
    if (at == groups.end() || *at != group) continue;
    auto const before = static_cast<std::size_t>(at - groups.begin());
    if (!run_some(with, groups.first(before), true)) return false;
    if (!run_some(with, groups.subspan(before, 1), true)) return false;
    reconsider_sample();
    groups = groups.subspan(before + 1);
  }
  return run_some(with, groups, true);
}

// Of the groups that run next, where the middle is unlike those before them.
void CountedLaunch::add_candidates(std::span<std::uint64_t const> groups) {
  constexpr std::size_t most = 64;
  if (!sample_ || !sample_->has_neighbours() || executed_ == 0 || candidates_.size() >= most) return;
  launch::Likeness const likeness(launch_.grid, chosen_, counters_);
  auto const is_near = [&](auto const& candidate) { return likeness.distance(candidate->group()) <= 1; };
  if (likeness.middle_is_typical() || std::ranges::any_of(candidates_, is_near)) return;
  auto const step = std::max<std::size_t>(1, groups.size() / (most - candidates_.size()));
  for (std::size_t i = 0; i < groups.size() && candidates_.size() < most; i += step) {
    if (!launch::has_next_neighbours(launch_.grid, groups[i])) continue;
    auto sample = std::make_unique<launch::GroupSample>(*kernel_.ready, launch_.grid, groups[i]);
    auto const has_run = [&](auto group) { return std::ranges::binary_search(chosen_, group); };
    if (std::ranges::none_of(sample->groups(), has_run)) candidates_.push_back(std::move(sample));
  }
}

// Twice as many at a time, so that those before say whether candidates are needed.
bool CountedLaunch::run_spread(Run const& with, std::span<std::uint64_t const> groups) {
  while (!groups.empty()) {
    auto const piece = groups.first(std::min(groups.size(), std::max<std::size_t>(chosen_.size(), 8)));
    add_candidates(piece);
    if (!run_chosen(with, piece)) return false;
    chosen_.insert(chosen_.end(), piece.begin(), piece.end());
    std::ranges::sort(chosen_);
    groups = groups.subspan(piece.size());
  }
  return true;
}

// The group that is profiled: the middle one, or the candidate that is nearest to all that were counted.
void CountedLaunch::choose_sample() {
  auto candidates = std::exchange(candidates_, {});
  if (candidates.empty() || !sample_) return;
  launch::Likeness const likeness(launch_.grid, chosen_, counters_);
  if (likeness.middle_is_typical()) return;
  auto const distance = [&](auto const& candidate) { return likeness.distance(candidate->group()); };
  auto& best = *std::ranges::min_element(candidates, {}, distance);
  if (distance(best) < likeness.distance(sample_->group())) sample_ = std::move(best);
}

emu::Outcome CountedLaunch::run_in_parts(Run const& with) {
  auto const total = launch_.grid.count();
  auto const is_in = [](std::vector<std::uint64_t> const& groups, std::uint64_t group) {
    return std::ranges::binary_search(groups, group);
  };
  auto const next_in = [&](std::vector<std::uint64_t> const& groups, std::uint64_t from) {
    auto const at = std::ranges::lower_bound(groups, from);
    return at == groups.end() ? total : *at;
  };
  std::vector<std::uint64_t> counted;  // before the others
  if (spread_) {
    for (auto some = spread_->next(counters_); !some.empty(); some = spread_->next(counters_))
      if (!run_spread(with, some)) return outcome_;
    counted = chosen_;
    choose_sample();
  } else if (chosen_.size() == total) {
    if (!run_chosen(with, chosen_)) return outcome_;
    counted = chosen_;
  }
  if (executed_ > 0) reconsider_sample();
  if (spread_ && !kernel_.ready->order_dependent() && is_long(with.budget)) {
    auto const sampled = sample_ ? sample_->groups() : std::vector<std::uint64_t>{};
    for (auto const group : sampled) {
      if (is_in(counted, group) || !sample_ || !is_in(sample_->groups(), group)) continue;
      if (!run_some(with, std::array{group}, false)) return outcome_;
      reconsider_sample();
      counted.insert(std::ranges::lower_bound(counted, group), group);
    }
    with.seen();
  }
  for (std::uint64_t done = 0; done < total;) {
    if (is_in(counted, done)) {
      ++done;
      continue;
    }
    bool const chosen = is_in(chosen_, done), sampled = sample_ && is_in(sample_->groups(), done);
    if (chosen || sampled) {
      if (!run_some(with, std::array{done}, chosen)) return outcome_;
      reconsider_sample();
      ++done;
      continue;
    }
    std::uint64_t const next = std::min(next_in(chosen_, done), sample_ ? next_in(sample_->groups(), done) : total);
    auto const share_left = static_cast<double>(total - done) / static_cast<double>(total);
    auto const steps_left = static_cast<std::uint64_t>(static_cast<double>(whole_steps_) * share_left);
    whole_ = whole_ && with.budget.affords(whole_steps_, steps_left);
    // A few at a time: the groups so far may have had less to do than others.
    std::uint64_t const end =
        with.budget.bounded() ? std::min(next, done + std::max<std::uint64_t>(executed_, 1)) : next;
    if (whole_ && !run_some(with, groups_between(done, end), false)) return outcome_;
    done = whole_ ? end : next;
  }
  return outcome_;
}

// What is left of it takes so long that its row should not wait for it.
bool CountedLaunch::is_long(attach::LaunchBudget const& budget) const {
  constexpr double long_s = 1;
  auto const share_left = 1 - static_cast<double>(executed_) / static_cast<double>(launch_.grid.count());
  return budget.seconds_for(static_cast<std::uint64_t>(static_cast<double>(whole_steps_) * share_left)) > long_s;
}

double CountedLaunch::growth(emu::Memory const& memory) const {
  auto const total = launch_.grid.count();
  if (chosen_.size() == total) return 1;
  if (sample_ && sample_->has_neighbours()) return sample_->growth(chosen_, memory).factor;
  return static_cast<double>(total) / static_cast<double>(chosen_.size());
}

std::string case_of(emu::Launch const& launch) {
  auto const& [grid, block] = std::tie(launch.grid, launch.block);
  emu::Dim3 const global{grid.x * block.x, grid.y * block.y, grid.z * block.z};
  return launch::sizes_text(global, block, global.z > 1 ? 3 : global.y > 1 ? 2 : 1);
}

record::Kernel CountedLaunch::row(emu::Memory const& memory) const {
  record::Kernel row;
  auto const& [grid, block] = std::tie(launch_.grid, launch_.block);
  row.kernel = kernel_.name_in_rows;
  row.source = kernel_.source;
  row.source_text = kernel_.source_text;
  row.case_name = case_of(launch_);
  launch::fill_sizes(row, grid, block);
  row.groups_total = grid.count();
  row.groups_emulated = chosen_.size();
  row.shared_bytes = kernel_.ready->static_shared_bytes() + launch_.dynamic_shared_bytes;
  row.spread_pct = counters_.spread_pct();
  if (chosen_.size() == grid.count())
    row.sampling_error_pct = 0;
  else if (spread_)
    row.sampling_error_pct = spread_->error_pct(counters_);
  auto const counters = counters_.counters();
  launch::fill_counters(row, counters);
  launch::fill_warp(row, kernel_.ready->kernel(), {});
  row.runs_on = launch::architecture_alone(*kernel_.program->module);
  if (sample_) sample_->fill(row.group, memory);
  std::uint64_t memory_bytes = 0;
  for (auto const& buffer : memory.buffers()) memory_bytes += (buffer.size + 31) / 32 * 32;
  row.global_footprint_bytes =
      launch::footprint_bytes(static_cast<double>(counters.global_footprint_bytes), growth(memory), memory_bytes);
  return row;
}

Rows::Rows(attach::Settings const& settings)
    : groups_(settings.groups.empty() ? launch::GroupChoice{} : launch::parse_groups(settings.groups)),
      budget_(settings.budget, settings.budget_seconds) {
  if (!settings.row_spool.empty()) policy_.emplace(attach::Spool(settings.row_spool), settings.every);
}

Rows::Begun Rows::begin(Kernel const& kernel, emu::Launch const& launch, std::uint64_t allocated_bytes) {
  if (!policy_) return {};
  auto const& [grid, block] = std::tie(launch.grid, launch.block);
  auto const counted =
      policy_->count(&kernel, {3, {grid.x, grid.y, grid.z}, {block.x, block.y, block.z}, launch.dynamic_shared_bytes},
                     allocated_bytes);
  Begun out;
  if (counted.launches) out.configuration = policy_->spool().number_of(counted.launches);
  if (counted.number) out.counted = std::make_unique<CountedLaunch>(kernel, launch, groups_, *counted.number);
  return out;
}

void Rows::touch(std::uint64_t configuration, emu::Launch const& launch, emu::Memory const& memory,
                 launch::TouchHistory& history) {
  auto const known = known_.find(configuration);
  if (known == known_.end()) return;
  auto const& [touched, footprint_bytes] = known->second;
  note(configuration, history.touch(touched.by(launch, memory)).scaled(footprint_bytes));
}

void Rows::note(std::uint64_t configuration, record::Powers const& found) {
  auto* const totals = policy_->totals(configuration);
  if (!totals) return;
  for (std::size_t k = 0; k < found.size(); ++k) totals[k] += found[k];
  totals[attach::max_totals - 1] += 1;
}

namespace {

// The file of the application that holds a program of HIP, and which source it was made of; empty where it is of CUDA.
std::string object_of(Program const& program) {
  Dl_info found{};
  bool const known = is_hip() && !program.fatbins.empty() && dladdr(program.fatbins.front(), &found) != 0;
  std::error_code error;
  auto const path = known ? std::filesystem::canonical(found.dli_fname, error) : std::filesystem::path();
  return error ? std::string() : path.string();
}

}  // namespace

std::string Rows::finish(CountedLaunch const& counted, Kernel const& kernel, emu::Memory const& memory,
                         launch::TouchHistory& history) {
  auto const& spool = policy_->spool();
  auto row = counted.row(memory);
  auto const& [touched, footprint_bytes] =
      known_[counted.number()] = {counted.touched(memory), row.global_footprint_bytes};
  auto const found = history.touch(touched.by(counted.launch(), memory)).scaled(footprint_bytes);
  note(counted.number(), found);
  row.touched_before = record::text_of(found);
  auto const& text = kernel.program->module->text;
  if (kernel.program->file.empty()) {
    kernel.program->file = attach::program_name(text, ".ptx");
    spool.publish(kernel.program->file, text);
  }
  spool.publish(spool.name("kernel", counted.number(), ".txt"),
                fmt::format("{}\n{}\n{}\n", kernel.name, kernel.program->file, object_of(*kernel.program)));
  spool.publish(spool.name("entries", counted.number(), ".txt"),
                fmt::format("{}\n{}\n", fmt::join(counted.entries(32), " "), fmt::join(counted.entries(64), " ")));
  publish(row, counted.number());
  return row.touched_before;
}

void Rows::publish(record::Kernel const& row, std::uint64_t number) const {
  std::ostringstream out;
  record::Writer<record::Kernel> writer(out);
  writer.write(row);
  writer.finish();
  policy_->spool().publish(policy_->spool().name("row", number, ".csv"), out.str());
}

std::optional<std::uint64_t> Rows::library_called(LibraryCall const& made, std::uint64_t allocated_bytes, bool keep) {
  if (!policy_) return std::nullopt;
  auto& cases = calls_[made.kernel];
  auto const number = cases.try_emplace(made.case_name + ' ' + made.library, cases.size()).first->second;
  auto const counted = policy_->count(&cases, {1, {number, 0, 0}, {}, 0}, allocated_bytes);
  auto const& spool = policy_->spool();
  if (counted.number) {
    record::Kernel row;
    row.kernel = made.kernel;
    row.case_name = made.case_name;
    row.library = made.library;
    row.library_flop = made.flop;
    for (auto const& operand : made.operands) {
      auto const bytes = static_cast<double>(operand.touched_bytes);
      row.global_footprint_bytes += bytes;
      if (operand.read) row.global_load_bytes += made.passes * bytes;
      if (operand.written) row.global_store_bytes += made.passes * bytes;
    }
    publish(row, *counted.number);
    if (keep)
      spool.publish(spool.name("unkept", *counted.number, ".txt"),
                    made.kernel + "\nit is a library's, whose kernels are machine code\n");
  }
  return counted.launches ? std::optional(spool.number_of(counted.launches)) : std::nullopt;
}

void Rows::skip(CountedLaunch const& counted, Kernel const& kernel, std::string const& why) {
  auto const& spool = policy_->spool();
  spool.publish(spool.name("skipped", counted.number(), ".txt"), kernel.name_in_rows + '\n' + why + '\n');
}

}  // namespace kernelcast::cudart
