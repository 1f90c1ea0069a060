// Running a kernel of the application: checked as the runtime does, then all of its groups on the emulator.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "kernels/cuda/abi.hpp"
#include "runtimes/attach/settings.hpp"
#include "runtimes/cudart/allocations.hpp"
#include "runtimes/cudart/call.hpp"
#include "runtimes/cudart/commands.hpp"
#include "runtimes/cudart/deferred.hpp"
#include "runtimes/cudart/device_limits.hpp"
#include "runtimes/cudart/devices.hpp"
#include "runtimes/cudart/findings.hpp"
#include "runtimes/cudart/library_calls.hpp"
#include "runtimes/cudart/registry.hpp"
#include "runtimes/cudart/rows.hpp"
#include "runtimes/cudart/streams.hpp"
#include "runtimes/cudart/textures.hpp"
#include "runtimes/cudart/timeline.hpp"

namespace kernelcast::cudart {

struct LaunchRequest {
  Dim3 grid, block;
  void** arguments = nullptr;
  std::size_t shared_bytes = 0;
  Stream stream = nullptr;
  bool cooperative = false;
  Dim3 cluster{1, 1, 1};
};

// Of a launch by attributes (the runtime's LaunchConfiguration, or the driver's).
template <class Configuration>
LaunchRequest request_of(Configuration const& given, void** arguments) {
  LaunchRequest out{given.grid, given.block, arguments, given.shared_bytes, given.stream, false, {1, 1, 1}};
  for (unsigned i = 0; i < given.attribute_count; ++i) {
    auto const& attribute = given.attributes[i];
    if (attribute.id == launch_attribute_cooperative) out.cooperative = attribute.cooperative != 0;
    auto const& cluster = attribute.cluster;
    if (attribute.id == launch_attribute_cluster) out.cluster = cluster;
  }
  return out;
}

class Launcher {
 public:
  struct Parts {
    attach::Settings const& settings;
    Devices const& devices;
    emu::Memory& memory;
    launch::TouchHistory& touched;
    Allocations const& allocations;
    Registry& registry;
    Streams const& streams;
    Textures const& textures;
    DeviceLimits const& limits;
    Commands& commands;
    Deferred& deferred;
    Timeline& timeline;
    StickyError& error;
  };
  explicit Launcher(Parts const&);

  // A configuration that cannot be is refused; what goes wrong in the kernel shows in later calls (StickyError).
  Code launch(Kernel&, LaunchRequest const&);
  // Runs the launches that wait for the host (host_waits.hpp) and that someone who waits for this stream waits for; of
  // these, where `serial` is given, no later ones. False where one still waits: then it runs only if it `must`.
  bool release(std::optional<Stream>, bool must, std::uint64_t serial = ~std::uint64_t{0});
  std::uint64_t last_held() const { return next_held_ - 1; }
  void destroyed(Stream);
  void forget_held() { held_.clear(); }
  // On the host, unless it need not run now.
  void run_library(LibraryCall const&, std::function<void()> const& work);
  // A call of a library that was made: the number of its configuration, where rows are requested.
  std::optional<std::uint64_t> library_called(LibraryCall const& made) {
    return rows_.library_called(made, parts_.allocations.used_bytes(current_device()), parts_.settings.keep);
  }

 private:
  // A launch that waits for the host.
  struct Held {
    std::uint64_t serial;
    Kernel const* kernel;
    LaunchRequest request;
    emu::Launch launch;
  };
  bool concerns(Held const&, Stream) const;
  Code run(Kernel&, LaunchRequest const&, emu::Launch);
  Code check_sizes(Kernel&, LaunchRequest const&) const;
  emu::Launch launch_of(Kernel const&, LaunchRequest const&);
  void give_workspace(emu::Launch&);
  using Observers = std::span<emu::Observer* const>;
  emu::Outcome run_all(Kernel const&, emu::Launch const&, Observers) const;
  double expected_s(std::optional<std::uint64_t> configuration);  // of a launch that runs whole; 0: not known
  bool affords(std::optional<std::uint64_t> configuration);
  std::optional<std::uint64_t> run_deferred(Deferred::Launch const&);
  // The error that stays, and what is said of it.
  std::string fail(emu::Outcome const&);
  emu::Outcome run_within_budget(Kernel const&, emu::Launch const&, Rows::Begun const&, Observers,
                                 std::function<void()> const& seen);

  Parts parts_;
  Rows rows_;
  Findings findings_;
  emu::Limits run_limits_;
  unsigned threads_;
  std::vector<Held> held_;
  std::uint64_t next_held_ = 1;
  std::uint64_t grid_workspace_ = 0;  // an address, once there was a cooperative launch
};

}  // namespace kernelcast::cudart
