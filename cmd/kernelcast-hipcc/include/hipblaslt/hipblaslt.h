#pragma once
#include <cublasLt.h>
#include <hip_names/blaslt.h>
#include <hipblas/hipblas.h>
#define hipblasLtBfloat16 __nv_bfloat16
#define hipblasLtHalf __half
