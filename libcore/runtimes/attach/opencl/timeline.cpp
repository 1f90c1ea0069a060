// The application's commands to its devices with what each waits for, as a model of what overlaps reads them
// (records/command.hpp), and the host's own time between all calls.
//
// Method: each function of OpenCL has a hook of ours before all other parts of the layer; that of an enqueuing function
// writes a line of timeline-opencl-PID.csv once the command is accepted. A command waits for the one before it in a
// queue that is in order, for the last barrier of one that is not, and for the events of its list. A copy has pinned
// memory where its pointer lies in what the application has mapped or in shared virtual memory.
// Mapping copies what is mapped to be read, unmapping what was mapped to be written; a buffer that is made with
// contents is a copy to the device that the host waits for. Limits: events of the application's own and callbacks hold
// up nothing. Images have the bytes of their region. What a command reads of a buffer that moves between devices is not
// seen.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

#include "runtimes/attach/command_log.hpp"
#include "runtimes/attach/opencl/calls.hpp"
#include "runtimes/attach/opencl/objects.hpp"
#include "runtimes/attach/opencl/passing.hpp"
#include "runtimes/attach/settings.hpp"

namespace kernelcast::attach {
namespace {

using Numbers = std::vector<std::uint64_t>;

constexpr std::uint64_t max_commands = 1'000'000;

// What is asked of the device, as columns of a line.
struct Asked {
  char const* kind = "host";  // what holds up others and takes no time of the device
  double bytes = 0;
  bool waits = false;
  char const* memory = "";
  std::string configuration = {};
};

class Timeline {
 public:
  // Calls begin and end: what lies between is the host's own time.
  void entered() {
    std::lock_guard const lock(mutex_);
    if (inside_++ == 0 && left_) host_s_ += std::chrono::duration<double>(Clock::now() - *left_).count();
  }
  void left() {
    std::lock_guard const lock(mutex_);
    if (--inside_ == 0) left_ = Clock::now();
  }

  void enqueued(cl_command_queue handle, Asked asked, cl_uint waits, cl_event const* list, cl_event const* event) {
    std::lock_guard const lock(mutex_);
    begin();
    std::string_view const kind = asked.kind;
    if (asked.bytes == 0 && (kind == "d2h" || kind == "h2d")) asked.kind = "host", asked.memory = "";  // mapped alone
    auto& queue = queue_of(handle);
    auto const number = write(asked, queue, after(queue, waits, list));
    if (number == 0) return;
    if (queue.in_order) queue.last.clear();
    queue.last.push_back(number);
    if (event) events_[*event] = number;
    constexpr std::size_t many = 1000;  // one that waits for all of them stands for them
    if (queue.last.size() < many) return;
    if (auto const all = write({}, queue, queue.last); all != 0) queue.last = {all};
  }
  // What comes later in a queue that is not in order waits for it, which waits for all, or for the events.
  void barrier(cl_command_queue handle, cl_uint waits, cl_event const* list, cl_event const* event) {
    std::lock_guard const lock(mutex_);
    begin();
    auto& queue = queue_of(handle);
    auto numbers = numbers_of(waits, list);
    if (waits == 0) unite(numbers, queue.last);
    unite(numbers, queue.barrier);
    auto const number = write({}, queue, numbers);
    if (number == 0) return;
    queue.barrier = {number};
    if (waits == 0 || queue.in_order) queue.last = {number};
    if (event) events_[*event] = number;
  }
  // A marker: its event waits for all so far.
  void marker(cl_command_queue handle, cl_uint waits, cl_event const* list, cl_event const* event) {
    std::lock_guard const lock(mutex_);
    begin();
    auto& queue = queue_of(handle);
    auto numbers = numbers_of(waits, list);
    if (waits == 0) unite(numbers, queue.last);
    if (auto const number = write({}, queue, numbers); number != 0 && event) events_[*event] = number;
  }
  void waited(cl_command_queue handle) {
    std::lock_guard const lock(mutex_);
    begin();
    auto const& queue = queue_of(handle);
    wait_for(queue.last, queue);
  }
  void waited(cl_uint waits, cl_event const* list) {
    std::lock_guard const lock(mutex_);
    begin();
    wait_for(numbers_of(waits, list), {});
  }
  void made(double bytes) {
    std::lock_guard const lock(mutex_);
    begin();
    write({"h2d", bytes, true, "pageable"}, {}, {});
  }

