// cuBLAS: handles, what is set in them, and copies between host and device.
#include <cstdio>
#include <cstring>

#include "runtimes/cudart/blas/handle.hpp"
#include "runtimes/cudart/call.hpp"
#include "runtimes/cudart/copies.hpp"
#include "runtimes/cudart/streams.hpp"

using namespace kernelcast::cudart;
using namespace kernelcast::cudart::blas;

namespace {

constexpr int version = KERNELCAST_LIBRARY_VERSION * 10000;

template <class Body>
Status with(Handle* handle, Body const& body) {
  if (!known(handle)) return Status::not_initialized;
  return body(*handle);
}

template <class T>
Status give(Handle* handle, T* to, T Handle::* member) {
  return with(handle, [&](Handle& h) {
    if (!to) return Status::invalid_value;
    *to = h.*member;
    return Status::success;
  });
}
template <class T>
Status take(Handle* handle, T value, T Handle::* member) {
  return with(handle, [&](Handle& h) {
    h.*member = value;
    return Status::success;
  });
}

Status copy(void* to, std::int64_t to_pitch, void const* from, std::int64_t from_pitch, std::int64_t bytes,
            std::int64_t rows, CopyKind kind) {
  if (bytes < 0 || rows < 0 || to_pitch <= 0 || from_pitch <= 0) return Status::invalid_value;
  auto const code = call([&](Copies& copies) {
    auto const width = static_cast<std::size_t>(bytes), height = static_cast<std::size_t>(rows);
    return copies.copy_rows({to, static_cast<std::size_t>(to_pitch)},
                            {const_cast<void*>(from), static_cast<std::size_t>(from_pitch)}, width, height, kind);
  });
  return code == Code::success         ? Status::success
         : code == Code::invalid_value ? Status::invalid_value
                                       : Status::execution_failed;
}

char const* name_of_status(Status status) {
  switch (status) {
    case Status::success:
      return "CUBLAS_STATUS_SUCCESS";
    case Status::not_initialized:
      return "CUBLAS_STATUS_NOT_INITIALIZED";
    case Status::alloc_failed:
      return "CUBLAS_STATUS_ALLOC_FAILED";
    case Status::invalid_value:
      return "CUBLAS_STATUS_INVALID_VALUE";
    case Status::execution_failed:
      return "CUBLAS_STATUS_EXECUTION_FAILED";
    case Status::internal_error:
      return "CUBLAS_STATUS_INTERNAL_ERROR";
    case Status::not_supported:
      return "CUBLAS_STATUS_NOT_SUPPORTED";
  }
  return "CUBLAS_STATUS_UNKNOWN";
}

}  // namespace

KERNELCAST_CUDA_EXPORT Status cublasCreate_v2(Handle** handle) {
  if (!handle) return Status::invalid_value;
  if (auto const code = call([](Streams&) { return Code::success; }); code == Code::no_device)
    return Status::not_initialized;
  *handle = add_handle();
  return Status::success;
}
KERNELCAST_CUDA_EXPORT Status cublasDestroy_v2(Handle* handle) {
  return remove(handle) ? Status::success : Status::not_initialized;
}
KERNELCAST_CUDA_EXPORT Status cublasSetStream_v2(Handle* handle, Stream stream) {
  return take(handle, stream, &Handle::stream);
}
KERNELCAST_CUDA_EXPORT Status cublasGetStream_v2(Handle* handle, Stream* stream) {
  return give(handle, stream, &Handle::stream);
}
KERNELCAST_CUDA_EXPORT Status cublasSetPointerMode_v2(Handle* handle, PointerMode mode) {
  if (mode != PointerMode::host && mode != PointerMode::device) return Status::invalid_value;
  return take(handle, mode, &Handle::pointers);
}
KERNELCAST_CUDA_EXPORT Status cublasGetPointerMode_v2(Handle* handle, PointerMode* mode) {
  return give(handle, mode, &Handle::pointers);
}
KERNELCAST_CUDA_EXPORT Status cublasSetMathMode(Handle* handle, int mode) {
  return take(handle, mode, &Handle::math);
}
KERNELCAST_CUDA_EXPORT Status cublasGetMathMode(Handle* handle, int* mode) {
  return give(handle, mode, &Handle::math);
}
KERNELCAST_CUDA_EXPORT Status cublasSetAtomicsMode(Handle* handle, int mode) {
  return take(handle, mode, &Handle::atomics);
}
KERNELCAST_CUDA_EXPORT Status cublasGetAtomicsMode(Handle* handle, int* mode) {
  return give(handle, mode, &Handle::atomics);
}
KERNELCAST_CUDA_EXPORT Status cublasSetWorkspace_v2(Handle* handle, void*, std::size_t) {
  return with(handle, [](Handle&) { return Status::success; });
}
// How types are emulated by others changes nothing here: 0 is what a new handle has.
#define EMULATION(setting, Type)                                               \
  KERNELCAST_CUDA_EXPORT Status cublasSet##setting(Handle* handle, Type) {     \
    return with(handle, [](Handle&) { return Status::success; });              \
  }                                                                            \
  KERNELCAST_CUDA_EXPORT Status cublasGet##setting(Handle* handle, Type* to) { \
    if (!to) return Status::invalid_value;                                     \
    *to = 0;                                                                   \
    return with(handle, [](Handle&) { return Status::success; });              \
  }
