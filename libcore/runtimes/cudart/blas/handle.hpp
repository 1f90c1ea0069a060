// What a program's handles hold, and what all calls of cuBLAS begin and end with.
#pragma once

#include <memory>
#include <string>

#include "runtimes/cudart/blas/abi.hpp"
#include "runtimes/cudart/library_calls.hpp"

namespace kernelcast::cudart::blas {

struct Handle {
  Stream stream = nullptr;
  PointerMode pointers = PointerMode::host;
  int math = 0, atomics = 0, logger = 0;
};

Handle* add_handle();
bool remove(Handle*);
bool known(Handle const*);

Status status_of(Code);
// A call with what does not exist, or is not there: named once.
Status refused(std::string const& call, std::string_view what = {});

// A factor of a call: what it is now, or, in memory of the device, when the call runs.
template <class T>
class Scalar {
 public:
  Scalar(Handle const& handle, T const* given) : device_(handle.pointers == PointerMode::device ? given : nullptr) {
    if (!device_) value_ = *given;
  }
  explicit Scalar(T value) : value_(value) {}
  void add_to(LibraryCall& call, std::string_view name) const {
    if (device_) call.operands.push_back({name, device_, sizeof(T), sizeof(T), true, false});
  }
  T value() const { return device_ ? *device_ : value_; }

 private:
  T const* device_ = nullptr;
  T value_{};
};

// A result of a call, in memory of the host or of the device.
template <class T>
struct Result {
  T* to;
  bool device;
  Result(Handle const& handle, T* given) : to(given), device(handle.pointers == PointerMode::device) {}
  void add_to(LibraryCall& call, std::string_view name) const {
    if (device) call.operands.push_back({name, to, sizeof(T), sizeof(T), false, true});
  }
};

template <class T>
inline constexpr char const* name_of = "";
template <>
inline constexpr char const* name_of<float> = "f32";
template <>
inline constexpr char const* name_of<double> = "f64";
template <>
inline constexpr char const* name_of<hostmath::Half> = "f16";
template <>
inline constexpr char const* name_of<hostmath::BFloat> = "bf16";
template <>
inline constexpr char const* name_of<C32> = "c32";
template <>
inline constexpr char const* name_of<C64> = "c64";

template <class T>
inline constexpr double flop_of_product = hostmath::is_complex<T> ? 8 : 2;  // with its addition

}  // namespace kernelcast::cudart::blas
