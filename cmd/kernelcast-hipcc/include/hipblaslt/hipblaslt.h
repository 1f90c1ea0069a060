#pragma once
#include <cublasLt.h>
#include <hipblas/hipblas.h>
#include <hip_names/blaslt.h>
#define hipblasLtBfloat16 __nv_bfloat16
#define hipblasLtHalf __half
