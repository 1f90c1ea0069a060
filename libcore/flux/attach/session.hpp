// What an attached process knows: its programs, their kernels, the banks in use, and the rows it has written.
//
// Method: each fat binary's PTX is replaced by its instrumented form when the program registers it. A launch borrows a
// set of banks from a pool, hands their address to the kernel as one more argument, and puts a copy to the host and a
// clearing behind the kernel on the same stream; once the event behind these has passed, the counts are written and the
// banks go back. Within a stream capture an action of the host stands in the event's place, so that each run of the
// graph gives rows of its own.
#pragma once

#include <cstdint>
#include <deque>
#include <fstream>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "flux/attach/runtime.hpp"
#include "flux/plan.hpp"
#include "flux/rows.hpp"
#include "ptx/module.hpp"

namespace kernelcast::flux::attach {

struct Program {
  std::unique_ptr<ptx::Module> module;  // as the program has it
  Plan plan;
  std::string failure;  // why it is not counted; empty where it is
  std::vector<std::byte> fatbin;
  runtime::FatbinWrapper wrapper{};
};

struct Kernel {
  Program* program = nullptr;
  std::string name;
  std::uint32_t function = 0;  // in the module
  std::uint32_t bank = 0;      // bytes; 0: nothing to count beyond the launch
  std::uint64_t static_shared_bytes = 0;
  std::string failure;
};

// A set of banks, on one device.
struct Banks {
  int device = 0;
  std::size_t bytes = 0;
  void* on_device = nullptr;
  std::uint64_t* on_host = nullptr;
  runtime::Event done = nullptr;
};

// A launch between its start and its row.
struct Pending {
  Kernel const* kernel = nullptr;
  record::CountedLaunch launch;
  Banks* banks = nullptr;
};

class Session {
 public:
  static Session& get();

  // What the runtime shall be given in place of this wrapper.
  runtime::FatbinWrapper const* replace(runtime::FatbinWrapper const*);
  void registered(void** handle, runtime::FatbinWrapper const* given);
  void add_kernel(void** handle, void const* host_function, char const* name);
  void add_handle(runtime::Kernel, void const* host_function);
  void const* host_function_of(runtime::Kernel) const;

  // Makes a launch by `call`, which gets the arguments, ours included.
  template <class Call>
  runtime::Error launch(void const* host_function, runtime::Dim3 grid, runtime::Dim3 block, void** arguments,
                        std::size_t shared_bytes, runtime::Stream stream, Call call) {
    Prepared prepared = prepare(host_function, grid, block, arguments, shared_bytes);
    if (prepared.nested) return call(arguments);
    if (prepared.error) return prepared.error;
    auto const result = call(prepared.arguments.empty() ? arguments : prepared.arguments.data());
    finish(prepared, result, stream);
    return result;
  }
  // A kernel node of a graph that is built by hand runs with banks that nobody reads.
  std::vector<void*> node_arguments(void const* host_function, runtime::Dim3 grid, runtime::Dim3 block,
                                    void** arguments, std::size_t shared_bytes);

  void end();  // waits for what is pending

 private:
  struct Prepared {
    bool nested = false;
    runtime::Error error = 0;
    Pending pending;
    std::vector<void*> arguments;
  };
  Session();
  Prepared prepare(void const*, runtime::Dim3, runtime::Dim3, void**, std::size_t);
  void finish(Prepared&, runtime::Error, runtime::Stream);
  Banks* borrow(std::size_t bytes);
  void harvest(bool wait);
  void write(Pending const&);
  void write_uncounted(Pending const&, std::string reason);
  static void harvest_captured(void*);

  mutable std::recursive_mutex mutex_;
  std::vector<std::unique_ptr<Program>> programs_;
  std::map<runtime::FatbinWrapper const*, Program*> replaced_;
  std::map<void**, Program*> handles_;
  std::map<void const*, Kernel> kernels_;  // by host function
  std::map<runtime::Kernel, void const*> host_functions_;
  std::vector<std::unique_ptr<Banks>> all_banks_;
  std::map<std::pair<int, std::size_t>, std::vector<Banks*>> free_banks_;
  std::map<int, runtime::Stream> streams_;
  std::deque<Pending> pending_;
  std::vector<std::unique_ptr<Pending>> captured_;
  std::uint64_t launches_ = 0;
  std::unique_ptr<RowWriter> rows_;
  bool ended_ = false;
};

}  // namespace kernelcast::flux::attach
