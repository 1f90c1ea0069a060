// Programs: sources compiled to PTX by the frontend, and binaries of our own, which are the sources again.
#include <algorithm>
#include <filesystem>
#include <sstream>

#include <fmt/format.h>

#include "base/process/process.hpp"
#include "base/process/shell_words.hpp"
#include "runtimes/attach/settings.hpp"
#include "runtimes/attach/text.hpp"
#include "runtimes/opencl/features.hpp"
#include "runtimes/opencl/objects.hpp"

namespace kernelcast::opencl {

namespace {

constexpr std::string_view binary_magic = "kernelcast OpenCL binary 1\n";

// Sources lie where those of the frontend's cache lie, if there is one.
std::string folder() {
  auto const& lasting = attach::settings().programs;
  if (!lasting.empty()) return lasting;
  static auto* const own = new TemporaryFolder;  // removed by the next process that makes one
  return own->path().string();
}

std::string written(std::string const& name, std::string const& text) {
  auto const path = std::filesystem::path(folder()) / name;
  std::error_code error;
  std::filesystem::create_directories(path.parent_path(), error);
  if (!std::filesystem::exists(path, error)) replace_file(path.string(), text);
  return path.string();
}

frontend::Request::Unit unit_of(Unit const& unit) {
  frontend::Request::Unit out{
      written(attach::program_name(unit.source, frontend::opencl_suffix(unit.source)), unit.source),
      attach::options_of(unit.options)};
  if (unit.headers.empty()) return out;
  std::string all;
  for (auto const& [name, text] : unit.headers) all += name + '\n' + text + '\n';
  auto const headers = "headers-" + attach::hash_of(all);
  for (auto const& [name, text] : unit.headers) {
    require(!name.empty() && name.front() != '/' && name.find("..") == name.npos, CL_INVALID_VALUE);
    written(headers + '/' + name, text);
  }
  out.options.insert(out.options.begin(), "-I" + (std::filesystem::path(folder()) / headers).string());
  return out;
}

void put(std::string& out, std::string const& text) {
  out += fmt::format("{}\n{}\n", text.size(), text);
}
std::string take(std::istream& in) {
  std::size_t bytes = 0;
  require((in >> bytes) && in.get() == '\n' && bytes <= std::size_t{1} << 28, CL_INVALID_BINARY);
  std::string text(bytes, '\0');
  in.read(text.data(), static_cast<std::streamsize>(bytes));
  require(in.get() == '\n', CL_INVALID_BINARY);
  return text;
}

std::string binary_of(_cl_program const& program) {
  std::string out(binary_magic);
  out += fmt::format("{} {}\n", program.type, program.units.size());
  put(out, program.options);
  for (auto const& unit : program.units) {
    put(out, unit.source);
    put(out, unit.options);
    out += fmt::format("{}\n", unit.headers.size());
    for (auto const& [name, text] : unit.headers) put(out, name), put(out, text);
  }
  return out;
}

void read_binary(_cl_program& program, std::string_view binary) {
  require(binary.starts_with(binary_magic), CL_INVALID_BINARY);
  std::istringstream in{std::string(binary.substr(binary_magic.size()))};
  std::size_t units = 0;
  require((in >> program.type >> units) && in.get() == '\n' && units <= 4096, CL_INVALID_BINARY);
  program.options = take(in);
  for (std::size_t u = 0; u < units; ++u) {
    Unit unit{take(in), take(in), {}};
    std::size_t headers = 0;
    require((in >> headers) && in.get() == '\n' && headers <= 4096, CL_INVALID_BINARY);
    for (std::size_t h = 0; h < headers; ++h) {
      auto name = take(in);
      unit.headers.emplace_back(std::move(name), take(in));
    }
    program.units.push_back(std::move(unit));
  }
}

// Functions of the source that no part of the program defines. Those of the OpenCL C library, which alone have names
// with types, end a launch that calls them.
void check_calls(frontend::Compiled const& compiled) {
  for (auto const& kernel : compiled.kernels)
    for (auto const& function : kernel.missing)
      if (!function.starts_with("_Z"))
        throw Error(Status::bad_data,
                    fmt::format("kernel '{}' calls '{}', which is not defined", kernel.name, function),
                    "define it, or link the program that does");
}

// Compiles what there is; the log and the status say what became of it.
cl_int build(_cl_program& program, cl_program_binary_type type, cl_int failure) {
  require(program.kernels == 0, CL_INVALID_OPERATION);
  program.code.reset();
  program.code_offset.reset();
  program.log.clear();
  try {
    auto code = compile(program.units, false);
    if (type == CL_PROGRAM_BINARY_TYPE_EXECUTABLE) check_calls(code->compiled);
    program.code = std::move(code);
    for (auto const& note : program.code->compiled.notes) program.log += note + '\n';
    program.status = CL_BUILD_SUCCESS;
    program.type = type;
    return CL_SUCCESS;
  } catch (Error const& error) {
    program.log = error.text("OpenCL C") + '\n';
    program.status = CL_BUILD_ERROR;
    program.type = CL_PROGRAM_BINARY_TYPE_NONE;
    if (error.status() != Status::bad_data) report(error.text("OpenCL C"));
    return error.status() == Status::unavailable ? CL_COMPILER_NOT_AVAILABLE : failure;
  }
}

using Notify = void(CL_CALLBACK*)(cl_program, void*);
cl_int told(cl_program program, Notify notify, void* data, cl_int status) {
  if (!notify) return status;
  shared().due.emplace_back([=] { notify(program, data); });
  return CL_SUCCESS;  // the build's status says the rest
}

// Words of options that no compiler of OpenCL C takes.
void check_options(std::string const& options, Notify notify, void* data) {
  require(notify || !data, CL_INVALID_VALUE);
  for (auto const& word : shell_words(options))
    require(word.size() < 2 || word[0] != '-' || word.starts_with("-cl-") ||
                std::string_view("DUIwWgOxfmBs").find(word[1]) != std::string_view::npos || word == "-create-library" ||
                word == "-enable-link-options",
            CL_INVALID_BUILD_OPTIONS);
}

void check_devices(_cl_program const& program, cl_uint count, cl_device_id const* devices) {
  require((count == 0) == (devices == nullptr), CL_INVALID_VALUE);
  for (cl_uint i = 0; i < count; ++i)
    require(std::ranges::find(program.context->devices, devices[i]) != program.context->devices.end(),
            CL_INVALID_DEVICE);
}

std::string names_of(_cl_program const& program) {
  std::string out;
  for (auto const& kernel : program.code->compiled.kernels) out += (out.empty() ? "" : ";") + kernel.name;
  return out;
}

}  // namespace

std::shared_ptr<Code> compile(std::vector<Unit> const& units, bool with_offset) {
  frontend::Request request;
  for (std::size_t i = 0; i < units.size(); ++i) {
    auto unit = unit_of(units[i]);
    if (i > 0) {
      request.linked.push_back(std::move(unit));
      continue;
    }
    request.path = std::move(unit.path);
    request.options = std::move(unit.options);
  }
  request.registers.clear();  // the program outside asks for those
  request.global_offset = with_offset;
  auto out = std::make_shared<Code>();
  out->compiled = frontend::compile(request);
  return out;
}

Code::~Code() {
  for (auto const& [kernel, program] : ready) shared().memory.forget(*program);
}

emu::Program const& Code::program(std::string const& kernel) {
  auto& place = ready[kernel];
  if (!place) {
    auto const* const function = compiled.module->find_kernel(kernel);
    if (!function) throw Refusal{CL_INVALID_KERNEL_NAME};
    place = std::make_unique<emu::Program>(*compiled.module, *function);
  }
  return *place;
}

std::optional<std::vector<ptx::TouchedPointer>> const& Code::pointers(std::string const& kernel) {
  auto const [known, is_new] = pointers_.try_emplace(kernel);
  if (is_new) known->second = ptx::touched_pointers(program(kernel).kernel());
  return known->second;
}

namespace api {

cl_program CL_API_CALL clCreateProgramWithSource(cl_context context, cl_uint count, char const** texts,
                                                 std::size_t const* lengths, cl_int* error) {
  return make(error, [&](Lock&) {
    auto& in = known_context(context);
    require(count > 0 && texts, CL_INVALID_VALUE);
    std::string source;
    for (cl_uint i = 0; i < count; ++i) {
      require(texts[i] != nullptr, CL_INVALID_VALUE);
      source += lengths && lengths[i] ? std::string(texts[i], lengths[i]) : std::string(texts[i]);
    }
    while (!source.empty() && source.back() == '\0') source.pop_back();
    auto made = std::make_unique<_cl_program>();
    made->context = &in;
    made->units.push_back({std::move(source), {}, {}});
    return made.release();
  });
}

cl_program CL_API_CALL clCreateProgramWithBinary(cl_context context, cl_uint count, cl_device_id const* devices,
                                                 std::size_t const* lengths, unsigned char const** binaries,
                                                 cl_int* status, cl_int* error) {
  return make(error, [&](Lock&) {
    auto& in = known_context(context);
    require(count > 0 && devices && lengths && binaries, CL_INVALID_VALUE);
    auto made = std::make_unique<_cl_program>();
    made->context = &in;
    for (cl_uint i = 0; i < count; ++i) {
      known_device(devices[i]);
      if (status) status[i] = CL_INVALID_BINARY;
      if (made->units.empty()) read_binary(*made, {reinterpret_cast<char const*>(binaries[i]), lengths[i]});
      if (status) status[i] = CL_SUCCESS;
    }
    return made.release();
  });
}

cl_program CL_API_CALL clCreateProgramWithIL(cl_context context, void const* il, std::size_t bytes, cl_int* error) {
  return make(error, [&](Lock&) {
    auto& in = known_context(context);
    require(il && bytes > 0, CL_INVALID_VALUE);
    std::string content(static_cast<char const*>(il), bytes);
    require(frontend::is_spirv(content), CL_INVALID_VALUE);
    for (auto* const device : in.devices)
      if (il_versions(*device).empty())
        report(fmt::format("clCreateProgramWithIL: the driver of {} takes no SPIR-V", device->facts.name));
    auto made = std::make_unique<_cl_program>();
    made->context = &in;
    made->units.push_back({std::move(content), {}, {}});
    return made.release();
  });
}
cl_program CL_API_CALL clCreateProgramWithBuiltInKernels(cl_context, cl_uint, cl_device_id const*, char const*,
                                                         cl_int* error) {
  return make(error, [&](Lock&) -> cl_program { throw Refusal{CL_INVALID_VALUE}; });
}

cl_int CL_API_CALL clRetainProgram(cl_program program) {
  return retain(program, Kind::program, CL_INVALID_PROGRAM);
}
cl_int CL_API_CALL clReleaseProgram(cl_program program) {
  return release(program, Kind::program, CL_INVALID_PROGRAM);
}

cl_int CL_API_CALL clBuildProgram(cl_program given, cl_uint count, cl_device_id const* devices, char const* options,
                                  Notify notify, void* data) {
  return call([&](Lock&) {
    auto& program = known_program(given);
    check_devices(program, count, devices);
    check_options(options ? options : "", notify, data);
    program.options = options ? options : "";
    if (program.type != CL_PROGRAM_BINARY_TYPE_EXECUTABLE || program.code)  // else of a binary, which has its own
      for (auto& unit : program.units) unit.options = attach::options_with(program.options, program.constants);
    return told(given, notify, data, build(program, CL_PROGRAM_BINARY_TYPE_EXECUTABLE, CL_BUILD_PROGRAM_FAILURE));
  });
}

cl_int CL_API_CALL clCompileProgram(cl_program given, cl_uint count, cl_device_id const* devices, char const* options,
                                    cl_uint header_count, cl_program const* headers, char const** names, Notify notify,
                                    void* data) {
  return call([&](Lock&) {
    auto& program = known_program(given);
    check_devices(program, count, devices);
    require((header_count == 0) == (headers == nullptr) && (header_count == 0) == (names == nullptr), CL_INVALID_VALUE);
    require(program.units.size() == 1, CL_INVALID_OPERATION);
    program.options = options ? options : "";
    auto& unit = program.units.front();
    unit.options = attach::options_with(program.options, program.constants);
    unit.headers.clear();
    for (cl_uint h = 0; h < header_count; ++h)
      unit.headers.emplace_back(names[h], known_program(headers[h]).units.at(0).source);
    cl_int const status = build(program, CL_PROGRAM_BINARY_TYPE_COMPILED_OBJECT, CL_COMPILE_PROGRAM_FAILURE);
    program.code.reset();  // it is no executable
    return told(given, notify, data, status);
  });
}

cl_program CL_API_CALL clLinkProgram(cl_context context, cl_uint device_count, cl_device_id const* devices,
                                     char const* options, cl_uint count, cl_program const* programs, Notify notify,
                                     void* data, cl_int* error) {
  cl_int status = CL_SUCCESS;
  cl_int made_status = CL_SUCCESS;
  auto* const out = make(&made_status, [&](Lock&) {
    auto made = std::make_unique<_cl_program>();
    made->context = &known_context(context);
    check_devices(*made, device_count, devices);
    require(count > 0 && programs, CL_INVALID_VALUE);
    made->options = options ? options : "";
    for (cl_uint p = 0; p < count; ++p) {
      auto const& part = known_program(programs[p]);
      require(part.type == CL_PROGRAM_BINARY_TYPE_COMPILED_OBJECT || part.type == CL_PROGRAM_BINARY_TYPE_LIBRARY,
              CL_INVALID_OPERATION);
      made->units.insert(made->units.end(), part.units.begin(), part.units.end());
    }
    auto const words = shell_words(made->options);
    if (std::ranges::find(words, "-create-library") != words.end()) {
      made->status = CL_BUILD_SUCCESS;
      made->type = CL_PROGRAM_BINARY_TYPE_LIBRARY;
    } else {
      status = build(*made, CL_PROGRAM_BINARY_TYPE_EXECUTABLE, CL_LINK_PROGRAM_FAILURE);
    }
    if (notify) shared().due.emplace_back([notify, data, it = made.get()] { notify(it, data); });
    return made.release();
  });
  if (error) *error = out ? status : made_status;
  return out;
}

cl_int CL_API_CALL clUnloadCompiler() {
  return CL_SUCCESS;
}
cl_int CL_API_CALL clUnloadPlatformCompiler(cl_platform_id) {
  return CL_SUCCESS;
}
cl_int CL_API_CALL clSetProgramReleaseCallback(cl_program, Notify, void*) {
  return CL_INVALID_OPERATION;
}
cl_int CL_API_CALL clSetProgramSpecializationConstant(cl_program given, cl_uint id, std::size_t bytes,
                                                      void const* value) {
  return call([&](Lock&) {
    auto& program = known_program(given);
    require(program.units.size() == 1 && frontend::is_spirv(program.units.front().source), CL_INVALID_PROGRAM);
    require(value != nullptr, CL_INVALID_VALUE);
    auto const known = frontend::specialisation_constants(program.units.front().source);
    auto const found = known.find(id);
    require(found != known.end(), CL_INVALID_SPEC_ID);
    require(found->second == bytes, CL_INVALID_VALUE);
    attach::add_constant(program.constants, id, bytes, value);
    return CL_SUCCESS;
  });
}

cl_int CL_API_CALL clGetProgramInfo(cl_program given, cl_program_info what, std::size_t capacity, void* value,
                                    std::size_t* bytes) {
  return call([&](Lock&) {
    auto const& program = known_program(given);
    auto const& devices = program.context->devices;
    Answer const answer{capacity, value, bytes};
    switch (what) {
      case CL_PROGRAM_REFERENCE_COUNT:
        return answer(program.references);
      case CL_PROGRAM_CONTEXT:
        return answer(program.context.get());
      case CL_PROGRAM_NUM_DEVICES:
        return answer(static_cast<cl_uint>(devices.size()));
      case CL_PROGRAM_DEVICES:
        return answer(devices);
      case CL_PROGRAM_SOURCE: {
        std::string all;
        for (auto const& unit : program.units)
          if (!frontend::is_spirv(unit.source)) all += unit.source;
        return answer(all);
      }
      case CL_PROGRAM_IL: {
        std::string il;
        if (program.units.size() == 1 && frontend::is_spirv(program.units.front().source))
          il = program.units.front().source;
        return answer(std::vector<char>(il.begin(), il.end()));
      }
      case CL_PROGRAM_BINARY_SIZES: {
        auto const size = program.type == CL_PROGRAM_BINARY_TYPE_NONE ? 0 : binary_of(program).size();
        return answer(std::vector(devices.size(), std::size_t{size}));
      }
      case CL_PROGRAM_BINARIES: {
        require(!value || capacity >= devices.size() * sizeof(char*), CL_INVALID_VALUE);
        auto const binary = program.type == CL_PROGRAM_BINARY_TYPE_NONE ? std::string{} : binary_of(program);
        for (std::size_t d = 0; value && d < devices.size(); ++d)
          if (auto* const to = static_cast<char**>(value)[d]) std::ranges::copy(binary, to);
        if (bytes) *bytes = devices.size() * sizeof(char*);
        return cl_int{CL_SUCCESS};
      }
      case CL_PROGRAM_NUM_KERNELS:
        require(program.code != nullptr, CL_INVALID_PROGRAM_EXECUTABLE);
        return answer(program.code->compiled.kernels.size());
      case CL_PROGRAM_KERNEL_NAMES:
        require(program.code != nullptr, CL_INVALID_PROGRAM_EXECUTABLE);
        return answer(names_of(program));
      case CL_PROGRAM_SCOPE_GLOBAL_CTORS_PRESENT:
      case CL_PROGRAM_SCOPE_GLOBAL_DTORS_PRESENT:
        return answer(cl_bool{CL_FALSE});
      default:
        return cl_int{CL_INVALID_VALUE};
    }
  });
}

cl_int CL_API_CALL clGetProgramBuildInfo(cl_program given, cl_device_id device, cl_program_build_info what,
                                         std::size_t capacity, void* value, std::size_t* bytes) {
  return call([&](Lock&) {
    auto const& program = known_program(given);
    known_device(device);
    Answer const answer{capacity, value, bytes};
    switch (what) {
      case CL_PROGRAM_BUILD_STATUS:
        return answer(program.status);
      case CL_PROGRAM_BUILD_OPTIONS:
        return answer(program.options);
      case CL_PROGRAM_BUILD_LOG:
        return answer(program.log);
      case CL_PROGRAM_BINARY_TYPE:
        return answer(program.type);
      case CL_PROGRAM_BUILD_GLOBAL_VARIABLE_TOTAL_SIZE:
        return answer(std::size_t{0});
      default:
        return cl_int{CL_INVALID_VALUE};
    }
  });
}

}  // namespace api
}  // namespace kernelcast::opencl
