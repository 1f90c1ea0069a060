// The application's commands to its device in the order of the calls, and what each waits for, for a model of what
// overlaps (records/command.hpp); and what all of them are together (runtimes/attach/usage.hpp).
//
// Method: CUDA's rules for streams. A command waits for the last one of its stream, and for events that the stream was
// told to wait for. A device's default stream waits for all its blocking streams and they for it. In a graph the first
// nodes wait for what the stream had last, others for the nodes before them. A copy between the host's pageable memory
// and the device returns when it is done, one of pinned memory when it is asynchronous at once. A copy between two
// devices is the one's that it goes to, whichever has the stream. Managed memory is where it was used last: the host's
// until a kernel is given a pointer to it, which then moves what has been touched of it (memory "managed"), unless it
// was prefetched. A kernel that is given pinned memory has its bytes. Limits: what the host touches of managed memory
// later does not come back. A thread's own default stream is taken as the default stream where the application was
// compiled for it
// (--default-stream per-thread). A file of 1,000,000 commands ends there. What a killed application left in its last
// tenth of a second may be missing.
#pragma once

#include <chrono>
#include <cstdint>
#include <fstream>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "kernels/cuda/abi.hpp"
#include "records/command.hpp"
#include "records/table/table.hpp"
#include "runtimes/attach/settings.hpp"
#include "runtimes/attach/usage.hpp"
#include "runtimes/cudart/allocations.hpp"
#include "runtimes/cudart/library_calls.hpp"

namespace kernelcast::cudart {

class Timeline {
 public:
  Timeline(attach::Settings const& settings, Allocations const& allocations);

  // Of this process, shared with who watches it.
  attach::Usage& usage() { return *usage_; }

  void flush();

  // Calls on the parts begin and end: what lies between is the host's own time.
  void entered();
  void left();
  void forked() { process_ = 0; }  // a new process begins anew

  void kernel(Stream, std::string const& name, std::string const& case_name, double pinned_bytes = 0,
              bool of_library = false);
  // Of several devices together, those of other processes too: each waits for what all of their streams had last.
  void collective(std::vector<Participant> const&, std::string const& name, double bytes, std::size_t of);
  // Before a launch: managed memory that its parameters lead to is moved. Bytes of pinned memory that they lead to.
  double reached(Stream, std::span<std::byte const> parameters);
  void prefetched(void const* begin, std::size_t bytes, std::optional<int> device, Stream);  // none: to the host
  void copied(Area const& to, Area const& from);
  void filled(Area const& to);
  void host_function();
  void allocated();  // memory of this thread's device
  void host_waits();
  void host_waits(Stream);
  void host_waits(Event);
  void record(Event event, Stream stream);
  void wait(Stream stream, Event event);
  void destroyed(Stream);
  void destroyed(Event event) { events_.erase(event); }
  void destroyed_all();

 private:
  using Clock = std::chrono::steady_clock;
  using Numbers = std::vector<std::uint64_t>;
  struct Last {
    Numbers numbers;
    bool blocking = true;
    std::uint64_t id = 0;
    int device = 0;
  };
  friend class OnStream;
  friend class OnGraph;

  bool begin_file();
  // Its number; 0 where none are written. `after` is what it waits for.
  std::uint64_t write(record::Command command, Numbers const& after);
  void add(record::Command command, Stream stream);
  void wait_for(Numbers const& after, std::string stream);
  Last& last_of(Stream);
  Numbers before(Stream);  // what its next command waits for
  void follow(Stream, Numbers const&);
  void move(Allocation const&, std::size_t bytes, std::optional<int> to, record::HostMemory, Stream);
  // What a copy is, with the host's memory and the devices that it is between.
  record::Command copy_between(Area const& to, Area const& from) const;

  attach::Settings const& settings_;
  Allocations const& allocations_;
  attach::Usage* usage_;
  attach::Usage own_{};  // where there is no spool
  int process_ = 0;      // 0: not begun
  std::unique_ptr<std::ofstream> file_;
  std::optional<record::Writer<record::Command>> writer_;
  Clock::time_point flushed_{};
  std::uint64_t number_ = 0, waited_ = 0, graphs_ = 0;
  std::unordered_map<Stream, Last> last_;
  std::map<int, Last> defaults_;                    // of each device
  std::map<int, Numbers> destroyed_;                // the last ones of its streams that are no more
  Numbers waited_for_;                              // by the command waited_
  std::unordered_map<std::uint64_t, int> used_on_;  // managed memory by its serial: the device; not there: the host
  std::unordered_map<Event, Numbers> events_;
  unsigned depth_ = 0;
  std::optional<Clock::time_point> left_;
  double host_s_ = 0;
};

// While it lasts, copies and fills of this thread are the stream's, and return at once where they can.
class OnStream {
 public:
  explicit OnStream(Stream stream);
  ~OnStream();
  OnStream(OnStream const&) = delete;

 private:
  std::optional<Stream> outer_;
};

// While it lasts, all commands of this thread are a graph's, on the stream of OnStream.
class OnGraph {
 public:
  OnGraph();
  ~OnGraph();
  OnGraph(OnGraph const&) = delete;
  // What follows is the step of this number, behind other steps.
  void step(std::size_t number, std::vector<std::size_t> const& before);

 private:
  friend class Timeline;
  Stream stream_;
  OnGraph* outer_;
  std::uint64_t number_ = 0;
  Timeline::Numbers begin_, now_;
  std::vector<Timeline::Numbers> ends_;
  std::vector<bool> followed_;
  std::size_t at_ = 0;
};

}  // namespace kernelcast::cudart
