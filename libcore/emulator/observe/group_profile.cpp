#include "emulator/observe/group_profile.hpp"

#include <algorithm>
#include <bit>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "emulator/observe/request_reader.hpp"
#include "emulator/observe/stack_distance.hpp"
#include "emulator/observe/transactions.hpp"
#include "kernels/ptx/liveness.hpp"
#include "kernels/ptx/uniform.hpp"

namespace kernelcast::emu {

namespace {

// Beyond that many registers of all wavefronts together there is no path.
constexpr std::size_t max_path_registers = std::size_t{1} << 22;
// Others count as the first kind.
constexpr std::size_t max_phase_kinds = 24;

void extend(Path& path, Step step, float times) {
  path.cycles += static_cast<double>(reference_cycles[step] * times);
  path.steps[step] += static_cast<std::uint32_t>(times + 0.5f);
}

void later(Path& path, Path const& other) {
  if (other.cycles > path.cycles) path = other;
}

Step step_of(Wait wait) {
  switch (wait) {
    case Wait::fp64:
      return Step::fp64;
    case Wait::special:
      return Step::special;
    case Wait::constant:
      return Step::constant;
    case Wait::shared:
      return Step::shared;
    case Wait::barrier:
      return Step::barrier;
    default:
      return Step::arithmetic;
  }
}

// What a request takes of the load/store unit that reference_cycles are of: 16 lanes a clock, tags of 3.6 lines.
constexpr double request_cycles = 2;
double cycles_of(RequestShape const& shape) {
  return std::max({request_cycles, static_cast<double>(shape.degree), shape.lines / 3.6});
}

// That slots of a pipe are part of, besides issue.
std::optional<record::Work> work_of(record::Pipe pipe) {
  using enum record::Pipe;
  switch (pipe) {
    case fp32:
    case fp16:
      return record::Work::fp32;
    case imad:
    case alu:
      return record::Work::integer;
    case fp64:
    case convert64:
    case int_to_fp32:
    case fp32_to_fp16:
    case special:
    case tensor:
      return record::Work::others;
    default:
      return std::nullopt;
  }
}

bool is_texture(ptx::Instruction const& i) {
  return i.is(ptx::Op::tex, ptx::Op::tld4, ptx::Op::suld);
}

}  // namespace

struct ProfileObserver::State {
  using PerWork = record::PerValue<record::Work, double>;
  static constexpr std::uint32_t no_register = ~0U;
  // One instruction of a block, as the path needs it.
  struct Code {
    Wait wait = Wait::none;
    float waits = 0;
    std::uint32_t reads = 0, writes = 0, end = 0;  // [reads, writes) and [writes, end) of `registers`
    bool fences = false, loads = false, texture = false;
    bool past_l1 = false;  // a load that the first-level cache does not serve
    // Of a store, and of a load that ptxas leaves behind the stores before it: where, and the register it adds to.
    enum class Ordered : std::uint8_t { no, global, shared } ordered = Ordered::no;
    std::uint32_t base = no_register;
    bool joined = false;  // an atomic whose lanes ptxas makes one
    bool engine = false;  // its accesses are not those of the load/store unit
    bool bulk_copy = false;
    bool arrives = false;  // at mbarriers
    bool tests = false;    // mbarriers: a load for a wavefront
  };
  // Stores by space, and their address register where they have one in common: a load by the same one and another
  // offset is known to be of another place.
  struct Stored {
    bool any = false;
    std::uint32_t base = no_register;
    Path at;
  };
  struct Warp {
    std::vector<Path> registers;
    Path front;                      // before which nothing is issued
    Path region;                     // the latest that was issued since
    Path fence;                      // what the front is when the straight code that runs now has ended
    std::array<Stored, 3> stored{};  // of that code
    std::uint32_t last_block = 0;
  };

