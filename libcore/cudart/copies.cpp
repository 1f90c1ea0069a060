#include "cudart/copies.hpp"

#include <cstring>

namespace kernelcast::cudart {

namespace {

bool reads_device(CopyKind kind) {
  return kind == CopyKind::device_to_host || kind == CopyKind::device_to_device;
}
bool writes_device(CopyKind kind) {
  return kind == CopyKind::host_to_device || kind == CopyKind::device_to_device;
}

// Memory that must be the device's, or that is: all of it has to be there.
bool all_there(State const& state, void const* pointer, std::size_t bytes, bool of_device) {
  if (of_device || state.allocations.holds(pointer, 1)) return state.allocations.holds(pointer, bytes);
  return true;
}

}  // namespace

Code copy(State& state, void* to, void const* from, std::size_t bytes, CopyKind kind) {
  if (kind < CopyKind::host_to_host || kind > CopyKind::by_address) return Code::invalid_memcpy_direction;
  if (bytes == 0) return Code::success;
  if (!to || !from) return Code::invalid_value;
  if (!all_there(state, to, bytes, writes_device(kind)) || !all_there(state, from, bytes, reads_device(kind)))
    return Code::invalid_value;
  std::memmove(to, from, bytes);
  state.commands.copied({to, bytes, bytes}, {from, bytes, bytes});
  return Code::success;
}

Code copy_rows(State& state, Rows2D to, Rows2D from, std::size_t bytes, std::size_t rows, CopyKind kind) {
  if (kind < CopyKind::host_to_host || kind > CopyKind::by_address) return Code::invalid_memcpy_direction;
  if (bytes == 0 || rows == 0) return Code::success;
  if (rows > 1 && (bytes > to.pitch || bytes > from.pitch)) return Code::invalid_pitch_value;
  if (!all_there(state, to.pointer, to.pitch * (rows - 1) + bytes, writes_device(kind)) ||
      !all_there(state, from.pointer, from.pitch * (rows - 1) + bytes, reads_device(kind)))
    return Code::invalid_value;
  for (std::size_t row = 0; row < rows; ++row)
    std::memmove(static_cast<std::byte*>(to.pointer) + row * to.pitch,
                 static_cast<std::byte const*>(from.pointer) + row * from.pitch, bytes);
  state.commands.copied({to.pointer, to.pitch, bytes, rows}, {from.pointer, from.pitch, bytes, rows});
  return Code::success;
}

Code fill_rows(State& state, Rows2D to, int value, std::size_t bytes, std::size_t rows) {
  if (bytes == 0 || rows == 0) return Code::success;
  if (rows > 1 && bytes > to.pitch) return Code::invalid_pitch_value;
  if (!state.allocations.holds(to.pointer, to.pitch * (rows - 1) + bytes)) return Code::invalid_value;
  for (std::size_t row = 0; row < rows; ++row)
    std::memset(static_cast<std::byte*>(to.pointer) + row * to.pitch, value, bytes);
  state.commands.filled({to.pointer, to.pitch, bytes, rows});
  return Code::success;
}

}  // namespace kernelcast::cudart
