// Programs, kernels and launches.
#include <cstdlib>
#include <cstring>

#include "kernels/cuda/fatbin.hpp"
#include "kernels/ptx/parser.hpp"
#include "state.hpp"

using namespace standin;
namespace cudart = kernelcast::cudart;

namespace {

struct Configuration {
  Dim3 grid, block;
  std::size_t shared;
  void* stream;
};
Configuration& configuration() {
  thread_local Configuration the{};
  return the;
}

// As a driver does it: words of an entry's header say where in it are its options (their place and length) and its
// name.
bool strings_lie_in_the_header(std::vector<std::byte> const& entry) {
  auto const word = [&](std::size_t at) {
    std::uint32_t value = 0;
    std::memcpy(&value, entry.data() + at, sizeof value);
    return std::uint64_t{value};
  };
  std::uint64_t const header = word(4), options = word(20), name = word(32), name_bytes = word(36);
  if (name && name + name_bytes > header) return false;
  return !options || (options + 8 <= header && word(options) + word(options + 4) <= header);
}

void read_module(Image& image, void const* fatbin) {
  for (auto const& entry : kernelcast::fatbin::entries_of(fatbin))
    if (!strings_lie_in_the_header(entry.unchanged)) std::abort();
  std::uint32_t newest = architecture();
  for (auto ptx = kernelcast::fatbin::ptx_of(fatbin, newest); ptx;
       ptx = kernelcast::fatbin::ptx_of(fatbin, newest - 1)) {
    newest = ptx->sm;
    if (!image.sm) image.sm = ptx->sm;
    try {
      image.module = kernelcast::ptx::parse(ptx->text, "fatbin");
      return;
    } catch (std::exception const&) {
    }
  }
}

}  // namespace

extern "C" {

void** __cudaRegisterFatBinary(void* wrapper) {
  Lock const lock;
  auto& image = *state().images.emplace_back(std::make_unique<Image>());
  read_module(image, static_cast<cudart::FatbinWrapper*>(wrapper)->data);
  return reinterpret_cast<void**>(&image);
}
void __cudaRegisterFatBinaryEnd(void**) {}
void __cudaUnregisterFatBinary(void**) {}
char __cudaInitModule(void**) {
  return 1;
}
void __cudaRegisterFunction(void** handle, char const* host, char*, char const* name, int, void*, void*, void*, void*,
                            int*) {
  Lock const lock;
  state().kernels[host] = {reinterpret_cast<Image*>(handle), name};
}
unsigned __cudaPushCallConfiguration(Dim3 grid, Dim3 block, std::size_t shared, void* stream) {
  configuration() = {grid, block, shared, stream};
  return 0;
}
int __cudaPopCallConfiguration(Dim3* grid, Dim3* block, std::size_t* shared, void* stream) {
  auto const& c = configuration();
  *grid = c.grid, *block = c.block, *shared = c.shared;
  *static_cast<void**>(stream) = c.stream;
  return success;
}
int __cudaGetKernel(void const** kernel, void const* host) {
  *kernel = host;
  return success;
}
int cudaFuncGetAttributes(cudart::FunctionAttributes* out, void const* host) {
  Lock const lock;
  if (int const error = forbidden_in_capture()) return error;
  auto const found = state().kernels.find(host);
  if (found == state().kernels.end()) return 98;
  auto const& kernel = found->second;
  std::memset(out, 0, 144);  // as large as cudaFuncAttributes
  out->ptx_version = static_cast<int>(kernel.image->sm);
  out->binary_version = static_cast<int>(architecture());
  out->max_threads_per_block = 1024;
  if (auto const* const module = kernel.image->module.get())
    out->shared_bytes = kernelcast::emu::Program(*module, *module->find_kernel(kernel.name)).static_shared_bytes();
  return success;
}

int cudaLaunchKernel(void const* host, Dim3 grid, Dim3 block, void** arguments, std::size_t shared, void* stream) {
  Lock const lock;
  if (std::uint64_t{block.x} * block.y * block.z > 1024) return 9;  // cudaErrorInvalidConfiguration
  return submit(stream_of(stream), kernel_work(host, grid, block, arguments, shared));
}
int cudaLaunchCooperativeKernel(void const* host, Dim3 grid, Dim3 block, void** arguments, std::size_t shared,
                                void* stream) {
  return cudaLaunchKernel(host, grid, block, arguments, shared, stream);
}
int cudaLaunchKernelExC(cudart::LaunchConfiguration const* c, void const* host, void** arguments) {
  return cudaLaunchKernel(host, c->grid, c->block, arguments, c->shared_bytes, c->stream);
}
int __cudaLaunchKernel(void const* kernel, Dim3 grid, Dim3 block, void** arguments, std::size_t shared, void* stream) {
  return cudaLaunchKernel(kernel, grid, block, arguments, shared, stream);
}

}  // extern "C"
