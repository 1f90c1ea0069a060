// Platforms and devices: rows of the device database, with the answers that their vendors' drivers give.
//
// What a driver says and the database has (units, memory, limits, clocks, names) is the device's. What only a driver
// knows (versions, extensions, image sizes, the alignment of addresses) is what drivers of the vendor commonly report.
#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <sstream>

#include <CL/cl_ext.h>
#include <fmt/format.h>

#include "base/process/process.hpp"
#include "base/process/setting.hpp"
#include "base/version/version.hpp"
#include "runtimes/attach/settings.hpp"
#include "runtimes/opencl/features.hpp"
#include "runtimes/opencl/objects.hpp"

namespace kernelcast::opencl {

namespace {

enum class Vendor : std::uint8_t { nvidia, amd, intel, other };
Vendor vendor_of(std::string const& name) {
  return name == "NVIDIA"  ? Vendor::nvidia
         : name == "AMD"   ? Vendor::amd
         : name == "Intel" ? Vendor::intel
                           : Vendor::other;
}

struct Words {
  char const *platform, *vendor, *version_of_platform, *version_of_device, *extensions;
  cl_uint id;
};
// Of platforms, drivers put the name of their interface behind the version.
Words words_of(Vendor vendor) {
  switch (vendor) {
    case Vendor::nvidia:
      return {"NVIDIA CUDA",
              "NVIDIA Corporation",
              "OpenCL 3.0 CUDA",
              "OpenCL 3.0 CUDA",
              " cl_nv_compiler_options cl_nv_device_attribute_query",
              0x10de};
    case Vendor::amd:
      return {"AMD Accelerated Parallel Processing",
              "Advanced Micro Devices, Inc.",
              "OpenCL 2.1 AMD-APP",
              "OpenCL 2.0 ",
              " cl_khr_fp16 cl_amd_device_attribute_query",
              0x1002};
    case Vendor::intel:
      return {"Intel(R) OpenCL Graphics",
              "Intel(R) Corporation",
              "OpenCL 3.0 ",
              "OpenCL 3.0 NEO ",
              " cl_khr_fp16 cl_khr_subgroups cl_khr_il_program",
              0x8086};
    case Vendor::other:
      break;
  }
  return {"kernelcast", "kernelcast", "OpenCL 3.0 kernelcast", "OpenCL 3.0 kernelcast", "", 0};
}

std::string extensions_of(device::Device const& device) {
  std::string out =
      "cl_khr_icd cl_khr_global_int32_base_atomics cl_khr_global_int32_extended_atomics "
      "cl_khr_local_int32_base_atomics cl_khr_local_int32_extended_atomics cl_khr_byte_addressable_store "
      "cl_khr_int64_base_atomics cl_khr_int64_extended_atomics cl_khr_3d_image_writes cl_khr_image2d_from_buffer";
  if (device.peak_fp64_flop_per_s.value_or(0) > 0) out += " cl_khr_fp64";
  return out + words_of(vendor_of(device.vendor)).extensions + ' ';  // programs look for words with a blank behind them
}

// As drivers name it: NVIDIA's and Intel's by the product, AMD's by the target.
std::string name_of(device::Device const& device) {
  switch (vendor_of(device.vendor)) {
    case Vendor::nvidia:
      return device.name.starts_with("NVIDIA") ? device.name : "NVIDIA " + device.name;
    case Vendor::amd:
      return device.target.empty() ? device.name : device.target;
    case Vendor::intel:
      return device.name.starts_with("Intel") ? device.name : "Intel(R) " + device.name;
    default:
      return device.name;
  }
}

cl_uint clock_mhz(device::Device const& device) {
  return static_cast<cl_uint>(device.clock_boost_hz.value_or(device.clock_hz.value_or(1e9)) / 1e6);
}

// AMD's driver tells pairs of compute units since RDNA, which share a work-group's local memory; Intel's tells vector
// engines.
cl_uint units_of(device::Device const& device) {
  auto const units = static_cast<cl_uint>(device.compute_units.value_or(1));
  bool const pairs = device.architecture.starts_with("RDNA");
  if (vendor_of(device.vendor) == Vendor::intel)
    return units * static_cast<cl_uint>(device.schedulers_per_cu.value_or(1));
  return pairs ? units / 2 : units;
}

std::vector<std::unique_ptr<_cl_platform_id>> load() {
  auto const& settings = attach::settings();
  if (!settings.program.empty()) set_program_path(settings.program);
  std::vector<std::unique_ptr<_cl_platform_id>> out;
  char const* const given = setting(variables::devdb);
  guarded([&] {
    auto const database = device::load(device::find_database(given ? given : ""));
    for (auto const& name : settings.opencl_devices) {
      auto const& device = database.find(name);
      auto const same = [&](auto const& platform) { return platform->vendor == device.vendor; };
      auto at = std::ranges::find_if(out, same);
      if (at == out.end()) {
        at = out.insert(out.end(), std::make_unique<_cl_platform_id>());
        (*at)->vendor = device.vendor;
      }
      (*at)->devices.push_back(std::make_unique<_cl_device_id>(**at, device));
    }
    return CL_SUCCESS;
  });
  return out;
}

std::vector<cl_name_version> versions_of(std::string const& extensions) {
  std::vector<cl_name_version> out;
  std::istringstream words(extensions);
  for (std::string word; words >> word;) out.push_back(named(word, CL_MAKE_VERSION(1, 0, 0)));
  return out;
}

cl_int platform_answer(_cl_platform_id const& platform, cl_platform_info what, Answer const& answer) {
  auto const words = words_of(vendor_of(platform.vendor));
  switch (what) {
    case CL_PLATFORM_PROFILE:
      return answer("FULL_PROFILE");
    case CL_PLATFORM_VERSION:
      return answer(words.version_of_platform);
    case CL_PLATFORM_NAME:
      return answer(words.platform);
    case CL_PLATFORM_VENDOR:
      return answer(words.vendor);
    case CL_PLATFORM_EXTENSIONS:
      return answer(platform.devices.empty() ? std::string("cl_khr_icd") : extensions_of(platform.devices[0]->facts));
    case CL_PLATFORM_ICD_SUFFIX_KHR:
      return answer("KERNELCAST");
    case CL_PLATFORM_HOST_TIMER_RESOLUTION:
      return answer(cl_ulong{1});
    case CL_PLATFORM_NUMERIC_VERSION:
      return answer(platform.devices.empty() ? cl_version{CL_MAKE_VERSION(3, 0, 0)}
                                             : platform_version_of(*platform.devices[0]));
    case CL_PLATFORM_EXTENSIONS_WITH_VERSION:
      return answer(versions_of(platform.devices.empty() ? "cl_khr_icd" : extensions_of(platform.devices[0]->facts)));
    default:
      return CL_INVALID_VALUE;
  }
}

constexpr cl_device_fp_config half_precision = CL_FP_DENORM | CL_FP_INF_NAN | CL_FP_ROUND_TO_NEAREST;
constexpr cl_device_fp_config double_precision = half_precision | CL_FP_ROUND_TO_ZERO | CL_FP_ROUND_TO_INF | CL_FP_FMA;
constexpr cl_device_fp_config single_precision = double_precision | CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT;

cl_int limit_answer(_cl_device_id const& device, cl_device_info what, Answer const& answer) {
  auto const& facts = device.facts;
  bool const has_double = facts.peak_fp64_flop_per_s.value_or(0) > 0;
  switch (what) {
    case CL_DEVICE_MAX_COMPUTE_UNITS:
      return answer(units_of(facts));
    case CL_DEVICE_MAX_WORK_ITEM_DIMENSIONS:
      return answer(cl_uint{3});
    case CL_DEVICE_MAX_WORK_ITEM_SIZES:
      return answer(device.max_items());
    case CL_DEVICE_MAX_WORK_GROUP_SIZE:
      return answer(device.max_group_items());
    case CL_DEVICE_PREFERRED_WORK_GROUP_SIZE_MULTIPLE:
      return answer(device.preferred_multiple());
    case CL_DEVICE_MAX_CLOCK_FREQUENCY:
      return answer(clock_mhz(facts));
    case CL_DEVICE_MAX_MEM_ALLOC_SIZE:
      return answer(cl_ulong{device.max_allocation_bytes()});
    case CL_DEVICE_GLOBAL_MEM_SIZE:
      return answer(cl_ulong{device.memory_bytes()});
    case CL_DEVICE_GLOBAL_MEM_CACHE_SIZE:
      return answer(static_cast<cl_ulong>(facts.l2_bytes.value_or(0)));
    case CL_DEVICE_GLOBAL_MEM_CACHELINE_SIZE:
      return answer(cl_uint{vendor_of(facts.vendor) == Vendor::nvidia ? 128u : 64u});
    case CL_DEVICE_LOCAL_MEM_SIZE:
      return answer(cl_ulong{device.local_bytes()});
    case CL_DEVICE_NATIVE_VECTOR_WIDTH_DOUBLE:
    case CL_DEVICE_PREFERRED_VECTOR_WIDTH_DOUBLE:
      return answer(cl_uint{has_double ? 1u : 0u});
    case CL_DEVICE_DOUBLE_FP_CONFIG:
      return answer(has_double ? double_precision : cl_device_fp_config{0});
    case CL_DEVICE_NATIVE_VECTOR_WIDTH_HALF:
    case CL_DEVICE_PREFERRED_VECTOR_WIDTH_HALF:
      return answer(cl_uint{vendor_of(facts.vendor) == Vendor::nvidia ? 0u : 1u});
    case CL_DEVICE_HALF_FP_CONFIG:
      return answer(vendor_of(facts.vendor) == Vendor::nvidia ? cl_device_fp_config{0} : half_precision);
    default: {
      cl_int const known = feature_answer(device, what, answer);
      return known == CL_INVALID_VALUE ? vendor_answer(device, what, answer) : known;
    }
  }
}

cl_int word_answer(_cl_device_id& device, cl_device_info what, Answer const& answer) {
  auto const words = words_of(vendor_of(device.facts.vendor));
  switch (what) {
    case CL_DEVICE_NAME:
      return answer(name_of(device.facts));
    case CL_DEVICE_VENDOR:
      return answer(words.vendor);
    case CL_DEVICE_VENDOR_ID:
      return answer(words.id);
    case CL_DRIVER_VERSION:
      return answer(fmt::format("kernelcast {}", version()));
    case CL_DEVICE_PROFILE:
      return answer("FULL_PROFILE");
    case CL_DEVICE_VERSION:
      return answer(words.version_of_device);
    case CL_DEVICE_OPENCL_C_VERSION:
      return answer(vendor_of(device.facts.vendor) == Vendor::amd ? "OpenCL C 2.0 " : "OpenCL C 1.2 ");
    case CL_DEVICE_EXTENSIONS:
      return answer(extensions_of(device.facts));
    case CL_DEVICE_EXTENSIONS_WITH_VERSION:
      return answer(versions_of(extensions_of(device.facts)));
    case CL_DEVICE_BUILT_IN_KERNELS:
    case CL_DEVICE_LATEST_CONFORMANCE_VERSION_PASSED:
      return answer("");
    case CL_DEVICE_PLATFORM:
      return answer(cl_platform_id{&device.platform});
    case CL_DEVICE_PARENT_DEVICE:
      return answer(cl_device_id{nullptr});
    default:
      return limit_answer(device, what, answer);
  }
}

// Numbers that are the same on all devices.
struct Same {
  cl_device_info what;
  std::uint64_t value;
  unsigned bytes;
};
constexpr unsigned word = sizeof(cl_uint), wide = sizeof(cl_ulong), size = sizeof(std::size_t);
constexpr std::uint64_t in_order_and_out = CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE | CL_QUEUE_PROFILING_ENABLE;
constexpr Same same[] = {
    {CL_DEVICE_TYPE, CL_DEVICE_TYPE_GPU, wide},
    {CL_DEVICE_PREFERRED_VECTOR_WIDTH_CHAR, 1, word},
    {CL_DEVICE_PREFERRED_VECTOR_WIDTH_SHORT, 1, word},
    {CL_DEVICE_PREFERRED_VECTOR_WIDTH_INT, 1, word},
    {CL_DEVICE_PREFERRED_VECTOR_WIDTH_LONG, 1, word},
    {CL_DEVICE_PREFERRED_VECTOR_WIDTH_FLOAT, 1, word},
    {CL_DEVICE_NATIVE_VECTOR_WIDTH_CHAR, 1, word},
    {CL_DEVICE_NATIVE_VECTOR_WIDTH_SHORT, 1, word},
    {CL_DEVICE_NATIVE_VECTOR_WIDTH_INT, 1, word},
    {CL_DEVICE_NATIVE_VECTOR_WIDTH_LONG, 1, word},
    {CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT, 1, word},
    {CL_DEVICE_ADDRESS_BITS, 64, word},
    {CL_DEVICE_IMAGE_SUPPORT, CL_TRUE, word},
    {CL_DEVICE_MAX_READ_IMAGE_ARGS, 128, word},
    {CL_DEVICE_MAX_WRITE_IMAGE_ARGS, 64, word},
    {CL_DEVICE_IMAGE2D_MAX_WIDTH, 16384, size},
    {CL_DEVICE_IMAGE2D_MAX_HEIGHT, 16384, size},
    {CL_DEVICE_IMAGE3D_MAX_WIDTH, 2048, size},
    {CL_DEVICE_IMAGE3D_MAX_HEIGHT, 2048, size},
    {CL_DEVICE_IMAGE3D_MAX_DEPTH, 2048, size},
    {CL_DEVICE_IMAGE_MAX_BUFFER_SIZE, 134217728, size},
    {CL_DEVICE_IMAGE_MAX_ARRAY_SIZE, 2048, size},
    {CL_DEVICE_IMAGE_PITCH_ALIGNMENT, 32, word},
    {CL_DEVICE_IMAGE_BASE_ADDRESS_ALIGNMENT, 512, word},
    {CL_DEVICE_MAX_SAMPLERS, 32, word},
    {CL_DEVICE_MAX_PARAMETER_SIZE, 4352, size},
    {CL_DEVICE_MEM_BASE_ADDR_ALIGN, 2048, word},
    {CL_DEVICE_MIN_DATA_TYPE_ALIGN_SIZE, 128, word},
    {CL_DEVICE_SINGLE_FP_CONFIG, single_precision, wide},
    {CL_DEVICE_GLOBAL_MEM_CACHE_TYPE, CL_READ_WRITE_CACHE, word},
    {CL_DEVICE_MAX_CONSTANT_BUFFER_SIZE, 65536, wide},
    {CL_DEVICE_MAX_CONSTANT_ARGS, 9, word},
    {CL_DEVICE_LOCAL_MEM_TYPE, CL_LOCAL, word},
    {CL_DEVICE_ERROR_CORRECTION_SUPPORT, CL_FALSE, word},
    {CL_DEVICE_HOST_UNIFIED_MEMORY, CL_FALSE, word},
    {CL_DEVICE_PROFILING_TIMER_RESOLUTION, 1, size},
    {CL_DEVICE_ENDIAN_LITTLE, CL_TRUE, word},
    {CL_DEVICE_AVAILABLE, CL_TRUE, word},
    {CL_DEVICE_COMPILER_AVAILABLE, CL_TRUE, word},
    {CL_DEVICE_LINKER_AVAILABLE, CL_TRUE, word},
    {CL_DEVICE_EXECUTION_CAPABILITIES, CL_EXEC_KERNEL | CL_EXEC_NATIVE_KERNEL, wide},
    {CL_DEVICE_QUEUE_ON_HOST_PROPERTIES, in_order_and_out, wide},
    {CL_DEVICE_QUEUE_ON_DEVICE_PROPERTIES, 0, wide},
    {CL_DEVICE_QUEUE_ON_DEVICE_PREFERRED_SIZE, 0, word},
    {CL_DEVICE_QUEUE_ON_DEVICE_MAX_SIZE, 0, word},
    {CL_DEVICE_MAX_ON_DEVICE_QUEUES, 0, word},
    {CL_DEVICE_MAX_ON_DEVICE_EVENTS, 0, word},
    {CL_DEVICE_MAX_PIPE_ARGS, 0, word},
    {CL_DEVICE_PIPE_MAX_ACTIVE_RESERVATIONS, 0, word},
    {CL_DEVICE_PIPE_MAX_PACKET_SIZE, 0, word},
    {CL_DEVICE_PIPE_SUPPORT, CL_FALSE, word},
    {CL_DEVICE_SVM_CAPABILITIES, CL_DEVICE_SVM_COARSE_GRAIN_BUFFER, wide},
    {CL_DEVICE_PREFERRED_PLATFORM_ATOMIC_ALIGNMENT, 0, word},
    {CL_DEVICE_PREFERRED_GLOBAL_ATOMIC_ALIGNMENT, 0, word},
    {CL_DEVICE_PREFERRED_LOCAL_ATOMIC_ALIGNMENT, 0, word},
    {CL_DEVICE_NON_UNIFORM_WORK_GROUP_SUPPORT, CL_FALSE, word},
    {CL_DEVICE_DEVICE_ENQUEUE_CAPABILITIES, 0, wide},
    {CL_DEVICE_PRINTF_BUFFER_SIZE, 1048576, size},
    {CL_DEVICE_PREFERRED_INTEROP_USER_SYNC, CL_TRUE, word},
    {CL_DEVICE_PARTITION_MAX_SUB_DEVICES, 1, word},
    {CL_DEVICE_PARTITION_AFFINITY_DOMAIN, 0, wide},
    {CL_DEVICE_REFERENCE_COUNT, 1, word},
};

}  // namespace

std::vector<std::unique_ptr<_cl_platform_id>> const& platforms() {
  static auto const* const all = new auto(load());  // never destroyed: applications call until the very end
  return *all;
}

void require_type(cl_device_type type) {
  require((type & (CL_DEVICE_TYPE_GPU | CL_DEVICE_TYPE_DEFAULT | CL_DEVICE_TYPE_CPU | CL_DEVICE_TYPE_ACCELERATOR |
                   CL_DEVICE_TYPE_CUSTOM)) != 0,
          CL_INVALID_DEVICE_TYPE);
}

cl_int device_answer(_cl_device_id& device, cl_device_info what, Answer const& answer) {
  for (auto const& [number, value, bytes] : same)
    if (number == what) return bytes == word ? answer(static_cast<cl_uint>(value)) : answer(cl_ulong{value});
  if (what == CL_DEVICE_PARTITION_PROPERTIES || what == CL_DEVICE_PARTITION_TYPE)
    return answer(std::vector<cl_device_partition_property>{0});
  if (what == CL_DEVICE_BUILT_IN_KERNELS_WITH_VERSION) return answer(std::vector<cl_name_version>{});
  return word_answer(device, what, answer);
}

}  // namespace kernelcast::opencl

