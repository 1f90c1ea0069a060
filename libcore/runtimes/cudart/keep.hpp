// The launch file of a launch on the emulator, for miniemu --keep: run again it gives the row that the launch gave.
#pragma once

#include <cstdint>
#include <string>

#include "runtimes/cudart/launch.hpp"

namespace kernelcast::cudart {

// Made before the launch runs, from memory as it then is; published behind its row, so that it is not run again at
// once. What cannot be described is named: unkept-PID-N.txt.
class KeptLaunch {
 public:
  struct From {
    emu::Memory const& memory;
    Textures const& textures;
    attach::Spool const& spool;
  };
  KeptLaunch(From const&, Kernel const&, LaunchRequest const&, std::uint64_t number);
  void publish(std::string const& touched_before) const;  // of the row

 private:
  attach::Spool const& spool_;
  std::string file_, text_;
  bool kept_ = false;
};

}  // namespace kernelcast::cudart
