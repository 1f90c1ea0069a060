// Why a device that is there cannot be used: files that this user may not open, libraries that do not load.
#pragma once

#include <string>
#include <vector>

namespace kernelcast::probe {

// A shared library, by the first of these names that loads.
struct Library {
  void* handle = nullptr;
  std::string trouble;  // of one that is there and does not load: the loader's message; empty when there is none
};
Library open_library(std::vector<std::string> const& names);

// Device files below `folder` that drivers of GPUs open and that this user may not read and write: AMD's kfd and
// dri/renderD*, NVIDIA's nvidia0, nvidiactl and so on.
std::vector<std::string> refused_device_files(std::string const& folder = "/dev");
// "; no permission to use /dev/kfd", or empty.
std::string refusal_of_device_files();

// OpenCL's loader passes over a driver (ICD) in silence when it cannot read its file or load its library. `folder`:
// where the files are; each says why its driver does not load. In order of their names.
std::vector<std::string> drivers_not_loaded(std::string const& folder);
// The folder that the loader reads: $OCL_ICD_VENDORS when it is a folder, else /etc/OpenCL/vendors.
std::string driver_folder();

}  // namespace kernelcast::probe
