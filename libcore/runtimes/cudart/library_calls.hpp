// Calls of libraries whose kernels are machine code (cuBLAS and the like): the host does what they would do, and a row
// says which call it was, of what sizes, so that models take its time from tables (devdb/libraries.csv).
//
// Method: a call is described when it runs, which in a graph is later than when it was made: what it reads and writes,
// and the work. All of that memory must be in one of the emulator's buffers each, or nothing is touched.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/cuda/abi.hpp"

namespace kernelcast::cudart {

struct Operand {
  std::string_view name;
  void const* begin = nullptr;
  std::uint64_t extent_bytes = 0;   // from its first to behind its last
  std::uint64_t touched_bytes = 0;  // of these
  bool read = true, written = false;
};

struct LibraryCall {
  std::string kernel;     // "cublasSgemm"
  std::string case_name;  // "m64_n64_k64_nt"
  std::string library;    // the column: "gemm:f32:64x64x64x1"
  double flop = 0;
  double passes = 1;  // how often all of its memory is gone through
  std::vector<Operand> operands;
  // All that the result depends on but the operands' contents, so that the same once more need not be computed; empty
  // where that is not said: it is computed.
  std::string identity;
  std::function<void()> work;

  // `count` elements of `size` bytes in columns (rows, ...) that lie `leading` elements apart.
  void matrix(std::string_view name, void const* begin, std::uint64_t size, std::uint64_t rows, std::uint64_t columns,
              std::uint64_t leading, bool read, bool written);
};

// Now, or when the graph runs that the stream is captured into. Code::invalid_value where it is described as refused,
// Code::illegal_address where an operand reaches out of its buffer; both are reported with the call's name.
Code library_call(Stream, std::function<void(LibraryCall&)> describe);

// One of several devices together, each on a stream of its own; `bytes` as NCCL's tests count them. It has no row:
// models take its time from the links between the devices. A stream that is captured is refused
// (Code::stream_capture_unsupported). `of`: how many take part where some are in other processes.
struct Participant {
  int device = 0;
  Stream stream = nullptr;
};
Code collective_call(std::vector<Participant> const&, LibraryCall const&, double bytes, std::size_t of = 0);

// Of a call that a library of ours does not have: named on standard error, once.
void library_lacks(std::string_view library, std::string_view call, std::string_view what = {});

// For devices: the current one's of the emulator.
bool device_holds(void const*, std::uint64_t bytes);

}  // namespace kernelcast::cudart
