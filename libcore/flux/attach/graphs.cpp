// Kernels in CUDA graphs: captured from streams, or added as nodes.
#include <fmt/format.h>

#include "flux/attach/session.hpp"

namespace kernelcast::flux::attach {

using runtime::graphs;

Pending const* Session::keep(Pending const& pending) {
  devices_with_graphs_[std::stoi(pending.launch.device)] = true;
  return kept_.emplace_back(std::make_unique<Pending>(pending)).get();
}

// In a thread of the runtime, which other threads may be waiting for with mutex_ held.
void Session::report(void* raw) {
  auto& session = get();
  auto const& pending = *static_cast<Pending const*>(raw);
  Reported reported{&pending, session.launches_++, {}};
  if (pending.banks) reported.words = summed(*pending.banks, pending.kernel->bank);
  std::lock_guard const lock(session.reported_mutex_);
  session.reported_.push_back(std::move(reported));
}

void Session::harvest_reported() {
  std::vector<Reported> runs;
  {
    std::lock_guard const lock(reported_mutex_);
    runs.swap(reported_);
  }
  for (auto const& run : runs) {
    Pending pending = *run.pending;
    pending.launch.launch = run.launch;
    write(pending, run.words);
  }
}

void Session::follow(runtime::Node node, Followers const& followers) {
  followers_[node] = followers;
  for (auto const follower : {followers.copy, followers.clear, followers.report})
    if (follower) ours_.insert(follower);
}

bool Session::is_ours(runtime::Node node) const {
  std::lock_guard const lock(mutex_);
  return ours_.contains(node);
}

// What runs after the last call of the application.
void Session::synchronize_graphs() {
  auto const& api = runtime::loaded();
  if (devices_with_graphs_.empty()) return;
  int current = 0;
  api.get_device(&current);
  for (auto const& [device, used] : devices_with_graphs_) {
    api.set_device(device);
    api.device_synchronize();
  }
  api.set_device(current);
}

// ---------------------------------------------------------------- captured

void Session::captured(Pending& pending, runtime::Stream stream) {
  auto const& api = runtime::loaded();
  auto const node = runtime::last_captured(stream);
  Followers followers;
  followers.pending = keep(pending);
  if (auto const* const banks = pending.banks) {
    api.memcpy_async(banks->on_host, banks->on_device, banks->bytes, runtime::copy_to_host, stream);
    followers.copy = runtime::last_captured(stream);
    api.memset_async(banks->on_device, 0, banks->bytes, stream);
    followers.clear = runtime::last_captured(stream);
  }
  api.launch_host(stream, report, const_cast<Pending*>(followers.pending));
  followers.report = runtime::last_captured(stream);
  if (node && followers.report) follow(node, followers);
}

// ---------------------------------------------------------------- nodes

Session::Prepared Session::prepare(runtime::KernelNodeParams const& given) {
  return prepare(given.function, {given.grid, given.block, given.shared_bytes}, given.parameters, given.extra);
}

runtime::KernelNodeParams Session::extended(runtime::KernelNodeParams parameters, Prepared& prepared) {
  if (prepared.arguments.empty()) return parameters;
  parameters.parameters = prepared.arguments.data();
  parameters.extra = nullptr;
  return parameters;
}

namespace {

runtime::MemsetParams clearing(Banks const& banks) {
  return {banks.on_device, banks.bytes, 0, 1, banks.bytes, 1};
}

}  // namespace

void Session::node_added(Prepared& prepared, runtime::Error result, runtime::Node node, runtime::Graph graph) {
  std::lock_guard const lock(mutex_);
  end_of_call();
  auto& pending = prepared.pending;
  if (result != 0) {  // there is no such node
    if (pending.banks) pool_.give_back(pending.banks);
    return;
  }
  auto const& api = graphs();
  Followers followers;
  followers.pending = keep(pending);
  auto const* before = &node;
  bool made = !api.missing;
  if (auto const* const banks = pending.banks; banks && made) {
    auto const clear = clearing(*banks);
    made = api.add_memcpy(&followers.copy, graph, before, 1, banks->on_host, banks->on_device, banks->bytes,
                          runtime::copy_to_host) == 0 &&
           api.add_memset(&followers.clear, graph, &followers.copy, 1, &clear) == 0;
    before = &followers.clear;
  }
  runtime::HostNodeParams const host{report, const_cast<Pending*>(followers.pending)};
  made = made && api.add_host(&followers.report, graph, before, 1, &host) == 0;
  if (made) return follow(node, followers);
  for (auto const left : {followers.clear, followers.copy})
    if (left) api.destroy_node(left);
  pending.launch.launch = launches_++;
  write_uncounted(pending, "a kernel node of a graph: the CUDA runtime takes no nodes behind it");
}

// A changed node keeps its banks where they are as large as those it needs now.
void Session::use_banks_of(runtime::Node node, Prepared& prepared) {
  std::lock_guard const lock(mutex_);
  auto const known = followers_.find(node);
  auto& banks = prepared.pending.banks;
  if (known == followers_.end() || !banks) return;
  auto* const before = known->second.pending->banks;
  if (!before || before->bytes != banks->bytes || before->device != banks->device) return;
  pool_.give_back(banks);
  banks = before;
  prepared.arguments.back() = &banks->on_device;
}

void Session::node_changed(Prepared& prepared, runtime::Error result, runtime::Node node, runtime::GraphExec exec) {
  std::lock_guard const lock(mutex_);
  end_of_call();
  auto& pending = prepared.pending;
  auto const& api = graphs();
  auto const known = followers_.find(node);
  if (result != 0) return;
  auto const uncounted = [&] {
    pending.launch.launch = launches_++;
    write_uncounted(pending, "a kernel node of a graph that was changed in a way that is not followed");
  };
  if (known == followers_.end() || api.missing || !pending.banks != !known->second.copy) return uncounted();
  Followers& followers = known->second;
  runtime::HostNodeParams const host{report, const_cast<Pending*>(keep(pending))};
  bool changed = (exec ? api.exec_set_host(exec, followers.report, &host) : api.set_host(followers.report, &host)) == 0;
  if (auto const* const banks = pending.banks; banks && changed && (exec || banks != followers.pending->banks)) {
    auto const clear = clearing(*banks);
    changed = exec ? api.exec_set_memcpy(exec, followers.copy, banks->on_host, banks->on_device, banks->bytes,
                                         runtime::copy_to_host) == 0 &&
                         api.exec_set_memset(exec, followers.clear, &clear) == 0
                   : api.set_memcpy(followers.copy, banks->on_host, banks->on_device, banks->bytes,
                                    runtime::copy_to_host) == 0 &&
                         api.set_memset(followers.clear, &clear) == 0;
  }
  if (!changed) return uncounted();
  if (!exec) followers.pending = static_cast<Pending const*>(host.data);
}

void Session::destroying_node(runtime::Node node) {
  std::lock_guard const lock(mutex_);
  auto const known = followers_.find(node);
  if (known == followers_.end()) return;
  for (auto const follower : {known->second.report, known->second.clear, known->second.copy})
    if (follower && ours_.erase(follower)) graphs().destroy_node(follower);
  // An executable graph may still use the banks.
  followers_.erase(known);
}

}  // namespace kernelcast::flux::attach
