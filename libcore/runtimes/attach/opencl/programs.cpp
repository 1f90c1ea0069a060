// Programs: sources, options and headers as they pass, through compiling and linking.
#include <algorithm>

#include "kernels/frontend/source_kind.hpp"
#include "runtimes/attach/opencl/binaries.hpp"
#include "runtimes/attach/opencl/calls.hpp"
#include "runtimes/attach/opencl/objects.hpp"
#include "runtimes/attach/text.hpp"

namespace kernelcast::attach {
namespace {

using Notify = void(CL_CALLBACK*)(cl_program, void*);

// What a program is made of, as one text.
std::string identity(Program const& program) {
  std::string out = program.why_not;
  for (auto const& unit : program.units) {
    out += unit.options + '\n' + unit.source + '\n';
    for (auto const& [name, text] : unit.headers) out += name + '\n' + text + '\n';
  }
  return out;
}

// A record that kernels may hold is never changed: it is replaced.
void remember(cl_program program, Program content) {
  if (!program) return;
  quietly([&] {
    auto const all = identity(content);
    std::lock_guard const lock(objects().mutex);
    content.histories = &objects().histories[all];
    objects().programs[program] = std::make_shared<Program const>(std::move(content));
  });
}

std::shared_ptr<Program const> known(cl_program program) {
  std::lock_guard const lock(objects().mutex);
  auto const found = objects().programs.find(program);
  return found == objects().programs.end() ? nullptr : found->second;
}

cl_program CL_API_CALL create_with_source(cl_context context, cl_uint count, char const** strings,
                                          std::size_t const* lengths, cl_int* status) {
  auto const program = next.clCreateProgramWithSource(context, count, strings, lengths, status);
  quietly([&] {
    if (!program) return;
    Unit unit;
    for (cl_uint i = 0; i < count; ++i)
      unit.source += lengths && lengths[i] ? std::string(strings[i], lengths[i]) : std::string(strings[i]);
    remember(program, {{std::move(unit)}, "", false, nullptr});
  });
  return program;
}

cl_program CL_API_CALL create_with_binary(cl_context context, cl_uint count, cl_device_id const* devices,
                                          std::size_t const* lengths, unsigned char const** binaries,
                                          cl_int* binary_status, cl_int* status) {
  auto const program =
      next.clCreateProgramWithBinary(context, count, devices, lengths, binaries, binary_status, status);
  quietly([&] {
    Program made;
    if (count > 0 && lengths && binaries && binaries[0])
      made.units = units_of({reinterpret_cast<char const*>(binaries[0]), lengths[0]});
    made.from_binary = true;
    if (made.units.empty()) made.why_not = "its program was made from a binary whose source is not known";
    remember(program, std::move(made));
  });
  return program;
}

// Binaries that the application takes away may come back.
cl_int CL_API_CALL program_info(cl_program program, cl_program_info what, std::size_t capacity, void* value,
                                std::size_t* bytes) {
  auto const status = next.clGetProgramInfo(program, what, capacity, value, bytes);
  if (status != CL_SUCCESS || what != CL_PROGRAM_BINARIES || !value) return status;
  quietly([&] {
    auto const made_of = known(program);
    if (!made_of || made_of->units.empty()) return;
    std::size_t size = 0;
    next.clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, 0, nullptr, &size);
    std::vector<std::size_t> sizes(size / sizeof(std::size_t));
    if (next.clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, size, sizes.data(), nullptr) != CL_SUCCESS) return;
    auto const* const binaries = static_cast<char const* const*>(value);
    for (std::size_t i = 0; i < std::min(sizes.size(), capacity / sizeof *binaries); ++i)
      if (binaries[i]) note_binary({binaries[i], sizes[i]}, made_of->units);
  });
  return status;
}

cl_program CL_API_CALL create_with_il(cl_context context, void const* il, std::size_t bytes, cl_int* status) {
  auto const program = next.clCreateProgramWithIL(context, il, bytes, status);
  if (!program) return program;  // what it was to be made of need not be there
  quietly([&] {
    std::string content(static_cast<char const*>(il), bytes);
    if (frontend::is_spirv(content))
      remember(program, {{{std::move(content), {}, {}}}, "", false, nullptr});
    else
      remember(program, {{}, "its program was made from an intermediate language", false, nullptr});
  });
  return program;
}

