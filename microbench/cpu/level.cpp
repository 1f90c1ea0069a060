// The kernels for one instruction set; KERNELCAST_LEVEL names it, the compiler's options choose it.
#include <array>
#include <cstring>

#include "kernels.hpp"
#include "measure/probe/cpu/kernels.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace kernelcast::probe::cpu::KERNELCAST_LEVEL {

namespace {

namespace mb = kernelcast::microbench;

#if defined(__AVX512F__)
constexpr int vector_bytes = 64;
constexpr int chains = 12;
#elif defined(__AVX2__)
constexpr int vector_bytes = 32;
constexpr int chains = 12;
#else
constexpr int vector_bytes = 16;
constexpr int chains = 8;
#endif
constexpr int unroll = 4;

typedef float Floats __attribute__((vector_size(vector_bytes)));
typedef double Doubles __attribute__((vector_size(vector_bytes)));
typedef std::uint32_t Ints __attribute__((vector_size(vector_bytes)));
typedef std::uint64_t Longs __attribute__((vector_size(vector_bytes)));

// The compiler must neither assume nor drop what is in memory here.
void keep(void* p) {
  asm volatile("" : : "r"(p) : "memory");
}

std::uint64_t next_random(std::uint64_t& state) {
  state += 0x9E3779B97F4A7C15u;
  std::uint64_t z = state;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  return z ^ (z >> 31);
}

// Floats in [1, 2), odd integers.
template <class V, class Element>
V random_vector(std::uint64_t& state) {
  V v{};
  for (std::size_t l = 0; l < sizeof(V) / sizeof(Element); ++l) {
    if constexpr (static_cast<Element>(0.5) != Element{})
      v[l] = static_cast<Element>(1 + static_cast<double>(next_random(state) >> 40) * 0x1p-24);
    else
      v[l] = static_cast<Element>(next_random(state) | 1);
  }
  return v;
}

template <class V, class Element, class Body>
void run(std::uint64_t seed, Body const& body) {
  V state[chains];
  for (auto& v : state) v = random_vector<V, Element>(seed);
  V a{}, b{};
  for (std::size_t l = 0; l < sizeof(V) / sizeof(Element); ++l) {
    a[l] = static_cast<Element>(0.9999999);
    b[l] = static_cast<Element>(1e-7);
    if constexpr (static_cast<Element>(0.5) == Element{}) a[l] = b[l] = static_cast<Element>(next_random(seed) | 1);
  }
  keep(&a);
  keep(&b);
  keep(state);
  body(static_cast<V*>(state), a, b);
  keep(state);
}

// `kernel` with one chain or with many.
#define KERNELCAST_RUN(V, Element, kernel, ...)                                                   \
  run<V, Element>(seed, [&](V* state, [[maybe_unused]] V const& a, [[maybe_unused]] V const& b) { \
    latency ? mb::kernel<1, unroll, V>(state __VA_OPT__(, ) __VA_ARGS__, iterations)              \
            : mb::kernel<chains, unroll, V>(state __VA_OPT__(, ) __VA_ARGS__, iterations);        \
  })

void arithmetic(Arithmetic what, bool latency, std::uint64_t iterations, std::uint64_t seed) {
  switch (what) {
    case Arithmetic::fma_fp32:
      return KERNELCAST_RUN(Floats, float, multiply_add, a, b);
    case Arithmetic::fma_fp64:
      return KERNELCAST_RUN(Doubles, double, multiply_add, a, b);
    case Arithmetic::mix_fp32:
      return KERNELCAST_RUN(Floats, float, add_or_multiply, a, b);
    case Arithmetic::mix_fp64:
      return KERNELCAST_RUN(Doubles, double, add_or_multiply, a, b);
    case Arithmetic::add_fp32:
      return KERNELCAST_RUN(Floats, float, add, b);
    case Arithmetic::add_fp64:
      return KERNELCAST_RUN(Doubles, double, add, b);
    case Arithmetic::mul_fp32:
      return KERNELCAST_RUN(Floats, float, multiply);
    case Arithmetic::mul_fp64:
      return KERNELCAST_RUN(Doubles, double, multiply);
    case Arithmetic::add_int32:
      return KERNELCAST_RUN(Ints, std::uint32_t, add, b);
    case Arithmetic::mul_int32:
      return KERNELCAST_RUN(Ints, std::uint32_t, multiply);
    case Arithmetic::div_fp32:
      return KERNELCAST_RUN(Floats, float, divide, a);
    case Arithmetic::div_fp64:
      return KERNELCAST_RUN(Doubles, double, divide, a);
  }
}

constexpr std::size_t words_per_vector = vector_bytes / 8;

std::uint64_t read(std::uint64_t const* words, std::size_t count) {
  auto const* p = reinterpret_cast<Longs const*>(words);
  Longs sum[8]{};
  for (std::size_t i = 0; i < count / words_per_vector; i += 8)
    for (std::size_t u = 0; u < 8; ++u) sum[u] ^= p[i + u];
  for (int u = 1; u < 8; ++u) sum[0] ^= sum[u];
  std::uint64_t out = 0;
  for (std::size_t l = 0; l < words_per_vector; ++l) out ^= sum[0][l];
  return out;
}

Longs splat(std::uint64_t value) {
  Longs v{};
  for (std::size_t l = 0; l < words_per_vector; ++l) v[l] = value;
  return v;
}

inline void stream(Longs* to, Longs const& value) {
#if defined(__AVX512F__)
  _mm512_stream_si512(reinterpret_cast<__m512i*>(to), reinterpret_cast<__m512i const&>(value));
#elif defined(__AVX2__)
  _mm256_stream_si256(reinterpret_cast<__m256i*>(to), reinterpret_cast<__m256i const&>(value));
#elif defined(__SSE2__)
  _mm_stream_si128(reinterpret_cast<__m128i*>(to), reinterpret_cast<__m128i const&>(value));
#else
  *to = value;
#endif
}

inline void end_of_stream() {
#if defined(__x86_64__)
  _mm_sfence();
#endif
}

void write(std::uint64_t* words, std::size_t count, std::uint64_t value) {
  auto* p = reinterpret_cast<Longs*>(words);
  Longs const v = splat(value);
  for (std::size_t i = 0; i < count / words_per_vector; ++i) p[i] = v;
  keep(words);
}

void write_stream(std::uint64_t* words, std::size_t count, std::uint64_t value) {
  auto* p = reinterpret_cast<Longs*>(words);
  Longs const v = splat(value);
  for (std::size_t i = 0; i < count / words_per_vector; ++i) stream(p + i, v);
  end_of_stream();
}

void copy(std::uint64_t* to, std::uint64_t const* from, std::size_t count) {
  auto* p = reinterpret_cast<Longs*>(to);
  auto const* q = reinterpret_cast<Longs const*>(from);
  for (std::size_t i = 0; i < count / words_per_vector; ++i) p[i] = q[i];
  keep(to);
}

void copy_stream(std::uint64_t* to, std::uint64_t const* from, std::size_t count) {
  auto* p = reinterpret_cast<Longs*>(to);
  auto const* q = reinterpret_cast<Longs const*>(from);
  for (std::size_t i = 0; i < count / words_per_vector; ++i) stream(p + i, q[i]);
  end_of_stream();
}

void triad(double* a, double const* b, double const* c, double s, std::size_t count) {
  auto* p = reinterpret_cast<Longs*>(a);
  auto const* q = reinterpret_cast<Doubles const*>(b);
  auto const* r = reinterpret_cast<Doubles const*>(c);
  for (std::size_t i = 0; i < count / words_per_vector; ++i) {
    Doubles const sum = q[i] + s * r[i];
    stream(p + i, __builtin_bit_cast(Longs, sum));
  }
  end_of_stream();
}

struct Word16 {
  std::uint64_t low, high;
};
std::uint64_t fold(std::uint32_t w) {
  return w;
}
std::uint64_t fold(std::uint64_t w) {
  return w;
}
std::uint64_t fold(Word16 const& w) {
  return w.low ^ w.high;
}

// Calls access(index) for each access of the pattern.
template <class Access>
void walk(unsigned bits, int shift, std::uint64_t first, std::uint64_t count, Access const& access) {
  if (shift < 0)
    for (std::uint64_t i = first; i < first + count; ++i) access(mb::scattered(i, bits));
  else
    for (std::uint64_t i = first; i < first + count; ++i) access(mb::strided(i, bits, static_cast<unsigned>(shift)));
}

std::uint64_t read_pattern(void const* data, unsigned word_bytes, unsigned bits, int shift, std::uint64_t first,
                           std::uint64_t count) {
  std::uint64_t sum = 0;
  auto const with = [&](auto const* words) {
    walk(bits, shift, first, count, [&](std::uint64_t i) { sum ^= fold(words[i]); });
  };
  if (word_bytes == 4) with(static_cast<std::uint32_t const*>(data));
  if (word_bytes == 8) with(static_cast<std::uint64_t const*>(data));
  if (word_bytes == 16) with(static_cast<Word16 const*>(data));
  return sum;
}

void write_pattern(void* data, unsigned word_bytes, unsigned bits, int shift, std::uint64_t first,
                   std::uint64_t count) {
  if (word_bytes == 4)
    walk(bits, shift, first, count,
         [p = static_cast<std::uint32_t*>(data)](std::uint64_t i) { p[i] = static_cast<std::uint32_t>(i); });
  if (word_bytes == 8)
    walk(bits, shift, first, count, [p = static_cast<std::uint64_t*>(data)](std::uint64_t i) { p[i] = i; });
  if (word_bytes == 16)
    walk(bits, shift, first, count, [p = static_cast<Word16*>(data)](std::uint64_t i) { p[i] = {i, i}; });
  keep(data);
}

}  // namespace

#define KERNELCAST_TEXT2(x) #x
#define KERNELCAST_TEXT(x) KERNELCAST_TEXT2(x)
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
constexpr bool fused = true;
#else
constexpr bool fused = false;
#endif

extern Kernels const kernels;
Kernels const kernels{KERNELCAST_TEXT(KERNELCAST_LEVEL),
                      vector_bytes,
                      fused,
                      arithmetic,
                      chains,
                      unroll,
                      read,
                      write,
                      write_stream,
                      copy,
                      copy_stream,
                      triad,
                      read_pattern,
                      write_pattern};

}  // namespace kernelcast::probe::cpu::KERNELCAST_LEVEL
