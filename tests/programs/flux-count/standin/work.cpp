// What streams and graphs execute.
#include <cstring>
#include <thread>

#include "state.hpp"

using namespace kernelcast;

namespace standin {

namespace {

// A place in a device's memory, or null: then it is the host's.
std::byte* in_device(void const* pointer, int device) {
  auto const address = reinterpret_cast<std::uint64_t>(pointer);
  auto const* const buffer = state().device[device].memory.find(address);
  return buffer ? buffer->data + (address - buffer->address) : nullptr;
}

std::byte* place(void const* pointer, int device, bool on_device) {
  auto* const host = static_cast<std::byte*>(const_cast<void*>(pointer));
  if (!on_device) return host;
  if (auto* const own = in_device(pointer, device)) return own;
  for (int other = devices; other-- > 0;)
    if (auto* const found = in_device(pointer, other)) return found;
  return nullptr;
}

int run(Kernel const& kernel, int device, Dim3 grid, Dim3 block, std::vector<std::byte> const& parameters,
        std::size_t shared) {
  auto& memory = state().device[device].memory;
  auto const& module = *kernel.image->module;
  emu::Program const program(module, *module.find_kernel(kernel.name));
  emu::Launch launch;
  launch.grid = {grid.x, grid.y, grid.z};
  launch.block = {block.x, block.y, block.z};
  launch.dynamic_shared_bytes = static_cast<std::uint32_t>(shared);
  launch.parameters = parameters;
  static std::map<int, std::uint64_t> meeting_places;  // of grids, by device
  auto& meeting = meeting_places[device];
  if (!meeting) meeting = memory.add("grid barrier", 256);
  launch.envreg[1] = static_cast<std::uint32_t>(meeting >> 32);
  launch.envreg[2] = static_cast<std::uint32_t>(meeting);
  std::vector<std::uint64_t> groups;
  for (std::uint64_t g = 0; g < launch.grid.count(); ++g) groups.push_back(g);
  auto const outcome = emu::run(program, launch, memory, groups, {});
  return outcome.ending == emu::Ending::done ? success : launch_failure;
}

}  // namespace

Work kernel_work(void const* host, Dim3 grid, Dim3 block, void** arguments, std::size_t shared) {
  auto const found = state().kernels.find(host);
  if (found == state().kernels.end()) return [] { return 98; };  // cudaErrorInvalidDeviceFunction
  auto const kernel = found->second;
  if (!kernel.image->module) return [] { return success; };
  auto const& function = *kernel.image->module->find_kernel(kernel.name);
  std::vector<std::byte> parameters(function.parameter_bytes);
  for (std::size_t p = 0; p < function.parameters.size(); ++p)
    std::memcpy(parameters.data() + function.parameters[p].offset, arguments[p], function.parameters[p].size);
  return [=, device = current_device()] { return run(kernel, device, grid, block, parameters, shared); };
}

Work copy_work(void* to, void const* from, std::size_t bytes, int kind) {
  int const device = current_device();
  if (kind == 4) {  // cudaMemcpyDefault
    bool const to_device = place(to, device, true), from_device = place(from, device, true);
    kind = (from_device ? 2 : 0) + (to_device ? 1 : 0);
  }
  return [=] {
    auto* const target = place(to, device, kind & 1);
    auto* const source = place(from, device, kind & 2);
    if (!target || !source) return invalid_value;
    std::memcpy(target, source, bytes);
    return success;
  };
}

Work fill_work(void* at, int value, std::size_t bytes) {
  return [=, device = current_device()] {
    auto* const target = place(at, device, true);
    if (!target) return invalid_value;
    std::memset(target, value, bytes);
    return success;
  };
}

Work host_work(void (*function)(void*), void* data) {
  return [=] {
    std::thread(function, data).join();  // who waits for it may hold a lock that it wants
    return success;
  };
}

}  // namespace standin
