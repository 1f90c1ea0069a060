// Declarations of the host API that whole .cu files use. Nothing defines them: host code is only checked.
#pragma once

struct CUstream_st;
struct CUevent_st;
struct cudaArray;
typedef CUstream_st* cudaStream_t;
typedef CUevent_st* cudaEvent_t;
typedef cudaArray* cudaArray_t;

enum cudaError {
  cudaSuccess = 0, cudaErrorInvalidValue = 1, cudaErrorMemoryAllocation = 2, cudaErrorInitializationError = 3,
  cudaErrorInvalidConfiguration = 9, cudaErrorNoDevice = 100, cudaErrorInvalidDevice = 101, cudaErrorNotReady = 600,
  cudaErrorUnknown = 999
};
typedef cudaError cudaError_t;
enum cudaMemcpyKind {
  cudaMemcpyHostToHost, cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost, cudaMemcpyDeviceToDevice, cudaMemcpyDefault
};
enum cudaFuncCache {
  cudaFuncCachePreferNone, cudaFuncCachePreferShared, cudaFuncCachePreferL1, cudaFuncCachePreferEqual
};
enum cudaSharedMemConfig {
  cudaSharedMemBankSizeDefault, cudaSharedMemBankSizeFourByte, cudaSharedMemBankSizeEightByte
};
enum {
  cudaHostAllocDefault = 0, cudaHostAllocPortable = 1, cudaHostAllocMapped = 2, cudaHostAllocWriteCombined = 4,
  cudaEventDefault = 0, cudaEventBlockingSync = 1, cudaEventDisableTiming = 2,
  cudaDeviceScheduleAuto = 0, cudaDeviceScheduleSpin = 1, cudaDeviceScheduleYield = 2, cudaDeviceBlockingSync = 4,
  cudaDeviceMapHost = 8, cudaMemAttachGlobal = 1, cudaMemAttachHost = 2, cudaStreamNonBlocking = 1
};

struct cudaDeviceProp {
  char name[256];
  size_t totalGlobalMem, sharedMemPerBlock, memPitch, totalConstMem, textureAlignment;
  int regsPerBlock, warpSize, maxThreadsPerBlock, maxThreadsDim[3], maxGridSize[3], clockRate, major, minor;
  int deviceOverlap, multiProcessorCount, kernelExecTimeoutEnabled, integrated, canMapHostMemory, computeMode;
  int concurrentKernels, ECCEnabled, pciBusID, pciDeviceID, memoryClockRate, memoryBusWidth, l2CacheSize;
  int maxTexture1D, maxTexture2D[2], maxTexture3D[3];
  int maxThreadsPerMultiProcessor, asyncEngineCount, unifiedAddressing, managedMemory, cooperativeLaunch;
};
struct cudaExtent { size_t width, height, depth; };
struct cudaPos { size_t x, y, z; };
struct cudaPitchedPtr { void* ptr; size_t pitch, xsize, ysize; };
struct cudaMemcpy3DParms {
  cudaArray_t srcArray; cudaPos srcPos; cudaPitchedPtr srcPtr;
  cudaArray_t dstArray; cudaPos dstPos; cudaPitchedPtr dstPtr;
  cudaExtent extent; cudaMemcpyKind kind;
};
struct cudaFuncAttributes {
  size_t sharedSizeBytes, constSizeBytes, localSizeBytes;
  int maxThreadsPerBlock, numRegs, ptxVersion, binaryVersion;
};
enum cudaResourceType {
  cudaResourceTypeArray, cudaResourceTypeMipmappedArray, cudaResourceTypeLinear, cudaResourceTypePitch2D
};
struct cudaResourceDesc {
  cudaResourceType resType;
  struct {
    struct { cudaArray_t array; } array;
    struct { void* devPtr; cudaChannelFormatDesc desc; size_t sizeInBytes; } linear;
    struct { void* devPtr; cudaChannelFormatDesc desc; size_t width, height, pitchInBytes; } pitch2D;
  } res;
};
struct cudaTextureDesc {
  cudaTextureAddressMode addressMode[3]; cudaTextureFilterMode filterMode; cudaTextureReadMode readMode;
  int normalizedCoords;
};

