// Kernels, their arguments, and a launch laid out for the emulator.
#include <algorithm>
#include <cstdio>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "kernels/ptx/module.hpp"
#include "runtimes/attach/settings.hpp"
#include "runtimes/opencl/objects.hpp"

using namespace kernelcast::opencl;
using kernelcast::frontend::ArgumentKind;

_cl_kernel::_cl_kernel(_cl_program& p, kernelcast::frontend::KernelInfo const& i)
    : Object(Kind::kernel), program(&p), code(p.code), info(i), arguments(i.arguments.size()) {
  ++p.kernels;
}

namespace kernelcast::opencl {

namespace {

ptx::Function const& function_of(Code& code, std::string const& kernel) {
  return code.program(kernel).kernel();
}

bool is_pointer(ArgumentKind kind) {
  return kind == ArgumentKind::global_buffer || kind == ArgumentKind::constant_buffer;
}

void set_argument(_cl_kernel& kernel, cl_uint index, std::size_t bytes, void const* value) {
  require(index < kernel.arguments.size(), CL_INVALID_ARG_INDEX);
  auto const& wanted = kernel.info.arguments[index];
  _cl_kernel::Argument next;
  next.set = true;
  switch (wanted.kind) {
    case ArgumentKind::shared_buffer:
      require(value == nullptr, CL_INVALID_ARG_VALUE);
      require(bytes > 0, CL_INVALID_ARG_SIZE);
      next.local_bytes = bytes;
      break;
    case ArgumentKind::sampler: {
      require(bytes == sizeof(cl_sampler), CL_INVALID_ARG_SIZE);
      require(value != nullptr, CL_INVALID_SAMPLER);
      next.sampler = &known(*static_cast<cl_sampler const*>(value), Kind::sampler, CL_INVALID_SAMPLER);
      break;
    }
    case ArgumentKind::image:
    case ArgumentKind::global_buffer:
    case ArgumentKind::constant_buffer: {
      require(bytes == sizeof(cl_mem), CL_INVALID_ARG_SIZE);
      auto* const memory = value ? *static_cast<cl_mem const*>(value) : nullptr;
      if (memory)
        next.memory = ArgumentMemory(wanted.kind == ArgumentKind::image ? &known_image(memory) : &known_buffer(memory));
      require(memory || wanted.kind != ArgumentKind::image, CL_INVALID_MEM_OBJECT);
      if (wanted.kind == ArgumentKind::image) {
        require(wanted.access == "read_only" || !(memory->flags & CL_MEM_READ_ONLY), CL_INVALID_ARG_VALUE);
        require(wanted.access == "write_only" || !(memory->flags & CL_MEM_WRITE_ONLY), CL_INVALID_ARG_VALUE);
      }
      break;
    }
    case ArgumentKind::value: {
      auto const& parameter = function_of(*kernel.code, kernel.info.name).parameters[index];
      require(bytes == parameter.size, CL_INVALID_ARG_SIZE);
      require(value != nullptr, CL_INVALID_ARG_VALUE);
      auto const* const from = static_cast<std::byte const*>(value);
      next.value.assign(from, from + bytes);
      break;
    }
  }
  kernel.arguments[index] = std::move(next);
}

// As drivers choose it: the largest divisors of the sizes that fit, the first dimension first.
Range chosen_local(Range const& global, std::size_t most, Range const& each) {
  Range out{1, 1, 1};
  for (std::size_t d = 0; d < 3; ++d)
    for (std::size_t size = std::min({most, global[d], each[d]}); size > 0; --size)
      if (global[d] % size == 0) {
        out[d] = size;
        most /= size;
        break;
      }
  return out;
}

class Preparation {
 public:
  Preparation(_cl_kernel& kernel, PreparedLaunch& out) : kernel_(kernel), out_(out) {}

  void parameters(emu::Program const& program) {
    auto const& function = program.kernel();
    require(function.parameters.size() == kernel_.arguments.size(), CL_INVALID_KERNEL);
    out_.launch.parameters.resize(function.parameter_bytes);
    std::uint64_t const begin = program.static_shared_bytes();
    shared_end_ = begin;
    for (std::size_t i = 0; i < kernel_.arguments.size(); ++i) {
      require(kernel_.arguments[i].set, CL_INVALID_KERNEL_ARGS);
      parameter(i, function.parameters[i]);
    }
    require(shared_end_ <= std::uint64_t{1} << 30, CL_OUT_OF_RESOURCES);
    out_.launch.dynamic_shared_bytes = static_cast<std::uint32_t>(shared_end_ - begin);
  }
  std::uint64_t shared_bytes() const { return shared_end_; }

