// What each function of OpenCL asks of the application's timeline (timeline.hpp).
//
// Method: each function has a hook of ours before all other parts of the layer; that of an enqueuing function tells the
// timeline once the command is accepted. Mapping copies what is mapped to be read, unmapping what was mapped to be
// written; a buffer that is made with contents is a copy to the device that the host waits for.
// Limits: images have the bytes of their region. What a command reads of a buffer that moves between devices is not
// seen.
#include <cstdint>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include "runtimes/attach/opencl/calls.hpp"
#include "runtimes/attach/opencl/passing.hpp"
#include "runtimes/attach/opencl/timeline.hpp"
#include "runtimes/attach/settings.hpp"

namespace kernelcast::attach {
namespace {

// ---------------------------------------------------------------- what each function asks for

double bytes_of_region(cl_mem image, std::size_t const* region) {
  std::size_t element = 0;
  next.clGetImageInfo(image, CL_IMAGE_ELEMENT_SIZE, sizeof element, &element, nullptr);
  return static_cast<double>(element * region[0] * region[1] * region[2]);
}
double volume(std::size_t const* region) {
  return static_cast<double>(region[0] * region[1] * region[2]);
}
Asked to_device(double bytes, cl_bool blocking, void const* from) {
  return {"h2d", bytes, blocking != CL_FALSE, timeline().memory_of(from)};
}
Asked to_host(double bytes, cl_bool blocking, void const* to) {
  return {"d2h", bytes, blocking != CL_FALSE, timeline().memory_of(to)};
}

// An overload for each enqueuing function, with its arguments; others have none.
template <auto function>
struct Of {};

using Handle = cl_command_queue;
using Size = std::size_t;

template <>
struct Of<&cl_icd_dispatch::clEnqueueNDRangeKernel> {
  static constexpr bool afterwards = true;  // the call gives a new configuration its number
  static Asked asked(Handle, cl_kernel kernel, cl_uint dimensions, Size const*, Size const* global, Size const* local) {
    auto const number = number_of(kernel, dimensions, global, local);
    return {"kernel", 0, false, "", number ? std::to_string(*number) : std::string{}};
  }
};
template <>
struct Of<&cl_icd_dispatch::clEnqueueTask> {
  static constexpr bool afterwards = true;
  static Asked asked(Handle queue, cl_kernel kernel) {
    Size const one = 1;
    return Of<&cl_icd_dispatch::clEnqueueNDRangeKernel>::asked(queue, kernel, 1, nullptr, &one, &one);
  }
};
template <>
struct Of<&cl_icd_dispatch::clEnqueueWriteBuffer> {
  static Asked asked(Handle, cl_mem, cl_bool blocking, Size, Size bytes, void const* from) {
    return to_device(static_cast<double>(bytes), blocking, from);
  }
};
template <>
struct Of<&cl_icd_dispatch::clEnqueueReadBuffer> {
  static Asked asked(Handle, cl_mem, cl_bool blocking, Size, Size bytes, void const* to) {
    return to_host(static_cast<double>(bytes), blocking, to);
  }
};
template <>
struct Of<&cl_icd_dispatch::clEnqueueWriteBufferRect> {
  static Asked asked(Handle, cl_mem, cl_bool blocking, Size const*, Size const*, Size const* region, Size, Size, Size,
                     Size, void const* from) {
    return to_device(volume(region), blocking, from);
  }
};
template <>
struct Of<&cl_icd_dispatch::clEnqueueReadBufferRect> {
  static Asked asked(Handle, cl_mem, cl_bool blocking, Size const*, Size const*, Size const* region, Size, Size, Size,
                     Size, void const* to) {
    return to_host(volume(region), blocking, to);
  }
};
template <>
struct Of<&cl_icd_dispatch::clEnqueueWriteImage> {
  static Asked asked(Handle, cl_mem image, cl_bool blocking, Size const*, Size const* region, Size, Size,
                     void const* from) {
    return to_device(bytes_of_region(image, region), blocking, from);
  }
};
template <>
struct Of<&cl_icd_dispatch::clEnqueueReadImage> {
  static Asked asked(Handle, cl_mem image, cl_bool blocking, Size const*, Size const* region, Size, Size,
                     void const* to) {
    return to_host(bytes_of_region(image, region), blocking, to);
  }
};
template <>
struct Of<&cl_icd_dispatch::clEnqueueCopyBuffer> {
  static Asked asked(Handle, cl_mem, cl_mem, Size, Size, Size bytes) { return {"d2d", static_cast<double>(bytes)}; }
};
template <>
struct Of<&cl_icd_dispatch::clEnqueueCopyBufferRect> {
  static Asked asked(Handle, cl_mem, cl_mem, Size const*, Size const*, Size const* region, Size, Size, Size, Size) {
    return {"d2d", volume(region)};
  }
};
template <>
struct Of<&cl_icd_dispatch::clEnqueueCopyImage> {
  static Asked asked(Handle, cl_mem image, cl_mem, Size const*, Size const*, Size const* region) {
    return {"d2d", bytes_of_region(image, region)};
  }
};
template <>
struct Of<&cl_icd_dispatch::clEnqueueCopyImageToBuffer> {
  static Asked asked(Handle, cl_mem image, cl_mem, Size const*, Size const* region, Size) {
    return {"d2d", bytes_of_region(image, region)};
  }
};
template <>
struct Of<&cl_icd_dispatch::clEnqueueCopyBufferToImage> {
  static Asked asked(Handle, cl_mem, cl_mem image, Size, Size const*, Size const* region) {
    return {"d2d", bytes_of_region(image, region)};
  }
};
template <>
struct Of<&cl_icd_dispatch::clEnqueueFillBuffer> {
  static Asked asked(Handle, cl_mem, void const*, Size, Size, Size bytes) {
    return {"fill", static_cast<double>(bytes)};
  }
};
template <>
struct Of<&cl_icd_dispatch::clEnqueueFillImage> {
  static Asked asked(Handle, cl_mem image, void const*, Size const*, Size const* region) {
    return {"fill", bytes_of_region(image, region)};
  }
};
template <>
struct Of<&cl_icd_dispatch::clEnqueueSVMMemFill> {
  static Asked asked(Handle, void*, void const*, Size, Size bytes) { return {"fill", static_cast<double>(bytes)}; }
};
template <>
struct Of<&cl_icd_dispatch::clEnqueueSVMMemcpy> {
  static Asked asked(Handle, cl_bool blocking, void const* to, void const* from, Size bytes) {
    bool const target = is_shared_virtual(to), source = is_shared_virtual(from);
    auto const amount = static_cast<double>(bytes);
    if (target && source) return {"d2d", amount, blocking != CL_FALSE};
    return target ? to_device(amount, blocking, from) : to_host(amount, blocking, to);
  }
};
template <>
struct Of<&cl_icd_dispatch::clEnqueueMapBuffer> {
  static Asked asked(Handle, cl_mem, cl_bool blocking, cl_map_flags flags, Size, Size bytes) {
    return {"d2h", flags & CL_MAP_READ ? static_cast<double>(bytes) : 0, blocking != CL_FALSE, "pinned"};
  }
  static void result(void* pointer, Handle, cl_mem, cl_bool, cl_map_flags flags, Size, Size bytes) {
    timeline().mapped(pointer, bytes, (flags & (CL_MAP_WRITE | CL_MAP_WRITE_INVALIDATE_REGION)) != 0);
  }
};
template <>
struct Of<&cl_icd_dispatch::clEnqueueMapImage> {
  static Asked asked(Handle, cl_mem image, cl_bool blocking, cl_map_flags flags, Size const*, Size const* region, Size*,
                     Size*) {
    return {"d2h", flags & CL_MAP_READ ? bytes_of_region(image, region) : 0, blocking != CL_FALSE, "pinned"};
  }
  static void result(void* pointer, Handle, cl_mem image, cl_bool, cl_map_flags flags, Size const*, Size const* region,
                     Size*, Size*) {
    timeline().mapped(pointer, static_cast<Size>(bytes_of_region(image, region)),
                      (flags & (CL_MAP_WRITE | CL_MAP_WRITE_INVALIDATE_REGION)) != 0);
  }
};
template <>
struct Of<&cl_icd_dispatch::clEnqueueUnmapMemObject> {
  static Asked asked(Handle, cl_mem, void* pointer) { return {"h2d", timeline().unmapped(pointer), false, "pinned"}; }
};
template <>
struct Of<&cl_icd_dispatch::clEnqueueSVMMap> {
  static Asked asked(Handle, cl_bool blocking, cl_map_flags flags, void* pointer, Size bytes) {
    timeline().mapped(pointer, bytes, (flags & (CL_MAP_WRITE | CL_MAP_WRITE_INVALIDATE_REGION)) != 0);
    return {"d2h", flags & CL_MAP_READ ? static_cast<double>(bytes) : 0, blocking != CL_FALSE, "pinned"};
  }
};
template <>
struct Of<&cl_icd_dispatch::clEnqueueSVMUnmap> {
  static Asked asked(Handle, void* pointer) { return {"h2d", timeline().unmapped(pointer), false, "pinned"}; }
};
template <>
struct Of<&cl_icd_dispatch::clEnqueueNativeKernel> {
  static Asked asked(Handle, void(CL_CALLBACK*)(void*), void*, Size, cl_uint, cl_mem const*, void const**) {
    return {};
  }
};

// What others have to say besides.
template <auto function>
struct Besides {};

template <>
struct Besides<&cl_icd_dispatch::clFinish> {
  static void called(cl_int, Handle queue) { timeline().waited(queue); }
};
template <>
struct Besides<&cl_icd_dispatch::clWaitForEvents> {
  static void called(cl_int, cl_uint count, cl_event const* list) { timeline().waited({count, list}); }
};
template <>
struct Besides<&cl_icd_dispatch::clGetEventInfo> {
  // asked until it has ended
  static void called(cl_int, cl_event event, cl_event_info what, Size, void* value, Size*) {
    if (what == CL_EVENT_COMMAND_EXECUTION_STATUS && value && *static_cast<cl_int*>(value) == CL_COMPLETE)
      timeline().waited({1, &event});
  }
};
template <>
struct Besides<&cl_icd_dispatch::clEnqueueMarker> {
  static void called(cl_int, Handle queue, cl_event* event) {
    timeline().joined(queue, Timeline::Holds::marker, {}, event);
  }
};
template <>
struct Besides<&cl_icd_dispatch::clEnqueueMarkerWithWaitList> {
  static void called(cl_int, Handle queue, cl_uint count, cl_event const* list, cl_event* event) {
    timeline().joined(queue, Timeline::Holds::marker, {count, list}, event);
  }
};
template <>
struct Besides<&cl_icd_dispatch::clEnqueueBarrier> {
  static void called(cl_int, Handle queue) { timeline().joined(queue, Timeline::Holds::barrier, {}, nullptr); }
};
template <>
struct Besides<&cl_icd_dispatch::clEnqueueWaitForEvents> {
  static void called(cl_int, Handle queue, cl_uint count, cl_event const* list) {
    timeline().joined(queue, Timeline::Holds::barrier, {count, list}, nullptr);
  }
};
template <>
struct Besides<&cl_icd_dispatch::clEnqueueBarrierWithWaitList> {
  static void called(cl_int, Handle queue, cl_uint count, cl_event const* list, cl_event* event) {
    timeline().joined(queue, Timeline::Holds::barrier, {count, list}, event);
  }
};
template <>
struct Besides<&cl_icd_dispatch::clCreateBuffer> {
  static void called(cl_mem made, cl_context, cl_mem_flags flags, Size bytes, void*, cl_int*) {
    if (made && flags & (CL_MEM_COPY_HOST_PTR | CL_MEM_USE_HOST_PTR)) timeline().made(static_cast<double>(bytes));
  }
};
template <>
struct Besides<&cl_icd_dispatch::clCreateBufferWithProperties> {
  static void called(cl_mem made, cl_context context, cl_mem_properties const*, cl_mem_flags flags, Size bytes,
                     void* from, cl_int* status) {
    Besides<&cl_icd_dispatch::clCreateBuffer>::called(made, context, flags, bytes, from, status);
  }
};
template <>
struct Besides<&cl_icd_dispatch::clCreateCommandQueue> {
  // another may have had this handle
  static void called(Handle made, cl_context, cl_device_id, cl_command_queue_properties, cl_int*) {
    timeline().forget(made);
  }
};
template <>
struct Besides<&cl_icd_dispatch::clCreateCommandQueueWithProperties> {
  static void called(Handle made, cl_context, cl_device_id, cl_queue_properties const*, cl_int*) {
    timeline().forget(made);
  }
};

// ---------------------------------------------------------------- the hooks

thread_local unsigned depth = 0;  // a function may call others, and an event's callback may

class Within {
 public:
  Within() {
    if (depth++ == 0) timeline().entered();
  }
  ~Within() {
    if (--depth == 0) timeline().left();
  }
  Within(Within const&) = delete;
};

template <std::size_t... i, class Function, class Tuple>
auto call_with_first(std::index_sequence<i...>, Function function, Tuple const& arguments) {
  return function(std::get<i>(arguments)...);
}

template <class T>
bool succeeded(T const& result) {
  if constexpr (std::is_same_v<T, cl_int>)
    return result == CL_SUCCESS;
  else
    return result != T{};
}

template <auto function, class R, class... Arguments>
struct Hook {
  static inline R (*below)(Arguments...) = nullptr;

