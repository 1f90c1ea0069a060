#include "flux/attach/runtime.hpp"

namespace kernelcast::flux::runtime {

#define KERNELCAST_RESOLVE(member, symbol, arguments)                \
  out.member = reinterpret_cast<decltype(out.member)>(find(symbol)); \
  if (!out.member) out.missing = symbol;

Runtime const& loaded() {
  static Runtime const functions = [] {
    Runtime out;
    KERNELCAST_RUNTIME_FUNCTIONS(KERNELCAST_RESOLVE)
    return out;
  }();
  return functions;
}

GraphRuntime const& graphs() {
  static GraphRuntime const functions = [] {
    GraphRuntime out;
    KERNELCAST_GRAPH_FUNCTIONS(KERNELCAST_RESOLVE)
    return out;
  }();
  return functions;
}

#undef KERNELCAST_RESOLVE

Node last_captured(Stream stream) {
  // Until CUDA 12 cudaStreamGetCaptureInfo_v2; from 13 on the one without a suffix, which tells of edges too.
  using Old = Error(Stream, int*, unsigned long long*, Graph*, Node const**, std::size_t*);
  using New = Error(Stream, int*, unsigned long long*, Graph*, Node const**, void const**, std::size_t*);
  static auto* const capture_info_v2 = reinterpret_cast<Old*>(find("cudaStreamGetCaptureInfo_v2"));
  static auto* const capture_info = reinterpret_cast<New*>(find("cudaStreamGetCaptureInfo"));
  int status = 0, version = 0;
  unsigned long long id = 0;
  Graph graph = nullptr;
  Node const* last = nullptr;
  void const* edges = nullptr;
  std::size_t count = 0;
  if (capture_info_v2)
    capture_info_v2(stream, &status, &id, &graph, &last, &count);
  else if (capture_info && graphs().version && graphs().version(&version) == 0 && version >= 13000)
    capture_info(stream, &status, &id, &graph, &last, &edges, &count);
  return count == 1 ? last[0] : nullptr;
}

}  // namespace kernelcast::flux::runtime
