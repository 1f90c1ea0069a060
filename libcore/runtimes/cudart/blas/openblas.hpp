// OpenBLAS, where the machine has it: opened when a product is first large enough to be worth it. Without it, or with
// KERNELCAST_OPENBLAS=0, the plain loops of hostmath do the same.
#pragma once

#include "runtimes/hostmath/matrix.hpp"

namespace kernelcast::cudart::blas {

struct Product {  // column by column
  hostmath::Op a, b;
  std::int64_t m, n, k, lda, ldb, ldc;
};
// False where it is not there, or not worth it.
template <class T>
bool multiply_fast(Product const&, T alpha, T const* a, T const* b, T beta, T* c);

}  // namespace kernelcast::cudart::blas
