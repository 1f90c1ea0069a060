// run(): compile, bind, emulate, and one record per configuration.

#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "base/process/process.hpp"
#include "emulator/launch/compilations.hpp"
#include "emulator/launch/detail_records.hpp"
#include "emulator/launch/group_sample.hpp"
#include "emulator/launch/history.hpp"
#include "emulator/launch/kernel_record.hpp"
#include "emulator/launch/machine_code.hpp"
#include "emulator/launch/spread.hpp"
#include "emulator/launch/trace_observer.hpp"
#include "emulator/passed_over.hpp"

namespace kernelcast::launch {

namespace {

class Stopwatch {
 public:
  double s() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count(); }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

// Line `number` of a text file, for messages; empty where it cannot be read.
std::string line_of(std::string const& path, std::size_t number) {
  std::ifstream file(path);
  std::string line;
  for (std::size_t i = 0; i < number; ++i)
    if (!std::getline(file, line)) return {};
  return line;
}

std::vector<std::byte> read_bytes(std::string const& path, std::uint64_t bytes, Buffer const& buffer) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file) throw Error(Status::io, Where{path, 0, 0}, "cannot read the file of --check", "is the name right?");
  auto const length = static_cast<std::uint64_t>(file.tellg());
  if (length != bytes)
    throw Error(Status::bad_data, Where{path, 0, 0},
                fmt::format("{} bytes, but buffer '{}' has {}", length, buffer.name, bytes),
                "the file holds the elements' bytes, little endian, as --dump writes them");
  std::vector<std::byte> content(bytes);
  file.seekg(0);
  if (!file.read(reinterpret_cast<char*>(content.data()), static_cast<std::streamsize>(bytes)))
    throw Error(Status::io, Where{path, 0, 0}, "the file could not be read to its end", "is it still being written?");
  return content;
}

class Runner {
 public:
  Runner(Plan plan, RunOptions const& options)
      : plan_(std::move(plan)),
        options_(options),
        machine_code_(options.machine_targets, plan_.request.cache, plan_.request.time_limit_s,
                      [this](std::string text) { report_.notes.push_back(std::move(text)); }) {}

  Report run() {
    Stopwatch const compiling;
    plan_.request.fence_flags = options_.check_options.races && frontend::is_opencl(plan_.request.path);
    compilation_ = options_.compilations && !options_.watcher ? options_.compilations->find(plan_.request)
                                                              : Compilations().find(plan_.request);
    report_.notes = compiled().notes;
    report_.times.compile_s = compiling.s();
    if (options_.watcher) options_.watcher->compiled(compiled(), plan_);
    for (auto const& call : plan_.calls) prepare(call);
    if (plan_.case_name.empty()) name_buffers();

    Stopwatch const filling;
    emu::Memory memory(options_.max_memory_bytes);
    memory.limit_heap(options_.heap_bytes);
    Buffers const buffers(plan_, options_.seed, memory);
    report_.times.buffers_s = filling.s();
    for (auto const* const files : {&options_.dumps, &options_.checks})
      for (auto const& file : *files) buffers.find(file);

    if (auto checks = options_.check_options; checks.any()) {
      checks.stops = !options_.goes_on;
      checks_ = std::make_unique<emu::Checks>(checks, memory);
    }
    if (options_.begins) options_.begins();
    std::size_t ended = 0;
    Stopwatch said;
    for (std::size_t const calls = calls_to_run(); ended < calls && !report_.stopped; ++ended) {
      if (options_.progress && ended > 0 && said.s() >= 0.5) options_.progress(ended, calls), said = Stopwatch();
      launch(plan_.calls[ended], buffers, memory);
    }
    if (report_.stopped) {
      report_.notes.push_back(fmt::format("stopped: the rows are of {} of {} launches", ended - 1, calls_to_run()));
      finish(memory);
      return std::move(report_);
    }
    if (!options_.goes_on) refuse_findings(nullptr);
    for (auto& [name, kernel] : kernels_) report_.times.decode_s += kernel.decode_s;
    if (options_.ends) options_.ends(buffers);
    for (auto const& file : options_.dumps) {
      auto const bytes = buffers.bytes(buffers.find(file));
      replace_file(file.path, {reinterpret_cast<char const*>(bytes.data()), bytes.size()});
    }
    auto differing = differences(buffers);
    if (!options_.goes_on) throw_all(std::move(differing));
    finish(memory);
    note_checks();
    if (options_.goes_on) {
      auto errors = found(nullptr);
      std::ranges::move(differing, std::back_inserter(errors));
      report_.finding = joined(std::move(errors));
    }
    return std::move(report_);
  }

