// The optional parts of OpenCL C that a device claims.
#pragma once

#include <string>
#include <string_view>

#include "runtimes/opencl/objects.hpp"

namespace kernelcast::opencl {

cl_name_version named(std::string_view name, cl_version);
cl_version version_of(_cl_device_id const&);
cl_version platform_version_of(_cl_device_id const&);
std::string il_versions(_cl_device_id const&);  // "SPIR-V_1.2 SPIR-V_1.1"; empty where its driver takes none
cl_int feature_answer(_cl_device_id const&, cl_device_info, Answer const&);  // CL_INVALID_VALUE for other questions

}  // namespace kernelcast::opencl
