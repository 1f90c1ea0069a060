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

#include "kernels/cuda/preload.hpp"
#include "records/table/table.hpp"
#include "records/target.hpp"
#include "runtimes/attach/collect/memory.hpp"
#include "runtimes/attach/collect/power.hpp"

namespace kernelcast::attach::collect {

class Session final : public cudart::Client {
 public:
  static Session& get();

  void add_kernel(void** handle, void const* host, char const* name) override;
  void add_handle(void const* handle, void const* host) override;
  void add_variable(void** handle, Variable const&) override;
  void allocated(void* pointer, std::size_t bytes, cudart::MemoryType) override;
  void freeing(void* pointer) override;
  cudart::Code launch(cudart::PassingLaunch const&, cudart::LaunchCall const& call) override;

 private:
  Session();
  using Again = std::function<cudart::Code()>;  // makes the launch once more
  void measure_once(cudart::PassingLaunch const&, Again const&);
  void measure(record::Target& row, int device, cudart::Stream, Again const&);
  struct Device {
    std::string name;
    PowerMeter meter;
  };
  Device& device_of(int number);
  void write(record::Target const& row);

  mutable std::recursive_mutex mutex_;
  struct Program;
  struct Kernel {
    Program const* program = nullptr;  // none: of no interest here
    std::string name;
  };
  cudart::Registered<Program, Kernel> registered_;
  std::set<std::string> skipped_;
  std::set<std::tuple<std::string, std::string, int>> done_;  // kernel, case, device
  std::map<int, Device> devices_;
  Memory memory_;
  std::ofstream file_;
  std::optional<record::Writer<record::Target>> rows_;
};

}  // namespace kernelcast::attach::collect
