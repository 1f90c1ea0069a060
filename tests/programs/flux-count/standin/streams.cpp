// Streams, events, captures.
#include <algorithm>

#include "state.hpp"

using namespace standin;

extern "C" {

int cudaStreamCreateWithFlags(void** out, unsigned flags) {
  Lock const lock;
  auto& stream = *device_now().streams.emplace_back(std::make_unique<Stream>());
  stream.device = current_device();
  stream.waits_for_legacy = (flags & 1) == 0;
  *out = &stream;
  return success;
}
int cudaStreamCreate(void** out) {
  return cudaStreamCreateWithFlags(out, 0);
}
int cudaStreamDestroy(void* stream) {
  Lock const lock;
  return finish(stream_of(stream));
}
int cudaStreamSynchronize(void* stream) {
  Lock const lock;
  if (int const error = forbidden_in_capture()) return error;
  return finish(stream_of(stream));
}
int cudaLaunchHostFunc(void* stream, void (*function)(void*), void* data) {
  Lock const lock;
  return submit(stream_of(stream), host_work(function, data));
}

int cudaEventCreateWithFlags(void** out, unsigned) {
  *out = new Event;
  return success;
}
int cudaEventCreate(void** out) {
  return cudaEventCreateWithFlags(out, 0);
}
int cudaEventRecord(void* handle, void* on) {
  Lock const lock;
  auto& event = *static_cast<Event*>(handle);
  auto& stream = stream_of(on);
  event.stream = &stream;
  event.captured = stream.capturing;
  if (stream.capturing) return success;
  return submit(stream, [&event, number = ++event.recorded] {
    event.done = std::max(event.done, number);
    return success;
  });
}
int cudaEventQuery(void* handle) {
  Lock const lock;
  if (int const error = forbidden_in_capture()) return error;
  auto const& event = *static_cast<Event*>(handle);
  if (event.done < event.recorded) {
    step(*event.stream);
    return not_ready;
  }
  return state().error;
}
int cudaEventSynchronize(void* handle) {
  Lock const lock;
  if (int const error = forbidden_in_capture()) return error;
  auto const& event = *static_cast<Event*>(handle);
  while (event.done < event.recorded) step(*event.stream);
  return state().error;
}
int cudaStreamWaitEvent(void* waiting, void* handle, unsigned) {
  Lock const lock;
  auto& event = *static_cast<Event*>(handle);
  auto& stream = stream_of(waiting);
  if (event.captured) {  // the stream joins the capture
    stream.capturing = event.captured;
    return success;
  }
  return submit(stream, [&event, number = event.recorded] {
    while (event.done < number) step(*event.stream);
    return success;
  });
}

int cudaStreamBeginCapture(void* on, int) {
  Lock const lock;
  auto& stream = stream_of(on);
  stream.capturing = state().graphs.emplace_back(std::make_unique<Graph>()).get();
  stream.began_capture = true;
  ++state().captures;
  return success;
}
int cudaStreamEndCapture(void* on, void** graph) {
  Lock const lock;
  auto& stream = stream_of(on);
  auto* const captured = stream.capturing;
  if (!captured || !stream.began_capture) return invalid_value;
  for (auto& device : state().device)
    for (auto& other : device.streams)
      if (other->capturing == captured) other->capturing = nullptr;
  stream.began_capture = false;
  --state().captures;
  *graph = captured->spoilt ? nullptr : captured;
  return captured->spoilt ? capture_invalidated : success;
}
int cudaStreamIsCapturing(void* stream, int* status) {
  Lock const lock;
  auto const* const graph = stream_of(stream).capturing;
  *status = !graph ? 0 : graph->spoilt ? 2 : 1;
  return success;
}
int cudaStreamGetCaptureInfo(void* stream, int* status, unsigned long long* id, void** graph, void const*** before,
                             void const** edges, std::size_t* count) {
  Lock const lock;
  auto* const captured = stream_of(stream).capturing;
  *status = captured ? 1 : 0;
  if (!captured) return success;
  thread_local void const* last;
  *id = reinterpret_cast<unsigned long long>(captured);
  *graph = captured;
  *edges = nullptr;
  *count = captured->nodes.empty() ? 0 : 1;
  if (*count) last = captured->nodes.back().get();
  *before = &last;
  return success;
}
int cudaThreadExchangeStreamCaptureMode(int* mode) {
  std::swap(*mode, capture_mode());
  return success;
}

}  // extern "C"
