#include "runtimes/attach/count/capture.hpp"

namespace kernelcast::attach::count {

// Until CUDA 12 cudaStreamGetCaptureInfo_v2; from 13 on the one without a suffix, which tells of edges too.
cudart::Node* last_captured(cudart::Stream stream) {
  auto const& api = cudart::runtime();
  int status = 0;
  unsigned long long id = 0;
  cudart::Graph* graph = nullptr;
  cudart::Node* const* last = nullptr;
  void const* edges = nullptr;
  std::size_t count = 0;
  if (api.cudaStreamGetCaptureInfo_v2)
    api.cudaStreamGetCaptureInfo_v2(stream, &status, &id, &graph, &last, &count);
  else if (api.cudaStreamGetCaptureInfo && cudart::has_edges())
    api.cudaStreamGetCaptureInfo(stream, &status, &id, &graph, &last, &edges, &count);
  return count == 1 ? last[0] : nullptr;
}

}  // namespace kernelcast::attach::count
