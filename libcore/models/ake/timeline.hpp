// The wavefronts of an emulation as a Chrome trace: one process per device, one row per wavefront of the first wave of
// each launch. Spans are blocks of the kernel; within them, what the wavefront waited for, where that took long.
// Cycles stand where the format has microseconds.
#pragma once

#include <fstream>
#include <functional>
#include <iosfwd>
#include <map>
#include <optional>
#include <string>

#include "models/ake/engine.hpp"
#include "models/ake/launch.hpp"
#include "pictures/timeline/timeline.hpp"
#include "records/device/device.hpp"

namespace kernelcast::model::ake {

class Timeline {
 public:
  explicit Timeline(std::ostream& out) : trace_(out) {}

  // A launch on a device follows; of a device's launches only the first is drawn.
  void begin(Launch const&, device::Device const&, Ticks cycle);
  std::function<void(Issue const&)> observer();
  void finish();

 private:
  struct Warp {
    bool open = false;
    std::uint32_t block = 0;
    Ticks from = 0, last = 0, done = 0;
    std::uint64_t instructions = 0;
  };
  void add(Issue const&);
  void close(std::uint64_t thread, Warp&);
  void flush();

  kernelcast::timeline::ChromeTrace trace_;
  std::map<std::string, std::uint64_t> processes_;
  std::uint64_t process_ = 0;
  bool drawn_ = false;
  std::size_t warps_per_group_ = 1;
  double cycle_ = 1;
  std::map<std::uint64_t, Warp> warps_;
};

// The same into a file; nothing where the path is empty. Throws Error(io) where it cannot be written.
class TimelineFile {
 public:
  explicit TimelineFile(std::string path);
  Timeline* get() { return timeline_ ? &*timeline_ : nullptr; }
  void finish();

 private:
  std::string path_;
  std::ofstream file_;
  std::optional<Timeline> timeline_;
};

}  // namespace kernelcast::model::ake
