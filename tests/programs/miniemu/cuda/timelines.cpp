// Applications whose whole time has a closed form, each named by its argument: timelines.sh has the forms.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <string_view>
#include <thread>
#include <vector>

#include "expect.hpp"
#include "kernels/cuda/driver.hpp"

using namespace kernelcast::driver;
using kernelcast::cudart::FunctionAttribute;
using kernelcast::cudart::Graph;

#define KERNELCAST_DRIVER_CALLED(member, symbol, parameters) extern "C" Code symbol parameters;
#include "kernels/cuda/driver_entry_points.def"
extern "C" {
Code cuStreamWaitEvent(Stream, Event, unsigned);
Code cuMemAllocManaged(Pointer*, std::size_t, unsigned);
Code cuMemPrefetchAsync(Pointer, std::size_t, Device, Stream);
struct Comm;
struct UniqueId {
  char bytes[128];
};
int ncclGetUniqueId(UniqueId*);
int ncclCommInitRank(Comm**, int, UniqueId, int);
int ncclReduceScatter(void const*, void*, std::size_t, int, int, Comm*, Stream);
int ncclCommInitAll(Comm**, int, int const*);
int ncclAllReduce(void const*, void*, std::size_t, int, int, Comm*, Stream);
int ncclAllGather(void const*, void*, std::size_t, int, Comm*, Stream);
int ncclSend(void const*, std::size_t, int, int, Comm*, Stream);
int ncclRecv(void*, std::size_t, int, int, Comm*, Stream);
int ncclGroupStart();
int ncclGroupEnd();
int ncclCommDestroy(Comm*);
}

namespace {

// Each work-item multiplies and adds `rounds` times; the first of each group stores.
constexpr char const* program = R"(.version 7.0
.target sm_70
.address_size 64
.visible .entry work(.param .u64 out, .param .u32 rounds) {
  .reg .u64 %rd<4>; .reg .u32 %r<4>; .reg .f32 %f<2>; .reg .pred %p<3>;
  ld.param.u64 %rd1, [out];
  ld.param.u32 %r1, [rounds];
  mov.f32 %f1, 0f3F800000;
loop:
  fma.rn.f32 %f1, %f1, 0f3F000000, %f1;
  sub.u32 %r1, %r1, 1;
  setp.ne.u32 %p1, %r1, 0;
  @%p1 bra loop;
  mov.u32 %r2, %tid.x;
  setp.ne.u32 %p2, %r2, 0;
  @%p2 bra done;
  st.global.f32 [%rd1], %f1;
done:
  ret;
})";

constexpr std::size_t bytes = std::size_t{64} << 20;

class Application {
 public:
  explicit Application(Device first = 0) {
    GOOD(cuInit(0));
    use(first);
    for (auto& stream : streams_) GOOD(cuStreamCreate(&stream, 1));
    for (auto& event : events_) GOOD(cuEventCreate(&event, 0));
    GOOD(cuMemAlloc_v2(&small_, 256));
  }

  void use(Device device) {
    Context context = nullptr;
    Module module = nullptr;
    GOOD(cuDevicePrimaryCtxRetain(&context, device));
    GOOD(cuCtxSetCurrent(context));
    GOOD(cuModuleLoadData(&module, program));
    GOOD(cuModuleGetFunction(&work_, module, "work"));
  }

  void launch(Stream stream, Pointer on = 0) {
    if (on == 0) on = small_;
    unsigned rounds = 20000;
    void* arguments[] = {&on, &rounds};
    GOOD(cuLaunchKernel(work_, 432, 1, 1, 256, 1, 1, 0, stream, arguments, nullptr));
  }
  void chain(int count, Stream stream) {
    for (int i = 0; i < count; ++i) launch(stream);
  }
  void depend(Stream later, Stream earlier, Event event) {
    GOOD(cuEventRecord(event, earlier));
    GOOD(cuStreamWaitEvent(later, event, 0));
  }
  static Pointer allocated() {
    Pointer out = 0;
    GOOD(cuMemAlloc_v2(&out, bytes));
    return out;
  }
  static void* pinned() {
    void* out = nullptr;
    GOOD(cuMemAllocHost_v2(&out, bytes));
    return out;
  }
  static Pointer managed() {
    Pointer out = 0;
    GOOD(cuMemAllocManaged(&out, bytes, 1));
    std::memset(reinterpret_cast<void*>(out), 1, bytes);
    return out;
  }

