#include "intercept/opencl/passing.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "intercept/opencl/calls.hpp"
#include "intercept/opencl/rooms.hpp"
#include "process/setting.hpp"

namespace kernelcast::intercept {
namespace {

struct Policy {
  Spool spool;
  bool kernels_once = false;
  std::uint64_t every = 0;  // 0: each configuration once
  std::size_t read_back_bytes = usual_read_back_bytes;
};

Policy* policy() {
  static Policy* const chosen = []() -> Policy* {
    char const* const folder = setting("KERNELCAST_SPOOL");
    if (!folder) return nullptr;
    char const* const programs = setting("KERNELCAST_PROGRAMS");
    auto* const made = new Policy{Spool(folder, programs ? programs : ""), false, 0, usual_read_back_bytes};
    char const* const every = setting("KERNELCAST_EVERY");
    std::string const word = every ? every : "";
    made->kernels_once = word == "kernel";
    made->every = word == "launch" ? 1 : std::strtoull(word.c_str(), nullptr, 10);
    char const* const bytes = setting("KERNELCAST_READ_BACK");
    if (bytes) made->read_back_bytes = std::strtoull(bytes, nullptr, 10);
    if (made->read_back_bytes == 0) made->read_back_bytes = SIZE_MAX;
    return made;
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

std::size_t ConfigurationHash::operator()(Configuration const& c) const noexcept {
  std::uint64_t hash = c.dimensions;
  for (auto const part : {c.global[0], c.global[1], c.global[2], c.local[0], c.local[1], c.local[2], c.local_bytes})
    hash = (hash ^ part) * 0x9e3779b97f4a7c15U ^ hash >> 29;
  return hash;
}

std::optional<std::uint64_t> number_of(cl_kernel handle, cl_uint dimensions, std::size_t const* global,
                                       std::size_t const* local) {
  if (!policy() || dimensions < 1 || dimensions > 3) return std::nullopt;
  std::lock_guard const lock(objects().mutex);
  auto const known = objects().kernels.find(handle);
  if (known == objects().kernels.end()) return std::nullopt;
  auto const& seen = known->second->history->seen;
  auto const at = seen.find(configuration_of(*known->second, dimensions, global, local));
  return at == seen.end() ? std::nullopt : std::optional(policy()->spool.number_of(at->second));
}

Spool const* chosen_spool() {
  return policy() ? &policy()->spool : nullptr;
}

void expect(std::size_t bytes) {
  if (policy()) rooms().prepare(policy()->spool, std::min(bytes, policy()->read_back_bytes));
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
  return counter_ ? std::optional(policy()->spool.number_of(counter_)) : std::nullopt;
}

void Passing::count(Kernel const& kernel) {
  Policy& chosen = *policy();
  history_ = kernel.history;
  history_->launches += 1;
  auto const seen = chosen.kernels_once ? history_->seen.begin() : history_->seen.find(configuration_);
  bool const due = chosen.every > 0 && (history_->launches - 1) % chosen.every == 0;
  if (seen != history_->seen.end() && !due) {
    counter_ = seen->second;
    ++*counter_;
    return;
  }
  std::uint64_t* const counter = chosen.spool.next(number_);
  if (!counter) return;
  *counter = 1;
  counter_ = counter;
  if (seen != history_->seen.end())
    seen->second = counter;
  else
    history_->seen.emplace(configuration_, counter);
  kernel_ = std::make_shared<Kernel>(kernel);
  for (auto& argument : kernel_->arguments) argument.unwritten = argument.memory && !argument.memory->written;
}

void Passing::describe(cl_command_queue queue, cl_kernel handle, std::size_t const* offset, cl_uint waits,
                       cl_event const* wait_list) {
  std::array<std::size_t, 3> from{};
  if (offset) std::copy_n(offset, configuration_.dimensions, from.begin());
  captured_ = capture(policy()->spool, number_,
                      {queue, handle, *kernel_, configuration_, from, waits, wait_list, policy()->read_back_bytes});
}

void Passing::conclude(bool launched) {
  for (auto const read : captured_.reads) next.clReleaseEvent(read);
  if (captured_.pending) intercept::conclude(captured_.pending, launched);
  if (launched || !counter_) return;
  std::lock_guard const lock(objects().mutex);
  --*counter_;
  --history_->launches;
  if (kernel_) std::erase_if(history_->seen, [this](auto const& s) { return s.second == counter_; });
}

}  // namespace kernelcast::intercept
