// Included before CUDA sources that nvcc compiles: what toolkits since 12 have dropped and old programs still use.
// A texture reference becomes a constant variable that holds a texture object. Binding one does nothing: only the device
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
#define texture __constant__ kernelcast_texture

// What a texel read as fractions becomes.
template <class KcT> struct kernelcast_fraction { typedef float type; };
template <> struct kernelcast_fraction<char2> { typedef float2 type; };
template <> struct kernelcast_fraction<uchar2> { typedef float2 type; };
template <> struct kernelcast_fraction<short2> { typedef float2 type; };
template <> struct kernelcast_fraction<ushort2> { typedef float2 type; };
template <> struct kernelcast_fraction<char4> { typedef float4 type; };
template <> struct kernelcast_fraction<uchar4> { typedef float4 type; };
template <> struct kernelcast_fraction<short4> { typedef float4 type; };
template <> struct kernelcast_fraction<ushort4> { typedef float4 type; };

#define KERNELCAST_LIST(...) __VA_ARGS__
#define KERNELCAST_FETCH(NAME, PARAMETERS, ARGUMENTS)                                                            \
  template <class KcT, int KcD>                                                                                 \
  static __device__ __forceinline__ KcT NAME(kernelcast_texture<KcT, KcD, cudaReadModeElementType> const& t,    \
                                             KERNELCAST_LIST PARAMETERS) {                                      \
    return NAME<KcT>(t.object, KERNELCAST_LIST ARGUMENTS);                                                      \
  }                                                                                                             \
  template <class KcT, int KcD>                                                                                 \
  static __device__ __forceinline__ typename kernelcast_fraction<KcT>::type NAME(                               \
      kernelcast_texture<KcT, KcD, cudaReadModeNormalizedFloat> const& t, KERNELCAST_LIST PARAMETERS) {         \
    return NAME<typename kernelcast_fraction<KcT>::type>(t.object, KERNELCAST_LIST ARGUMENTS);                  \
  }
KERNELCAST_FETCH(tex1Dfetch, (int x), (x))
KERNELCAST_FETCH(tex1D, (float x), (x))
KERNELCAST_FETCH(tex2D, (float x, float y), (x, y))
KERNELCAST_FETCH(tex3D, (float x, float y, float z), (x, y, z))
KERNELCAST_FETCH(tex1DLayered, (float x, int layer), (x, layer))
KERNELCAST_FETCH(tex2DLayered, (float x, float y, int layer), (x, y, layer))
KERNELCAST_FETCH(texCubemap, (float x, float y, float z), (x, y, z))
KERNELCAST_FETCH(texCubemapLayered, (float x, float y, float z, int layer), (x, y, z, layer))
KERNELCAST_FETCH(tex1DLod, (float x, float level), (x, level))
KERNELCAST_FETCH(tex2DLod, (float x, float y, float level), (x, y, level))
KERNELCAST_FETCH(tex3DLod, (float x, float y, float z, float level), (x, y, z, level))
KERNELCAST_FETCH(tex1DGrad, (float x, float dx, float dy), (x, dx, dy))
KERNELCAST_FETCH(tex2DGrad, (float x, float y, float2 dx, float2 dy), (x, y, dx, dy))
KERNELCAST_FETCH(tex3DGrad, (float x, float y, float z, float4 dx, float4 dy), (x, y, z, dx, dy))
KERNELCAST_FETCH(tex2Dgather, (float x, float y, int component = 0), (x, y, component))
#undef KERNELCAST_LIST
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
