#include "emulator/check/async.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace kernelcast::emu {

namespace {

using ptx::StateSpace;
constexpr unsigned cell_shift = 4;
constexpr std::uint64_t cell_bytes = std::uint64_t{1} << cell_shift;
constexpr std::uint32_t run_lanes = 16, tensor_runs = 128 / run_lanes, tensor_columns = 512;
constexpr std::size_t max_operations = std::size_t{1} << 20;  // then all are forgotten
constexpr std::uint64_t object_bytes = 8;

template <class Each>
void each_lane(Lanes const& lanes, Each each) {
  for (std::uint32_t w = 0; w < lanes.warps; ++w)
    for (std::uint32_t rest = lanes.masks[w]; rest; rest &= rest - 1)
      each(w * lanes_per_warp + static_cast<std::uint32_t>(std::countr_zero(rest)));
}

std::uint64_t word_at(MemoryAccess const& a, std::uint32_t lane) {
  std::uint64_t word = 0;
  std::memcpy(&word, a.host + a.offsets[lane], sizeof word);
  return word;
}

// The last operand, where it is no register.
std::uint32_t count_of(ptx::Instruction const& i) {
  bool const known = !i.operands.empty() && i.operands.back().kind == ptx::Operand::Kind::integer;
  return known ? static_cast<std::uint32_t>(i.operands.back().value) : AsyncOrder::unknown_arrivals;
}
// By one work-item.
std::uint32_t arrivals_of(ptx::Instruction const& i, AsyncRole role) {
  if (role == AsyncRole::copy || role == AsyncRole::store_async) return 0;
  if (role == AsyncRole::commit) return 1;
  if (i.is(ptx::Op::cp)) return i.has("noinc") ? 1 : 0;
  return i.has("expect_tx") || i.operands.size() < 3 ? 1 : count_of(i);
}

bool is_object(std::uint64_t word) {
  return word >> 62 == 2;
}

}  // namespace

void AsyncCheck::begin(Program const& program, Facts const& facts, AsyncText const& text) {
  program_ = &program;
  facts_ = &facts;
  text_ = &text;
  registers_.begin(program, text);
}

void AsyncCheck::follow_cluster() {
  in_cluster_ = true;
  order_.follow_cluster();
}

// A copy that has signalled no mbarrier of the group has signalled that of another one.
void AsyncCheck::end_instruction() {
  for (Running const& r : running_)
    if (in_cluster_ && operations_[r.operation].entry == AsyncOrder::never)
      operations_[r.operation].entry = AsyncOrder::done;
  running_.clear();
}

void AsyncCheck::begin_group() {
  order_.begin_group();
  registers_.begin_group();
  std::ranges::fill(at_, Position{});
  std::ranges::fill(counts_, Counts{});
  std::ranges::fill(shared_, Cell{});
  tensor_.clear();
  operations_.assign(1, {});
  running_.clear();
}

void AsyncCheck::enter_block(std::uint32_t block, Lanes const& lanes) {
  end_instruction();
  order_.next_access();
  for (std::uint32_t w = 0; w < lanes.warps; ++w) {
    if (!lanes.masks[w]) continue;
    std::uint32_t const warp = lanes.first_warp + w;
    end_block(warp);
    at_[warp] = {block, 0};
  }
}

void AsyncCheck::end_block(std::uint32_t warp) {
  Position& at = at_[warp];
  if (at.block == Position::nowhere) return;
  auto const steps = text_->steps(at.block);
  while (at.next < steps.size()) step(steps[at.next++], warp);
  if (text_->ends_straight_code(at.block)) registers_.end_straight_code(warp);
}

void AsyncCheck::end_group() {
  for (std::uint32_t warp = 0; warp < AsyncOrder::max_warps; ++warp) {
    end_block(warp);
    registers_.end_straight_code(warp);
  }
}

void AsyncCheck::reach(std::uint32_t instruction, Lanes const& lanes) {
  for (std::uint32_t w = 0; w < lanes.warps; ++w) {
    if (!lanes.masks[w]) continue;
    std::uint32_t const warp = lanes.first_warp + w;
    Position& at = at_[warp];
    if (at.block == Position::nowhere) continue;
    auto const steps = text_->steps(at.block);
    while (at.next < steps.size() && steps[at.next].instruction < instruction) step(steps[at.next++], warp);
  }
}

