// What devices answer by their vendor's extension, cl_nv_device_attribute_query or cl_amd_device_attribute_query.
//
// Of a device's place on the bus it says one that the emulated CUDA runtime says, too. Counts of memory channels and
// queues are in no database: these queries stay unknown.
#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <optional>
#include <utility>

#include <CL/cl_ext.h>

#include "runtimes/opencl/objects.hpp"

namespace kernelcast::opencl {

namespace {

// The two numbers of a target: {8, 6} of sm_86.
std::pair<cl_uint, cl_uint> capability(std::string const& target) {
  auto const digits = target.find_first_of("0123456789");
  auto const number = digits == target.npos ? 0u : static_cast<cl_uint>(std::atoi(target.c_str() + digits));
  return {number / 10, number % 10};
}

// Of cl_nv_device_attribute_query, and not in Khronos' headers.
constexpr cl_device_info async_engines_nv = 0x4007, bus_nv = 0x4008, slot_nv = 0x4009, domain_nv = 0x400A;

// The bus that the emulated CUDA runtime reports, too: programs tell by it which device of both is the same.
cl_uint bus_of(_cl_device_id const& device) {
  auto const& all = device.platform.devices;
  auto const found = std::find_if(all.begin(), all.end(), [&](auto const& each) { return each.get() == &device; });
  return static_cast<cl_uint>(found - all.begin()) + 1;
}

// Of gfx90a {9, 0}, of gfx1030 {10, 3}; of older names, such as tahiti, nothing.
std::optional<std::pair<cl_uint, cl_uint>> graphics_version(std::string const& target) {
  if (!target.starts_with("gfx") || target.size() < 6) return std::nullopt;
  auto const digits = target.substr(3, target.size() - 4);
  if (!std::all_of(digits.begin(), digits.end(), [](unsigned char c) { return std::isdigit(c); })) return std::nullopt;
  auto const both = static_cast<cl_uint>(std::stoul(digits));
  return std::pair{both / 10, both % 10};
}

}  // namespace

cl_int vendor_answer(_cl_device_id const& asked, cl_device_info what, Answer const& answer) {
  auto const& device = asked.facts;
  auto const width = static_cast<cl_uint>(device.wave_width.value_or(32));
  if (device.vendor == "NVIDIA") switch (what) {
      case CL_DEVICE_COMPUTE_CAPABILITY_MAJOR_NV:
        return answer(capability(device.target).first);
      case CL_DEVICE_COMPUTE_CAPABILITY_MINOR_NV:
        return answer(capability(device.target).second);
      case CL_DEVICE_REGISTERS_PER_BLOCK_NV:
        return answer(static_cast<cl_uint>(device.registers_per_cu.value_or(65536)));
      case CL_DEVICE_WARP_SIZE_NV:
        return answer(width);
      case CL_DEVICE_GPU_OVERLAP_NV:
        return answer(cl_bool{CL_TRUE});
      case CL_DEVICE_KERNEL_EXEC_TIMEOUT_NV:
      case CL_DEVICE_INTEGRATED_MEMORY_NV:
        return answer(cl_bool{CL_FALSE});
      case async_engines_nv:
        return answer(cl_uint{2});
      case bus_nv:
        return answer(bus_of(asked));
      case slot_nv:
      case domain_nv:
        return answer(cl_uint{0});
      default:
        break;
    }
  if (device.vendor == "AMD") switch (what) {
      case CL_DEVICE_BOARD_NAME_AMD:
        return answer(device.name);
      case CL_DEVICE_WAVEFRONT_WIDTH_AMD:
        return answer(width);
      case CL_DEVICE_SIMD_PER_COMPUTE_UNIT_AMD:
        return answer(static_cast<cl_uint>(device.schedulers_per_cu.value_or(4)));
      case CL_DEVICE_SIMD_WIDTH_AMD:
        return answer(cl_uint{16});
      case CL_DEVICE_SIMD_INSTRUCTION_WIDTH_AMD:
        return answer(cl_uint{1});
      case CL_DEVICE_LOCAL_MEM_SIZE_PER_COMPUTE_UNIT_AMD:
        return answer(static_cast<cl_uint>(device.shared_per_cu_bytes.value_or(65536)));
      case CL_DEVICE_LOCAL_MEM_BANKS_AMD:
        return answer(static_cast<cl_uint>(device.shared_banks.value_or(32)));
      case CL_DEVICE_PREFERRED_WORK_GROUP_SIZE_AMD:
        return answer(std::size_t{256});
      case CL_DEVICE_MAX_WORK_GROUP_SIZE_AMD:
        return answer(
            static_cast<std::size_t>(device.max_group_size.value_or(device.rule.max_group_size.value_or(1024))));
      case CL_DEVICE_TOPOLOGY_AMD: {
        cl_device_topology_amd place{};
        place.pcie.type = CL_DEVICE_TOPOLOGY_TYPE_PCIE_AMD;
        place.pcie.bus = static_cast<cl_char>(bus_of(asked));
        return answer(place);
      }
      case CL_DEVICE_GFXIP_MAJOR_AMD:
        if (auto const version = graphics_version(device.target)) return answer(version->first);
        break;
      case CL_DEVICE_GFXIP_MINOR_AMD:
        if (auto const version = graphics_version(device.target)) return answer(version->second);
        break;
      default:
        break;
    }
  return CL_INVALID_VALUE;
}

}  // namespace kernelcast::opencl
