#pragma once
#include <cusparse.h>
#include <hip/hip_complex.h>
#include <hip/hip_runtime_api.h>
#include <hip_names/sparse.h>
