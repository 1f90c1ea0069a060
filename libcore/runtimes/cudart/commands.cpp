#include "runtimes/cudart/commands.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>

namespace kernelcast::cudart {

namespace {

constexpr std::uint64_t page_bytes = 4096;

std::size_t hash_of_page(std::uint64_t address, std::uint64_t bytes, std::size_t page) {
  auto const begin = page * page_bytes;
  return std::hash<std::string_view>{}(
      {reinterpret_cast<char const*>(address) + begin, std::min(page_bytes, bytes - begin)});
}

}  // namespace

Commands::Commands(std::string const& spool, emu::Memory const& memory, Allocations const& allocations,
                   Registry const& registry, launch::TouchHistory& touched)
    : memory_(memory), allocations_(allocations), registry_(registry), touched_(touched) {
  if (!spool.empty()) log_.emplace(spool);
}

emu::Memory::Buffer const* Commands::variable_at(std::uint64_t address) const {
  auto const* const found = memory_.find(address);
  auto const& all = memory_.buffers();
  bool const listed = found && std::any_of(all.begin(), all.end(), [&](auto const& b) { return &b == found; });
  return listed && found->address != ours_ ? found : nullptr;
}

void Commands::begin_file() {
  if (!log_->begins()) return;
  numbers_.clear();
  shared_.clear();
  pending_.reset();
  next_number_ = 0;
}

// What holds the address: an allocation, or a variable.
std::optional<Commands::MemoryObject> Commands::object_at(std::uint64_t address) const {
  auto const [begin, allocation] = allocations_.holding(reinterpret_cast<void const*>(address));
  if (allocation)
    return MemoryObject{begin, allocation->bytes, allocation->serial, allocation->type != MemoryType::device};
  auto const* const variable = variable_at(address);
  if (!variable) return std::nullopt;
  return MemoryObject{variable->address, variable->size, variable->address, registry_.is_managed(variable->address)};
}

// A variable has contents from the start, as what the host has written has.
std::uint64_t Commands::number_of(MemoryObject const& object) {
  auto const [at, is_new] = numbers_.try_emplace(object.key, next_number_);
  bool const initial = object.shared || object.key == object.address;
  if (is_new) log_->line(fmt::format("B {} {} {}", next_number_++, object.bytes, initial ? 1 : 0));
  return at->second;
}

// The buffer of the device that an area lies in; none for memory that is the host's.
std::optional<Commands::Range> Commands::find(Area const& area) {
  auto const object = object_at(address_of(area.begin));
  if (!object || (object->shared && !numbers_.contains(object->key))) return std::nullopt;
  auto const begin = address_of(area.begin) - object->address;
  return Range{number_of(*object), begin, begin + area.pitch * (area.rows - 1) + area.bytes};
}

// ---------------------------------------------------------------- copies and fills

bool Commands::is_of_device(Area const& area) const {
  auto const* const allocation = allocations_.holding(area.begin).second;
  return allocation ? allocation->type != MemoryType::host : variable_at(address_of(area.begin)) != nullptr;
}

void Commands::touch(Area const& area) {
  auto const begin = address_of(area.begin), extent = area.pitch * (area.rows - 1) + area.bytes;
  std::array const range{launch::TouchedRange{
      begin, begin + extent, static_cast<double>(area.bytes * area.rows) / static_cast<double>(extent)}};
  touched_.touch(range);
}

void Commands::copied(Area const& to, Area const& from) {
  if (is_of_device(to)) {  // copies to the host leave the cache as it is
    if (is_of_device(from)) touch(from);
    touch(to);
  }
  if (!wanted()) return;
  begin_file();
  auto const source = find(from), target = find(to);
  auto const bytes = to.bytes * to.rows;
  if (source && target) note({'C', *source, bytes, *target});
  if (source && !target) note({'R', *source, bytes, {}});
  if (!source && target) note({'W', *target, bytes, {}});
  if (target) hash_again(to.begin, to.pitch * (to.rows - 1) + to.bytes);
}

void Commands::filled(Area const& to) {
  if (is_of_device(to)) touch(to);
  if (!wanted()) return;
  begin_file();
  if (auto const target = find(to)) {
    note({'F', *target, to.bytes * to.rows, {}});
    hash_again(to.begin, to.pitch * (to.rows - 1) + to.bytes);
  }
}

void Commands::note(Note const& made) {
  if (!together_) return write(made);
  if (pending_ && (pending_->kind != made.kind || pending_->range.buffer != made.range.buffer ||
                   pending_->target.buffer != made.target.buffer)) {
    write(*pending_);
    pending_.reset();
  }
  if (!pending_) {
    pending_ = made;
    return;
  }
  auto const widen = [](Range& range, Range const& by) {
    range.begin = std::min(range.begin, by.begin);
    range.end = std::max(range.end, by.end);
  };
  widen(pending_->range, made.range);
  widen(pending_->target, made.target);
  pending_->bytes += made.bytes;
}

Commands::Together::~Together() {
  if (--commands_.together_ > 0 || !commands_.pending_) return;
  commands_.write(*commands_.pending_);
  commands_.pending_.reset();
}

void Commands::write(Note const& made) {
  auto text = fmt::format("{} {} {} {} {}", made.kind, made.range.buffer, made.range.begin, made.range.end, made.bytes);
  if (made.kind == 'C') text += fmt::format(" {} {} {}", made.target.buffer, made.target.begin, made.target.end);
  log_->line(std::move(text));
}

// ---------------------------------------------------------------- memory of host and device

void Commands::share(std::uint64_t address, std::uint64_t buffer, std::uint64_t bytes) {
  auto& shared = shared_[address];
  if (shared.buffer == buffer && !shared.pages.empty()) return;
  shared = {buffer, bytes, {}, ~std::uint64_t{0}, 0};
  shared.pages.resize((bytes + page_bytes - 1) / page_bytes);
  hash_again(reinterpret_cast<void const*>(address), bytes);
}

void Commands::hash_again(void const* begin, std::uint64_t bytes) {
  auto const first = address_of(begin);
  auto after = shared_.upper_bound(first);
  if (after == shared_.begin() || bytes == 0) return;
  auto& [address, shared] = *--after;
  if (first - address >= shared.bytes) return;
  auto const end = std::min(first - address + bytes, shared.bytes);
  for (auto page = (first - address) / page_bytes; page * page_bytes < end; ++page)
    shared.pages[page] = hash_of_page(address, shared.bytes, page);
}

void Commands::find_writes_of_host() {
  std::erase_if(shared_, [&](auto const& at) {  // released, and perhaps allocated again
    auto const object = object_at(at.first);
    auto const number = object ? numbers_.find(object->key) : numbers_.end();
    return number == numbers_.end() || number->second != at.second.buffer;
  });
  for (auto& [address, shared] : shared_) {
    std::uint64_t begin = 0, end = 0;  // pages side by side that have changed
    auto const note_writes = [&] {
      if (end == 0) return;
      Range const range{shared.buffer, begin * page_bytes, std::min(end * page_bytes, shared.bytes)};
      write({'W', range, range.end - range.begin, {}});
      end = 0;
    };
    for (std::size_t page = 0; page < shared.pages.size(); ++page) {
      auto const hash = hash_of_page(address, shared.bytes, page);
      if (hash == shared.pages[page]) {
        note_writes();
        continue;
      }
      shared.pages[page] = hash;
      if (end == 0) begin = page;
      end = page + 1;
    }
    note_writes();
  }
}

void Commands::host_waits() {
  if (!wanted()) return;
  begin_file();
  for (auto& [address, shared] : shared_) {
    if (shared.written_end == 0) continue;
    Range const range{shared.buffer, shared.written_begin, shared.written_end};
    write({'R', range, range.end - range.begin, {}});
    shared.written_begin = ~std::uint64_t{0};
    shared.written_end = 0;
  }
}

// ---------------------------------------------------------------- launches

attach::GroupRanges Commands::ranges_of(emu::Launch const& launch) {
  begin_file();
  find_writes_of_host();
  return attach::GroupRanges(launch.grid, [this](std::uint64_t address) {
    auto const object = object_at(address);
    return object ? attach::GroupRanges::Block{object->address, object->bytes} : attach::GroupRanges::Block{};
  });
}

void Commands::launched(std::uint64_t number, emu::Launch const& launch, attach::GroupRanges const& ranges) {
  std::string text = fmt::format("L {} {} {} {}", number, launch.grid.x, launch.grid.y, launch.grid.z);
  for (auto const& [block, access] : ranges.accesses(true)) {
    auto const object = object_at(block.address);
    if (!object) continue;
    auto const buffer = number_of(*object);
    if (object->shared) share(block.address, buffer, block.bytes);
    text += fmt::format(" {}:{:d}:{:d}:{}:{}:{}:{}:{}:{}", buffer, access.write, access.regular, access.first,
                        access.step[0], access.step[1], access.step[2], access.span_bytes, access.touched_bytes);
    if (!object->shared || !access.write) continue;
    auto const [touched_begin, touched_end] = ranges.written(block.address);
    shared_written(*object, touched_begin, touched_end);
  }
  log_->line(std::move(text));
}

void Commands::shared_written(MemoryObject const& object, std::uint64_t begin, std::uint64_t end) {
  auto& seen = shared_[object.address];
  seen.written_begin = std::min(seen.written_begin, begin - object.address);
  seen.written_end = std::max(seen.written_end, end - object.address);
  hash_again(reinterpret_cast<void const*>(begin), end - begin);
}

void Commands::called(std::optional<std::uint64_t> number, LibraryCall const& made) {
  for (auto const& operand : made.operands)
    if (operand.extent_bytes > 0) touch({operand.begin, operand.extent_bytes, operand.extent_bytes});
  if (!wanted() || !number) return;
  begin_file();
  std::string text = fmt::format("L {} 1 1 1", *number);
  for (auto const& operand : made.operands) {
    auto const begin = address_of(operand.begin);
    auto const object = operand.extent_bytes > 0 ? object_at(begin) : std::nullopt;
    if (!object) continue;
    auto const buffer = number_of(*object);
    if (object->shared) share(object->address, buffer, object->bytes);
    for (bool const write : {false, true})
      if (write ? operand.written : operand.read)
        text += fmt::format(" {}:{:d}:1:{}:0:0:0:{}:{}", buffer, write, begin - object->address, operand.extent_bytes,
                            operand.touched_bytes);
    if (object->shared && operand.written) shared_written(*object, begin, begin + operand.extent_bytes);
  }
  log_->line(std::move(text));
}

}  // namespace kernelcast::cudart
