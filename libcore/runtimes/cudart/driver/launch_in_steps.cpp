// Launches in several calls, as before CUDA 4: the block, the arguments, then the grid. PyCUDA makes them so.
#include <algorithm>
#include <cstring>
#include <map>
#include <vector>

#include "runtimes/cudart/driver/call.hpp"
#include "runtimes/cudart/registry.hpp"

using namespace kernelcast;
using namespace kernelcast::driver;
using cudart::Registry;

extern "C" Code cuLaunchKernel(Function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, Stream,
                               void**, void**);

namespace {

struct Prepared {
  unsigned block[3] = {1, 1, 1};
  unsigned shared_bytes = 0;
  std::vector<std::byte> arguments;
};
// Guarded by the runtime's lock. Never destroyed: the application may call at the very end.
std::map<Function, Prepared>& all_prepared() {
  static auto* const all = new std::map<Function, Prepared>;
  return *all;
}
constexpr std::size_t max_argument_bytes = 32764;

template <class Body>
Code prepare(Function function, Body const& body) {
  return call_in_context([&](Registry& registry) {
    return registry.kernel(function) ? body(all_prepared()[function]) : Code::invalid_resource_handle;
  });
}

Code set_argument(Function function, int offset, void const* value, std::size_t bytes) {
  return prepare(function, [&](Prepared& prepared) {
    if (!value || offset < 0 || static_cast<std::size_t>(offset) + bytes > max_argument_bytes)
      return Code::invalid_value;
    auto const end = static_cast<std::size_t>(offset) + bytes;
    prepared.arguments.resize(std::max(prepared.arguments.size(), end));
    std::memcpy(prepared.arguments.data() + offset, value, bytes);
    return Code::success;
  });
}

Code launch(Function function, int width, int height, Stream stream) {
  if (width <= 0 || height <= 0) return Code::invalid_value;
  Prepared given;
  auto const code = prepare(function, [&](Prepared& prepared) { return given = prepared, Code::success; });
  if (code != Code::success) return code;
  // CU_LAUNCH_PARAM_BUFFER_POINTER, _BUFFER_SIZE, _END
  std::size_t bytes = given.arguments.size();
  void* extra[] = {reinterpret_cast<void*>(1), given.arguments.data(), reinterpret_cast<void*>(2), &bytes, nullptr};
  return cuLaunchKernel(function, static_cast<unsigned>(width), static_cast<unsigned>(height), 1, given.block[0],
                        given.block[1], given.block[2], given.shared_bytes, stream, nullptr,
                        bytes > 0 ? extra : nullptr);
}

}  // namespace

KERNELCAST_CUDA_EXPORT Code cuFuncSetBlockShape(Function function, int x, int y, int z) {
  if (x <= 0 || y <= 0 || z <= 0) return Code::invalid_value;
  return prepare(function, [&](Prepared& prepared) {
    prepared.block[0] = static_cast<unsigned>(x);
    prepared.block[1] = static_cast<unsigned>(y);
    prepared.block[2] = static_cast<unsigned>(z);
    return Code::success;
  });
}
KERNELCAST_CUDA_EXPORT Code cuFuncSetSharedSize(Function function, unsigned bytes) {
  return prepare(function, [&](Prepared& prepared) { return prepared.shared_bytes = bytes, Code::success; });
}
KERNELCAST_CUDA_EXPORT Code cuParamSetSize(Function function, unsigned bytes) {
  return prepare(function, [&](Prepared& prepared) {
    if (bytes > max_argument_bytes) return Code::invalid_value;
    prepared.arguments.resize(bytes);
    return Code::success;
  });
}
KERNELCAST_CUDA_EXPORT Code cuParamSetv(Function function, int offset, void* value, unsigned bytes) {
  return set_argument(function, offset, value, bytes);
}
KERNELCAST_CUDA_EXPORT Code cuParamSeti(Function function, int offset, unsigned value) {
  return set_argument(function, offset, &value, sizeof value);
}
KERNELCAST_CUDA_EXPORT Code cuParamSetf(Function function, int offset, float value) {
  return set_argument(function, offset, &value, sizeof value);
}
KERNELCAST_CUDA_EXPORT Code cuLaunch(Function function) {
  return launch(function, 1, 1, nullptr);
}
KERNELCAST_CUDA_EXPORT Code cuLaunchGrid(Function function, int width, int height) {
  return launch(function, width, height, nullptr);
}
KERNELCAST_CUDA_EXPORT Code cuLaunchGridAsync(Function function, int width, int height, Stream stream) {
  return launch(function, width, height, stream);
}