 private:
  struct Kernel {
    frontend::KernelInfo const* info = nullptr;
    ptx::Function const* function = nullptr;
    emu::Program const* program = nullptr;
    double decode_s = 0;
  };
  using Key = std::tuple<std::string, std::array<std::uint32_t, 6>, std::uint64_t>;
  struct Configuration {
    record::Kernel row;
    Kernel const* kernel = nullptr;
    std::unique_ptr<emu::KernelObserver> observer;
    std::unique_ptr<emu::InstructionObserver> detail;
    std::unique_ptr<TraceObserver> trace;
    std::unique_ptr<GroupSample> sample;  // of the first launch, where it ran whole
    std::optional<Spread> spread;         // of --groups spread: which groups of the first launch
    emu::Launch first_launch;
    std::vector<std::uint64_t> first_groups;  // emulated of it
    std::optional<Touched> touched;           // by it
    std::uint64_t first_touched_bytes = 0;    // by the groups of it that are emulated
    record::Powers touched_before{};          // by distance, as parts of what a launch touches, of all launches
    record::Powers said_before{};             // bytes, by the launch file
    bool knows_before = false;
    std::uint64_t warp_instructions = 0;
    double emulation_s = 0;
    bool cut = false;  // its last launch did not end
  };

  frontend::Compiled& compiled() const { return compilation_->compiled; }

  bool is_reported(std::string const& kernel, std::string const& case_name) const {
    return (options_.only_kernel.empty() || kernel == options_.only_kernel) &&
           (!options_.only || options_.only->has(kernel, case_name));
  }

  // Launches behind the last one that is reported change nothing that is.
  std::size_t calls_to_run() {
    std::size_t n = plan_.calls.size();
    bool const others = options_.check_options.any() || !options_.dumps.empty() || !options_.checks.empty();
    if (!options_.only || plan_.case_name.empty() || others) return n;
    while (n > 0 && !is_reported(prepare(plan_.calls[n - 1]).info->name, plan_.case_name)) --n;
    return n;
  }

  Kernel& prepare(Call const& call) {
    auto const found = kernels_.find(call.kernel.text);
    if (found != kernels_.end()) return found->second;
    Kernel kernel;
    kernel.info = &find_kernel(call);
    kernel.function = compiled().module->find_kernel(kernel.info->name);
    Stopwatch const decoding;
    auto& program = compilation_->programs[kernel.info->name];
    if (!program) program = std::make_unique<emu::Program>(*compiled().module, *kernel.function);
    kernel.program = program.get();
    kernel.decode_s = decoding.s();
    return kernels_.emplace(call.kernel.text, kernel).first->second;
  }

  // Buffers of the command line are called as the kernel calls them.
  void name_buffers() {
    for (auto const& call : plan_.calls) {
      auto const& names = prepare(call).info->arguments;
      for (std::size_t i = 0; i < std::min(names.size(), call.arguments.size()); ++i)
        name_argument(call.arguments[i], names[i].name);
      for (auto const& [name, argument] : call.bindings) name_argument(argument, name.text);
    }
  }

  void name_argument(Argument const& argument, std::string const& name) {
    if (argument.kind == Argument::Kind::buffer) plan_.buffers[argument.buffer].name = name;
    if (argument.kind != Argument::Kind::image) return;
    Image& image = plan_.images[argument.buffer];
    image.name = name;
    if (!image.shares_buffer) plan_.buffers[image.buffer].name = name;
  }

