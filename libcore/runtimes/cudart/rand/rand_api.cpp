// cuRAND's host interface: pseudo-random numbers by runtimes/hostmath/random.hpp.
//
// Limits: quasi-random generators, MTGP32 and tables of discrete distributions are refused; of XORWOW and Philox the
// numbers are NVIDIA's (in the default order), of the other generators and of poisson they differ.
#include <cmath>
#include <map>
#include <mutex>

#include <fmt/format.h>

#include "runtimes/cudart/call.hpp"
#include "runtimes/cudart/library_calls.hpp"
#include "runtimes/hostmath/random.hpp"

using namespace kernelcast::cudart;
using kernelcast::hostmath::Generator;

namespace {

enum class Status : int {
  success = 0,
  not_initialized = 101,
  allocation_failed = 102,
  type_error = 103,
  out_of_range = 104,
  length_not_multiple = 105,
  launch_failure = 201
};

struct Handle {
  Generator generator;
  bool of_host;
  Stream stream = nullptr;
};

// Never destroyed; guarded by the lock of all calls.
auto& handles() {
  static auto* const all = new std::map<Handle*, std::shared_ptr<Handle>>;
  return *all;
}
std::shared_ptr<Handle> find(Handle* handle) {
  std::lock_guard const lock(call_mutex());
  auto const found = handles().find(handle);
  return found == handles().end() ? nullptr : found->second;
}

Status refused(char const* call, std::string_view what = {}) {
  library_lacks("cuRAND", call, what);
  return Status::type_error;
}

Status create(Handle** handle, int type, char const* call, bool of_host) {
  if (!handle) return Status::out_of_range;
  using Kind = Generator::Kind;
  std::optional<Kind> kind;
  if (type == 100 || type == 101) kind = Kind::xorwow;
  if (type == 121) kind = Kind::mrg32k3a;
  if (type == 142) kind = Kind::mt19937;
  if (type == 161) kind = Kind::philox;
  if (!kind) return refused(call, fmt::format("generator of type {}", type));
  auto const made = std::make_shared<Handle>(Handle{Generator(*kind, 0), of_host});
  std::lock_guard const lock(call_mutex());
  handles()[made.get()] = made;
  *handle = made.get();
  return Status::success;
}

template <class Body>
Status with(Handle* handle, Body const& body) {
  auto const found = find(handle);
  if (!found) return Status::not_initialized;
  body(*found);
  return Status::success;
}

// `fill` makes the numbers, in the order of the calls.
template <class T, class Fill>
Status generate(Handle* handle, char const* call, T* to, std::size_t count, char const* type, Fill const& fill) {
  auto const found = find(handle);
  if (!found) return Status::not_initialized;
  if (count == 0) return Status::success;
  if (!to) return Status::out_of_range;
  if (found->of_host) {
    fill(found->generator);
    return Status::success;
  }
  auto const code = library_call(found->stream, [=](LibraryCall& made) {
    made.kernel = call;
    made.case_name = fmt::format("n{}", count);
    made.library = fmt::format("random:{}:{}", type, count);
    made.flop = 20.0 * static_cast<double>(count);  // about the instructions of Philox for a number
    made.matrix("the output", to, sizeof(T), 1, count, 1, false, true);
    made.work = [=] { fill(found->generator); };
  });
  return code == Code::success             ? Status::success
         : code == Code::memory_allocation ? Status::allocation_failed
                                           : Status::launch_failure;
}

template <class T>
Status normal(Handle* handle, char const* call, T* to, std::size_t count, T mean, T deviation, bool logarithmic) {
  if (count % 2 == 1) return Status::length_not_multiple;
  char const* const type = sizeof(T) == sizeof(float) ? "f32" : "f64";
  return generate(handle, call, to, count, type, [=](Generator& generator) {
    auto const shaped = [&](T value) {
      T const scaled = value * deviation + mean;
      return logarithmic ? std::exp(scaled) : scaled;
    };
    for (std::size_t i = 0; i < count; i += 2) {
      auto const [one, other] = generator.template normal_pair<T>();
      to[i] = shaped(one), to[i + 1] = shaped(other);
    }
  });
}

std::uint32_t poisson_of(Generator& generator, double mean) {
  if (mean >= 30) {  // near enough to a normal distribution
    double const value = mean + std::sqrt(mean) * generator.normal_pair<double>()[0] + 0.5;
    return value < 0 ? 0 : value > 4294967295.0 ? 0xffffffffU : static_cast<std::uint32_t>(value);
  }
  std::uint32_t count = 0;  // Knuth
  for (double product = generator.uniform_double(), least = std::exp(-mean); product > least;
       product *= generator.uniform_double())
    ++count;
  return count;
}

}  // namespace

