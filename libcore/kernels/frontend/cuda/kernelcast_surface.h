// Surface functions, for our own header and for clang-19 with a toolkit's headers, which has none.
#pragma once

#ifndef KC_DEVICE
#define KC_DEVICE static __inline__ __attribute__((always_inline)) __attribute__((device))
#endif
#define KC_UNPACK(...) __VA_ARGS__

// Unformatted; x is in bytes.
template <int KcBytes> struct kernelcast_words;
template <> struct kernelcast_words<1> { unsigned short w[1]; };
template <> struct kernelcast_words<2> { unsigned short w[1]; };
template <> struct kernelcast_words<4> { unsigned int w[1]; };
template <> struct kernelcast_words<8> { unsigned int w[2]; };
template <> struct kernelcast_words<16> { unsigned int w[4]; };

#define KC_SURFACE_AS(BYTES, NAME, GEOMETRY, POSITION, PARAMETERS, TYPE, VALUES, OUT, IN, MODE, ...)               \
  KC_DEVICE void kernelcast_load##MODE##_##NAME(kernelcast_words<BYTES>& v, cudaSurfaceObject_t s,                \
                                                KC_UNPACK PARAMETERS) {                                           \
    __asm__ volatile("suld.b." GEOMETRY TYPE "." #MODE " " VALUES ", [%[s], " POSITION "];"                       \
                     : KC_UNPACK OUT : [s] "l"(s), __VA_ARGS__);                                                  \
  }                                                                                                               \
  KC_DEVICE void kernelcast_store##MODE##_##NAME(kernelcast_words<BYTES> v, cudaSurfaceObject_t s,                \
                                                 KC_UNPACK PARAMETERS) {                                          \
    __asm__ volatile("sust.b." GEOMETRY TYPE "." #MODE " [%[s], " POSITION "], " VALUES ";"                       \
                     : : [s] "l"(s), KC_UNPACK IN, __VA_ARGS__ : "memory");                                       \
  }
#define KC_SURFACE_MODES(...)                                                                                      \
  KC_SURFACE_MODE(trap, __VA_ARGS__) KC_SURFACE_MODE(clamp, __VA_ARGS__) KC_SURFACE_MODE(zero, __VA_ARGS__)
#define KC_SURFACE_MODE(MODE, BYTES, NAME, GEOMETRY, POSITION, PARAMETERS, TYPE, VALUES, OUT, IN, ...)             \
  KC_SURFACE_AS(BYTES, NAME, GEOMETRY, POSITION, PARAMETERS, TYPE, VALUES, OUT, IN, MODE, __VA_ARGS__)
