#include "runtimes/attach/opencl/steering.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "runtimes/attach/opencl/builds.hpp"
#include "runtimes/attach/opencl/calls.hpp"
#include "runtimes/attach/opencl/objects.hpp"
#include "runtimes/attach/opencl/queues.hpp"
#include "runtimes/attach/settings.hpp"
#include "runtimes/attach/spool.hpp"

namespace kernelcast::attach {
namespace {

std::atomic<bool> forgotten{false};

template <class T>
T device_info(cl_device_id device, cl_device_info what) {
  T value{};
  next.clGetDeviceInfo(device, what, sizeof value, &value, nullptr);
  return value;
}

template <class T>
T group_info(cl_kernel kernel, cl_device_id device, cl_kernel_work_group_info what) {
  T value{};
  next.clGetKernelWorkGroupInfo(kernel, device, what, sizeof value, &value, nullptr);
  return value;
}

// What only the layer knows of a kernel.
struct Needs {
  std::string name;
  std::size_t local_bytes = 0;
  bool shared_virtual = false;
};

Needs needs_of(cl_kernel kernel) {
  Needs out;
  std::lock_guard const lock(objects().mutex);
  auto const known = objects().kernels.find(kernel);
  if (known == objects().kernels.end()) return out;
  out.name = known->second->name;
  out.shared_virtual = !known->second->pointed_to.empty();
  for (auto const& argument : known->second->arguments) {
    if (argument.kind == Argument::Kind::local) out.local_bytes += argument.bytes;
    out.shared_virtual = out.shared_virtual || argument.kind == Argument::Kind::shared_virtual;
  }
  return out;
}

bool keeps_variables(cl_program program, cl_device_id device) {
  std::size_t bytes = 0;
  auto const status = next.clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_GLOBAL_VARIABLE_TOTAL_SIZE,
                                                 sizeof bytes, &bytes, nullptr);
  if (status == CL_SUCCESS) return bytes > 0;
  // The query failed: assumed where the device has such variables.
  return device_info<std::size_t>(device, CL_DEVICE_MAX_GLOBAL_VARIABLE_SIZE) > 0;
}

// Why the launch cannot go to a device; empty where it can.
std::string obstacle(Command const& command, Queue& queue, Device const& device, Needs const& needs) {
  cl_program program = nullptr;
  next.clGetKernelInfo(command.kernel, CL_KERNEL_PROGRAM, sizeof program, &program, nullptr);
  if (!built_for_both(program, queue.device.id, device.id)) return "its program was not built for " + device.name;
  cl_build_status built = CL_BUILD_NONE;
  next.clGetProgramBuildInfo(program, device.id, CL_PROGRAM_BUILD_STATUS, sizeof built, &built, nullptr);
  if (built != CL_BUILD_SUCCESS) return "its program does not build for " + device.name;
  if (keeps_variables(program, queue.device.id) || keeps_variables(program, device.id))
    return "its program has variables in global memory, of which each device has its own";
  std::size_t items = 1;
  std::vector<std::size_t> most(device_info<cl_uint>(device.id, CL_DEVICE_MAX_WORK_ITEM_DIMENSIONS));
  next.clGetDeviceInfo(device.id, CL_DEVICE_MAX_WORK_ITEM_SIZES, most.size() * sizeof(std::size_t), most.data(),
                       nullptr);
  if (command.dimensions > most.size()) return device.name + " has fewer dimensions";
  for (cl_uint d = 0; command.local && d < command.dimensions; ++d) {
    items *= command.local[d];
    if (command.local[d] > most[d]) items = SIZE_MAX / 4096;
  }
  if (items > group_info<std::size_t>(command.kernel, device.id, CL_KERNEL_WORK_GROUP_SIZE))
    return "its work-groups are too large for " + device.name;
  auto const local_bytes =
      std::max<cl_ulong>(needs.local_bytes, group_info<cl_ulong>(command.kernel, device.id, CL_KERNEL_LOCAL_MEM_SIZE));
  if (local_bytes > device_info<cl_ulong>(device.id, CL_DEVICE_LOCAL_MEM_SIZE))
    return "its work-groups take more shared memory than " + device.name + " has";
  auto const reach = [](cl_device_id id) {
    return device_info<cl_device_svm_capabilities>(id, CL_DEVICE_SVM_CAPABILITIES);
  };
  if (needs.shared_virtual && (reach(queue.device.id) & ~reach(device.id)) != 0)
    return device.name + " has less shared virtual memory";
  if (!our_queue(queue, device)) return device.name + " has no such queue";
  return {};
}

// What the launch waits for in its own queue: in order, all that is there; else its own events and the last barrier.
// (PoCL 3.1 lets a marker in such a queue wait for all that is there, whatever its events.)
class Before {
 public:
  Before(Queue& queue, Command const& command) {
    if (queue.in_order) {
      events_.resize(1);
      status_ = next.clEnqueueMarkerWithWaitList(queue.handle, command.waits, command.wait_list, events_.data());
      marker_ = status_ == CL_SUCCESS ? events_.front() : nullptr;
      return;
    }
    events_.assign(command.wait_list, command.wait_list + command.waits);
    if (queue.barrier) events_.push_back(queue.barrier);
  }
  ~Before() {
    if (marker_) next.clReleaseEvent(marker_);
  }
  Before(Before const&) = delete;
  cl_int status() const { return status_; }
  cl_uint count() const { return static_cast<cl_uint>(events_.size()); }
  cl_event const* events() const { return events_.empty() ? nullptr : events_.data(); }

