#include "flux/attach/banks.hpp"

namespace kernelcast::flux::attach {

Banks* BankPool::borrow(std::size_t bytes) {
  auto const& api = runtime::loaded();
  int device = 0;
  api.get_device(&device);
  auto& free = free_[{device, bytes}];
  if (!free.empty()) {
    auto* const banks = free.back();
    free.pop_back();
    return banks;
  }
  runtime::AnyCaptureGoesOn const allocating;
  auto banks = std::make_unique<Banks>();
  banks->device = device;
  banks->bytes = bytes;
  auto& stream = streams_[device];
  void* host = nullptr;
  bool const made = (stream || api.stream_create(&stream, runtime::stream_non_blocking) == 0) &&
                    api.malloc_device(&banks->on_device, bytes) == 0 && api.malloc_host(&host, bytes) == 0 &&
                    api.memset_async(banks->on_device, 0, bytes, stream) == 0 && api.stream_synchronize(stream) == 0 &&
                    api.event_create(&banks->done, runtime::event_without_time) == 0;
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

}  // namespace kernelcast::flux::attach
