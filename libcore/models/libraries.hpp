// How long a call of a library takes whose kernels are machine code (cuBLAS, cuFFT, cuRAND, cuDNN), or an operator of a
// neural network.
//
// Problem: nothing of such a kernel can be counted; its work and its sizes are known. Method: time = start_s +
// max(compute, numbers, memory) for each launch; the figures are rows of devdb/libraries.csv, by operation,
// architecture and type.
//  - gemm, convolution (as a product): tiles of tile x tile or less, the batch's together, on all compute units; the
//    products over k may be shared by up to split_most of them. A unit takes waves * 2 tile^2 (k / split + fill) /
//    (part * rate): the least over the splits. All rates count the operations of the type: a complex multiplication and
//    addition has 8. Rows that are no multiple of 8 reach `unaligned` of it.
//  - gemm where the table names the library's kernels (tile_128x64: a work-group makes 128 columns of 64 rows; batches
//    have their own, gemm_batch): tiles are whole, each product costs 1 + operand_cost (1 / columns + 1 / rows), and
//    the least over kernels and splits counts. With joule_per_flop no more than the board's power supplies.
//  - attention: a work-group for each tile of queries, which meets all keys.
//  - others: flop / (part * rate), at most per_clock numbers a clock of a unit, row_per_clock of a work-group.
//  - rate: flop_per_cycle of a compute unit (matrix units), else the peak of the type.
//  - memory: the bytes that it must move, and those that its kernel reads_again (of rows above row_kept), over reach
//    of what the memory gives (or memory_part of the stated bandwidth); of others than products from the second-level
//    cache as far as they fit.
// Source: libraries.csv says what each figure was chosen on; bench-suites/torch has the errors of operators and of
// whole models. Limits: a library's choice between its kernels is not known, the fastest one is assumed; nor what it
// does for an odd leading dimension. Columns are taken to be contiguous, as PyTorch's are: of cuBLAS' own calls rows
// are, so that tiles that are no squares lie the other way. Pascal's kernels lose more on large transposed operands
// than is projected.
#pragma once

#include <optional>
#include <string_view>

#include "models/queue.hpp"

namespace kernelcast::model::queue {

// Whether the columns library and library_flop can be read.
bool is_library_call(record::Kernel const&);
void explain_library(record::Kernel const&, device::Device const&, Options const&, Terms&);

}  // namespace kernelcast::model::queue
