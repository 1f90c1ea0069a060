// How long a call of a library takes whose kernels are machine code (cuBLAS, cuFFT, cuRAND).
//
// Problem: nothing of such a kernel can be counted; its work and its sizes are known. Method: time = max(compute,
// memory) for each launch; rate, parts and tile are rows of devdb/libraries.csv, by operation, type and architecture.
//  - gemm: tiles of tile x tile, the batch's together, on all compute units; the products over k may be shared by up to
//    split_most of them. A unit takes waves * 2 tile^2 (k / split + fill_k) / (part * rate): the least over the splits.
//    All rates count the operations of the type: a complex multiplication and addition has 8.
//  - others: flop / (part * rate).
//  - rate: flop_per_cycle of a compute unit (matrix units), else the peak of the type.
//  - memory: the bytes that it must move, over memory_part of the memory's bandwidth.
// Source: the figures were chosen on NeuSight's bmm and linear on V100 and A100, one half of the sizes; libraries.csv
// says what the other half gave. Limits: no library's choice between kernels is known, nor what it does for an odd
// leading dimension; nothing of a call lies in a cache.
#pragma once

#include <optional>
#include <string_view>

#include "models/queue.hpp"

namespace kernelcast::model::queue {

// Whether the columns library and library_flop can be read.
bool is_library_call(record::Kernel const&);
void explain_library(record::Kernel const&, device::Device const&, Options const&, Terms&);

}  // namespace kernelcast::model::queue
