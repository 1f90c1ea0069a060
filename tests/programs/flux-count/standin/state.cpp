#include "state.hpp"

#include <cstdlib>

namespace standin {

State::State() {
  for (int d = 0; d < devices; ++d) {
    device[d].legacy.device = d;
    // Addresses of one device are not those of another.
    if (d) device[d].memory.add("not of this device", static_cast<std::uint64_t>(d) << 24);
  }
}

State& state() {
  static auto* const the = new State;
  return *the;
}

int& current_device() {
  thread_local int device = 0;
  return device;
}

int& capture_mode() {
  thread_local int mode = 0;
  return mode;
}

std::uint32_t architecture() {
  char const* const given = std::getenv("STANDIN_SM");
  return given ? static_cast<std::uint32_t>(std::atoi(given)) : 75;
}

Device& device_now() {
  return state().device[current_device()];
}

Stream& stream_of(void* handle) {
  return handle ? *static_cast<Stream*>(handle) : device_now().legacy;
}

int submit(Stream& stream, Work work) {
  if (stream.capturing) {
    auto& graph = *stream.capturing;
    if (graph.spoilt) return capture_invalidated;
    graph.nodes.push_back(std::make_unique<Node>(Node{&graph, std::move(work)}));
    return success;
  }
  auto& device = state().device[stream.device];
  stream.queue.push_back(std::move(work));
  if (&stream != &device.legacy) return success;
  for (auto& other : device.streams)
    if (other->waits_for_legacy) finish(*other);
  return finish(stream);
}

void step(Stream& stream) {
  if (stream.queue.empty()) return;
  auto const work = std::move(stream.queue.front());
  stream.queue.pop_front();
  if (int const result = work(); result != success) state().error = result;
}

int finish(Stream& stream) {
  while (!stream.queue.empty()) step(stream);
  return state().error;
}

int finish_device(int device) {
  for (auto& stream : state().device[device].streams) finish(*stream);
  return finish(state().device[device].legacy);
}

int forbidden_in_capture() {
  if (state().captures == 0 || capture_mode() == 2) return success;
  for (auto& graph : state().graphs) graph->spoilt = true;
  return capture_unsupported;
}

}  // namespace standin
