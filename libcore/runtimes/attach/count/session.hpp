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

#include "kernels/cuda/preload.hpp"
#include "measure/flux/rows.hpp"
#include "runtimes/attach/count/banks.hpp"
#include "runtimes/attach/count/program.hpp"

namespace kernelcast::attach::count {

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

class Session final : public cudart::Client {
 public:
  static Session& get();

  cudart::FatbinWrapper const* replace(cudart::FatbinWrapper const*) override;
  void add_program(void** handle, cudart::FatbinWrapper const* given) override;
  void removing_program() override { end(); }  // the runtime still works
  void add_kernel(void** handle, void const* host_function, char const* name) override;
  void add_handle(void const* kernel, void const* host_function) override;
  // With our argument.
  cudart::Code launch(cudart::PassingLaunch const&, cudart::LaunchCall const&) override;
  cudart::Code add_node(cudart::Node**, cudart::Graph*, cudart::KernelNodeParameters const&,
                        cudart::NodeCall const&) override;
  cudart::Code change_node(cudart::Node*, cudart::GraphExec*, cudart::KernelNodeParameters const&,
                           cudart::NodeCall const&) override;
  void destroying_node(cudart::Node*) override;
  bool is_ours(cudart::Node*) const override;  // a node that reads counters

  void end();  // waits for what is pending

 private:
  struct Prepared {
    cudart::Code error = cudart::Code::success;
    Pending pending;
    std::vector<void*> arguments;
  };
  // What reads the banks behind a kernel node, and for which launch.
  struct Followers {
    cudart::Node *copy = nullptr, *clear = nullptr, *report = nullptr;
    Pending const* pending = nullptr;
  };
  struct Reported {
    Pending const* pending;
    std::uint64_t launch;
    std::vector<std::uint64_t> words;
  };

  Session();
  // `extra`: the arguments in the other form that the runtime takes, where those of the launch are null.
  Prepared prepare(cudart::PassingLaunch const&, void** extra);
  Prepared prepare(cudart::KernelNodeParameters const&);
  void finish(Prepared&, cudart::Code, cudart::Stream);
  Loaded const& loaded(Kernel&, void const* host_function);
  void harvest(bool wait);
  void write(Pending const&, std::vector<std::uint64_t> const& words);
  void write_uncounted(Pending const&, std::string reason);

  // graphs.cpp
  static cudart::KernelNodeParameters extended(cudart::KernelNodeParameters, Prepared&);
  void captured(Pending&, cudart::Stream);
  void node_added(Prepared&, cudart::Code, cudart::Node*, cudart::Graph*);
  void node_changed(Prepared&, cudart::Code, cudart::Node*, cudart::GraphExec*);
  void use_banks_of(cudart::Node*, Prepared&);
  Pending const* keep(Pending const&);
  void follow(cudart::Node*, Followers const&);
  static void report(void* pending);
  void harvest_reported();
  void synchronize_graphs();

  mutable std::recursive_mutex mutex_;
  std::vector<std::unique_ptr<Program>> programs_;
  std::map<cudart::FatbinWrapper const*, Program*> replaced_;
  cudart::Registered<Program, Kernel> registered_;
  Kernel unknown_;
  BankPool pool_;
  std::deque<Pending> pending_;
  std::vector<std::unique_ptr<Pending>> kept_;  // of graphs
  std::map<cudart::Node*, Followers> followers_;
  std::set<cudart::Node*> ours_;
  std::map<int, bool> devices_with_graphs_;
  std::mutex reported_mutex_;  // taken last, and in the runtime's own threads, which must not wait for mutex_
  std::vector<Reported> reported_;
  std::atomic<std::uint64_t> launches_ = 0;
  std::unique_ptr<flux::RowWriter> rows_;
  bool ending_ = false, ended_ = false;
};

}  // namespace kernelcast::attach::count
