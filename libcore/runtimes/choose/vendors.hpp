// What an application launches on devices of several vendors.
//
// Problem: an OpenCL application asks its device for compute units, group sizes and the width of wavefronts, and
// launches accordingly: what it does on NVIDIA's devices is not what it does on AMD's.
// Method: it is run once as a device of each vendor. What they have in common has one row for all devices, the rest has
// rows for each vendor's devices (record::Kernel::runs_on).
// Limits: one device stands for all of its vendor.
#pragma once

#include <string>
#include <vector>

#include "records/command.hpp"
#include "records/kernel.hpp"

namespace kernelcast::choose {

// One run of the application, and what it launched.
struct VendorRun {
  std::string device, vendor;
  int status = 0;
  std::vector<record::Kernel> kernels;
  std::vector<record::Command> commands;
};

struct ByVendor {
  std::vector<record::Kernel> kernels;
  std::vector<record::Command> commands;
  std::string said;  // how the runs differ, one line
};

// The rows of a kernel and case that are the same in all runs once, the others with their vendor in runs_on; of vendors
// of which nothing ran there are no rows. Commands once where the application asks the same of all, else of each.
// `runs` is not empty.
ByVendor by_vendor(std::vector<VendorRun> const& runs);

}  // namespace kernelcast::choose
