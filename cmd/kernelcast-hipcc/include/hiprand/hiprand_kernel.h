#pragma once
#include <curand_kernel.h>
#include <hiprand/hiprand.h>