#define KC_SURFACE(NAME, GEOMETRY, POSITION, PARAMETERS, ARGUMENTS, ...)                                           \
  KC_SURFACE_MODES(1, NAME, GEOMETRY, POSITION, PARAMETERS, ".b8", "%[a]", ([a] "=h"(v.w[0])), ([a] "h"(v.w[0])), \
                   __VA_ARGS__)                                                                                   \
  KC_SURFACE_MODES(2, NAME, GEOMETRY, POSITION, PARAMETERS, ".b16", "%[a]", ([a] "=h"(v.w[0])),                   \
                   ([a] "h"(v.w[0])), __VA_ARGS__)                                                                \
  KC_SURFACE_MODES(4, NAME, GEOMETRY, POSITION, PARAMETERS, ".b32", "%[a]", ([a] "=r"(v.w[0])),                   \
                   ([a] "r"(v.w[0])), __VA_ARGS__)                                                                \
  KC_SURFACE_MODES(8, NAME, GEOMETRY, POSITION, PARAMETERS, ".v2.b32", "{%[a],%[b]}",                             \
                   ([a] "=r"(v.w[0]), [b] "=r"(v.w[1])), ([a] "r"(v.w[0]), [b] "r"(v.w[1])), __VA_ARGS__)         \
  KC_SURFACE_MODES(16, NAME, GEOMETRY, POSITION, PARAMETERS, ".v4.b32", "{%[a],%[b],%[c],%[d]}",                  \
                   ([a] "=r"(v.w[0]), [b] "=r"(v.w[1]), [c] "=r"(v.w[2]), [d] "=r"(v.w[3])),                      \
                   ([a] "r"(v.w[0]), [b] "r"(v.w[1]), [c] "r"(v.w[2]), [d] "r"(v.w[3])), __VA_ARGS__)             \
  template <class KcT>                                                                                            \
  KC_DEVICE KcT NAME##read(cudaSurfaceObject_t s, KC_UNPACK PARAMETERS,                                           \
                           cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {                                 \
    kernelcast_words<sizeof(KcT)> v;                                                                              \
    if (mode == cudaBoundaryModeTrap)                                                                             \
      kernelcast_loadtrap_##NAME(v, s, KC_UNPACK ARGUMENTS);                                                      \
    else if (mode == cudaBoundaryModeClamp)                                                                       \
      kernelcast_loadclamp_##NAME(v, s, KC_UNPACK ARGUMENTS);                                                     \
    else                                                                                                          \
      kernelcast_loadzero_##NAME(v, s, KC_UNPACK ARGUMENTS);                                                      \
    KcT value;                                                                                                    \
    __builtin_memcpy(&value, &v, sizeof value);                                                                   \
    return value;                                                                                                 \
  }                                                                                                               \
  template <class KcT>                                                                                            \
  KC_DEVICE void NAME##read(KcT* value, cudaSurfaceObject_t s, KC_UNPACK PARAMETERS,                              \
                            cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {                                \
    *value = NAME##read<KcT>(s, KC_UNPACK ARGUMENTS, mode);                                                       \
  }                                                                                                               \
  template <class KcT>                                                                                            \
  KC_DEVICE void NAME##write(KcT value, cudaSurfaceObject_t s, KC_UNPACK PARAMETERS,                              \
                             cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {                               \
    kernelcast_words<sizeof(KcT)> v;                                                                              \
    __builtin_memcpy(&v, &value, sizeof value);                                                                   \
    if (mode == cudaBoundaryModeTrap)                                                                             \
      kernelcast_storetrap_##NAME(v, s, KC_UNPACK ARGUMENTS);                                                     \
    else if (mode == cudaBoundaryModeClamp)                                                                       \
      kernelcast_storeclamp_##NAME(v, s, KC_UNPACK ARGUMENTS);                                                    \
    else                                                                                                          \
      kernelcast_storezero_##NAME(v, s, KC_UNPACK ARGUMENTS);                                                     \
  }
KC_SURFACE(surf1D, "1d", "{%[x]}", (int x), (x), [x] "r"(x))
KC_SURFACE(surf2D, "2d", "{%[x],%[y]}", (int x, int y), (x, y), [x] "r"(x), [y] "r"(y))
KC_SURFACE(surf3D, "3d", "{%[x],%[y],%[z],%[z]}", (int x, int y, int z), (x, y, z), [x] "r"(x), [y] "r"(y), [z] "r"(z))
KC_SURFACE(surf1DLayered, "a1d", "{%[l],%[x]}", (int x, int layer), (x, layer), [x] "r"(x), [l] "r"(layer))
KC_SURFACE(surf2DLayered, "a2d", "{%[l],%[x],%[y],%[y]}", (int x, int y, int layer), (x, y, layer), [x] "r"(x),
           [y] "r"(y), [l] "r"(layer))
KC_SURFACE(surfCubemap, "a2d", "{%[l],%[x],%[y],%[y]}", (int x, int y, int face), (x, y, face), [x] "r"(x),
           [y] "r"(y), [l] "r"(face))
KC_SURFACE(surfCubemapLayered, "a2d", "{%[l],%[x],%[y],%[y]}", (int x, int y, int face), (x, y, face), [x] "r"(x),
           [y] "r"(y), [l] "r"(face))
#undef KC_SURFACE
#undef KC_SURFACE_MODE
#undef KC_SURFACE_MODES
#undef KC_SURFACE_AS
#undef KC_UNPACK
