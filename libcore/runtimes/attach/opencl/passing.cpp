#include "runtimes/attach/opencl/passing.hpp"

#include <algorithm>
#include <cstdint>
#include <string>

#include "runtimes/attach/opencl/buffer_pool.hpp"
#include "runtimes/attach/opencl/calls.hpp"
#include "runtimes/attach/settings.hpp"

namespace kernelcast::attach {
namespace {

struct Policy {
  LaunchPolicy launches;
  std::size_t read_back_bytes;

  Spool const& spool() const { return launches.spool(); }
};

Policy* policy() {
  static Policy* const chosen = []() -> Policy* {
    auto const& given = settings();
    if (given.spool.empty()) return nullptr;
    return new Policy{LaunchPolicy(Spool(given.spool, given.programs), given.every),
                      given.read_back_bytes == 0 ? SIZE_MAX : given.read_back_bytes};
  }();
  return chosen;
}

Configuration configuration_of(Kernel const& kernel, cl_uint dimensions, std::size_t const* global,
                               std::size_t const* local) {
  Configuration out;
  out.dimensions = dimensions;
  for (cl_uint d = 0; d < std::min<cl_uint>(dimensions, 3); ++d) {
    out.global[d] = global ? global[d] : 1;
    out.local[d] = local ? local[d] : 0;
  }
  for (auto const& argument : kernel.arguments)
    if (argument.kind == Argument::Kind::local) out.local_bytes += argument.bytes;
  return out;
}

}  // namespace

std::optional<std::uint64_t> number_of(cl_kernel handle, cl_uint dimensions, std::size_t const* global,
                                       std::size_t const* local) {
  if (!policy() || dimensions < 1 || dimensions > 3) return std::nullopt;
  std::lock_guard const lock(objects().mutex);
  auto const known = objects().kernels.find(handle);
  if (known == objects().kernels.end()) return std::nullopt;
  auto const& seen = known->second->history->seen;
  auto const at = seen.find(configuration_of(*known->second, dimensions, global, local));
  return at == seen.end() ? std::nullopt : std::optional(policy()->spool().number_of(at->second));
}

Spool const* chosen_spool() {
  return policy() ? &policy()->spool() : nullptr;
}

void expect(std::size_t bytes) {
  if (policy()) buffer_pool().prepare(policy()->spool(), std::min(bytes, policy()->read_back_bytes));
}

Passing::Passing(cl_kernel handle, cl_uint dimensions, std::size_t const* global, std::size_t const* local) {
  if (!policy() || dimensions < 1 || dimensions > 3) return;
  std::lock_guard const lock(objects().mutex);
  auto const known = objects().kernels.find(handle);
  if (known == objects().kernels.end()) return;
  configuration_ = configuration_of(*known->second, dimensions, global, local);
  count(*known->second);
  for (auto const& argument : known->second->arguments)
    if (argument.memory) argument.memory->written = true;
}

std::optional<std::uint64_t> Passing::number() const {
  return counted_.launches ? std::optional(policy()->spool().number_of(counted_.launches)) : std::nullopt;
}

void Passing::count(Kernel const& kernel) {
  std::uint64_t allocated_bytes = 0;
  for (auto const& argument : kernel.arguments)
    if (argument.memory)
      allocated_bytes = std::max(allocated_bytes, objects().allocated_bytes[argument.memory->context]);
  counted_ = policy()->launches.count(*kernel.history, configuration_, allocated_bytes);
  if (!counted_.number) return;
  kernel_ = std::make_shared<Kernel>(kernel);
  for (auto& argument : kernel_->arguments) argument.unwritten = argument.memory && !argument.memory->written;
}

void Passing::describe(cl_command_queue queue, cl_kernel handle, std::size_t const* offset, cl_uint waits,
                       cl_event const* wait_list) {
  std::array<std::size_t, 3> from{};
  if (offset) std::copy_n(offset, configuration_.dimensions, from.begin());
  captured_ = capture(policy()->spool(), *counted_.number,
                      {queue, handle, *kernel_, configuration_, from, waits, wait_list, policy()->read_back_bytes});
}

void Passing::conclude(bool launched) {
  for (auto const read : captured_.reads) next.clReleaseEvent(read);
  if (captured_.pending) attach::conclude(captured_.pending, launched);
  if (launched || !counted_.history) return;
  std::lock_guard const lock(objects().mutex);
  LaunchPolicy::take_back(counted_);
}

}  // namespace kernelcast::attach
