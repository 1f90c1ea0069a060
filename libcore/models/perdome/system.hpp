// Systems by name: processors of the device database joined by +.
#pragma once

#include <map>
#include <string>

#include "models/perdome/perdome.hpp"
#include "records/device/device.hpp"

namespace kernelcast::model::perdome {

struct System {
  std::string name;  // as requested
  Processors processors;
};

// Where the processors' figures come from.
struct Rates {
  bool paper = true;                         // [perdome]'s own times where the database has them
  std::map<std::string, double> flop_per_s;  // by device id, instead of the database's
  std::map<std::string, double> bytes_per_s;
};

// Each name is resolved once.
class Systems {
 public:
  Systems(device::DeviceDatabase const& database, Rates rates) : database_(database), rates_(std::move(rates)) {}

  // "i7-2600k+gtx750". Throws Error(unavailable) for an unknown device and for a figure that the database lacks.
  System const& operator[](std::string const& name);

 private:
  Processor resolve(std::string_view id) const;

  device::DeviceDatabase const& database_;
  Rates rates_;
  std::map<std::string, System> known_;
};

}  // namespace kernelcast::model::perdome
