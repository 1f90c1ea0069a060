#include "runtimes/cudart/copies.hpp"

namespace kernelcast::cudart {

namespace {

bool reads_device(CopyKind kind) {
  return kind == CopyKind::device_to_host || kind == CopyKind::device_to_device;
}
bool writes_device(CopyKind kind) {
  return kind == CopyKind::host_to_device || kind == CopyKind::device_to_device;
}

}  // namespace

// Memory that must be the device's, or that is: all of it has to be there.
bool Copies::all_there(void const* pointer, std::size_t bytes, bool of_device) const {
  return allocations_.holds(pointer, bytes) || (!of_device && !allocations_.holds(pointer, 1));
}

Code Copies::copy(void* to, void const* from, std::size_t bytes, CopyKind kind) {
  if (kind < CopyKind::host_to_host || kind > CopyKind::by_address) return Code::invalid_memcpy_direction;
  if (bytes == 0) return Code::success;
  if (!to || !from) return Code::invalid_value;
  if (!all_there(to, bytes, writes_device(kind)) || !all_there(from, bytes, reads_device(kind)))
    return Code::invalid_value;
  Area const target{to, bytes, bytes}, source{from, bytes, bytes};
  deferred_.copy(target, source);
  commands_.copied(target, source);
  timeline_.copied(target, source);
  return Code::success;
}

Code Copies::copy_rows(Rows2D to, Rows2D from, std::size_t bytes, std::size_t rows, CopyKind kind) {
  if (kind < CopyKind::host_to_host || kind > CopyKind::by_address) return Code::invalid_memcpy_direction;
  if (bytes == 0 || rows == 0) return Code::success;
  if (rows > 1 && (bytes > to.pitch || bytes > from.pitch)) return Code::invalid_pitch_value;
  if (!all_there(to.pointer, to.pitch * (rows - 1) + bytes, writes_device(kind)) ||
      !all_there(from.pointer, from.pitch * (rows - 1) + bytes, reads_device(kind)))
    return Code::invalid_value;
  Area const target{to.pointer, to.pitch, bytes, rows}, source{from.pointer, from.pitch, bytes, rows};
  deferred_.copy(target, source);
  commands_.copied(target, source);
  timeline_.copied(target, source);
  return Code::success;
}

Code Copies::fill_rows(Rows2D to, int value, std::size_t bytes, std::size_t rows) {
  if (bytes == 0 || rows == 0) return Code::success;
  if (rows > 1 && bytes > to.pitch) return Code::invalid_pitch_value;
  if (!allocations_.holds(to.pointer, to.pitch * (rows - 1) + bytes)) return Code::invalid_value;
  Area const target{to.pointer, to.pitch, bytes, rows};
  deferred_.fill(target, value);
  commands_.filled(target);
  timeline_.filled(target);
  return Code::success;
}

}  // namespace kernelcast::cudart
