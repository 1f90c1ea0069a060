#include "cudart/repeats.hpp"

#include <algorithm>
#include <cstring>

namespace kernelcast::cudart {

namespace {

// Of kernel, sizes and arguments.
std::string key_of(Kernel const& kernel, emu::Launch const& launch) {
  auto const* const address = &kernel;
  std::uint32_t const sizes[] = {launch.grid.x,
                                 launch.grid.y,
                                 launch.grid.z,
                                 launch.block.x,
                                 launch.block.y,
                                 launch.block.z,
                                 launch.dynamic_shared_bytes};
  std::string out(sizeof address + sizeof sizes + launch.parameters.size(), '\0');
  std::memcpy(out.data(), &address, sizeof address);
  std::memcpy(out.data() + sizeof address, sizes, sizeof sizes);
  std::memcpy(out.data() + sizeof address + sizeof sizes, launch.parameters.data(), launch.parameters.size());
  return out;
}

constexpr std::size_t max_remembered = 4096;  // launches

}  // namespace

void Contents::written(void const* address) {
  auto const [begin, allocation] = allocations_.holding(address);
  if (allocation) return written(begin);
  if (auto const* const variable = memory_.find(reinterpret_cast<std::uint64_t>(address))) written(variable->address);
}

std::optional<std::vector<Repeats::Object>> Repeats::objects_of(Kernel const& kernel, emu::Launch const& launch) {
  auto const [known, is_new] = pointers_.try_emplace(&kernel);
  if (is_new && !launch.cooperative) known->second = ptx::touched_pointers(*kernel.function);
  if (!known->second || launch.cooperative) return std::nullopt;
  auto const& module = *kernel.program->module;
  std::vector<Object> out;
  for (auto const& pointer : *known->second) {
    std::uint64_t address = 0;
    if (pointer.is_variable)
      address = memory_.address_of(module, module.variables[pointer.at].name);
    else if (pointer.at + sizeof address <= launch.parameters.size())
      std::memcpy(&address, launch.parameters.data() + pointer.at, sizeof address);
    auto const [begin, allocation] = allocations_.holding(reinterpret_cast<void const*>(address));
    if (allocation && allocation->type != MemoryType::device) return std::nullopt;
    auto const* const buffer = allocation ? nullptr : memory_.find(address);
    if (!allocation && !buffer) continue;  // a number, or a pointer that is not used
    if (buffer && registry_.is_managed(buffer->address)) return std::nullopt;
    Object const object{allocation ? begin : buffer->address, allocation ? allocation->serial : 0, pointer.read,
                        pointer.written, 0};
    auto const same = std::ranges::find_if(
        out, [&](Object const& o) { return o.begin == object.begin && o.serial == object.serial; });
    if (same == out.end()) {
      out.push_back(object);
    } else {
      same->read |= object.read;
      same->written |= object.written;
    }
  }
  for (auto& object : out) object.last_written = contents_.last_written(object.begin);
  return out;
}

bool Repeats::is_one(Kernel const& kernel, emu::Launch const& launch) {
  auto const found = behind_.find(key_of(kernel, launch));
  if (found == behind_.end()) return false;
  auto const objects = objects_of(kernel, launch);
  return objects && *objects == found->second;
}

void Repeats::ran(Kernel const& kernel, emu::Launch const& launch) {
  auto objects = objects_of(kernel, launch);
  if (!objects) return contents_.anything_written();
  bool in_place = false;
  for (auto& object : *objects) {
    in_place |= object.read && object.written;
    if (object.written) contents_.written(object.begin);
    object.last_written = contents_.last_written(object.begin);
  }
  if (in_place) return;
  if (behind_.size() >= max_remembered) behind_.clear();
  behind_.insert_or_assign(key_of(kernel, launch), std::move(*objects));
}

}  // namespace kernelcast::cudart
