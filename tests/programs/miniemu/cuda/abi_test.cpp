// Our declarations of the runtime's interface beside a toolkit's: sizes, places of fields, numbers.
#include <cuda.h>
#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdio>

#define KERNELCAST_CUDART (CUDART_VERSION / 1000)
#include "kernels/cuda/abi.hpp"
#include "kernels/cuda/device_properties.hpp"
#include "kernels/cuda/driver.hpp"
#include "runtimes/cudart/attributes.hpp"

namespace ours = kernelcast::cudart;

#define SAME_SIZE(a, b) static_assert(sizeof(ours::a) == sizeof(b), #b)
#define SAME_PLACE(a, x, b, y) static_assert(offsetof(ours::a, x) == offsetof(b, y), #b "." #y)
#define SAME_NUMBER(a, b) static_assert(static_cast<int>(ours::a) == static_cast<int>(b), #b)

enum : int { none = -1 };
#define KERNELCAST_CUDA_ERROR(number, name, official, driver, text) \
  SAME_NUMBER(Code::name, official);                                \
  static_assert(static_cast<int>(driver) == none || static_cast<int>(driver) == number, #driver);
#if CUDART_VERSION >= 13000
#include "kernels/cuda/error_codes.def"
#endif
#undef KERNELCAST_CUDA_ERROR

SAME_SIZE(Dim3, dim3);
SAME_SIZE(Extent, cudaExtent);
SAME_SIZE(Position, cudaPos);
SAME_SIZE(PitchedPointer, cudaPitchedPtr);
SAME_PLACE(PitchedPointer, height, cudaPitchedPtr, ysize);
SAME_SIZE(ChannelFormat, cudaChannelFormatDesc);
SAME_SIZE(Copy3D, cudaMemcpy3DParms);
SAME_PLACE(Copy3D, target_position, cudaMemcpy3DParms, dstPos);
SAME_PLACE(Copy3D, kind, cudaMemcpy3DParms, kind);
SAME_SIZE(Copy3DPeer, cudaMemcpy3DPeerParms);
SAME_PLACE(Copy3DPeer, target_array, cudaMemcpy3DPeerParms, dstArray);
SAME_PLACE(Copy3DPeer, extent, cudaMemcpy3DPeerParms, extent);
SAME_PLACE(PointerAttributes, host_pointer, cudaPointerAttributes, hostPointer);
SAME_PLACE(ResourceDescription, linear, cudaResourceDesc, res.linear.devPtr);
SAME_PLACE(ResourceDescription, linear.bytes, cudaResourceDesc, res.linear.sizeInBytes);
SAME_PLACE(ResourceDescription, pitch_2d.pitch, cudaResourceDesc, res.pitch2D.pitchInBytes);
SAME_SIZE(TextureDescription, cudaTextureDesc);
SAME_PLACE(TextureDescription, border, cudaTextureDesc, borderColor);
SAME_PLACE(TextureDescription, seamless_cubemap, cudaTextureDesc, seamlessCubemap);
SAME_PLACE(ResourceView, last_layer, cudaResourceViewDesc, lastLayer);
static_assert(sizeof(ours::ResourceDescription) <= sizeof(cudaResourceDesc));
static_assert(sizeof(ours::ResourceView) <= sizeof(cudaResourceViewDesc));
static_assert(sizeof(ours::PointerAttributes) <= sizeof(cudaPointerAttributes));
SAME_SIZE(FunctionAttributes, cudaFuncAttributes);
SAME_PLACE(FunctionAttributes, max_dynamic_shared_bytes, cudaFuncAttributes, maxDynamicSharedSizeBytes);
SAME_PLACE(FunctionAttributes, cache_mode_ca, cudaFuncAttributes, cacheModeCA);
SAME_SIZE(LaunchAttribute, cudaLaunchAttribute);
SAME_PLACE(LaunchAttribute, cooperative, cudaLaunchAttribute, val.cooperative);
SAME_SIZE(LaunchConfiguration, cudaLaunchConfig_t);
SAME_PLACE(LaunchConfiguration, attributes, cudaLaunchConfig_t, attrs);
SAME_PLACE(LaunchConfiguration, attribute_count, cudaLaunchConfig_t, numAttrs);
SAME_SIZE(DeviceProperties, cudaDeviceProp);
SAME_PLACE(DeviceProperties, total_global_mem, cudaDeviceProp, totalGlobalMem);
SAME_PLACE(DeviceProperties, major, cudaDeviceProp, major);
SAME_PLACE(DeviceProperties, multi_processor_count, cudaDeviceProp, multiProcessorCount);
SAME_PLACE(DeviceProperties, max_texture_2d_linear, cudaDeviceProp, maxTexture2DLinear);
SAME_PLACE(DeviceProperties, l2_cache_size, cudaDeviceProp, l2CacheSize);
SAME_PLACE(DeviceProperties, shared_mem_per_multiprocessor, cudaDeviceProp, sharedMemPerMultiprocessor);
SAME_PLACE(DeviceProperties, cooperative_launch, cudaDeviceProp, cooperativeLaunch);
SAME_PLACE(DeviceProperties, reserved_shared_mem_per_block, cudaDeviceProp, reservedSharedMemPerBlock);
SAME_PLACE(DeviceProperties, memory_pools_supported, cudaDeviceProp, memoryPoolsSupported);
SAME_PLACE(DeviceProperties, unified_function_pointers, cudaDeviceProp, unifiedFunctionPointers);

SAME_NUMBER(CopyKind::by_address, cudaMemcpyDefault);
SAME_NUMBER(ChannelKind::none, cudaChannelFormatKindNone);
SAME_NUMBER(ChannelKind::unorm8x1, cudaChannelFormatKindUnsignedNormalized8X1);
SAME_NUMBER(ChannelKind::snorm16x4, cudaChannelFormatKindSignedNormalized16X4);
SAME_NUMBER(MemoryType::managed, cudaMemoryTypeManaged);
SAME_NUMBER(ResourceType::pitch_2d, cudaResourceTypePitch2D);
SAME_NUMBER(TextureAddress::border, cudaAddressModeBorder);
SAME_NUMBER(TextureFilter::linear, cudaFilterModeLinear);
SAME_NUMBER(TextureRead::normalized_float, cudaReadModeNormalizedFloat);
SAME_NUMBER(FunctionAttribute::max_dynamic_shared_bytes, cudaFuncAttributeMaxDynamicSharedMemorySize);
SAME_NUMBER(FunctionAttribute::cluster_policy, cudaFuncAttributeClusterSchedulingPolicyPreference);
SAME_NUMBER(Limit::heap_bytes, cudaLimitMallocHeapSize);
SAME_NUMBER(Limit::l2_bytes, cudaLimitPersistingL2CacheSize);
static_assert(ours::launch_attribute_cooperative == cudaLaunchAttributeCooperative);
static_assert(ours::launch_attribute_cluster == cudaLaunchAttributeClusterDimension);
static_assert(ours::event_disable_timing == cudaEventDisableTiming && ours::array_cubemap == cudaArrayCubemap);
static_assert(ours::array_layered == cudaArrayLayered && ours::host_register_mapped == cudaHostRegisterMapped);

SAME_NUMBER(Attribute::max_grid_z, cudaDevAttrMaxGridDimZ);
SAME_NUMBER(Attribute::clock_rate, cudaDevAttrClockRate);
SAME_NUMBER(Attribute::multiprocessors, cudaDevAttrMultiProcessorCount);
SAME_NUMBER(Attribute::max_texture_2d_layers, cudaDevAttrMaxTexture2DLayeredLayers);
SAME_NUMBER(Attribute::tcc, cudaDevAttrTccDriver);
SAME_NUMBER(Attribute::unified_addressing, cudaDevAttrUnifiedAddressing);
SAME_NUMBER(Attribute::max_texture_cubemap, cudaDevAttrMaxTextureCubemapWidth);
SAME_NUMBER(Attribute::max_surface_3d_depth, cudaDevAttrMaxSurface3DDepth);
SAME_NUMBER(Attribute::max_texture_2d_linear_pitch, cudaDevAttrMaxTexture2DLinearPitch);
SAME_NUMBER(Attribute::capability_minor, cudaDevAttrComputeCapabilityMinor);
SAME_NUMBER(Attribute::managed_memory, cudaDevAttrManagedMemory);
SAME_NUMBER(Attribute::host_pointer_for_registered, cudaDevAttrCanUseHostPointerForRegisteredMem);
SAME_NUMBER(Attribute::cooperative_launch, cudaDevAttrCooperativeLaunch);
SAME_NUMBER(Attribute::max_shared_per_block_optin, cudaDevAttrMaxSharedMemoryPerBlockOptin);
static_assert(static_cast<int>(ours::Attribute::virtual_memory) ==
                  CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED &&
              static_cast<int>(ours::Attribute::posix_file_handles) ==
                  CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED);
SAME_NUMBER(Attribute::max_blocks_per_multiprocessor, cudaDevAttrMaxBlocksPerMultiprocessor);
SAME_NUMBER(Attribute::memory_pools, cudaDevAttrMemoryPoolsSupported);

namespace driver = kernelcast::driver;
#define DRIVER_SIZE(a, b) static_assert(sizeof(driver::a) == sizeof(b), #b)
#define DRIVER_PLACE(a, x, b, y) static_assert(offsetof(driver::a, x) == offsetof(b, y), #b "." #y)
DRIVER_SIZE(ResourceDescription, CUDA_RESOURCE_DESC);
DRIVER_PLACE(ResourceDescription, resource.linear.bytes, CUDA_RESOURCE_DESC, res.linear.sizeInBytes);
DRIVER_PLACE(ResourceDescription, resource.pitch_2d.pitch, CUDA_RESOURCE_DESC, res.pitch2D.pitchInBytes);
DRIVER_SIZE(TextureDescription, CUDA_TEXTURE_DESC);
DRIVER_PLACE(TextureDescription, border, CUDA_TEXTURE_DESC, borderColor);
DRIVER_SIZE(Copy2D, CUDA_MEMCPY2D);
DRIVER_PLACE(Copy2D, target_array, CUDA_MEMCPY2D, dstArray);
DRIVER_PLACE(Copy2D, width_bytes, CUDA_MEMCPY2D, WidthInBytes);
DRIVER_SIZE(Copy3D, CUDA_MEMCPY3D);
DRIVER_SIZE(Copy3D, CUDA_MEMCPY3D_PEER);
DRIVER_PLACE(Copy3D, source.array, CUDA_MEMCPY3D, srcArray);
DRIVER_PLACE(Copy3D, source.height, CUDA_MEMCPY3D, srcHeight);
DRIVER_PLACE(Copy3D, target.device, CUDA_MEMCPY3D, dstDevice);
DRIVER_PLACE(Copy3D, depth, CUDA_MEMCPY3D, Depth);
DRIVER_SIZE(ArrayDescription, CUDA_ARRAY_DESCRIPTOR);
DRIVER_SIZE(Array3DDescription, CUDA_ARRAY3D_DESCRIPTOR);
DRIVER_SIZE(KernelNode, CUDA_KERNEL_NODE_PARAMS);
DRIVER_PLACE(KernelNode, parameters.extra, CUDA_KERNEL_NODE_PARAMS, extra);
DRIVER_PLACE(KernelNode, kernel, CUDA_KERNEL_NODE_PARAMS, kern);
DRIVER_SIZE(LaunchConfiguration, CUlaunchConfig);
DRIVER_PLACE(LaunchConfiguration, stream, CUlaunchConfig, hStream);
DRIVER_PLACE(LaunchConfiguration, attribute_count, CUlaunchConfig, numAttrs);
DRIVER_SIZE(PhysicalProperties, CUmemAllocationProp);
DRIVER_PLACE(PhysicalProperties, location, CUmemAllocationProp, location);
DRIVER_SIZE(Access, CUmemAccessDesc);
DRIVER_PLACE(Access, flags, CUmemAccessDesc, flags);
static_assert(driver::location_device == CU_MEM_LOCATION_TYPE_DEVICE &&
              driver::access_read_and_write == CU_MEM_ACCESS_FLAGS_PROT_READWRITE &&
              driver::physical_pinned == CU_MEM_ALLOCATION_TYPE_PINNED &&
              driver::handle_posix_file == CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
static_assert(static_cast<int>(driver::MemoryKind::unified) == CU_MEMORYTYPE_UNIFIED);
static_assert(static_cast<int>(driver::ArrayFormat::s32) == CU_AD_FORMAT_SIGNED_INT32 &&
              static_cast<int>(driver::ArrayFormat::f16) == CU_AD_FORMAT_HALF);
static_assert(driver::texture_read_as_integer == CU_TRSF_READ_AS_INTEGER &&
              driver::texture_seamless_cubemap == CU_TRSF_SEAMLESS_CUBEMAP);

int main() {
  std::printf("the interface is that of CUDA %d\n", CUDART_VERSION / 1000);
}
