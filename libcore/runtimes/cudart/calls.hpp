// Calls of the runtime that others of its calls are made of.
#pragma once

#include "kernels/cuda/abi.hpp"

using kernelcast::cudart::Code;
using kernelcast::cudart::Copy3D;
using kernelcast::cudart::CopyKind;
using kernelcast::cudart::Event;
using kernelcast::cudart::Stream;

KERNELCAST_CUDA_EXPORT Code cudaMemcpy(void* to, void const* from, std::size_t bytes, CopyKind);
KERNELCAST_CUDA_EXPORT Code cudaMemcpy3D(Copy3D const*);
KERNELCAST_CUDA_EXPORT Code cudaEventRecord(Event, Stream);
KERNELCAST_CUDA_EXPORT Code cudaFree(void* pointer);
KERNELCAST_CUDA_EXPORT Code cudaMemset2D(void* to, std::size_t pitch, int value, std::size_t width, std::size_t height);
KERNELCAST_CUDA_EXPORT Code cudaGetSymbolAddress(void** address, void const* symbol);
