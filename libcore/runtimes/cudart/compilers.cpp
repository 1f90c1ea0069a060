// Loaded into an application before its libraries (LD_PRELOAD): it sees to it that the functions of NVRTC and nvJitLink
// that hand out machine code are those of the driver on the emulator (driver/compilers.cpp). Applications open these
// libraries by their full path and look the functions up by name. Of libraries whose kernels are machine code, opened
// by their full path as Python packages do, it opens ours, which is first on the library path.
//
// libomptarget, of clang's OpenMP, opens libcuda.so, and compiles by LLVM and ptxas: what it needs is there from then
// on.
//
// It is in every process that the application starts: it needs nothing but the C library (an application may have
// another C++ library), and opens the driver only for a function in question.
#include <dlfcn.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

using Find = void*(void*, char const*);
using Open = void*(char const*, int);
using InPlaceOf = void*(void*, char const*, Find*);

template <class Function>
Function* find_function(char const* name) {
  constexpr char const* versions[] = {"GLIBC_2.34", "GLIBC_2.2.5", "GLIBC_2.17"};
  for (char const* const version : versions)
    if (void* const found = dlvsym(RTLD_NEXT, name, version)) return reinterpret_cast<Function*>(found);
  return nullptr;
}

Find* real_dlsym() {
  static Find* found = nullptr;  // found anew by each thread that comes too early: it is the same
  if (!found) found = find_function<Find>("dlsym");
  return found;
}

Open* real_dlopen() {
  static Open* found = nullptr;
  if (!found) found = find_function<Open>("dlopen");
  return found;
}

bool begins_with(char const* text, char const* prefix) {
  return std::strncmp(text, prefix, std::strlen(prefix)) == 0;
}

// LLVM's compiler for GPUs, which libomptarget of Debian's packages does not set up, and our ptxas first on the PATH.
void prepare_offload() {
  auto* const find = real_dlsym();
  if (!find(RTLD_DEFAULT, "__tgt_register_lib")) return;
  constexpr char const* parts[] = {"LLVMInitializeNVPTXTargetInfo", "LLVMInitializeNVPTXTarget",
                                   "LLVMInitializeNVPTXTargetMC", "LLVMInitializeNVPTXAsmPrinter"};
  for (char const* const part : parts)
    if (void* const initialize = find(RTLD_DEFAULT, part)) reinterpret_cast<void (*)()>(initialize)();
  Dl_info own{};
  if (!dladdr(reinterpret_cast<void const*>(prepare_offload), &own) || !std::strrchr(own.dli_fname, '/')) return;
  auto const folder = std::strrchr(own.dli_fname, '/') - own.dli_fname;
  char const* const before = std::getenv("PATH");
  char* path = nullptr;
  if (asprintf(&path, "%.*s/kernelcast-offload:%s", static_cast<int>(folder), own.dli_fname, before ? before : "") < 0)
    return;
  setenv("PATH", path, 1);
  std::free(path);
}

// The name of a library of ours that stands for the one at a path, or the path.
char const* without_folder(char const* path) {
  constexpr char const* ours[] = {"libcublas.so.", "libcublasLt.so.", "libcufft.so.",
                                  "libcupti.so.",  "libcurand.so.",   "libnccl.so."};
  char const* const slash = path ? std::strrchr(path, '/') : nullptr;
  if (slash)
    for (char const* const name : ours)
      if (begins_with(slash + 1, name)) return slash + 1;
  return path;
}

// Null where the library's own is right.
void* in_place_of(void* library, char const* name) {
  if (!begins_with(name, "nvrtcGetCUBIN") && !begins_with(name, "nvJitLink") && !begins_with(name, "__nvJitLink"))
    return nullptr;
  auto* const find = real_dlsym();
  if (!find(library, name)) return nullptr;
  void* const driver = real_dlopen()("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
  void* const ours = driver ? find(driver, "kernelcast_in_place_of") : nullptr;
  return ours ? reinterpret_cast<InPlaceOf*>(ours)(library, name, find) : nullptr;
}

// Of the library that an application is linked with, and loaded as the linker would.
template <class Function>
Function* of_next(char const* name) {
  void* const real = real_dlsym()(RTLD_NEXT, name);
  Dl_info where{};
  void* const library =
      real && dladdr(real, &where) ? real_dlopen()(where.dli_fname, RTLD_LAZY | RTLD_NOLOAD) : nullptr;
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

// Ours where there is one of that version, and the library itself otherwise. The last call is a jump here, too: a
// library looks for others where its own file says.
EXPORT void* dlopen(char const* path, int flags) noexcept {
  char const* name = without_folder(path);
  if (path && std::strcmp(path, "libcuda.so") == 0) {  // where the driver is installed, a link to the other
    name = "libcuda.so.1";
    prepare_offload();
  }
  if (name != path)
    if (void* const ours = real_dlopen()(name, flags)) return ours;
  return real_dlopen()(path, flags);
}

// Programs that are linked with NVRTC call these.
EXPORT int nvrtcGetCUBINSize(void* program, std::size_t* size) {
  return of_next<int(void*, std::size_t*)>("nvrtcGetCUBINSize")(program, size);
}
EXPORT int nvrtcGetCUBIN(void* program, char* out) {
  return of_next<int(void*, char*)>("nvrtcGetCUBIN")(program, out);
}