void AsyncCheck::guarded(std::uint32_t instruction, Lanes const& lanes) {
  AsyncStep const* const found = text_->guarded_step(instruction);
  if (!found) return;
  reach(instruction, lanes);
  for (std::uint32_t w = 0; w < lanes.warps; ++w)
    if (lanes.masks[w]) step(*found, lanes.first_warp + w);
}

void AsyncCheck::step(AsyncStep const& s, std::uint32_t warp) {
  using enum AsyncStep::Kind;
  Counts& count = counts_[warp];
  auto const complete = [&](std::uint32_t groups) { return groups - std::min(groups, s.count); };
  switch (s.kind) {
    case proxy_fence:
      return order_.fence(warp);
    case staging_commit:
      ++count.staging_groups;
      return;
    case staging_wait: {
      bool const all = program_->kernel().instructions[s.instruction].has("wait_all");
      return order_.raise(static_cast<std::uint16_t>(AsyncOrder::staged + warp),
                          all ? ++count.staging_groups : complete(count.staging_groups), warp);
    }
    case copy_commit:
      ++count.copy_groups;
      return;
    case copy_wait:
      return order_.raise(static_cast<std::uint16_t>(AsyncOrder::copies + warp), complete(count.copy_groups), warp);
    case product_commit:
      ++count.product_groups;
      return;
    case product_wait:
      registers_.products_done(warp, complete(count.product_groups));
      return order_.raise(static_cast<std::uint16_t>(AsyncOrder::products + warp / 4), complete(count.product_groups),
                          warp);
    case tensor_issue:
      ++count.tensor;
      return;
    case tensor_load_wait:
      registers_.loads_done(warp);
      return order_.finish(AsyncOrder::loaded, warp);
    case tensor_store_wait:
      return order_.finish(AsyncOrder::stored, warp);
    case product_issue:
    case tensor_load_issue:
    case registers:
      return registers_.execute(s.instruction, warp, count.product_groups);
  }
}

void AsyncCheck::meet(Meeting const& m) {
  m.phase ? order_.phase_met(m) : order_.meet(m);
}

bool AsyncCheck::is_complete(Index index, std::uint32_t warp) const {
  Operation const& o = operations_[index];
  return index == 0 || order_.complete(o.entry, o.number, warp);
}

// The operation that an instruction is for this work-item, now.
AsyncCheck::Index AsyncCheck::operation_of(std::uint32_t instruction, std::uint32_t item, AsyncRole role) {
  if (running_instruction_ != instruction) end_instruction();
  running_instruction_ = instruction;
  for (Running const& r : running_)
    if (r.item == item) return r.operation;
  if (operations_.size() >= max_operations) {
    std::ranges::fill(shared_, Cell{});
    tensor_.clear();
    operations_.resize(1);
    running_.clear();
  }
  std::uint32_t const warp = item / lanes_per_warp;
  Operation made{instruction, 0, AsyncOrder::done, static_cast<std::uint16_t>(item)};
  auto const belongs_to = [&](std::uint32_t entry, Time number) {
    made.entry = static_cast<std::uint16_t>(entry);
    made.number = number;
  };
  if (role == AsyncRole::staging) {
    belongs_to(AsyncOrder::staged + warp, counts_[warp].staging_groups);
  } else if (role == AsyncRole::copy) {
    if (facts_->sites[instruction].completes)
      made.entry = AsyncOrder::never;  // until its mbarrier is known
    else
      belongs_to(AsyncOrder::copies + warp, counts_[warp].copy_groups);
  } else if (role == AsyncRole::group_product) {
    belongs_to(AsyncOrder::products + warp / 4, counts_[warp].product_groups);
  } else {
    belongs_to(AsyncOrder::tensor + warp, std::max(counts_[warp].tensor, 1u) - 1);
  }
  operations_.push_back(made);
  auto const index = static_cast<Index>(operations_.size() - 1);
  running_.push_back({item, index});
  return index;
}