  frontend::KernelInfo const& find_kernel(Call const& call) const {
    auto const& kernels = compiled().kernels;
    if (!call.kernel.text.empty()) return frontend::find_kernel(kernels, call.kernel.text, plan_.request.path);
    if (kernels.size() == 1) return kernels.front();
    std::string names;
    for (auto const& kernel : kernels) names += (names.empty() ? "" : ", ") + kernel.name;
    throw Error(Status::usage, Where{plan_.request.path, 0, 0},
                kernels.empty() ? "the file has no kernel" : fmt::format("the file has {} kernels", kernels.size()),
                kernels.empty() ? "a kernel is __kernel void f(...) or __global__ void f(...)"
                                : fmt::format("name one with -k: {}", names));
  }

  void launch(Call const& call, Buffers const& buffers, emu::Memory& memory) {
    Kernel& kernel = prepare(call);
    Bound bound = bind(call, *kernel.info, *kernel.function, kernel.program->static_shared_bytes(), buffers);
    bind_references(call, *compiled().module, buffers, memory);
    Configuration& configuration = find_configuration(kernel, bound, call);
    auto const total = bound.launch.grid.count();
    bound.launch.stack_bytes = options_.stack_bytes;
    bound.launch.print = options_.print;
    bool const first = configuration.first_groups.empty();
    bool const spreads = options_.groups.kind == GroupChoice::Kind::spread;
    std::vector<std::uint64_t> groups;
    if (!spreads) groups = choose_groups(options_.groups, total);
    if (spreads && !first) groups = configuration.first_groups;
    configuration.row.launches += 1;
    configuration.row.groups_total += total;

    emu::Limits limits = options_.limits;
    if (limits.timeout_s > 0) limits.timeout_s = std::max(1e-9, limits.timeout_s - running_.s());
    emu::PassedOver passed_over;
    if (options_.goes_on) limits.passed_over = &passed_over;
    LaunchView view{configuration.row.kernel,
                    configuration.row.case_name,
                    *kernel.program,
                    bound.launch,
                    bound.shared_bytes,
                    groups,
                    buffers};
    std::vector<emu::Observer*> observers = observe(configuration, view);
    if (checks_) observers.push_back(checks_.get());
    unsigned const threads = configuration.trace ? 1 : options_.threads;
    Stopwatch const emulating;
    // A launch that runs whole shows its sample at once, before it has changed the memory.
    bool const shows =
        first && (spreads || groups.size() == total) && options_.emit == Emit::kernel && !options_.watcher && !checks_;
    if (shows) configuration.sample = std::make_unique<GroupSample>(*kernel.program, bound.launch.grid);
    PartedRun parts(*kernel.program, bound.launch, memory, limits, threads);
    auto const run_some = [&](std::vector<std::uint64_t> const& some) {
      if (checks_) checks_->begin(*kernel.program, bound.launch);
      return parts.run(some, observers, shows ? configuration.sample.get() : nullptr);
    };
    if (spreads && first) {
      bool const counts = std::ranges::find(observers, configuration.observer.get()) != observers.end();
      if (!counts) observers.push_back(configuration.observer.get());
      auto& spread =
          configuration.spread.emplace(bound.launch.grid, kernel.program->order_dependent(), plan_.calls.size());
      while (parts.outcome().ending == emu::Ending::done) {
        auto const some = spread.next(*configuration.observer);
        if (some.empty() || !run_some(some)) break;
      }
      view.groups = groups = spread.groups();
      if (groups.size() < total) configuration.sample.reset();
    } else {
      run_some(groups);
    }
    auto const& outcome = parts.outcome();
    emu::add_places(places_, passed_over.take());
    configuration.row.groups_emulated += groups.size();
    double const spent_s = emulating.s();
    configuration.emulation_s += spent_s;
    report_.times.emulation_s += spent_s;
    report_.warp_instructions += outcome.warp_instructions;
    configuration.warp_instructions += outcome.warp_instructions;
    if (first) {
      configuration.first_launch = bound.launch;
      configuration.first_groups = groups;
    }
    if (outcome.ending == emu::Ending::time_limit && options_.limits.stop && options_.limits.stop->load() != 0) {
      report_.stopped = configuration.cut = true;
      return;
    }
    if (outcome.ending != emu::Ending::done) refuse_findings(&outcome);
    note_touched(configuration, call, bound.launch, memory);
    if (options_.watcher) options_.watcher->end(view);
  }

