#include "runtimes/attach/opencl/queues.hpp"

#include <algorithm>
#include <cstddef>
#include <set>
#include <tuple>
#include <unordered_map>

#include "runtimes/attach/opencl/calls.hpp"
#include "runtimes/attach/opencl/decisions.hpp"
#include "runtimes/attach/opencl/steering.hpp"

namespace kernelcast::attach {
namespace {

cl_icd_dispatch below;  // the layer's other functions

template <class T>
T device_info(cl_device_id device, cl_device_info what) {
  T value{};
  next.clGetDeviceInfo(device, what, sizeof value, &value, nullptr);
  return value;
}

std::string device_text(cl_device_id device, cl_device_info what) {
  char text[1024] = "";
  next.clGetDeviceInfo(device, what, sizeof text - 1, text, nullptr);
  return text;
}

// Below 1.2 there is no marker that waits for events.
bool is_old(cl_device_id device) {
  auto const version = device_text(device, CL_DEVICE_VERSION);
  return version.starts_with("OpenCL 1.0") || version.starts_with("OpenCL 1.1");
}

// Buffers mean the same to both.
bool same_kind_of_device(cl_device_id one, cl_device_id other) {
  return device_info<cl_bool>(one, CL_DEVICE_ENDIAN_LITTLE) == device_info<cl_bool>(other, CL_DEVICE_ENDIAN_LITTLE) &&
         device_info<cl_uint>(one, CL_DEVICE_ADDRESS_BITS) == device_info<cl_uint>(other, CL_DEVICE_ADDRESS_BITS);
}

// The devices of this process, as decisions name them.
class Devices {
 public:
  struct Entry {
    unsigned number = max_steered_devices;
    std::string place, name;
    cl_uint units = 0, units_of_whole = 0;
    bool operator==(Entry const&) const = default;
  };

  // A handle may come again, for another part of a device: then it is another one.
  Entry const& entry(cl_device_id device) {
    auto now = describe(device);
    auto const known = entries_.find(device);
    if (known != entries_.end()) {
      now.number = known->second.number;
      now.place = known->second.place;
      if (now == known->second) return known->second;
    }
    now.number = std::min(count_++, max_steered_devices);
    now.place = place_of(device);
    return entries_[device] = now;
  }

 private:
  static cl_device_id whole_of(cl_device_id device) {
    while (auto const parent = device_info<cl_device_id>(device, CL_DEVICE_PARENT_DEVICE)) device = parent;
    return device;
  }

  static Entry describe(cl_device_id device) {
    Entry out;
    out.name = device_text(device, CL_DEVICE_NAME);
    out.units = device_info<cl_uint>(device, CL_DEVICE_MAX_COMPUTE_UNITS);
    out.units_of_whole = device_info<cl_uint>(whole_of(device), CL_DEVICE_MAX_COMPUTE_UNITS);
    return out;
  }

  std::string place_of(cl_device_id device) {
    if (all_.empty()) find_all();
    auto const whole = whole_of(device);
    auto const at = std::find(all_.begin(), all_.end(), whole);
    std::string const place = at == all_.end() ? "?" : std::to_string(at - all_.begin());
    return whole == device ? place : place + '.' + std::to_string(parts_[whole]++);
  }

  void find_all() {
    cl_uint count = 0;
    next.clGetPlatformIDs(0, nullptr, &count);
    std::vector<cl_platform_id> platforms(count);
    next.clGetPlatformIDs(count, platforms.data(), nullptr);
    for (auto const platform : platforms) {
      cl_uint of_platform = 0;
      if (next.clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, nullptr, &of_platform) != CL_SUCCESS) continue;
      std::vector<cl_device_id> devices(of_platform);
      next.clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, of_platform, devices.data(), nullptr);
      all_.insert(all_.end(), devices.begin(), devices.end());
    }
  }

  std::unordered_map<cl_device_id, Entry> entries_;
  std::vector<cl_device_id> all_;
  std::unordered_map<cl_device_id, unsigned> parts_;
  unsigned count_ = 0;
};

struct Known {
  std::mutex mutex;
  Devices devices;
  std::unordered_map<cl_context, std::vector<cl_device_id>> listed;  // devices
  std::set<std::string> contexts;                                    // that were told
  std::unordered_map<cl_command_queue, std::shared_ptr<Queue>> queues;
  std::unordered_map<cl_command_queue, cl_command_queue> owners;  // of queues of ours, for events that outlive them
};

