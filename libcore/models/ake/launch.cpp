#include "models/ake/launch.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <utility>

#include <fmt/format.h>

namespace kernelcast::model::ake {

namespace {

using record::InstructionClass;

constexpr std::uint64_t max_blocks = 1u << 24;

std::vector<std::uint32_t> registers_in(std::string_view text, record::TraceStream const& rows, char const* column) {
  std::vector<std::uint32_t> out;
  char const* at = text.data();
  char const* const end = at + text.size();
  while (at < end) {
    std::uint32_t value = 0;
    auto const [stop, failure] = std::from_chars(at, end, value);
    if (failure != std::errc{} || (stop != end && *stop != ';'))
      throw rows.error(column, fmt::format("expected register numbers joined by ';', got '{}'", text),
                       "as miniemu --emit trace writes them");
    out.push_back(value);
    at = stop + 1;
  }
  return out;
}

std::uint64_t lanes_of(std::uint64_t warp, Launch const& launch) {
  std::uint64_t const width = launch.width();
  std::uint64_t const left = launch.block_size() - std::min(launch.block_size(), warp * width);
  return left >= 64 && width == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << std::min(left, width)) - 1;
}

// A trace may come without opcodes: what has a destination is loaded, what waits waits for the group.
std::string_view opcode_of(record::Trace const& row, InstructionClass counted) {
  if (!row.opcode.empty()) return row.opcode;
  if (counted == InstructionClass::memory) return row.dst.empty() ? "st" : "ld";
  return counted == InstructionClass::sync ? "bar" : "";
}

// The products of tcgen05 are counted by the trace.
ptx::MatrixProduct product_of(std::string_view opcode, Space space) {
  auto const instruction = ptx::instruction_of(opcode);
  if (space == Space::product) return {ptx::tcgen05_kind(instruction), 0};
  return ptx::matrix_product(instruction).value_or(ptx::MatrixProduct{});
}

constexpr std::uint64_t max_product_flop = 2u * 256 * 256 * 256;

bool has_item(InstructionClass counted, Space space) {
  if (counted == InstructionClass::memory) return true;
  return space != Space::none && (counted == InstructionClass::sync || counted == InstructionClass::special);
}

bool is_access(InstructionType const& type) {
  return type.kind == Kind::load || type.kind == Kind::store || type.kind == Kind::atomic || type.kind == Kind::copy;
}

bool has_event(InstructionType const& type) {
  return type.kind == Kind::arrive || type.kind == Kind::phase || type.signals || type.space == Space::barrier ||
         type.space == Space::product;
}

bool may_end(std::vector<Instruction> const& block) {
  return std::any_of(block.begin(), block.end(), [](Instruction const& i) { return i.type.kind == Kind::exit; });
}

}  // namespace

bool LaunchReader::next(Launch& launch) {
  launch = Launch{};
  if (next_head_) {
    launch.head = *std::exchange(next_head_, std::nullopt);
    begin(launch);
  }
  using RowKind = record::TraceStream::Kind;
  for (RowKind kind = rows_.next(); kind != RowKind::end; kind = rows_.next()) {
    if (kind == RowKind::execution) {
      if (!launch.head.groups_total)
        throw rows_.error("kind", "an exec row before any launch row", "a launch row goes before its others");
      add_execution(launch);
    } else if (kind == RowKind::instruction) {
      add_instruction();
    } else if (launch.head.groups_total) {
      next_head_ = rows_.row();
      break;
    } else {
      launch.head = rows_.row();
      begin(launch);
    }
  }
  if (!launch.head.groups_total) return false;
  check_complete(launch);
  for (auto& [number, group] : kept_) launch.groups.push_back(std::move(group));
  launch.kernel = &kernels_[launch.head.kernel];
  return true;
}

void LaunchReader::begin(Launch& launch) {
  auto const& head = launch.head;
  for (auto const& [column, value] : {std::pair{"block", head.block}, std::pair{"groups_total", head.groups_total}})
    if (value.value_or(0) == 0)
      throw rows_.error(column, "must be at least 1 in a launch row", "miniemu --emit trace writes it");
  if (head.kernel.empty()) throw rows_.error("kernel", "empty in a launch row", "miniemu --emit trace writes it");
  if (launch.width() != 32 && launch.width() != 64)
    throw rows_.error("width", fmt::format("expected 32 or 64, got {}", launch.width()), "miniemu --width");
  if (launch.block_size() > 65536)
    throw rows_.error("block", "a group of more than 65536 work-items", "devices run 1024");
  if (launch.groups_total() >> 53) throw rows_.error("groups_total", "more groups than can be run", "at most 2^53");
  kept_.clear();
  last_ = nullptr;
  items_of_ = nullptr;
  max_kept_ = std::max<std::size_t>(1, keep_(head));
  kernels_[head.kernel].name = head.kernel;
}