  // A launch alone finds what ran before it: only its launch file can say that.
  void note_touched(Configuration& configuration, Call const& call, emu::Launch const& launch,
                    emu::Memory const& memory) {
    if (options_.emit != Emit::kernel || options_.watcher) return;
    auto const said = plan_.touched_before.find(static_cast<std::size_t>(&call - plan_.calls.data()));
    if (plan_.calls.size() == 1 && said == plan_.touched_before.end()) return;
    configuration.knows_before = true;
    auto const& row = configuration.row;
    if (!configuration.touched) {
      auto const& footprint = configuration.observer->footprint();
      configuration.first_touched_bytes = 32 * footprint.sectors();
      configuration.touched.emplace(launch, footprint, memory,
                                    static_cast<double>(row.groups_total) / static_cast<double>(row.groups_emulated));
    }
    auto const found = history_.touch(configuration.touched->by(launch, memory)).scaled(1);
    if (said != plan_.touched_before.end()) {
      record::read_powers(said->second, configuration.said_before);
      return;
    }
    for (std::size_t k = 0; k < found.size(); ++k) configuration.touched_before[k] += found[k];
  }

  // What was found: passed over, by the checks so far, and what ended a launch. The first of many.
  std::vector<Error> found(emu::Outcome const* ended) {
    std::vector<Error> errors;
    auto const most = options_.check_options.findings;
    auto const add = [&](emu::Finding const& finding, std::string const& message) {
      if (options_.on_finding) options_.on_finding(finding);
      errors.push_back(error_of(finding, message));
    };
    for (auto const& place : places_)
      if (errors.size() < most) add(place.finding, message_of(place));
    if (places_.size() > most)
      report_.notes.push_back(fmt::format("{} more findings that were passed over; --findings sets how many are named",
                                          places_.size() - most));
    if (checks_)
      for (auto const& finding : checks_->findings()) add(finding, finding.message);
    bool const by_check = checks_ && !options_.goes_on && checks_->findings().size() >= most;
    if (ended && ended->ending == emu::Ending::finding && !by_check) add(*ended->finding, ended->finding->message);
    return errors;
  }

  static std::optional<Error> joined(std::vector<Error> errors) {
    if (errors.empty()) return {};
    for (std::size_t i = 1; i < errors.size(); ++i) errors.front().add(std::move(errors[i]));
    return std::move(errors.front());
  }

  static void throw_all(std::vector<Error> errors) {
    if (auto error = joined(std::move(errors))) throw *std::move(error);
  }

  void refuse_findings(emu::Outcome const* ended) {
    auto errors = found(ended);
    if (ended && ended->ending != emu::Ending::finding && errors.empty()) {
      if (options_.on_finding && ended->finding) options_.on_finding(*ended->finding);
      throw limit_error(*ended);
    }
    if (ended && ended->ending != emu::Ending::finding && options_.goes_on) errors.push_back(limit_error(*ended));
    throw_all(std::move(errors));
  }

  // What is no fault.
  void note_checks() {
    if (!checks_) return;
    for (auto const& finding : checks_->notes()) {
      auto const [where, line] = place_and_line(finding);
      report_.check_notes.push_back(
          fmt::format("{}:{}:{}: {}", where.file, where.line, where.column, text_of(finding, finding.message)));
    }
  }

  // The observers of this launch, by what is requested. Opens its part of a trace.
  std::vector<emu::Observer*> observe(Configuration& configuration, LaunchView const& view) {
    auto const& program = *configuration.kernel->program;
    if (options_.watcher) {
      emu::Observer* const observer = options_.watcher->begin(view);
      return observer ? std::vector{observer} : std::vector<emu::Observer*>{};
    }
    switch (options_.emit) {
      case Emit::kernel:
        return {configuration.observer.get()};
      case Emit::lines:
      case Emit::blocks:
        if (!configuration.detail) configuration.detail = std::make_unique<emu::InstructionObserver>(program);
        return {configuration.detail.get()};
      case Emit::trace:
        break;
    }
    if (!is_reported(configuration.row.kernel, configuration.row.case_name)) return {};
    bool const first = options_.trace->is_new(configuration.row.kernel, program);
    if (!configuration.trace)
      configuration.trace = std::make_unique<TraceObserver>(program, options_.trace_width, *options_.trace);
    configuration.trace->write_launch(configuration.row, view.launch.grid.count());
    if (first) configuration.trace->write_instructions(configuration.row.kernel);
    return {configuration.trace.get()};
  }

