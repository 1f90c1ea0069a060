// The optional parts of OpenCL C that a device claims: what drivers of its vendor do, as far as the emulator has it.
#include "runtimes/opencl/features.hpp"

#include <algorithm>

namespace kernelcast::opencl {

namespace {

// NVIDIA's drivers have none of OpenCL 2's; AMD's is a device of OpenCL 2.0, where all of it is mandatory.
struct Claims {
  cl_version version, platform;
  bool second = false;      // generic addresses, collective functions, atomics of C11, program-scope variables
  bool sub_groups = false;  // of 32 work-items
};
Claims claims_of(_cl_device_id const& device) {
  auto const& vendor = device.facts.vendor;
  constexpr cl_version two = CL_MAKE_VERSION(2, 0, 0), three = CL_MAKE_VERSION(3, 0, 0);
  if (vendor == "AMD") return {two, CL_MAKE_VERSION(2, 1, 0), true, false};
  return {three, three, vendor == "Intel", vendor == "Intel"};
}

constexpr std::uint64_t atomics_of_1 = CL_DEVICE_ATOMIC_ORDER_RELAXED | CL_DEVICE_ATOMIC_SCOPE_WORK_GROUP;
constexpr std::uint64_t fences_of_1 = atomics_of_1 | CL_DEVICE_ATOMIC_ORDER_ACQ_REL;
constexpr std::uint64_t atomics_of_2 =
    fences_of_1 | CL_DEVICE_ATOMIC_ORDER_SEQ_CST | CL_DEVICE_ATOMIC_SCOPE_DEVICE | CL_DEVICE_ATOMIC_SCOPE_ALL_DEVICES;
constexpr std::size_t variables_bytes = 65536;

std::vector<cl_name_version> all_versions(Claims const& claims) {
  std::vector<cl_name_version> out;
  for (cl_version const version : {CL_MAKE_VERSION(1, 0, 0), CL_MAKE_VERSION(1, 1, 0), CL_MAKE_VERSION(1, 2, 0),
                                   CL_MAKE_VERSION(2, 0, 0), CL_MAKE_VERSION(3, 0, 0)})
    if (version <= claims.version && (claims.second || version != CL_MAKE_VERSION(2, 0, 0)))
      out.push_back(named("OpenCL C", version));
  return out;
}

std::vector<cl_name_version> features(_cl_device_id const& device, Claims const& claims) {
  std::vector<std::string> names{"3d_image_writes", "images", "int64"};
  if (device.facts.peak_fp64_flop_per_s.value_or(0) > 0) names.insert(names.end(), "fp64");
  if (claims.second)
    for (auto const* name : {"atomic_order_acq_rel", "atomic_order_seq_cst", "atomic_scope_all_devices",
                             "atomic_scope_device", "generic_address_space", "program_scope_global_variables",
                             "read_write_images", "work_group_collective_functions"})
      names.emplace_back(name);
  if (claims.sub_groups) names.emplace_back("subgroups");
  std::vector<cl_name_version> out;
  for (auto const& name : names) out.push_back(named("__opencl_c_" + name, CL_MAKE_VERSION(3, 0, 0)));
  return out;
}

// Of SPIR-V: what Intel's drivers and llvm-spirv both take.
std::vector<cl_name_version> intermediate_languages(_cl_device_id const& device) {
  std::vector<cl_name_version> out;
  if (device.facts.vendor == "Intel")
    for (unsigned const minor : {3, 2, 1, 0}) out.push_back(named("SPIR-V", CL_MAKE_VERSION(1, minor, 0)));
  return out;
}

}  // namespace

std::string il_versions(_cl_device_id const& device) {
  std::string out;
  for (auto const& [version, name] : intermediate_languages(device))
    out += (out.empty() ? "" : " ") + std::string(name) + "_1." + std::to_string(CL_VERSION_MINOR(version));
  return out;
}

cl_name_version named(std::string_view name, cl_version version) {
  cl_name_version out{version, {}};
  std::copy_n(name.begin(), std::min(name.size(), sizeof out.name - 1), out.name);
  return out;
}

cl_version version_of(_cl_device_id const& device) {
  return claims_of(device).version;
}
cl_version platform_version_of(_cl_device_id const& device) {
  return claims_of(device).platform;
}

cl_int feature_answer(_cl_device_id const& device, cl_device_info what, Answer const& answer) {
  auto const claims = claims_of(device);
  auto const flag = [&](bool holds) { return answer(cl_bool{holds ? 1u : 0u}); };
  switch (what) {
    case CL_DEVICE_NUMERIC_VERSION:
      return answer(claims.version);
    case CL_DEVICE_OPENCL_C_ALL_VERSIONS:
      return answer(all_versions(claims));
    case CL_DEVICE_IL_VERSION:
      return answer(il_versions(device));
    case CL_DEVICE_ILS_WITH_VERSION:
      return answer(intermediate_languages(device));
    case CL_DEVICE_OPENCL_C_FEATURES:
      return answer(features(device, claims));
    case CL_DEVICE_MAX_NUM_SUB_GROUPS:
      return answer(device.max_sub_groups());
    case CL_DEVICE_SUB_GROUP_INDEPENDENT_FORWARD_PROGRESS:
      return flag(claims.sub_groups);
    case CL_DEVICE_WORK_GROUP_COLLECTIVE_FUNCTIONS_SUPPORT:
    case CL_DEVICE_GENERIC_ADDRESS_SPACE_SUPPORT:
      return flag(claims.second);
    case CL_DEVICE_ATOMIC_MEMORY_CAPABILITIES:
      return answer(cl_ulong{claims.second ? atomics_of_2 : atomics_of_1});
    case CL_DEVICE_ATOMIC_FENCE_CAPABILITIES:
      return answer(cl_ulong{claims.second ? atomics_of_2 | CL_DEVICE_ATOMIC_SCOPE_WORK_ITEM : fences_of_1});
    case CL_DEVICE_MAX_READ_WRITE_IMAGE_ARGS:
      return answer(cl_uint{claims.second ? 64u : 0u});
    case CL_DEVICE_MAX_GLOBAL_VARIABLE_SIZE:
    case CL_DEVICE_GLOBAL_VARIABLE_PREFERRED_TOTAL_SIZE:
      return answer(claims.second ? variables_bytes : std::size_t{0});
    default:
      return CL_INVALID_VALUE;
  }
}

}  // namespace kernelcast::opencl

bool _cl_device_id::writes_what_it_reads() const {
  return kernelcast::opencl::claims_of(*this).second;
}

cl_uint _cl_device_id::max_sub_groups() const {
  using namespace kernelcast::opencl;
  return claims_of(*this).sub_groups ? static_cast<cl_uint>(max_group_items() / sub_group_items) : 0;
}
