// What the device database knows, a device a line.
#pragma once

#include <string>
#include <vector>

#include "records/cli/cli.hpp"

namespace kernelcast::device {

// The options of kernelcast-devices(1), by their names.
struct Listing {
  std::string devdb;
  std::vector<std::string> words;
  bool price_template = false;
  CLI::App const* app = nullptr;
};

// Rows of the devices that the words name, or price rows of them. Throws Error(unavailable) where there are none.
void list_devices(Listing const&, cli::Streams&);

}  // namespace kernelcast::device