  static unsigned dimensions(Call const& call) {
    return std::max(call.global.dimensions, call.local ? call.local->dimensions : 1);
  }

  Configuration& find_configuration(Kernel const& kernel, Bound const& bound, Call const& call) {
    auto const& [grid, block] = std::tie(bound.launch.grid, bound.launch.block);
    Key key{kernel.info->name, {grid.x, grid.y, grid.z, block.x, block.y, block.z}, bound.shared_bytes};
    auto const [at, is_new] = index_.try_emplace(std::move(key), configurations_.size());
    if (!is_new) return configurations_[at->second];
    auto& added = configurations_.emplace_back();
    added.kernel = &kernel;
    added.observer = std::make_unique<emu::KernelObserver>(*kernel.program);
    auto& row = added.row;
    row.kernel = kernel.info->name;
    row.case_name = plan_.case_name.empty() ? sizes_text(bound.global, block, dimensions(call)) : plan_.case_name;
    row.launches = row.groups_total = row.groups_emulated = 0;
    row.runs_on = plan_.runs_on.empty() ? architecture_alone(*compiled().module) : plan_.runs_on;
    fill_sizes(row, grid, block);
    row.shared_bytes = bound.shared_bytes;
    fill_registers(row, kernel.info->registers);
    fill_warp(row, kernel.program->kernel(), plan_.request.path);
    return added;
  }

  // A place in the user's source where it is known, else in the PTX.
  Where place_of(emu::Finding const& finding) const {
    auto const colon = finding.source.rfind(':');
    if (colon == std::string::npos) {
      bool const is_ptx = plan_.request.path.ends_with(".ptx");
      return {compiled().module->path + (is_ptx ? "" : " (PTX)"), finding.at.line, finding.at.column};
    }
    std::string file = finding.source.substr(0, colon);
    if (std::filesystem::path(file).filename() == std::filesystem::path(plan_.request.path).filename())
      file = plan_.request.path;
    return {file, std::strtoul(finding.source.c_str() + colon + 1, nullptr, 10), finding.source_column};
  }

  // The place with its line; where the compiler gives no column, the line's first word.
  std::pair<Where, std::string> place_and_line(emu::Finding const& finding) const {
    Where where = place_of(finding);
    std::string line = finding.source.empty() ? std::string(compiled().module->line(finding.at.line))
                                              : line_of(where.file, where.line);
    if (where.column == 0 && !line.empty()) where.column = line.find_first_not_of(" \t") + 1;
    return {std::move(where), std::move(line)};
  }

  static std::string text_of(emu::Finding const& finding, std::string const& message) {
    auto const text = [](emu::Dim3 const& id) { return fmt::format("({}, {}, {})", id.x, id.y, id.z); };
    return fmt::format("kernel '{}': {}; work-item {} of work-group {}, global id {}", finding.kernel, message,
                       text(finding.local_id), text(finding.group_id), text(finding.global_id));
  }

  Error error_of(emu::Finding const& finding, std::string const& message) const {
    auto const [where, line] = place_and_line(finding);
    return Error(Status::finding, where, text_of(finding, message),
                 finding.hint.empty() ? hint_of(finding.kind) : finding.hint, line);
  }

  Error limit_error(emu::Outcome const& outcome) const {
    emu::Finding const finding = outcome.finding.value_or(emu::Finding{});
    auto const [where, line] = place_and_line(finding);
    std::string const pc = fmt::format("at PTX line {}", finding.at.line);
    if (outcome.ending == emu::Ending::step_limit)
      return Error(Status::limit, where,
                   fmt::format("kernel '{}' has not ended after {} warp instructions, {}", finding.kernel,
                               options_.limits.max_steps, pc),
                   outcome.spinning ? "does it wait for another work-group? They run one after the other, in order"
                                    : "does this loop end? --max-steps sets the limit for one launch",
                   line);
    if (outcome.ending == emu::Ending::text_limit)
      return Error(Status::limit, where, fmt::format("kernel '{}': {}, {}", finding.kernel, finding.message, pc),
                   "print less, emulate fewer groups with --groups, or raise --max-memory", line);
    return Error(Status::limit, where,
                 fmt::format("kernel '{}' has not ended after {} s, {}", finding.kernel, options_.limits.timeout_s, pc),
                 "emulate fewer groups with --groups, or raise --timeout", line);
  }

