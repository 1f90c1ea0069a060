#include "emulator/check/check.hpp"

#include <bit>
#include <map>
#include <memory>

#include "emulator/check/async.hpp"
#include "emulator/check/barriers.hpp"
#include "emulator/check/races.hpp"
#include "emulator/check/uninit.hpp"

namespace kernelcast::emu {

Reporter::Key Reporter::key_of(Finding::Kind kind, std::uint32_t instruction, std::uint32_t other_instruction) const {
  auto const [first, second] = std::minmax(instruction, other_instruction);
  return {program_, kind, first, second};
}

bool Reporter::is_new(Finding::Kind kind, std::uint32_t instruction, std::uint32_t other_instruction) const {
  return !reported_.contains(key_of(kind, instruction, other_instruction));
}

void Reporter::report(Finding::Kind kind, std::uint32_t work_item, std::uint32_t instruction,
                      std::uint32_t other_instruction, std::string message, std::string hint) {
  if (max_findings_ == 0) throw Inconclusive{};
  Key const key = key_of(kind, instruction, other_instruction);
  if (!reported_.insert(key).second) return;
  bool const is_note = kind == Finding::Kind::equal_stores || kind == Finding::Kind::portability;
  auto& [findings, keys] = is_note ? notes_ : found_;
  if (findings.size() >= (is_note ? max_notes : max_findings_)) return;
  findings.push_back(found_at(*program_, *launch_, kind, group_, work_item, instruction, std::move(message)));
  findings.back().hint = std::move(hint);
  keys.push_back(key);
  if (!is_note && stops_ && findings.size() >= max_findings_) throw Stop{findings.back()};
}

void Reporter::add(Reporter const& other) {
  auto const add = [&](Found const& from, Found& to, std::size_t most) {
    for (std::size_t i = 0; i < from.findings.size(); ++i) {
      if (to.findings.size() >= most || !reported_.insert(from.keys[i]).second) continue;
      to.findings.push_back(from.findings[i]);
      to.keys.push_back(from.keys[i]);
    }
  };
  add(other.found_, found_, max_findings_);
  add(other.notes_, notes_, max_notes);
}

namespace {
std::string triple(std::uint64_t linear, Dim3 const& size) {
  return "(" + std::to_string(linear % size.x) + ", " + std::to_string(linear / size.x % size.y) + ", " +
         std::to_string(linear / size.x / size.y) + ")";
}
}  // namespace

std::string Reporter::work_item(std::uint32_t linear) const {
  return "work-item " + triple(linear, launch_->block);
}
std::string Reporter::work_group(std::uint64_t linear) const {
  return "work-group " + triple(linear, launch_->grid);
}
std::string Reporter::place(std::uint32_t instruction, bool with_column) const {
  Finding const here = found_at(*program_, *launch_, Finding::Kind::race, group_, 0, instruction, {});
  std::string source = here.source;
  source.erase(0, source.rfind('/') + 1);  // the finding's own place has the whole path
  std::uint32_t const column = source.empty() ? here.at.column : here.source_column;
  if (source.empty()) source = "PTX line " + std::to_string(here.at.line);
  return with_column && column ? source + ":" + std::to_string(column) : source;
}

std::string describe_access(MemoryAccess const& a, Memory const& memory, std::uint64_t address) {
  std::string text = std::string(ptx::name(a.space)) + " " +
                     (a.direction == Direction::load    ? "load"
                      : a.direction == Direction::store ? "store"
                                                        : "atomic") +
                     " of " + std::to_string(a.bytes_per_lane) + " bytes at offset ";
  if (a.space != ptx::StateSpace::global) return text + std::to_string(address);
  Memory::Buffer const* const buffer = memory.find(address);
  if (!buffer) return text + std::to_string(address);
  std::string const origin = buffer->origin ? buffer->origin() : "";
  return text + std::to_string(address - buffer->address) + " of buffer '" + buffer->name + "'" +
         (origin.empty() ? "" : " (allocated " + origin + ")");
}

struct Checks::State {
  State(CheckOptions const& o, Memory const& m)
      : options(o),
        reporter(o.findings, o.stops),
        barriers(reporter),
        races(m, reporter, o.lockstep_warps),
        async(m, reporter),
        uninit(m, reporter),
        memory(m) {}

