#pragma once
#include <cublas_v2.h>
#include <hip/hip_complex.h>
#include <hip/hip_runtime_api.h>
#include <hip_names/blas.h>
#define hipblasDatatype_t cudaDataType_t
#define hipblasStatusToString cublasGetStatusString
#define hipblasHalf __half
#define hipblasBfloat16 __nv_bfloat16
#define hipblasComplex cuComplex
#define hipblasDoubleComplex cuDoubleComplex
#define HIPBLAS_R_16F CUDA_R_16F
#define HIPBLAS_R_16B CUDA_R_16BF
#define HIPBLAS_R_32F CUDA_R_32F
#define HIPBLAS_R_64F CUDA_R_64F
#define HIPBLAS_R_8I CUDA_R_8I
#define HIPBLAS_R_32I CUDA_R_32I
