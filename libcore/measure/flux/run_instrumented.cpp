// Instrumented kernels on the emulator, and what their counters cost.
#include <map>
#include <memory>
#include <utility>

#include "kernels/ptx/parser.hpp"
#include "measure/flux/configurations.hpp"
#include "measure/flux/instrument.hpp"
#include "measure/flux/run.hpp"
#include "measure/flux/watching.hpp"

namespace kernelcast::flux {

namespace {

// Replaces the module, adds the banks as a buffer and an argument, and reads them after every launch.
class Instrumenting final : public launch::Watcher {
 public:
  Instrumenting(PlanOptions options, std::string only_kernel, Receiver const& receive)
      : options_(options), only_kernel_(std::move(only_kernel)), receive_(receive) {}

  void compiled(frontend::Compiled& compiled, launch::Plan& plan) override {
    auto made = instrument(*compiled.module, options_);
    plan_ = std::move(made.plan);
    original_ = std::exchange(compiled.module, ptx::parse(std::move(made.ptx), compiled.module->path));
    launch::Buffer banks;
    banks.name = "counters";
    banks.element = launch::Element::u64;
    buffer_ = plan.buffers.size();
    std::uint32_t largest = 8;
    for (auto& kernel : compiled.kernels) {
      auto const bytes = bank_bytes(plan_, index_of(kernel.name));
      if (bytes == 0) continue;
      largest = std::max(largest, bytes);
      kernel.arguments.push_back({banks.name, "", frontend::ArgumentKind::global_buffer, 8});
    }
    banks.count = std::uint64_t{largest} * options_.banks / 8;
    plan.buffers.push_back(banks);
    launch::Argument argument;
    argument.kind = launch::Argument::Kind::buffer;
    argument.buffer = buffer_;
    for (auto& call : plan.calls) {
      auto const& kernel = call.kernel.text.empty()
                               ? compiled.kernels.front()
                               : frontend::find_kernel(compiled.kernels, call.kernel.text, plan.request.path);
      if (bank_bytes(plan_, index_of(kernel.name))) call.arguments.push_back(argument);
    }
  }

  emu::Observer* begin(launch::LaunchView const& view) override {
    if (!only_kernel_.empty() && view.kernel != only_kernel_) return nullptr;
    observer_ = std::make_unique<CountObserver>(view.program);
    return observer_.get();
  }

  void end(launch::LaunchView const& view) override {
    auto const number = launches_++;
    auto const kernel = index_of(view.kernel);
    auto const bank = bank_bytes(plan_, kernel) / 8;
    auto const banks = view.buffers.bytes(buffer_);
    std::vector<std::uint64_t> words(bank, 0);
    auto* const raw = reinterpret_cast<std::uint64_t*>(banks.data());
    for (std::size_t w = 0; w < std::size_t{bank} * options_.banks; ++w) words[w % bank] += std::exchange(raw[w], 0);
    if (!observer_) return;
    auto const items = view.launch.grid.count() * view.launch.block.count();
    auto const counts = recover(*original_, plan_, kernel, items, words);
    auto const issues = observer_->issues();
    observer_.reset();
    receive_({counted_launch(view, number), *original_, counts, issues});
  }

  Plan const& plan() const { return plan_; }

 private:
  std::uint32_t index_of(std::string const& kernel) const {
    auto const* const found = original_->find_kernel(kernel);
    return static_cast<std::uint32_t>(found - original_->functions.data());
  }

  PlanOptions options_;
  std::string only_kernel_;
  Receiver const& receive_;
  Plan plan_;
  std::unique_ptr<ptx::Module> original_;
  std::size_t buffer_ = 0;
  std::unique_ptr<CountObserver> observer_;
  std::uint64_t launches_ = 0;
};

// Issue slots of a configuration.
struct Issues {
  std::uint64_t launches = 0;
  std::uint64_t plain = 0, minimal = 0, every_block = 0;
};

}  // namespace

std::map<std::string, Static, std::less<>> statics_of(ptx::Module const& module) {
  auto const plan = make_plan(module);
  Static shared;
  std::map<std::string, Static, std::less<>> out;
  for (auto const& p : plan.functions) {
    auto const& f = module.functions[p.function];
    auto& to = f.entry ? out[std::string(f.name)] : shared;
    to.blocks += p.graph.blocks;
    to.counters += p.measured.size();
  }
  for (auto& [name, of] : out) {
    of.blocks += shared.blocks;
    of.counters += shared.counters;
  }
  return out;
}

launch::Report count_instrumented(launch::Plan plan, launch::RunOptions options, PlanOptions plan_options,
                                  Receiver const& receive) {
  Instrumenting instrumenting(plan_options, options.only_kernel, receive);
  options.watcher = &instrumenting;
  options.groups = launch::parse_groups("all");
  return launch::run(std::move(plan), options);
}

std::vector<record::CountOverhead> overhead(launch::Plan const& plan, launch::RunOptions const& options) {
  Configurations<Issues> configurations;
  std::map<std::string, Static, std::less<>> statics;
  count(plan, options, Sample::all, [&](CountedRun const& run) {
    auto& c = configurations.of(run.launch);
    c.plain += run.issues;
    ++c.launches;
    if (statics.empty()) statics = statics_of(run.module);
  });
  std::string refusal;
  try {
    count_instrumented(plan, options, {},
                       [&](CountedRun const& run) { configurations.of(run.launch).minimal += run.issues; });
    PlanOptions every;
    every.scheme = Scheme::every_block;
    every.guards = false;
    count_instrumented(plan, options, every,
                       [&](CountedRun const& run) { configurations.of(run.launch).every_block += run.issues; });
  } catch (Error const& error) {
    if (error.status() != Status::bad_data) throw;
    refusal = error.what();
  }
  std::vector<record::CountOverhead> rows;
  for (auto const& [launch, c] : configurations) {
    auto& row = rows.emplace_back();
    row.kernel = launch.kernel;
    row.case_name = launch.case_name;
    row.launches = c.launches;
    row.blocks = statics[launch.kernel].blocks;
    row.counters = statics[launch.kernel].counters;
    row.issues_w32 = static_cast<double>(c.plain);
    if (!refusal.empty()) {
      row.status = record::RowStatus::uncounted;
      row.reason = refusal;
      continue;
    }
    row.issues_minimal_w32 = static_cast<double>(c.minimal);
    row.issues_every_block_w32 = static_cast<double>(c.every_block);
    row.overhead = *row.issues_minimal_w32 / *row.issues_w32;
    row.overhead_every_block = *row.issues_every_block_w32 / *row.issues_w32;
  }
  return rows;
}

}  // namespace kernelcast::flux