// By the name that it has before OpenCL 2.1.
void* CL_API_CALL extension_function(cl_platform_id platform, char const* name) {
  void* const found = next.clGetExtensionFunctionAddressForPlatform(platform, name);
  bool const is_ours = found && next.clCreateProgramWithIL && std::string_view(name) == "clCreateProgramWithILKHR";
  return is_ours ? reinterpret_cast<void*>(&create_with_il) : found;
}

cl_int CL_API_CALL set_constant(cl_program program, cl_uint id, std::size_t bytes, void const* value) {
  auto const status = next.clSetProgramSpecializationConstant(program, id, bytes, value);
  if (status != CL_SUCCESS) return status;
  quietly([&] {
    auto const before = known(program);
    if (!before || before->units.size() != 1) return;
    Program changed = *before;
    add_constant(changed.constants, id, bytes, value);
    remember(program, std::move(changed));
  });
  return status;
}

cl_program CL_API_CALL create_with_built_in(cl_context context, cl_uint count, cl_device_id const* devices,
                                            char const* names, cl_int* status) {
  auto const program = next.clCreateProgramWithBuiltInKernels(context, count, devices, names, status);
  remember(program, {{}, "it is built into the device", false, nullptr});
  return program;
}

// Sources are built under their new options; a program without source stays what it is.
void take_options(cl_program program, char const* options, std::vector<std::pair<std::string, std::string>> headers) {
  auto const before = known(program);
  if (!before || before->units.size() != 1 || before->from_binary) return;
  Program changed = *before;
  changed.units.front().options = options_with(options ? options : "", changed.constants);
  changed.units.front().headers = std::move(headers);
  remember(program, std::move(changed));
}

cl_int CL_API_CALL build(cl_program program, cl_uint count, cl_device_id const* devices, char const* options,
                         Notify notify, void* user) {
  quietly([&] { take_options(program, options, {}); });
  return next.clBuildProgram(program, count, devices, options, notify, user);
}

cl_int CL_API_CALL compile(cl_program program, cl_uint devices, cl_device_id const* list, char const* options,
                           cl_uint count, cl_program const* headers, char const** names, Notify notify, void* user) {
  quietly([&] {
    std::vector<std::pair<std::string, std::string>> texts;
    for (cl_uint i = 0; headers && names && i < count; ++i)
      if (auto const header = known(headers[i]); header && !header->units.empty())
        texts.emplace_back(names[i], header->units.front().source);
    take_options(program, options, std::move(texts));
  });
  return next.clCompileProgram(program, devices, list, options, count, headers, names, notify, user);
}

cl_program CL_API_CALL link(cl_context context, cl_uint devices, cl_device_id const* list, char const* options,
                            cl_uint count, cl_program const* programs, Notify notify, void* user, cl_int* status) {
  auto const program = next.clLinkProgram(context, devices, list, options, count, programs, notify, user, status);
  quietly([&] {
    Program linked;
    for (cl_uint i = 0; i < count; ++i) {
      auto const part = known(programs[i]);
      if (!part) linked.why_not = "a program that it was linked from is unknown";
      if (!part) continue;
      if (!part->why_not.empty()) linked.why_not = part->why_not;
      linked.units.insert(linked.units.end(), part->units.begin(), part->units.end());
    }
    remember(program, std::move(linked));
  });
  return program;
}

cl_int CL_API_CALL release_program(cl_program program) {
  cl_uint references = 0;
  next.clGetProgramInfo(program, CL_PROGRAM_REFERENCE_COUNT, sizeof references, &references, nullptr);
  if (references == 1)
    quietly([&] {
      std::lock_guard const lock(objects().mutex);
      objects().programs.erase(program);
    });
  return next.clReleaseProgram(program);
}

}  // namespace

void take_programs(cl_icd_dispatch& layer) {
  layer.clCreateProgramWithSource = create_with_source;
  layer.clCreateProgramWithBinary = create_with_binary;
  layer.clGetProgramInfo = program_info;
  layer.clCreateProgramWithIL = create_with_il;
  layer.clGetExtensionFunctionAddressForPlatform = extension_function;
  layer.clSetProgramSpecializationConstant = set_constant;
  layer.clCreateProgramWithBuiltInKernels = create_with_built_in;
  layer.clLinkProgram = link;
  layer.clBuildProgram = build;
  layer.clCompileProgram = compile;
  layer.clReleaseProgram = release_program;
}

}  // namespace kernelcast::attach