void LaunchReader::add_instruction() {
  record::Trace const& row = rows_.row();
  if (row.kernel.empty()) throw rows_.error("kernel", "empty in an inst row", "miniemu --emit trace writes it");
  if (!row.block || *row.block >= max_blocks)
    throw rows_.error("block", "the number of a block is needed here", "blocks count from 0");
  auto const space = space_named(row.space);
  if (!space)
    throw rows_.error("space", fmt::format("unknown space '{}'", row.space),
                      did_you_mean(row.space, {"generic", "global", "shared", "local", "const", "param", "tex"}));
  auto const counted = record::value_named<InstructionClass>(row.class_name);
  auto const& known = record::names_of<InstructionClass>;
  if (!counted)
    throw rows_.error("class", fmt::format("unknown class '{}'", row.class_name),
                      did_you_mean(row.class_name, {known.begin(), known.end()}, known.size()));
  auto& blocks = kernels_[row.kernel].blocks;
  auto& items = items_[row.kernel];
  // Another kernel of this name begins where its first instruction comes again.
  if (auto const [first, fresh] = first_pc_.try_emplace(row.kernel, row.pc);
      !fresh && row.pc && row.pc == first->second) {
    if (items_of_ == &items)
      throw rows_.error("pc", "a kernel's instructions come again between its exec rows",
                        "those of another kernel of its name stand behind a launch row");
    blocks.clear();
    items.clear();
  }
  if (*row.block >= blocks.size()) {
    blocks.resize(*row.block + 1);
    items.resize(*row.block + 1);
  }
  has_opcodes_ |= !row.opcode.empty();
  Instruction instruction;
  instruction.type = classify(*counted, opcode_of(row, *counted), *space);
  instruction.bytes_per_lane = static_cast<unsigned>(std::min<std::uint64_t>(row.bytes_per_lane.value_or(4), 4096));
  instruction.pending = static_cast<unsigned>(std::min<std::uint64_t>(row.pending.value_or(0), 255));
  instruction.product = product_of(opcode_of(row, *counted), *space);
  instruction.sources = registers_in(row.src, rows_, "src");
  instruction.destinations = registers_in(row.dst, rows_, "dst");
  if (has_item(*counted, *space)) {
    Items& there = items[*row.block];
    if (there.count == max_items)
      throw rows_.error("block", fmt::format("more than {} instructions with an item in one block", max_items),
                        "is this one kernel?");
    there.engine.push_back(instruction.type.engine);
    if (has_event(instruction.type)) there.events.emplace_back(there.count, instruction.type);
    instruction.item = static_cast<std::int32_t>(there.count++);
  } else if (is_access(instruction.type)) {
    throw rows_.error("class", fmt::format("'{}' is an access to memory, of class {}", row.opcode, row.class_name),
                      "miniemu --emit trace writes memory");
  }
  blocks[*row.block].push_back(std::move(instruction));
}

TracedGroup* LaunchReader::group_of(Launch& launch, std::uint64_t number) {
  if (last_ && last_->number == number) return last_;
  auto at = kept_.find(number);
  if (at == kept_.end()) {
    if (kept_.size() == max_kept_) {
      // What was dropped once is higher than all that are kept from then on.
      auto const highest = std::prev(kept_.end());
      if (highest->first < number) return nullptr;
      if (last_ == &highest->second) last_ = nullptr;
      kept_.erase(highest);
    }
    at = kept_.emplace(number, TracedGroup{}).first;
    at->second.number = number;
    at->second.warps.resize(launch.warps_per_group());
  }
  return last_ = &at->second;
}

void LaunchReader::add_execution(Launch& launch) {
  record::TraceExecution const& e = rows_.execution();
  if (!items_of_) items_of_ = &items_[launch.head.kernel];
  if (e.block >= items_of_->size())
    throw rows_.error("block", fmt::format("kernel '{}' has no block {}", launch.head.kernel, e.block),
                      "the inst rows of a kernel stand before its first exec row");
  if (e.group >= launch.groups_total())
    throw rows_.error("group", fmt::format("the launch has {} groups", launch.groups_total()), "they count from 0");
  if (e.warp >= launch.warps_per_group())
    throw rows_.error("warp",
                      fmt::format("a group of {} work-items has {} wavefronts of {}", launch.block_size(),
                                  launch.warps_per_group(), launch.width()),
                      "they count from 0");
  if (e.mask == 0 || (e.mask & ~lanes_of(e.warp, launch)))
    throw rows_.error("mask", e.mask == 0 ? "no lane executes the block" : "lanes that the wavefront does not have",
                      "hexadecimal, the lowest lane in the lowest bit");
  TracedGroup* const group = group_of(launch, e.group);
  if (!group) return;
  TracedWarp& warp = group->warps[e.warp];
  if (e.seq != warp.rows.size())
    throw rows_.error(
        "seq",
        fmt::format("expected {} for wavefront {} of group {}, got {}", warp.rows.size(), e.warp, e.group, e.seq),
        "rows of a wavefront must be in order, and none may be missing");
  warp.rows.push_back({static_cast<std::uint32_t>(e.block), static_cast<std::uint32_t>(warp.parts.size())});
  if (e.addresses.empty()) return;
  add_parts(launch, warp, e);
  if (!(*items_of_)[e.block].events.empty()) add_events(launch, *group, warp, e);
}

