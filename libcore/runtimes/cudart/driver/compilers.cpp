// The compilers that an application calls itself, NVRTC and nvJitLink: what they hand out as machine code is PTX here,
// which is what the emulator runs.
//
// NVRTC makes the PTX of a program on its way to machine code: it is handed out. nvJitLink's inputs are linked here;
// those in the form for optimisation while linking (-dlto) go to nvJitLink itself first, which makes PTX of them.
// Which functions are replaced is seen by ../compilers.cpp, which is loaded before the application's libraries.
#include <algorithm>
#include <charconv>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "base/diag/diag.hpp"
#include "runtimes/cudart/devices.hpp"
#include "runtimes/cudart/driver/call.hpp"
#include "runtimes/cudart/driver/link.hpp"

using namespace kernelcast;
using namespace kernelcast::driver;

namespace {

using Find = void*(void*, char const*);
Find* find_function = nullptr;  // dlsym, without what ../compilers.cpp puts in its place

template <class Function>
Function* of_library(void* library, char const* name) {
  return reinterpret_cast<Function*>(find_function(library, name));
}

// ---------------------------------------------------------------- NVRTC

namespace nvrtc {

struct Program;
using GetSize = int(Program*, std::size_t*);
using GetBytes = int(Program*, char*);
GetSize *cubin_size_of = nullptr, *ptx_size_of = nullptr;
GetBytes* ptx_of = nullptr;

// Without machine code (for a virtual architecture) there is none here.
int cubin_size(Program* program, std::size_t* size) {
  int const code = cubin_size_of(program, size);
  return code == 0 && *size > 0 ? ptx_size_of(program, size) : code;
}
int cubin(Program* program, char* out) {
  return ptx_of(program, out);
}

void* find(void* library, std::string_view name) {
  auto* const real = of_library<GetSize>(library, "nvrtcGetCUBINSize");
  if (!cubin_size_of) {
    cubin_size_of = real;
    ptx_size_of = of_library<GetSize>(library, "nvrtcGetPTXSize");
    ptx_of = of_library<GetBytes>(library, "nvrtcGetPTX");
  } else if (real != cubin_size_of) {
    cudart::report("a second NVRTC in a process hands out machine code, which does not run on the emulator");
    return nullptr;
  }
  return name == "nvrtcGetCUBIN" ? reinterpret_cast<void*>(&cubin) : reinterpret_cast<void*>(&cubin_size);
}

}  // namespace nvrtc

// ---------------------------------------------------------------- nvJitLink

namespace jit {

enum class Result : int { success, bad_option, no_architecture, invalid_input, ptx_failed, failed = 6 };
enum class Input : int { none, cubin, ptx, intermediate, fatbin, object, library, index, any = 10 };
constexpr std::uint32_t intermediate_magic = 0x1EE55A01;

struct Real;  // nvJitLink's own handle
using Create = Result(Real**, std::uint32_t, char const**);
using Destroy = Result(Real**);
using AddData = Result(Real*, Input, void const*, std::size_t, char const*);
using Complete = Result(Real*);
using GetSize = Result(Real*, std::size_t*);
using GetText = Result(Real*, char*);
void* library = nullptr;  // the application's

struct Linked : Link {
  std::vector<std::string> options;
  Real* real = nullptr;  // where there are inputs for it
  std::string error;
};

Result failed(Linked& link, Result result, std::string why) {
  cudart::report("nvJitLink: " + why);
  link.error = std::move(why);
  return result;
}

// What the function of nvJitLink that gives a size and the one that gives the text give.
std::string text_of(Real* real, char const* size_name, char const* name) {
  std::size_t size = 0;
  auto* const get_size = of_library<GetSize>(library, size_name);
  auto* const get = of_library<GetText>(library, name);
  if (!get_size || !get || get_size(real, &size) != Result::success || size == 0) return {};
  std::string out(size, '\0');
  if (get(real, out.data()) != Result::success) return {};
  out.resize(std::strlen(out.c_str()));
  return out;
}

Result begin_real(Linked& link) {
  auto options = link.options;
  for (std::string const needed : {"-lto", "-ptx"})
    if (std::find(options.begin(), options.end(), needed) == options.end()) options.push_back(needed);
  std::vector<char const*> texts;
  for (auto const& option : options) texts.push_back(option.c_str());
  auto* const create = of_library<Create>(library, "nvJitLinkCreate");
  return create ? create(&link.real, static_cast<std::uint32_t>(texts.size()), texts.data()) : Result::failed;
}

Result create(Linked** out, std::uint32_t count, char const** options) {
  if (!out || (count > 0 && !options)) return Result::invalid_input;
  *out = new Linked;
  (*out)->options.assign(options, options + count);
  constexpr std::string_view max_registers = "-maxrregcount=";
  for (std::string_view const option : (*out)->options)
    if (option.starts_with(max_registers))
      std::from_chars(option.data() + max_registers.size(), option.data() + option.size(), (*out)->max_registers);
  return Result::success;
}

Result destroy(Linked** link) {
  if (!link || !*link) return Result::invalid_input;
  auto* const destroy_real = of_library<Destroy>(library, "nvJitLinkDestroy");
  if ((*link)->real && destroy_real) destroy_real(&(*link)->real);
  delete *link;
  *link = nullptr;
  return Result::success;
}

PartKind part_kind_of(Input input) {
  switch (input) {
    case Input::fatbin:
      return PartKind::fatbin;
    case Input::object:
      return PartKind::object;
    case Input::library:
      return PartKind::library;
    default:
      return PartKind::ptx;
  }
}

Result add_data(Linked* link, Input input, void const* data, std::size_t size, char const* name) {
  if (!link || !data) return Result::invalid_input;
  bool const begins_as_intermediate =
      size >= sizeof intermediate_magic && std::memcmp(data, &intermediate_magic, sizeof intermediate_magic) == 0;
  if (input == Input::intermediate || begins_as_intermediate) {
    if (!link->real)
      if (auto const result = begin_real(*link); result != Result::success) return result;
    auto* const add = of_library<AddData>(library, "nvJitLinkAddData");
    return add ? add(link->real, Input::intermediate, data, size, name) : Result::failed;
  }
  try {
    auto const code = cudart::call([&](cudart::Devices const& devices) {
      return add_part(*link, part_kind_of(input), data, size, name, cudart::capability(devices.current()));
    });
    return code == Code::success ? Result::success
                                 : failed(*link, Result::invalid_input,
                                          std::string(name ? name : "an input") + " has no PTX for this device");
  } catch (Error const& error) {
    return failed(*link, Result::ptx_failed, error.text("PTX"));
  }
}

Result add_file(Linked* link, Input input, char const* path) {
  auto const content = content_of(path);
  if (!link || !content) return Result::invalid_input;
  return add_data(link, input, content->data(), content->size() - 1, path);
}

Result complete(Linked* link) {
  if (!link) return Result::invalid_input;
  try {
    if (link->real) {
      auto* const complete_real = of_library<Complete>(library, "nvJitLinkComplete");
      auto const result = complete_real ? complete_real(link->real) : Result::failed;
      if (result != Result::success) return result;
      auto const made = text_of(link->real, "nvJitLinkGetLinkedPtxSize", "nvJitLinkGetLinkedPtx");
      add_part(*link, PartKind::ptx, made.data(), made.size(), "nvJitLink", 0);
    }
    if (link->parts.empty()) return failed(*link, Result::invalid_input, "there is nothing to link");
    driver::complete(*link);
    return Result::success;
  } catch (Error const& error) {
    return failed(*link, Result::failed, error.text("linking"));
  }
}

// With the zero behind it.
Result linked_size(Linked* link, std::size_t* size) {
  if (!link || !size || link->linked.empty()) return Result::invalid_input;
  *size = link->linked.size() + 1;
  return Result::success;
}
Result linked(Linked* link, char* out) {
  if (!link || !out || link->linked.empty()) return Result::invalid_input;
  std::memcpy(out, link->linked.c_str(), link->linked.size() + 1);
  return Result::success;
}
Result not_kept(Linked* link, void*) {
  return link ? failed(*link, Result::invalid_input, "only PTX comes out of linking on the emulator")
              : Result::invalid_input;
}

std::string errors_of(Linked const& link) {
  return link.error +
         (link.real ? text_of(link.real, "nvJitLinkGetErrorLogSize", "nvJitLinkGetErrorLog") : std::string{});
}
Result error_size(Linked* link, std::size_t* size) {
  if (!link || !size) return Result::invalid_input;
  *size = errors_of(*link).size() + 1;
  return Result::success;
}
Result error(Linked* link, char* out) {
  if (!link || !out) return Result::invalid_input;
  auto const text = errors_of(*link);
  std::memcpy(out, text.c_str(), text.size() + 1);
  return Result::success;
}
Result info_size(Linked* link, std::size_t* size) {
  if (!link || !size) return Result::invalid_input;
  *size = 1;
  return Result::success;
}
Result info(Linked* link, char* out) {
  if (!link || !out) return Result::invalid_input;
  *out = '\0';
  return Result::success;
}

struct Named {
  std::string_view name;
  void* function;
};
template <class Function>
Named named(std::string_view name, Function* function) {
  return {name, reinterpret_cast<void*>(function)};
}

void* find(void* of, std::string_view name) {
  static Named const all[] = {named("Create", &create),           named("Destroy", &destroy),
                              named("AddData", &add_data),        named("AddFile", &add_file),
                              named("Complete", &jit::complete),  named("GetLinkedCubinSize", &linked_size),
                              named("GetLinkedCubin", &linked),   named("GetLinkedPtxSize", &linked_size),
                              named("GetLinkedPtx", &linked),     named("GetLinkedLTOIRSize", &not_kept),
                              named("GetLinkedLTOIR", &not_kept), named("GetErrorLogSize", &error_size),
                              named("GetErrorLog", &error),       named("GetInfoLogSize", &info_size),
                              named("GetInfoLog", &info)};
  auto const found = std::find_if(std::begin(all), std::end(all), [&](Named const& n) { return n.name == name; });
  if (found == std::end(all)) return nullptr;
  library = of;
  return found->function;
}

}  // namespace jit

}  // namespace

// Of a library that the application has loaded: what takes the place of its function, or null.
extern "C" __attribute__((visibility("default"))) void* kernelcast_in_place_of(void* library, char const* name,
                                                                               Find* find) {
  static std::mutex mutex;
  std::scoped_lock const lock(mutex);
  find_function = find;
  std::string_view text(name);
  if (text == "nvrtcGetCUBIN" || text == "nvrtcGetCUBINSize") return nvrtc::find(library, text);
  // __nvJitLinkCreate_12_4 is what headers make of nvJitLinkCreate.
  constexpr std::string_view prefix = "nvJitLink";
  if (text.starts_with("__")) text = text.substr(2, text.find('_', 2) - 2);
  return text.starts_with(prefix) ? jit::find(library, text.substr(prefix.size())) : nullptr;
}