  void waited() {
    for (int i = 0; i < 10; ++i) {
      launch(one());
      GOOD(cuStreamSynchronize(one()));
    }
  }
  void queued() { chain(10, one()); }
  void streams() {
    for (auto* const stream : streams_) {
      auto const there = allocated();
      auto* const here = pinned();
      GOOD(cuMemcpyHtoDAsync_v2(there, here, bytes, stream));
      launch(stream);
      GOOD(cuMemcpyDtoHAsync_v2(here, there, bytes, stream));
    }
  }
  void events() {
    launch(one());
    depend(two(), one(), events_[0]);
    launch(two());
    depend(one(), two(), events_[1]);
    launch(one());
  }
  void graph(bool forks) {
    Graph* graph = nullptr;
    GraphExec* exec = nullptr;
    GOOD(cuStreamBeginCapture_v2(one(), 0));
    launch(one());
    if (forks) {
      depend(two(), one(), events_[0]);
      launch(two());
      launch(one());
      depend(one(), two(), events_[1]);
      launch(one());
    } else {
      chain(19, one());
    }
    GOOD(cuStreamEndCapture(one(), &graph));
    GOOD(cuGraphInstantiateWithFlags(&exec, graph, 0));
    for (int i = 0; i < (forks ? 1 : 3); ++i) {
      GOOD(cuGraphLaunch(exec, one()));
      GOOD(cuStreamSynchronize(one()));
    }
  }
  void beside() {
    auto const there = allocated();
    launch(one());
    GOOD(cuMemcpyHtoDAsync_v2(there, pinned(), bytes, two()));
  }
  void pageable() {
    std::vector<char> const here(bytes);
    GOOD(cuMemcpyHtoD_v2(allocated(), here.data(), bytes));
    launch(one());
  }
  void faults() { launch(one(), managed()); }
  void prefetched() {
    auto const memory = managed();
    GOOD(cuMemPrefetchAsync(memory, bytes, 0, one()));
    launch(one(), memory);
    GOOD(cuMemPrefetchAsync(memory, bytes, -1, one()));
  }
  void mapped() {
    auto* const here = pinned();
    launch(one(), reinterpret_cast<Pointer>(here));
  }
  // Half of a halo exchange: a device's kernel, its copy to the next, whose kernel waits for it.
  void peers() {
    Context first = nullptr, second = nullptr;
    GOOD(cuDevicePrimaryCtxRetain(&first, 0));
    GOOD(cuDevicePrimaryCtxRetain(&second, 1));
    auto const here = allocated();
    launch(nullptr, here);
    use(1);
    auto const there = allocated();
    use(0);
    GOOD(cuCtxSynchronize());
    GOOD(cuMemcpyPeer(there, second, here, first, bytes));
    GOOD(cuCtxSynchronize());
    use(1);
    launch(nullptr, there);
    GOOD(cuCtxSynchronize());
    use(0);
  }
  // Both devices' kernels, then the sum of what they hold.
  void summed() {
    constexpr int f32 = 7, sum = 0, devices = 2;
    Comm* comms[devices] = {};
    EXPECT(ncclCommInitAll(comms, devices, nullptr) == 0);
    Pointer buffers[devices] = {};
    for (int d = 0; d < devices; ++d) {
      use(d);
      GOOD(cuMemAlloc_v2(&buffers[d], bytes));
      auto* const values = reinterpret_cast<float*>(buffers[d]);
      for (std::size_t i = 0; i < 1000; ++i) values[i] = static_cast<float>(i) + static_cast<float>(d) / 4;
    }
    for (int d = 0; d < devices; ++d) {
      use(d);
      launch(nullptr);
    }
    EXPECT(ncclGroupStart() == 0);
    for (int d = 0; d < devices; ++d) {
      auto* const buffer = reinterpret_cast<void*>(buffers[d]);
      EXPECT(ncclAllReduce(buffer, buffer, bytes / sizeof(float), f32, sum, comms[d], nullptr) == 0);
    }
    EXPECT(ncclGroupEnd() == 0);
    for (auto const buffer : buffers) {
      auto const* const values = reinterpret_cast<float const*>(buffer);
      for (std::size_t i = 0; i < 1000; ++i) EXPECT(values[i] == 2 * static_cast<float>(i) + 0.25F);
    }
    for (int d = 0; d < devices; ++d) {
      use(d);
      GOOD(cuCtxSynchronize());
      EXPECT(ncclCommDestroy(comms[d]) == 0);
    }
    use(0);
  }
  // What each asks of the other in one group, and from threads of their own.
  void exchanged() {
    constexpr int i32 = 2, devices = 2;
    Comm* comms[devices] = {};
    EXPECT(ncclCommInitAll(comms, devices, nullptr) == 0);
    Pointer memory = 0;
    GOOD(cuMemAlloc_v2(&memory, bytes));
    auto* const values = reinterpret_cast<int*>(memory);
    for (int i = 0; i < 8; ++i) values[i] = i;
    EXPECT(ncclGroupStart() == 0);
    for (int d = 0; d < devices; ++d) {
      EXPECT(ncclSend(values + d, 1, i32, 1 - d, comms[d], nullptr) == 0);
      EXPECT(ncclRecv(values + 10 + d, 1, i32, 1 - d, comms[d], nullptr) == 0);
    }
    EXPECT(ncclGroupEnd() == 0);
    EXPECT(values[10] == 1 && values[11] == 0);
    std::thread other([&] {
      use(1);
      EXPECT(ncclAllGather(values + 4, values + 20, 2, i32, comms[1], nullptr) == 0);
    });
    EXPECT(ncclAllGather(values + 2, values + 30, 2, i32, comms[0], nullptr) == 0);
    other.join();
    for (int i = 0; i < 4; ++i) EXPECT(values[20 + i] == i + 2 && values[30 + i] == i + 2);
    // A device that no communicator knows, and memory that is none.
    EXPECT(ncclSend(values, 1, i32, devices, comms[0], nullptr) == 4);
    EXPECT(ncclAllReduce(values, values, 1, 10, 0, comms[0], nullptr) == 5);
    use(0);
    launch(one());
  }
  // A rank of two, each in a process of its own.
  void rank(int rank, UniqueId const& id) {
    constexpr int f32 = 7, largest = 2;
    Comm* comm = nullptr;
    EXPECT(ncclCommInitRank(&comm, 2, id, rank) == 0);
    auto const memory = allocated();
    auto* const values = reinterpret_cast<float*>(memory);
    for (int round = 0; round < 4; ++round) {
      for (int i = 0; i < 8; ++i) values[i] = static_cast<float>(10 * rank + i * round);
      EXPECT(ncclAllReduce(values, values + 8, 8, f32, largest, comm, nullptr) == 0);
      for (int i = 0; i < 8; ++i) EXPECT(values[8 + i] == static_cast<float>(10 + i * round));
      EXPECT(ncclReduceScatter(values, values + 20, 4, f32, 0, comm, nullptr) == 0);
      for (int i = 0; i < 4; ++i) EXPECT(values[20 + i] == static_cast<float>(10 + 2 * (4 * rank + i) * round));
      EXPECT(ncclGroupStart() == 0);
      EXPECT(ncclSend(values, 2, f32, 1 - rank, comm, nullptr) == 0);
      EXPECT(ncclRecv(values + 30, 2, f32, 1 - rank, comm, nullptr) == 0);
      EXPECT(ncclGroupEnd() == 0);
      EXPECT(values[30] == static_cast<float>(10 * (1 - rank)));
    }
    launch(nullptr);
    EXPECT(ncclAllReduce(values, values, bytes / sizeof(float), f32, 0, comm, nullptr) == 0);
    GOOD(cuCtxSynchronize());
    EXPECT(ncclCommDestroy(comm) == 0);
  }
  void devices() {
    launch(nullptr);
    use(1);
    launch(nullptr);
    GOOD(cuCtxSynchronize());
    use(0);
  }