  void mapped(void* pointer, std::size_t bytes, bool writes) {
    std::lock_guard const lock(mutex_);
    mapped_[reinterpret_cast<std::uintptr_t>(pointer)] = {bytes, writes};
  }
  // What has to be copied to the device.
  double unmapped(void* pointer) {
    std::lock_guard const lock(mutex_);
    auto const found = mapped_.find(reinterpret_cast<std::uintptr_t>(pointer));
    if (found == mapped_.end()) return 0;
    auto const [bytes, writes] = found->second;
    mapped_.erase(found);
    return writes ? static_cast<double>(bytes) : 0;
  }
  char const* memory_of(void const* pointer) {
    auto const address = reinterpret_cast<std::uintptr_t>(pointer);
    {
      std::lock_guard const lock(mutex_);
      auto after = mapped_.upper_bound(address);
      if (after != mapped_.begin() && address - (--after)->first < after->second.first) return "pinned";
    }
    return is_shared_virtual(pointer) ? "pinned" : "pageable";
  }
  static bool is_shared_virtual(void const* pointer) {
    auto const address = reinterpret_cast<std::uintptr_t>(pointer);
    std::lock_guard const lock(objects().mutex);
    auto const& all = objects().shared_virtual;
    auto after = all.upper_bound(address);
    return after != all.begin() && address - (--after)->first < after->second;
  }
  void forget(cl_command_queue queue) {
    std::lock_guard const lock(mutex_);
    queues_.erase(queue);
  }

 private:
  using Clock = std::chrono::steady_clock;
  struct Queue {
    unsigned id = 0, device = 0;
    bool in_order = true;
    Numbers last, barrier;
  };

  static void unite(Numbers& to, Numbers const& from) {
    to.insert(to.end(), from.begin(), from.end());
    std::sort(to.begin(), to.end());
    to.erase(std::unique(to.begin(), to.end()), to.end());
  }

  void begin() {
    if (!log_.begins()) return;
    log_.line("process,command,kind,stream,after,kernel,case,bytes,host_waits,host_s,memory,on_device,interface");
    number_ = waited_ = 0;
    queues_.clear(), events_.clear(), devices_.clear(), waited_for_.clear();
  }

