// Loaded into an application before its libraries (LD_PRELOAD): it sees to it that the functions of NVRTC and nvJitLink
// that hand out machine code are those of the driver on the emulator (driver/compilers.cpp). Applications open these
// libraries by their full path and look the functions up by name.
//
// It is in every process that the application starts: it needs nothing but the C library (an application may have
// another C++ library), and opens the driver only for a function in question.
#include <dlfcn.h>

#include <cstddef>
#include <cstring>

namespace {

using Find = void*(void*, char const*);
using InPlaceOf = void*(void*, char const*, Find*);

Find* find_function() {
  constexpr char const* versions[] = {"GLIBC_2.34", "GLIBC_2.2.5", "GLIBC_2.17"};
  for (char const* const version : versions)
    if (void* const found = dlvsym(RTLD_NEXT, "dlsym", version)) return reinterpret_cast<Find*>(found);
  return nullptr;
}

Find* real_dlsym() {
  static Find* found = nullptr;  // found anew by each thread that comes too early: it is the same
  if (!found) found = find_function();
  return found;
}

bool begins_with(char const* text, char const* prefix) {
  return std::strncmp(text, prefix, std::strlen(prefix)) == 0;
}

// Null where the library's own is right.
void* in_place_of(void* library, char const* name) {
  if (!begins_with(name, "nvrtcGetCUBIN") && !begins_with(name, "nvJitLink") && !begins_with(name, "__nvJitLink"))
    return nullptr;
  auto* const find = real_dlsym();
  if (!find(library, name)) return nullptr;
  void* const driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
  void* const ours = driver ? find(driver, "kernelcast_in_place_of") : nullptr;
  return ours ? reinterpret_cast<InPlaceOf*>(ours)(library, name, find) : nullptr;
}

// Of the library that an application is linked with, and loaded as the linker would.
template <class Function>
Function* of_next(char const* name) {
  void* const real = real_dlsym()(RTLD_NEXT, name);
  Dl_info where{};
  void* const library = real && dladdr(real, &where) ? dlopen(where.dli_fname, RTLD_LAZY | RTLD_NOLOAD) : nullptr;
  void* const ours = library ? in_place_of(library, name) : nullptr;
  return reinterpret_cast<Function*>(ours ? ours : real);
}

}  // namespace

#define EXPORT extern "C" __attribute__((visibility("default")))

// The last call is a jump: what RTLD_NEXT means depends on who has called.
EXPORT void* dlsym(void* library, char const* name) noexcept {
  // In the whole process the first would be ours, below.
  if (library == RTLD_DEFAULT && begins_with(name, "nvrtcGetCUBIN"))
    return reinterpret_cast<void*>(of_next<void()>(name));
  if (void* const ours = in_place_of(library, name)) return ours;
  return real_dlsym()(library, name);
}

// Programs that are linked with NVRTC call these.
EXPORT int nvrtcGetCUBINSize(void* program, std::size_t* size) {
  return of_next<int(void*, std::size_t*)>("nvrtcGetCUBINSize")(program, size);
}
EXPORT int nvrtcGetCUBIN(void* program, char* out) {
  return of_next<int(void*, char*)>("nvrtcGetCUBIN")(program, out);
}
