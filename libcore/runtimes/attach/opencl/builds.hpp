// Which devices a program was built for.
//
// Method: calls that build are remembered as they pass; asking the platform is no use, as PoCL says that a program was
// built for devices that it was not built for, and ends the process when it is launched there.
// Limits: the last call counts. One that built for other devices before may have had other options.
#pragma once

#include <CL/cl.h>
#include <CL/cl_icd.h>

namespace kernelcast::attach {

void take_builds(cl_icd_dispatch& layer);  // after take_programs()

// By one call, and with the same options.
bool built_for_both(cl_program, cl_device_id, cl_device_id);

}  // namespace kernelcast::attach
