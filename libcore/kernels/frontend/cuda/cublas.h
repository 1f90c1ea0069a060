// Stands for the CUDA library's header of this name, its first programming interface: enough that host code which calls
// it is checked.
#pragma once
#include "cuda_runtime.h"

typedef unsigned int cublasStatus;
enum cublasStatus_t {
  CUBLAS_STATUS_SUCCESS = 0, CUBLAS_STATUS_NOT_INITIALIZED = 1, CUBLAS_STATUS_ALLOC_FAILED = 3,
  CUBLAS_STATUS_INVALID_VALUE = 7, CUBLAS_STATUS_ARCH_MISMATCH = 8, CUBLAS_STATUS_MAPPING_ERROR = 11,
  CUBLAS_STATUS_EXECUTION_FAILED = 13, CUBLAS_STATUS_INTERNAL_ERROR = 14
};

cublasStatus cublasInit();
cublasStatus cublasShutdown();
cublasStatus cublasGetError();
void cublasSaxpy(int, float, const float*, int, float*, int);
void cublasDaxpy(int, double, const double*, int, double*, int);
float cublasSdot(int, const float*, int, const float*, int);
double cublasDdot(int, const double*, int, const double*, int);
void cublasSgemv(char, int, int, float, const float*, int, const float*, int, float, float*, int);
void cublasDgemv(char, int, int, double, const double*, int, const double*, int, double, double*, int);
void cublasSgemm(char, char, int, int, int, float, const float*, int, const float*, int, float, float*, int);
void cublasDgemm(char, char, int, int, int, double, const double*, int, const double*, int, double, double*, int);
