// Program: what a decoded kernel tells about itself.
#include "emulator/decode/program.hpp"

#include <algorithm>

#include "base/diag/diag.hpp"
#include "emulator/decode/decode.hpp"
#include "kernels/ptx/inline.hpp"

namespace kernelcast::emu {

namespace {

// Groups may run side by side where nothing but one plain barrier brings a group's work-items together, and no group
// can tell when another one ran.
bool can_pack(Program::Impl const& p) {
  if (p.order_dependent || p.synchronises) return false;
  for (ptx::Instruction const& i : p.kernel->instructions)
    if (i.is_image_access() ||
        i.is(ptx::Op::call, ptx::Op::mbarrier, ptx::Op::cp, ptx::Op::ldmatrix, ptx::Op::stmatrix, ptx::Op::wmma,
             ptx::Op::tcgen05, ptx::Op::alloca, ptx::Op::stacksave, ptx::Op::mapa, ptx::Op::nanosleep))
      return false;
  for (BlockCode const& block : p.code) {
    End const& end = block.end;
    if (end.kind == End::Kind::arrive || end.kind == End::Kind::call) return false;
    if (end.kind != End::Kind::barrier) continue;
    auto const& operands = p.kernel->instructions[end.instruction].operands;
    bool const plain = operands.empty() || (operands.size() == 1 && operands[0].kind == ptx::Operand::Kind::integer &&
                                            operands[0].value == 0);
    if (!plain || end.reduction != End::Reduction::none) return false;
  }
  return true;
}

// Groups may share a warp where no operation looks at the other lanes of its own.
bool can_share_warps(Program::Impl const& p) {
  for (ptx::Instruction const& i : p.kernel->instructions)
    if (i.is(ptx::Op::shfl, ptx::Op::vote, ptx::Op::match, ptx::Op::redux, ptx::Op::activemask, ptx::Op::elect,
             ptx::Op::mma, ptx::Op::movmatrix))
      return false;
  return std::none_of(p.code.begin(), p.code.end(),
                      [](BlockCode const& block) { return block.end.kind == End::Kind::warp_barrier; });
}

}  // namespace

WmmaFragments wmma_fragments(unsigned capability) {
  return capability >= 70 && capability < 75 ? WmmaFragments::volta : WmmaFragments::later;
}
WmmaFragments wmma_fragments(ptx::Module const& module) {
  bool const volta = std::ranges::any_of(
      module.targets, [](std::string_view target) { return target == "sm_70" || target == "sm_72"; });
  return volta ? WmmaFragments::volta : WmmaFragments::later;
}

Program::Program(ptx::Module const& module, ptx::Function const& kernel, WmmaFragments fragments)
    : impl_(std::make_unique<Impl>()) {
  if (!kernel.has_body)
    throw Error(Status::bad_data, {module.path, kernel.at.line, kernel.at.column},
                "kernel '" + std::string(kernel.name) + "' has no body", "link it with the file that defines it");
  if (module.address_size != 64)
    throw Error(Status::bad_data, {module.path, 1, 1}, "addresses of 32 bits are not supported",
                "compile for a 64-bit target");
  impl_->module = &module;
  impl_->wmma_fragments = fragments;
  impl_->whole = ptx::whole_function(module, kernel);
  impl_->kernel = impl_->whole ? &impl_->whole->function : &kernel;
  impl_->handlers = &best_handlers();
  Drafts drafts{*impl_, {}, {}, {}, {}};
  decode(drafts);
  std::vector<std::uint32_t> const ranks = ranks_of_blocks(drafts);
  fuse(drafts);
  allocate(drafts);
  impl_->ranked_blocks.resize(ranks.size());
  for (std::uint32_t b = 0; b < ranks.size(); ++b) {
    impl_->code[b].rank = ranks[b];
    impl_->ranked_blocks[ranks[b]] = b;
  }
  impl_->packs = can_pack(*impl_);
  impl_->packs_within_warps = impl_->packs && can_share_warps(*impl_);
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
WmmaFragments Program::fragments() const {
  return impl_->wmma_fragments;
}
Program::FragmentRequests Program::fragment_requests(std::uint32_t instruction) const {
  auto const found = impl_->fragment_requests.find(instruction);
  return found == impl_->fragment_requests.end() ? FragmentRequests{} : found->second;
}
bool Program::prints() const {
  return std::any_of(impl_->calls.begin(), impl_->calls.end(),
                     [](CallSite const& site) { return site.callee == CallSite::Callee::print; });
}
std::vector<Program::Refused> const& Program::refused() const {
  return impl_->refused;
}
std::optional<std::uint32_t> function_at(ptx::Module const& module, std::uint64_t address) {
  for (std::uint32_t f = 0; f < module.functions.size(); ++f)
    if (code_address(f) == address) return f;
  return std::nullopt;
}
bool Program::order_dependent() const {
  return impl_->order_dependent;
}

}  // namespace kernelcast::emu
