// OpenCL's objects on the emulator, and what the calls that work on them share.
//
// Problem: an OpenCL program without an OpenCL device, or one that is to meet the device that it is asked about.
// Method: an installable client driver (ICD). Device memory is the host's own (emu::Memory::Addresses::of_host), so
// that mapping and shared virtual memory cost nothing; commands run, in the thread that makes them ready, as soon as
// what they wait for is done. Limits: see platform.cpp.
//
// One lock guards all objects; every call takes it (call(), make()), and calls of the application's functions are made
// when it is free again.
#pragma once

#include <CL/cl.h>
#include <CL/cl_icd.h>

#include <array>
#include <condition_variable>
#include <cstdint>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/diag/diag.hpp"
#include "emulator/emu.hpp"
#include "emulator/image.hpp"
#include "kernels/frontend/frontend.hpp"
#include "kernels/ptx/pointers.hpp"
#include "records/device/device.hpp"

namespace kernelcast::opencl {

extern cl_icd_dispatch const dispatch;

enum class Kind : std::uint32_t {
  platform = 0x6b63a001,
  device,
  context,
  queue,
  memory,
  sampler,
  program,
  kernel,
  event
};

// What each handle points to: the loader reads the first member.
struct Object {
  cl_icd_dispatch const* table = &dispatch;
  Kind kind;
  cl_uint references = 1;  // the application's
  cl_uint held = 0;        // by other objects and by commands

