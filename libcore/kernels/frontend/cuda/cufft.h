// Stands for the CUDA library's header of this name: enough that host code which calls it is checked.
#pragma once
#include "cuda_runtime.h"

typedef int cufftHandle;
typedef float cufftReal;
typedef double cufftDoubleReal;
typedef float2 cufftComplex;
typedef double2 cufftDoubleComplex;
enum cufftResult {
  CUFFT_SUCCESS, CUFFT_INVALID_PLAN, CUFFT_ALLOC_FAILED, CUFFT_INVALID_TYPE, CUFFT_INVALID_VALUE, CUFFT_INTERNAL_ERROR,
  CUFFT_EXEC_FAILED, CUFFT_SETUP_FAILED, CUFFT_INVALID_SIZE, CUFFT_UNALIGNED_DATA
};
enum cufftType {
  CUFFT_R2C = 0x2a, CUFFT_C2R = 0x2c, CUFFT_C2C = 0x29, CUFFT_D2Z = 0x6a, CUFFT_Z2D = 0x6c, CUFFT_Z2Z = 0x69
};
enum { CUFFT_FORWARD = -1, CUFFT_INVERSE = 1 };

cufftResult cufftPlan1d(cufftHandle*, int, cufftType, int);
cufftResult cufftPlan2d(cufftHandle*, int, int, cufftType);
cufftResult cufftPlan3d(cufftHandle*, int, int, int, cufftType);
cufftResult cufftDestroy(cufftHandle);
cufftResult cufftSetStream(cufftHandle, cudaStream_t);
cufftResult cufftExecC2C(cufftHandle, cufftComplex*, cufftComplex*, int);
cufftResult cufftExecZ2Z(cufftHandle, cufftDoubleComplex*, cufftDoubleComplex*, int);
cufftResult cufftExecR2C(cufftHandle, cufftReal*, cufftComplex*);
cufftResult cufftExecC2R(cufftHandle, cufftComplex*, cufftReal*);
cufftResult cufftExecD2Z(cufftHandle, cufftDoubleReal*, cufftDoubleComplex*);
cufftResult cufftExecZ2D(cufftHandle, cufftDoubleComplex*, cufftDoubleReal*);
