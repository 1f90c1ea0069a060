#include "emulator/launch/trace_observer.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <stdexcept>
#include <tuple>

#include <fmt/format.h>

#include "emulator/launch/places.hpp"
#include "emulator/tensor_map.hpp"
#include "kernels/ptx/liveness.hpp"

namespace kernelcast::launch {

namespace {

using ptx::Op;
using ptx::StateSpace;

// Barriers that programs number: what waits there need not be the whole group.
bool is_numbered_barrier(ptx::Instruction const& i) {
  if (!i.is_barrier() || i.has("warp") || i.has("cluster")) return false;
  // bar.red has a result before the number, and a predicate at the end.
  std::size_t const at = i.has("red") ? 1 : 0, without_count = i.has("red") ? 3 : 1;
  if (i.operands.size() < without_count) return false;
  ptx::Operand const& number = i.operands[at];
  return i.operands.size() > without_count || number.kind != ptx::Operand::Kind::integer || number.value != 0;
}
// Its shape is data, so that the opcode does not say how many operations it is.
bool is_tcgen05_product(ptx::Instruction const& i) {
  return i.is(Op::tcgen05) && i.has("mma");
}

// What the numbers of an instruction's item in column `addresses` are, as column `space` names it; empty: it has none.
std::string_view space_of(ptx::Instruction const& i, record::InstructionClass counted) {
  if (is_numbered_barrier(i)) return record::barrier_space;
  if (is_tcgen05_product(i)) return record::product_space;
  if (i.tests_mbarrier() || i.arrives_at_mbarrier()) return name(i.is_bulk_copy() ? i.space() : StateSpace::shared);
  if (counted != record::InstructionClass::memory) return {};
  if (i.is(Op::tcgen05)) return name(StateSpace::shared);
  return name(i.is_image_access() || i.is(Op::txq, Op::suq) ? StateSpace::tex : i.space());
}

// Of ldmatrix and stmatrix, for each lane that names a row.
constexpr std::uint64_t matrix_row_bytes = 16;

std::optional<std::uint64_t> bytes_of(emu::Program const& program, std::uint32_t instruction) {
  ptx::Instruction const& i = program.kernel().instructions[instruction];
  std::uint64_t bytes = 0;
  for (std::string_view const m : i.modifiers)
    for (auto type = ptx::Type::u8; type != ptx::Type::pred; type = static_cast<ptx::Type>(static_cast<int>(type) + 1))
      if (m == ptx::name(type)) bytes = ptx::size_bytes(type);
  if (i.is(Op::cp) && i.operands.size() > 2 && i.operands[2].kind == ptx::Operand::Kind::integer)
    return i.operands[2].value;
  if (i.is_bulk_copy() || (i.is(Op::st) && i.has("bulk")))
    return emu::shared_granule_bytes;  // of a copy engine's pieces
  if (i.is(Op::ldmatrix, Op::stmatrix)) return matrix_row_bytes;
  if (auto const requests = program.fragment_requests(instruction); requests.count > 0) return requests.bytes;
  if (bytes == 0 || i.is(Op::cp)) return std::nullopt;
  return bytes * i.elements();
}

// cp.async.wait_group N, cp.async.bulk.wait_group N, wgmma.wait_group N
std::optional<std::uint64_t> pending_of(ptx::Instruction const& i) {
  bool const waits = i.is(Op::cp, Op::wgmma) && i.has("wait_group");
  if (!waits || i.operands.empty() || i.operands[0].kind != ptx::Operand::Kind::integer) return std::nullopt;
  return i.operands[0].value;
}

char letter_of(StateSpace space) {
  switch (space) {
    case StateSpace::global:
      return 'g';
    case StateSpace::shared:
      return 's';
    case StateSpace::local:
      return 'l';
    case StateSpace::constant:
      return 'c';
    case StateSpace::param:
      return 'p';
    default:
      return 't';
  }
}

// A kernel parameter is read at a place that the text names: "8+0".
std::string parameter_address(ptx::Function const& kernel, ptx::Instruction const& i) {
  if (i.guard.present || i.operands.size() < 2) return {};
  ptx::Operand const& address = i.operands[1];
  if (address.kind != ptx::Operand::Kind::address || address.elements.empty()) return {};
  ptx::Operand const& base = address.elements[0];
  if (base.kind != ptx::Operand::Kind::parameter || base.result) return {};
  return fmt::format("{}+0", kernel.parameters[base.id].offset + base.value + address.value);
}

std::string joined(std::vector<std::uint32_t> const& numbers) {
  std::vector<std::uint32_t> distinct;
  for (std::uint32_t const n : numbers)
    if (std::find(distinct.begin(), distinct.end(), n) == distinct.end()) distinct.push_back(n);
  return fmt::format("{}", fmt::join(distinct, ";"));
}

// The cells of an exec row between those that are filled.
struct ExecRow {
  std::string before_block, before_group, before_mask, after;
};
ExecRow exec_row() {
  auto const& columns = record::Trace::schema().columns();
  auto const at = [&](std::string_view name) {
    return static_cast<std::size_t>(
        std::find_if(columns.begin(), columns.end(), [&](auto const& c) { return c.name == name; }) - columns.begin());
  };
  std::size_t const block = at("block"), group = at("group"), addresses = at("addresses");
  if (at("kind") != 0 || block > group || at("warp") != group + 1 || at("seq") != group + 2 ||
      at("mask") != group + 3 || addresses != group + 4)
    throw std::logic_error("the columns of a trace's exec rows are in another order");
  return {"exec" + std::string(block, ','), std::string(group - block, ','), ",",
          std::string(columns.size() - 1 - addresses, ',')};
}

template <class Number>
char* put(char* out, Number value, int base = 10) {
  return std::to_chars(out, out + 20, value, base).ptr;
}
char* put_text(char* out, std::string_view text) {
  std::memcpy(out, text.data(), text.size());
  return out + text.size();
}

}  // namespace

// ---------------------------------------------------------------- rows

TraceOutput::TraceOutput(record::Writer<record::Trace>& rows, record::Format format, std::vector<std::string> labels)
    : rows_(rows),
      csv_(format == record::Format::csv),
      labels_(std::move(labels)),
      no_labels_(labels_.size()),
      row_end_(labels_.size(), ',') {
  row_end_ += '\n';
}

void TraceOutput::write(record::Trace const& row) {
  flush();
  rows_.write(row, row.kind == "launch" ? labels_ : no_labels_);
}

bool TraceOutput::is_new(std::string const& kernel, emu::Program const& program) {
  std::string text;
  for (ptx::Instruction const& i : program.kernel().instructions) {
    ptx::Effects const effects = ptx::effects(i);
    text +=
        fmt::format("{} {} {}\n", ptx::full_opcode(i), fmt::join(effects.written, ","), fmt::join(effects.read, ","));
  }
  std::size_t const code = std::hash<std::string>{}(text);
  auto const [at, fresh] = kernels_.try_emplace(kernel, code);
  return fresh || std::exchange(at->second, code) != code;
}

void TraceOutput::execute(std::uint64_t group, std::uint64_t warp, std::uint64_t seq, std::uint64_t block,
                          std::uint64_t mask, std::string_view addresses) {
  if (!csv_) {
    record::Trace row;
    row.kind = "exec";
    row.group = group;
    row.warp = warp;
    row.seq = seq;
    row.block = block;
    row.mask = fmt::format("{:x}", mask);
    row.addresses = addresses;
    rows_.write(row, no_labels_);
    return;
  }
  static ExecRow const cells = exec_row();
  std::size_t const room = addresses.size() + row_end_.size() + 256;
  if (used_ + room > text_.size()) text_.resize(used_ + room + piece_bytes);
  char* out = put_text(text_.data() + used_, cells.before_block);
  out = put_text(put(out, block), cells.before_group);
  out = put(out, group);
  *out++ = ',';
  out = put(out, warp);
  *out++ = ',';
  out = put(out, seq);
  *out++ = ',';
  out = put(out, mask, 16);
  *out++ = ',';
  out = put_text(put_text(put_text(out, addresses), cells.after), row_end_);
  used_ = static_cast<std::size_t>(out - text_.data());
  ++held_;
  if (used_ >= piece_bytes) flush();
}

void TraceOutput::flush() {
  if (held_ == 0) return;
  rows_.write_csv_lines({text_.data(), used_}, held_);
  used_ = held_ = 0;
}

// ---------------------------------------------------------------- events

struct TraceObserver::State {
  // One instruction of a block that has an item.
  struct Item {
    std::uint32_t instruction = 0;
    std::string text;  // of an address that the PTX names
  };
  // What one wavefront has done in the block that runs.
  struct Wavefront {
    std::vector<char> text = std::vector<char>(256);
    std::size_t used = 0;
    std::uint32_t items = 0;  // begun; the last one may get further parts
  };

