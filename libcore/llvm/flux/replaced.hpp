// Which functions of the CUDA runtime flux-count's run-time replaces (flux/attach/preload.cpp), and which it calls
// (flux/attach/runtime.hpp).
#pragma once

namespace kernelcast::flux {

inline constexpr char const* prefix = "kernelcast_flux_";

inline constexpr char const* replaced_functions[] = {"__cudaRegisterFatBinary",
                                                     "__cudaUnregisterFatBinary",
                                                     "__cudaRegisterFunction",
                                                     "__cudaGetKernel",
                                                     "cudaLaunchKernel",
                                                     "cudaLaunchKernel_ptsz",
                                                     "cudaLaunchCooperativeKernel",
                                                     "cudaLaunchCooperativeKernel_ptsz",
                                                     "__cudaLaunchKernel",
                                                     "__cudaLaunchKernel_ptsz",
                                                     "cudaLaunchKernelExC",
                                                     "cudaLaunchKernelExC_ptsz",
                                                     "cudaGraphAddKernelNode",
                                                     "cudaGraphKernelNodeSetParams",
                                                     "cudaGraphExecKernelNodeSetParams",
                                                     "cudaGraphAddNode",
                                                     "cudaGraphNodeSetParams",
                                                     "cudaGraphExecNodeSetParams",
                                                     "cudaGraphDestroyNode",
                                                     "cudaGraphGetNodes"};

inline constexpr char const* called_functions[] = {"cudaGetDevice",
                                                   "cudaSetDevice",
                                                   "cudaDeviceSynchronize",
                                                   "cudaFuncGetAttributes",
                                                   "cudaMalloc",
                                                   "cudaMallocHost",
                                                   "cudaMemsetAsync",
                                                   "cudaMemcpyAsync",
                                                   "cudaStreamCreateWithFlags",
                                                   "cudaStreamSynchronize",
                                                   "cudaStreamIsCapturing",
                                                   "cudaThreadExchangeStreamCaptureMode",
                                                   "cudaEventCreateWithFlags",
                                                   "cudaEventRecord",
                                                   "cudaEventQuery",
                                                   "cudaEventSynchronize",
                                                   "cudaLaunchHostFunc",
                                                   "cudaRuntimeGetVersion",
                                                   "cudaStreamGetCaptureInfo",
                                                   "cudaGraphAddMemcpyNode1D",
                                                   "cudaGraphAddMemsetNode",
                                                   "cudaGraphAddHostNode",
                                                   "cudaGraphMemcpyNodeSetParams1D",
                                                   "cudaGraphMemsetNodeSetParams",
                                                   "cudaGraphHostNodeSetParams",
                                                   "cudaGraphExecMemcpyNodeSetParams1D",
                                                   "cudaGraphExecMemsetNodeSetParams",
                                                   "cudaGraphExecHostNodeSetParams",
                                                   "cudaGraphDestroyNode"};

}  // namespace kernelcast::flux
