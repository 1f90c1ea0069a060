// Texture and surface objects: images of the emulator, with what they were made of.
#pragma once

#include <map>

#include "cuda/abi.hpp"

namespace kernelcast::cudart {

struct TextureObject {
  ResourceDescription resource;
  TextureDescription texture;  // not of a surface
  bool is_surface = false;
};

using Textures = std::map<unsigned long long, TextureObject>;  // by handle

}  // namespace kernelcast::cudart