 private:
  std::vector<cl_event> events_;
  cl_event marker_ = nullptr;
  cl_int status_ = CL_SUCCESS;
};

cl_int launch_on(cl_command_queue ours, Queue& queue, Command const& command) {
  Before const before(queue, command);
  if (before.status() != CL_SUCCESS) return before.status();
  cl_event done = nullptr;
  cl_int const status =
      next.clEnqueueNDRangeKernel(ours, command.kernel, command.dimensions, command.offset, command.global,
                                  command.local, before.count(), before.events(), &done);
  if (status != CL_SUCCESS) return status;
  if (next.clEnqueueMarkerWithWaitList(queue.handle, 1, &done, nullptr) != CL_SUCCESS) {
    next.clFlush(queue.handle);
    next.clWaitForEvents(1, &done);  // slow, and in order
  }
  // The two queues wait for each other, and the application will flush its own at most.
  next.clFlush(queue.handle);
  next.clFlush(ours);
  if (command.event)
    *command.event = done;
  else
    next.clReleaseEvent(done);
  return CL_SUCCESS;
}

cl_int launch_as_requested(Command const& c) {
  return next.clEnqueueNDRangeKernel(c.queue, c.kernel, c.dimensions, c.offset, c.global, c.local, c.waits, c.wait_list,
                                     c.event);
}

void refuse(Decision& decision, std::uint64_t number, Needs const& needs, std::string const& why) {
  if (!decision.refused.exchange(true)) publish_for_steering("unsteered", number, needs.name + '\n' + why + '\n');
}

// Devices that are projected to be faster than the queue's own, the fastest first.
std::vector<Device const*> faster(Queue const& queue, std::uint64_t ranks) {
  std::vector<Device const*> out;
  auto const own = rank_of(ranks, queue.device.number);
  for (auto const& device : queue.others)
    if (auto const rank = rank_of(ranks, device.number); rank > 0 && rank < own) out.push_back(&device);
  auto const order = [&](Device const* d) { return std::pair(rank_of(ranks, d->number), d->number); };
  std::sort(out.begin(), out.end(), [&](Device const* a, Device const* b) { return order(a) < order(b); });
  return out;
}

void mark(std::atomic<std::uint32_t>& devices, Device const& device) {
  auto const bit = device.number < max_steered_devices ? 1u << device.number : 0;
  if ((devices.load(std::memory_order_relaxed) & bit) != bit) devices.fetch_or(bit);
}

}  // namespace

bool steering() {
  return settings().steer && !settings().spool.empty();
}

void publish_for_steering(char const* kind, std::uint64_t number, std::string const& text) {
  Spool const spool(settings().spool);
  spool.publish(std::string(kind) + '-' + std::to_string(getpid()) + '-' + std::to_string(number) + ".txt", text);
}

Decision* decisions() {
  static Decision* const all = [] {
    Spool const spool(settings().spool);
    return reinterpret_cast<Decision*>(
        spool.map("steering-" + std::to_string(getpid()), max_configurations * sizeof(Decision)));
  }();
  return forgotten ? nullptr : all;
}

void forget_steering() {
  forgotten = true;
}

void note(cl_command_queue handle, std::uint64_t number) {
  auto const queue = find_queue(handle);
  if (queue && decisions()) mark(decisions()[number].from, queue->device);
}

std::optional<cl_int> steer(Command const& command, std::uint64_t number) {
  auto const queue = find_queue(command.queue);
  if (!queue || !decisions() || (command.waits != 0) != (command.wait_list != nullptr)) return std::nullopt;
  Decision& decision = decisions()[number];
  mark(decision.from, queue->device);
  auto const ranks = decision.ranks.load(std::memory_order_relaxed);
  auto const devices = ranks == 0 || decision.given_up ? std::vector<Device const*>{} : faster(*queue, ranks);
  if (devices.empty()) return std::nullopt;
  auto const needs = needs_of(command.kernel);
  for (auto const* const device : devices) {
    if (auto const why = obstacle(command, *queue, *device, needs); !why.empty()) {
      refuse(decision, number, needs, why);
      continue;
    }
    auto const status = launch_on(our_queue(*queue, *device), *queue, command);
    if (status == CL_SUCCESS) {
      mark(decision.to, *device);
      decision.steered.fetch_add(1, std::memory_order_relaxed);
      return status;
    }
    // Not a recorded launch, or the device refused: then it is not tried again.
    auto const as_requested = launch_as_requested(command);
    if (as_requested == CL_SUCCESS) {
      refuse(decision, number, needs, device->name + " refuses it with " + std::to_string(status));
      decision.given_up = true;
    }
    return as_requested;
  }
  return std::nullopt;
}

}  // namespace kernelcast::attach
