// Captures of streams.
#include <utility>

#include "runtimes/cudart/call.hpp"
#include "runtimes/cudart/graphs.hpp"
#include "runtimes/cudart/streams.hpp"

using namespace kernelcast::cudart;

KERNELCAST_CUDA_EXPORT Code cudaStreamBeginCapture(Stream stream, int) {
  return call([&](Streams& streams, Graphs& graphs) {
    return streams.known(stream) ? graphs.begin(stream) : Code::invalid_resource_handle;
  });
}
KERNELCAST_CUDA_ALIAS(cudaStreamBeginCapture, cudaStreamBeginCapture_ptsz)
KERNELCAST_CUDA_EXPORT Code cudaStreamBeginCaptureToGraph(Stream stream, Graph* graph, Node* const* before,
                                                          void const* /*edges*/, std::size_t count, int) {
  return call([&](Streams& streams, Graphs& graphs) {
    if (!streams.known(stream) || !graphs.known(graph)) return Code::invalid_resource_handle;
    auto const code = graphs.begin(stream, graph);
    if (code == Code::success && before) graphs.capture_of(stream)->last.assign(before, before + count);
    return code;
  });
}
KERNELCAST_CUDA_ALIAS(cudaStreamBeginCaptureToGraph, cudaStreamBeginCaptureToGraph_ptsz)
KERNELCAST_CUDA_EXPORT Code cudaStreamEndCapture(Stream stream, Graph** graph) {
  return call([&](Graphs& graphs) { return graph ? graphs.end(stream, graph) : Code::invalid_value; });
}
KERNELCAST_CUDA_ALIAS(cudaStreamEndCapture, cudaStreamEndCapture_ptsz)

// 0 none, 1 active, 2 invalidated.
KERNELCAST_CUDA_EXPORT Code cudaStreamIsCapturing(Stream stream, int* status) {
  return call([&](Streams& streams, Graphs& graphs) {
    if (!streams.known(stream)) return Code::invalid_resource_handle;
    auto const* const capture = graphs.capture_of(stream);
    *status = !capture ? 0 : capture->graph->spoilt ? 2 : 1;
    return Code::success;
  });
}
KERNELCAST_CUDA_ALIAS(cudaStreamIsCapturing, cudaStreamIsCapturing_ptsz)

// Any pointer but the first may be null.
KERNELCAST_CUDA_EXPORT Code cudaStreamGetCaptureInfo_v2(Stream stream, int* status, unsigned long long* id,
                                                        Graph** graph, Node* const** last, std::size_t* count) {
  auto const code = cudaStreamIsCapturing(stream, status);
  return code != Code::success || *status == 0 ? code : call([&](Graphs& graphs) {
    auto const* const capture = graphs.capture_of(stream);
    if (id) *id = capture->id;
    if (graph) *graph = capture->graph;
    if (last) *last = capture->last.data();
    if (count) *count = capture->last.size();
    return Code::success;
  });
}
KERNELCAST_CUDA_ALIAS(cudaStreamGetCaptureInfo_v2, cudaStreamGetCaptureInfo_v2_ptsz)
// Edges have no data: null says so.
KERNELCAST_CUDA_EXPORT Code cudaStreamGetCaptureInfo_v3(Stream stream, int* status, unsigned long long* id,
                                                        Graph** graph, Node* const** last, void const** edges,
                                                        std::size_t* count) {
  if (edges) *edges = nullptr;
  return cudaStreamGetCaptureInfo_v2(stream, status, id, graph, last, count);
}
KERNELCAST_CUDA_ALIAS(cudaStreamGetCaptureInfo_v3, cudaStreamGetCaptureInfo_v3_ptsz)
KERNELCAST_CUDA_ALIAS(cudaStreamGetCaptureInfo_v3, cudaStreamGetCaptureInfo)
KERNELCAST_CUDA_ALIAS(cudaStreamGetCaptureInfo_v3, cudaStreamGetCaptureInfo_ptsz)

// Nothing here is unsafe while another thread captures: only the mode is kept.
KERNELCAST_CUDA_EXPORT Code cudaThreadExchangeStreamCaptureMode(int* mode) {
  thread_local int current = 0;
  if (!mode || *mode < 0 || *mode > 2) return remembered(Code::invalid_value);
  std::swap(*mode, current);
  return Code::success;
}