 private:
  Stream one() const { return streams_[0]; }
  Stream two() const { return streams_[1]; }

  Function work_ = nullptr;
  Stream streams_[2] = {};
  Event events_[2] = {};
  Pointer small_ = 0;
};

}  // namespace

// Both ranks, and which of them is not there is noticed.
int ranks(bool leaves) {
  UniqueId id{};
  EXPECT(ncclGetUniqueId(&id) == 0);
  auto const child = fork();
  int const rank = child == 0 ? 1 : 0;
  Application app(rank);
  if (!leaves) {
    app.rank(rank, id);
  } else {
    constexpr int i32 = 2, remote = 6;
    Comm* comm = nullptr;
    EXPECT(ncclCommInitRank(&comm, 2, id, rank) == 0);
    if (rank == 1) _exit(0);
    int status = 0;
    waitpid(child, &status, 0);
    auto* const value = reinterpret_cast<int*>(Application::allocated());
    EXPECT(ncclAllReduce(value, value, 1, i32, 0, comm, nullptr) == remote);
    app.queued();
  }
  if (rank == 1) {
    std::fflush(stdout);
    _exit(failures == 0 ? 0 : 1);
  }
  int status = leaves ? 0 : 1;
  if (!leaves) EXPECT(waitpid(child, &status, 0) == child && status == 0);
  return failures;
}

int main(int, char** argv) {
  std::string_view const asked = argv[1];
  if (asked == "ranks" || asked == "leaves") {
    std::printf("%d failures\n", ranks(asked == "leaves"));
    return failures == 0 ? 0 : 1;
  }
  Application app;
  if (asked == "waited") app.waited();
  if (asked == "queued") app.queued();
  if (asked == "streams") app.streams();
  if (asked == "events") app.events();
  if (asked == "graph") app.graph(false);
  if (asked == "forks") app.graph(true);
  if (asked == "beside") app.beside();
  if (asked == "pageable") app.pageable();
  if (asked == "faults") app.faults();
  if (asked == "prefetched") app.prefetched();
  if (asked == "mapped") app.mapped();
  if (asked == "devices") app.devices();
  if (asked == "peers") app.peers();
  if (asked == "summed") app.summed();
  if (asked == "exchanged") app.exchanged();
  GOOD(cuCtxSynchronize());
  std::printf("%d failures\n", failures);
  return failures == 0 ? 0 : 1;
}
