#include "kernels/cuda/next.hpp"

namespace kernelcast::cudart {

Runtime const& runtime() {
  static Runtime const found = [] {
    Runtime out;
#define KERNELCAST_CALLED(name, parameters, users) out.name = reinterpret_cast<decltype(out.name)>(find(#name));
#include "kernels/cuda/entry_points.def"
    return out;
  }();
  return found;
}

char const* Runtime::missing(User user) const {
#define KERNELCAST_CALLED(name, parameters, users) \
  if (((users) & user) != 0 && !name) return #name;
#include "kernels/cuda/entry_points.def"
  return nullptr;
}

bool has_edges() {
  int version = 0;
  return runtime().cudaRuntimeGetVersion && runtime().cudaRuntimeGetVersion(&version) == Code::success &&
         version >= 13000;
}

bool is_capturing(Stream stream) {
  int capturing = 0;
  auto* const query = runtime().cudaStreamIsCapturing;
  return query && query(stream, &capturing) == Code::success && capturing != 0;
}

int current_device() {
  int device = 0;
  if (runtime().cudaGetDevice) runtime().cudaGetDevice(&device);
  return device;
}

}  // namespace kernelcast::cudart
