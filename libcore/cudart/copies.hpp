// Copies and fills: what they are allowed to touch is checked, then the host does them at once.
#pragma once

#include "cudart/state.hpp"

namespace kernelcast::cudart {

// `rows` rows of `bytes`, `pitch` from one to the next.
struct Rows2D {
  void* pointer;
  std::size_t pitch;
};
Code copy(State&, void* to, void const* from, std::size_t bytes, CopyKind);
Code copy_rows(State&, Rows2D to, Rows2D from, std::size_t bytes, std::size_t rows, CopyKind);
Code fill_rows(State&, Rows2D to, int value, std::size_t bytes, std::size_t rows);

}  // namespace kernelcast::cudart