EMULATION(EmulationStrategy, int)
EMULATION(EmulationSpecialValuesSupport, int)
EMULATION(FixedPointEmulationMantissaControl, int)
EMULATION(FixedPointEmulationMaxMantissaBitCount, int)
EMULATION(FixedPointEmulationMantissaBitOffset, int)
EMULATION(FixedPointEmulationMantissaBitCountPointer, int*)
// Without a declaration in cuBLAS's headers; cuSOLVER calls it.
KERNELCAST_CUDA_EXPORT Status cublasSetEnvironmentMode(Handle*, int) {
  return Status::success;
}
KERNELCAST_CUDA_EXPORT Status cublasSetSmCountTarget(Handle* handle, int) {
  return with(handle, [](Handle&) { return Status::success; });
}
KERNELCAST_CUDA_EXPORT Status cublasGetVersion_v2(Handle*, int* to) {
  if (!to) return Status::invalid_value;
  *to = version;
  return Status::success;
}
KERNELCAST_CUDA_EXPORT Status cublasGetProperty(int which, int* to) {
  if (!to || which < 0 || which > 2) return Status::invalid_value;
  *to = which == 0 ? KERNELCAST_LIBRARY_VERSION : 0;
  return Status::success;
}
KERNELCAST_CUDA_EXPORT std::size_t cublasGetCudartVersion() {
  return KERNELCAST_LIBRARY_VERSION * 1000;
}
KERNELCAST_CUDA_EXPORT char const* cublasGetStatusName(Status status) {
  return name_of_status(status);
}
KERNELCAST_CUDA_EXPORT char const* cublasGetStatusString(Status status) {
  return name_of_status(status);
}
KERNELCAST_CUDA_EXPORT Status cublasLoggerConfigure(int, int, int, char const*) {
  return Status::success;
}
KERNELCAST_CUDA_EXPORT Status cublasSetLoggerCallback(void*) {
  return Status::success;
}

#define KERNELCAST_COPIES(Int, wide)                                                                                 \
  KERNELCAST_CUDA_EXPORT Status cublasSetVector##wide(Int n, Int size, void const* x, Int incx, void* y, Int incy) { \
    return copy(y, std::int64_t{incy} * size, x, std::int64_t{incx} * size, size, n, CopyKind::host_to_device);      \
  }                                                                                                                  \
  KERNELCAST_CUDA_EXPORT Status cublasGetVector##wide(Int n, Int size, void const* x, Int incx, void* y, Int incy) { \
    return copy(y, std::int64_t{incy} * size, x, std::int64_t{incx} * size, size, n, CopyKind::device_to_host);      \
  }                                                                                                                  \
  KERNELCAST_CUDA_EXPORT Status cublasSetMatrix##wide(Int rows, Int columns, Int size, void const* a, Int lda,       \
                                                      void* b, Int ldb) {                                            \
    return copy(b, std::int64_t{ldb} * size, a, std::int64_t{lda} * size, std::int64_t{rows} * size, columns,        \
                CopyKind::host_to_device);                                                                           \
  }                                                                                                                  \
  KERNELCAST_CUDA_EXPORT Status cublasGetMatrix##wide(Int rows, Int columns, Int size, void const* a, Int lda,       \
                                                      void* b, Int ldb) {                                            \
    return copy(b, std::int64_t{ldb} * size, a, std::int64_t{lda} * size, std::int64_t{rows} * size, columns,        \
                CopyKind::device_to_host);                                                                           \
  }                                                                                                                  \
  KERNELCAST_CUDA_EXPORT Status cublasSetVectorAsync##wide(Int n, Int size, void const* x, Int incx, void* y,        \
                                                           Int incy, Stream) {                                       \
    return cublasSetVector##wide(n, size, x, incx, y, incy);                                                         \
  }                                                                                                                  \
  KERNELCAST_CUDA_EXPORT Status cublasGetVectorAsync##wide(Int n, Int size, void const* x, Int incx, void* y,        \
                                                           Int incy, Stream) {                                       \
    return cublasGetVector##wide(n, size, x, incx, y, incy);                                                         \
  }                                                                                                                  \
  KERNELCAST_CUDA_EXPORT Status cublasSetMatrixAsync##wide(Int rows, Int columns, Int size, void const* a, Int lda,  \
                                                           void* b, Int ldb, Stream) {                               \
    return cublasSetMatrix##wide(rows, columns, size, a, lda, b, ldb);                                               \
  }                                                                                                                  \
  KERNELCAST_CUDA_EXPORT Status cublasGetMatrixAsync##wide(Int rows, Int columns, Int size, void const* a, Int lda,  \
                                                           void* b, Int ldb, Stream) {                               \
    return cublasGetMatrix##wide(rows, columns, size, a, lda, b, ldb);                                               \
  }
KERNELCAST_COPIES(int, )
KERNELCAST_COPIES(std::int64_t, _64)