  State(emu::Program const& p, unsigned w, TraceOutput& o) : program(p), width(w), output(o) {
    auto const& instructions = program.kernel().instructions;
    item_of.resize(instructions.size(), no_item);
    letters.resize(instructions.size());
    for (auto const& range : program.blocks()) {
      auto& items = blocks.emplace_back();
      for (std::uint32_t i = range.first; i < range.last; ++i) {
        std::string_view const space = space_of(instructions[i], program.instruction_class(i));
        if (space.empty()) continue;
        item_of[i] = static_cast<std::uint32_t>(items.size());
        letters[i] = space == "generic" ? 'g' : space[0];
        items.push_back({i, space == "param" ? parameter_address(program.kernel(), instructions[i]) : std::string()});
      }
    }
  }

  void begin_item(Wavefront&, std::vector<Item> const&, std::uint32_t item);
  // The item of an instruction without addresses: a number, the same for the lanes of `mask`, of wavefront w of the
  // unit.
  void add_number(std::uint32_t instruction, std::uint32_t w, std::uint64_t mask, std::uint64_t number);
  void finish_block();

  static constexpr std::uint32_t no_item = ~std::uint32_t{0};
  emu::Program const& program;
  unsigned width;
  TraceOutput& output;
  std::vector<std::vector<Item>> blocks;
  std::vector<std::uint32_t> item_of;  // by instruction
  std::vector<char> letters;           // by instruction: its own space

