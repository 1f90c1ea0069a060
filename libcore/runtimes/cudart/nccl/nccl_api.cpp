// NCCL's entry points. Limits: parts of communicators are refused by name; what else there is not: cliques.hpp.
#include <array>
#include <cstring>
#include <mutex>
#include <string>
#include <vector>

#include "runtimes/cudart/call.hpp"
#include "runtimes/cudart/devices.hpp"
#include "runtimes/cudart/nccl/cliques.hpp"

using namespace kernelcast::cudart;
namespace nccl = kernelcast::nccl;
using nccl::ask, nccl::Comm, nccl::join, nccl::Kind, nccl::refused, nccl::Result, nccl::result_of;

KERNELCAST_CUDA_EXPORT Code cudaMalloc(void**, std::size_t);
KERNELCAST_CUDA_EXPORT Code cudaFree(void*);

namespace {

struct UniqueId {
  char bytes[128];
};

std::string text_of(UniqueId const& id) {
  return {id.bytes, strnlen(id.bytes, sizeof id.bytes)};
}

// Goes with the process.
struct Ids {
  std::vector<std::string> made;
  ~Ids() {
    for (auto const& id : made) nccl::Meeting::end(id);
  }
};

}  // namespace

#define API KERNELCAST_CUDA_EXPORT

API Result ncclGetVersion(int* out) {
  if (!out) return Result::invalid_argument;
  *out = 22304;
  return Result::success;
}
API char const* ncclGetErrorString(Result result) {
  constexpr std::array<char const*, 8> texts{
      "no error",         "unhandled cuda error", "unhandled system error", "internal error",
      "invalid argument", "invalid usage",        "remote process error",   "in progress"};
  auto const number = static_cast<std::size_t>(result);
  return number < texts.size() ? texts[number] : "unknown result code";
}
API char const* ncclGetLastError(Comm*) {
  return "";
}
API Result ncclGetUniqueId(UniqueId* out) {
  static Ids ids;
  static std::mutex mutex;
  if (!out) return Result::invalid_argument;
  auto const text = nccl::Meeting::new_id();
  if (text.empty()) return Result::system;
  std::lock_guard const lock(mutex);
  ids.made.push_back(text);
  *out = {};
  text.copy(out->bytes, sizeof out->bytes - 1);
  return Result::success;
}

API Result ncclCommInitRank(Comm** out, int size, UniqueId id, int rank) {
  auto const text = text_of(id);
  if (!nccl::Meeting::is_id(text)) return Result::invalid_argument;
  return join(out, size, text, rank, current_device());
}
API Result ncclCommInitRankConfig(Comm** out, int size, UniqueId id, int rank, void*) {
  return ncclCommInitRank(out, size, id, rank);
}
API Result ncclCommInitAll(Comm** out, int size, int const* devices) {
  if (!out || size < 1) return Result::invalid_argument;
  auto const id = nccl::new_id_of_process();
  for (int rank = 0; rank < size; ++rank)
    if (auto const made = join(out + rank, size, id, rank, devices ? devices[rank] : rank); made != Result::success)
      return made;
  return Result::success;
}
API Result ncclCommSplit(Comm*, int, int, Comm**, void*) {
  return refused("ncclCommSplit", "parts of communicators");
}
API Result ncclCommFinalize(Comm* comm) {
  return comm ? Result::success : Result::invalid_argument;
}
API Result ncclCommDestroy(Comm* comm) {
  if (!comm) return Result::success;
  nccl::leave(comm);
  return Result::success;
}
API Result ncclCommAbort(Comm* comm) {
  return ncclCommDestroy(comm);
}
API Result ncclCommGetAsyncError(Comm* comm, Result* out) {
  if (!comm || !out) return Result::invalid_argument;
  *out = Result::success;
  return Result::success;
}
API Result ncclCommCount(Comm const* comm, int* out) {
  if (!comm || !out) return Result::invalid_argument;
  *out = comm->clique->size;
  return Result::success;
}
API Result ncclCommCuDevice(Comm const* comm, int* out) {
  if (!comm || !out) return Result::invalid_argument;
  *out = comm->device;
  return Result::success;
}
API Result ncclCommUserRank(Comm const* comm, int* out) {
  if (!comm || !out) return Result::invalid_argument;
  *out = comm->rank;
  return Result::success;
}

