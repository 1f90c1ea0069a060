// CUPTI, by which profilers watch a driver: programs ask for its version before they begin (JAX does), and what watches
// is refused.
#include <cstdint>

#include "kernels/cuda/abi.hpp"

namespace {

enum class Result : int { success = 0, invalid_parameter = 1, not_supported = 27 };

// [cupti] cupti_version.h: of CUDA 12.8, and of 13.5.
constexpr std::uint32_t version = KERNELCAST_LIBRARY_VERSION == 12 ? 26 : 130500;

}  // namespace

KERNELCAST_CUDA_EXPORT Result cuptiGetVersion(std::uint32_t* out) {
  if (!out) return Result::invalid_parameter;
  *out = version;
  return Result::success;
}

KERNELCAST_CUDA_EXPORT Result cuptiGetResultString(Result result, char const** out) {
  if (!out) return Result::invalid_parameter;
  *out = result == Result::success ? "CUPTI_SUCCESS" : "CUPTI_ERROR_NOT_SUPPORTED";
  return Result::success;
}

// What profilers call (PyTorch's is linked with these).
#define REFUSED(function)                    \
  KERNELCAST_CUDA_EXPORT Result function() { \
    return Result::not_supported;            \
  }
REFUSED(cuptiActivityDisable)
REFUSED(cuptiActivityEnable)
REFUSED(cuptiActivityEnableCudaEventDeviceTimestamps)
REFUSED(cuptiActivityEnableDriverApi)
REFUSED(cuptiActivityEnableRuntimeApi)
REFUSED(cuptiActivityFlushAll)
REFUSED(cuptiActivityGetNextRecord)
REFUSED(cuptiActivityGetNumDroppedRecords)
REFUSED(cuptiActivityPopExternalCorrelationId)
REFUSED(cuptiActivityPushExternalCorrelationId)
REFUSED(cuptiActivityRegisterCallbacks)
REFUSED(cuptiActivityRegisterTimestampCallback)
REFUSED(cuptiActivitySetAttribute)
REFUSED(cuptiEnableCallback)
REFUSED(cuptiEnableDomain)
REFUSED(cuptiFinalize)
REFUSED(cuptiGetCallbackName)
REFUSED(cuptiProfilerInitialize)
REFUSED(cuptiSubscribe)
REFUSED(cuptiSubscribe_v2)
REFUSED(cuptiUnsubscribe)
