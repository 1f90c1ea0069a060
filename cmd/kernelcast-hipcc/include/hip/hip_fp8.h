#pragma once
#include <cuda_fp8.h>
#include <hip/hip_runtime_api.h>
#include <hip_names/numbers.h>
