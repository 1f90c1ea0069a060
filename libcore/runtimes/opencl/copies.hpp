// What enqueuing calls share: checks, lines of bytes, fills.
#pragma once

#include <cstring>
#include <initializer_list>

#include "runtimes/opencl/events.hpp"

namespace kernelcast::opencl {

using Memory = Held<_cl_mem>;

// Lines of bytes in three dimensions.
struct Box {
  std::byte* begin;
  std::size_t row, slice;
  std::byte* line(std::size_t y, std::size_t z) const { return begin + y * row + z * slice; }
};

_cl_command_queue& queue_of(cl_command_queue given, std::initializer_list<_cl_mem const*> memory = {});
// Whether the host may read, or write, so.
void require_access(_cl_mem const& memory, bool reads, bool writes);
void check_map(_cl_mem const& memory, cl_map_flags flags);
bool inside(std::size_t offset, std::size_t bytes, std::size_t all);
void copy_box(Box const& to, Box const& from, std::size_t bytes, std::size_t rows, std::size_t slices);
void check_region(std::size_t const* region);
// Whether two boxes of bytes of the same layout meet: a line of one and a line of the other have bytes in common.
bool meet(Box const& a, Box const& b, std::size_t const* region);
// The pattern over and over.
void fill(std::byte* to, std::size_t bytes, std::vector<std::byte> const& pattern);
std::vector<std::byte> pattern_of(void const* pattern, std::size_t bytes);
cl_int nothing();

template <class T>
std::vector<std::byte> bytes_of(T const* values, std::size_t count) {
  std::vector<std::byte> out(count * sizeof(T));
  std::memcpy(out.data(), values, out.size());
  return out;
}

}  // namespace kernelcast::opencl
