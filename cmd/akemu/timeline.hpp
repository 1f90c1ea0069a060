// The wavefronts of an emulation as a Chrome trace: one process per device, one row per wavefront of the first wave of
// each launch. Spans are blocks of the kernel; within them, what the wavefront waited for, where that took long.
// Cycles stand where the format has microseconds.
#pragma once

#include <functional>
#include <iosfwd>
#include <map>
#include <string>
#include <vector>

#include "device/device.hpp"
#include "model/ake/engine.hpp"
#include "model/ake/launch.hpp"
#include "timeline/timeline.hpp"

namespace kernelcast::akemu {

namespace ake = model::ake;

class Timeline {
 public:
  explicit Timeline(std::ostream& out) : trace_(out) {}

  // A launch on a device follows; of a device's launches only the first is drawn.
  void begin(ake::Launch const&, device::Device const&, ake::Ticks cycle);
  std::function<void(ake::Issue const&)> observer();
  void finish();

 private:
  struct Warp {
    bool open = false;
    std::uint32_t block = 0;
    ake::Ticks from = 0, last = 0, done = 0;
    std::uint64_t instructions = 0;
  };
  void add(ake::Issue const&);
  void close(std::uint64_t thread, Warp&);
  void flush();

  timeline::ChromeTrace trace_;
  std::map<std::string, std::uint64_t> processes_;
  std::uint64_t process_ = 0;
  bool drawn_ = false;
  std::size_t warps_per_group_ = 1;
  double cycle_ = 1;
  std::map<std::uint64_t, Warp> warps_;
};

}  // namespace kernelcast::akemu