// An arrival or a test of a wavefront is one, whichever of its lanes take part.
void LaunchReader::add_events(Launch const& launch, TracedGroup& group, TracedWarp& warp,
                              record::TraceExecution const& e) {
  auto const row = static_cast<std::uint32_t>(warp.rows.size() - 1);
  for (auto const& [item, type] : (*items_of_)[e.block].events) {
    Part const* last = nullptr;
    for (std::size_t p = warp.rows[row].parts; p < warp.parts.size(); ++p)
      if (warp.parts[p].item == item) last = &warp.parts[p];
    if (!last) continue;
    std::uint64_t const value = last->listed ? warp.lists[last->list()] : last->first;
    Event event;
    if (type.space == Space::barrier) {
      event.object = static_cast<std::uint32_t>(value % barriers_of_group);
      event.count = (value / barriers_of_group + launch.width() - 1) / launch.width();
    } else if (type.space == Space::product) {
      if (value > max_product_flop)
        throw rows_.error("addresses", fmt::format("a product of {} operations", value),
                          "tcgen05.mma multiplies at most 256 x 256 x 256");
      event.count = value;
    } else {
      auto const next = static_cast<std::uint32_t>(group.objects.size());
      auto& object = group.objects.try_emplace(value, TracedGroup::Object{next, 0}).first->second;
      event.object = object.number;
      event.count = type.kind == Kind::phase ? object.arrivals : ++object.arrivals;
    }
    warp.events.push_back({row, item, event});
  }
}

// The addresses of the lanes, one by one.
void LaunchReader::spread_out(Part& p, std::vector<std::uint64_t>& list) const {
  auto const lowest = static_cast<unsigned>(std::countr_zero(p.mask));
  for (std::uint64_t m = p.mask; m; m &= m - 1)
    list.push_back(p.first +
                   static_cast<std::uint64_t>(part_.stride) * (static_cast<unsigned>(std::countr_zero(m)) - lowest));
  p.listed = true;
}

void LaunchReader::add_parts(Launch const& launch, TracedWarp& warp, record::TraceExecution const& e) {
  auto const& engine = (*items_of_)[e.block].engine;
  record::AddressReader reader(e.addresses, e.mask);
  try {
    while (reader.next(part_, warp.lists)) {
      bool const any = part_.item < engine.size() && engine[part_.item];
      if (part_.mask & ~(any ? lanes_of(e.warp, launch) : e.mask))
        throw Error(Status::bad_data, "lanes that do not execute the block", "copy engines alone use others");
      Part& p = warp.parts.emplace_back();
      p.mask = part_.mask;
      p.first = part_.first;
      p.item = static_cast<std::uint32_t>(part_.item) % max_items;
      p.space = space_of_letter(part_.space);
      p.listed = !part_.affine;
      p.stride = static_cast<std::int32_t>(part_.stride);
      if (part_.affine && p.stride != part_.stride) spread_out(p, warp.lists);  // too far apart for 32 bits
      if (p.listed)
        p.stride = static_cast<std::int32_t>(warp.lists.size() - static_cast<std::size_t>(std::popcount(p.mask)));
    }
  } catch (Error const& error) {
    throw rows_.error("addresses", error.what(), error.hint());
  }
  unsigned const there = (*items_of_)[e.block].count;
  if (reader.items() > there)
    throw rows_.error(
        "addresses",
        fmt::format("{} item{} where block {} has {} instruction{} with one", reader.items(),
                    reader.items() == 1 ? "" : "s", e.block, there, there == 1 ? "" : "s"),
        "one for each that has a space, in their order, joined by ; and none is missing among the inst rows");
}

void LaunchReader::check_complete(Launch const& launch) {
  auto const cut = [&](std::string const& what) {
    return rows_.error("kind", "the trace ends in the middle: " + what,
                       "was miniemu interrupted, or the file cut? This is the last row that was read");
  };
  if (kept_.empty()) throw cut(fmt::format("no group of kernel '{}' was executed", launch.head.kernel));
  auto const& blocks = kernels_[launch.head.kernel].blocks;
  for (auto const& [number, group] : kept_)
    for (std::size_t w = 0; w < group.warps.size(); ++w) {
      auto const& rows = group.warps[w].rows;
      if (rows.empty()) throw cut(fmt::format("wavefront {} of group {} is missing", w, number));
      if (has_opcodes_ && !may_end(blocks[rows.back().block]))
        throw cut(fmt::format("wavefront {} of group {} does not come to its end", w, number));
    }
}

}  // namespace kernelcast::model::ake
