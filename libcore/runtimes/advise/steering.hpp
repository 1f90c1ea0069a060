// Where the launches of an application go, of the devices that it has itself.
//
// Problem: an application with several devices in a context chooses where each kernel runs; another one may be better.
// Method: the layer lists the OpenCL devices of the contexts (runtimes/attach/opencl/decisions.hpp). Each is taken for
// a device of the database, by its name or by the user's mapping; what has been counted of a launch is projected onto
// those, and the order of their times goes back to the layer, which sends further launches of that configuration to the
// first device that can take them. A configuration is decided once; devices of equal times share a place in the order,
// and launches never move between them.
// Limits: a part of a device (a sub-device) is projected as that device with as many compute units and the whole
// bandwidth of its memory: an assumption. What it costs to move buffers between devices is not part of a projection.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "models/queue.hpp"
#include "records/device/device.hpp"
#include "records/steering.hpp"
#include "runtimes/advise/worker.hpp"
#include "runtimes/attach/opencl/decisions.hpp"

namespace kernelcast::advise {

// "NAME=ID": an OpenCL device is a device of the database.
struct DeviceMapping {
  std::string opencl;  // its number ("0", a part of it "0.1"), its name, or a part of its name
  device::Device const* device = nullptr;
};
// Throws Error: usage, unavailable (no such device in the database).
DeviceMapping parse_mapping(std::string const& text, device::DeviceDatabase const&);

struct SteeringOptions {
  device::DeviceDatabase const* database = nullptr;
  std::vector<DeviceMapping> mappings;
  model::queue::Options model;
};

// An OpenCL device of an application.
struct OpenClDevice {
  std::string process, place, name;
  unsigned number = attach::max_steered_devices;  // of the process; that: it is not steered to
  std::uint64_t units = 0, units_of_whole = 0;
  std::optional<device::Device> as;  // what it is taken for
};

class Steering {
 public:
  Steering(attach::SpoolReader const& spool, SteeringOptions const& options) : spool_(spool), options_(options) {}

  // Devices that the application has by now. What was decided before is decided again where there are more.
  void look();

  // Of one launch that was counted. The id of the device that launches go to from now on; empty: they stay.
  std::string decide(Outcome const&);

  // Of one configuration, after the application's end; `no_advice` is why it was never decided.
  record::Steering row(Outcome const&, std::uint64_t launches, std::string const& no_advice) const;

  // Messages about devices that could not be steered to, each once.
  std::vector<std::string> remarks() const;

 private:
  // The decisions of one process, shared with it; null where there are none.
  class Table {
   public:
    explicit Table(std::string const& path);
    ~Table();
    Table(Table const&) = delete;
    attach::Decision* at(std::uint64_t number) const;

   private:
    attach::Decision* decisions_ = nullptr;
  };

  using Context = std::vector<OpenClDevice>;

  void read_context(attach::Spooled const&);
  std::optional<device::Device> taken_for(OpenClDevice const&);
  attach::Decision* decision(attach::Spooled const&);
  std::vector<OpenClDevice const*> devices(std::string const& process, std::uint32_t numbers) const;
  std::vector<OpenClDevice const*> others(OpenClDevice const&) const;
  std::string reason_not_steered(Outcome const&, attach::Decision const&) const;

  attach::SpoolReader const& spool_;
  SteeringOptions const& options_;
  std::set<std::string> seen_;  // files of contexts
  std::vector<Context> contexts_;
  std::set<std::string> used_mappings_;
  std::map<std::string, std::unique_ptr<Table>> tables_;  // by process
  std::vector<Outcome> decided_;
};

}  // namespace kernelcast::advise
