// Shared virtual memory: allocations and the commands on them.
#include <algorithm>
#include <map>

#include "runtimes/opencl/copies.hpp"
#include "runtimes/opencl/memory.hpp"

namespace kernelcast::opencl {

namespace {

std::map<std::uint64_t, std::uint64_t>& allocations() {  // of shared virtual memory: begin, bytes
  static auto* const all = new std::map<std::uint64_t, std::uint64_t>;
  return *all;
}

void require_allocation(void const* pointer, std::size_t bytes) {
  auto const [begin, all] = allocation_of(pointer);
  require(begin != 0 && inside(reinterpret_cast<std::uint64_t>(pointer) - begin, bytes, all), CL_INVALID_VALUE);
}

}  // namespace

std::pair<std::uint64_t, std::uint64_t> allocation_of(void const* pointer) {
  auto const address = reinterpret_cast<std::uint64_t>(pointer);
  auto after = allocations().upper_bound(address);
  if (after == allocations().begin()) return {};
  auto const [begin, bytes] = *--after;
  return address - begin < bytes ? std::pair{begin, bytes} : std::pair<std::uint64_t, std::uint64_t>{};
}

namespace api {

void* CL_API_CALL clSVMAlloc(cl_context context, cl_svm_mem_flags flags, std::size_t bytes, cl_uint alignment) {
  void* out = nullptr;
  call([&](Lock&) {
    auto const& in = known_context(context);
    constexpr cl_svm_mem_flags coarse = CL_MEM_READ_WRITE | CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY;
    require(bytes > 0 && (flags & ~coarse) == 0 && !more_than_one(flags, coarse) && alignment <= 256 &&
                (alignment & (alignment - 1)) == 0,
            CL_INVALID_VALUE);
    check_size(in, bytes);
    auto const address = shared().memory.add(next_name("shared virtual memory"), bytes);
    allocations()[address] = bytes;
    out = reinterpret_cast<void*>(address);
  });
  return out;
}
void CL_API_CALL clSVMFree(cl_context, void* pointer) {
  call([&](Lock&) {
    auto const address = reinterpret_cast<std::uint64_t>(pointer);
    if (allocations().erase(address)) shared().memory.remove(address);
  });
}

cl_int CL_API_CALL clEnqueueSVMFree(cl_command_queue given, cl_uint count, void* pointers[],
                                    void(CL_CALLBACK* function)(cl_command_queue, cl_uint, void*[], void*), void* data,
                                    cl_uint waits, cl_event const* list, cl_event* event) {
  return call([&](Lock& lock) {
    auto& queue = queue_of(given);
    require(count > 0 && pointers, CL_INVALID_VALUE);
    std::vector<void*> all(pointers, pointers + count);
    return enqueue(lock, {&queue, CL_COMMAND_SVM_FREE, waits, list, event}, [=]() {
      shared().due.emplace_back([=]() mutable {
        if (function) return function(given, count, all.data(), data);
        for (auto* pointer : all) api::clSVMFree(nullptr, pointer);
      });
      return CL_SUCCESS;
    });
  });
}

cl_int CL_API_CALL clEnqueueSVMMemcpy(cl_command_queue given, cl_bool blocking, void* to, void const* from,
                                      std::size_t bytes, cl_uint waits, cl_event const* list, cl_event* event) {
  return call([&](Lock& lock) {
    auto& queue = queue_of(given);
    require(to && from, CL_INVALID_VALUE);
    auto const *const a = static_cast<std::byte const*>(to), *const b = static_cast<std::byte const*>(from);
    require(a + bytes <= b || b + bytes <= a, CL_MEM_COPY_OVERLAP);
    return enqueue(lock, {&queue, CL_COMMAND_SVM_MEMCPY, waits, list, event, blocking != CL_FALSE}, [=] {
      std::memmove(to, from, bytes);
      return CL_SUCCESS;
    });
  });
}

cl_int CL_API_CALL clEnqueueSVMMemFill(cl_command_queue given, void* to, void const* pattern, std::size_t pattern_bytes,
                                       std::size_t bytes, cl_uint waits, cl_event const* list, cl_event* event) {
  return call([&](Lock& lock) {
    auto& queue = queue_of(given);
    auto with = pattern_of(pattern, pattern_bytes);
    require(to && bytes % pattern_bytes == 0 && reinterpret_cast<std::uint64_t>(to) % pattern_bytes == 0,
            CL_INVALID_VALUE);
    require_allocation(to, bytes);
    return enqueue(lock, {&queue, CL_COMMAND_SVM_MEMFILL, waits, list, event}, [to, bytes, with = std::move(with)] {
      fill(static_cast<std::byte*>(to), bytes, with);
      return CL_SUCCESS;
    });
  });
}

cl_int CL_API_CALL clEnqueueSVMMap(cl_command_queue given, cl_bool blocking, cl_map_flags, void* pointer,
                                   std::size_t bytes, cl_uint waits, cl_event const* list, cl_event* event) {
  return call([&](Lock& lock) {
    auto& queue = queue_of(given);
    require(bytes > 0, CL_INVALID_VALUE);
    require_allocation(pointer, bytes);
    return enqueue(lock, {&queue, CL_COMMAND_SVM_MAP, waits, list, event, blocking != CL_FALSE}, nothing);
  });
}
cl_int CL_API_CALL clEnqueueSVMUnmap(cl_command_queue given, void* pointer, cl_uint waits, cl_event const* list,
                                     cl_event* event) {
  return call([&](Lock& lock) {
    auto& queue = queue_of(given);
    require_allocation(pointer, 1);
    return enqueue(lock, {&queue, CL_COMMAND_SVM_UNMAP, waits, list, event}, nothing);
  });
}
cl_int CL_API_CALL clEnqueueSVMMigrateMem(cl_command_queue given, cl_uint count, void const** pointers,
                                          std::size_t const*, cl_mem_migration_flags, cl_uint waits,
                                          cl_event const* list, cl_event* event) {
  return call([&](Lock& lock) {
    auto& queue = queue_of(given);
    require(count > 0 && pointers, CL_INVALID_VALUE);
    for (cl_uint i = 0; i < count; ++i) require_allocation(pointers[i], 1);
    return enqueue(lock, {&queue, CL_COMMAND_SVM_MIGRATE_MEM, waits, list, event}, nothing);
  });
}

}  // namespace api
}  // namespace kernelcast::opencl
