// Texture and surface objects: images of the emulator, with what they were made of.
#pragma once

#include <map>
#include <optional>

#include "emulator/emu.hpp"
#include "emulator/image.hpp"
#include "kernels/cuda/abi.hpp"

namespace kernelcast::cudart {

struct TextureObject {
  ResourceDescription resource;
  TextureDescription texture;  // not of a surface
  bool is_surface = false;
};

class Textures {
 public:
  using Handle = unsigned long long;
  explicit Textures(emu::Memory& memory) : memory_(memory) {}

  Handle add(TextureObject const& object, emu::Image image, std::optional<emu::Sampler> const& sampler) {
    auto const handle =
        sampler ? memory_.images().add(std::move(image), *sampler) : memory_.images().add(std::move(image));
    all_[handle] = object;
    return handle;
  }
  TextureObject const* find(Handle handle) const {
    auto const found = all_.find(handle);
    return found == all_.end() ? nullptr : &found->second;
  }
  void remove(Handle handle) {
    memory_.images().remove(handle);
    all_.erase(handle);
  }
  void clear() {
    while (!all_.empty()) remove(all_.begin()->first);
  }

 private:
  emu::Memory& memory_;
  std::map<Handle, TextureObject> all_;
};

}  // namespace kernelcast::cudart
