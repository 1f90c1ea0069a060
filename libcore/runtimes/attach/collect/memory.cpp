#include "runtimes/attach/collect/memory.hpp"

#include <cstring>
#include <fstream>
#include <limits>

#include <fmt/format.h>

#include "kernels/cuda/next.hpp"

namespace kernelcast::attach::collect {

using namespace cudart;

namespace {

// Of the host, in bytes; all where the system does not tell.
std::size_t available() {
  std::ifstream in("/proc/meminfo");
  for (std::string name, unit; in >> name;) {
    if (name != "MemAvailable:") {
      std::getline(in, unit);
      continue;
    }
    std::size_t kib = 0;
    if (in >> kib) return kib * 1024;
  }
  return std::numeric_limits<std::size_t>::max();
}

}  // namespace

void Memory::add(void* at, std::size_t bytes, int device, bool on_host) {
  if (at && bytes > 0) blocks_[at] = {bytes, device, on_host};
}

void Memory::remove(void* at) {
  blocks_.erase(at);
}

void Memory::add_variable(void const* symbol, std::size_t bytes) {
  variables_[symbol] = bytes;
}

std::string Memory::keep(int device) {
  kept_.clear();
  std::size_t all = 0;
  for (auto const& [at, block] : blocks_)
    if (block.on_host || block.device == device) all += block.bytes;
  if (all > available() / 2)
    return fmt::format("{} bytes that the kernel may write to are more than half of the host's free memory", all);
  auto const failed = [](Code error) {
    return fmt::format("memory cannot be kept: CUDA error {}", static_cast<int>(error));
  };
  for (auto const& [at, block] : blocks_) {
    if (!block.on_host && block.device != device) continue;
    auto& kept = kept_.emplace_back(Kept{at, nullptr, block.on_host, std::vector<std::byte>(block.bytes)});
    if (block.on_host)
      std::memcpy(kept.bytes.data(), at, block.bytes);
    else if (Code const error = runtime().cudaMemcpy(kept.bytes.data(), at, block.bytes, CopyKind::by_address);
             error != Code::success)
      return failed(error);
  }
  for (auto const& [symbol, bytes] : variables_) {
    auto& kept = kept_.emplace_back(Kept{nullptr, symbol, false, std::vector<std::byte>(bytes)});
    if (Code const error =
            runtime().cudaMemcpyFromSymbol(kept.bytes.data(), symbol, bytes, 0, CopyKind::device_to_host);
        error != Code::success)
      return failed(error);
  }
  return {};
}

std::string Memory::put_back() {
  auto worst = Code::success;
  for (auto const& kept : kept_) {
    auto const size = kept.bytes.size();
    auto error = Code::success;
    if (kept.on_host)
      std::memcpy(kept.at, kept.bytes.data(), size);
    else if (kept.symbol)
      error = runtime().cudaMemcpyToSymbol(kept.symbol, kept.bytes.data(), size, 0, CopyKind::host_to_device);
    else
      error = runtime().cudaMemcpy(kept.at, kept.bytes.data(), size, CopyKind::by_address);
    if (error != Code::success) worst = error;
  }
  kept_.clear();
  return worst == Code::success ? "" : fmt::format("memory cannot be put back: CUDA error {}", static_cast<int>(worst));
}

}  // namespace kernelcast::attach::collect
