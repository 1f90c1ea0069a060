// Streams, events, and functions of the host between them.
#include "runtimes/cudart/streams.hpp"
#include "runtimes/cudart/call.hpp"
#include "runtimes/cudart/commands.hpp"
#include "runtimes/cudart/devices.hpp"
#include "runtimes/cudart/graphs.hpp"
#include "runtimes/cudart/launch.hpp"
#include "runtimes/cudart/timeline.hpp"

using namespace kernelcast::cudart;

namespace {

using Clock = std::chrono::steady_clock;

Code add_stream(Stream* stream, unsigned flags, int priority) {
  return call([&](Streams& streams) {
    if (!stream || flags > 1) return Code::invalid_value;
    *stream = streams.add(flags, priority, current_device());
    return Code::success;
  });
}

Code when_known(Stream stream) {
  return call([&](Streams& streams) { return streams.known(stream) ? Code::success : Code::invalid_resource_handle; });
}

// Waiting for what is only being captured spoils the capture.
Code when_done(Stream stream, bool waits) {
  return call([&](Streams& streams, Graphs& graphs, Commands& commands, Timeline& timeline, Launcher& launcher) {
    if (!streams.known(stream)) return Code::invalid_resource_handle;
    auto* const capture = graphs.capture_of(stream);
    if (!capture) {
      if (!launcher.release(stream, waits)) return Code::not_ready;
      commands.host_waits();
      timeline.host_waits(stream);
      return Code::success;
    }
    capture->graph->spoilt = true;
    return Code::stream_capture_unsupported;
  });
}

Code when_done(Event event, bool waits) {
  return call([&](Streams& streams, Graphs& graphs, Commands& commands, Timeline& timeline, Launcher& launcher) {
    if (!streams.known(event)) return Code::invalid_resource_handle;
    if (graphs.captured(event)) return Code::captured_event;
    if (!launcher.release(event->stream, waits, event->behind)) return Code::not_ready;
    commands.host_waits();
    timeline.host_waits(event);
    return Code::success;
  });
}

// Properties of a stream.
template <class Query>
Code query_object(Stream stream, Query query) {
  return call([&](Streams& streams) {
    if (!streams.known(stream)) return Code::invalid_resource_handle;
    StreamObject const default_stream{0, 0, current_device(), reinterpret_cast<std::uintptr_t>(stream)};
    query(Streams::is_default(stream) ? default_stream : *stream);
    return Code::success;
  });
}

void note_host_function() {
  locked([](Timeline& timeline) { timeline.host_function(); });
}

Code add_event(Event* event, unsigned flags) {
  return call([&](Streams& streams) {
    if (!event || flags > 7) return Code::invalid_value;
    *event = streams.add_event(flags);
    return Code::success;
  });
}

}  // namespace

KERNELCAST_CUDA_EXPORT Code cudaStreamCreate(Stream* stream) {
  return add_stream(stream, 0, 0);
}
KERNELCAST_CUDA_EXPORT Code cudaStreamCreateWithFlags(Stream* stream, unsigned flags) {
  return add_stream(stream, flags, 0);
}
KERNELCAST_CUDA_EXPORT Code cudaStreamCreateWithPriority(Stream* stream, unsigned flags, int priority) {
  return add_stream(stream, flags, priority);
}
KERNELCAST_CUDA_EXPORT Code cudaStreamDestroy(Stream stream) {
  return call([&](Streams& streams, Timeline& timeline, Launcher& launcher) {
    if (!launcher.release(stream, false)) launcher.destroyed(stream);
    timeline.destroyed(stream);
    return streams.remove(stream) ? Code::success : Code::invalid_resource_handle;
  });
}
KERNELCAST_CUDA_EXPORT Code cudaStreamSynchronize(Stream stream) {
  return when_done(stream, true);
}
KERNELCAST_CUDA_ALIAS(cudaStreamSynchronize, cudaStreamSynchronize_ptsz)
KERNELCAST_CUDA_EXPORT Code cudaStreamQuery(Stream stream) {
  return when_done(stream, false);
}
KERNELCAST_CUDA_ALIAS(cudaStreamQuery, cudaStreamQuery_ptsz)

KERNELCAST_CUDA_EXPORT Code cudaStreamWaitEvent(Stream stream, Event event, unsigned) {
  return call([&](Streams& streams, Graphs& graphs, Timeline& timeline) {
    if (!streams.known(stream) || !streams.known(event)) return Code::invalid_resource_handle;
    if (!graphs.wait(stream, event)) timeline.wait(stream, event);  // and it has happened
    return Code::success;
  });
}
KERNELCAST_CUDA_ALIAS(cudaStreamWaitEvent, cudaStreamWaitEvent_ptsz)