Known& known() {
  static auto* const all = new Known;
  return *all;
}

// With the lock of all that is known.
void publish_context(std::vector<Devices::Entry> const& entries) {
  std::string text;
  for (auto const& entry : entries)
    text += (entry.number < max_steered_devices ? std::to_string(entry.number) : "-") + ' ' + entry.place + ' ' +
            std::to_string(entry.units) + ' ' + std::to_string(entry.units_of_whole) + ' ' + entry.name + '\n';
  if (known().contexts.insert(text).second) publish_for_steering("context", known().contexts.size() - 1, text);
}

void remember(cl_command_queue handle) {
  auto queue = std::make_shared<Queue>();
  queue->handle = handle;
  cl_command_queue_properties properties = 0;
  next.clGetCommandQueueInfo(handle, CL_QUEUE_CONTEXT, sizeof queue->context, &queue->context, nullptr);
  next.clGetCommandQueueInfo(handle, CL_QUEUE_DEVICE, sizeof queue->device.id, &queue->device.id, nullptr);
  next.clGetCommandQueueInfo(handle, CL_QUEUE_PROPERTIES, sizeof properties, &properties, nullptr);
  queue->in_order = !(properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
  queue->profiling = (properties & CL_QUEUE_PROFILING_ENABLE) != 0;
  auto const devices = devices_of(queue->context);
  std::lock_guard const lock(known().mutex);
  known().queues.erase(handle);
  known().owners.erase(handle);
  std::vector<Devices::Entry> entries;
  bool old = false;
  for (auto const device : devices) {
    auto const& entry = known().devices.entry(device);
    entries.push_back(entry);
    old = old || is_old(device);
    if (device == queue->device.id)
      queue->device = {device, entry.number, entry.name};
    else if (entry.number < max_steered_devices && same_kind_of_device(device, queue->device.id))
      queue->others.push_back({device, entry.number, entry.name});
  }
  bool const on_device = (properties & CL_QUEUE_ON_DEVICE) != 0;
  if (!on_device) publish_context(entries);
  if (!on_device && !old && !queue->others.empty()) known().queues[handle] = std::move(queue);
}

using Notify = void(CL_CALLBACK*)(char const*, void const*, std::size_t, void*);

void list_devices(cl_context context, cl_uint count, cl_device_id const* devices) {
  std::lock_guard const lock(known().mutex);
  known().listed.erase(context);  // of another that had this handle
  if (devices) known().listed[context].assign(devices, devices + count);
}

cl_context CL_API_CALL create_context(cl_context_properties const* properties, cl_uint count,
                                      cl_device_id const* devices, Notify notify, void* user, cl_int* status) {
  auto const context = below.clCreateContext(properties, count, devices, notify, user, status);
  if (context) quietly([&] { list_devices(context, count, devices); });
  return context;
}

cl_context CL_API_CALL create_context_of(cl_context_properties const* properties, cl_device_type type, Notify notify,
                                         void* user, cl_int* status) {
  auto const context = below.clCreateContextFromType(properties, type, notify, user, status);
  if (context) quietly([&] { list_devices(context, 0, nullptr); });
  return context;
}

cl_command_queue CL_API_CALL create(cl_context context, cl_device_id device, cl_command_queue_properties properties,
                                    cl_int* status) {
  auto const queue = below.clCreateCommandQueue(context, device, properties, status);
  if (queue) quietly([&] { remember(queue); });
  return queue;
}

cl_command_queue CL_API_CALL create_with_properties(cl_context context, cl_device_id device,
                                                    cl_queue_properties const* properties, cl_int* status) {
  auto const queue = below.clCreateCommandQueueWithProperties(context, device, properties, status);
  if (queue) quietly([&] { remember(queue); });
  return queue;
}

cl_int CL_API_CALL retain(cl_command_queue handle) {
  auto const status = below.clRetainCommandQueue(handle);
  if (auto const queue = find_queue(handle); queue && status == CL_SUCCESS) {
    std::lock_guard const lock(queue->mutex);
    ++queue->references;
  }
  return status;
}

// A platform counts references of its own: when the application's last one goes only this layer knows.
cl_int CL_API_CALL release(cl_command_queue handle) {
  auto const queue = find_queue(handle);
  bool last = false;
  if (queue) {
    std::lock_guard const lock(queue->mutex);
    last = --queue->references == 0;
  }
  if (last) {
    std::lock_guard const lock(known().mutex);
    known().queues.erase(handle);
  }
  auto const status = below.clReleaseCommandQueue(handle);
  if (last) {
    for (auto const& [device, ours] : queue->ours) next.clReleaseCommandQueue(ours);
    if (queue->barrier) next.clReleaseEvent(queue->barrier);
  }
  return status;
}

cl_int CL_API_CALL event_info(cl_event event, cl_event_info what, std::size_t capacity, void* value,
                              std::size_t* bytes) {
  auto const status = below.clGetEventInfo(event, what, capacity, value, bytes);
  if (status == CL_SUCCESS && what == CL_EVENT_COMMAND_QUEUE && value)
    quietly([&] {
      auto* const queue = static_cast<cl_command_queue*>(value);
      std::lock_guard const lock(known().mutex);
      auto const owner = known().owners.find(*queue);
      if (owner != known().owners.end()) *queue = owner->second;
    });
  return status;
}

// ---------------------------------------------------------------- commands

// Held while a command is enqueued, where it matters.
class Lock {
 public:
  explicit Lock(cl_command_queue handle) : queue_(find_queue(handle)) {
    if (queue_) queue_->mutex.lock();
  }
  ~Lock() {
    if (queue_) queue_->mutex.unlock();
  }
  Lock(Lock const&) = delete;
  Queue* operator->() const { return queue_.get(); }
  explicit operator bool() const { return queue_ != nullptr; }

 private:
  std::shared_ptr<Queue> queue_;
};

// A function of the table that enqueues, behind the lock of its queue.
template <auto function>
struct Enqueue;
template <class Result, class... Rest, Result (*cl_icd_dispatch::*function)(cl_command_queue, Rest...)>
struct Enqueue<function> {
  static Result CL_API_CALL locked(cl_command_queue queue, Rest... rest) {
    Lock const lock(queue);
    return (below.*function)(queue, rest...);
  }

  // One that waits when its argument `blocking`, counted after the queue, is true.
  template <std::size_t blocking>
  static Result CL_API_CALL waiting(cl_command_queue queue, Rest... rest) {
    std::tuple<Rest...> arguments(rest...);
    if (!std::get<blocking>(arguments) || !find_queue(queue)) return locked(queue, rest...);
    std::get<blocking>(arguments) = CL_FALSE;
    auto*& event = std::get<cl_event*>(arguments);
    cl_event own = nullptr;
    bool const own_event = !event;
    if (own_event) event = &own;
    auto result = std::apply([&](auto... all) { return locked(queue, all...); }, arguments);
    constexpr bool is_status = std::is_same_v<Result, cl_int>;
    if (is_status ? result != Result{} : result == Result{}) return result;  // refused
    cl_int const ended = next.clWaitForEvents(1, event);
    if (own_event) next.clReleaseEvent(own);
    if (ended == CL_SUCCESS) return result;
    if constexpr (is_status) return ended;
    if constexpr (!is_status) {
      if (auto* const status = std::get<cl_int*>(arguments)) *status = ended;
      return nullptr;
    }
  }
};

// What follows a barrier waits for it: its event is kept.
cl_int CL_API_CALL barrier(cl_command_queue handle, cl_uint waits, cl_event const* wait_list, cl_event* event) {
  Lock const queue(handle);
  if (!queue || queue->in_order) return below.clEnqueueBarrierWithWaitList(handle, waits, wait_list, event);
  cl_event made = nullptr;
  auto const status = below.clEnqueueBarrierWithWaitList(handle, waits, wait_list, &made);
  if (status != CL_SUCCESS) return status;
  if (queue->barrier) next.clReleaseEvent(queue->barrier);
  queue->barrier = made;
  if (event && next.clRetainEvent(made) == CL_SUCCESS) *event = made;
  return status;
}
cl_int CL_API_CALL old_barrier(cl_command_queue queue) {
  return barrier(queue, 0, nullptr, nullptr);
}
cl_int CL_API_CALL old_wait(cl_command_queue queue, cl_uint waits, cl_event const* wait_list) {
  return waits == 0 || !wait_list ? CL_INVALID_VALUE : barrier(queue, waits, wait_list, nullptr);
}

template <auto... functions>
void lock(cl_icd_dispatch& layer) {
  ((layer.*functions ? void(layer.*functions = Enqueue<functions>::locked) : void()), ...);
}
template <std::size_t blocking, auto... functions>
void lock_and_wait(cl_icd_dispatch& layer) {
  ((layer.*functions ? void(layer.*functions = Enqueue<functions>::template waiting<blocking>) : void()), ...);
}

}  // namespace