  static std::string hint_of(emu::Finding::Kind kind) {
    using enum emu::Finding::Kind;
    switch (kind) {
      case out_of_bounds:
        return "check the index against the buffer's size, and the sizes of the launch";
      case misaligned:
        return "an address must be a multiple of the access's size";
      case unknown_opcode:
        return "this PTX instruction cannot be emulated yet";
      case divergent_barrier:
        return "every work-item of a group must reach the same barrier";
      case deadlock:
        return "some work-items wait at a barrier that others never reach";
      case trap:
        return "the kernel stops itself with a trap";
      case stack_overflow:
        return "calls are nested too deeply for the stack, or alloca takes too much";
      case race:
        return "put a barrier between the two accesses, or make both atomic";
      case uninitialized:
        return "write the memory before it is read; shared and private memory begin without contents";
      case use_after_free:
        return "memory must not be used after it is freed";
      case invalid_free:
        return "free what malloc gave, and once only";
      case division_by_zero:
        return "check the divisor, or leave out --check-division: the hardware gives a value without meaning";
      case assertion:
        return "the kernel's own assertion does not hold";
      case bad_image:
        return "give an image of the geometry that the kernel asks for, and bind every texture reference";
      case proxy_fence:
        return "execute fence.proxy.async after the store, and before what orders the store and the operation";
      case in_flight:
        return "wait first: for the mbarrier or the bulk group of a copy, with wgmma.wait_group or tcgen05.wait, or "
               "for "
               "the mbarrier of tcgen05.commit";
      case equal_stores:
      case portability:
      case limit:
        break;
    }
    return {};
  }

  // Of buffers from the files of --check: at least the first one, which ends a run.
  std::vector<Error> differences(Buffers const& buffers) const {
    std::vector<Error> out;
    for (auto const& file : options_.checks) {
      std::size_t const i = buffers.find(file);
      auto const have = buffers.bytes(i);
      auto const want = read_bytes(file.path, have.size(), plan_.buffers[i]);
      auto const difference = compare(plan_.buffers[i], have, want, file.tolerance);
      if (difference.empty()) continue;
      out.emplace_back(Status::finding, Where{file.path, 0, 0}, difference,
                       "--check N=FILE:tolerance allows a difference; are all groups emulated (--groups all)?");
      if (!options_.goes_on) break;
    }
    return out;
  }

  // By what the memory touched by the emulated groups grows to that of all groups: with the groups, unless some of them
  // show what they share.
  // Fills the columns of one group besides.
  double growth_of_footprint(Configuration& configuration, emu::Memory& memory, double touched_bytes) {
    auto& row = configuration.row;
    auto const scale = static_cast<double>(row.groups_total) / static_cast<double>(row.groups_emulated);
    if (options_.emit != Emit::kernel || options_.watcher) return scale;
    auto const& groups = configuration.first_groups;
    auto const grid = configuration.first_launch.grid;
    auto const typical = typical_group(grid, groups, *configuration.observer);
    if (configuration.sample) {
      configuration.sample->fill(row.group, memory);
      if (typical == middle_group(grid)) return scale;
    }
    auto const per_group = configuration.warp_instructions / row.groups_emulated;
    auto const worth = worth_sampling(grid, per_group);
    if (worth == Worth::nothing) return scale;
    GroupSample sample(*configuration.kernel->program, grid, typical);
    if (worth == Worth::middle) sample.leave_out_neighbours();
    if (!run_sample(sample, *configuration.kernel->program, configuration.first_launch, memory,
                    100000 + 100 * per_group, options_.goes_on))
      return scale;
    // What the launches have left in memory may give the group less work than it had.
    if (configuration.sample && sample.slots() < static_cast<double>(configuration.observer->counts_of(typical)[1]) / 2)
      return scale;
    row.group = {};
    sample.fill(row.group, memory);
    if (row.groups_total == row.groups_emulated || !sample.has_neighbours()) return scale;
    auto const growth = sample.growth(groups, memory);
    if (growth.middle_bytes == 0 && configuration.spread) return scale;  // others than the middle say what there is
    if (touched_bytes == 0 && growth.middle_bytes > 0)
      report_.notes.push_back(
          fmt::format("kernel '{}': the emulated groups touch no global memory, group {} does; --groups spread takes "
                      "groups from all over the grid",
                      row.kernel, growth.middle));
    return growth.factor;
  }