KERNELCAST_CUDA_EXPORT Code cudaStreamGetFlags(Stream stream, unsigned* flags) {
  return query_object(stream, [&](StreamObject const& s) { *flags = s.flags; });
}
KERNELCAST_CUDA_ALIAS(cudaStreamGetFlags, cudaStreamGetFlags_ptsz)
KERNELCAST_CUDA_EXPORT Code cudaStreamGetPriority(Stream stream, int* priority) {
  return query_object(stream, [&](StreamObject const& s) { *priority = s.priority; });
}
KERNELCAST_CUDA_ALIAS(cudaStreamGetPriority, cudaStreamGetPriority_ptsz)
KERNELCAST_CUDA_EXPORT Code cudaStreamGetId(Stream stream, unsigned long long* id) {
  return query_object(stream, [&](StreamObject const& s) { *id = s.id; });
}
KERNELCAST_CUDA_ALIAS(cudaStreamGetId, cudaStreamGetId_ptsz)
KERNELCAST_CUDA_EXPORT Code cudaStreamGetDevice(Stream stream, int* device) {
  return query_object(stream, [&](StreamObject const& s) { *device = s.device; });
}
KERNELCAST_CUDA_ALIAS(cudaStreamGetDevice, cudaStreamGetDevice_ptsz)
KERNELCAST_CUDA_EXPORT Code cudaStreamAttachMemAsync(Stream stream, void*, std::size_t, unsigned) {
  return when_known(stream);
}
KERNELCAST_CUDA_ALIAS(cudaStreamAttachMemAsync, cudaStreamAttachMemAsync_ptsz)

// Called outside the lock: it may wait for another thread of the application.
KERNELCAST_CUDA_EXPORT Code cudaLaunchHostFunc(Stream stream, void (*function)(void*), void* data) {
  return on_stream(stream, NodeType::host, [=] {
    note_host_function();
    function(data);
    return Code::success;
  });
}
KERNELCAST_CUDA_ALIAS(cudaLaunchHostFunc, cudaLaunchHostFunc_ptsz)
KERNELCAST_CUDA_EXPORT Code cudaStreamAddCallback(Stream stream, void (*function)(Stream, Code, void*), void* data,
                                                  unsigned) {
  return on_stream(stream, NodeType::host, [=] {
    note_host_function();
    function(stream, Code::success, data);
    return Code::success;
  });
}
KERNELCAST_CUDA_ALIAS(cudaStreamAddCallback, cudaStreamAddCallback_ptsz)

KERNELCAST_CUDA_EXPORT Code cudaEventCreate(Event* event) {
  return add_event(event, 0);
}
KERNELCAST_CUDA_EXPORT Code cudaEventCreateWithFlags(Event* event, unsigned flags) {
  return add_event(event, flags);
}
KERNELCAST_CUDA_EXPORT Code cudaEventDestroy(Event event) {
  return call([&](Streams& streams, Timeline& timeline) {
    timeline.destroyed(event);
    return streams.remove(event) ? Code::success : Code::invalid_resource_handle;
  });
}
KERNELCAST_CUDA_EXPORT Code cudaEventRecord(Event event, Stream stream) {
  return call([&](Streams& streams, Graphs& graphs, Timeline& timeline, Launcher& launcher) {
    if (!streams.known(stream) || !streams.known(event)) return Code::invalid_resource_handle;
    graphs.record(event, stream);
    if (graphs.captured(event)) return Code::success;
    timeline.record(event, stream);
    event->stream = stream;
    event->behind = launcher.last_held();
    event->recorded = Clock::now();
    return Code::success;
  });
}
KERNELCAST_CUDA_ALIAS(cudaEventRecord, cudaEventRecord_ptsz)
KERNELCAST_CUDA_EXPORT Code cudaEventRecordWithFlags(Event event, Stream stream, unsigned) {
  return cudaEventRecord(event, stream);
}
KERNELCAST_CUDA_ALIAS(cudaEventRecordWithFlags, cudaEventRecordWithFlags_ptsz)
KERNELCAST_CUDA_EXPORT Code cudaEventQuery(Event event) {
  return when_done(event, false);
}
KERNELCAST_CUDA_EXPORT Code cudaEventSynchronize(Event event) {
  return when_done(event, true);
}
// The time that the emulation took.
KERNELCAST_CUDA_EXPORT Code cudaEventElapsedTime(float* milliseconds, Event begin, Event end) {
  return call([&](Streams& streams) {
    if (!streams.known(begin) || !streams.known(end)) return Code::invalid_resource_handle;
    if (!begin->recorded || !end->recorded || (begin->flags | end->flags) & event_disable_timing)
      return Code::invalid_resource_handle;
    *milliseconds = std::chrono::duration<float, std::milli>(*end->recorded - *begin->recorded).count();
    return Code::success;
  });
}
KERNELCAST_CUDA_ALIAS(cudaEventElapsedTime, cudaEventElapsedTime_v2)
