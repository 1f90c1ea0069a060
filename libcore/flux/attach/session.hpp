// What an attached process knows: its programs, their kernels, the launches under way, and the rows it has written.
//
// Method: each fat binary's PTX is replaced by its instrumented form when the program registers it. A launch borrows a
// set of banks from a pool, hands their address to the kernel as one more argument, and puts a copy to the host and a
// clearing behind the kernel on the same stream; once the event behind these has passed, the counts are written and the
// banks go back. In a graph an action of the host replaces the event, so that each run of the graph gives rows
// of its own: behind what a stream capture records, and as three nodes behind a kernel node that is added by hand.
// Limits: the banks of a kernel node belong to its graph; where two executable graphs made of one graph run at the same
// time, their counts are right as a sum only.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "flux/attach/banks.hpp"
#include "flux/attach/program.hpp"
#include "flux/attach/runtime.hpp"
#include "flux/rows.hpp"

namespace kernelcast::flux::attach {

// A kernel as one device runs it.
struct Loaded {
  Variant const* variant = nullptr;  // none where it is not counted
  std::uint32_t function = 0;        // in the variant's module
  std::uint32_t bank = 0;            // bytes; 0: nothing to count beyond the launch
  std::uint64_t static_shared_bytes = 0;
  std::string failure;
};

struct Kernel {
  Program* program = nullptr;
  std::string name;
  std::map<int, Loaded> on;  // by device
};

// A launch between its start and its row.
struct Pending {
  Loaded const* kernel = nullptr;
  record::CountedLaunch launch;
  Banks* banks = nullptr;
  std::string failure;  // beyond the kernel's own
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
    Prepared prepared = prepare(host_function, {grid, block, shared_bytes}, arguments, nullptr);
    if (prepared.nested) return call(arguments);
    if (prepared.error) return prepared.error;
    auto const result = call(prepared.arguments.empty() ? arguments : prepared.arguments.data());
    finish(prepared, result, stream);
    return result;
  }

  // A kernel node: made or changed by `call`, which gets its parameters with our argument.
  template <class Call>
  runtime::Error add_node(runtime::Node* node, runtime::Graph graph, runtime::KernelNodeParams const& given,
                          Call call) {
    Prepared prepared = prepare(given);
    if (prepared.error) return prepared.error;
    auto const result = call(extended(given, prepared));
    if (!prepared.nested) node_added(prepared, result, *node, graph);
    return result;
  }
  // Within a graph, or (`exec`) within an executable one.
  template <class Call>
  runtime::Error change_node(runtime::Node node, runtime::GraphExec exec, runtime::KernelNodeParams const& given,
                             Call call) {
    Prepared prepared = prepare(given);
    if (prepared.error) return prepared.error;
    if (!prepared.nested) use_banks_of(node, prepared);
    auto const result = call(extended(given, prepared));
    if (!prepared.nested) node_changed(prepared, result, node, exec);
    return result;
  }
  void destroying_node(runtime::Node);
  bool is_ours(runtime::Node) const;  // a node that reads counters

  void end();  // waits for what is pending

 private:
  struct Prepared {
    bool nested = false;
    runtime::Error error = 0;
    Pending pending;
    std::vector<void*> arguments;
  };
  struct Sizes {
    runtime::Dim3 grid, block;
    std::size_t shared_bytes;
  };
  // What reads the banks behind a kernel node, and for which launch.
  struct Followers {
    runtime::Node copy = nullptr, clear = nullptr, report = nullptr;
    Pending const* pending = nullptr;
  };
  struct Reported {
    Pending const* pending;
    std::uint64_t launch;
    std::vector<std::uint64_t> words;
  };

  Session();
  // `extra`: the arguments in the other form that the runtime takes, where `arguments` is null.
  Prepared prepare(void const* host_function, Sizes const&, void** arguments, void** extra);
  Prepared prepare(runtime::KernelNodeParams const&);
  void finish(Prepared&, runtime::Error, runtime::Stream);
  static void end_of_call();  // of the runtime
  Loaded const& loaded(Kernel&, void const* host_function);
  void harvest(bool wait);
  void write(Pending const&, std::vector<std::uint64_t> const& words);
  void write_uncounted(Pending const&, std::string reason);

  // graphs.cpp
  static runtime::KernelNodeParams extended(runtime::KernelNodeParams, Prepared&);
  void captured(Pending&, runtime::Stream);
  void node_added(Prepared&, runtime::Error, runtime::Node, runtime::Graph);
  void node_changed(Prepared&, runtime::Error, runtime::Node, runtime::GraphExec);
  void use_banks_of(runtime::Node, Prepared&);
  Pending const* keep(Pending const&);
  void follow(runtime::Node, Followers const&);
  static void report(void* pending);
  void harvest_reported();
  void synchronize_graphs();

  mutable std::recursive_mutex mutex_;
  std::vector<std::unique_ptr<Program>> programs_;
  std::map<runtime::FatbinWrapper const*, Program*> replaced_;
  std::map<void**, Program*> handles_;
  std::map<void const*, Kernel> kernels_;  // by host function
  Kernel unknown_;
  std::map<runtime::Kernel, void const*> host_functions_;
  BankPool pool_;
  std::deque<Pending> pending_;
  std::vector<std::unique_ptr<Pending>> kept_;  // of graphs
  std::map<runtime::Node, Followers> followers_;
  std::set<runtime::Node> ours_;
  std::map<int, bool> devices_with_graphs_;
  std::mutex reported_mutex_;  // taken last, and in the runtime's own threads, which must not wait for mutex_
  std::vector<Reported> reported_;
  std::atomic<std::uint64_t> launches_ = 0;
  std::unique_ptr<RowWriter> rows_;
  bool ending_ = false, ended_ = false;
};

}  // namespace kernelcast::flux::attach