 private:
  void parameter(std::size_t i, ptx::Parameter const& parameter) {
    auto const& given = kernel_.arguments[i];
    std::uint64_t word = 0;
    switch (kernel_.info.arguments[i].kind) {
      case ArgumentKind::value:
        std::memcpy(out_.launch.parameters.data() + parameter.offset, given.value.data(), given.value.size());
        return;
      case ArgumentKind::shared_buffer: {
        std::uint64_t const align = std::max<std::uint64_t>(16, parameter.pointer_align);
        word = (shared_end_ + align - 1) / align * align;
        shared_end_ = word + given.local_bytes;
        break;
      }
      case ArgumentKind::sampler:
        word = given.sampler->handle;
        out_.samplers.push_back(given.sampler);
        break;
      case ArgumentKind::image:
        word = given.memory->handle;
        out_.memory.emplace_back(given.memory.get());
        break;
      default:
        if (given.memory) {
          word = given.memory->address;
          out_.memory.emplace_back(given.memory.get());
        } else if (!given.value.empty()) {  // shared virtual memory
          std::memcpy(&word, given.value.data(), sizeof word);
        }
    }
    std::memcpy(out_.launch.parameters.data() + parameter.offset, &word, std::min<std::size_t>(8, parameter.size));
  }

  _cl_kernel& kernel_;
  PreparedLaunch& out_;
  std::uint64_t shared_end_ = 0;
};

void print(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
}

cl_int argument_answer(frontend::Argument const& argument, cl_kernel_arg_info what, Answer const& answer) {
  switch (what) {
    case CL_KERNEL_ARG_ADDRESS_QUALIFIER:
      return answer(static_cast<cl_kernel_arg_address_qualifier>(
          argument.kind == ArgumentKind::constant_buffer ? CL_KERNEL_ARG_ADDRESS_CONSTANT
          : argument.kind == ArgumentKind::shared_buffer ? CL_KERNEL_ARG_ADDRESS_LOCAL
          : argument.kind == ArgumentKind::global_buffer || argument.kind == ArgumentKind::image
              ? CL_KERNEL_ARG_ADDRESS_GLOBAL
              : CL_KERNEL_ARG_ADDRESS_PRIVATE));
    case CL_KERNEL_ARG_ACCESS_QUALIFIER:
      return answer(static_cast<cl_kernel_arg_access_qualifier>(
          argument.access == "read_only"    ? CL_KERNEL_ARG_ACCESS_READ_ONLY
          : argument.access == "write_only" ? CL_KERNEL_ARG_ACCESS_WRITE_ONLY
          : argument.access == "read_write" ? CL_KERNEL_ARG_ACCESS_READ_WRITE
                                            : CL_KERNEL_ARG_ACCESS_NONE));
    case CL_KERNEL_ARG_TYPE_NAME:
      return answer(argument.type_name);
    case CL_KERNEL_ARG_TYPE_QUALIFIER: {
      auto const has = [&](char const* word) { return argument.qualifiers.find(word) != std::string::npos; };
      return answer(static_cast<cl_kernel_arg_type_qualifier>((has("const") ? CL_KERNEL_ARG_TYPE_CONST : 0) |
                                                              (has("restrict") ? CL_KERNEL_ARG_TYPE_RESTRICT : 0) |
                                                              (has("volatile") ? CL_KERNEL_ARG_TYPE_VOLATILE : 0)));
    }
    case CL_KERNEL_ARG_NAME:
      return answer(argument.name);
    default:
      return CL_INVALID_VALUE;
  }
}

std::uint64_t local_bytes_of(_cl_kernel const& kernel) {
  std::uint64_t out = kernel.info.shared_bytes;
  for (auto const& argument : kernel.arguments) out += argument.local_bytes;
  return out;
}

constexpr std::size_t word_bytes = sizeof(std::size_t);

// Of a work-group.
std::size_t max_items_of(_cl_kernel const& kernel, _cl_device_id const& device) {
  auto const& required = kernel.info.required_group;
  return required ? std::size_t{(*required)[0]} * (*required)[1] * (*required)[2] : device.max_group_items();
}

}  // namespace

PreparedLaunch prepare(_cl_kernel& kernel, _cl_command_queue const& queue, cl_uint dimensions,
                       std::size_t const* offset, std::size_t const* global, std::size_t const* local) {
  require(dimensions >= 1 && dimensions <= 3, CL_INVALID_WORK_DIMENSION);
  require(kernel.program->context.get() == queue.context.get(), CL_INVALID_CONTEXT);
  Range items{1, 1, 1}, of_group{1, 1, 1}, from{0, 0, 0};
  for (cl_uint d = 0; d < dimensions; ++d) {
    items[d] = global ? global[d] : 0;
    if (offset) from[d] = offset[d];
    require(items[d] <= 0xffffffffu, CL_INVALID_GLOBAL_WORK_SIZE);
    require(from[d] <= 0xffffffffu - items[d], CL_INVALID_GLOBAL_OFFSET);  // ids have 32 bits here
  }
  auto const most = queue.device->max_group_items();
  auto const each = queue.device->max_items();
  auto const& required = kernel.info.required_group;
  bool const nothing = items[0] == 0 || items[1] == 0 || items[2] == 0;
  if (nothing)
    require(queue.device->facts.vendor != "AMD", CL_INVALID_GLOBAL_WORK_SIZE);  // before OpenCL 2.1
  else if (local)
    for (cl_uint d = 0; d < dimensions; ++d) of_group[d] = local[d];
  else if (required)
    of_group = {(*required)[0], (*required)[1], (*required)[2]};
  else
    of_group = chosen_local(items, std::min<std::size_t>(most, 256), each);
  if (required && !nothing)
    require(of_group == Range{(*required)[0], (*required)[1], (*required)[2]}, CL_INVALID_WORK_GROUP_SIZE);
  std::size_t count = 1;
  for (std::size_t d = 0; d < 3; ++d) {
    require(of_group[d] > 0, CL_INVALID_WORK_GROUP_SIZE);
    require(of_group[d] <= each[d], CL_INVALID_WORK_ITEM_SIZE);
    require(nothing || items[d] % of_group[d] == 0, CL_INVALID_WORK_GROUP_SIZE);
    count *= of_group[d];
  }
  require(count <= most, CL_INVALID_WORK_GROUP_SIZE);

  PreparedLaunch out;
  out.kernel = kernel.info.name;
  out.program = kernel.program;
  out.code = kernel.code;
  if (from != Range{0, 0, 0}) {
    auto& with_offset = kernel.program->code_offset;
    if (!with_offset) with_offset = compile(kernel.program->units, true);
    out.code = with_offset;
  }
  auto const& program = out.code->program(out.kernel);
  Preparation preparation(kernel, out);
  preparation.parameters(program);
  require(preparation.shared_bytes() <= queue.device->local_bytes(), CL_OUT_OF_RESOURCES);
  auto const word = [](std::size_t value) { return static_cast<std::uint32_t>(value); };
  out.launch.block = {word(of_group[0]), word(of_group[1]), word(of_group[2])};
  out.launch.grid = {word(items[0] / of_group[0]), word(items[1] / of_group[1]), word(items[2] / of_group[2])};
  for (std::size_t d = 0; d < 3; ++d) out.launch.envreg[3 + d] = word(from[d]);
  out.launch.envreg[6] = dimensions;
  out.launch.stack_bytes = static_cast<std::uint32_t>(attach::settings().stack_bytes);
  out.launch.print = print;
  return out;
}

namespace api {

cl_kernel CL_API_CALL clCreateKernel(cl_program given, char const* name, cl_int* error) {
  return make(error, [&](Lock&) {
    auto& program = known_program(given);
    require(program.code != nullptr, CL_INVALID_PROGRAM_EXECUTABLE);
    require(name != nullptr, CL_INVALID_VALUE);
    auto const& kernels = program.code->compiled.kernels;
    auto const at = std::ranges::find(kernels, std::string_view(name), &frontend::KernelInfo::name);
    require(at != kernels.end(), CL_INVALID_KERNEL_NAME);
    return std::make_unique<_cl_kernel>(program, *at).release();
  });
}

cl_int CL_API_CALL clCreateKernelsInProgram(cl_program given, cl_uint capacity, cl_kernel* out, cl_uint* count) {
  return call([&](Lock&) {
    auto& program = known_program(given);
    require(program.code != nullptr, CL_INVALID_PROGRAM_EXECUTABLE);
    auto const& kernels = program.code->compiled.kernels;
    require(!out || capacity >= kernels.size(), CL_INVALID_VALUE);
    for (std::size_t k = 0; out && k < kernels.size(); ++k) out[k] = new _cl_kernel(program, kernels[k]);
    if (count) *count = static_cast<cl_uint>(kernels.size());
  });
}

cl_kernel CL_API_CALL clCloneKernel(cl_kernel given, cl_int* error) {
  return make(error, [&](Lock&) {
    auto& kernel = known_kernel(given);
    auto made = std::make_unique<_cl_kernel>(*kernel.program, kernel.info);
    made->arguments = kernel.arguments;
    return made.release();
  });
}

cl_int CL_API_CALL clRetainKernel(cl_kernel kernel) {
  return retain(kernel, Kind::kernel, CL_INVALID_KERNEL);
}
cl_int CL_API_CALL clReleaseKernel(cl_kernel kernel) {
  return release(kernel, Kind::kernel, CL_INVALID_KERNEL);
}

cl_int CL_API_CALL clSetKernelArg(cl_kernel kernel, cl_uint index, std::size_t bytes, void const* value) {
  return call([&](Lock&) { set_argument(known_kernel(kernel), index, bytes, value); });
}

cl_int CL_API_CALL clSetKernelArgSVMPointer(cl_kernel given, cl_uint index, void const* pointer) {
  return call([&](Lock&) {
    auto& kernel = known_kernel(given);
    require(index < kernel.arguments.size(), CL_INVALID_ARG_INDEX);
    require(is_pointer(kernel.info.arguments[index].kind), CL_INVALID_ARG_VALUE);
    require(!pointer || allocation_of(pointer).first != 0, CL_INVALID_ARG_VALUE);
    _cl_kernel::Argument next;
    next.set = true;
    next.value.resize(sizeof pointer);
    std::memcpy(next.value.data(), &pointer, sizeof pointer);
    kernel.arguments[index] = std::move(next);
  });
}

// All of it is there for every kernel.
cl_int CL_API_CALL clSetKernelExecInfo(cl_kernel kernel, cl_kernel_exec_info what, std::size_t, void const* value) {
  return call([&](Lock&) {
    known_kernel(kernel);
    require(value != nullptr, CL_INVALID_VALUE);
    require(what == CL_KERNEL_EXEC_INFO_SVM_PTRS || what == CL_KERNEL_EXEC_INFO_SVM_FINE_GRAIN_SYSTEM,
            CL_INVALID_VALUE);
    require(what == CL_KERNEL_EXEC_INFO_SVM_PTRS || !*static_cast<cl_bool const*>(value), CL_INVALID_OPERATION);
  });
}

cl_int CL_API_CALL clGetKernelInfo(cl_kernel given, cl_kernel_info what, std::size_t capacity, void* value,
                                   std::size_t* bytes) {
  return call([&](Lock&) {
    auto const& kernel = known_kernel(given);
    Answer const answer{capacity, value, bytes};
    switch (what) {
      case CL_KERNEL_FUNCTION_NAME:
        return answer(kernel.info.name);
      case CL_KERNEL_NUM_ARGS:
        return answer(static_cast<cl_uint>(kernel.arguments.size()));
      case CL_KERNEL_REFERENCE_COUNT:
        return answer(kernel.references);
      case CL_KERNEL_CONTEXT:
        return answer(kernel.program->context.get());
      case CL_KERNEL_PROGRAM:
        return answer(kernel.program.get());
      case CL_KERNEL_ATTRIBUTES:
        return answer(fmt::format("{}", fmt::join(kernel.info.attributes, " ")));
      default:
        return cl_int{CL_INVALID_VALUE};
    }
  });
}

cl_int CL_API_CALL clGetKernelArgInfo(cl_kernel given, cl_uint index, cl_kernel_arg_info what, std::size_t capacity,
                                      void* value, std::size_t* bytes) {
  return call([&](Lock&) {
    auto const& kernel = known_kernel(given);
    require(index < kernel.arguments.size(), CL_INVALID_ARG_INDEX);
    return argument_answer(kernel.info.arguments[index], what, {capacity, value, bytes});
  });
}

cl_int CL_API_CALL clGetKernelWorkGroupInfo(cl_kernel given, cl_device_id device, cl_kernel_work_group_info what,
                                            std::size_t capacity, void* value, std::size_t* bytes) {
  return call([&](Lock&) {
    auto const& kernel = known_kernel(given);
    auto const& of = device ? known_device(device) : *kernel.program->context->devices.front();
    auto const& required = kernel.info.required_group;
    Answer const answer{capacity, value, bytes};
    switch (what) {
      case CL_KERNEL_WORK_GROUP_SIZE:
        return answer(max_items_of(kernel, of));
      case CL_KERNEL_COMPILE_WORK_GROUP_SIZE:
        return answer(required ? Range{(*required)[0], (*required)[1], (*required)[2]} : Range{0, 0, 0});
      case CL_KERNEL_LOCAL_MEM_SIZE:
        return answer(cl_ulong{local_bytes_of(kernel)});
      case CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE:
        return answer(of.preferred_multiple());
      case CL_KERNEL_PRIVATE_MEM_SIZE:
        return answer(cl_ulong{0});
      default:
        return cl_int{CL_INVALID_VALUE};
    }
  });
}

cl_int CL_API_CALL clGetKernelSubGroupInfo(cl_kernel given, cl_device_id device, cl_kernel_sub_group_info what,
                                           std::size_t input_bytes, void const* input, std::size_t capacity,
                                           void* value, std::size_t* bytes) {
  return call([&](Lock&) {
    auto const& kernel = known_kernel(given);
    auto const& devices = kernel.program->context->devices;
    require(device || devices.size() == 1, CL_INVALID_DEVICE);
    auto const& of = device ? known_device(device) : *devices.front();
    require(std::ranges::find(devices, &of) != devices.end(), CL_INVALID_DEVICE);
    require(of.max_sub_groups() > 0, CL_INVALID_OPERATION);
    std::vector<std::size_t> const in(static_cast<std::size_t const*>(input),
                                      static_cast<std::size_t const*>(input) + (input ? input_bytes / word_bytes : 0));
    std::size_t items = 1;
    for (auto const side : in) items *= side;
    auto const groups = [](std::size_t n) { return (n + sub_group_items - 1) / sub_group_items; };
    Answer const answer{capacity, value, bytes};
    switch (what) {
      case CL_KERNEL_MAX_SUB_GROUP_SIZE_FOR_NDRANGE:
        require(!in.empty() && in.size() <= 3, CL_INVALID_VALUE);
        return answer(sub_group_items);
      case CL_KERNEL_SUB_GROUP_COUNT_FOR_NDRANGE:
        require(!in.empty() && in.size() <= 3, CL_INVALID_VALUE);
        return answer(groups(items));
      case CL_KERNEL_LOCAL_SIZE_FOR_SUB_GROUP_COUNT: {
        require(in.size() == 1 && capacity % word_bytes == 0 && capacity <= 3 * word_bytes, CL_INVALID_VALUE);
        bool const fits = in[0] > 0 && in[0] * sub_group_items <= of.max_group_items();
        std::vector<std::size_t> out(std::max<std::size_t>(1, capacity / word_bytes), fits ? 1 : 0);
        if (fits) out[0] = in[0] * sub_group_items;
        return answer(out);
      }
      case CL_KERNEL_MAX_NUM_SUB_GROUPS:
        return answer(groups(max_items_of(kernel, of)));
      case CL_KERNEL_COMPILE_NUM_SUB_GROUPS:
        return answer(std::size_t{0});
      default:
        return cl_int{CL_INVALID_VALUE};
    }
  });
}

cl_int CL_API_CALL clGetKernelSubGroupInfoKHR(cl_kernel kernel, cl_device_id device, cl_kernel_sub_group_info what,
                                              std::size_t input_bytes, void const* input, std::size_t capacity,
                                              void* value, std::size_t* bytes) {
  return api::clGetKernelSubGroupInfo(kernel, device, what, input_bytes, input, capacity, value, bytes);
}

}  // namespace api
}  // namespace kernelcast::opencl
