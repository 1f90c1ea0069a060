#include "runtimes/attach/count/banks.hpp"

#include "runtimes/attach/count/capture.hpp"

namespace kernelcast::attach::count {

using namespace cudart;

Banks* BankPool::borrow(std::size_t bytes) {
  auto const& api = runtime();
  int const device = current_device();
  auto& free = free_[{device, bytes}];
  if (!free.empty()) {
    auto* const banks = free.back();
    free.pop_back();
    return banks;
  }
  AnyCaptureGoesOn const allocating;
  auto banks = std::make_unique<Banks>();
  banks->device = device;
  banks->bytes = bytes;
  auto& stream = streams_[device];
  void* host = nullptr;
  bool const made = (stream || api.cudaStreamCreateWithFlags(&stream, stream_non_blocking) == Code::success) &&
                    api.cudaMalloc(&banks->on_device, bytes) == Code::success &&
                    api.cudaMallocHost(&host, bytes) == Code::success &&
                    api.cudaMemsetAsync(banks->on_device, 0, bytes, stream) == Code::success &&
                    api.cudaStreamSynchronize(stream) == Code::success &&
                    api.cudaEventCreateWithFlags(&banks->done, event_disable_timing) == Code::success;
  if (!made) return nullptr;
  banks->on_host = static_cast<std::uint64_t*>(host);
  return all_.emplace_back(std::move(banks)).get();
}

void BankPool::give_back(Banks* banks) {
  free_[{banks->device, banks->bytes}].push_back(banks);
}

std::vector<std::uint64_t> summed(Banks const& banks, std::size_t bank_bytes) {
  std::vector<std::uint64_t> words(bank_bytes / 8, 0);
  for (std::size_t w = 0; w < banks.bytes / 8; ++w) words[w % words.size()] += banks.on_host[w];
  return words;
}

}  // namespace kernelcast::attach::count