void AsyncCheck::access(MemoryAccess const& a) {
  if (a.space != StateSpace::shared && a.space != StateSpace::global) return;
  AsyncRole const role = text_->role(a.instruction);
  if (role == AsyncRole::allocation) return;
  reach(a.instruction + 1, a.lanes);
  Facts::Site const& site = facts_->sites[a.instruction];
  bool const barrier = role == AsyncRole::barrier || role == AsyncRole::barrier_init ||
                       role == AsyncRole::barrier_count || role == AsyncRole::barrier_test || role == AsyncRole::commit;
  bool const signal = (site.completes || role == AsyncRole::store_async) && a.direction == Direction::atomic &&
                      a.bytes_per_lane == object_bytes;
  if (a.space == StateSpace::shared && (barrier || signal)) return access_barrier(a, role);
  if (role == AsyncRole::none && (site.strong || site.strong_global))
    each_lane(a.lanes, [&](std::uint32_t lane) {
      std::uint64_t const address = (a.base + a.offsets[lane]) << 1 | (a.space == StateSpace::global ? 1u : 0u);
      order_.atomic(a.lanes.first_warp + lane / lanes_per_warp, address, a.direction != Direction::store,
                    a.direction != Direction::load);
    });
  if (a.space == StateSpace::shared) access_bytes(a, role);
}

void AsyncCheck::access_barrier(MemoryAccess const& a, AsyncRole role) {
  order_.next_access();
  ptx::Instruction const& i = program_->kernel().instructions[a.instruction];
  each_lane(a.lanes, [&](std::uint32_t lane) {
    std::uint64_t const object = a.base + a.offsets[lane], word = word_at(a, lane);
    std::uint32_t const item = a.lanes.first_warp * lanes_per_warp + lane, warp = item / lanes_per_warp;
    if (role == AsyncRole::barrier_init) return order_.initialise(object, count_of(i));
    if (!is_object(word)) return;  // the emulator finds that
    if (role == AsyncRole::barrier_test) return order_.test(warp, object, word);
    if (role == AsyncRole::barrier_count) return static_cast<void>(order_.phase_of(object, word));
    if (role == AsyncRole::copy) {
      AsyncOrder::Phase const phase = order_.phase_of(object, word);
      Operation& operation = operations_[operation_of(a.instruction, item, role)];
      operation.entry = phase.entry;
      operation.number = phase.number;
    }
    if (role == AsyncRole::commit)
      order_.promise(object, word, static_cast<std::uint16_t>(AsyncOrder::tensor + warp), counts_[warp].tensor);
    if (i.is(ptx::Op::cp) && role == AsyncRole::barrier)
      order_.promise(object, word, static_cast<std::uint16_t>(AsyncOrder::staged + warp),
                     counts_[warp].staging_groups + 1);
    order_.arrive(warp, object, word, arrivals_of(i, role));
  });
}

void AsyncCheck::access_bytes(MemoryAccess const& a, AsyncRole role) {
  std::uint64_t const cells = (a.region_bytes + (1u << cell_shift) - 1) >> cell_shift;
  if (shared_.size() < cells) shared_.resize(cells);
  bool const async = role == AsyncRole::copy || role == AsyncRole::group_product || role == AsyncRole::tensor;
  std::uint64_t last_cell = ~std::uint64_t{0};
  std::uint32_t last_item = 0;
  each_lane(a.lanes, [&](std::uint32_t lane) {
    std::uint32_t const first = a.lanes.first_warp * lanes_per_warp;
    std::uint32_t item = first + (a.issuer == MemoryAccess::no_issuer ? lane : a.issuer);
    if (role == AsyncRole::group_product || role == AsyncRole::staging) item -= item % lanes_per_warp;
    By by{&a,
          a.base + a.offsets[lane],
          a.instruction,
          item,
          0,
          a.direction != Direction::store,
          a.direction != Direction::load};
    if (async || (role == AsyncRole::staging && by.writes)) by.operation = operation_of(a.instruction, item, role);
    std::uint64_t const begin = by.at >> cell_shift, end = (by.at + a.bytes_per_lane - 1) >> cell_shift;
    for (std::uint64_t cell = begin; cell <= end && cell < cells; ++cell) {
      Cell& at = shared_[cell];
      if (cell == last_cell && by.warp() == last_item / lanes_per_warp && by.operation == 0 && at.staging_wrote == 0)
        continue;
      std::uint64_t const cell_begin = cell << cell_shift;
      std::uint64_t const from = std::max(by.at, cell_begin) - cell_begin,
                          to = std::min(by.at + a.bytes_per_lane - cell_begin, cell_bytes);
      by.bytes = static_cast<std::uint16_t>((1u << to) - (1u << from));
      async ? judge_operation(by, at) : judge_generic(by, at);
      last_cell = cell;
      last_item = item;
    }
  });
}

