#include "runtimes/cudart/allocations.hpp"

#include <fmt/format.h>

#include "base/diag/diag.hpp"
#include "base/process/call_place.hpp"

namespace kernelcast::cudart {

// CUDA's memory comes in such pieces; what an application reads just behind its own is there.
static constexpr std::uint64_t granularity_bytes = 512;

static char const* name_of(MemoryType type) {
  switch (type) {
    case MemoryType::host:
      return "cudaMallocHost";
    case MemoryType::managed:
      return "cudaMallocManaged";
    default:
      return "cudaMalloc";
  }
}

void* Allocations::add(MemoryType type, std::uint64_t bytes, unsigned flags) {
  int const device = current_device();
  auto const device_limit = devices_.current_memory_bytes();
  std::uint64_t const extent = (bytes + granularity_bytes - 1) / granularity_bytes * granularity_bytes;
  if (extent < bytes) return nullptr;
  if (type == MemoryType::device && extent > device_limit - std::min(device_limit, used_bytes(device))) return nullptr;
  try {
    // Numbered in the order in which the application asks for memory, as messages name it.
    auto const address = memory_.add(fmt::format("{} #{}", name_of(type), made_ + 1), extent);
    memory_.set_origin(address, [at = call_place()] { return text_of(at); });
    all_[address] = {type, extent, bytes, device, flags, false, false, ++made_};
    if (type == MemoryType::device && maker_) maker_(address, bytes);
    return reinterpret_cast<void*>(address);
  } catch (Error const&) {
    return nullptr;
  }
}

bool Allocations::lend(void* host, std::uint64_t bytes, unsigned flags) {
  if (!memory_.lend("cudaHostRegister", host, bytes)) return false;
  all_[address_of(host)] = {MemoryType::host, bytes, bytes, current_device(), flags, true, false, ++made_};
  return true;
}

bool Allocations::add_mapped(void* at, std::uint64_t bytes, int device) {
  if (!memory_.lend("cuMemMap", at, bytes)) return false;
  all_[address_of(at)] = {MemoryType::device, bytes, bytes, device, 0, false, true, ++made_};
  return true;
}

void Allocations::remove_mapped(void const* pointer) {
  auto const at = all_.find(address_of(pointer));
  if (at != all_.end() && at->second.mapped) take_out(at);
}

void Allocations::take_out(std::map<std::uint64_t, Allocation>::const_iterator at) {
  touched_.forget(at->first, at->second.bytes);
  if (at->second.type == MemoryType::device && !at->second.mapped && keeper_ && keeper_(at->first, at->second.bytes))
    kept_.insert(at->first);
  else
    memory_.remove(at->first);
  all_.erase(at);
}

void Allocations::release(std::uint64_t begin) {
  if (kept_.erase(begin) > 0) memory_.remove(begin);
}

Code Allocations::remove(void const* pointer, MemoryType type) {
  auto const at = all_.find(reinterpret_cast<std::uint64_t>(pointer));
  if (at == all_.end() || at->second.registered || at->second.mapped) return Code::invalid_value;
  bool const is_host = at->second.type == MemoryType::host;
  if (is_host != (type == MemoryType::host)) return Code::invalid_value;
  take_out(at);
  return Code::success;
}

Code Allocations::remove_registered(void const* pointer) {
  auto const at = all_.find(reinterpret_cast<std::uint64_t>(pointer));
  if (at == all_.end() || !at->second.registered) return Code::host_memory_not_registered;
  take_out(at);
  return Code::success;
}

void Allocations::clear() {
  for (auto at = all_.begin(); at != all_.end();) {
    auto const next = std::next(at);
    if (!at->second.registered && !at->second.mapped) take_out(at);
    at = next;
  }
}

std::pair<std::uint64_t, Allocation const*> Allocations::holding(void const* pointer) const {
  auto const address = reinterpret_cast<std::uint64_t>(pointer);
  auto const after = all_.upper_bound(address);
  if (after == all_.begin()) return {0, nullptr};
  auto const& [begin, allocation] = *std::prev(after);
  return address - begin < allocation.bytes ? std::pair{begin, &allocation} : std::pair{std::uint64_t{0}, nullptr};
}

bool Allocations::holds(void const* pointer, std::uint64_t bytes) const {
  auto const address = reinterpret_cast<std::uint64_t>(pointer);
  auto const* const buffer = memory_.find(address);
  return buffer && !is_kept(buffer->address) && bytes <= buffer->size - (address - buffer->address);
}

std::pair<std::uint64_t, std::uint64_t> Allocations::range_of(void const* pointer) const {
  if (auto const [begin, allocation] = holding(pointer); allocation) return {begin, allocation->bytes};
  auto const* const buffer = memory_.find(address_of(pointer));
  return buffer && !is_kept(buffer->address) ? std::pair{buffer->address, buffer->size}
                                             : std::pair{std::uint64_t{0}, std::uint64_t{0}};
}

std::uint64_t Allocations::used_bytes(int device) const {
  std::uint64_t sum = 0;
  for (auto const& [address, allocation] : all_)
    if (allocation.type == MemoryType::device && allocation.device == device) sum += allocation.bytes;
  return sum;
}

}  // namespace kernelcast::cudart
