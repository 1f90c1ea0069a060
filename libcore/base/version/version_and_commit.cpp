#include "base/version/version.hpp"

namespace kernelcast {

std::string version_and_commit() {
  std::string out(version());
  if (!commit().empty()) out.append(" (").append(commit()).append(")");
  return out;
}

}  // namespace kernelcast