  CheckOptions options;
  Reporter reporter;
  BarrierCheck barriers;
  RaceCheck races;
  AsyncCheck async;
  UninitCheck uninit;
  struct Text {
    explicit Text(Program const& program) : facts(program), async(program) {}
    Facts facts;
    AsyncText async;
  };
  std::shared_ptr<std::map<Program const*, Text>> texts = std::make_shared<std::map<Program const*, Text>>();
  Program const* program = nullptr;
  Launch const* launch = nullptr;
  Memory const& memory;
  bool checks_async() const { return options.races && async.active(); }
};

// The checks of many small groups side by side: good for finding that there is nothing to find.
//
// Each group has shared and local memory of its own, and all pass their barriers at the same time, so that these are
// checked as one group's. Groups are never ordered with each other, so that in global memory barriers order nothing
// here: accesses that only a barrier orders are inconclusive, like whatever else looks like a finding.
class PackedChecks final : public Observer {
 public:
  PackedChecks(CheckOptions const& options, Program const& program, Launch const& launch, Memory const& memory,
               Reporter const& known)
      : options_(options),
        facts_(program),
        reporter_(Reporter::inconclusive()),
        barriers_(reporter_, &known),
        races_(memory, reporter_, false),
        uninit_(memory, reporter_) {
    reporter_.begin(program, launch);
    if (options_.races) barriers_.begin(facts_, launch);
    if (options_.races) races_.begin(facts_);
    if (options_.uninit) uninit_.begin(facts_, max_lanes_per_unit);
  }
  Facts const& facts() const { return facts_; }

  bool accepts_packs() const override { return true; }
  void pack_begin(std::span<std::uint64_t const> groups) override {
    begin(groups[0], static_cast<std::uint32_t>(groups.size()));
  }
  void group_begin(std::uint64_t group) override { begin(group, 1); }
  void block(std::uint32_t block, Lanes const& lanes) override {
    if (options_.races) races_.enter_block(block, lanes);
  }
  void memory(MemoryAccess const& access) override {
    MemoryAccess a = access;
    // The groups' memories lie behind each other.
    if (a.space == ptx::StateSpace::shared) a.region_bytes = (a.region_bytes + 255) / 256 * 256 * groups_;
    if (options_.uninit) uninit_.access(a);
    if (options_.races) races_.access(a);
  }
  void barrier(std::uint32_t instruction, Lanes const&, std::uint32_t, std::uint32_t) override {
    if (options_.races) barriers_.arrive(instruction);
  }
  void meet(Meeting const& meeting) override {
    if (!meeting.everyone) throw Inconclusive{};
    if (!options_.races) return;
    auto const met = barriers_.meet(meeting, groups_);
    races_.meet(meeting, met.orders, met.instruction);
  }
  void zero_divisor(std::uint32_t, Lanes const& lanes) override {
    for (std::uint32_t w = 0; w < lanes.warps; ++w)
      if (lanes.masks[w]) throw Inconclusive{};
  }
  bool needs_divisors() const override { return options_.division; }
  bool needs_order() const override { return true; }
  std::unique_ptr<Observer> fork() const override { throw Inconclusive{}; }
  void join(Observer const&) override {}

 private:
  void begin(std::uint64_t group, std::uint32_t groups) {
    groups_ = groups;
    if (options_.races) barriers_.begin_group();
    if (options_.races) races_.begin_pack(group);
    if (options_.uninit) uninit_.begin_group();
  }

