// A launch of a CUDA application as a launch file, with all that it takes of the application's memory.
//
// Method: what arguments point to is read, and what that points to, each block whole, as buffers that say where they
// lay (launch::Buffer::at), so that pointers in them and in structures are moved with them. The program's PTX stands
// beside, in which variables have their present values. Textures and surfaces are images. Limits: refused are kernels
// that call the runtime themselves, variables of the program that hold other pointers than at first, textures that are
// no argument of their own, tensor maps of a GPU, and memory of more than max_described_bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kernels/cuda/abi.hpp"
#include "kernels/ptx/module.hpp"
#include "runtimes/attach/launch_policy.hpp"

namespace kernelcast::attach {

inline constexpr std::uint64_t max_described_bytes = std::uint64_t{1} << 30;  // of one launch

struct Sizes {
  cudart::Dim3 grid, block;
  std::size_t dynamic_shared_bytes;
  cudart::Dim3 cluster = {1, 1, 1};

  Configuration configuration() const {
    return {3, {grid.x, grid.y, grid.z}, {block.x, block.y, block.z}, dynamic_shared_bytes};
  }
};

// Why a launch has no description.
struct Refused {
  std::string why;
  bool left_error = false;  // in the runtime, by a call of ours
};

// Where a description finds what the application has. Everything throws Refused.
class LaunchSource {
 public:
  struct Block {
    std::uint64_t address = 0, bytes = 0;
  };
  // A texture or surface: "image2d:r32f,linear:64x48" and the texels' bytes.
  struct Picture {
    std::string text;
    Block texels;
  };
  virtual ~LaunchSource() = default;
  virtual Block holding(std::uint64_t address) const = 0;  // of no bytes where there is none
  virtual void read(Block const&, std::byte* to) const = 0;
  // False where the variable has the value that the program says. Of one that begins as an address (of a function, of
  // another variable) nothing else can be said in PTX.
  virtual bool read_variable(ptx::Variable const&, std::vector<std::uint8_t>& value) const = 0;
  // Tensor maps are in the emulator's own layout, in which what they describe is an aligned word.
  virtual bool has_own_tensor_maps() const { return false; }
  virtual std::optional<Picture> picture(std::uint64_t /*handle*/) const { return std::nullopt; }
};

bool begins_as_address(ptx::Variable const&);

struct DescribedLaunch {
  ptx::Module const& module;
  ptx::Function const& function;
  Sizes sizes;
  void const* const* arguments;  // by the function's parameters
};

// Reads what the launch takes into files of the spool, and publishes the program beside. Returns the launch file's
// text. Throws Refused.
std::string describe_launch(DescribedLaunch const&, LaunchSource const&, Spool const&, std::uint64_t number);

}  // namespace kernelcast::attach
