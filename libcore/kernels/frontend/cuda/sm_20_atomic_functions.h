// Stands for the CUDA toolkit's header of this name; all is in one place.
#pragma once
#include "cuda_runtime.h"