  CheckOptions const options_;
  Facts const facts_;
  Reporter reporter_;
  BarrierCheck barriers_;
  RaceCheck races_;
  UninitCheck uninit_;
  std::uint32_t groups_ = 1;
};

Checks::Checks(CheckOptions const& options, Memory const& memory) : state_(std::make_unique<State>(options, memory)) {}
Checks::~Checks() = default;

void Checks::begin(Program const& program, Launch const& launch) {
  State& s = *state_;
  State::Text const& text = s.texts->try_emplace(&program, program).first->second;
  s.program = &program;
  s.launch = &launch;
  s.reporter.begin(program, launch);
  if (s.options.races) s.barriers.begin(text.facts, launch);
  if (s.options.races) s.races.begin(text.facts);
  if (s.options.races) s.async.begin(program, text.facts, text.async);
  if (s.options.uninit) s.uninit.begin(text.facts, static_cast<std::uint32_t>(launch.block.count()));
}

std::vector<Finding> const& Checks::findings() const {
  return state_->reporter.findings();
}

std::vector<Finding> const& Checks::notes() const {
  return state_->reporter.notes();
}

void Checks::group_begin(std::uint64_t group) {
  State& s = *state_;
  s.reporter.begin_group(group);
  if (s.options.races) s.barriers.begin_group();
  if (s.options.races) s.races.begin_group(group);
  if (s.checks_async()) s.async.begin_group();
  if (s.options.uninit) s.uninit.begin_group();
}

void Checks::group_end() {
  if (state_->checks_async()) state_->async.end_group();
}

void Checks::block(std::uint32_t block, Lanes const& lanes) {
  State& s = *state_;
  if (s.options.races) s.races.enter_block(block, lanes);
  if (s.checks_async()) s.async.enter_block(block, lanes);
}

void Checks::guarded(std::uint32_t instruction, Lanes const& lanes) {
  if (state_->checks_async()) state_->async.guarded(instruction, lanes);
}

void Checks::barrier(std::uint32_t instruction, Lanes const& lanes, std::uint32_t, std::uint32_t) {
  State& s = *state_;
  if (s.options.races) s.barriers.arrive(instruction);
  if (s.options.races) s.races.reach(instruction, lanes);
  if (s.checks_async()) s.async.reach(instruction, lanes);
}

void Checks::memory(MemoryAccess const& access) {
  State& s = *state_;
  if (s.options.uninit) s.uninit.access(access);
  if (s.options.races) s.races.access(access);
  if (s.checks_async()) s.async.access(access);
}

void Checks::tensor_memory(TensorMemoryAccess const& access) {
  if (state_->checks_async()) state_->async.access(access);
}

void Checks::frame(FrameChange const& change) {
  if (state_->options.uninit) state_->uninit.frame(change);
}

void Checks::meet(Meeting const& meeting) {
  State& s = *state_;
  if (s.options.races) {
    auto const met = s.barriers.meet(meeting);
    s.races.meet(meeting, met.orders, met.instruction);
  }
  if (s.checks_async()) s.async.meet(meeting);
}

void Checks::zero_divisor(std::uint32_t instruction, Lanes const& lanes) {
  for (std::uint32_t w = 0; w < lanes.warps; ++w)
    if (lanes.masks[w]) {
      std::uint32_t const lane = static_cast<std::uint32_t>(std::countr_zero(lanes.masks[w]));
      return state_->reporter.report(Finding::Kind::division_by_zero, (lanes.first_warp + w) * lanes_per_warp + lane,
                                     instruction, instruction, "integer division by zero");
    }
}

bool Checks::needs_written() const {
  return state_->options.uninit;
}
bool Checks::needs_divisors() const {
  return state_->options.division;
}

std::unique_ptr<Observer> Checks::packed_substitute(Program const& program, Launch const& launch,
                                                    Memory const& memory) const {
  CheckOptions const& options = state_->options;
  if (options.lockstep_warps) return nullptr;
  // What is not written yet may be written by a group that runs earlier only when groups run one by one.
  for (Memory::Buffer const& buffer : memory.buffers())
    if (options.uninit && buffer.undefined) return nullptr;
  auto made = std::make_unique<PackedChecks>(options, program, launch, memory, state_->reporter);
  if (made->facts().any_points || made->facts().any_release || made->facts().any_asynchronous) return nullptr;
  return made;
}

bool Checks::follows_clusters() const {
  return !state_->options.uninit;
}

std::unique_ptr<Observer> Checks::fork() const {
  auto made = std::make_unique<Checks>(state_->options, state_->memory);
  made->state_->texts = state_->texts;
  made->state_->races.follow_cluster();
  made->state_->async.follow_cluster();
  made->state_->uninit.share(state_->uninit);
  made->begin(*state_->program, *state_->launch);
  return made;
}

void Checks::join(Observer const& other) {
  state_->reporter.add(static_cast<Checks const&>(other).state_->reporter);
}

}  // namespace kernelcast::emu
