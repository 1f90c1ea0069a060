// The `steering` record: where the launches of one configuration of an application went, of the machine's devices.
#pragma once

#include <cstdint>
#include <string>

#include "records/table/schema.hpp"

namespace kernelcast::record {

struct Steering {
  std::string kernel;
  std::string case_name;            // column `case`
  std::string place, device;        // where the application launched it; several are joined by "+"
  std::string to_place, to_device;  // where launches went instead; empty where none did
  std::uint64_t launches = 0, launches_steered = 0;
  std::string reason;  // why none was steered

  static Schema<Steering> const& schema();
};

}  // namespace kernelcast::record
