// What one launch does, counted by emulation or remembered from an earlier run.
//
// Problem: [panwar]'s technique is online: advice on a launch must cost little, and no launch may be counted twice.
// Method: rows of the `kernel` record are kept in the cache, by a hash of the kernel's PTX, of the groups that are
// emulated and of a text with all else that a launch's counts depend on: sizes, values of arguments, sizes of
// buffers. Rows do not depend on a device, so a change of the device database makes none of them stale.
// Limits: what the buffers hold is not part of the hash, as one configuration of a running application is emulated
// once, whatever its buffers hold later.
#pragma once

#include <optional>
#include <string>

#include "emulator/launch/launch.hpp"
#include "records/kernel.hpp"

namespace kernelcast::advise {

struct CountOptions {
  launch::RunOptions run;  // emit is kernel
  bool cache = true;       // false: rows are neither looked for nor kept; Plan::request has the same for PTX
  std::string identity;    // of the launch: two with the same text and the same PTX count the same
};

struct Counted {
  record::Kernel row;  // of one launch
  bool from_cache = false;
};

// Of a plan with one call. Throws what launch::run() throws.
Counted count(launch::Plan const&, CountOptions const&);

// What count() would find in the cache; empty where it would have to compile or to emulate. No compiler runs. Throws
// Error(io) where the plan's file cannot be read.
std::optional<Counted> recall(launch::Plan const&, CountOptions const&);

}  // namespace kernelcast::advise