  void finish(emu::Memory& memory) {
    std::uint64_t memory_bytes = 0, allocated_bytes = 0;
    for (auto const& buffer : plan_.buffers) {
      memory_bytes += (buffer.bytes() + 31) / 32 * 32;
      allocated_bytes += buffer.bytes();
    }
    for (auto& configuration : configurations_) {
      if (!is_reported(configuration.row.kernel, configuration.row.case_name)) continue;
      if (configuration.cut) {
        report_.notes.push_back(fmt::format("kernel '{}', {}: its launch has not ended, and it has no row",
                                            configuration.row.kernel, configuration.row.case_name));
        continue;
      }
      configuration.row.allocated_bytes = allocated_bytes;
      configuration.row.spread_pct = configuration.observer->spread_pct();
      if (configuration.row.groups_emulated == configuration.row.groups_total)
        configuration.row.sampling_error_pct = 0;
      else if (configuration.spread)
        configuration.row.sampling_error_pct = configuration.spread->error_pct(*configuration.observer);
      auto const counters = configuration.observer->counters();
      fill_counters(configuration.row, counters);
      auto const touched = static_cast<double>(counters.global_footprint_bytes);
      double const growth = growth_of_footprint(configuration, memory, touched);
      configuration.row.global_footprint_bytes = footprint_bytes(touched, growth, memory_bytes);
      leave_out_local_memory(configuration.row, configuration.kernel->info->registers);
      if (configuration.knows_before) {
        auto bytes = configuration.said_before;
        auto const of_launch =
            footprint_bytes(static_cast<double>(configuration.first_touched_bytes), growth, memory_bytes);
        for (std::size_t k = 0; k < bytes.size(); ++k) bytes[k] += configuration.touched_before[k] * of_launch;
        configuration.row.touched_before = record::text_of(bytes);
      }
      add_detail(configuration);
      if (!machine_code_.wanted()) {
        add_row(std::move(configuration.row), configuration);
        continue;
      }
      for (auto& row : machine_code_.rows(
               configuration.row, {configuration.observer->entries(), configuration.observer->entries(64)},
               *compiled().module, *configuration.kernel->program, std::span(&plan_.request, 1)))
        add_row(std::move(row), configuration);
    }
    if (!report_.rows.empty() || report_.stopped) return;
    if (!options_.only_kernel.empty())
      frontend::find_kernel(compiled().kernels, options_.only_kernel, plan_.request.path);
    if (options_.only) report_.notes.emplace_back("--only names no kernel and case of these launches");
  }

  void add_row(record::Kernel row, Configuration const& configuration) {
    report_.rows.push_back(std::move(row));
    report_.emulation_s.push_back(configuration.emulation_s);
  }

  void add_detail(Configuration const& configuration) {
    if (!configuration.detail) return;
    auto const& program = *configuration.kernel->program;
    if (options_.emit == Emit::lines)
      for (auto& row : line_rows(configuration.row, program, *configuration.detail))
        report_.lines.push_back(std::move(row));
    else
      for (auto& row : block_rows(configuration.row, program, *configuration.detail))
        report_.blocks.push_back(std::move(row));
  }

  Plan plan_;
  RunOptions const& options_;
  std::shared_ptr<Compilation> compilation_;
  std::map<std::string, Kernel, std::less<>> kernels_;  // by the name that the calls use
  std::map<Key, std::size_t> index_;
  MachineCode machine_code_;
  std::vector<Configuration> configurations_;
  std::unique_ptr<emu::Checks> checks_;
  std::vector<emu::PassedOver::Place> places_;  // of all launches
  TouchHistory history_;
  Stopwatch running_;
  Report report_;
};

}  // namespace

Report run(Plan plan, RunOptions const& options) {
  return Runner(std::move(plan), options).run();
}

}  // namespace kernelcast::launch
