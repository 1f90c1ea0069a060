// Device memory: buffers in one reserved, lazily backed range; gaps between them are never accessible.
#include "emulator/machine/memory.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>

#include "base/diag/diag.hpp"

namespace kernelcast::emu {

namespace {
constexpr std::uint64_t page_bytes = 4096;
constexpr std::uint64_t huge_page_bytes = 2 * 1024 * 1024;  // page faults cost more than many a kernel
constexpr std::uint64_t gap_bytes = 64 * 1024;  // an index slightly off is named after the buffer that it missed
constexpr std::uint64_t zeroed_by_system_bytes = std::uint64_t{64} << 20;

constexpr std::uint64_t heap_reserve_bytes = std::uint64_t{4} << 30;
constexpr std::uint64_t heap_step_bytes = std::uint64_t{1} << 20;  // made accessible at a time
constexpr std::uint64_t heap_gap_bytes = 64;

std::uint64_t round_up(std::uint64_t value, std::uint64_t unit) {
  return (value + unit - 1) / unit * unit;
}
}  // namespace

Memory::Memory(std::uint64_t limit_bytes, Addresses addresses) : impl_(std::make_unique<Impl>()) {
  Impl& m = *impl_;
  m.limit_bytes = limit_bytes;
  // Room for gaps; the reservation costs address space only.
  m.range_bytes = round_up(limit_bytes, page_bytes) + (std::uint64_t{4} << 30);
  bool const of_host = addresses == Addresses::of_host;
  auto const reserve = [&](void* at, int more) {
    return mmap(at, m.range_bytes + heap_reserve_bytes + huge_page_bytes, PROT_NONE,
                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | more, -1, 0);
  };
  // The default place, so that addresses are the same from run to run, else any.
  void* range = of_host ? reserve(reinterpret_cast<void*>(default_first_address), MAP_FIXED_NOREPLACE) : MAP_FAILED;
  if (range == MAP_FAILED) range = reserve(nullptr, 0);
  if (range == MAP_FAILED)
    throw Error(Status::limit, "cannot reserve " + std::to_string(m.range_bytes) + " bytes of address space",
                "lower --max-memory");
  m.reserved = range;
  auto const begin = reinterpret_cast<std::uintptr_t>(range);
  m.range = static_cast<std::byte*>(range) + (round_up(begin, huge_page_bytes) - begin);
  if (of_host) m.first = m.next = reinterpret_cast<std::uintptr_t>(m.range);
  m.heap_begin = m.heap_next = m.heap_open = m.first + m.range_bytes;
  m.images = std::make_unique<Images>(*this);
}

Memory::~Memory() {
  munmap(impl_->reserved, impl_->range_bytes + heap_reserve_bytes + huge_page_bytes);
}

// Behind the last one that was made, or when the range is used up the first gap where buffers were removed; behind all
// that are left it goes on from there.
std::uint64_t Memory::Impl::place(std::uint64_t bytes) {
  std::uint64_t const extent = round_up(std::max<std::uint64_t>(bytes, 1), page_bytes);
  auto const begin_at = [&](std::uint64_t at) {
    return extent >= 2 * huge_page_bytes ? first + round_up(at - first, huge_page_bytes) : at;
  };
  auto const end_of = [](std::uint64_t begin, std::uint64_t size) {
    return round_up(begin + size + gap_bytes, page_bytes);
  };
  auto const behind = [&](std::uint64_t at) {
    std::uint64_t const begin = begin_at(at);
    if (end_of(begin, extent) - first > range_bytes) return std::uint64_t{0};
    next = end_of(begin, extent);
    return begin;
  };
  if (auto const begin = behind(next)) return begin;
  std::uint64_t free = first;
  for (Buffer const& b : buffers) {
    std::uint64_t const begin = begin_at(free);
    if (end_of(begin, extent) <= b.address) return begin;
    free = end_of(b.address, round_up(std::max<std::uint64_t>(b.size, 1), page_bytes));
  }
  return behind(free);
}

std::uint64_t Memory::add(std::string name, std::uint64_t bytes) {
  Impl& m = *impl_;
  std::uint64_t const extent = round_up(std::max<std::uint64_t>(bytes, 1), page_bytes);
  std::uint64_t const address = bytes > m.limit_bytes - m.used_bytes ? 0 : m.place(bytes);
  if (address == 0)
    throw Error(Status::limit,
                "buffer '" + name + "' of " + std::to_string(bytes) + " bytes exceeds the memory limit of " +
                    std::to_string(m.limit_bytes) + " bytes (" + std::to_string(m.used_bytes) + " in use)",
                "raise --max-memory or use smaller buffers");
  std::byte* host = m.host(address);
  if (mprotect(host, extent, PROT_READ | PROT_WRITE) != 0)
    throw Error(Status::limit, "no memory for buffer '" + name + "' of " + std::to_string(bytes) + " bytes",
                "use smaller buffers");
  if (extent >= 2 * huge_page_bytes) madvise(host, extent, MADV_HUGEPAGE);  // a wish: without it everything works
  auto const after = std::upper_bound(m.buffers.begin(), m.buffers.end(), address,
                                      [](std::uint64_t a, Buffer const& b) { return a < b.address; });
  m.buffers.insert(after, {std::move(name), address, bytes, host});
  m.used_bytes += bytes;
  return address;
}

void Memory::use_sparsely(std::uint64_t device_address) {
  Buffer const* const buffer = find(device_address);
  if (!buffer || impl_->lent.contains(buffer->address)) return;
  madvise(buffer->data, round_up(std::max<std::uint64_t>(buffer->size, 1), page_bytes), MADV_NOHUGEPAGE);
}

void Memory::zero(std::uint64_t device_address, std::uint64_t bytes) {
  Buffer const* const buffer = find(device_address);
  if (!buffer || bytes == 0) return;
  std::byte* const begin = buffer->data + (device_address - buffer->address);
  auto const first = reinterpret_cast<std::uintptr_t>(begin);
  std::uint64_t const before = std::min(bytes, round_up(first, huge_page_bytes) - first);
  std::uint64_t const pages = (bytes - before) / huge_page_bytes * huge_page_bytes;
  bool const own = !impl_->lent.contains(buffer->address);
  if (!own || pages < zeroed_by_system_bytes || madvise(begin + before, pages, MADV_DONTNEED) != 0) {
    std::memset(begin, 0, bytes);
    return;
  }
  std::memset(begin, 0, before);
  std::memset(begin + before + pages, 0, bytes - before - pages);
}

bool Memory::remove(std::uint64_t device_address) {
  Impl& m = *impl_;
  if (m.lent.erase(device_address) > 0) return true;
  auto const at = std::lower_bound(m.buffers.begin(), m.buffers.end(), device_address,
                                   [](Buffer const& b, std::uint64_t address) { return b.address < address; });
  if (at == m.buffers.end() || at->address != device_address) return false;
  std::uint64_t const extent = round_up(std::max<std::uint64_t>(at->size, 1), page_bytes);
  // The pages go back, and whoever comes next finds zeros. A new mapping becomes one with its neighbours, which one
  // that had pages does not: the system allows some ten thousands of them.
  if (mmap(at->data, extent, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) == MAP_FAILED) {
    madvise(at->data, extent, MADV_DONTNEED);
    mprotect(at->data, extent, PROT_NONE);
  }
  m.used_bytes -= at->size;
  m.buffers.erase(at);
  return true;
}

bool Memory::lend(std::string name, void* host, std::uint64_t bytes) {
  Impl& m = *impl_;
  auto const address = reinterpret_cast<std::uint64_t>(host);
  auto const after = m.lent.upper_bound(address);
  if (after != m.lent.end() && after->first < address + bytes) return false;
  if (find(address)) return false;
  m.lent[address] = {std::move(name), address, bytes, static_cast<std::byte*>(host)};
  return true;
}

std::span<std::byte> Memory::bytes(std::uint64_t device_address) {
  Buffer const* buffer = find(device_address);
  if (!buffer || buffer->address != device_address) return {};
  return {buffer->data, buffer->size};
}

void Memory::set_undefined(std::uint64_t device_address) {
  for (Buffer& b : impl_->buffers)
    if (b.address == device_address) b.undefined = true;
}

void Memory::set_origin(std::uint64_t device_address, std::function<std::string()> origin) {
  // Of what this Memory owns, and none of it is constant.
  auto* const buffer = const_cast<Buffer*>(find(device_address));  // NOLINT(cppcoreguidelines-pro-type-const-cast)
  if (buffer && buffer->address == device_address) buffer->origin = std::move(origin);
}

Memory::Buffer const* Memory::find(std::uint64_t device_address) const {
  if (!impl_->lent.empty()) {
    auto block = impl_->lent.upper_bound(device_address);
    if (block != impl_->lent.begin() && device_address - (--block)->first < block->second.size) return &block->second;
  }
  if (device_address >= impl_->heap_begin) {
    auto block = impl_->heap.upper_bound(device_address);
    if (block == impl_->heap.begin()) return nullptr;
    Buffer const& buffer = (--block)->second;
    return device_address - buffer.address < buffer.size ? &buffer : nullptr;
  }
  std::vector<Buffer> const& all = impl_->buffers;
  auto after = std::upper_bound(all.begin(), all.end(), device_address,
                                [](std::uint64_t address, Buffer const& b) { return address < b.address; });
  if (after == all.begin()) return nullptr;
  Buffer const& buffer = *--after;
  return device_address - buffer.address < std::max<std::uint64_t>(buffer.size, 1) ? &buffer : nullptr;
}

Memory::Buffer const* Memory::nearest(std::uint64_t device_address) const {
  Buffer const* best = nullptr;
  std::uint64_t best_distance = ~std::uint64_t{0};
  if (device_address >= impl_->heap_begin && !impl_->heap.empty()) {
    auto block = impl_->heap.upper_bound(device_address);
    return block == impl_->heap.begin() ? &block->second : &(--block)->second;
  }
  constexpr std::uint64_t rarer = 16;  // than past a buffer's end an access lies before its beginning
  for (Buffer const& b : impl_->buffers) {
    std::uint64_t const end = b.address + b.size;
    std::uint64_t const distance = device_address < b.address
                                       ? rarer * std::min<std::uint64_t>(b.address - device_address, ~0ull / rarer)
                                   : device_address >= end ? device_address - end
                                                           : 0;
    if (distance < best_distance) {
      best = &b;
      best_distance = distance;
    }
  }
  return best;
}

std::vector<Memory::Buffer> const& Memory::buffers() const {
  return impl_->buffers;
}

std::uint64_t Memory::limit_bytes() const {
  return impl_->limit_bytes;
}

void Memory::limit_heap(std::uint64_t bytes) {
  impl_->heap_limit_bytes = std::min(bytes, heap_reserve_bytes / 4);
}

// What a block can grow to without moving.
std::uint64_t Memory::Impl::heap_capacity_of(std::map<std::uint64_t, Buffer>::const_iterator block) const {
  auto const after = std::next(block);
  return (after == heap.end() ? heap_next : after->first) - block->first - heap_gap_bytes;
}

// Of the host's memory, freed blocks included.
std::uint64_t Memory::Impl::held_for_heap() const {
  constexpr std::uint64_t block_bytes = 256;  // its entry, with a name
  return heap_next - heap_begin + block_bytes * heap.size();
}

// The place of a new block: behind all others, or once much lies there, where one was freed.
std::uint64_t Memory::Impl::place_in_heap(std::uint64_t bytes) {
  bool const full = held_for_heap() + bytes > limit_bytes - used_bytes;
  if (full || heap_next - heap_begin > 2 * heap_limit_bytes) {
    auto const old = heap_freed.lower_bound(bytes);
    if (old != heap_freed.end()) {
      std::uint64_t const address = old->second;
      heap_freed.erase(old);
      return address;
    }
    if (full) return 0;
  }
  std::uint64_t const address = heap_next, end = address + round_up(bytes, 16) + heap_gap_bytes;
  if (end > heap_begin + heap_reserve_bytes) return 0;
  if (end > heap_open) {
    std::uint64_t const open = std::min(round_up(end, heap_step_bytes), heap_begin + heap_reserve_bytes);
    if (mprotect(host(heap_open), open - heap_open, PROT_READ | PROT_WRITE) != 0) return 0;
    heap_open = open;
  }
  heap_next = end;
  return address;
}

std::uint64_t Memory::allocate(std::uint64_t bytes, std::string name) {
  Impl& m = *impl_;
  if (bytes == 0 || m.heap_used_bytes > m.heap_limit_bytes || bytes > m.heap_limit_bytes - m.heap_used_bytes) return 0;
  std::uint64_t const address = m.place_in_heap(bytes);
  if (address == 0) return 0;
  std::byte* const host = m.host(address);
  std::memset(host, 0, bytes);
  Buffer& made = m.heap[address];
  made = {std::move(name), address, bytes, host};
  made.undefined = true;
  m.heap_used_bytes += bytes;
  return address;
}

Memory::Freed Memory::release(std::uint64_t device_address) {
  auto const found = impl_->heap.find(device_address);
  if (found == impl_->heap.end()) return Freed::unknown;
  if (found->second.freed) return Freed::twice;
  found->second.freed = true;
  impl_->heap_used_bytes -= found->second.size;
  impl_->heap_freed.emplace(impl_->heap_capacity_of(found), device_address);
  return Freed::done;
}

Images& Memory::images() {
  return *impl_->images;
}

}  // namespace kernelcast::emu
