#include "runtimes/opencl/copies.hpp"

#include <algorithm>

namespace kernelcast::opencl {

_cl_command_queue& queue_of(cl_command_queue given, std::initializer_list<_cl_mem const*> memory) {
  auto& queue = known_queue(given);
  for (auto const* one : memory) require(one->context.get() == queue.context.get(), CL_INVALID_CONTEXT);
  return queue;
}

void require_access(_cl_mem const& memory, bool reads, bool writes) {
  auto const refuses = [&](cl_mem_flags flags) { return (memory.flags & flags) != 0; };
  require(!reads || !refuses(CL_MEM_HOST_WRITE_ONLY | CL_MEM_HOST_NO_ACCESS), CL_INVALID_OPERATION);
  require(!writes || !refuses(CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_NO_ACCESS), CL_INVALID_OPERATION);
}

void check_map(_cl_mem const& memory, cl_map_flags flags) {
  constexpr cl_map_flags all = CL_MAP_READ | CL_MAP_WRITE | CL_MAP_WRITE_INVALIDATE_REGION;
  bool const anew = (flags & CL_MAP_WRITE_INVALIDATE_REGION) != 0;
  require((flags & ~all) == 0 && (!anew || flags == CL_MAP_WRITE_INVALIDATE_REGION), CL_INVALID_VALUE);
  require_access(memory, (flags & CL_MAP_READ) != 0, anew || (flags & CL_MAP_WRITE) != 0);
}

bool inside(std::size_t offset, std::size_t bytes, std::size_t all) {
  return offset <= all && bytes <= all - offset;
}

void copy_box(Box const& to, Box const& from, std::size_t bytes, std::size_t rows, std::size_t slices) {
  // Copies within one object may not overlap.
  for (std::size_t z = 0; z < slices; ++z)
    for (std::size_t y = 0; y < rows; ++y) std::memmove(to.line(y, z), from.line(y, z), bytes);
}

void check_region(std::size_t const* region) {
  require(region && region[0] > 0 && region[1] > 0 && region[2] > 0, CL_INVALID_VALUE);
}

bool meet(Box const& a, Box const& b, std::size_t const* region) {
  auto const last = [&](Box const& box) { return box.line(region[1] - 1, region[2] - 1) + region[0]; };
  if (last(a) <= b.begin || last(b) <= a.begin) return false;
  std::vector<std::byte const*> lines;
  lines.reserve(region[1] * region[2]);
  for (std::size_t z = 0; z < region[2]; ++z)
    for (std::size_t y = 0; y < region[1]; ++y) lines.push_back(b.line(y, z));
  std::ranges::sort(lines);
  for (std::size_t z = 0; z < region[2]; ++z)
    for (std::size_t y = 0; y < region[1]; ++y) {
      auto const* const line = a.line(y, z);
      auto const next = std::ranges::lower_bound(lines, line);  // the first that does not begin before it
      if (next != lines.end() && *next < line + region[0]) return true;
      if (next != lines.begin() && line < *(next - 1) + region[0]) return true;
    }
  return false;
}

void fill(std::byte* to, std::size_t bytes, std::vector<std::byte> const& pattern) {
  for (std::size_t i = 0; i < bytes; i += pattern.size())
    std::memcpy(to + i, pattern.data(), std::min(pattern.size(), bytes - i));
}

std::vector<std::byte> pattern_of(void const* pattern, std::size_t bytes) {
  require(pattern && bytes > 0 && bytes <= 128 && (bytes & (bytes - 1)) == 0, CL_INVALID_VALUE);
  auto const* const from = static_cast<std::byte const*>(pattern);
  return {from, from + bytes};
}

cl_int nothing() {
  return CL_SUCCESS;
}

}  // namespace kernelcast::opencl
