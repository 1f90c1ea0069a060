#pragma once
#include <curand.h>
#include <hip/hip_runtime_api.h>
#include <hip_names/rand.h>
