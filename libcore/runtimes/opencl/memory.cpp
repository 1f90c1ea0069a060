// Buffers, parts of them, and what is asked of all memory objects.
#include <algorithm>

#include <fmt/format.h>

#include "runtimes/opencl/memory.hpp"

using namespace kernelcast::opencl;

_cl_mem::~_cl_mem() {
  auto& all = shared();
  if (handle) all.memory.images().remove(handle);
  if (owns) all.memory.remove(address);
  all.due.insert(all.due.end(), destructors.rbegin(), destructors.rend());
}

void _cl_mem::released() {
  if (held > arguments) return;
  lent.reset();  // the application may free it
  auto& due = shared().due;
  due.insert(due.end(), destructors.rbegin(), destructors.rend());
  destructors.clear();
}

namespace kernelcast::opencl {

ArgumentMemory::ArgumentMemory(_cl_mem* memory) : held_(memory) {
  if (memory) ++memory->arguments;
}
ArgumentMemory::~ArgumentMemory() {
  if (held_) --held_->arguments;
}

std::string next_name(char const* kind) {
  static unsigned count = 0;
  return fmt::format("{} {}", kind, ++count);
}

void check_flags(cl_mem_flags flags, void const* host) {
  require((flags & ~(of_device | of_host | of_place | CL_MEM_KERNEL_READ_AND_WRITE)) == 0, CL_INVALID_VALUE);
  require(!more_than_one(flags, of_device) && !more_than_one(flags, of_host), CL_INVALID_VALUE);
  require((flags & CL_MEM_USE_HOST_PTR) == 0 || (flags & (CL_MEM_COPY_HOST_PTR | CL_MEM_ALLOC_HOST_PTR)) == 0,
          CL_INVALID_VALUE);
  require((host != nullptr) == ((flags & (CL_MEM_USE_HOST_PTR | CL_MEM_COPY_HOST_PTR)) != 0), CL_INVALID_HOST_PTR);
}

void check_size(_cl_context const& context, std::size_t bytes) {
  for (auto const* device : context.devices) require(bytes <= device->max_allocation_bytes(), CL_INVALID_BUFFER_SIZE);
}

namespace {

std::map<std::uint64_t, std::weak_ptr<void>>& lent_places() {
  static auto* const all = new std::map<std::uint64_t, std::weak_ptr<void>>;
  return *all;
}

struct Lent {
  std::uint64_t address;
  explicit Lent(std::uint64_t at) : address(at) {}
  Lent(Lent const&) = delete;
  ~Lent() {
    lent_places().erase(address);
    shared().memory.remove(address);
  }
};

}  // namespace

void place(_cl_mem& memory, std::string name, std::size_t bytes, void* host) {
  auto& all = shared().memory;
  memory.bytes = bytes;
  if (memory.flags & CL_MEM_USE_HOST_PTR) {
    memory.host = host;
    if (all.lend(name, host, bytes)) {
      memory.address = reinterpret_cast<std::uint64_t>(host);
      memory.lent = std::make_shared<Lent>(memory.address);
      lent_places()[memory.address] = memory.lent;
      return;
    }
    auto const* const there = all.find(reinterpret_cast<std::uint64_t>(host));
    if (there && reinterpret_cast<std::uint64_t>(host) - there->address + bytes <= there->size) {
      memory.address = reinterpret_cast<std::uint64_t>(host);  // another object's, or shared virtual memory
      if (auto const at = lent_places().find(there->address); at != lent_places().end())
        memory.lent = at->second.lock();
      return;
    }
  }
  memory.address = all.add(std::move(name), bytes);
  memory.owns = true;
}

namespace {

// A part may do no more than the whole; what is not said is the whole's.
cl_mem_flags flags_of_part(cl_mem_flags flags, cl_mem_flags whole) {
  require((flags & ~(of_device | of_host)) == 0 && !more_than_one(flags, of_device) && !more_than_one(flags, of_host),
          CL_INVALID_VALUE);
  require((whole & CL_MEM_WRITE_ONLY) == 0 || (flags & (CL_MEM_READ_ONLY | CL_MEM_READ_WRITE)) == 0, CL_INVALID_VALUE);
  require((whole & CL_MEM_READ_ONLY) == 0 || (flags & (CL_MEM_WRITE_ONLY | CL_MEM_READ_WRITE)) == 0, CL_INVALID_VALUE);
  require((whole & CL_MEM_HOST_WRITE_ONLY) == 0 || (flags & CL_MEM_HOST_READ_ONLY) == 0, CL_INVALID_VALUE);
  require((whole & CL_MEM_HOST_READ_ONLY) == 0 || (flags & CL_MEM_HOST_WRITE_ONLY) == 0, CL_INVALID_VALUE);
  require((whole & CL_MEM_HOST_NO_ACCESS) == 0 || (flags & (CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_WRITE_ONLY)) == 0,
          CL_INVALID_VALUE);
  cl_mem_flags out = flags | (whole & of_place);
  if ((flags & of_device) == 0) out |= whole & of_device;
  if ((flags & of_host) == 0) out |= whole & of_host;
  return out;
}

// Intel's CL_MEM_ALLOW_UNRESTRICTED_SIZE_INTEL, which Khronos' headers lack: a buffer above the largest allocation.
constexpr cl_mem_flags unrestricted_size_intel = 1 << 23;

bool allows_any_size(_cl_context const& context, cl_mem_flags flags) {
  auto const of_intel = [](cl_device_id device) { return device->facts.vendor == "Intel"; };
  return (flags & unrestricted_size_intel) != 0 && std::ranges::all_of(context.devices, of_intel);
}

cl_mem make_buffer(cl_context given, cl_mem_flags flags, std::size_t bytes, void* host,
                   std::vector<cl_mem_properties> properties) {
  auto& context = known_context(given);
  bool const any_size = allows_any_size(context, flags);
  check_flags(any_size ? flags & ~unrestricted_size_intel : flags, host);
  require(bytes > 0, CL_INVALID_BUFFER_SIZE);
  if (!any_size) check_size(context, bytes);
  for (auto const* device : context.devices) require(bytes <= device->memory_bytes(), CL_INVALID_BUFFER_SIZE);
  auto made = std::make_unique<_cl_mem>();
  made->context = &context;
  made->flags = completed(flags);
  made->properties = std::move(properties);
  place(*made, next_name("buffer"), bytes, host);
  if (host && made->data() != host) std::memcpy(made->data(), host, bytes);
  return made.release();
}

}  // namespace

namespace api {

cl_mem CL_API_CALL clCreateBuffer(cl_context context, cl_mem_flags flags, std::size_t bytes, void* host,
                                  cl_int* error) {
  return make(error, [&](Lock&) { return make_buffer(context, flags, bytes, host, {}); });
}
cl_mem CL_API_CALL clCreateBufferWithProperties(cl_context context, cl_mem_properties const* properties,
                                                cl_mem_flags flags, std::size_t bytes, void* host, cl_int* error) {
  return make(error, [&](Lock&) {
    require(!properties || !*properties, CL_INVALID_PROPERTY);
    return make_buffer(context, flags, bytes, host, list_of(properties));
  });
}

cl_mem CL_API_CALL clCreateSubBuffer(cl_mem given, cl_mem_flags flags, cl_buffer_create_type type, void const* region,
                                     cl_int* error) {
  return make(error, [&](Lock&) {
    auto& parent = known_buffer(given);
    require(!parent.parent, CL_INVALID_MEM_OBJECT);
    require(type == CL_BUFFER_CREATE_TYPE_REGION && region, CL_INVALID_VALUE);
    auto const& [origin, bytes] = *static_cast<cl_buffer_region const*>(region);
    require(bytes > 0, CL_INVALID_BUFFER_SIZE);
    require(origin <= parent.bytes && bytes <= parent.bytes - origin, CL_INVALID_VALUE);
    require(origin % 256 == 0, CL_MISALIGNED_SUB_BUFFER_OFFSET);
    auto made = std::make_unique<_cl_mem>();
    made->context = parent.context;
    made->parent = &parent;
    made->flags = flags_of_part(flags, parent.flags);
    made->host = parent.host ? static_cast<std::byte*>(parent.host) + origin : nullptr;
    made->address = parent.address + origin;
    made->bytes = bytes;
    made->offset = origin;
    return made.release();
  });
}

cl_mem CL_API_CALL clCreatePipe(cl_context, cl_mem_flags, cl_uint, cl_uint, cl_pipe_properties const*, cl_int* error) {
  return make(error, [&](Lock&) -> cl_mem {
    report("clCreatePipe: pipes are not there on the emulator");
    throw Refusal{CL_INVALID_OPERATION};
  });
}
cl_int CL_API_CALL clGetPipeInfo(cl_mem, cl_pipe_info, std::size_t, void*, std::size_t*) {
  return CL_INVALID_MEM_OBJECT;
}

cl_int CL_API_CALL clRetainMemObject(cl_mem memory) {
  return retain(memory, Kind::memory, CL_INVALID_MEM_OBJECT);
}
cl_int CL_API_CALL clReleaseMemObject(cl_mem memory) {
  return release(memory, Kind::memory, CL_INVALID_MEM_OBJECT);
}
cl_int CL_API_CALL clSetMemObjectDestructorCallback(cl_mem given, void(CL_CALLBACK* function)(cl_mem, void*),
                                                    void* data) {
  return call([&](Lock&) {
    auto& memory = known_memory(given);
    require(function != nullptr, CL_INVALID_VALUE);
    memory.destructors.emplace_back([=] { function(given, data); });
  });
}

cl_int CL_API_CALL clGetMemObjectInfo(cl_mem given, cl_mem_info what, std::size_t capacity, void* value,
                                      std::size_t* bytes) {
  return call([&](Lock&) {
    auto const& memory = known_memory(given);
    Answer const answer{capacity, value, bytes};
    switch (what) {
      case CL_MEM_TYPE:
        return answer(memory.type);
      case CL_MEM_FLAGS:
        return answer(memory.flags);
      case CL_MEM_SIZE:
        return answer(memory.bytes);
      case CL_MEM_HOST_PTR:
        return answer(memory.host);
      case CL_MEM_MAP_COUNT:
        return answer(static_cast<cl_uint>(memory.maps.size()));
      case CL_MEM_REFERENCE_COUNT:
        return answer(memory.references);
      case CL_MEM_CONTEXT:
        return answer(memory.context.get());
      case CL_MEM_ASSOCIATED_MEMOBJECT:
        return answer(memory.parent.get());
      case CL_MEM_OFFSET:
        return answer(memory.offset);
      case CL_MEM_USES_SVM_POINTER:
        return answer(static_cast<cl_bool>(memory.host && allocation_of(memory.host).first != 0));
      case CL_MEM_PROPERTIES:
        return answer(memory.properties);
      default:
        return cl_int{CL_INVALID_VALUE};
    }
  });
}

}  // namespace api
}  // namespace kernelcast::opencl