  explicit Object(Kind k) : kind(k) {}
  Object(Object const&) = delete;
};

// What becomes of an object that lost a reference.
template <class T>
void check_needed(T& object) {
  if (object.references > 0) return;
  if (object.held == 0)
    delete &object;
  else if constexpr (requires { object.released(); })
    object.released();
}

// Keeps an object while it is needed, whatever the application releases.
template <class T>
class Held {
 public:
  Held() = default;
  Held(T* object) : object_(object) {
    if (object_) ++object_->held;
  }
  Held(Held const& other) : Held(other.object_) {}
  Held(Held&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Held& operator=(Held other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Held() {
    if (!object_) return;
    --object_->held;
    check_needed(*object_);
  }
  T* get() const { return object_; }
  T* operator->() const { return object_; }
  T& operator*() const { return *object_; }
  explicit operator bool() const { return object_ != nullptr; }

 private:
  T* object_ = nullptr;
};

// An OpenCL error code on its way to the application.
struct Refusal {
  cl_int code;
};
inline void require(bool holds, cl_int code) {
  if (!holds) throw Refusal{code};
}

using Lock = std::unique_lock<std::mutex>;
using Callbacks = std::vector<std::function<void()>>;

// What calls share, under the lock.
struct Shared {
  std::mutex mutex;
  std::condition_variable changed;  // an event has ended
  Callbacks due;                    // of the application, for when the lock is free
  emu::Memory memory;
  std::vector<cl_command_queue> queues;  // all that there are

  Shared();
};
Shared& shared();

// Unlocks, makes the application's calls that are due, and locks again; false where none was.
bool run_callbacks(Lock&);
// On standard error, once for each text.
void report(std::string const& text);

// Of this thread's call.
inline thread_local Lock* current_lock = nullptr;
struct CurrentLock {
  Lock* before;
  explicit CurrentLock(Lock& lock) : before(std::exchange(current_lock, &lock)) {}
  ~CurrentLock() { current_lock = before; }
  CurrentLock(CurrentLock const&) = delete;
};

template <class Body>
cl_int guarded(Body const& body) noexcept {
  try {
    return body();
  } catch (Refusal const& refusal) {
    return refusal.code;
  } catch (std::bad_alloc const&) {
    return CL_OUT_OF_HOST_MEMORY;
  } catch (Error const& error) {
    report(error.text("OpenCL"));
    return error.status() == Status::limit ? CL_MEM_OBJECT_ALLOCATION_FAILURE : CL_OUT_OF_RESOURCES;
  } catch (std::exception const& error) {
    report(error.what());
    return CL_OUT_OF_RESOURCES;
  }
}

// A call that gives a status. `body` gets the lock.
template <class Body>
cl_int call(Body const& body) noexcept {
  return guarded([&] {
    Lock lock(shared().mutex);
    CurrentLock const current(lock);
    cl_int const status = guarded([&] {
      if constexpr (std::is_void_v<decltype(body(lock))>) {
        body(lock);
        return CL_SUCCESS;
      } else {
        return body(lock);
      }
    });
    while (run_callbacks(lock)) {
    }
    return status;
  });
}

// A call that gives an object: `body` makes it.
template <class Body>
auto make(cl_int* error, Body const& body) noexcept -> decltype(body(std::declval<Lock&>())) {
  decltype(body(std::declval<Lock&>())) made = nullptr;
  cl_int const status = call([&](Lock& lock) { made = body(lock); });
  if (error) *error = status;
  return status == CL_SUCCESS ? made : nullptr;
}

// The object behind a handle; throws Refusal for none.
template <class T>
T& known(T* handle, Kind kind, cl_int otherwise) {
  require(handle && handle->kind == kind, otherwise);
  return *handle;
}
template <class T>
cl_int retain(T* handle, Kind kind, cl_int otherwise) {
  return call([&](Lock&) { ++known(handle, kind, otherwise).references; });
}
template <class T>
cl_int release(T* handle, Kind kind, cl_int otherwise) {
  return call([&](Lock&) {
    auto& object = known(handle, kind, otherwise);
    require(object.references > 0, otherwise);
    --object.references;
    check_needed(object);
  });
}

// Gives a value as clGet…Info does.
struct Answer {
  std::size_t capacity;
  void* value;
  std::size_t* bytes;

  cl_int raw(void const* data, std::size_t size) const {
    require(!value || capacity >= size, CL_INVALID_VALUE);
    if (value && size > 0) std::memcpy(value, data, size);
    if (bytes) *bytes = size;
    return CL_SUCCESS;
  }
  template <class T>
  cl_int operator()(T const& one) const {
    static_assert(std::is_trivially_copyable_v<T> && !std::is_same_v<T, std::string_view>);
    return raw(&one, sizeof one);
  }
  cl_int operator()(std::string const& text) const { return raw(text.c_str(), text.size() + 1); }
  cl_int operator()(char const* text) const { return raw(text, std::strlen(text) + 1); }
  template <class T>
  cl_int operator()(std::vector<T> const& list) const {
    return raw(list.data(), list.size() * sizeof(T));
  }
};

using Range = std::array<std::size_t, 3>;
constexpr std::size_t sub_group_items = 32;  // on the emulator, see shim.cl

// An argument of a kernel, which holds its memory object for launches; for the application the object has ended.
class ArgumentMemory {
 public:
  ArgumentMemory() = default;
  ArgumentMemory(_cl_mem* memory);
  ArgumentMemory(ArgumentMemory const& other) : ArgumentMemory(other.held_.get()) {}
  ArgumentMemory(ArgumentMemory&&) = default;
  ArgumentMemory& operator=(ArgumentMemory other) noexcept {
    std::swap(held_, other.held_);
    return *this;
  }
  ~ArgumentMemory();
  _cl_mem* get() const { return held_.get(); }
  _cl_mem* operator->() const { return held_.get(); }
  explicit operator bool() const { return held_.get() != nullptr; }

 private:
  Held<_cl_mem> held_;
};

// Names and values that end with 0, with the 0.
template <class T>
std::vector<T> list_of(T const* list) {
  std::vector<T> out;
  for (; list && *list; list += 2) out.insert(out.end(), {list[0], list[1]});
  if (list) out.push_back(0);
  return out;
}

// The functions of OpenCL; those of these names outside are the loader's.
namespace api {
#define X(name) decltype(::name) name;
#include "runtimes/attach/opencl/calls.def"
#undef X
}  // namespace api

}  // namespace kernelcast::opencl

struct _cl_platform_id : kernelcast::opencl::Object {
  _cl_platform_id() : Object(kernelcast::opencl::Kind::platform) {}
  std::string vendor;  // as the device database has it: NVIDIA, AMD, Intel
  std::vector<std::unique_ptr<_cl_device_id>> devices;
};

struct _cl_device_id : kernelcast::opencl::Object {
  _cl_device_id(_cl_platform_id& p, kernelcast::device::Device d)
      : Object(kernelcast::opencl::Kind::device), platform(p), facts(std::move(d)) {}
  _cl_platform_id& platform;
  kernelcast::device::Device facts;
  std::uint64_t memory_bytes() const, max_allocation_bytes() const;
  std::size_t max_group_items() const;
  std::size_t preferred_multiple() const;        // of the size of groups
  std::array<std::size_t, 3> max_items() const;  // of a work-group, in each dimension
  std::uint64_t local_bytes() const;             // of a work-group
  cl_uint max_sub_groups() const;                // of a work-group; 0: it claims none
  bool writes_what_it_reads() const;             // read_write images
};

struct _cl_context : kernelcast::opencl::Object {
  _cl_context() : Object(kernelcast::opencl::Kind::context) {}
  ~_cl_context();
  std::vector<cl_device_id> devices;
  std::vector<cl_context_properties> properties;
  std::vector<std::function<void()>> destructors;  // the last first
};

namespace kernelcast::opencl {
std::uint64_t fresh_number();  // that nothing else has had
}

struct _cl_mem : kernelcast::opencl::Object {
  _cl_mem() : Object(kernelcast::opencl::Kind::memory) {}
  ~_cl_mem();
  kernelcast::opencl::Held<_cl_context> context;
  kernelcast::opencl::Held<_cl_mem> parent;  // of a part of a buffer, and of an image of one
  cl_mem_object_type type = CL_MEM_OBJECT_BUFFER;
  cl_mem_flags flags = 0;
  std::vector<cl_mem_properties> properties;
  void* host = nullptr;  // that the application gave, with CL_MEM_USE_HOST_PTR
  std::uint64_t address = 0;
  std::size_t bytes = 0, offset = 0;  // in the parent
  bool owns = false;                  // the memory, and not its parent or the application
  std::shared_ptr<void> lent;         // the application's memory as the emulator knows it, until no object is on it
  std::vector<void*> maps;            // where they begin, each as often as it is mapped
  std::vector<std::function<void()>> destructors;
  cl_uint arguments = 0;                                       // of kernels, that hold it
  void released();                                             // the application has none left
  std::uint64_t content = kernelcast::opencl::fresh_number();  // another whenever it is written to (repeats.hpp)

