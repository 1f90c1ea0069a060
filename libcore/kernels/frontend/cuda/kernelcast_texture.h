// Texture and surface objects and, as in toolkits before 12, texture references: a reference is a constant variable that
// holds an object.
#pragma once

typedef unsigned long long cudaTextureObject_t;
typedef unsigned long long cudaSurfaceObject_t;
enum cudaTextureReadMode { cudaReadModeElementType, cudaReadModeNormalizedFloat };
enum cudaTextureFilterMode { cudaFilterModePoint, cudaFilterModeLinear };
enum cudaTextureAddressMode { cudaAddressModeWrap, cudaAddressModeClamp, cudaAddressModeMirror, cudaAddressModeBorder };
enum cudaSurfaceBoundaryMode { cudaBoundaryModeZero, cudaBoundaryModeClamp, cudaBoundaryModeTrap };
enum cudaSurfaceFormatMode { cudaFormatModeForced, cudaFormatModeAuto };
enum cudaChannelFormatKind {
  cudaChannelFormatKindSigned, cudaChannelFormatKindUnsigned, cudaChannelFormatKindFloat, cudaChannelFormatKindNone
};
struct cudaChannelFormatDesc { int x, y, z, w; cudaChannelFormatKind f; };
enum {
  cudaTextureType1D = 1, cudaTextureType2D = 2, cudaTextureType3D = 3, cudaTextureTypeCubemap = 12,
  cudaTextureType1DLayered = 241, cudaTextureType2DLayered = 242, cudaTextureTypeCubemapLayered = 252
};

template <class KcT, int KcD = cudaTextureType1D, int KcM = cudaReadModeElementType>
struct kernelcast_texture {
  cudaTextureObject_t object;
  int normalized;
  cudaTextureFilterMode filterMode;
  cudaTextureAddressMode addressMode[3];
  cudaChannelFormatDesc channelDesc;
};
// `used`: nothing on the device writes it, yet its value is not known.
#define texture __attribute__((used)) __constant__ kernelcast_texture

// How a texel's type is made of the four values that a fetch gives, and what it is when read as fractions.
template <class KcT> struct kernelcast_texel;
#define KC_TEXEL(T, E, F, ...)                                                    \
  template <> struct kernelcast_texel<T> {                                        \
    typedef E element;                                                            \
    typedef F fraction;                                                           \
    static __device__ T make(E* v) { return __VA_ARGS__; }                        \
  };
