#include "intercept/cuda/registry.hpp"

#include <limits>

#include <fmt/format.h>

#include "diag/diag.hpp"
#include "fatbin/fatbin.hpp"
#include "intercept/cuda/errors.hpp"
#include "ptx/parser.hpp"

namespace kernelcast::cudart {

Program& Registry::add_program(void const* fatbin) {
  auto& program = *programs_.emplace_back(std::make_unique<Program>());
  program.fatbin = fatbin;
  return program;
}

void Registry::add_kernel(void const* host_function, Program& program, char const* name) {
  auto& kernel = kernels_[host_function];
  kernel = std::make_unique<Kernel>();
  kernel->program = &program;
  kernel->name = name;
  handles_[kernel.get()] = kernel.get();
}

void Registry::add_symbol(void const* host_variable, Program& program, char const* name, std::size_t bytes) {
  symbols_[host_variable] = {&program, name, bytes};
}

Kernel* Registry::kernel(void const* function_or_handle) {
  if (auto const found = kernels_.find(function_or_handle); found != kernels_.end()) return found->second.get();
  auto const found = handles_.find(function_or_handle);
  return found == handles_.end() ? nullptr : found->second;
}

Symbol const* Registry::symbol(void const* host_variable) const {
  auto const found = symbols_.find(host_variable);
  return found == symbols_.end() ? nullptr : &found->second;
}

Code Registry::load(Program& program, std::uint32_t capability, emu::Memory& memory) {
  if (program.loaded) return program.failure;
  program.loaded = true;
  try {
    auto found = fatbin::ptx_of(program.fatbin, capability);
    for (std::uint32_t newer = capability + 1; !found && newer < 1000; ++newer)
      if ((found = fatbin::ptx_of(program.fatbin, newer)))
        tell(fmt::format("the application is for sm_{} and newer, it runs on the emulator of an sm_{} all the same",
                         found->sm, capability));
    if (!found) {
      tell("the application holds no PTX, only machine code: compile it with -gencode arch=compute_75,code=compute_75");
      return program.failure = Code::no_kernel_image_for_device;
    }
    program.module = ptx::parse(std::move(found->text), "the application's PTX");
    for (auto const& variable : program.managed)
      *variable.pointer = reinterpret_cast<void*>(memory.address_of(*program.module, variable.name));
  } catch (Error const& error) {
    tell(error.text("PTX"));
    program.failure = Code::invalid_ptx;
  } catch (std::exception const& error) {
    tell(fmt::format("a program of the application cannot be read: {}", error.what()));
    program.failure = Code::invalid_kernel_image;
  }
  return program.failure;
}

Code Registry::prepare(Kernel& kernel, std::uint32_t capability, emu::Memory& memory) {
  if (kernel.ready) return Code::success;
  if (auto const failure = load(*kernel.program, capability, memory); failure != Code::success) return failure;
  kernel.function = kernel.program->module->find_kernel(kernel.name);
  if (!kernel.function) return Code::invalid_device_function;
  kernel.ready = std::make_unique<emu::Program>(*kernel.program->module, *kernel.function);
  return Code::success;
}

}  // namespace kernelcast::cudart