  State(Program const& p, std::uint64_t g)
      : program(p), profiled(g), lowered(lower(p)), reader(p.kernel().instructions.size()) {
    auto const& instructions = program.kernel().instructions;
    codes.resize(instructions.size());
    loaded_by.resize(instructions.size());
    ptx::Effects effects;
    for (std::uint32_t i = 0; i < instructions.size(); ++i) {
      ptx::effects(instructions[i], effects);
      Code& code = codes[i];
      code.wait = lowered[i].wait;
      code.waits = lowered[i].waits;
      code.reads = static_cast<std::uint32_t>(registers.size());
      registers.insert(registers.end(), effects.read.begin(), effects.read.end());
      code.writes = static_cast<std::uint32_t>(registers.size());
      registers.insert(registers.end(), effects.written.begin(), effects.written.end());
      code.end = static_cast<std::uint32_t>(registers.size());
      code.texture = is_texture(instructions[i]);
      code.loads = code.wait == Wait::global;
      for (auto const* const word : {"cg", "cv", "volatile", "relaxed", "acquire"})
        code.past_l1 = code.past_l1 || instructions[i].has(word);
      code.bulk_copy = instructions[i].is_bulk_copy();
      code.engine = uses_engine(instructions[i]);
      code.past_l1 = code.past_l1 || code.bulk_copy;
      code.tests = instructions[i].tests_mbarrier();
      code.arrives = instructions[i].arrives_at_mbarrier();
      code.fences = instructions[i].is(ptx::Op::st) || instructions[i].is_atomic();
      order(code, instructions[i]);
    }
    join_atomics();
    for (auto const& range : program.blocks()) {
      PerWork work;
      for (std::uint32_t i = range.first; i < range.last; ++i)
        for (record::Pipe const pipe : record::values_of<record::Pipe>) {
          double const n = lowered[i].slots[pipe];
          work[record::Work::issue] += n;
          if (auto const of = work_of(pipe)) work[*of] += n;
        }
      block_work.push_back(work);
    }
    note_straight();
  }

  void note_straight();

  static void order(Code&, ptx::Instruction const&);
  void join_atomics();
  void begin(std::uint64_t group);
  void finish_block();
  void give_up();
  void run_block(Warp&, std::uint32_t warp, std::uint32_t mask);
  Path load(std::uint32_t instruction, std::uint32_t warp, Path const& at);
  void count(MemoryAccess const&);
  void count_shared(MemoryAccess const&, std::uint32_t warp);
  void end_phase(Path const& at);
  void count_atomics(MemoryAccess const&, std::uint32_t warp, Request const&);
  void note_mbarrier(MemoryAccess const&);
  void mark(MemoryAccess const&);
  void mark(Request const&, Direction);

  Program const& program;
  std::uint64_t profiled;
  std::vector<Lowered> lowered;
  std::vector<Code> codes;  // by instruction
  std::vector<std::uint32_t> registers;
  std::vector<PerWork> block_work;
  std::vector<std::uint32_t> straight;  // by block: which of them are one to the scheduler, as predicates join them
  std::vector<std::uint64_t> watched;
  std::map<std::uint64_t, Touched> touched;
  Touched* current = nullptr;
  bool profiling = false, complete = false, gave_up = false, has_path = true;
  GroupProfile profile;
  StackDistance distances;
  RequestReader reader;
  std::unordered_set<std::uint64_t> local_lines;  // with the wavefront

  // The block that runs, and what its loads have asked for.
  bool running = false;
  std::uint32_t block = 0, first_warp = 0;
  std::array<std::uint32_t, max_warps_per_unit> masks{};
  struct Asked {
    std::uint32_t warp = 0, begin = 0, end = 0;  // of `asked_sectors`; none: private memory
  };
  std::vector<std::vector<Asked>> loaded_by;  // by instruction
  std::vector<std::uint32_t> with_loads;      // instructions of this block that have asked
  std::vector<std::uint64_t> asked_sectors;
  std::vector<Warp> warps;  // of the group
  Path path;
  std::unordered_map<std::uint64_t, Path> ready;  // by sector
  struct Arrival {
    std::uint32_t instruction = 0, warp = 0;
    std::uint64_t mbarrier = 0;
  };
  std::vector<Arrival> arrivals;                    // of this block
  std::unordered_map<std::uint64_t, Path> arrived;  // by mbarrier
  std::optional<std::uint64_t> tested;              // the mbarrier that this block has tested last