  Queue& queue_of(cl_command_queue handle) {
    auto const [at, is_new] = queues_.try_emplace(handle);
    auto& queue = at->second;
    if (!is_new) return queue;
    cl_device_id device = nullptr;
    cl_command_queue_properties properties = 0;
    next.clGetCommandQueueInfo(handle, CL_QUEUE_DEVICE, sizeof device, &device, nullptr);
    next.clGetCommandQueueInfo(handle, CL_QUEUE_PROPERTIES, sizeof properties, &properties, nullptr);
    queue.id = ++made_queues_;
    queue.device = devices_.try_emplace(device, static_cast<unsigned>(devices_.size())).first->second;
    queue.in_order = !(properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
    return queue;
  }

  Numbers numbers_of(cl_uint waits, cl_event const* list) const {
    Numbers out;
    for (cl_uint i = 0; list && i < waits; ++i)
      if (auto const known = events_.find(list[i]); known != events_.end()) unite(out, {known->second});
    return out;
  }
  Numbers after(Queue const& queue, cl_uint waits, cl_event const* list) const {
    auto out = numbers_of(waits, list);
    unite(out, queue.in_order ? queue.last : queue.barrier);
    return out;
  }

  void wait_for(Numbers const& numbers, Queue const& queue) {
    if (numbers.empty() || (waited_ == number_ && numbers == waited_for_)) return;  // asked once more
    waited_ = write({"wait", 0, true}, queue, numbers);
    waited_for_ = numbers;
  }

  // Its number; 0 beyond the most.
  std::uint64_t write(Asked const& asked, Queue const& queue, Numbers const& after) {
    if (number_ == max_commands) return 0;
    auto const process = std::to_string(log_.process());
    std::string text =
        process + ',' + std::to_string(++number_) + ',' + asked.kind + ',' + std::to_string(queue.id) + ',';
    for (std::size_t i = 0; i < after.size(); ++i) text += (i > 0 ? ";" : "") + std::to_string(after[i]);
    std::array<char, 32> host{};
    std::snprintf(host.data(), host.size(), "%.9g", std::exchange(host_s_, 0));
    text += ",," + asked.configuration + ',' + std::to_string(static_cast<std::uint64_t>(asked.bytes)) + ',' +
            (asked.waits ? "yes" : "no") + ',' + host.data() + ',' + asked.memory + ',' + std::to_string(queue.device) +
            ",opencl";
    log_.line(std::move(text));
    return number_;
  }

  std::mutex mutex_;
  CommandLog log_{settings().spool, "timeline-opencl-#.csv"};
  std::uint64_t number_ = 0, waited_ = 0;
  unsigned made_queues_ = 0, inside_ = 0;
  Numbers waited_for_;
  std::unordered_map<cl_command_queue, Queue> queues_;
  std::unordered_map<cl_event, std::uint64_t> events_;
  std::unordered_map<cl_device_id, unsigned> devices_;
  std::map<std::uintptr_t, std::pair<std::size_t, bool>> mapped_;  // by where it begins: bytes, whether to be written
  std::optional<Clock::time_point> left_;
  double host_s_ = 0;
};

Timeline& timeline() {
  static auto* const made = new Timeline;
  return *made;
}

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
#define KERNELCAST_ASKS(function) \
  template <>                     \
  struct Of<&cl_icd_dispatch::function>

using Handle = cl_command_queue;
using Size = std::size_t;

KERNELCAST_ASKS(clEnqueueNDRangeKernel) {
  static constexpr bool afterwards = true;  // the call gives a new configuration its number
  static Asked asked(Handle, cl_kernel kernel, cl_uint dimensions, Size const*, Size const* global, Size const* local) {
    auto const number = number_of(kernel, dimensions, global, local);
    return {"kernel", 0, false, "", number ? std::to_string(*number) : std::string{}};
  }
};
KERNELCAST_ASKS(clEnqueueTask) {
  static constexpr bool afterwards = true;
  static Asked asked(Handle queue, cl_kernel kernel) {
    Size const one = 1;
    return Of<&cl_icd_dispatch::clEnqueueNDRangeKernel>::asked(queue, kernel, 1, nullptr, &one, &one);
  }
};
KERNELCAST_ASKS(clEnqueueWriteBuffer){
    static Asked asked(Handle, cl_mem, cl_bool blocking, Size, Size bytes,
                       void const* from){return to_device(static_cast<double>(bytes), blocking, from);
}  // namespace
};  // namespace kernelcast::attach
KERNELCAST_ASKS(clEnqueueReadBuffer){
    static Asked asked(Handle, cl_mem, cl_bool blocking, Size, Size bytes,
                       void const* to){return to_host(static_cast<double>(bytes), blocking, to);
}
}
;
KERNELCAST_ASKS(clEnqueueWriteBufferRect){
    static Asked asked(Handle, cl_mem, cl_bool blocking, Size const*, Size const*, Size const* region, Size, Size, Size,
                       Size, void const* from){return to_device(volume(region), blocking, from);
}
}
;
KERNELCAST_ASKS(clEnqueueReadBufferRect){
    static Asked asked(Handle, cl_mem, cl_bool blocking, Size const*, Size const*, Size const* region, Size, Size, Size,
                       Size, void const* to){return to_host(volume(region), blocking, to);
}
}
;
KERNELCAST_ASKS(clEnqueueWriteImage){
    static Asked asked(Handle, cl_mem image, cl_bool blocking, Size const*, Size const* region, Size, Size,
                       void const* from){return to_device(bytes_of_region(image, region), blocking, from);
}
}
;
KERNELCAST_ASKS(clEnqueueReadImage){
    static Asked asked(Handle, cl_mem image, cl_bool blocking, Size const*, Size const* region, Size, Size,
                       void const* to){return to_host(bytes_of_region(image, region), blocking, to);
}
}
;
KERNELCAST_ASKS(clEnqueueCopyBuffer){
    static Asked asked(Handle, cl_mem, cl_mem, Size, Size, Size bytes){return {"d2d", static_cast<double>(bytes)};
}
}
;
KERNELCAST_ASKS(clEnqueueCopyBufferRect){static Asked asked(Handle, cl_mem, cl_mem, Size const*, Size const*,
                                                            Size const* region, Size, Size, Size,
                                                            Size){return {"d2d", volume(region)};
}
}
;
KERNELCAST_ASKS(clEnqueueCopyImage){
    static Asked asked(Handle, cl_mem image, cl_mem, Size const*, Size const*,
                       Size const* region){return {"d2d", bytes_of_region(image, region)};
}
}
;
KERNELCAST_ASKS(clEnqueueCopyImageToBuffer){static Asked asked(Handle, cl_mem image, cl_mem, Size const*,
                                                               Size const* region,
                                                               Size){return {"d2d", bytes_of_region(image, region)};
}
}
;
KERNELCAST_ASKS(clEnqueueCopyBufferToImage){
    static Asked asked(Handle, cl_mem, cl_mem image, Size, Size const*,
                       Size const* region){return {"d2d", bytes_of_region(image, region)};
}
}
;
KERNELCAST_ASKS(clEnqueueFillBuffer){
    static Asked asked(Handle, cl_mem, void const*, Size, Size, Size bytes){return {"fill", static_cast<double>(bytes)};
}
}
;
KERNELCAST_ASKS(clEnqueueFillImage){
    static Asked asked(Handle, cl_mem image, void const*, Size const*,
                       Size const* region){return {"fill", bytes_of_region(image, region)};
}
}
;
KERNELCAST_ASKS(clEnqueueSVMMemFill){
    static Asked asked(Handle, void*, void const*, Size, Size bytes){return {"fill", static_cast<double>(bytes)};
}
}
;
KERNELCAST_ASKS(clEnqueueSVMMemcpy){
    static Asked asked(Handle, cl_bool blocking, void const* to, void const* from, Size bytes){
        bool const target = Timeline::is_shared_virtual(to), source = Timeline::is_shared_virtual(from);
auto const amount = static_cast<double>(bytes);
if (target && source) return {"d2d", amount, blocking != CL_FALSE};
return target ? to_device(amount, blocking, from) : to_host(amount, blocking, to);
}
}
;
KERNELCAST_ASKS(clEnqueueMapBuffer){
    static Asked asked(Handle, cl_mem, cl_bool blocking, cl_map_flags flags, Size, Size bytes){
        return {"d2h", flags& CL_MAP_READ ? static_cast<double>(bytes) : 0, blocking != CL_FALSE, "pinned"};
}
static void result(void* pointer, Handle, cl_mem, cl_bool, cl_map_flags flags, Size, Size bytes) {
  timeline().mapped(pointer, bytes, (flags & (CL_MAP_WRITE | CL_MAP_WRITE_INVALIDATE_REGION)) != 0);
}
}
;
KERNELCAST_ASKS(clEnqueueMapImage){static Asked asked(Handle, cl_mem image, cl_bool blocking, cl_map_flags flags,
                                                      Size const*, Size const* region, Size*, Size*){
    return {"d2h", flags& CL_MAP_READ ? bytes_of_region(image, region) : 0, blocking != CL_FALSE, "pinned"};
}
static void result(void* pointer, Handle, cl_mem image, cl_bool, cl_map_flags flags, Size const*, Size const* region,
                   Size*, Size*) {
  timeline().mapped(pointer, static_cast<Size>(bytes_of_region(image, region)),
                    (flags & (CL_MAP_WRITE | CL_MAP_WRITE_INVALIDATE_REGION)) != 0);
}
}
;
KERNELCAST_ASKS(clEnqueueUnmapMemObject){
    static Asked asked(Handle, cl_mem, void* pointer){return {"h2d", timeline().unmapped(pointer), false, "pinned"};
}
}
;
KERNELCAST_ASKS(clEnqueueSVMMap){
    static Asked asked(Handle, cl_bool blocking, cl_map_flags flags, void* pointer, Size bytes){
        timeline().mapped(pointer, bytes, (flags & (CL_MAP_WRITE | CL_MAP_WRITE_INVALIDATE_REGION)) != 0);
return {"d2h", flags& CL_MAP_READ ? static_cast<double>(bytes) : 0, blocking != CL_FALSE, "pinned"};
}
}
;
KERNELCAST_ASKS(clEnqueueSVMUnmap){
    static Asked asked(Handle, void* pointer){return {"h2d", timeline().unmapped(pointer), false, "pinned"};
}
}
;
KERNELCAST_ASKS(clEnqueueNativeKernel){
    static Asked asked(Handle, void(CL_CALLBACK*)(void*), void*, Size, cl_uint, cl_mem const*, void const**){return {};
}
}
;

// What others have to say besides.
template <auto function>
struct Besides {};
#define KERNELCAST_BESIDES(function) \
  template <>                        \
  struct Besides<&cl_icd_dispatch::function>

KERNELCAST_BESIDES(clFinish){static void called(cl_int, Handle queue){timeline().waited(queue);
}
}
;
KERNELCAST_BESIDES(clWaitForEvents){
    static void called(cl_int, cl_uint count, cl_event const* list){timeline().waited(count, list);
}
}
;
KERNELCAST_BESIDES(clGetEventInfo){// asked until it has ended
                                   static void called(cl_int, cl_event event, cl_event_info what, Size, void* value,
                                                      Size*){if (what == CL_EVENT_COMMAND_EXECUTION_STATUS && value &&
                                                                 *static_cast<cl_int*>(value) == CL_COMPLETE) timeline()
                                                                 .waited(1, &event);
}
}
;
KERNELCAST_BESIDES(clEnqueueMarker){
    static void called(cl_int, Handle queue, cl_event* event){timeline().marker(queue, 0, nullptr, event);
}
}
;
KERNELCAST_BESIDES(clEnqueueMarkerWithWaitList){
    static void called(cl_int, Handle queue, cl_uint count, cl_event const* list,
                       cl_event* event){timeline().marker(queue, count, list, event);
}
}
;
KERNELCAST_BESIDES(clEnqueueBarrier){
    static void called(cl_int, Handle queue){timeline().barrier(queue, 0, nullptr, nullptr);
}
}
;
KERNELCAST_BESIDES(clEnqueueWaitForEvents){
    static void called(cl_int, Handle queue, cl_uint count,
                       cl_event const* list){timeline().barrier(queue, count, list, nullptr);
}
}
;
KERNELCAST_BESIDES(clEnqueueBarrierWithWaitList){
    static void called(cl_int, Handle queue, cl_uint count, cl_event const* list,
                       cl_event* event){timeline().barrier(queue, count, list, event);
}
}
;
KERNELCAST_BESIDES(clCreateBuffer){
    static void called(cl_mem made, cl_context, cl_mem_flags flags, Size bytes, void*, cl_int*){
        if (made && flags & (CL_MEM_COPY_HOST_PTR | CL_MEM_USE_HOST_PTR)) timeline().made(static_cast<double>(bytes));
}
}
;
KERNELCAST_BESIDES(clCreateBufferWithProperties){static void called(cl_mem made, cl_context context,
                                                                    cl_mem_properties const*, cl_mem_flags flags,
                                                                    Size bytes, void* from, cl_int* status){
    Besides<&cl_icd_dispatch::clCreateBuffer>::called(made, context, flags, bytes, from, status);
}
}
;
KERNELCAST_BESIDES(clCreateCommandQueue){
    // another may have had this handle
    static void called(Handle made, cl_context, cl_device_id, cl_command_queue_properties,
                       cl_int*){timeline().forget(made);
}
}
;
KERNELCAST_BESIDES(clCreateCommandQueueWithProperties){static void called(Handle made, cl_context, cl_device_id,
                                                                          cl_queue_properties const*,
                                                                          cl_int*){timeline().forget(made);
}
}
;

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
          timeline().enqueued(std::get<0>(all), asked, std::get<of_command>(all), std::get<of_command + 1>(all),
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
