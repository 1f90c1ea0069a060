#include "runtimes/cudart/driver/copy_3d.hpp"

namespace kernelcast::driver {

namespace {

// The runtime counts in texels where an array takes part.
Code end_of(cudart::Arrays const& arrays, Copy3D::End const& end, std::size_t pitch, std::size_t height,
            std::size_t width_bytes, cudart::Array*& array, cudart::Position& position,
            cudart::PitchedPointer& linear) {
  position = {end.x, end.y, end.z};
  switch (end.kind) {
    case MemoryKind::array:
      if (!arrays.known(end.array)) return Code::invalid_value;
      array = end.array;
      if (end.x % array->texel_bytes != 0) return Code::invalid_value;
      position.x = end.x / array->texel_bytes;
      return Code::success;
    case MemoryKind::host:
      linear.pointer = const_cast<void*>(end.host);
      break;
    case MemoryKind::device:
    case MemoryKind::unified:
      linear.pointer = reinterpret_cast<void*>(end.device);
      break;
    default:
      return Code::invalid_value;
  }
  linear.pitch = pitch ? pitch : width_bytes;
  linear.width = width_bytes;
  linear.height = height;
  return Code::success;
}

}  // namespace

Code of_driver(cudart::Arrays const& arrays, Copy3D const& given, cudart::Copy3D& out) {
  auto code = end_of(arrays, given.source, given.source.pitch, given.source.height ? given.source.height : given.height,
                     given.width_bytes, out.source_array, out.source_position, out.source);
  if (code != Code::success) return code;
  code = end_of(arrays, given.target, given.target.pitch, given.target.height ? given.target.height : given.height,
                given.width_bytes, out.target_array, out.target_position, out.target);
  if (code != Code::success) return code;
  auto const* const array = out.source_array ? out.source_array : out.target_array;
  auto const texel = array ? array->texel_bytes : 1;
  if (given.width_bytes % texel != 0) return Code::invalid_value;
  out.extent = {given.width_bytes / texel, given.height, given.depth};
  out.kind = cudart::CopyKind::by_address;
  return Code::success;
}

}  // namespace kernelcast::driver