#define KC_TEXELS(T, N, E)                                                        \
  KC_TEXEL(T, E, float, (T)v[0])                                                  \
  KC_TEXEL(N##1, E, float1, N##1{(T)v[0]})                                        \
  KC_TEXEL(N##2, E, float2, N##2{(T)v[0], (T)v[1]})                               \
  KC_TEXEL(N##4, E, float4, N##4{(T)v[0], (T)v[1], (T)v[2], (T)v[3]})
KC_TEXELS(float, float, float)
KC_TEXELS(int, int, int)
KC_TEXELS(unsigned int, uint, unsigned int)
KC_TEXELS(signed char, char, int)
KC_TEXELS(unsigned char, uchar, unsigned int)
KC_TEXELS(short, short, int)
KC_TEXELS(unsigned short, ushort, unsigned int)
KC_TEXEL(char, int, float, (char)v[0])
#undef KC_TEXELS
#undef KC_TEXEL

#ifndef __AMDGCN__  // fetches are PTX
// One fetch: name, PTX geometry and mode, coordinates in PTX's order, what follows them, the function's parameters and
// the inputs of the asm from %5 on.
#define KC_FETCH_AS(NAME, OPCODE, POSITION, AFTER, PTX, R, E, PARAMETERS, ...)                                     \
  KC_DEVICE void kernelcast_##NAME(cudaTextureObject_t t, KC_UNPACK PARAMETERS, E* v) {                           \
    __asm__ volatile(OPCODE PTX POSITION AFTER ";"                                                                \
                     : R(v[0]), R(v[1]), R(v[2]), R(v[3]) : "l"(t), __VA_ARGS__); }
#define KC_UNPACK(...) __VA_ARGS__
#define KC_FETCH(NAME, GEOMETRY, CT, POSITION, AFTER, PARAMETERS, ARGUMENTS, ...)                                  \
  KC_FETCH_AS(NAME, "tex." GEOMETRY ".v4.", CT " {%0,%1,%2,%3}, [%4, " POSITION "]", AFTER, "f32", "=f", float,    \
              PARAMETERS, __VA_ARGS__)                                                                            \
  KC_FETCH_AS(NAME, "tex." GEOMETRY ".v4.", CT " {%0,%1,%2,%3}, [%4, " POSITION "]", AFTER, "s32", "=r", int,      \
              PARAMETERS, __VA_ARGS__)                                                                            \
  KC_FETCH_AS(NAME, "tex." GEOMETRY ".v4.", CT " {%0,%1,%2,%3}, [%4, " POSITION "]", AFTER, "u32", "=r",           \
              unsigned int, PARAMETERS, __VA_ARGS__)                                                              \
  KC_FETCH_FRONT(NAME, NAME, PARAMETERS, ARGUMENTS)
// For a user: by object, by object with a place for the result, and by reference of either read mode.
#define KC_FETCH_FRONT(NAME, IMPLEMENTATION, PARAMETERS, ARGUMENTS)                                                \
  template <class KcT> KC_DEVICE KcT NAME(cudaTextureObject_t t, KC_UNPACK PARAMETERS) {                          \
    typename kernelcast_texel<KcT>::element v[4];                                                                 \
    kernelcast_##IMPLEMENTATION(t, KC_UNPACK ARGUMENTS, v);                                                       \
    return kernelcast_texel<KcT>::make(v);                                                                        \
  }                                                                                                               \
  template <class KcT> KC_DEVICE void NAME(KcT* result, cudaTextureObject_t t, KC_UNPACK PARAMETERS) {            \
    *result = NAME<KcT>(t, KC_UNPACK ARGUMENTS);                                                                  \
  }                                                                                                               \
  template <class KcT, int KcD>                                                                                   \
  KC_DEVICE KcT NAME(kernelcast_texture<KcT, KcD, cudaReadModeElementType> const& t, KC_UNPACK PARAMETERS) {      \
    return NAME<KcT>(t.object, KC_UNPACK ARGUMENTS);                                                              \
  }                                                                                                               \
  template <class KcT, int KcD>                                                                                   \
  KC_DEVICE typename kernelcast_texel<KcT>::fraction NAME(                                                        \
      kernelcast_texture<KcT, KcD, cudaReadModeNormalizedFloat> const& t, KC_UNPACK PARAMETERS) {                 \
    return NAME<typename kernelcast_texel<KcT>::fraction>(t.object, KC_UNPACK ARGUMENTS);                         \
  }

KC_FETCH(tex1Dfetch, "1d", ".s32", "{%5}", "", (int x), (x), "r"(x))
KC_FETCH(tex1D, "1d", ".f32", "{%5}", "", (float x), (x), "f"(x))
KC_FETCH(tex2D, "2d", ".f32", "{%5,%6}", "", (float x, float y), (x, y), "f"(x), "f"(y))
KC_FETCH(tex3D, "3d", ".f32", "{%5,%6,%7,%7}", "", (float x, float y, float z), (x, y, z), "f"(x), "f"(y), "f"(z))
KC_FETCH(tex1DLayered, "a1d", ".f32", "{%6,%5}", "", (float x, int layer), (x, layer), "f"(x), "r"(layer))
KC_FETCH(tex2DLayered, "a2d", ".f32", "{%7,%5,%6,%6}", "", (float x, float y, int layer), (x, y, layer), "f"(x),
         "f"(y), "r"(layer))
KC_FETCH(texCubemap, "cube", ".f32", "{%5,%6,%7,%7}", "", (float x, float y, float z), (x, y, z), "f"(x), "f"(y),
         "f"(z))
KC_FETCH(texCubemapLayered, "acube", ".f32", "{%8,%5,%6,%7}", "", (float x, float y, float z, int layer),
         (x, y, z, layer), "f"(x), "f"(y), "f"(z), "r"(layer))
KC_FETCH(tex1DLod, "level.1d", ".f32", "{%5}", ", %6", (float x, float level), (x, level), "f"(x), "f"(level))
KC_FETCH(tex2DLod, "level.2d", ".f32", "{%5,%6}", ", %7", (float x, float y, float level), (x, y, level), "f"(x),
         "f"(y), "f"(level))
KC_FETCH(tex3DLod, "level.3d", ".f32", "{%5,%6,%7,%7}", ", %8", (float x, float y, float z, float level),
         (x, y, z, level), "f"(x), "f"(y), "f"(z), "f"(level))
KC_FETCH(tex1DLayeredLod, "level.a1d", ".f32", "{%6,%5}", ", %7", (float x, int layer, float level),
         (x, layer, level), "f"(x), "r"(layer), "f"(level))
KC_FETCH(tex2DLayeredLod, "level.a2d", ".f32", "{%7,%5,%6,%6}", ", %8", (float x, float y, int layer, float level),
         (x, y, layer, level), "f"(x), "f"(y), "r"(layer), "f"(level))
KC_FETCH(tex1DGrad, "grad.1d", ".f32", "{%5}", ", {%6}, {%7}", (float x, float dx, float dy), (x, dx, dy), "f"(x),
         "f"(dx), "f"(dy))
KC_FETCH(tex2DGrad, "grad.2d", ".f32", "{%5,%6}", ", {%7,%8}, {%9,%10}", (float x, float y, float2 dx, float2 dy),
         (x, y, dx, dy), "f"(x), "f"(y), "f"(dx.x), "f"(dx.y), "f"(dy.x), "f"(dy.y))
KC_FETCH(tex3DGrad, "grad.3d", ".f32", "{%5,%6,%7,%7}", ", {%8,%9,%10,%10}, {%11,%12,%13,%13}",
         (float x, float y, float z, float4 dx, float4 dy), (x, y, z, dx, dy), "f"(x), "f"(y), "f"(z), "f"(dx.x),
         "f"(dx.y), "f"(dx.z), "f"(dy.x), "f"(dy.y), "f"(dy.z))

#define KC_GATHER(PTX, R, E)                                                                                       \
  KC_DEVICE void kernelcast_tex2Dgather(cudaTextureObject_t t, float x, float y, int component, E* v) {           \
    if (component == 0) KC_GATHER_OF("r", PTX, R);                                                                \
    if (component == 1) KC_GATHER_OF("g", PTX, R);                                                                \
    if (component == 2) KC_GATHER_OF("b", PTX, R);                                                                \
    if (component == 3) KC_GATHER_OF("a", PTX, R);                                                                \
  }
#define KC_GATHER_OF(COMPONENT, PTX, R)                                                                            \
  __asm__ volatile("tld4." COMPONENT ".2d.v4." PTX ".f32 {%0,%1,%2,%3}, [%4, {%5,%6}];"                           \
                   : R(v[0]), R(v[1]), R(v[2]), R(v[3]) : "l"(t), "f"(x), "f"(y))
KC_GATHER("f32", "=f", float)
KC_GATHER("s32", "=r", int)
KC_GATHER("u32", "=r", unsigned int)
KC_FETCH_FRONT(tex2Dgather, tex2Dgather, (float x, float y, int component = 0), (x, y, component))

#undef KC_GATHER
#undef KC_GATHER_OF
#undef KC_FETCH
#undef KC_FETCH_AS
#undef KC_FETCH_FRONT
#undef KC_UNPACK

#include "kernelcast_surface.h"
#endif
