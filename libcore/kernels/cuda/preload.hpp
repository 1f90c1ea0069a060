// A library of ours before the CUDA runtime of an application (LD_PRELOAD): the calls that it sees, and what it does
// with them. Everything goes to the runtime; clients are told.
//
// Limits: the shared runtime; the static one calls these functions within itself. Such a program is compiled by
// flux-clang++, which redirects its calls to the same functions with a prefix (KERNELCAST_PREFIX, ../llvm/flux).
#pragma once

#include <map>
#include <optional>
#include <string>
#include <unordered_map>

#include "kernels/cuda/abi.hpp"

namespace kernelcast::cudart {

struct PassingLaunch {
  void const* kernel;  // the host's function, or the handle that __cudaGetKernel gave
  Dim3 grid, block;
  std::size_t shared_bytes;
  void** arguments;
  Stream stream;
};

// The runtime's call, by reference.
template <class... Given>
class Call {
 public:
  template <class Function>
  Call(Function const& function)  // NOLINT(google-explicit-constructor)
      : function_(&function),
        invoke_([](void const* f, Given... given) { return (*static_cast<Function const*>(f))(given...); }) {}
  Code operator()(Given... given) const { return invoke_(function_, given...); }

 private:
  void const* function_;
  Code (*invoke_)(void const*, Given...);
};
using LaunchCall = Call<void**>;                     // with these arguments
using NodeCall = Call<KernelNodeParameters const&>;  // likewise

// Calls that the runtime makes within its own do not come here.
class Client {
 public:
  virtual ~Client() = default;

  // What the runtime is given in place of a program.
  virtual FatbinWrapper const* replace(FatbinWrapper const* given) { return given; }
  virtual void add_program(void** /*handle*/, FatbinWrapper const* /*given*/) {}
  virtual void removing_program() {}
  virtual void add_kernel(void** handle, void const* host, char const* name) = 0;
  virtual void add_handle(void const* handle, void const* host) = 0;
  struct Variable {
    void const* host;
    char const* name;
    std::size_t bytes;
    bool constant;
  };
  virtual void add_variable(void** /*handle*/, Variable const&) {}

  virtual Code launch(PassingLaunch const&, LaunchCall const&) = 0;

  // `stream`: where the call is not the host's own.
  virtual void allocated(void* /*pointer*/, std::size_t /*bytes*/, MemoryType) {}
  virtual void freeing(void* /*pointer*/) {}
  virtual void copied(Area const& /*to*/, Area const& /*from*/, std::optional<Stream> /*stream*/ = {}) {}
  virtual void filled(Area const& /*to*/, std::optional<Stream> /*stream*/ = {}) {}

  virtual Code add_node(Node**, Graph*, KernelNodeParameters const& given, NodeCall const& call) { return call(given); }
  // Within a graph, or (`exec`) within an executable one.
  virtual Code change_node(Node*, GraphExec* /*exec*/, KernelNodeParameters const& given, NodeCall const& call) {
    return call(given);
  }
  virtual void destroying_node(Node*) {}
  virtual bool is_ours(Node*) const { return false; }  // a node that the application has not made
};
Client& client();  // each library has one

// What an application has registered: programs by handle, kernels by the host's function or by handle. `Kernel` has
// `program`, null where its handle is not known, and `name`. Not for several threads at a time.
template <class Program, class Kernel>
class Registered {
 public:
  void add_program(void** handle, Program& program) { programs_[handle] = &program; }
  Program* program(void** handle) const {
    auto const found = programs_.find(handle);
    return found == programs_.end() ? nullptr : found->second;
  }
  void add_kernel(void** handle, void const* host, char const* name) {
    auto& kernel = kernels_[host] = {};
    kernel.program = program(handle);
    kernel.name = name;
  }
  void add_handle(void const* handle, void const* host) { hosts_[handle] = host; }
  void const* host_of(void const* host_or_handle) const {
    auto const found = hosts_.find(host_or_handle);
    return found == hosts_.end() ? host_or_handle : found->second;
  }
  Kernel* kernel(void const* host_or_handle) {
    auto const found = kernels_.find(host_of(host_or_handle));
    return found == kernels_.end() ? nullptr : &found->second;
  }

 private:
  std::unordered_map<void*, Program*> programs_;
  std::unordered_map<void const*, Kernel> kernels_;
  std::unordered_map<void const*, void const*> hosts_;  // by handle
};

}  // namespace kernelcast::cudart
