// Contexts and queues.
#include <algorithm>

#include "runtimes/opencl/objects.hpp"

using namespace kernelcast::opencl;

_cl_context::~_cl_context() {
  auto& due = shared().due;
  due.insert(due.end(), destructors.rbegin(), destructors.rend());
}

_cl_command_queue::~_cl_command_queue() {
  std::erase(shared().queues, this);
}

namespace kernelcast::opencl {

namespace {

_cl_platform_id& platform_in(std::vector<cl_context_properties> const& properties) {
  _cl_platform_id* out = nullptr;
  std::vector<cl_context_properties> seen;
  for (std::size_t i = 0; i + 1 < properties.size(); i += 2) {
    auto const name = properties[i];
    require(name == CL_CONTEXT_PLATFORM || name == CL_CONTEXT_INTEROP_USER_SYNC, CL_INVALID_PROPERTY);
    require(std::ranges::find(seen, name) == seen.end(), CL_INVALID_PROPERTY);
    seen.push_back(name);
    if (name == CL_CONTEXT_INTEROP_USER_SYNC)
      require(properties[i + 1] == CL_TRUE || properties[i + 1] == CL_FALSE, CL_INVALID_PROPERTY);
    if (name == CL_CONTEXT_PLATFORM)
      out = &known(reinterpret_cast<cl_platform_id>(properties[i + 1]), Kind::platform, CL_INVALID_PLATFORM);
  }
  require(out || !platforms().empty(), CL_INVALID_PLATFORM);
  return out ? *out : *platforms()[0];
}

cl_context make_context(cl_context_properties const* properties, std::vector<cl_device_id> devices) {
  auto made = std::make_unique<_cl_context>();
  made->properties = list_of(properties);
  auto& platform = platform_in(made->properties);
  for (auto* device : devices) {
    auto const& of = known_device(device).platform;
    require(properties == nullptr || &of == &platform, CL_INVALID_DEVICE);
  }
  made->devices = std::move(devices);
  return made.release();
}

cl_command_queue make_queue(cl_context context, cl_device_id device, cl_command_queue_properties properties,
                            std::vector<cl_queue_properties> given) {
  auto& in = known_context(context);
  known_device(device);
  require(std::ranges::find(in.devices, device) != in.devices.end(), CL_INVALID_DEVICE);
  constexpr cl_command_queue_properties possible = CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE | CL_QUEUE_PROFILING_ENABLE;
  constexpr cl_command_queue_properties on_device = CL_QUEUE_ON_DEVICE | CL_QUEUE_ON_DEVICE_DEFAULT;
  require((properties & ~(possible | on_device)) == 0, CL_INVALID_VALUE);
  if ((properties & on_device) != 0) {
    report("queues on the device are not there on the emulator");
    throw Refusal{CL_INVALID_QUEUE_PROPERTIES};
  }
  auto made = std::make_unique<_cl_command_queue>();
  made->context = &in;
  made->device = device;
  made->properties = properties;
  made->given = std::move(given);
  shared().queues.push_back(made.get());
  return made.release();
}

}  // namespace

namespace api {

cl_context CL_API_CALL clCreateContext(cl_context_properties const* properties, cl_uint count,
                                       cl_device_id const* devices,
                                       void(CL_CALLBACK* notify)(char const*, void const*, std::size_t, void*),
                                       void* data, cl_int* error) {
  return make(error, [&](Lock&) {
    require(count > 0 && devices && (notify || !data), CL_INVALID_VALUE);
    return make_context(properties, {devices, devices + count});
  });
}

cl_context CL_API_CALL clCreateContextFromType(cl_context_properties const* properties, cl_device_type type,
                                               void(CL_CALLBACK* notify)(char const*, void const*, std::size_t, void*),
                                               void* data, cl_int* error) {
  return make(error, [&](Lock&) {
    require(notify || !data, CL_INVALID_VALUE);
    auto& platform = platform_in(list_of(properties));
    require_type(type);
    require((type & (CL_DEVICE_TYPE_GPU | CL_DEVICE_TYPE_DEFAULT)) != 0, CL_DEVICE_NOT_FOUND);
    std::vector<cl_device_id> devices;
    for (auto const& device : platform.devices) devices.push_back(device.get());
    if (type == CL_DEVICE_TYPE_DEFAULT) devices.resize(1);
    return make_context(properties, std::move(devices));
  });
}

cl_int CL_API_CALL clRetainContext(cl_context context) {
  return retain(context, Kind::context, CL_INVALID_CONTEXT);
}
cl_int CL_API_CALL clReleaseContext(cl_context context) {
  return release(context, Kind::context, CL_INVALID_CONTEXT);
}

cl_int CL_API_CALL clGetContextInfo(cl_context given, cl_context_info what, std::size_t capacity, void* value,
                                    std::size_t* bytes) {
  return call([&](Lock&) {
    auto const& context = known_context(given);
    Answer const answer{capacity, value, bytes};
    switch (what) {
      case CL_CONTEXT_REFERENCE_COUNT:
        return answer(context.references);
      case CL_CONTEXT_NUM_DEVICES:
        return answer(static_cast<cl_uint>(context.devices.size()));
      case CL_CONTEXT_DEVICES:
        return answer(context.devices);
      case CL_CONTEXT_PROPERTIES:
        return answer(context.properties);
      default:
        return cl_int{CL_INVALID_VALUE};
    }
  });
}

cl_int CL_API_CALL clSetContextDestructorCallback(cl_context given, void(CL_CALLBACK* function)(cl_context, void*),
                                                  void* data) {
  return call([&](Lock&) {
    auto& context = known_context(given);
    require(function != nullptr, CL_INVALID_VALUE);
    context.destructors.emplace_back([=] { function(given, data); });
  });
}

cl_command_queue CL_API_CALL clCreateCommandQueue(cl_context context, cl_device_id device,
                                                  cl_command_queue_properties properties, cl_int* error) {
  return make(error, [&](Lock&) { return make_queue(context, device, properties, {}); });
}

cl_command_queue CL_API_CALL clCreateCommandQueueWithProperties(cl_context context, cl_device_id device,
                                                                cl_queue_properties const* given, cl_int* error) {
  return make(error, [&](Lock&) {
    auto const list = list_of(given);
    cl_command_queue_properties properties = 0;
    for (std::size_t i = 0; i + 1 < list.size(); i += 2) {
      require(list[i] == CL_QUEUE_PROPERTIES, CL_INVALID_VALUE);
      properties = list[i + 1];
    }
    return make_queue(context, device, properties, list);
  });
}

cl_int CL_API_CALL clRetainCommandQueue(cl_command_queue queue) {
  return retain(queue, Kind::queue, CL_INVALID_COMMAND_QUEUE);
}
// Commands that wait keep it.
cl_int CL_API_CALL clReleaseCommandQueue(cl_command_queue queue) {
  return release(queue, Kind::queue, CL_INVALID_COMMAND_QUEUE);
}

cl_int CL_API_CALL clGetCommandQueueInfo(cl_command_queue given, cl_command_queue_info what, std::size_t capacity,
                                         void* value, std::size_t* bytes) {
  return call([&](Lock&) {
    auto const& queue = known_queue(given);
    Answer const answer{capacity, value, bytes};
    switch (what) {
      case CL_QUEUE_CONTEXT:
        return answer(queue.context.get());
      case CL_QUEUE_DEVICE:
        return answer(queue.device);
      case CL_QUEUE_REFERENCE_COUNT:
        return answer(queue.references);
      case CL_QUEUE_PROPERTIES:
        return answer(queue.properties);
      case CL_QUEUE_PROPERTIES_ARRAY:
        return answer(queue.given);
      case CL_QUEUE_SIZE:
        return cl_int{CL_INVALID_COMMAND_QUEUE};  // it is not on the device
      case CL_QUEUE_DEVICE_DEFAULT:
        return answer(cl_command_queue{nullptr});
      default:
        return cl_int{CL_INVALID_VALUE};
    }
  });
}

// Of OpenCL 1.0.
cl_int CL_API_CALL clSetCommandQueueProperty(cl_command_queue queue, cl_command_queue_properties, cl_bool,
                                             cl_command_queue_properties*) {
  return call([&](Lock&) {
    known_queue(queue);
    return cl_int{CL_INVALID_OPERATION};
  });
}

cl_int CL_API_CALL clSetDefaultDeviceCommandQueue(cl_context, cl_device_id, cl_command_queue) {
  return CL_INVALID_OPERATION;
}

}  // namespace api
}  // namespace kernelcast::opencl
