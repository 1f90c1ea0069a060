// Program: what a decoded kernel tells about itself.
#include "emu/decode/program.hpp"

#include <algorithm>

#include "diag/diag.hpp"
#include "emu/decode/decode.hpp"
#include "ptx/inline.hpp"

namespace kernelcast::emu {

Program::Program(ptx::Module const& module, ptx::Function const& kernel) : impl_(std::make_unique<Impl>()) {
  if (!kernel.has_body)
    throw Error(Status::bad_data, {module.path, kernel.at.line, kernel.at.column},
                "kernel '" + std::string(kernel.name) + "' has no body", "link it with the file that defines it");
  if (module.address_size != 64)
    throw Error(Status::bad_data, {module.path, 1, 1}, "addresses of 32 bits are not supported",
                "compile for a 64-bit target");
  impl_->module = &module;
  impl_->whole = ptx::inline_calls(module, kernel);
  impl_->kernel = impl_->whole ? impl_->whole.get() : &kernel;
  impl_->handlers = &best_handlers();
  Drafts drafts{*impl_, {}, {}, {}, {}};
  decode(drafts);
  fuse(drafts);
  allocate(drafts);
}

Program::~Program() = default;
Program::Program(Program&&) noexcept = default;

ptx::Module const& Program::module() const {
  return *impl_->module;
}
ptx::Function const& Program::kernel() const {
  return *impl_->kernel;
}
std::span<BasicBlock const> Program::blocks() const {
  return impl_->blocks;
}
Class Program::instruction_class(std::uint32_t instruction) const {
  return impl_->classes[instruction];
}
bool Program::guarded(std::uint32_t instruction) const {
  return impl_->guarded[instruction];
}
std::uint32_t Program::static_shared_bytes() const {
  return impl_->static_shared_bytes;
}
bool Program::prints() const {
  auto const& instructions = impl_->kernel->instructions;
  return std::any_of(instructions.begin(), instructions.end(),
                     [&](ptx::Instruction const& i) { return emu::prints(*impl_->module, i); });
}
bool Program::order_dependent() const {
  return impl_->order_dependent;
}

}  // namespace kernelcast::emu
