// What an attached process knows: its kernels, its memory, what was measured.
//
// Method: the first launch of each kernel with each configuration waits for the device, keeps the memory, repeats the
// kernel while the power is sampled, puts the memory back, and only then is made as the application requested. So the
// application computes what it would have computed.
#pragma once

#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <tuple>

#include "forest/collect/memory.hpp"
#include "forest/collect/power.hpp"
#include "forest/collect/runtime.hpp"
#include "record/table.hpp"
#include "record/target.hpp"

namespace kernelcast::forest::collect {

class Session {
 public:
  static Session& get();

  void add_kernel(void const* host_function, char const* name);
  void add_handle(Kernel, void const* host_function);
  void const* host_function_of(Kernel) const;
  void add_variable(void const* symbol, std::size_t bytes);
  void allocated(void* at, std::size_t bytes, bool on_host);
  void freed(void* at);

  // `call` makes the launch once more each time.
  Code launch(void const* host_function, Dim3 grid, Dim3 block, Stream stream, std::function<Code()> const& call);

 private:
  Session();
  void measure_once(void const* host_function, Dim3 grid, Dim3 block, Stream stream, std::function<Code()> const& call);
  void measure(record::Target& row, int device, Stream stream, std::function<Code()> const& call);
  struct Device {
    std::string name;
    PowerMeter meter;
  };
  Device& device_of(int number);
  void write(record::Target const& row);
  static int current_device();

  mutable std::recursive_mutex mutex_;
  std::map<void const*, std::string> kernels_;  // by host function
  std::map<Kernel, void const*> host_functions_;
  std::set<std::string> skipped_;
  std::set<std::tuple<std::string, std::string, int>> done_;  // kernel, case, device
  std::map<int, Device> devices_;
  Memory memory_;
  double seconds_ = 1;
  bool power_ = true, measuring_ = false;
  std::ofstream file_;
  std::optional<record::Writer<record::Target>> rows_;
};

}  // namespace kernelcast::forest::collect
