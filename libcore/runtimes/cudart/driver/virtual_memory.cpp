// Management of virtual memory: ranges of addresses that an application reserves, and memory that it maps into them.
//
// Method: memory is a file without a name (memfd) whose size is sealed; so it can be mapped twice and be handed to
// another process. A range is reserved without access. What is mapped into it side by side, and may be accessed, is one
// buffer of the emulator's, so that kernels and copies cross the seams. Handles are numbers that are looked up.
// Limits: a device's memory alone; access for one device is access for all, and access for reading is not enforced.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <map>
#include <memory>
#include <set>

#include "runtimes/cudart/allocations.hpp"
#include "runtimes/cudart/devices.hpp"
#include "runtimes/cudart/driver/call.hpp"

using namespace kernelcast;
using namespace kernelcast::driver;
using cudart::Allocations;
using cudart::Devices;

namespace {

constexpr std::uint64_t granularity_bytes = std::uint64_t{2} << 20;
constexpr int sealed = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

struct Physical {
  int file = -1;
  std::uint64_t bytes = 0;
  PhysicalProperties properties;
  unsigned references = 1;  // without mappings
  unsigned long long handle = 0;

  Physical() = default;
  Physical(Physical const&) = delete;
  Physical& operator=(Physical const&) = delete;
  ~Physical() {
    if (file >= 0) close(file);
  }
};

struct Mapping {
  std::uint64_t bytes = 0;
  std::shared_ptr<Physical> physical;
  std::map<int, unsigned> access;  // by device

  bool is_accessible() const { return !access.empty(); }
};

struct Range {
  std::uint64_t bytes = 0;
  std::map<std::uint64_t, Mapping> mappings;
  std::set<std::uint64_t> buffers;  // where those of the emulator begin
};

// Guarded by the runtime's lock.
struct State {
  std::map<unsigned long long, std::shared_ptr<Physical>> handles;
  std::map<std::uint64_t, Range> ranges;
  unsigned long long next_handle = 1;
};
State& state() {
  static auto* const all = new State;
  return *all;
}

bool is_whole(std::uint64_t bytes) {
  return bytes > 0 && bytes % granularity_bytes == 0;
}

std::shared_ptr<Physical> physical_of(unsigned long long handle) {
  auto const at = state().handles.find(handle);
  return at == state().handles.end() ? nullptr : at->second;
}

// The range that holds all of these bytes; null where none does.
Range* range_of(std::uint64_t begin, std::uint64_t bytes) {
  auto after = state().ranges.upper_bound(begin);
  if (after == state().ranges.begin()) return nullptr;
  auto& [at, range] = *--after;
  return begin - at <= range.bytes && bytes <= range.bytes - (begin - at) ? &range : nullptr;
}

using Mapped = std::map<std::uint64_t, Mapping>::iterator;
struct Mappings {
  Mapped first, last;
};
// Those that together are exactly these bytes; none where there are no such.
Mappings mappings_of(Range& range, std::uint64_t begin, std::uint64_t bytes) {
  Mappings const none{range.mappings.end(), range.mappings.end()};
  Mapped const first = range.mappings.find(begin);
  Mapped last = first;
  std::uint64_t end = begin;
  for (; last != range.mappings.end() && last->first == end && end - begin < bytes; ++last) end += last->second.bytes;
  return bytes > 0 && end - begin == bytes ? Mappings{first, last} : none;
}

Mapping* mapping_at(std::uint64_t address) {
  Range* const range = range_of(address, 1);
  if (!range) return nullptr;
  auto after = range->mappings.upper_bound(address);
  if (after == range->mappings.begin()) return nullptr;
  auto& [begin, mapping] = *--after;
  return address - begin < mapping.bytes ? &mapping : nullptr;
}

// What lies side by side and may be accessed becomes one buffer.
Code make_buffers(Allocations& allocations, Range& range) {
  for (auto const begin : range.buffers) allocations.remove_mapped(pointer_of(begin));
  range.buffers.clear();
  auto const& all = range.mappings;
  for (auto at = all.begin(); at != all.end();) {
    if (!at->second.is_accessible()) {
      ++at;
      continue;
    }
    std::uint64_t const begin = at->first;
    int const device = at->second.physical->properties.location.device;
    std::uint64_t end = begin;
    for (; at != all.end() && at->first == end && at->second.is_accessible(); ++at) end += at->second.bytes;
    if (!allocations.add_mapped(pointer_of(begin), end - begin, device)) return Code::invalid_value;
    range.buffers.insert(begin);
  }
  return Code::success;
}

bool protect(std::uint64_t begin, Mapping const& mapping) {
  return mprotect(pointer_of(begin), mapping.bytes, mapping.is_accessible() ? PROT_READ | PROT_WRITE : PROT_NONE) == 0;
}

bool reserve_again(std::uint64_t begin, std::uint64_t bytes) {
  return mmap(pointer_of(begin), bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) !=
         MAP_FAILED;
}

Code check(PhysicalProperties const* given, Devices const& devices) {
  if (!given || given->type != physical_pinned) return Code::invalid_value;
  if (given->location.kind != location_device)
    return cudart::unsupported("cuMemCreate of memory that is not a device's");
  if (!devices.known(given->location.device)) return Code::invalid_device;
  if ((given->handle_types & ~handle_posix_file) != 0)
    return cudart::unsupported("cuMemCreate of memory that is shared otherwise than by a file descriptor");
  return Code::success;
}

std::uint64_t created_bytes(int device) {
  std::uint64_t sum = 0;
  for (auto const& [handle, physical] : state().handles)
    if (physical->properties.location.device == device) sum += physical->bytes;
  return sum;
}

unsigned long long add_handle(std::shared_ptr<Physical> physical) {
  auto const handle = state().next_handle++;
  physical->handle = handle;
  state().handles.emplace(handle, std::move(physical));
  return handle;
}

}  // namespace

