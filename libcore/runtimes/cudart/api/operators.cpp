// Operators that a program of the application computes on the host in place of a library's kernels: PyTorch's, whose
// kernels are machine code (libcore/api/python/kernelcast/torch_device.py, which calls these by ctypes).
//
// Method: the program names the memory that it will read and write, so that all that waits and concerns it is done
// before; it computes there itself, as device addresses are host addresses; then it names the kernels that the library
// would have started, which have rows as calls of our own libraries have. From begin to end no time is the host's own.
#include "kernels/cuda/abi.hpp"
#include "runtimes/cudart/allocations.hpp"
#include "runtimes/cudart/call.hpp"
#include "runtimes/cudart/deferred.hpp"
#include "runtimes/cudart/library_calls.hpp"
#include "runtimes/cudart/timeline.hpp"

using namespace kernelcast;
using namespace kernelcast::cudart;

extern "C" {

struct kernelcast_area {
  void const* begin;
  std::uint64_t bytes;
  int written;
};

}  // extern "C"

namespace {

std::vector<Operand> operands_of(kernelcast_area const* areas, std::size_t count) {
  std::vector<Operand> out;
  for (std::size_t a = 0; a < count; ++a)
    out.push_back({"a tensor", areas[a].begin, areas[a].bytes, 0, !areas[a].written, areas[a].written != 0});
  return out;
}

}  // namespace

KERNELCAST_CUDA_EXPORT void kernelcast_operators_begin() {
  locked([](Timeline& timeline) { timeline.entered(); });
}

KERNELCAST_CUDA_EXPORT void kernelcast_operators_end() {
  locked([](Timeline& timeline) { timeline.left(); });
}

// The program reads these areas next, or writes them. Code::illegal_address where one is not the device's.
KERNELCAST_CUDA_EXPORT Code kernelcast_operators_touch(kernelcast_area const* areas, std::size_t count) {
  return call([&](Allocations const& allocations, Deferred& deferred) {
    LibraryCall touching;
    touching.operands = operands_of(areas, count);
    for (auto const& operand : touching.operands)
      if (!allocations.holds(operand.begin, operand.extent_bytes)) return Code::illegal_address;
    deferred.before(touching);
    deferred.after(touching, true);
    return Code::success;
  });
}

// These bytes are `value` from now on: at once, or where something reads them.
KERNELCAST_CUDA_EXPORT Code kernelcast_operators_fill(void* begin, std::uint64_t bytes, int value) {
  return call([&](Allocations const& allocations, Deferred& deferred) {
    if (!allocations.holds(begin, bytes)) return Code::illegal_address;
    deferred.fill({begin, bytes, bytes}, value);
    return Code::success;
  });
}

// A kernel that the library would have started on the stream, which has moved these bytes. `work`: what is to be
// done each time, where the stream is captured.
KERNELCAST_CUDA_EXPORT Code kernelcast_operators_add(Stream stream, char const* kernel, char const* case_name,
                                                     char const* library, double flop, std::uint64_t read_bytes,
                                                     std::uint64_t written_bytes, kernelcast_area const* areas,
                                                     std::size_t count, void (*work)()) {
  LibraryCall made;
  made.kernel = kernel;
  made.case_name = case_name;
  made.library = library;
  made.flop = flop;
  made.operands = operands_of(areas, count);
  made.operands.push_back({.name = "read", .touched_bytes = read_bytes});
  made.operands.push_back({.name = "written", .touched_bytes = written_bytes, .read = false, .written = true});
  made.work = work ? work : [] {};
  return library_call(stream, [made = std::move(made)](LibraryCall& out) { out = made; });
}
