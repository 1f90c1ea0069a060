#include "base/version/version.hpp"

namespace kernelcast {

std::string_view version() {
  return KERNELCAST_VERSION;
}

}  // namespace kernelcast
