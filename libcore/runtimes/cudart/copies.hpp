// Copies and fills: what they are allowed to touch is checked, then the host does them, or they wait (deferred.hpp).
#pragma once

#include "kernels/cuda/abi.hpp"
#include "runtimes/cudart/allocations.hpp"
#include "runtimes/cudart/commands.hpp"
#include "runtimes/cudart/deferred.hpp"
#include "runtimes/cudart/timeline.hpp"

namespace kernelcast::cudart {

// `rows` rows of `bytes`, `pitch` from one to the next.
struct Rows2D {
  void* pointer;
  std::size_t pitch;
};

class Copies {
 public:
  Copies(Allocations const& allocations, Commands& commands, Deferred& deferred, Timeline& timeline)
      : allocations_(allocations), commands_(commands), deferred_(deferred), timeline_(timeline) {}

  Code copy(void* to, void const* from, std::size_t bytes, CopyKind);
  Code copy_rows(Rows2D to, Rows2D from, std::size_t bytes, std::size_t rows, CopyKind);
  Code fill_rows(Rows2D to, int value, std::size_t bytes, std::size_t rows);

 private:
  bool all_there(void const* pointer, std::size_t bytes, bool of_device) const;

  Allocations const& allocations_;
  Commands& commands_;
  Deferred& deferred_;
  Timeline& timeline_;
};

}  // namespace kernelcast::cudart
