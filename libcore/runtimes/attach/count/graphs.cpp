// Kernels in CUDA graphs: captured from streams, or added as nodes.
#include <fmt/format.h>

#include "runtimes/attach/count/capture.hpp"
#include "runtimes/attach/count/session.hpp"

namespace kernelcast::attach::count {

using namespace cudart;

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

void Session::follow(Node* node, Followers const& followers) {
  followers_[node] = followers;
  for (auto const follower : {followers.copy, followers.clear, followers.report})
    if (follower) ours_.insert(follower);
}

bool Session::is_ours(Node* node) const {
  std::lock_guard const lock(mutex_);
  return ours_.contains(node);
}

// What runs after the last call of the application.
void Session::synchronize_graphs() {
  auto const& api = runtime();
  if (devices_with_graphs_.empty()) return;
  int const current = current_device();
  for (auto const& [device, used] : devices_with_graphs_) {
    api.cudaSetDevice(device);
    api.cudaDeviceSynchronize();
  }
  api.cudaSetDevice(current);
}

// ---------------------------------------------------------------- captured

void Session::captured(Pending& pending, Stream stream) {
  auto const& api = runtime();
  auto const node = last_captured(stream);
  Followers followers;
  followers.pending = keep(pending);
  if (auto const* const banks = pending.banks) {
    api.cudaMemcpyAsync(banks->on_host, banks->on_device, banks->bytes, CopyKind::device_to_host, stream);
    followers.copy = last_captured(stream);
    api.cudaMemsetAsync(banks->on_device, 0, banks->bytes, stream);
    followers.clear = last_captured(stream);
  }
  api.cudaLaunchHostFunc(stream, report, const_cast<Pending*>(followers.pending));
  followers.report = last_captured(stream);
  if (node && followers.report) follow(node, followers);
}

// ---------------------------------------------------------------- nodes

Session::Prepared Session::prepare(KernelNodeParameters const& given) {
  return prepare({given.function, given.grid, given.block, given.shared_bytes, given.arguments, nullptr}, given.extra);
}

KernelNodeParameters Session::extended(KernelNodeParameters parameters, Prepared& prepared) {
  if (prepared.arguments.empty()) return parameters;
  parameters.arguments = prepared.arguments.data();
  parameters.extra = nullptr;
  return parameters;
}

namespace {

FillNodeParameters clearing(Banks const& banks) {
  return {banks.on_device, banks.bytes, 0, 1, banks.bytes, 1};
}

}  // namespace

Code Session::add_node(Node** node, Graph* graph, KernelNodeParameters const& given, NodeCall const& call) {
  Prepared prepared = prepare(given);
  if (prepared.error != Code::success) return prepared.error;
  auto const result = call(extended(given, prepared));
  node_added(prepared, result, *node, graph);
  return result;
}

Code Session::change_node(Node* node, GraphExec* exec, KernelNodeParameters const& given, NodeCall const& call) {
  Prepared prepared = prepare(given);
  if (prepared.error != Code::success) return prepared.error;
  use_banks_of(node, prepared);
  auto const result = call(extended(given, prepared));
  node_changed(prepared, result, node, exec);
  return result;
}

void Session::node_added(Prepared& prepared, Code result, Node* node, Graph* graph) {
  std::lock_guard const lock(mutex_);
  auto& pending = prepared.pending;
  if (result != Code::success) {  // there is no such node
    if (pending.banks) pool_.give_back(pending.banks);
    return;
  }
  auto const& api = runtime();
  Followers followers;
  followers.pending = keep(pending);
  auto const* before = &node;
  bool made = !api.missing(counting_graphs);
  if (auto const* const banks = pending.banks; banks && made) {
    auto const clear = clearing(*banks);
    made = api.cudaGraphAddMemcpyNode1D(&followers.copy, graph, before, 1, banks->on_host, banks->on_device,
                                        banks->bytes, CopyKind::device_to_host) == Code::success &&
           api.cudaGraphAddMemsetNode(&followers.clear, graph, &followers.copy, 1, &clear) == Code::success;
    before = &followers.clear;
  }
  HostNodeParameters const host{report, const_cast<Pending*>(followers.pending)};
  made = made && api.cudaGraphAddHostNode(&followers.report, graph, before, 1, &host) == Code::success;
  if (made) return follow(node, followers);
  for (auto const left : {followers.clear, followers.copy})
    if (left) api.cudaGraphDestroyNode(left);
  pending.launch.launch = launches_++;
  write_uncounted(pending, "a kernel node of a graph: the CUDA runtime takes no nodes behind it");
}

// A changed node keeps its banks where they are as large as those it needs now.
void Session::use_banks_of(Node* node, Prepared& prepared) {
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

void Session::node_changed(Prepared& prepared, Code result, Node* node, GraphExec* exec) {
  std::lock_guard const lock(mutex_);
  auto& pending = prepared.pending;
  auto const& api = runtime();
  auto const known = followers_.find(node);
  if (result != Code::success) return;
  auto const uncounted = [&] {
    pending.launch.launch = launches_++;
    write_uncounted(pending, "a kernel node of a graph that was changed in a way that is not followed");
  };
  if (known == followers_.end() || api.missing(counting_graphs) || !pending.banks != !known->second.copy)
    return uncounted();
  Followers& followers = known->second;
  HostNodeParameters const host{report, const_cast<Pending*>(keep(pending))};
  bool changed = (exec ? api.cudaGraphExecHostNodeSetParams(exec, followers.report, &host)
                       : api.cudaGraphHostNodeSetParams(followers.report, &host)) == Code::success;
  if (auto const* const banks = pending.banks; banks && changed && (exec || banks != followers.pending->banks)) {
    auto const clear = clearing(*banks);
    changed = exec ? api.cudaGraphExecMemcpyNodeSetParams1D(exec, followers.copy, banks->on_host, banks->on_device,
                                                            banks->bytes, CopyKind::device_to_host) == Code::success &&
                         api.cudaGraphExecMemsetNodeSetParams(exec, followers.clear, &clear) == Code::success
                   : api.cudaGraphMemcpyNodeSetParams1D(followers.copy, banks->on_host, banks->on_device, banks->bytes,
                                                        CopyKind::device_to_host) == Code::success &&
                         api.cudaGraphMemsetNodeSetParams(followers.clear, &clear) == Code::success;
  }
  if (!changed) return uncounted();
  if (!exec) followers.pending = static_cast<Pending const*>(host.data);
}

void Session::destroying_node(Node* node) {
  std::lock_guard const lock(mutex_);
  auto const known = followers_.find(node);
  if (known == followers_.end()) return;
  for (auto const follower : {known->second.report, known->second.clear, known->second.copy})
    if (follower && ours_.erase(follower)) runtime().cudaGraphDestroyNode(follower);
  // An executable graph may still use the banks.
  followers_.erase(known);
}

}  // namespace kernelcast::attach::count