void take_queues(cl_icd_dispatch& layer) {
  using Table = cl_icd_dispatch;
  below = layer;
  layer.clCreateContext = create_context;
  layer.clCreateContextFromType = create_context_of;
  layer.clCreateCommandQueue = create;
  if (layer.clCreateCommandQueueWithProperties) layer.clCreateCommandQueueWithProperties = create_with_properties;
  layer.clRetainCommandQueue = retain;
  layer.clReleaseCommandQueue = release;
  layer.clGetEventInfo = event_info;
  lock<&Table::clEnqueueNDRangeKernel, &Table::clEnqueueTask, &Table::clEnqueueNativeKernel,
       &Table::clEnqueueCopyBuffer, &Table::clEnqueueCopyBufferRect, &Table::clEnqueueCopyImage,
       &Table::clEnqueueCopyImageToBuffer, &Table::clEnqueueCopyBufferToImage, &Table::clEnqueueFillBuffer,
       &Table::clEnqueueFillImage, &Table::clEnqueueUnmapMemObject, &Table::clEnqueueMigrateMemObjects,
       &Table::clEnqueueSVMFree, &Table::clEnqueueSVMMemFill, &Table::clEnqueueSVMUnmap, &Table::clEnqueueSVMMigrateMem,
       &Table::clEnqueueMarker, &Table::clEnqueueMarkerWithWaitList, &Table::clEnqueueBarrier,
       &Table::clEnqueueBarrierWithWaitList, &Table::clEnqueueWaitForEvents, &Table::clEnqueueAcquireGLObjects,
       &Table::clEnqueueReleaseGLObjects>(layer);
  if (layer.clEnqueueBarrierWithWaitList) {
    layer.clEnqueueBarrierWithWaitList = barrier;
    layer.clEnqueueBarrier = old_barrier;
    layer.clEnqueueWaitForEvents = old_wait;
  }
  // (queue, memory, blocking, …) and (queue, blocking, …)
  lock_and_wait<1, &Table::clEnqueueReadBuffer, &Table::clEnqueueWriteBuffer, &Table::clEnqueueReadBufferRect,
                &Table::clEnqueueWriteBufferRect, &Table::clEnqueueReadImage, &Table::clEnqueueWriteImage,
                &Table::clEnqueueMapBuffer, &Table::clEnqueueMapImage>(layer);
  lock_and_wait<0, &Table::clEnqueueSVMMemcpy, &Table::clEnqueueSVMMap>(layer);
}