// Memory is always there for all.
API Result ncclMemAlloc(void** out, std::size_t bytes) {
  return result_of(cudaMalloc(out, bytes));
}
API Result ncclMemFree(void* pointer) {
  return result_of(cudaFree(pointer));
}
API Result ncclCommRegister(Comm const*, void* pointer, std::size_t, void** handle) {
  if (handle) *handle = pointer;
  return Result::success;
}
API Result ncclCommDeregister(Comm const*, void*) {
  return Result::success;
}
API Result ncclCommWindowRegister(Comm*, void* pointer, std::size_t, void** window, int) {
  if (window) *window = pointer;
  return Result::success;
}
API Result ncclCommWindowDeregister(Comm*, void*) {
  return Result::success;
}

// Each input times a number, which lies on the host or on the device, then their sum.
API Result ncclRedOpCreatePreMulSum(int* out, void* scalar, int type, int, Comm* comm) {
  auto const size = nccl::bytes_of(type);
  if (!out || !scalar || !comm || !size) return Result::invalid_argument;
  auto const factor = nccl::number_of(static_cast<nccl::Type>(type), scalar);
  *out = nccl::add_factor(factor);
  return Result::success;
}
API Result ncclRedOpDestroy(int number, Comm*) {
  return nccl::remove_factor(number) ? Result::success : Result::invalid_argument;
}

API Result ncclGroupStart() {
  nccl::begin_group();
  return Result::success;
}
API Result ncclGroupEnd() {
  return nccl::end_group();
}

API Result ncclAllReduce(void const* from, void* to, std::size_t count, int type, int reduction, Comm* comm,
                         Stream stream) {
  return ask({Kind::all_reduce, from, to, count, type, 0, comm, stream}, reduction);
}
API Result ncclReduce(void const* from, void* to, std::size_t count, int type, int reduction, int root, Comm* comm,
                      Stream stream) {
  return ask({Kind::reduce, from, to, count, type, root, comm, stream}, reduction);
}
API Result ncclBroadcast(void const* from, void* to, std::size_t count, int type, int root, Comm* comm, Stream stream) {
  return ask({Kind::broadcast, from, to, count, type, root, comm, stream});
}
API Result ncclBcast(void* buffer, std::size_t count, int type, int root, Comm* comm, Stream stream) {
  return ncclBroadcast(buffer, buffer, count, type, root, comm, stream);
}
API Result ncclAllGather(void const* from, void* to, std::size_t count, int type, Comm* comm, Stream stream) {
  return ask({Kind::all_gather, from, to, count, type, 0, comm, stream});
}
API Result ncclReduceScatter(void const* from, void* to, std::size_t count, int type, int reduction, Comm* comm,
                             Stream stream) {
  return ask({Kind::reduce_scatter, from, to, count, type, 0, comm, stream}, reduction);
}
API Result ncclSend(void const* from, std::size_t count, int type, int peer, Comm* comm, Stream stream) {
  return ask({Kind::send, from, nullptr, count, type, peer, comm, stream});
}
API Result ncclRecv(void* to, std::size_t count, int type, int peer, Comm* comm, Stream stream) {
  return ask({Kind::receive, nullptr, to, count, type, peer, comm, stream});
}

// PyTorch's libraries are linked with these.
#define REFUSED(call)          \
  API Result call() {          \
    return refused(#call, {}); \
  }
REFUSED(ncclAlltoAll)
REFUSED(ncclCommGetUniqueId)
REFUSED(ncclCommGrow)
REFUSED(ncclCommInitRankScalable)
REFUSED(ncclCommMemStats)
REFUSED(ncclCommResume)
REFUSED(ncclCommRevoke)
REFUSED(ncclCommShrink)
REFUSED(ncclCommSuspend)
REFUSED(ncclDevCommCreate)
REFUSED(ncclDevCommDestroy)
REFUSED(ncclGather)
REFUSED(ncclGetLsaMultimemDevicePointer)
REFUSED(ncclGetPeerDevicePointer)
REFUSED(ncclGroupSimulateEnd)
REFUSED(ncclPutSignal)
REFUSED(ncclScatter)
REFUSED(ncclSignal)
REFUSED(ncclWaitSignal)
REFUSED(ncclWinGetUserPtr)
