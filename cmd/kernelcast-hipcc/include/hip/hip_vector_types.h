// Vectors of HIP have operators, as those of CUDA do not: templates, so that a program's own are preferred.
#pragma once
#include <vector_functions.h>
#include <vector_types.h>

#ifdef __cplusplus
#include <type_traits>

#ifdef __CUDACC__
#define HIP_BOTH __host__ __device__
#else
#define HIP_BOTH
#endif

namespace hip_vectors {

template <class V>
struct Size : std::integral_constant<int, 0> {};
#define HIP_SIZES(name)                                     \
  template <>                                               \
  struct Size<name##1> : std::integral_constant<int, 1> {}; \
  template <>                                               \
  struct Size<name##2> : std::integral_constant<int, 2> {}; \
  template <>                                               \
  struct Size<name##3> : std::integral_constant<int, 3> {}; \
  template <>                                               \
  struct Size<name##4> : std::integral_constant<int, 4> {};
HIP_SIZES(char)
HIP_SIZES(uchar)
HIP_SIZES(short)
HIP_SIZES(ushort)
HIP_SIZES(int)
HIP_SIZES(uint)
HIP_SIZES(long)
HIP_SIZES(ulong)
HIP_SIZES(longlong)
HIP_SIZES(ulonglong)
HIP_SIZES(float)
HIP_SIZES(double)
#undef HIP_SIZES

template <class V>
using Scalar = decltype(V::x);
template <class V>
using IfVector = std::enable_if_t<(Size<V>::value > 0), V>;

template <class V, class F>
HIP_BOTH V each(V const& a, V const& b, F const& function) {
  V out;
  out.x = function(a.x, b.x);
  if constexpr (Size<V>::value > 1) out.y = function(a.y, b.y);
  if constexpr (Size<V>::value > 2) out.z = function(a.z, b.z);
  if constexpr (Size<V>::value > 3) out.w = function(a.w, b.w);
  return out;
}

template <class V>
HIP_BOTH V all(Scalar<V> value) {
  V out;
  out.x = value;
  if constexpr (Size<V>::value > 1) out.y = value;
  if constexpr (Size<V>::value > 2) out.z = value;
  if constexpr (Size<V>::value > 3) out.w = value;
  return out;
}

}  // namespace hip_vectors

#define HIP_OPERATOR(op, Name)                                                          \
  namespace hip_vectors {                                                               \
  struct Name {                                                                         \
    template <class T>                                                                  \
    HIP_BOTH T operator()(T a, T b) const {                                             \
      return a op b;                                                                    \
    }                                                                                   \
  };                                                                                    \
  }                                                                                     \
  template <class V>                                                                    \
  HIP_BOTH hip_vectors::IfVector<V> operator op(V const& a, V const& b) {               \
    return hip_vectors::each(a, b, hip_vectors::Name{});                                \
  }                                                                                     \
  template <class V>                                                                    \
  HIP_BOTH hip_vectors::IfVector<V> operator op(V const& a, hip_vectors::Scalar<V> b) { \
    return a op hip_vectors::all<V>(b);                                                 \
  }                                                                                     \
  template <class V>                                                                    \
  HIP_BOTH hip_vectors::IfVector<V> operator op(hip_vectors::Scalar<V> a, V const& b) { \
    return hip_vectors::all<V>(a) op b;                                                 \
  }                                                                                     \
  template <class V>                                                                    \
  HIP_BOTH hip_vectors::IfVector<V>& operator op##=(V & a, V const& b) {                \
    return a = a op b;                                                                  \
  }                                                                                     \
  template <class V>                                                                    \
  HIP_BOTH hip_vectors::IfVector<V>& operator op##=(V & a, hip_vectors::Scalar<V> b) {  \
    return a = a op b;                                                                  \
  }
HIP_OPERATOR(+, Sum)
HIP_OPERATOR(-, Difference)
HIP_OPERATOR(*, Product)
HIP_OPERATOR(/, Quotient)
#undef HIP_OPERATOR

template <class V>
HIP_BOTH hip_vectors::IfVector<V> operator-(V const& a) {
  return hip_vectors::all<V>(0) - a;
}
#undef HIP_BOTH
#endif
