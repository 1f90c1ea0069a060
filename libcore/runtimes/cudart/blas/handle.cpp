#include "runtimes/cudart/blas/handle.hpp"

#include <mutex>
#include <unordered_map>

#include "runtimes/cudart/call.hpp"

namespace kernelcast::cudart::blas {

namespace {

// Never destroyed: an application may call at the very end. Guarded by the lock of all calls.
auto& handles() {
  static auto* const all = new std::unordered_map<Handle const*, std::unique_ptr<Handle>>;
  return *all;
}

}  // namespace

Handle* add_handle() {
  std::lock_guard const lock(call_mutex());
  auto made = std::make_unique<Handle>();
  auto* const out = made.get();
  handles()[out] = std::move(made);
  return out;
}

bool remove(Handle* handle) {
  std::lock_guard const lock(call_mutex());
  return handles().erase(handle) > 0;
}

bool known(Handle const* handle) {
  std::lock_guard const lock(call_mutex());
  return handles().contains(handle);
}

Status status_of(Code code) {
  switch (code) {
    case Code::success:
      return Status::success;
    case Code::memory_allocation:
      return Status::alloc_failed;
    case Code::invalid_value:
      return Status::invalid_value;
    case Code::no_device:
      return Status::not_initialized;
    default:
      return Status::execution_failed;
  }
}

Status refused(std::string const& call, std::string_view what) {
  library_lacks("cuBLAS", call, what);
  return Status::not_supported;
}

}  // namespace kernelcast::cudart::blas
