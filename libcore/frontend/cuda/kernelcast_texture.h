// Texture objects and, as in toolkits before 12, texture references: a reference is a device variable that holds an
// object.
#pragma once

typedef unsigned long long cudaTextureObject_t;
typedef unsigned long long cudaSurfaceObject_t;
enum cudaTextureReadMode { cudaReadModeElementType, cudaReadModeNormalizedFloat };
enum cudaTextureFilterMode { cudaFilterModePoint, cudaFilterModeLinear };
enum cudaTextureAddressMode { cudaAddressModeWrap, cudaAddressModeClamp, cudaAddressModeMirror, cudaAddressModeBorder };
enum cudaChannelFormatKind {
  cudaChannelFormatKindSigned, cudaChannelFormatKindUnsigned, cudaChannelFormatKindFloat, cudaChannelFormatKindNone
};
struct cudaChannelFormatDesc { int x, y, z, w; cudaChannelFormatKind f; };
enum { cudaTextureType1D = 1, cudaTextureType2D = 2, cudaTextureType3D = 3 };

template <class KcT, int dimensions = cudaTextureType1D, int mode = cudaReadModeElementType>
struct kernelcast_texture {
  cudaTextureObject_t object;
  int normalized;
  cudaTextureFilterMode filterMode;
  cudaTextureAddressMode addressMode[3];
  cudaChannelFormatDesc channelDesc;
};
#define texture static __device__ kernelcast_texture

#define KC_TEX_TYPE(PTX, R, E)                                                                                      \
  KC_DEVICE void kernelcast_tex1(cudaTextureObject_t t, int x, E* v) {                                              \
    __asm__ volatile("tex.1d.v4." PTX ".s32 {%0,%1,%2,%3}, [%4, {%5}];"                                             \
                     : R(v[0]), R(v[1]), R(v[2]), R(v[3]) : "l"(t), "r"(x)); }                                      \
  KC_DEVICE void kernelcast_tex1(cudaTextureObject_t t, float x, E* v) {                                            \
    __asm__ volatile("tex.1d.v4." PTX ".f32 {%0,%1,%2,%3}, [%4, {%5}];"                                             \
                     : R(v[0]), R(v[1]), R(v[2]), R(v[3]) : "l"(t), "f"(x)); }                                      \
  KC_DEVICE void kernelcast_tex2(cudaTextureObject_t t, float x, float y, E* v) {                                   \
    __asm__ volatile("tex.2d.v4." PTX ".f32 {%0,%1,%2,%3}, [%4, {%5,%6}];"                                          \
                     : R(v[0]), R(v[1]), R(v[2]), R(v[3]) : "l"(t), "f"(x), "f"(y)); }                              \
  KC_DEVICE void kernelcast_tex3(cudaTextureObject_t t, float x, float y, float z, E* v) {                          \
    __asm__ volatile("tex.3d.v4." PTX ".f32 {%0,%1,%2,%3}, [%4, {%5,%6,%7,%7}];"                                    \
                     : R(v[0]), R(v[1]), R(v[2]), R(v[3]) : "l"(t), "f"(x), "f"(y), "f"(z)); }
KC_TEX_TYPE("f32", "=f", float)
KC_TEX_TYPE("s32", "=r", int)
KC_TEX_TYPE("u32", "=r", unsigned int)
#undef KC_TEX_TYPE

// How a texel's type is made of the four values that a fetch gives.
template <class KcT> struct kernelcast_texel;
#define KC_TEXEL(T, E, ...) \
  template <> struct kernelcast_texel<T> { typedef E element; static __device__ T make(E* v) { return __VA_ARGS__; } };
#define KC_TEXELS(T, N, E)                                                        \
  KC_TEXEL(T, E, (T)v[0])                                                         \
  KC_TEXEL(N##1, E, N##1{(T)v[0]})                                                \
  KC_TEXEL(N##2, E, N##2{(T)v[0], (T)v[1]})                                       \
  KC_TEXEL(N##4, E, N##4{(T)v[0], (T)v[1], (T)v[2], (T)v[3]})
KC_TEXELS(float, float, float)
KC_TEXELS(int, int, int)
KC_TEXELS(unsigned int, uint, unsigned int)
KC_TEXELS(signed char, char, int)
KC_TEXELS(unsigned char, uchar, unsigned int)
KC_TEXELS(short, short, int)
KC_TEXELS(unsigned short, ushort, unsigned int)
#undef KC_TEXELS
#undef KC_TEXEL

#define KC_FETCH(NAME, CALL, ...)                                                                 \
  template <class KcT> KC_DEVICE KcT NAME(cudaTextureObject_t t, __VA_ARGS__) {                   \
    typename kernelcast_texel<KcT>::element v[4];                                                 \
    CALL;                                                                                         \
    return kernelcast_texel<KcT>::make(v);                                                        \
  }
KC_FETCH(tex1Dfetch, kernelcast_tex1(t, x, v), int x)
KC_FETCH(tex1D, kernelcast_tex1(t, x, v), float x)
KC_FETCH(tex2D, kernelcast_tex2(t, x, y, v), float x, float y)
KC_FETCH(tex3D, kernelcast_tex3(t, x, y, z, v), float x, float y, float z)
#undef KC_FETCH
#define KC_REFERENCE template <class KcT, int KcD, int KcM> KC_DEVICE KcT
KC_REFERENCE tex1Dfetch(kernelcast_texture<KcT, KcD, KcM> const& t, int x) { return tex1Dfetch<KcT>(t.object, x); }
KC_REFERENCE tex1D(kernelcast_texture<KcT, KcD, KcM> const& t, float x) { return tex1D<KcT>(t.object, x); }
KC_REFERENCE tex2D(kernelcast_texture<KcT, KcD, KcM> const& t, float x, float y) { return tex2D<KcT>(t.object, x, y); }
KC_REFERENCE tex3D(kernelcast_texture<KcT, KcD, KcM> const& t, float x, float y, float z) {
  return tex3D<KcT>(t.object, x, y, z);
}
#undef KC_REFERENCE
