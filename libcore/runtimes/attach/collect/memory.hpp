// What a kernel may write to: kept before it is repeated, put back after.
//
// Limits: memory of cudaMalloc, its relatives, and __device__ variables; arrays that are written through surfaces, and
// memory that other programs or interfaces share, are not known here.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace kernelcast::attach::collect {

class Memory {
 public:
  void add(void* at, std::size_t bytes, int device, bool on_host);
  void remove(void* at);
  void add_variable(void const* symbol, std::size_t bytes);

  // Copies what a kernel on this device can reach. The message of what failed; empty: nothing did.
  std::string keep(int device);
  std::string put_back();  // the last keep()

 private:
  struct Block {
    std::size_t bytes = 0;
    int device = 0;
    bool on_host = false;
  };
  struct Kept {
    void* at = nullptr;            // an allocation,
    void const* symbol = nullptr;  // or a variable
    bool on_host = false;
    std::vector<std::byte> bytes;
  };
  std::map<void*, Block> blocks_;
  std::map<void const*, std::size_t> variables_;
  std::vector<Kept> kept_;
};

}  // namespace kernelcast::attach::collect
