#pragma once
#include <cuComplex.h>
#include <hip_names/complex.h>
#define hipComplex cuComplex