KERNELCAST_CUDA_EXPORT Status curandCreateGenerator(Handle** handle, int type) {
  return create(handle, type, "curandCreateGenerator", false);
}
KERNELCAST_CUDA_EXPORT Status curandCreateGeneratorHost(Handle** handle, int type) {
  return create(handle, type, "curandCreateGeneratorHost", true);
}
KERNELCAST_CUDA_EXPORT Status curandDestroyGenerator(Handle* handle) {
  std::lock_guard const lock(call_mutex());
  return handles().erase(handle) ? Status::success : Status::not_initialized;
}
KERNELCAST_CUDA_EXPORT Status curandSetStream(Handle* handle, Stream stream) {
  return with(handle, [&](Handle& h) { h.stream = stream; });
}
KERNELCAST_CUDA_EXPORT Status curandSetPseudoRandomGeneratorSeed(Handle* handle, unsigned long long seed) {
  return with(handle, [&](Handle& h) { h.generator.seed(seed); });
}
KERNELCAST_CUDA_EXPORT Status curandSetGeneratorOffset(Handle* handle, unsigned long long offset) {
  return with(handle, [&](Handle& h) { h.generator.skip_to(offset); });
}
KERNELCAST_CUDA_EXPORT Status curandSetGeneratorOrdering(Handle* handle, int order) {
  // Best, default and legacy are this order; others are any.
  return order >= 100 && order <= 104 ? with(handle, [](Handle&) {}) : Status::out_of_range;
}
KERNELCAST_CUDA_EXPORT Status curandGenerateSeeds(Handle* handle) {
  return with(handle, [](Handle&) {});
}
KERNELCAST_CUDA_EXPORT Status curandGetVersion(int* version) {
  if (!version) return Status::out_of_range;
  *version = KERNELCAST_LIBRARY_VERSION * 1000;
  return Status::success;
}
KERNELCAST_CUDA_EXPORT Status curandGetProperty(int which, int* value) {
  if (!value || which < 0 || which > 2) return Status::out_of_range;
  *value = which == 0 ? KERNELCAST_LIBRARY_VERSION : 0;
  return Status::success;
}
KERNELCAST_CUDA_EXPORT Status curandGenerate(Handle* handle, std::uint32_t* to, std::size_t count) {
  return generate(handle, "curandGenerate", to, count, "f32", [=](Generator& generator) {
    for (std::size_t i = 0; i < count; ++i) to[i] = generator.next();
  });
}
KERNELCAST_CUDA_EXPORT Status curandGenerateUniform(Handle* handle, float* to, std::size_t count) {
  return generate(handle, "curandGenerateUniform", to, count, "f32", [=](Generator& generator) {
    for (std::size_t i = 0; i < count; ++i) to[i] = generator.uniform();
  });
}
KERNELCAST_CUDA_EXPORT Status curandGenerateUniformDouble(Handle* handle, double* to, std::size_t count) {
  return generate(handle, "curandGenerateUniformDouble", to, count, "f64", [=](Generator& generator) {
    for (std::size_t i = 0; i < count; ++i) to[i] = generator.uniform_double();
  });
}
KERNELCAST_CUDA_EXPORT Status curandGenerateNormal(Handle* handle, float* to, std::size_t count, float mean,
                                                   float deviation) {
  return normal(handle, "curandGenerateNormal", to, count, mean, deviation, false);
}
KERNELCAST_CUDA_EXPORT Status curandGenerateNormalDouble(Handle* handle, double* to, std::size_t count, double mean,
                                                         double deviation) {
  return normal(handle, "curandGenerateNormalDouble", to, count, mean, deviation, false);
}
KERNELCAST_CUDA_EXPORT Status curandGenerateLogNormal(Handle* handle, float* to, std::size_t count, float mean,
                                                      float deviation) {
  return normal(handle, "curandGenerateLogNormal", to, count, mean, deviation, true);
}
KERNELCAST_CUDA_EXPORT Status curandGenerateLogNormalDouble(Handle* handle, double* to, std::size_t count, double mean,
                                                            double deviation) {
  return normal(handle, "curandGenerateLogNormalDouble", to, count, mean, deviation, true);
}
KERNELCAST_CUDA_EXPORT Status curandGeneratePoisson(Handle* handle, std::uint32_t* to, std::size_t count, double mean) {
  if (!(mean >= 0)) return Status::out_of_range;
  return generate(handle, "curandGeneratePoisson", to, count, "f64", [=](Generator& generator) {
    for (std::size_t i = 0; i < count; ++i) to[i] = poisson_of(generator, mean);
  });
}

#define KERNELCAST_RAND_REFUSED(function)    \
  KERNELCAST_CUDA_EXPORT Status function() { \
    return refused(#function);               \
  }
#include "runtimes/cudart/rand/entry_points.def"