  // Images: texels, and how far rows and slices are apart here.
  cl_image_format format{};
  cl_image_desc description{};
  std::size_t texel_bytes = 0, row_bytes = 0, slice_bytes = 0;
  std::uint64_t handle = 0;  // emu::Images

  std::byte* data() const { return reinterpret_cast<std::byte*>(address); }
  bool is_image() const { return type != CL_MEM_OBJECT_BUFFER; }
  // Texels, rows (layers of a 1D array), slices (layers).
  kernelcast::opencl::Range extent() const;
};

struct _cl_sampler : kernelcast::opencl::Object {
  _cl_sampler() : Object(kernelcast::opencl::Kind::sampler) {}
  kernelcast::opencl::Held<_cl_context> context;
  cl_bool normalized = CL_TRUE;
  cl_addressing_mode addressing = CL_ADDRESS_CLAMP;
  cl_filter_mode filter = CL_FILTER_NEAREST;
  std::vector<cl_sampler_properties> properties;
  std::uint64_t handle = 0;
};

namespace kernelcast::opencl {

// What was compiled at once: a source with its options.
struct Unit {
  std::string source, options;                               // of OpenCL C, or SPIR-V
  std::vector<std::pair<std::string, std::string>> headers;  // name and text, of clCompileProgram
};

// Code ready to run: PTX, and each kernel decoded when it is first launched.
struct Code {
  std::uint64_t number = fresh_number();
  frontend::Compiled compiled;
  std::map<std::string, std::unique_ptr<emu::Program>, std::less<>> ready;
  Code() = default;
  ~Code();  // its variables go with it
  Code(Code const&) = delete;
  emu::Program const& program(std::string const& kernel);  // throws Error
  // What a kernel can touch; empty where that may be anything.
  std::optional<std::vector<ptx::TouchedPointer>> const& pointers(std::string const& kernel);

 private:
  std::map<std::string, std::optional<std::vector<ptx::TouchedPointer>>, std::less<>> pointers_;
};

}  // namespace kernelcast::opencl

struct _cl_program : kernelcast::opencl::Object {
  _cl_program() : Object(kernelcast::opencl::Kind::program) {}
  kernelcast::opencl::Held<_cl_context> context;
  std::vector<kernelcast::opencl::Unit> units;
  std::string options, log, constants;  // of specialisation, as attach::add_constant() writes them
  cl_build_status status = CL_BUILD_NONE;
  cl_program_binary_type type = CL_PROGRAM_BINARY_TYPE_NONE;
  std::shared_ptr<kernelcast::opencl::Code> code;         // of an executable
  std::shared_ptr<kernelcast::opencl::Code> code_offset;  // whose global ids have the launch's offset
  cl_uint kernels = 0;                                    // that are attached to it
};

struct _cl_kernel : kernelcast::opencl::Object {
  _cl_kernel(_cl_program& p, kernelcast::frontend::KernelInfo const& i);
  ~_cl_kernel() { --program->kernels; }
  kernelcast::opencl::Held<_cl_program> program;
  std::shared_ptr<kernelcast::opencl::Code> code;
  kernelcast::frontend::KernelInfo const& info;
  struct Argument {
    bool set = false;
    std::vector<std::byte> value;
    std::size_t local_bytes = 0;
    kernelcast::opencl::ArgumentMemory memory;
    kernelcast::opencl::Held<_cl_sampler> sampler;
  };
  std::vector<Argument> arguments;
};

struct _cl_command_queue : kernelcast::opencl::Object {
  _cl_command_queue() : Object(kernelcast::opencl::Kind::queue) {}
  ~_cl_command_queue();
  kernelcast::opencl::Held<_cl_context> context;
  cl_device_id device = nullptr;
  cl_command_queue_properties properties = 0;
  std::vector<cl_queue_properties> given;
  bool out_of_order() const { return (properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE) != 0; }

