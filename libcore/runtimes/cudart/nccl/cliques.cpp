#include "runtimes/cudart/nccl/cliques.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <set>
#include <span>

#include <fmt/format.h>

#include "runtimes/cudart/call.hpp"
#include "runtimes/cudart/library_calls.hpp"

namespace kernelcast::nccl {

using cudart::collective_call;
using cudart::LibraryCall;
using cudart::Participant;
using cudart::report;

namespace {

constexpr std::array<char const*, 7> names{"ncclAllReduce",     "ncclReduce", "ncclBroadcast", "ncclAllGather",
                                           "ncclReduceScatter", "ncclSend",   "ncclRecv"};

// One lock for all, which is taken before that of the runtime's calls.
struct State {
  std::mutex mutex;
  std::condition_variable changed;
  std::map<std::string, std::shared_ptr<Clique>> cliques;  // by id
  std::map<int, double> factors;                           // of ncclRedOpCreatePreMulSum, by number
  unsigned ids = 0;
  int next_factor = 0x1000;
};
State& state() {
  static auto* const all = new State;
  return *all;
}

thread_local int depth = 0;
thread_local std::vector<Pointer> group;
thread_local std::vector<Comm*> joining;  // in the group

// ---------------------------------------------------------------- operations

// Of an operation of all places: the results, by place; null: of another process.
void place(Operation const& what, std::vector<Input> const& inputs, std::vector<void*> const& results) {
  auto const n = inputs.size(), size = *bytes_of(what.type), part = what.count * size;
  auto const root = static_cast<std::size_t>(what.peer);
  bool const gathers = what.kind == Kind::all_gather, scatters = what.kind == Kind::reduce_scatter;
  std::vector<std::byte> whole;  // results may lie where inputs do
  if (gathers || what.kind == Kind::broadcast) {
    for (std::size_t r = 0; r < n; ++r) {
      auto const* const begin = static_cast<std::byte const*>(inputs[r].begin);
      if (gathers || r == root) whole.insert(whole.end(), begin, begin + part);
    }
  } else {
    whole = reduced(static_cast<Type>(what.type), what.reduction, inputs, what.count * (scatters ? n : 1));
  }
  for (std::size_t r = 0; r < n; ++r)
    if (results[r] && (what.kind != Kind::reduce || r == root))
      std::memmove(results[r], whole.data() + (scatters ? r * part : 0), scatters ? part : whole.size());
}

struct Sizes {
  std::size_t in = 0, out = 0;
  double counted = 0;  // as NCCL's tests have it
};
// Bytes that a place gives and gets.
Sizes sizes_of(Operation const& what, int rank, std::size_t n) {
  auto const part = what.count * *bytes_of(what.type);
  bool const gathers = what.kind == Kind::all_gather, scatters = what.kind == Kind::reduce_scatter;
  bool const reads = what.kind != Kind::broadcast || rank == what.peer;
  bool const writes = what.kind != Kind::reduce || rank == what.peer;
  return {reads ? part * (scatters ? n : 1) : 0, writes ? part * (gathers ? n : 1) : 0,
          static_cast<double>(part * (gathers || scatters ? n : 1))};
}

LibraryCall library_call_of(Operation const& what) {
  LibraryCall out;
  out.kernel = names[static_cast<std::size_t>(what.kind)];
  return out;
}

Result different(Kind kind) {
  report(fmt::format("{}: the devices ask for different operations", names[static_cast<std::size_t>(kind)]));
  return Result::invalid_usage;
}

// All places ask for the same; with the lock.
Result perform(std::vector<Pointer> const& all) {
  auto const& first = *all.front();
  auto made = library_call_of(first);
  std::vector<Input> inputs;
  std::vector<void*> results;
  std::vector<Participant> participants;
  for (auto const& one : all) {
    if (one->kind != first.kind || one->count != first.count || one->type != first.type ||
        one->reduction != first.reduction || one->factor.has_value() != first.factor.has_value() ||
        one->peer != first.peer)
      return different(first.kind);
    auto const bytes = sizes_of(*one, one->comm->rank, all.size());
    if (bytes.in > 0) made.operands.push_back({"an input", one->from, bytes.in, bytes.in, true, false});
    if (bytes.out > 0) made.operands.push_back({"a result", one->to, bytes.out, bytes.out, false, true});
    inputs.push_back({one->from, one->factor});
    results.push_back(one->to);
    participants.push_back({one->comm->device, one->stream});
  }
  if (first.count == 0) return Result::success;
  made.work = [&] { place(first, inputs, results); };
  return result_of(collective_call(participants, made, sizes_of(first, 0, all.size()).counted));
}

Result meet(Operation const& send, Operation const& receive) {
  if (send.count != receive.count || send.type != receive.type) {
    report("ncclSend and ncclRecv: the two sides differ in size or type");
    return Result::invalid_usage;
  }
  auto const bytes = send.count * *bytes_of(send.type);
  if (bytes == 0) return Result::success;
  LibraryCall made;
  made.kernel = "ncclSend";
  made.operands = {{"what is sent", send.from, bytes, bytes, true, false},
                   {"what is received", receive.to, bytes, bytes, false, true}};
  made.work = [&] { std::memmove(receive.to, send.from, bytes); };
  return result_of(collective_call({{send.comm->device, send.stream}, {receive.comm->device, receive.stream}}, made,
                                   static_cast<double>(bytes)));
}

void finish(Pointer const& operation, Result result) {
  operation->result = result;
  operation->done = true;
}

// Does what all have asked for; with the lock.
void advance(Clique& clique) {
  while (std::ranges::all_of(clique.comms, [](auto const* comm) { return comm && !comm->asked.empty(); })) {
    std::vector<Pointer> all;
    for (auto* const comm : clique.comms) {
      all.push_back(comm->asked.front());
      comm->asked.pop_front();
    }
    auto const result = perform(all);
    for (auto const& one : all) finish(one, result);
  }
  for (auto& [pair, sends] : clique.sends) {
    auto& receives = clique.receives[pair];
    while (!sends.empty() && !receives.empty()) {
      auto const result = meet(*sends.front(), *receives.front());
      finish(sends.front(), result), finish(receives.front(), result);
      sends.pop_front(), receives.pop_front();
    }
  }
}

// ---------------------------------------------------------------- places in several processes

// Before what a place leaves for the others.
struct Head {
  Kind kind;
  int type, peer;
  Reduction reduction;
  std::uint64_t count, has_factor;
  double factor;
};

std::string name_of(Operation const& what, std::uint64_t number, int rank) {
  if (what.kind == Kind::send) return fmt::format("from-{}-to-{}-{}", rank, what.peer, number);
  if (what.kind == Kind::receive) return fmt::format("from-{}-to-{}-{}", what.peer, rank, number);
  return fmt::format("all-{}-{}", number, rank);
}

// What the others need of an operation.
Result give(Operation& what) {
  auto& comm = *what.comm;
  if (what.kind == Kind::receive) return Result::success;
  bool const of_all = what.kind != Kind::send;
  auto const number = of_all ? ++comm.left : ++comm.sent[what.peer];
  auto const bytes = of_all ? sizes_of(what, comm.rank, static_cast<std::size_t>(comm.clique->size)).in
                            : what.count * *bytes_of(what.type);
  Head const head{
      what.kind, what.type, what.peer, what.reduction, what.count, what.factor ? 1U : 0U, what.factor.value_or(0)};
  // All have taken what was left two operations ago: they have left something since.
  if (of_all && number > 2) comm.clique->meeting->remove(name_of(what, number - 2, comm.rank));
  auto made = library_call_of(what);
  if (bytes > 0) made.operands = {{"what is given", what.from, bytes, bytes, true, false}};
  bool left = false;
  made.work = [&] {
    left = comm.clique->meeting->leave(name_of(what, number, comm.rank), std::as_bytes(std::span(&head, 1)),
                                       {static_cast<std::byte const*>(what.from), bytes});
  };
  auto const code = collective_call({}, made, 0);
  if (code != Code::success) return result_of(code);
  if (!left) report("NCCL: what the other processes need cannot be left in shared memory");
  return left ? Result::success : Result::system;
}

// What the others have left, put where it belongs.
Result get(Operation& what) {
  auto& comm = *what.comm;
  if (what.kind == Kind::send) return Result::success;
  auto const& meeting = *comm.clique->meeting;
  auto const n = static_cast<std::size_t>(comm.clique->size);
  bool const of_all = what.kind != Kind::receive;
  auto const number = of_all ? comm.left : ++comm.received[what.peer];
  std::vector<std::vector<std::byte>> all;
  std::vector<Input> inputs;
  for (int rank = of_all ? 0 : what.peer; rank < (of_all ? comm.clique->size : what.peer + 1); ++rank) {
    auto const name = name_of(what, number, of_all ? rank : comm.rank);
    auto taken = meeting.take(name, rank);
    if (!taken || taken->size() < sizeof(Head)) return Result::remote;
    Head head;
    std::memcpy(&head, taken->data(), sizeof head);
    bool const matches = of_all ? head.kind == what.kind && head.peer == what.peer && head.reduction == what.reduction
                                : head.kind == Kind::send;
    if (!matches || head.type != what.type || head.count != what.count) return different(what.kind);
    if (!of_all) meeting.remove(name);
    inputs.push_back({nullptr, head.has_factor != 0 ? std::optional(head.factor) : std::nullopt});
    all.push_back(std::move(*taken));
    auto const needed = of_all ? sizes_of(what, rank, n).in : what.count * *bytes_of(what.type);
    if (all.back().size() != sizeof head + needed) return Result::remote;
  }
  for (std::size_t r = 0; r < all.size(); ++r) inputs[r].begin = all[r].data() + sizeof(Head);
  auto const bytes =
      of_all ? sizes_of(what, comm.rank, n)
             : Sizes{0, what.count * *bytes_of(what.type), static_cast<double>(what.count * *bytes_of(what.type))};
  auto made = library_call_of(what);
  if (bytes.out > 0) made.operands = {{"a result", what.to, bytes.out, bytes.out, false, true}};
  made.work = [&] {
    if (!of_all) return static_cast<void>(std::memcpy(what.to, inputs.front().begin, bytes.out));
    std::vector<void*> results(n, nullptr);
    results[static_cast<std::size_t>(comm.rank)] = what.to;
    place(what, inputs, results);
  };
  if (what.count == 0) return Result::success;
  return result_of(collective_call({{comm.device, what.stream}}, made, bytes.counted, of_all ? n : 2));
}

Result run_apart(std::vector<Pointer> const& operations) {
  auto result = Result::success;
  for (auto const step : {&give, &get})  // those of one group do not wait for each other
    for (auto const& one : operations)
      if (result == Result::success) result = step(*one);
  return result;
}

Result run(std::vector<Pointer> operations) {
  auto& all = state();
  std::vector<Pointer> apart;
  for (auto const& one : operations)
    if (one->comm->clique->apart) apart.push_back(one);
  std::erase_if(operations, [](auto const& one) { return one->comm->clique->apart; });
  if (!apart.empty())
    if (auto const result = run_apart(apart); result != Result::success) return result;
  std::unique_lock lock(all.mutex);
  std::set<Clique*> cliques;
  for (auto const& one : operations) {
    auto& comm = *one->comm;
    auto& clique = *comm.clique;
    if (one->kind == Kind::send)
      clique.sends[{comm.rank, one->peer}].push_back(one);
    else if (one->kind == Kind::receive)
      clique.receives[{one->peer, comm.rank}].push_back(one);
    else
      comm.asked.push_back(one);
    cliques.insert(&clique);
  }
  for (auto* const clique : cliques) advance(*clique);
  all.changed.notify_all();
  auto result = Result::success;
  for (auto const& one : operations) {
    constexpr std::chrono::seconds most{20};
    if (!all.changed.wait_for(lock, most, [&] { return one->done; })) {
      report(fmt::format("{}: the other devices have not asked for it within {} s",
                         names[static_cast<std::size_t>(one->kind)], most.count()));
      return Result::invalid_usage;
    }
    if (one->result != Result::success) result = one->result;
  }
  return result;
}

// ---------------------------------------------------------------- communicators

Result take_place(Comm** out, int size, std::string const& id, int rank, int device) {
  if (!out || size < 1 || rank < 0 || rank >= size) return Result::invalid_argument;
  auto& all = state();
  std::lock_guard const lock(all.mutex);
  auto& clique = all.cliques[id];
  if (!clique) {
    clique = std::make_shared<Clique>();
    clique->size = size;
    clique->comms.resize(static_cast<std::size_t>(size));
    if (Meeting::is_id(id)) clique->meeting.emplace(id, size);
  }
  if (clique->size != size || clique->comms[static_cast<std::size_t>(rank)]) return Result::invalid_argument;
  if (clique->meeting && !clique->meeting->arrive(rank)) return Result::system;
  auto* const comm = new Comm{.clique = clique, .rank = rank, .device = device};
  clique->comms[static_cast<std::size_t>(rank)] = comm;
  *out = comm;
  return Result::success;
}

// Until the others are there: then it is known where they are.
Result meet_others(std::vector<Comm*> const& comms) {
  for (auto* const comm : comms) {
    if (!comm->clique->meeting->wait_for_all()) return Result::remote;
    std::lock_guard const lock(state().mutex);
    comm->clique->apart = std::ranges::count(comm->clique->comms, nullptr) > 0;
  }
  return Result::success;
}

}  // namespace

Result refused(char const* call, std::string_view what) {
  cudart::library_lacks("NCCL", call, what);
  return Result::invalid_usage;
}

Result result_of(Code code) {
  return code == Code::success                      ? Result::success
         : code == Code::stream_capture_unsupported ? Result::invalid_usage
                                                    : Result::unhandled_cuda;
}

Result ask(Operation operation, int reduction) {
  auto* const comm = operation.comm;
  if (!comm) return Result::invalid_argument;
  if (!bytes_of(operation.type))
    return refused(names[static_cast<std::size_t>(operation.kind)], fmt::format("type {}", operation.type));
  if (operation.peer < 0 || operation.peer >= comm->clique->size) return Result::invalid_argument;
  constexpr int kinds = 5;  // sum to average
  if (reduction >= 0 && reduction < kinds) {
    operation.reduction = static_cast<Reduction>(reduction);
  } else {
    std::lock_guard const lock(state().mutex);
    auto const found = state().factors.find(reduction);
    if (found == state().factors.end()) return Result::invalid_argument;
    operation.factor = found->second;
  }
  auto const pointer = std::make_shared<Operation>(operation);
  if (depth > 0) {
    group.push_back(pointer);
    return Result::success;
  }
  return run({pointer});
}

void begin_group() {
  ++depth;
}

Result end_group() {
  if (depth == 0) return Result::invalid_usage;
  if (--depth > 0) return Result::success;
  if (auto const met = meet_others(std::exchange(joining, {})); met != Result::success) return met;
  return run(std::exchange(group, {}));
}

Result join(Comm** out, int size, std::string const& id, int rank, int device) {
  if (auto const made = take_place(out, size, id, rank, device); made != Result::success) return made;
  if (!(*out)->clique->meeting) return Result::success;
  if (depth == 0) return meet_others({*out});
  joining.push_back(*out);
  return Result::success;
}

void leave(Comm* comm) {
  std::lock_guard const lock(state().mutex);
  comm->clique->comms[static_cast<std::size_t>(comm->rank)] = nullptr;
  delete comm;
}

std::string new_id_of_process() {
  std::lock_guard const lock(state().mutex);
  return fmt::format("all-{}", ++state().ids);
}

int add_factor(double factor) {
  std::lock_guard const lock(state().mutex);
  auto const number = state().next_factor++;
  state().factors[number] = factor;
  return number;
}

bool remove_factor(int number) {
  std::lock_guard const lock(state().mutex);
  return state().factors.erase(number) > 0;
}

}  // namespace kernelcast::nccl
