// An application on a GPU, observed: its launches that are new are described in the spool.
//
// Method: a library before the application's shared CUDA runtime (LD_PRELOAD, preload.cpp) sees programs, kernels,
// variables and memory as they are registered and allocated, and passes everything on. Before a launch with new sizes
// it waits for the device and reads back what the arguments point to, and what that points to; the launch then stands
// in the spool as a launch file, with the program's PTX, in which variables have their present values. miniemu emulates
// it in a process of its own. Other launches cost a look-up.
// Limits: a launch within a capture, textures and surfaces are named as skipped, and what ../description.hpp refuses.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "intercept/cuda/abi.hpp"
#include "intercept/cuda/forward/commands.hpp"
#include "intercept/cuda/policy.hpp"
#include "ptx/module.hpp"

namespace kernelcast::cudart::forward {

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

struct Launch {
  Sizes sizes;
  void** arguments;
  Stream stream;
};

class Watch {
 public:
  static Watch& get();

  void add_program(void** handle, void const* fatbin);
  void add_kernel(void** handle, void const* host, char const* name);
  void add_symbol(void** handle, void const* host, char const* name, std::size_t bytes);
  void add_handle(void const* handle, void const* host);
  enum class Of : std::uint8_t { device, host, managed };
  void add_memory(void const* pointer, std::size_t bytes, Of);
  void remove_memory(void const* pointer);

  void copied(Commands::Area const& to, Commands::Area const& from);
  void filled(Commands::Area const& to);

  // A launch on its way: seen before it is made, and published if the runtime takes it.
  struct Passing {
    LaunchPolicy::Counted counted;
    std::string file, text;  // in the spool; empty: nothing new
    std::string command;     // for the graph
  };
  Passing begin(void const* host_or_handle, Launch const&);
  void end(Passing const&, Code);

 private:
  Watch();
  Kernel const* find(void const* host_or_handle) const;
  void describe(Kernel const&, Launch const&, std::uint64_t number, Passing&);

  std::mutex mutex_;
  std::optional<LaunchPolicy> policy_;  // none: nothing is observed
  std::optional<Commands> commands_;    // none: no graph is requested
  std::vector<std::unique_ptr<Program>> programs_;
  std::unordered_map<void*, Program*> by_handle_;
  std::unordered_map<void const*, Kernel> kernels_;
  std::unordered_map<void const*, void const*> hosts_;  // by handle
  std::map<std::uint64_t, std::uint64_t> memory_;       // bytes by address
  std::map<std::uint64_t, std::uint64_t> on_device_;    // likewise, of device memory alone
  std::uint64_t device_bytes_ = 0;                      // of all GPUs
};

}  // namespace kernelcast::cudart::forward
