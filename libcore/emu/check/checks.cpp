#include "emu/check/check.hpp"

#include <bit>
#include <map>

#include "diag/diag.hpp"
#include "emu/check/races.hpp"
#include "emu/check/uninit.hpp"

namespace kernelcast::emu {

void Reporter::report(Finding::Kind kind, std::uint32_t work_item, std::uint32_t instruction,
                      std::uint32_t other_instruction, std::string message) {
  auto const [first, second] = std::minmax(instruction, other_instruction);
  if (!reported_.emplace(program_, kind, first, second).second) return;
  findings_.push_back(found_at(*program_, *launch_, kind, group_, work_item, instruction, std::move(message)));
  if (findings_.size() >= most_) throw Stop{findings_.back()};
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
std::string Reporter::place(std::uint32_t instruction) const {
  Finding const here = found_at(*program_, *launch_, Finding::Kind::race, group_, 0, instruction, {});
  std::string source = here.source;
  source.erase(0, source.rfind('/') + 1);  // the finding's own place has the whole path
  return source.empty() ? "PTX line " + std::to_string(here.at.line) : source;
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
  return text + std::to_string(address - buffer->address) + " of buffer '" + buffer->name + "'";
}

struct Checks::State {
  State(CheckOptions const& o, Memory const& m)
      : options(o), reporter(o.findings), races(m, reporter, o.lockstep_warps), uninit(m, reporter) {}

  CheckOptions options;
  Reporter reporter;
  RaceCheck races;
  UninitCheck uninit;
  std::map<Program const*, Facts> facts;
};

Checks::Checks(CheckOptions const& options, Memory const& memory) : state_(std::make_unique<State>(options, memory)) {}
Checks::~Checks() = default;

void Checks::begin(Program const& program, Launch const& launch) {
  State& s = *state_;
  auto const [facts, is_new] = s.facts.try_emplace(&program, program);
  s.reporter.begin(program, launch);
  if (s.options.races) s.races.begin(facts->second);
  if (s.options.uninit) s.uninit.begin(facts->second, launch);
}

std::vector<Finding> const& Checks::findings() const {
  return state_->reporter.findings();
}

void Checks::group_begin(std::uint64_t group) {
  State& s = *state_;
  s.reporter.begin_group(group);
  if (s.options.races) s.races.begin_group(group);
  if (s.options.uninit) s.uninit.begin_group();
}

void Checks::block(std::uint32_t block, Lanes const& lanes) {
  if (state_->options.races) state_->races.enter_block(block, lanes);
}

void Checks::memory(MemoryAccess const& access) {
  State& s = *state_;
  if (s.options.uninit) s.uninit.access(access);
  if (s.options.races) s.races.access(access);
}

void Checks::frame(FrameChange const& change) {
  if (state_->options.uninit) state_->uninit.frame(change);
}

void Checks::meet(Meeting const& meeting) {
  if (state_->options.races) state_->races.meet(meeting);
}

void Checks::zero_divisor(std::uint32_t instruction, Lanes const& lanes) {
  for (std::uint32_t w = 0; w < lanes.warps; ++w)
    if (lanes.masks[w]) {
      std::uint32_t const lane = static_cast<std::uint32_t>(std::countr_zero(lanes.masks[w]));
      return state_->reporter.report(Finding::Kind::division_by_zero, (lanes.first_warp + w) * lanes_per_warp + lane,
                                     instruction, instruction, "integer division by zero");
    }
}

bool Checks::asks_for_divisors() const {
  return state_->options.division;
}

std::unique_ptr<Observer> Checks::fork() const {
  throw Error(Status::unavailable, "checks run on one thread", "run all groups on one thread");
}

}  // namespace kernelcast::emu
