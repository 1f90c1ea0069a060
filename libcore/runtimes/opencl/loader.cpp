// libOpenCL.so.1 where none is installed: the functions of OpenCL, on the platform and the layers that the environment
// names (OCL_ICD_FILENAMES, OPENCL_LAYERS), as the loaders of ocl-icd and Khronos take them.
//
// Limits: one platform library; no functions of extensions (GL, D3D, EGL) by their symbols.
#include <CL/cl_layer.h>
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <type_traits>

namespace {

template <class Function>
Function function_of(void* library, char const* name) {
  return library ? reinterpret_cast<Function>(dlsym(library, name)) : nullptr;
}

void* opened(std::string const& path) {
  if (path.empty()) return nullptr;
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) std::fprintf(stderr, "kernelcast: %s\n", dlerror());
  return library;
}

// Each layer is called before those that are named before it.
cl_icd_dispatch const* with_layers(cl_icd_dispatch const* table) {
  char const* const named = std::getenv("OPENCL_LAYERS");
  std::string_view rest = named ? named : "";
  while (!rest.empty()) {
    auto const end = rest.find(':');
    auto const library = opened(std::string(rest.substr(0, end)));
    rest = end == rest.npos ? std::string_view() : rest.substr(end + 1);
    cl_uint entries = 0;
    cl_icd_dispatch const* before = nullptr;
    if (auto const init = function_of<pfn_clInitLayer>(library, "clInitLayer");
        init && init(sizeof(cl_icd_dispatch) / sizeof(void*), table, &entries, &before) == CL_SUCCESS && before)
      table = before;
  }
  return table;
}

cl_icd_dispatch const& table() {
  static cl_icd_dispatch const* const made = [] {
    static cl_icd_dispatch of_platform{};
    char const* const path = std::getenv("OCL_ICD_FILENAMES");
    auto* const library = opened(path ? path : "");
    using Address = void*(CL_API_CALL*)(char const*);
    if (auto const address = function_of<Address>(library, "clGetExtensionFunctionAddress")) {
#define X(name) of_platform.name = reinterpret_cast<decltype(of_platform.name)>(address(#name));
#include "runtimes/attach/opencl/calls.def"
#undef X
    }
    return with_layers(&of_platform);
  }();
  return *made;
}

template <auto member>
struct Through;
template <class Result, class... Arguments, Result (CL_API_CALL* cl_icd_dispatch::*member)(Arguments...)>
struct Through<member> {
  static Result CL_API_CALL call(Arguments... arguments) {
    if (auto const function = table().*member) return function(arguments...);
    if constexpr (!std::is_same_v<Result, cl_int>)
      return Result();
    else
      return CL_PLATFORM_NOT_FOUND_KHR;
  }
};

}  // namespace

// Each symbol is its Through<>::call: no signature stands here once more.
#define X(name)                                                             \
  extern "C" void* kernelcast_resolve_##name() {                            \
    return reinterpret_cast<void*>(&Through<&cl_icd_dispatch::name>::call); \
  }                                                                         \
  extern "C" __attribute__((visibility("default"), ifunc("kernelcast_resolve_" #name))) decltype(::name) name;
#include "runtimes/attach/opencl/calls.def"
