// The devices that operate together by NCCL: what their operations leave in memory, when the last of them asks for it.
//
// Method: a communicator is a device's place in a clique. In one process an operation waits until all places have asked
// for it, by groups (ncclGroupStart) or from threads of their own; then it is done at once, as all work of the streams
// is. Sends and receives meet in pairs, in their order. Where places are in several processes, each leaves what it has
// for the others (meeting.hpp), and takes what they have.
// Limits: graphs and float8 are refused by name. One thread that asks for several places must do so in a group, as NCCL
// says: a call waits for the others of its process, 20 seconds at most.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels/cuda/abi.hpp"
#include "runtimes/cudart/nccl/meeting.hpp"
#include "runtimes/cudart/nccl/operations.hpp"

namespace kernelcast::nccl {

using cudart::Code;
using cudart::Stream;

// As NCCL numbers them.
enum class Result : int {
  success,
  unhandled_cuda,
  system,
  internal,
  invalid_argument,
  invalid_usage,
  remote,
  in_progress
};

enum class Kind { all_reduce, reduce, broadcast, all_gather, reduce_scatter, send, receive };

struct Comm;

struct Operation {
  Kind kind{};
  void const* from = nullptr;
  void* to = nullptr;
  std::size_t count = 0;
  int type = 0, peer = 0;  // peer: the root, or the other side
  Comm* comm = nullptr;
  Stream stream = nullptr;
  Reduction reduction{};
  std::optional<double> factor = {};  // of its own input
  bool done = false;
  Result result = Result::success;
};
using Pointer = std::shared_ptr<Operation>;

struct Clique {
  int size = 0;
  std::vector<Comm*> comms;
  std::map<std::pair<int, int>, std::deque<Pointer>> sends, receives;  // by from and to
  std::optional<Meeting> meeting;                                      // none: of ncclCommInitAll
  bool apart = false;                                                  // in several processes
};

struct Comm {
  std::shared_ptr<Clique> clique;
  int rank = 0, device = 0;
  std::deque<Pointer> asked = {};  // operations of all
  std::uint64_t left = 0;          // for operations of all, where places are apart
  std::map<int, std::uint64_t> sent = {}, received = {};
};

Result refused(char const* call, std::string_view what);  // named on standard error, once
Result result_of(Code);

// `reduction` by NCCL's number. Within a group it is only noted.
Result ask(Operation, int reduction = 0);
void begin_group();
Result end_group();

// A place of the communicator of this id, which waits for the others unless a group does, or its id is none of
// Meeting's.
Result join(Comm** out, int size, std::string const& id, int rank, int device);
void leave(Comm*);
std::string new_id_of_process();  // of a communicator whose places are all made at once

// The number of a reduction whose inputs are multiplied by this first; false: there is none of this number.
int add_factor(double);
bool remove_factor(int number);

}  // namespace kernelcast::nccl
