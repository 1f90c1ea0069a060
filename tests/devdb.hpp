// The device database of the source tree.
#pragma once

#include "records/device/device.hpp"

namespace kernelcast {

inline device::DeviceDatabase const& database() {
  static auto const loaded = device::load(KERNELCAST_SOURCE_DIR "/devdb");
  return loaded;
}

}  // namespace kernelcast
