// Banks of counters on the devices of an attached application, used again and again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "kernels/cuda/abi.hpp"

namespace kernelcast::attach::count {

// A set of banks, on one device. They begin zero, and every launch leaves them so.
struct Banks {
  int device = 0;
  std::size_t bytes = 0;
  void* on_device = nullptr;
  std::uint64_t* on_host = nullptr;
  cudart::Event done = nullptr;
};

// Not for several threads at a time.
class BankPool {
 public:
  Banks* borrow(std::size_t bytes);  // on the current device; null where it has no memory left
  void give_back(Banks*);

 private:
  std::vector<std::unique_ptr<Banks>> all_;
  std::map<std::pair<int, std::size_t>, std::vector<Banks*>> free_;
  std::map<int, cudart::Stream> streams_;  // for clearing, by device
};

// The host's copy added up over the banks: words of one bank.
std::vector<std::uint64_t> summed(Banks const&, std::size_t bank_bytes);

}  // namespace kernelcast::attach::count
