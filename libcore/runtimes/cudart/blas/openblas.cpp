#include "runtimes/cudart/blas/openblas.hpp"

#include <climits>

#include <dlfcn.h>

#include "base/process/setting.hpp"
#include "runtimes/attach/settings.hpp"
#include "runtimes/cudart/blas/abi.hpp"

namespace kernelcast::cudart::blas {

namespace {

constexpr double worth_it = 32.0 * 32 * 32;

void* library() {
  static void* const opened = [] {
    char const* const wish = setting(variables::openblas);
    if (wish && std::string_view(wish) == "0") return static_cast<void*>(nullptr);
    void* const library = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
    auto const threads = attach::settings().threads;
    auto* const set = library && threads > 0 ? dlsym(library, "openblas_set_num_threads") : nullptr;
    if (set) reinterpret_cast<void (*)(int)>(set)(static_cast<int>(threads));
    return library;
  }();
  return opened;
}

template <class T>
inline constexpr char const* function_name = "";
template <>
inline constexpr char const* function_name<float> = "cblas_sgemm";
template <>
inline constexpr char const* function_name<double> = "cblas_dgemm";
template <>
inline constexpr char const* function_name<C32> = "cblas_cgemm";
template <>
inline constexpr char const* function_name<C64> = "cblas_zgemm";

}  // namespace

template <class T>
bool multiply_fast(Product const& p, T alpha, T const* a, T const* b, T beta, T* c) {
  double const products = static_cast<double>(p.m) * static_cast<double>(p.n) * static_cast<double>(p.k);
  auto const fits = [](std::int64_t n) { return n <= INT_MAX; };
  if (products < worth_it || !fits(p.m) || !fits(p.n) || !fits(p.k) || !fits(p.lda) || !fits(p.ldb) || !fits(p.ldc) ||
      !library())
    return false;
  // cblas: column by column 102; plain 111, transposed 112, conjugated 113. Complex factors by address.
  constexpr bool by_address = hostmath::is_complex<T>;
  using Factor = std::conditional_t<by_address, T const*, T>;
  using Function = void (*)(int, int, int, int, int, int, Factor, T const*, int, T const*, int, Factor, T*, int);
  static auto const function = reinterpret_cast<Function>(dlsym(library(), function_name<T>));
  if (!function) return false;
  auto const word = [](hostmath::Op op) { return 111 + static_cast<int>(op); };
  auto const whole = [](std::int64_t n) { return static_cast<int>(n); };
  auto const factor = [](T const& value) -> Factor {
    if constexpr (by_address)
      return &value;
    else
      return value;
  };
  function(102, word(p.a), word(p.b), whole(p.m), whole(p.n), whole(p.k), factor(alpha), a, whole(p.lda), b,
           whole(p.ldb), factor(beta), c, whole(p.ldc));
  return true;
}
template bool multiply_fast(Product const&, float, float const*, float const*, float, float*);
template bool multiply_fast(Product const&, double, double const*, double const*, double, double*);
template bool multiply_fast(Product const&, C32, C32 const*, C32 const*, C32, C32*);
template bool multiply_fast(Product const&, C64, C64 const*, C64 const*, C64, C64*);

}  // namespace kernelcast::cudart::blas