void AsyncCheck::keep(Generic (&kept)[2], Generic const& now) {
  if (kept[0].time && kept[0].warp() != now.warp()) kept[1] = kept[0];
  kept[0] = now;
}

void AsyncCheck::keep(Index (&kept)[2], Index now) const {
  if (kept[0] && operations_[kept[0]].entry != operations_[now].entry) kept[1] = kept[0];
  kept[0] = now;
}

void AsyncCheck::judge_generic(By const& by, Cell& cell) {
  if (cell.operation_wrote && !is_complete(cell.operation_wrote, by.warp()))
    report_in_flight(by, cell.operation_wrote, true);
  judge_staging(by, cell);
  if (by.operation) {
    cell.staging_bytes =
        static_cast<std::uint16_t>(cell.staging_wrote == by.operation ? cell.staging_bytes | by.bytes : by.bytes);
    cell.staging_wrote = by.operation;
  }
  if (by.writes)
    for (Index const reader : cell.operation_read)
      if (reader && !is_complete(reader, by.warp())) report_in_flight(by, reader, false);
  Generic const now{order_.now(), by.instruction, static_cast<std::uint16_t>(by.item)};
  if (by.writes) keep(cell.wrote, now);
  if (by.reads) keep(cell.read, now);
}

// A warp may copy to a place twice before it waits.
void AsyncCheck::judge_staging(By const& by, Cell const& cell) {
  Index const staging = cell.staging_wrote;
  if (staging == 0 || (cell.staging_bytes & by.bytes) == 0 || is_complete(staging, by.warp())) return;
  bool const again = by.operation && text_->role(by.instruction) == AsyncRole::staging &&
                     operations_[staging].item / lanes_per_warp == by.warp();
  if (!again) report_in_flight(by, staging, true);
}

void AsyncCheck::judge_operation(By const& by, Cell& cell) {
  std::uint32_t const warp = by.warp();
  judge_staging(by, cell);
  for (Generic const& g : cell.wrote)
    if (g.time && !order_.is_fenced(g.warp(), g.time, warp))
      report_generic(by, g, true, order_.before(g.warp(), g.time, warp));
  if (cell.operation_wrote && cell.operation_wrote != by.operation && !is_complete(cell.operation_wrote, warp))
    report_in_flight(by, cell.operation_wrote, true);
  if (by.reads) keep(cell.operation_read, by.operation);
  if (!by.writes) return;
  for (Generic const& g : cell.read)
    if (g.time && !order_.before(g.warp(), g.time, warp)) report_generic(by, g, false, false);
  for (Index const reader : cell.operation_read)
    if (reader && reader != by.operation && !is_complete(reader, warp)) report_in_flight(by, reader, false);
  cell.operation_wrote = by.operation;
}

// [ptx] "tcgen05.wait", "tcgen05.commit": loads and stores of a warp are complete once it has waited for them,
// operations once the mbarrier of a commit was waited for. Those of one work-item come one after the other.
void AsyncCheck::access(TensorMemoryAccess const& a) {
  std::uint32_t const warp = a.work_item / lanes_per_warp, bit = 1;
  reach(a.instruction + 1, {&bit, 1, warp, false});
  AsyncRole const role = text_->role(a.instruction);
  By by{nullptr, 0, a.instruction, a.work_item, 0, a.direction != Direction::store, a.direction != Direction::load};
  if (role == AsyncRole::tensor) by.operation = operation_of(a.instruction, a.work_item, role);
  if (tensor_.empty()) tensor_.resize(std::size_t{tensor_columns} * tensor_runs);
  std::uint32_t const last = std::min((a.first_lane + a.lanes - 1) / run_lanes, tensor_runs - 1);
  for (std::uint32_t column = a.first_column; column < std::min(a.first_column + a.columns, tensor_columns); ++column)
    for (std::uint32_t run = a.first_lane / run_lanes; run <= last; ++run) {
      by.at = std::uint64_t{run * run_lanes} << 16 | column;
      judge_tensor(by, tensor_[std::size_t{column} * tensor_runs + run], role);
    }
}