// ---------------------------------------------------------------- addresses

KERNELCAST_CUDA_EXPORT Code cuMemAddressReserve(Pointer* out, std::size_t bytes, std::size_t alignment, Pointer,
                                                unsigned long long flags) {
  return call([&](Allocations&) {
    if (!out || !is_whole(bytes) || flags != 0 || (alignment & (alignment - 1)) != 0) return Code::invalid_value;
    std::uint64_t const unit = std::max<std::uint64_t>(alignment, granularity_bytes);
    if (bytes + unit < bytes) return Code::invalid_value;
    void* const made = mmap(nullptr, bytes + unit, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (made == MAP_FAILED) return Code::memory_allocation;
    auto const first = cudart::address_of(made);
    auto const begin = (first + unit - 1) / unit * unit;
    if (begin > first) munmap(made, begin - first);
    munmap(pointer_of(begin + bytes), first + unit - begin);
    state().ranges[begin].bytes = bytes;
    *out = begin;
    return Code::success;
  });
}

KERNELCAST_CUDA_EXPORT Code cuMemAddressFree(Pointer begin, std::size_t bytes) {
  return call([&](Allocations&) {
    auto const at = state().ranges.find(begin);
    if (at == state().ranges.end() || at->second.bytes != bytes || !at->second.mappings.empty())
      return Code::invalid_value;
    munmap(pointer_of(begin), bytes);
    state().ranges.erase(at);
    return Code::success;
  });
}

// ---------------------------------------------------------------- memory

KERNELCAST_CUDA_EXPORT Code cuMemGetAllocationGranularity(std::size_t* out, PhysicalProperties const* given, int) {
  return call([&](Devices const& devices) {
    auto const code = out ? check(given, devices) : Code::invalid_value;
    if (code == Code::success) *out = granularity_bytes;
    return code;
  });
}

KERNELCAST_CUDA_EXPORT Code cuMemCreate(unsigned long long* out, std::size_t bytes, PhysicalProperties const* given,
                                        unsigned long long flags) {
  return call([&](Devices const& devices) {
    auto const code = check(given, devices);
    if (code != Code::success) return code;
    if (!out || !is_whole(bytes) || flags != 0) return Code::invalid_value;
    int const device = given->location.device;
    if (bytes > devices.memory_bytes(device) - std::min(devices.memory_bytes(device), created_bytes(device)))
      return Code::memory_allocation;
    auto made = std::make_shared<Physical>();
    made->file = memfd_create("kernelcast", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    made->bytes = bytes;
    made->properties = *given;
    if (made->file < 0 || ftruncate(made->file, static_cast<off_t>(bytes)) != 0 ||
        fcntl(made->file, F_ADD_SEALS, sealed) != 0)
      return Code::memory_allocation;
    *out = add_handle(std::move(made));
    return Code::success;
  });
}

KERNELCAST_CUDA_EXPORT Code cuMemRelease(unsigned long long handle) {
  return call([&](Allocations&) {
    auto const physical = physical_of(handle);
    if (!physical) return Code::invalid_value;
    if (--physical->references == 0) state().handles.erase(handle);
    return Code::success;
  });
}

KERNELCAST_CUDA_EXPORT Code cuMemRetainAllocationHandle(unsigned long long* out, void* address) {
  return call([&](Allocations&) {
    auto* const mapping = mapping_at(cudart::address_of(address));
    if (!out || !mapping) return Code::invalid_value;
    auto const& physical = mapping->physical;
    ++physical->references;
    state().handles.emplace(physical->handle, physical);
    *out = physical->handle;
    return Code::success;
  });
}

KERNELCAST_CUDA_EXPORT Code cuMemGetAllocationPropertiesFromHandle(PhysicalProperties* out, unsigned long long handle) {
  return call([&](Allocations&) {
    auto const physical = physical_of(handle);
    if (!out || !physical) return Code::invalid_value;
    *out = physical->properties;
    return Code::success;
  });
}

// The file descriptor is the application's, to close and to send.
KERNELCAST_CUDA_EXPORT Code cuMemExportToShareableHandle(void* out, unsigned long long handle, unsigned type,
                                                         unsigned long long flags) {
  return call([&](Allocations&) {
    auto const physical = physical_of(handle);
    if (!out || !physical || flags != 0 || type != handle_posix_file ||
        (physical->properties.handle_types & handle_posix_file) == 0)
      return Code::invalid_value;
    int const file = fcntl(physical->file, F_DUPFD_CLOEXEC, 0);
    if (file < 0) return Code::memory_allocation;
    *static_cast<int*>(out) = file;
    return Code::success;
  });
}

// The handle is the descriptor itself, dressed as a pointer. Only files that cannot shrink: no access may fail.
KERNELCAST_CUDA_EXPORT Code cuMemImportFromShareableHandle(unsigned long long* out, void* os_handle, unsigned type) {
  return call([&](Allocations&) {
    auto const descriptor = static_cast<int>(reinterpret_cast<std::intptr_t>(os_handle));
    struct stat status{};
    if (!out || type != handle_posix_file || fcntl(descriptor, F_GET_SEALS) != sealed ||
        fstat(descriptor, &status) != 0 || !is_whole(static_cast<std::uint64_t>(status.st_size)))
      return Code::invalid_value;
    auto made = std::make_shared<Physical>();
    made->file = fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
    made->bytes = static_cast<std::uint64_t>(status.st_size);
    made->properties = {physical_pinned, handle_posix_file, {location_device, cudart::current_device()}, nullptr, {}};
    if (made->file < 0) return Code::memory_allocation;
    *out = add_handle(std::move(made));
    return Code::success;
  });
}

// ---------------------------------------------------------------- memory at addresses

KERNELCAST_CUDA_EXPORT Code cuMemMap(Pointer begin, std::size_t bytes, std::size_t offset, unsigned long long handle,
                                     unsigned long long flags) {
  return call([&](Allocations&) {
    auto const physical = physical_of(handle);
    Range* const range = range_of(begin, bytes);
    if (!physical || !range || !is_whole(bytes) || begin % granularity_bytes != 0 || offset % granularity_bytes != 0 ||
        flags != 0 || offset > physical->bytes || bytes > physical->bytes - offset)
      return Code::invalid_value;
    auto const next = range->mappings.lower_bound(begin);
    if (next != range->mappings.end() && next->first - begin < bytes) return Code::invalid_value;
    if (mapping_at(begin)) return Code::invalid_value;
    if (mmap(pointer_of(begin), bytes, PROT_NONE, MAP_SHARED | MAP_FIXED, physical->file, static_cast<off_t>(offset)) ==
        MAP_FAILED)
      return Code::memory_allocation;
    range->mappings[begin] = {bytes, physical, {}};
    return Code::success;
  });
}

KERNELCAST_CUDA_EXPORT Code cuMemUnmap(Pointer begin, std::size_t bytes) {
  return call([&](Allocations& allocations) {
    Range* const range = range_of(begin, bytes);
    if (!range) return Code::invalid_value;
    auto const [first, last] = mappings_of(*range, begin, bytes);
    if (first == last) return Code::invalid_value;
    if (!reserve_again(begin, bytes)) return Code::memory_allocation;
    range->mappings.erase(first, last);
    return make_buffers(allocations, *range);
  });
}

KERNELCAST_CUDA_EXPORT Code cuMemSetAccess(Pointer begin, std::size_t bytes, Access const* given, std::size_t count) {
  return call([&](Allocations& allocations, Devices const& devices) {
    Range* const range = range_of(begin, bytes);
    if (!range || !given || count == 0) return Code::invalid_value;
    for (std::size_t i = 0; i < count; ++i) {
      if (given[i].location.kind != location_device)
        return cudart::unsupported("cuMemSetAccess for what is not a device");
      if (!devices.known(given[i].location.device)) return Code::invalid_device;
      if (given[i].flags != access_none && given[i].flags != access_read && given[i].flags != access_read_and_write)
        return Code::invalid_value;
    }
    auto const [first, last] = mappings_of(*range, begin, bytes);
    if (first == last) return Code::invalid_value;
    for (auto at = first; at != last; ++at) {
      auto& [address, mapping] = *at;
      for (std::size_t i = 0; i < count; ++i)
        if (given[i].flags == access_none)
          mapping.access.erase(given[i].location.device);
        else
          mapping.access[given[i].location.device] = given[i].flags;
      if (!protect(address, mapping)) {
        mapping.access.clear();
        return Code::memory_allocation;
      }
    }
    return make_buffers(allocations, *range);
  });
}

KERNELCAST_CUDA_EXPORT Code cuMemGetAccess(unsigned long long* out, Location const* location, Pointer address) {
  return call([&](Allocations&) {
    auto* const mapping = mapping_at(address);
    if (!out || !location || !mapping) return Code::invalid_value;
    auto const at = mapping->access.find(location->kind == location_device ? location->device : -1);
    *out = at == mapping->access.end() ? access_none : at->second;
    return Code::success;
  });
}
