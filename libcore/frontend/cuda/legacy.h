// Included before CUDA sources that nvcc compiles: what toolkits since 12 have dropped and old programs still use.
// A texture reference becomes a device variable that holds a texture object. Binding one does nothing: only the device
// code is used.
#pragma once
#include <cuda_runtime.h>

template <class KcT, int dimensions = cudaTextureType1D, int mode = cudaReadModeElementType>
struct kernelcast_texture {
  cudaTextureObject_t object;
  int normalized;
  int filterMode;
  int addressMode[3];
  cudaChannelFormatDesc channelDesc;
};
#define texture static __device__ kernelcast_texture

#define KERNELCAST_FETCH template <class KcT, int KcD, int KcM> static __device__ __forceinline__ KcT
KERNELCAST_FETCH tex1Dfetch(kernelcast_texture<KcT, KcD, KcM> t, int x) { return tex1Dfetch<KcT>(t.object, x); }
KERNELCAST_FETCH tex1D(kernelcast_texture<KcT, KcD, KcM> t, float x) { return tex1D<KcT>(t.object, x); }
KERNELCAST_FETCH tex2D(kernelcast_texture<KcT, KcD, KcM> t, float x, float y) { return tex2D<KcT>(t.object, x, y); }
KERNELCAST_FETCH tex3D(kernelcast_texture<KcT, KcD, KcM> t, float x, float y, float z) {
  return tex3D<KcT>(t.object, x, y, z);
}
#undef KERNELCAST_FETCH

template <class... KcA>
static inline cudaError_t cudaBindTexture(KcA...) { return cudaSuccess; }
template <class... KcA>
static inline cudaError_t cudaBindTexture2D(KcA...) { return cudaSuccess; }
template <class KcT, int KcD, int KcM, class... KcA>
static inline cudaError_t cudaBindTexture(size_t*, kernelcast_texture<KcT, KcD, KcM> const&, KcA...) { return cudaSuccess; }
template <class KcT, int KcD, int KcM, class... KcA>
static inline cudaError_t cudaBindTextureToArray(kernelcast_texture<KcT, KcD, KcM> const&, KcA...) { return cudaSuccess; }
template <class KcT, int KcD, int KcM>
static inline cudaError_t cudaUnbindTexture(kernelcast_texture<KcT, KcD, KcM> const&) { return cudaSuccess; }

static inline cudaError_t cudaThreadSynchronize() { return cudaDeviceSynchronize(); }
static inline cudaError_t cudaThreadExit() { return cudaDeviceReset(); }