using namespace kernelcast::opencl;

std::uint64_t _cl_device_id::memory_bytes() const {
  constexpr double unless_known = std::uint64_t{4} << 30;
  return std::min(kernelcast::attach::settings().memory_bytes,
                  static_cast<std::uint64_t>(facts.memory_bytes.value_or(unless_known)));
}

std::uint64_t _cl_device_id::max_allocation_bytes() const {
  return std::max<std::uint64_t>(memory_bytes() / 4, std::uint64_t{128} << 20);
}

// AMD's driver takes 256 unless the kernel says more.
std::size_t _cl_device_id::max_group_items() const {
  std::uint64_t const most = facts.max_group_size.value_or(facts.rule.max_group_size.value_or(1024));
  return vendor_of(facts.vendor) == Vendor::amd ? std::min<std::uint64_t>(most, 256)
                                                : std::min<std::uint64_t>(most, 1024);
}

// Intel's driver tells the width that a kernel is compiled for, 32 at most, and twice that where vector engines work in
// pairs.
std::size_t _cl_device_id::preferred_multiple() const {
  if (vendor_of(facts.vendor) == Vendor::intel) return facts.target == "dg2" ? 64 : 32;
  return facts.wave_width.value_or(32);
}

std::array<std::size_t, 3> _cl_device_id::max_items() const {
  auto const most = max_group_items();
  return {most, most, vendor_of(facts.vendor) == Vendor::nvidia ? std::size_t{64} : most};
}