void AsyncCheck::judge_tensor(By const& by, TensorCell& cell, AsyncRole role) {
  std::uint32_t const warp = by.warp();
  bool const operation = role == AsyncRole::tensor;
  auto const own = [&](Index other) { return operation && operations_[other].item / lanes_per_warp == warp; };
  auto const waited = [&](AsyncOrder::Entry entry, Generic const& g) {
    return g.time < order_.row(warp)[entry + g.warp()];
  };
  if (cell.operation_wrote && !own(cell.operation_wrote) && !is_complete(cell.operation_wrote, warp))
    report_in_flight(by, cell.operation_wrote, true);
  if (cell.wrote.time && !waited(AsyncOrder::stored, cell.wrote) &&
      (by.reads || cell.wrote.warp() != warp || operation))
    report_tensor(by, cell.wrote, true);
  if (by.writes) {
    if (cell.operation_read && !own(cell.operation_read) && !is_complete(cell.operation_read, warp))
      report_in_flight(by, cell.operation_read, false);
    for (Generic const& g : cell.read)
      if (g.time && !waited(AsyncOrder::loaded, g) && (g.warp() != warp || operation)) report_tensor(by, g, false);
  }
  Generic const now{order_.now(), by.instruction, static_cast<std::uint16_t>(by.item)};
  if (operation) {
    if (by.reads) cell.operation_read = by.operation;
    if (by.writes) cell.operation_wrote = by.operation;
    return;
  }
  if (by.writes) cell.wrote = now;
  if (by.reads) keep(cell.read, now);
}

// "shared load of 16 bytes at offset 0 by wgmma.mma_async".
std::string AsyncCheck::subject(By const& by) const {
  ptx::Instruction const& i = program_->kernel().instructions[by.instruction];
  if (!by.access)
    return ptx::full_opcode(i) +
           (by.reads && by.writes ? " updates"
            : by.writes           ? " writes"
                                  : " reads") +
           " tensor memory from lane " + std::to_string(by.at >> 16) + " on in column " +
           std::to_string(by.at & 0xffff);
  return describe_access(*by.access, memory_, by.at) +
         (by.operation || text_->role(by.instruction) == AsyncRole::staging ? " by " + ptx::full_opcode(i)
                                                                            : std::string());
}

void AsyncCheck::report_in_flight(By const& by, Index index, bool writes) {
  Operation const& o = operations_[index];
  ptx::Instruction const& i = program_->kernel().instructions[o.instruction];
  reporter_.report(Finding::Kind::in_flight, by.item, by.instruction, o.instruction,
                   "in flight: " + subject(by) + ", which " + ptx::full_opcode(i) + " of " +
                       reporter_.work_item(o.item) + " at " + reporter_.place(o.instruction, true) +
                       (writes ? " still writes" : " still reads") + ": nothing has waited for it");
}

void AsyncCheck::report_generic(By const& by, Generic const& g, bool wrote, bool ordered) {
  std::string const text = subject(by) + ", which " + reporter_.work_item(g.item) + (wrote ? " stores to" : " loads") +
                           " at " + reporter_.place(g.instruction, true);
  if (ordered)
    reporter_.report(Finding::Kind::proxy_fence, by.item, by.instruction, g.instruction,
                     "missing proxy fence: " + text + ": no fence.proxy.async between them");
  else
    reporter_.report(Finding::Kind::race, by.item, by.instruction, g.instruction,
                     "race: " + text + ": nothing orders them");
}

void AsyncCheck::report_tensor(By const& by, Generic const& g, bool wrote) {
  ptx::Instruction const& i = program_->kernel().instructions[g.instruction];
  reporter_.report(Finding::Kind::in_flight, by.item, by.instruction, g.instruction,
                   "in flight: " + subject(by) + ", which " + ptx::full_opcode(i) + " of " +
                       reporter_.work_item(g.item) + " at " + reporter_.place(g.instruction, true) +
                       (wrote ? " still writes: no tcgen05.wait::st" : " still reads: no tcgen05.wait::ld") +
                       " and what orders the two");
}

}  // namespace kernelcast::emu