extern "C" {
// clang calls these for <<<…>>>.
cudaError_t cudaConfigureCall(dim3, dim3, size_t = 0, cudaStream_t = 0);
unsigned __cudaPushCallConfiguration(dim3, dim3, size_t = 0, cudaStream_t = 0);
unsigned __hipPushCallConfiguration(dim3, dim3, size_t = 0, cudaStream_t = 0);  // as clang calls it for AMD's devices
cudaError_t cudaLaunchKernel(const void*, dim3, dim3, void**, size_t, cudaStream_t);

cudaError_t cudaMalloc(void**, size_t);
cudaError_t cudaMallocHost(void**, size_t, unsigned = 0);
cudaError_t cudaMallocPitch(void**, size_t*, size_t, size_t);
cudaError_t cudaMallocManaged(void**, size_t, unsigned = cudaMemAttachGlobal);
cudaError_t cudaMallocArray(cudaArray_t*, const cudaChannelFormatDesc*, size_t, size_t = 0, unsigned = 0);
cudaError_t cudaMalloc3DArray(cudaArray_t*, const cudaChannelFormatDesc*, cudaExtent, unsigned = 0);
cudaError_t cudaHostAlloc(void**, size_t, unsigned);
cudaError_t cudaHostRegister(void*, size_t, unsigned);
cudaError_t cudaHostUnregister(void*);
cudaError_t cudaHostGetDevicePointer(void**, void*, unsigned);
cudaError_t cudaFree(void*);
cudaError_t cudaFreeHost(void*);
cudaError_t cudaFreeArray(cudaArray_t);
cudaError_t cudaMemcpy(void*, const void*, size_t, cudaMemcpyKind);
cudaError_t cudaMemcpyAsync(void*, const void*, size_t, cudaMemcpyKind, cudaStream_t = 0);
cudaError_t cudaMemcpy2D(void*, size_t, const void*, size_t, size_t, size_t, cudaMemcpyKind);
cudaError_t cudaMemcpy2DAsync(void*, size_t, const void*, size_t, size_t, size_t, cudaMemcpyKind, cudaStream_t = 0);
cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms*);
cudaError_t cudaMemcpyToArray(cudaArray_t, size_t, size_t, const void*, size_t, cudaMemcpyKind);
cudaError_t cudaMemcpy2DToArray(cudaArray_t, size_t, size_t, const void*, size_t, size_t, size_t, cudaMemcpyKind);
cudaError_t cudaMemset(void*, int, size_t);
cudaError_t cudaMemsetAsync(void*, int, size_t, cudaStream_t = 0);
cudaError_t cudaMemset2D(void*, size_t, int, size_t, size_t);
cudaError_t cudaMemGetInfo(size_t*, size_t*);
cudaError_t cudaMemPrefetchAsync(const void*, size_t, int, cudaStream_t = 0);
cudaError_t cudaDeviceSynchronize();
cudaError_t cudaThreadSynchronize();
cudaError_t cudaDeviceReset();
cudaError_t cudaThreadExit();
cudaError_t cudaGetDevice(int*);
cudaError_t cudaSetDevice(int);
cudaError_t cudaSetDeviceFlags(unsigned);
cudaError_t cudaGetDeviceCount(int*);
cudaError_t cudaGetDeviceProperties(cudaDeviceProp*, int);
cudaError_t cudaChooseDevice(int*, const cudaDeviceProp*);
cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache);
cudaError_t cudaThreadSetCacheConfig(cudaFuncCache);
cudaError_t cudaDeviceSetSharedMemConfig(cudaSharedMemConfig);
cudaError_t cudaDeviceCanAccessPeer(int*, int, int);
cudaError_t cudaDeviceEnablePeerAccess(int, unsigned);
cudaError_t cudaDriverGetVersion(int*);
cudaError_t cudaRuntimeGetVersion(int*);
cudaError_t cudaGetLastError();
cudaError_t cudaPeekAtLastError();
const char* cudaGetErrorString(cudaError_t);
const char* cudaGetErrorName(cudaError_t);
cudaError_t cudaEventCreateWithFlags(cudaEvent_t*, unsigned);
cudaError_t cudaEventRecord(cudaEvent_t, cudaStream_t = 0);
cudaError_t cudaEventSynchronize(cudaEvent_t);
cudaError_t cudaEventElapsedTime(float*, cudaEvent_t, cudaEvent_t);
cudaError_t cudaEventDestroy(cudaEvent_t);
cudaError_t cudaEventQuery(cudaEvent_t);
cudaError_t cudaStreamCreate(cudaStream_t*);
cudaError_t cudaStreamCreateWithFlags(cudaStream_t*, unsigned);
cudaError_t cudaStreamDestroy(cudaStream_t);
cudaError_t cudaStreamSynchronize(cudaStream_t);
cudaError_t cudaStreamQuery(cudaStream_t);
cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned = 0);
cudaError_t cudaProfilerStart();
cudaError_t cudaProfilerStop();
cudaError_t cudaCreateTextureObject(cudaTextureObject_t*, const cudaResourceDesc*, const cudaTextureDesc*, const void*);
cudaError_t cudaDestroyTextureObject(cudaTextureObject_t);
}
cudaError_t cudaEventCreate(cudaEvent_t*);
cudaError_t cudaEventCreate(cudaEvent_t*, unsigned);
template <class KcT> cudaError_t cudaMalloc(KcT**, size_t);
template <class KcT> cudaError_t cudaMallocHost(KcT**, size_t, unsigned = 0);
template <class KcT> cudaError_t cudaMallocManaged(KcT**, size_t, unsigned = cudaMemAttachGlobal);
template <class KcT> cudaError_t cudaMallocPitch(KcT**, size_t*, size_t, size_t);
template <class KcT> cudaError_t cudaHostAlloc(KcT**, size_t, unsigned);
template <class KcT> cudaError_t cudaMemcpyToSymbol(const KcT&, const void*, size_t, size_t = 0, cudaMemcpyKind = cudaMemcpyHostToDevice);
template <class KcT> cudaError_t cudaMemcpyToSymbolAsync(const KcT&, const void*, size_t, size_t, cudaMemcpyKind, cudaStream_t = 0);
template <class KcT> cudaError_t cudaMemcpyFromSymbol(void*, const KcT&, size_t, size_t = 0, cudaMemcpyKind = cudaMemcpyDeviceToHost);
template <class KcT> cudaError_t cudaGetSymbolAddress(void**, const KcT&);
template <class KcF> cudaError_t cudaFuncSetCacheConfig(KcF*, cudaFuncCache);
template <class KcF> cudaError_t cudaFuncGetAttributes(cudaFuncAttributes*, KcF*);
template <class KcF> cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int*, KcF*, int, size_t);
template <class KcT> cudaChannelFormatDesc cudaCreateChannelDesc();
cudaChannelFormatDesc cudaCreateChannelDesc(int, int, int, int, cudaChannelFormatKind);
cudaExtent make_cudaExtent(size_t, size_t, size_t);
cudaPos make_cudaPos(size_t, size_t, size_t);
cudaPitchedPtr make_cudaPitchedPtr(void*, size_t, size_t, size_t);
template <class KcT, int KcD, int KcM, class... KcA> cudaError_t cudaBindTexture(size_t*, kernelcast_texture<KcT, KcD, KcM> const&, KcA...);
template <class KcT, int KcD, int KcM, class... KcA> cudaError_t cudaBindTexture2D(size_t*, kernelcast_texture<KcT, KcD, KcM> const&, KcA...);
template <class KcT, int KcD, int KcM, class... KcA> cudaError_t cudaBindTextureToArray(kernelcast_texture<KcT, KcD, KcM> const&, KcA...);
template <class KcT, int KcD, int KcM> cudaError_t cudaUnbindTexture(kernelcast_texture<KcT, KcD, KcM> const&);
