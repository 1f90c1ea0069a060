// A CUDA runtime that runs kernels on the emulator, for tests of flux-count --attach on machines without a GPU: as much
// of libcudart.so.13 as the test programs and an attached flux-count call.
//
// It is made to show errors: two devices with memory of their own; work on a stream runs as late as it may (when
// someone waits for it; each question whether it is done gets it one step further); actions of the host run in another
// thread while the runtime waits; what a stream capture forbids spoils the capture. A device has the architecture that
// STANDIN_SM says (75), and kernels come from the newest PTX not beyond it. PTX that cannot be read here runs as the
// next older one does, and where there is none, as machine code, nothing happens. Limits: a graph's nodes run in the
// order in which they were added; kernels run one group after the other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "emulator/emu.hpp"
#include "kernels/cuda/abi.hpp"
#include "kernels/ptx/module.hpp"

namespace standin {

using kernelcast::cudart::Dim3;

inline constexpr int success = 0, invalid_value = 1, not_ready = 600, capture_unsupported = 900,
                     capture_invalidated = 901, launch_failure = 719, devices = 2;

using Work = std::function<int()>;

struct Graph;

struct Node {
  Graph* graph = nullptr;
  Work work;
};
struct Graph {
  std::vector<std::unique_ptr<Node>> nodes;
  bool spoilt = false;
};
struct GraphExec {
  std::vector<std::pair<Node const*, Work>> work;
};

struct Stream {
  int device = 0;
  bool waits_for_legacy = true;
  std::deque<Work> queue;
  Graph* capturing = nullptr;
  bool began_capture = false;
};

struct Event {
  Stream* stream = nullptr;
  std::uint64_t recorded = 0, done = 0;  // numbers of recordings
  Graph* captured = nullptr;
};

struct Image {
  std::unique_ptr<kernelcast::ptx::Module> module;
  std::uint32_t sm = 0;  // of the text that stands for it
};
struct Kernel {
  Image const* image = nullptr;
  std::string name;
};

struct Device {
  kernelcast::emu::Memory memory;
  Stream legacy;
  std::vector<std::unique_ptr<Stream>> streams;
};

struct State {
  std::recursive_mutex mutex;
  std::vector<std::unique_ptr<Image>> images;
  std::map<void const*, Kernel> kernels;
  Device device[devices];
  std::vector<std::unique_ptr<Graph>> graphs;
  int captures = 0;     // under way
  int error = success;  // of work that has run; it stays

  State();
};
State& state();

struct Lock : std::lock_guard<std::recursive_mutex> {
  Lock() : std::lock_guard<std::recursive_mutex>(state().mutex) {}
};

int& current_device();  // of this thread
int& capture_mode();    // of this thread
std::uint32_t architecture();

Device& device_now();
Stream& stream_of(void* handle);  // of the current device where it is the legacy stream

// Queues work, runs it, or adds it to a graph.
int submit(Stream&, Work);
int finish(Stream&);  // runs what is queued
int finish_device(int device);
void step(Stream&);

// Spoils captures that do not allow such a call; what the call then returns.
int forbidden_in_capture();

// Work; arguments are copied.
Work kernel_work(void const* host, Dim3 grid, Dim3 block, void** arguments, std::size_t shared);
Work copy_work(void* to, void const* from, std::size_t bytes, int kind);
Work fill_work(void* at, int value, std::size_t bytes);
Work host_work(void (*function)(void*), void* data);

}  // namespace standin
