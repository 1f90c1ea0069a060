// Copies and fills on their way to the application's runtime.
#include "intercept/cuda/forward/next.hpp"
#include "intercept/cuda/forward/watch.hpp"

using namespace kernelcast::cudart;
using forward::Watch;

namespace {

// Makes the call, and notes it if it is the application's own and has been taken.
template <class Call, class Note>
Code pass(Call call, Note note) {
  auto const code = [&] {
    forward::InnerCalls const inner;
    return call();
  }();
  if (code == Code::success && forward::inner_calls == 0) note();
  return code;
}

bool captured(Stream stream) {
  int capturing = 0;
  return forward::runtime().is_capturing(stream, &capturing) == Code::success && capturing != 0;
}

}  // namespace

// The function of this name that comes after us.
#define NEXT(function) static auto* const real = forward::next(&function, #function)

#define KERNELCAST_PASS(function, parameters, arguments, noted)  \
  KERNELCAST_CUDA_EXPORT Code function parameters {              \
    NEXT(function);                                              \
    return pass([&] { return real arguments; }, [&] { noted; }); \
  }
#define KERNELCAST_PASS_ON(function, parameters, arguments, noted) \
  KERNELCAST_PASS(function, parameters, arguments, if (!captured(stream)) noted)

#define KERNELCAST_COPY Watch::get().copied({to, bytes, bytes}, {from, bytes, bytes})
KERNELCAST_PASS(cudaMemcpy, (void* to, void const* from, std::size_t bytes, CopyKind kind), (to, from, bytes, kind),
                KERNELCAST_COPY)
KERNELCAST_PASS(cudaMemcpy_ptds, (void* to, void const* from, std::size_t bytes, CopyKind kind),
                (to, from, bytes, kind), KERNELCAST_COPY)
KERNELCAST_PASS_ON(cudaMemcpyAsync, (void* to, void const* from, std::size_t bytes, CopyKind kind, Stream stream),
                   (to, from, bytes, kind, stream), KERNELCAST_COPY)
KERNELCAST_PASS_ON(cudaMemcpyAsync_ptsz, (void* to, void const* from, std::size_t bytes, CopyKind kind, Stream stream),
                   (to, from, bytes, kind, stream), KERNELCAST_COPY)

#define KERNELCAST_COPY_ROWS Watch::get().copied({to, to_pitch, width, height}, {from, from_pitch, width, height})
KERNELCAST_PASS(cudaMemcpy2D,
                (void* to, std::size_t to_pitch, void const* from, std::size_t from_pitch, std::size_t width,
                 std::size_t height, CopyKind kind),
                (to, to_pitch, from, from_pitch, width, height, kind), KERNELCAST_COPY_ROWS)
KERNELCAST_PASS_ON(cudaMemcpy2DAsync,
                   (void* to, std::size_t to_pitch, void const* from, std::size_t from_pitch, std::size_t width,
                    std::size_t height, CopyKind kind, Stream stream),
                   (to, to_pitch, from, from_pitch, width, height, kind, stream), KERNELCAST_COPY_ROWS)

KERNELCAST_PASS(cudaMemset, (void* to, int value, std::size_t bytes), (to, value, bytes),
                Watch::get().filled({to, bytes, bytes}))
KERNELCAST_PASS_ON(cudaMemsetAsync, (void* to, int value, std::size_t bytes, Stream stream), (to, value, bytes, stream),
                   Watch::get().filled({to, bytes, bytes}))
KERNELCAST_PASS(cudaMemset2D, (void* to, std::size_t pitch, int value, std::size_t width, std::size_t height),
                (to, pitch, value, width, height), Watch::get().filled({to, pitch, width, height}))
KERNELCAST_PASS_ON(cudaMemset2DAsync,
                   (void* to, std::size_t pitch, int value, std::size_t width, std::size_t height, Stream stream),
                   (to, pitch, value, width, height, stream), Watch::get().filled({to, pitch, width, height}))
