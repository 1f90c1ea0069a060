// An application on a GPU, observed: its launches that are new are described in the spool.
//
// Method: a library before the application's shared CUDA runtime (LD_PRELOAD, ../../cuda/preload.hpp) sees programs,
// kernels, variables and memory as they are registered and allocated, and passes everything on. Before a launch with
// new sizes it waits for the device and reads back what the arguments point to, and what that points to; the launch
// is then a launch file in the spool, with the program's PTX, in which variables have their present values.
// miniemu emulates it in a process of its own. Other launches cost a look-up. Limits: a launch within a capture,
// textures and surfaces are named as skipped, and what ../description.hpp refuses.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "kernels/cuda/preload.hpp"
#include "kernels/ptx/module.hpp"
#include "runtimes/attach/launch_policy.hpp"
#include "runtimes/attach/observe/commands.hpp"

namespace kernelcast::attach::observe {

struct Program {
  void const* fatbin = nullptr;
  bool loaded = false;
  std::string failure;  // why it cannot be described
  std::unique_ptr<ptx::Module> module;
  struct Symbol {
    void const* host;
    std::string name;
    std::size_t bytes;
  };
  std::vector<Symbol> symbols;
};

struct Kernel {
  Program* program = nullptr;
  std::string name;
};

class Watch final : public cudart::Client {
 public:
  static Watch& get();

  void add_program(void** handle, cudart::FatbinWrapper const*) override;
  void add_kernel(void** handle, void const* host, char const* name) override;
  void add_variable(void** handle, Variable const&) override;
  void add_handle(void const* handle, void const* host) override;
  void allocated(void* pointer, std::size_t bytes, cudart::MemoryType) override;
  void freeing(void* pointer) override;
  void copied(cudart::Area const& to, cudart::Area const& from, std::optional<cudart::Stream>) override;
  void filled(cudart::Area const& to, std::optional<cudart::Stream>) override;
  cudart::Code launch(cudart::PassingLaunch const&, cudart::LaunchCall const&) override;

 private:
  Watch();
  // A launch on its way: seen before it is made, and published if the runtime takes it.
  struct Passing {
    LaunchPolicy::Counted counted;
    std::string file, text;  // in the spool; empty: nothing new
    std::string command;     // for the graph
  };
  Passing begin(cudart::PassingLaunch const&);
  void end(Passing const&, cudart::Code);
  void describe(Kernel const&, cudart::PassingLaunch const&, std::uint64_t number, Passing&);

  std::mutex mutex_;
  std::optional<LaunchPolicy> policy_;  // none: nothing is observed
  std::optional<Commands> commands_;    // none: no graph is requested
  std::vector<std::unique_ptr<Program>> programs_;
  cudart::Registered<Program, Kernel> registered_;
  std::map<std::uint64_t, std::uint64_t> memory_;     // bytes by address
  std::map<std::uint64_t, std::uint64_t> on_device_;  // likewise, of device memory alone
  std::uint64_t device_bytes_ = 0;                    // of all GPUs
};

}  // namespace kernelcast::attach::observe