std::vector<cl_device_id> devices_of(cl_context context) {
  {
    std::lock_guard const lock(known().mutex);
    auto const listed = known().listed.find(context);
    if (listed != known().listed.end()) return listed->second;
  }
  std::size_t bytes = 0;
  next.clGetContextInfo(context, CL_CONTEXT_DEVICES, 0, nullptr, &bytes);
  std::vector<cl_device_id> out(bytes / sizeof(cl_device_id));
  next.clGetContextInfo(context, CL_CONTEXT_DEVICES, bytes, out.data(), nullptr);
  return out;
}

std::shared_ptr<Queue> find_queue(cl_command_queue handle) {
  std::lock_guard const lock(known().mutex);
  auto const found = known().queues.find(handle);
  return found == known().queues.end() ? nullptr : found->second;
}

cl_command_queue our_queue(Queue& queue, Device const& device) {
  auto const there = queue.ours.find(device.id);
  if (there != queue.ours.end()) return there->second;
  cl_command_queue_properties const properties =
      (queue.in_order ? 0 : CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE) | (queue.profiling ? CL_QUEUE_PROFILING_ENABLE : 0);
  cl_int status = CL_SUCCESS;
  auto const made = next.clCreateCommandQueue(queue.context, device.id, properties, &status);
  queue.ours[device.id] = status == CL_SUCCESS ? made : nullptr;
  if (status == CL_SUCCESS) {
    std::lock_guard const lock(known().mutex);
    known().queues.erase(made);
    known().owners[made] = queue.handle;
  }
  return queue.ours[device.id];
}

}  // namespace kernelcast::attach