  struct Command {
    kernelcast::opencl::Held<_cl_event> event;
    std::vector<kernelcast::opencl::Held<_cl_event>> waits;  // if one fails, this does
    std::vector<kernelcast::opencl::Held<_cl_event>> after;  // in order alone
    std::function<cl_int()> work;
  };
  bool busy = false;                            // one of its commands runs
  std::deque<Command> commands;                 // that have not run
  kernelcast::opencl::Held<_cl_event> barrier;  // the last one
};

struct _cl_event : kernelcast::opencl::Object {
  _cl_event() : Object(kernelcast::opencl::Kind::event) {}
  kernelcast::opencl::Held<_cl_context> context;
  kernelcast::opencl::Held<_cl_command_queue> queue;  // none: a user event
  cl_command_type type = CL_COMMAND_USER;
  cl_int status = CL_QUEUED;
  bool profiled = false;
  std::array<cl_ulong, 4> times{};  // queued, submitted, begun, ended: nanoseconds of the host's clock
  struct Callback {
    cl_int status;
    void(CL_CALLBACK* function)(cl_event, cl_int, void*);
    void* data;
  };
  std::vector<Callback> callbacks;
  bool ended() const { return status <= CL_COMPLETE; }
};

namespace kernelcast::opencl {

inline _cl_context& known_context(cl_context c) {
  return known(c, Kind::context, CL_INVALID_CONTEXT);
}
inline _cl_device_id& known_device(cl_device_id d) {
  return known(d, Kind::device, CL_INVALID_DEVICE);
}
inline _cl_mem& known_memory(cl_mem m) {
  return known(m, Kind::memory, CL_INVALID_MEM_OBJECT);
}
inline _cl_mem& known_buffer(cl_mem m) {
  auto& memory = known_memory(m);
  require(!memory.is_image(), CL_INVALID_MEM_OBJECT);
  return memory;
}
inline _cl_mem& known_image(cl_mem m) {
  auto& memory = known_memory(m);
  require(memory.is_image(), CL_INVALID_MEM_OBJECT);
  return memory;
}
inline _cl_program& known_program(cl_program p) {
  return known(p, Kind::program, CL_INVALID_PROGRAM);
}
inline _cl_kernel& known_kernel(cl_kernel k) {
  return known(k, Kind::kernel, CL_INVALID_KERNEL);
}
inline _cl_event& known_event(cl_event e) {
  return known(e, Kind::event, CL_INVALID_EVENT);
}
inline _cl_command_queue& known_queue(cl_command_queue q) {
  return known(q, Kind::queue, CL_INVALID_COMMAND_QUEUE);
}

// The devices' platforms, made at the first call.
std::vector<std::unique_ptr<_cl_platform_id>> const& platforms();
void require_type(cl_device_type);  // throws Refusal for one that has no known bit
cl_int device_answer(_cl_device_id&, cl_device_info, Answer const&);
cl_int vendor_answer(_cl_device_id const&, cl_device_info, Answer const&);  // CL_INVALID_VALUE for other queries
// A shared virtual allocation that holds this address: where it begins, and its bytes; {0, 0} for none.
std::pair<std::uint64_t, std::uint64_t> allocation_of(void const*);
// Compiles, for global ids with an offset or without. Throws Error.
std::shared_ptr<Code> compile(std::vector<Unit> const&, bool with_offset);

// A launch, laid out for the emulator; it keeps what it works on.
struct PreparedLaunch {
  emu::Launch launch;
  std::shared_ptr<Code> code;
  std::string kernel;
  std::vector<Held<_cl_mem>> memory;
  std::vector<Held<_cl_sampler>> samplers;
  Held<_cl_program> program;
};
// Throws Refusal: sizes that the device or the kernel does not take, arguments that were not set.
PreparedLaunch prepare(_cl_kernel&, _cl_command_queue const&, cl_uint dimensions, std::size_t const* offset,
                       std::size_t const* global, std::size_t const* local);
cl_int run(PreparedLaunch&);  // CL_SUCCESS, or CL_OUT_OF_RESOURCES where the kernel has a finding

}  // namespace kernelcast::opencl