  // From one barrier that holds all to the next.
  record::Phase now;
  std::uint32_t began = 0;  // the block that ended with its barrier
  Path began_at;
  std::map<std::pair<std::uint32_t, std::uint32_t>, record::Phase> kinds;  // by the blocks before both barriers
  PerWork total;
};

void ProfileObserver::State::order(Code& code, ptx::Instruction const& i) {
  if (!i.is_memory() || i.has("nc")) return;  // .nc: of read-only memory
  auto const space = i.space();
  if (space == ptx::StateSpace::shared)
    code.ordered = Code::Ordered::shared;
  else if (space == ptx::StateSpace::global || space == ptx::StateSpace::generic)
    code.ordered = Code::Ordered::global;
  if (i.has("volatile")) return;
  for (auto const& operand : i.operands)
    if (operand.kind == ptx::Operand::Kind::address && !operand.elements.empty() &&
        operand.elements[0].kind == ptx::Operand::Kind::reg)
      code.base = operand.elements[0].id;
}

void ProfileObserver::State::note_straight() {
  auto const& blocks = program.blocks();
  auto const& kernel = program.kernel();
  std::uint32_t number = 0, until = 0;  // the instruction at which what a branch jumps over has ended
  for (auto const& [first, last] : blocks) {
    if (first > until || straight.empty()) ++number;
    straight.push_back(number);
    if (last == first || !lowered[last - 1].predicates) continue;
    auto const to = kernel.labels[kernel.instructions[last - 1].operands[0].id].instruction;
    until = std::max(until, to);
  }
}

// Of 32-bit integers, at an address that is the same for all.
void ProfileObserver::State::join_atomics() {
  auto const& instructions = program.kernel().instructions;
  if (std::ranges::none_of(instructions, [](auto const& i) { return i.is_atomic(); })) return;
  auto const varying = ptx::varying_registers(program.kernel());
  for (std::uint32_t i = 0; i < instructions.size(); ++i) {
    auto const& one = instructions[i];
    if (!one.is_atomic() || one.has("cas") || one.has("exch") || one.has("v2") || one.has("v4")) continue;
    bool const word = one.has("u32") || one.has("s32") || one.has("b32");
    for (auto const& operand : one.operands)
      if (word && operand.kind == ptx::Operand::Kind::address && !operand.elements.empty())
        codes[i].joined =
            operand.elements[0].kind != ptx::Operand::Kind::reg || !varying.contains(operand.elements[0].id);
  }
}

void ProfileObserver::State::begin(std::uint64_t group) {
  current = !gave_up && std::binary_search(watched.begin(), watched.end(), group) ? &touched[group] : nullptr;
  profiling = current && group == profiled && !complete;
  if (current) reader.begin();
  if (!profiling) return;
  profile = {};
  path = {};
  ready.clear();
  arrived.clear();
  local_lines.clear();
  now = {};
  began = 0, began_at = {};
  kinds.clear();
  total = {};
  warps.assign(max_lanes_per_unit / lanes_per_warp, {});
  has_path = program.kernel().registers.size() * warps.size() <= max_path_registers;
}

// When the sectors of a request are there; those not yet asked for are asked for now.
Path ProfileObserver::State::load(std::uint32_t instruction, std::uint32_t warp, Path const& at) {
  Path done = at;
  extend(done, Step::hit, 1);
  Path missed = at;
  extend(missed, Step::miss, 1);
  if (codes[instruction].past_l1) return missed;
  for (Asked const& asked : loaded_by[instruction]) {
    if (asked.warp != warp) continue;
    for (std::uint32_t s = asked.begin; s < asked.end; ++s) {
      auto const [found, is_new] = ready.try_emplace(asked_sectors[s], missed);
      if (!is_new && missed.cycles < found->second.cycles) found->second = missed;
      later(done, found->second);
    }
  }
  return done;
}

void ProfileObserver::State::run_block(Warp& warp, std::uint32_t index, std::uint32_t) {
  if (warp.registers.empty()) warp.registers.resize(program.kernel().registers.size());
  if (block <= warp.last_block) later(warp.front, warp.region);
  if (block <= warp.last_block || straight[block] != straight[warp.last_block]) {
    later(warp.front, warp.fence);
    warp.stored = {};
  }
  warp.last_block = block;
  auto const& range = program.blocks()[block];
  for (std::uint32_t i = range.first; i < range.last; ++i) {
    Code const& code = codes[i];
    Path at = warp.front;
    for (std::uint32_t r = code.reads; r < code.writes; ++r) later(at, warp.registers[registers[r]]);
    auto& before = warp.stored[static_cast<std::size_t>(code.ordered)];
    if (code.ordered != Code::Ordered::no && before.any && (code.base == no_register || code.base != before.base))
      later(at, before.at);
    if (code.fences) {
      later(warp.fence, at);
      before.base = before.any && before.base != code.base ? no_register : code.base;
      if (!before.any) before.at = at;
      before.any = true;
      later(before.at, at);
    }
    later(warp.region, at);
    if (code.arrives)
      for (Arrival const& a : arrivals)
        if (a.instruction == i && a.warp == index) {
          Path there = at;
          if (code.bulk_copy) extend(there, Step::miss, 1);
          later(arrived[a.mbarrier], there);
        }
    if (code.wait == Wait::barrier) continue;  // meet() follows
    bool const loads = code.loads && (code.texture || !loaded_by[i].empty());
    if (loads) at = load(i, index, at);
    auto const step = loads ? Wait::none : code.wait;
    for (std::uint32_t r = code.writes; r < code.end; ++r) {
      Path& written = warp.registers[registers[r]];
      written = at;  // and lengthened there: a copy right after the write of a part stalls
      if (step != Wait::none) extend(written, step == Wait::global ? Step::hit : step_of(step), code.waits);
    }
  }
}

void ProfileObserver::State::give_up() {
  profiling = false;
  gave_up = true;
  current = nullptr;
  warps.clear();
  ready.clear();
  local_lines.clear();
  for (auto& asked : loaded_by) asked.clear();
  with_loads.clear();
  asked_sectors.clear();
  arrivals.clear();
  arrived.clear();
}

void ProfileObserver::State::finish_block() {
  if (!running) return;
  running = false;
  for (std::uint32_t w = 0; w < masks.size(); ++w) {
    if (!masks[w] || first_warp + w >= warps.size()) continue;
    profile.slots += block_work[block][record::Work::issue];
    for (auto const work : record::values_of<record::Work>) now.part[work] += block_work[block][work];
    if (profile.slots > max_profiled_slots) return give_up();
    if (has_path) run_block(warps[first_warp + w], first_warp + w, masks[w]);
  }
  for (auto const i : with_loads) loaded_by[i].clear();
  with_loads.clear();
  asked_sectors.clear();
  arrivals.clear();
}

void ProfileObserver::State::mark(MemoryAccess const& access) {
  for (std::uint32_t w = 0; w < access.lanes.warps; ++w) {
    if (!access.lanes.masks[w]) continue;
    bool again = false;
    Request const& request = reader.read(access, w, again);
    if (!again) mark(request, access.direction);
  }
}

void ProfileObserver::State::mark(Request const& request, Direction direction) {
  Footprint& footprint = direction == Direction::load ? current->loaded : current->stored;
  for (auto const s : request.sectors) footprint.mark(s);
  if (direction == Direction::atomic)
    for (auto const s : request.sectors) current->updated.mark(s);
}

void ProfileObserver::State::count_atomics(MemoryAccess const& access, std::uint32_t warp, Request const& request) {
  bool const global = access.space == ptx::StateSpace::global;
  auto& atomics = global ? profile.global_atomics : profile.shared_atomics;
  WaveAccess const wave{access.lanes.masks[warp], access.base, access.offsets + std::size_t{lanes_per_warp} * warp,
                        access.bytes_per_lane};
  ++atomics.requests;
  atomics.serial += codes[access.instruction].joined ? 1 : max_lanes_on_one_address(wave);
  atomics.lines += request.shape.lines;
  if (access.bytes_per_lane >= 8) atomics.wide_lanes += static_cast<std::uint64_t>(std::popcount(wave.mask));
  atomics.parts += global ? request.shape.sectors : request.shape.degree;
  if (!global) now.part[record::Work::shared] += std::max(request_cycles, static_cast<double>(request.shape.degree));
}

void ProfileObserver::State::note_mbarrier(MemoryAccess const& access) {
  Code const& code = codes[access.instruction];
  for (std::uint32_t w = 0; w < access.lanes.warps; ++w)
    for (std::uint32_t m = access.lanes.masks[w]; m; m &= m - 1) {
      std::uint64_t const at =
          access.base + access.offsets[std::size_t{lanes_per_warp} * w + static_cast<unsigned>(std::countr_zero(m))];
      if (code.tests) {
        tested = at;
        return;
      }
      Arrival const arrival{access.instruction, first_warp + w, at};
      bool const known = !arrivals.empty() && arrivals.back().warp == arrival.warp &&
                         arrivals.back().instruction == arrival.instruction && arrivals.back().mbarrier == at;
      if (!known) arrivals.push_back(arrival);
    }
}

void ProfileObserver::State::count_shared(MemoryAccess const& access, std::uint32_t warp) {
  ++profile.shared_requests;
  auto const bytes = lowered[access.instruction].joined_bytes.value_or(access.bytes_per_lane);
  if (bytes == 0) return;
  auto const passes = reader.read_shared(access, warp, bytes);
  ++(access.direction == Direction::store ? profile.shared_stores : profile.shared_loads)[passes];
  now.part[record::Work::shared] += std::max<double>(request_cycles, passes);
}

// What has been done since the last one becomes part of its kind.
void ProfileObserver::State::end_phase(Path const& at) {
  std::pair const places{began, block};
  auto& kind = kinds.size() < max_phase_kinds || kinds.contains(places) ? kinds[places] : kinds.begin()->second;
  ++kind.count;
  for (auto const work : record::values_of<record::Work>)
    kind.part[work] += now.part[work], total[work] += now.part[work];
  for (auto const step : record::values_of<Step>)
    kind.steps[step] += at.steps[step] > began_at.steps[step] ? at.steps[step] - began_at.steps[step] : 0;
  now = {};
  began = block;
  began_at = at;
}

void ProfileObserver::State::count(MemoryAccess const& access) {
  using enum ptx::StateSpace;
  bool const load = access.direction == Direction::load;
  Code const& code = codes[access.instruction];
  if (access.space == shared && access.direction == Direction::atomic && (code.arrives || code.tests))
    note_mbarrier(access);
  for (std::uint32_t w = 0; w < access.lanes.warps; ++w) {
    std::uint32_t const mask = access.lanes.masks[w];
    if (!mask) continue;
    if (access.space == constant) {
      profile.constant_requests +=
          max_lanes_on_one_address(
              {mask, access.base, access.offsets + std::size_t{lanes_per_warp} * w, access.bytes_per_lane}) > 0;
      continue;
    }
    if (access.space == local) {
      if (lowered[access.instruction].overwritten) continue;
      auto const shape = reader.read_local(access, w);
      ++profile.locals[shape];
      if (access.direction == Direction::store) ++profile.local_stores[shape];
      now.part[record::Work::lsu] += cycles_of(shape);
      for (auto const line : reader.lines()) local_lines.insert(std::uint64_t{first_warp + w} << 48 | line);
      continue;
    }
    if (access.space == shared && (access.direction != Direction::atomic || code.tests)) {
      if (code.engine)
        profile.shared_engine_bytes += static_cast<std::uint64_t>(std::popcount(mask)) * access.bytes_per_lane;
      else
        count_shared(access, w);
      continue;
    }
    if (access.space != global && access.space != shared) continue;
    bool again = false;
    Request const& request = reader.read(access, w, again);
    if (access.direction == Direction::atomic) count_atomics(access, w, request);
    if (access.space == shared) continue;
    if (!again) mark(request, access.direction);
    now.part[record::Work::sectors] += request.shape.sectors;
    if (!code.engine) now.part[record::Work::lsu] += cycles_of(request.shape);
    if (access.direction == Direction::atomic) continue;
    auto shape = request.shape;
    if (code.engine) shape.degree = 0;
    ++(load ? profile.loads : profile.stores)[shape];
    if (!load) continue;
    for (auto const s : request.sectors) {
      double weight = 1;
      auto const distance = distances.use(s, weight);
      if (distance && codes[access.instruction].past_l1)
        profile.reuse.back() += weight;
      else if (distance)
        profile
            .reuse[std::min<std::size_t>(reuse_buckets - 1, std::bit_width(static_cast<std::uint64_t>(*distance)))] +=
            weight;
    }
    auto& asked = loaded_by[access.instruction];
    if (asked.empty()) with_loads.push_back(access.instruction);
    auto const begin = static_cast<std::uint32_t>(asked_sectors.size());
    asked_sectors.insert(asked_sectors.end(), request.sectors.begin(), request.sectors.end());
    asked.push_back({first_warp + w, begin, static_cast<std::uint32_t>(asked_sectors.size())});
  }
}

ProfileObserver::ProfileObserver(Program const& program, std::uint64_t profiled_group)
    : state_(std::make_unique<State>(program, profiled_group)) {}
ProfileObserver::~ProfileObserver() = default;

void ProfileObserver::watch(std::vector<std::uint64_t> groups) {
  state_->watched = std::move(groups);
}

void ProfileObserver::group_begin(std::uint64_t group) {
  state_->begin(group);
}

void ProfileObserver::group_end() {
  State& s = *state_;
  if (!s.profiling) return;
  s.finish_block();
  if (!s.profiling) return;  // given up
  s.profiling = false;
  s.complete = true;
  for (auto const& warp : s.warps) {
    later(s.path, warp.front);
    later(s.path, warp.region);
  }
  s.profile.path = s.path;
  if (!s.kinds.empty()) {
    s.end_phase(s.path);
    for (auto& [places, phase] : s.kinds) {
      for (auto const work : record::values_of<record::Work>)
        if (s.total[work] > 0) phase.part[work] /= s.total[work];
      for (double& step : phase.steps) step /= phase.count;
      s.profile.phases.push_back(phase);
    }
  }
  s.profile.local_lines = s.local_lines.size();
  s.warps.clear();
  s.ready.clear();
  s.local_lines.clear();
}

void ProfileObserver::block(std::uint32_t block, Lanes const& lanes) {
  State& s = *state_;
  if (!s.profiling) return;
  s.finish_block();
  if (!s.profiling) return;
  s.running = true;
  s.block = block;
  s.tested.reset();
  s.first_warp = lanes.first_warp;
  s.masks.fill(0);
  std::copy_n(lanes.masks, std::min<std::size_t>(lanes.warps, s.masks.size()), s.masks.begin());
  auto const& range = s.program.blocks()[block];
  for (std::uint32_t i = range.first; i < range.last; ++i)
    if (s.codes[i].texture)
      for (auto const mask : s.masks) s.profile.texture_requests += mask != 0;
}

void ProfileObserver::memory(MemoryAccess const& access) {
  State& s = *state_;
  if (!s.current) return;
  if (s.profiling)
    s.count(access);
  else if (access.space == ptx::StateSpace::global)
    s.mark(access);
}

void ProfileObserver::meet(Meeting const& meeting) {
  State& s = *state_;
  if (!s.profiling) return;
  s.finish_block();
  if (!s.profiling) return;
  ++s.profile.barriers;
  auto const waits = [&](std::size_t w) {
    return meeting.everyone || (w < meeting.warps && meeting.waiting && meeting.waiting[w] != 0);
  };
  Path all;
  // Of an mbarrier: each behind what has arrived there, not behind each other.
  if (auto const mbarrier = s.arrived.find(s.tested.value_or(0)); s.tested && mbarrier != s.arrived.end()) {
    for (std::size_t w = 0; w < s.warps.size(); ++w) {
      auto& warp = s.warps[w];
      if (warp.registers.empty() || !waits(w)) continue;
      later(warp.front, warp.region);
      later(warp.front, mbarrier->second);
      extend(warp.front, Step::barrier, 1);
    }
    return;
  }
  for (std::size_t w = 0; w < s.warps.size(); ++w) {
    if (s.warps[w].registers.empty()) continue;
    if (!waits(w)) continue;
    later(all, s.warps[w].front);
    later(all, s.warps[w].region);
  }
  if (meeting.everyone) s.end_phase(all);
  extend(all, Step::barrier, 1);
  for (std::size_t w = 0; w < s.warps.size(); ++w)
    if (!s.warps[w].registers.empty() && waits(w)) s.warps[w].front = all;
}

std::unique_ptr<Observer> ProfileObserver::fork() const {
  auto out = std::make_unique<ProfileObserver>(state_->program, state_->profiled);
  out->watch(state_->watched);
  return out;
}

void ProfileObserver::join(Observer const& other) {
  State& s = *state_;
  State const& o = *dynamic_cast<ProfileObserver const&>(other).state_;
  for (auto const& [group, touched] : o.touched) {
    s.touched[group].loaded.add(touched.loaded);
    s.touched[group].stored.add(touched.stored);
    s.touched[group].updated.add(touched.updated);
  }
  s.gave_up = s.gave_up || o.gave_up;
  if (o.complete && !s.complete) {
    s.complete = true;
    s.profile = o.profile;
  }
}

GroupProfile const* ProfileObserver::profile() const {
  return state_->complete ? &state_->profile : nullptr;
}

bool ProfileObserver::gave_up() const {
  return state_->gave_up;
}

ProfileObserver::Touched const& ProfileObserver::of(std::uint64_t group) const {
  static Touched const none;
  auto const found = state_->touched.find(group);
  return found == state_->touched.end() ? none : found->second;
}

}  // namespace kernelcast::emu
