// What counting does while a stream is captured.
#pragma once

#include "kernels/cuda/next.hpp"

namespace kernelcast::attach::count {

// The last node that the capture of this stream has added; null where the runtime does not tell.
cudart::Node* last_captured(cudart::Stream);

// While it lives this thread may call what would spoil another stream's capture, such as an allocation.
class AnyCaptureGoesOn {
 public:
  AnyCaptureGoesOn() { cudart::runtime().cudaThreadExchangeStreamCaptureMode(&mode_); }
  ~AnyCaptureGoesOn() { cudart::runtime().cudaThreadExchangeStreamCaptureMode(&mode_); }
  AnyCaptureGoesOn(AnyCaptureGoesOn const&) = delete;

 private:
  int mode_ = cudart::capture_mode_relaxed;
};

}  // namespace kernelcast::attach::count