std::uint64_t _cl_device_id::local_bytes() const {
  auto const most = facts.shared_per_group_bytes.value_or(facts.rule.shared_per_group_bytes.value_or(32768));
  return vendor_of(facts.vendor) == Vendor::nvidia ? std::min<std::uint64_t>(most, 48 * 1024) : most;
}

namespace kernelcast::opencl::api {

cl_int CL_API_CALL clGetPlatformIDs(cl_uint capacity, cl_platform_id* out, cl_uint* count) {
  return call([&](Lock&) {
    require((out || count) && (!out || capacity > 0), CL_INVALID_VALUE);
    auto const& all = platforms();
    if (count) *count = static_cast<cl_uint>(all.size());
    for (std::size_t i = 0; out && i < std::min<std::size_t>(capacity, all.size()); ++i) out[i] = all[i].get();
    require(!all.empty(), -1001);  // CL_PLATFORM_NOT_FOUND_KHR
  });
}

cl_int CL_API_CALL clGetPlatformInfo(cl_platform_id platform, cl_platform_info what, std::size_t capacity, void* value,
                                     std::size_t* bytes) {
  return call([&](Lock&) {
    return platform_answer(known(platform, Kind::platform, CL_INVALID_PLATFORM), what, {capacity, value, bytes});
  });
}

cl_int CL_API_CALL clGetDeviceIDs(cl_platform_id given, cl_device_type type, cl_uint capacity, cl_device_id* out,
                                  cl_uint* count) {
  return call([&](Lock&) {
    auto const& platform = known(given, Kind::platform, CL_INVALID_PLATFORM);
    require((out || count) && (!out || capacity > 0), CL_INVALID_VALUE);
    require_type(type);
    bool const meant = (type & (CL_DEVICE_TYPE_GPU | CL_DEVICE_TYPE_DEFAULT)) != 0;
    std::size_t const there = !meant ? 0 : type == CL_DEVICE_TYPE_DEFAULT ? 1 : platform.devices.size();
    require(there > 0, CL_DEVICE_NOT_FOUND);
    if (count) *count = static_cast<cl_uint>(there);
    for (std::size_t i = 0; out && i < std::min<std::size_t>(capacity, there); ++i) out[i] = platform.devices[i].get();
  });
}

cl_int CL_API_CALL clGetDeviceInfo(cl_device_id device, cl_device_info what, std::size_t capacity, void* value,
                                   std::size_t* bytes) {
  return call([&](Lock&) { return device_answer(known_device(device), what, {capacity, value, bytes}); });
}

cl_int CL_API_CALL clCreateSubDevices(cl_device_id device, cl_device_partition_property const*, cl_uint, cl_device_id*,
                                      cl_uint*) {
  return call([&](Lock&) {
    known_device(device);
    report("clCreateSubDevices: devices on the emulator cannot be divided");
    return CL_INVALID_VALUE;
  });
}

// Whole devices are not counted.
cl_int CL_API_CALL clRetainDevice(cl_device_id device) {
  return call([&](Lock&) { known_device(device); });
}
cl_int CL_API_CALL clReleaseDevice(cl_device_id device) {
  return call([&](Lock&) { known_device(device); });
}

}  // namespace kernelcast::opencl::api