  static R CL_API_CALL call(Arguments... arguments) {
    Within const within;
    if constexpr (std::is_void_v<R>) {
      below(arguments...);
    } else if constexpr (requires { &Of<function>::asked; }) {
      bool const outermost = depth == 1;
      // The queue is the first argument; behind those of the command are the events, and of a mapping the status.
      constexpr bool maps = std::is_pointer_v<R>;
      constexpr std::size_t of_command = sizeof...(Arguments) - (maps ? 4 : 3);
      using First = std::make_index_sequence<of_command>;
      std::tuple<Arguments...> const all(arguments...);
      Asked asked;
      auto const ask = [&] {
        if (outermost) quietly([&] { asked = call_with_first(First{}, &Of<function>::asked, all); });
      };
      constexpr bool afterwards = requires { Of<function>::afterwards; };
      if (!afterwards) ask();  // a mapping ends in the call
      R const result = below(arguments...);
      if (afterwards) ask();
      if (outermost && succeeded(result))
        quietly([&] {
          if constexpr (requires { &Of<function>::result; })
            call_with_first(First{}, [&](auto... first) { Of<function>::result(result, first...); }, all);
          timeline().enqueued(std::get<0>(all), asked, {std::get<of_command>(all), std::get<of_command + 1>(all)},
                              std::get<of_command + 2>(all));
        });
      return result;
    } else if constexpr (requires { &Besides<function>::called; }) {
      bool const outermost = depth == 1;
      R const result = below(arguments...);
      if (outermost && succeeded(result)) quietly([&] { Besides<function>::called(result, arguments...); });
      return result;
    } else {
      return below(arguments...);
    }
  }

  static void take(cl_icd_dispatch& layer) {
    below = layer.*function;
    if (below) layer.*function = &call;
  }
};

template <auto function, class R, class... Arguments>
void take(cl_icd_dispatch& layer, R (*cl_icd_dispatch::*)(Arguments...)) {
  Hook<function, R, Arguments...>::take(layer);
}

}  // namespace

void take_timeline(cl_icd_dispatch& layer) {
  if (!settings().timeline || settings().spool.empty()) return;
#define X(function) take<&cl_icd_dispatch::function>(layer, &cl_icd_dispatch::function);
#include "runtimes/attach/opencl/calls.def"
#undef X
}

}  // namespace kernelcast::attach
