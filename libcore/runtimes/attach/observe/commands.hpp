// The commands of an application to its GPU, in order, for its graph: ../../command_log.hpp.
//
// Limits: variables of programs and CUDA arrays are not seen, nor what the host does to managed memory: that has
// contents from the start. Copies within a capture are left out, as launches are.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "kernels/cuda/preload.hpp"
#include "kernels/ptx/module.hpp"
#include "runtimes/attach/command_log.hpp"

namespace kernelcast::attach::observe {

class Commands {
 public:
  explicit Commands(std::string const& spool);

  void add_memory(std::uint64_t address, std::uint64_t bytes, bool initial);
  void remove_memory(std::uint64_t address);

  void copied(cudart::Area const& to, cudart::Area const& from);
  void filled(cudart::Area const& to);

  // Its line, for when the runtime has taken it.
  std::string launch(std::uint64_t number, ptx::Function const&, void** arguments) const;
  void launched(std::string const& line);

 private:
  struct Buffer {
    std::uint64_t bytes = 0, number = 0;
  };
  struct Place {
    std::uint64_t buffer = 0, offset = 0;
  };
  std::optional<Place> find(std::uint64_t address) const;
  static std::string words(Place const&, cudart::Area const&);

  CommandLog log_;
  std::map<std::uint64_t, Buffer> buffers_;  // by address
  std::uint64_t made_ = 0;
};

}  // namespace kernelcast::attach::observe