  std::uint64_t group = 0;
  bool running = false;  // a block whose rows are not yet written
  std::uint32_t block = 0, first = 0, count = 0;
  std::array<std::uint64_t, emu::max_warps_per_unit> masks{};
  std::array<Wavefront, emu::max_warps_per_unit> wavefronts;
  std::vector<std::uint64_t> seq;  // by wavefront of the group
};

namespace {

// The lanes of wavefront w of the unit.
std::uint64_t mask_of(emu::Lanes const& lanes, unsigned width, std::uint32_t w) {
  if (width == 32) return lanes.masks[w];
  return lanes.masks[2 * w] | (2 * w + 1 < lanes.warps ? std::uint64_t{lanes.masks[2 * w + 1]} << 32 : 0);
}

}  // namespace

TraceObserver::TraceObserver(emu::Program const& program, unsigned width, TraceOutput& output)
    : state_(std::make_unique<State>(program, width, output)) {}
TraceObserver::~TraceObserver() = default;

// Ends the items before `item`, and opens it; a second part of one item is set off by '|'.
void TraceObserver::State::begin_item(Wavefront& w, std::vector<Item> const& items, std::uint32_t item) {
  std::size_t room = record::max_part_text + 2;
  for (std::uint32_t i = w.items; i < item; ++i) room += items[i].text.size() + 1;
  if (w.used + room > w.text.size()) w.text.resize(2 * (w.used + room));
  char* out = w.text.data() + w.used;
  if (w.items == item + 1) *out++ = '|';
  for (; w.items <= item; ++w.items) {
    if (w.items > 0) *out++ = ';';
    if (w.items < item) out = put_text(out, items[w.items].text);
  }
  w.used = static_cast<std::size_t>(out - w.text.data());
}

void TraceObserver::State::finish_block() {
  if (!running) return;
  running = false;
  auto const& items = blocks[block];
  for (std::uint32_t w = 0; w < count; ++w) {
    if (masks[w] == 0) continue;
    Wavefront& wavefront = wavefronts[w];
    if (auto const all = static_cast<std::uint32_t>(items.size()); wavefront.items < all) {
      begin_item(wavefront, items, all - 1);
      wavefront.used = static_cast<std::size_t>(put_text(wavefront.text.data() + wavefront.used, items[all - 1].text) -
                                                wavefront.text.data());
    }
    output.execute(group, first + w, seq[first + w]++, block, masks[w], {wavefront.text.data(), wavefront.used});
  }
}

void TraceObserver::group_begin(std::uint64_t group) {
  state_->group = group;
  state_->seq.assign(emu::max_lanes_per_unit, 0);
}

void TraceObserver::group_end() {
  state_->finish_block();
}

void TraceObserver::block(std::uint32_t block, emu::Lanes const& lanes) {
  State& s = *state_;
  s.finish_block();
  s.running = true;
  s.block = block;
  unsigned const warps = s.width / emu::lanes_per_warp;
  s.first = lanes.first_warp / warps;
  s.count = (lanes.warps + warps - 1) / warps;
  for (std::uint32_t w = 0; w < s.count; ++w) {
    s.masks[w] = mask_of(lanes, s.width, w);
    s.wavefronts[w].used = 0;
    s.wavefronts[w].items = 0;
  }
}

void TraceObserver::State::add_number(std::uint32_t instruction, std::uint32_t w, std::uint64_t mask,
                                      std::uint64_t number) {
  if (!running || mask == 0 || item_of[instruction] == no_item) return;
  static constexpr std::array<std::uint32_t, record::max_trace_lanes> same{};
  Wavefront& wavefront = wavefronts[w];
  begin_item(wavefront, blocks[block], item_of[instruction]);
  char* const out = wavefront.text.data() + wavefront.used;
  char const* const end = record::write_lane_addresses(out, masks[w], mask, 0, number, same.data());
  wavefront.used += static_cast<std::size_t>(end - out);
}

void TraceObserver::barrier(std::uint32_t instruction, emu::Lanes const& lanes, std::uint32_t number,
                            std::uint32_t threads) {
  State& s = *state_;
  for (std::uint32_t w = 0; w < s.count; ++w)
    s.add_number(instruction, w, mask_of(lanes, s.width, w), record::barrier_number(number, threads));
}

void TraceObserver::product(std::uint32_t instruction, std::uint32_t lane, char const*, double flop) {
  std::uint64_t const operations = flop < 1e18 ? static_cast<std::uint64_t>(flop) : 0;
  state_->add_number(instruction, lane / state_->width, std::uint64_t{1} << lane % state_->width, operations);
}

void TraceObserver::memory(emu::MemoryAccess const& access) {
  State& s = *state_;
  std::uint32_t const item = s.item_of[access.instruction];
  if (!s.running || item == State::no_item || is_tcgen05_product(s.program.kernel().instructions[access.instruction]))
    return;
  auto const& items = s.blocks[s.block];
  char letter = letter_of(access.space);
  if (letter == s.letters[access.instruction]) letter = 0;
  for (std::uint32_t w = 0; w < s.count; ++w) {
    std::uint64_t const mask = mask_of(access.lanes, s.width, w);
    if (mask == 0) continue;
    State::Wavefront& wavefront = s.wavefronts[w];
    s.begin_item(wavefront, items, item);
    char* const out = wavefront.text.data() + wavefront.used;
    char const* const end = record::write_lane_addresses(out, s.masks[w], mask, letter, access.base,
                                                         access.offsets + std::size_t{s.width} * w);
    wavefront.used += static_cast<std::size_t>(end - out);
  }
}

std::unique_ptr<emu::Observer> TraceObserver::fork() const {
  return std::make_unique<TraceObserver>(state_->program, state_->width, state_->output);
}
void TraceObserver::join(Observer const&) {}

// ---------------------------------------------------------------- what stands before the rows of execution

void TraceObserver::write_launch(record::Kernel const& kernel, std::uint64_t groups_total) {
  record::Trace row;
  row.kind = "launch";
  row.kernel = kernel.kernel;
  row.case_name = kernel.case_name;
  row.block = kernel.block_x * kernel.block_y * kernel.block_z;
  row.groups_total = groups_total;
  static_cast<record::RegisterCounts&>(row) = static_cast<record::RegisterCounts const&>(kernel);
  row.shared_bytes = kernel.shared_bytes;
  row.width = state_->width;
  state_->output.write(row);
}

void TraceObserver::write_instructions(std::string const& kernel) {
  emu::Program const& program = state_->program;
  auto const& instructions = program.kernel().instructions;
  for (std::size_t b = 0; b < program.blocks().size(); ++b)
    for (std::uint32_t i = program.blocks()[b].first; i < program.blocks()[b].last; ++i) {
      ptx::Instruction const& instruction = instructions[i];
      ptx::Effects const effects = ptx::effects(instruction);
      record::Trace row;
      row.kind = "inst";
      row.kernel = kernel;
      row.block = b;
      row.pc = i;
      row.class_name = name(program.instruction_class(i));
      row.dst = joined(effects.written);
      row.src = joined(effects.read);
      row.space = space_of(instruction, program.instruction_class(i));
      if (program.instruction_class(i) == record::InstructionClass::memory) row.bytes_per_lane = bytes_of(program, i);
      row.opcode = ptx::full_opcode(instruction);
      row.pending = pending_of(instruction);
      std::tie(row.source, row.line) = place_of(program.module(), instruction);
      state_->output.write(row);
    }
}

}  // namespace kernelcast::launch
