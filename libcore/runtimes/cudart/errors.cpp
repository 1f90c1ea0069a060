#include "runtimes/cudart/errors.hpp"

#include <cstdio>
#include <mutex>
#include <set>

namespace kernelcast::cudart {

namespace {
thread_local Code last = Code::success;
thread_local bool called = false;
}  // namespace

char const* official_name(Code code) {
  switch (code) {
#define KERNELCAST_CUDA_ERROR(number, name, official, driver, text) \
  case Code::name:                                                  \
    return #official;
#include "kernels/cuda/error_codes.def"
#undef KERNELCAST_CUDA_ERROR
  }
  return "unrecognized error code";
}

char const* driver_name(Code code) {
  std::string_view name;
  switch (code) {
#define KERNELCAST_CUDA_ERROR(number, our_name, official, driver, text) \
  case Code::our_name:                                                  \
    name = #driver;                                                     \
    break;
#include "kernels/cuda/error_codes.def"
#undef KERNELCAST_CUDA_ERROR
  }
  return name.empty() || name == "none" ? nullptr : name.data();
}

char const* description(Code code) {
  switch (code) {
#define KERNELCAST_CUDA_ERROR(number, name, official, driver, text) \
  case Code::name:                                                  \
    return text;
#include "kernels/cuda/error_codes.def"
#undef KERNELCAST_CUDA_ERROR
  }
  return "unrecognized error code";
}

Code remembered(Code code) {
  called = true;
  if (code != Code::success) last = code;
  return code;
}

Code last_error() {
  return last;
}

Code take_last_error() {
  Code const code = last;
  last = Code::success;
  return code;
}

bool runtime_called() {
  return called;
}

LastErrorKept::LastErrorKept() : before_(last), called_(called) {}
LastErrorKept::~LastErrorKept() {
  last = before_;
  called = called_;
}

Code code_of(emu::Finding::Kind kind) {
  using enum emu::Finding::Kind;
  switch (kind) {
    case out_of_bounds:
    case use_after_free:
    case invalid_free:
      return Code::illegal_address;
    case misaligned:
      return Code::misaligned_address;
    case unknown_opcode:
      return Code::illegal_instruction;
    case assertion:
      return Code::assert;
    case stack_overflow:
      return Code::hardware_stack_error;
    case deadlock:
    case limit:
      return Code::launch_timeout;
    default:
      return Code::launch_failure;
  }
}

void report(std::string const& text) {
  static std::mutex mutex;
  static auto* const reported = new std::set<std::string>;
  std::lock_guard const lock(mutex);
  if (reported->insert(text).second) std::fprintf(stderr, "miniemu: %s\n", text.c_str());
}

Code unsupported(std::string_view call) {
  report(std::string(call) + " is not supported on the emulator");
  return remembered(Code::not_supported);
}

}  // namespace kernelcast::cudart
