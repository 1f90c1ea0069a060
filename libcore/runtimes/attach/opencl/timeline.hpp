// The application's commands to its devices with what each waits for, as a model of what overlaps reads them
// (records/command.hpp), and the host's own time between all calls: lines of timeline-opencl-PID.csv.
//
// Method: a command waits for the one before it in a queue that is in order, for the last barrier of one that is not,
// and for the events of its list. A copy has pinned memory where its pointer lies in what the application has mapped or
// in shared virtual memory. Limits: events of the application's own and callbacks hold up nothing.
#pragma once

#include <CL/cl.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "runtimes/attach/command_log.hpp"
#include "runtimes/attach/settings.hpp"

namespace kernelcast::attach {

// What is asked of the device, as columns of a line.
struct Asked {
  char const* kind = "host";  // what holds up others and takes no time of the device
  double bytes = 0;
  bool waits = false;
  char const* memory = "";
  std::string configuration = {};
};

// The events of a call's wait list.
struct WaitList {
  cl_uint count = 0;
  cl_event const* events = nullptr;
};

bool is_shared_virtual(void const*);

class Timeline {
 public:
  // Calls begin and end: what lies between is the host's own time.
  void entered();
  void left();

  // `event`: the command's own, where the application asks for one.
  void enqueued(cl_command_queue, Asked, WaitList, cl_event const* event);
  // Of nothing in the list it waits for all so far. What comes later in the queue waits for a barrier.
  enum class Holds : std::uint8_t { marker, barrier };
  void joined(cl_command_queue, Holds, WaitList, cl_event const* event);
  // The host waits.
  void waited(cl_command_queue);
  void waited(WaitList);
  // A buffer with contents: a copy to the device.
  void made(double bytes);
  void forget(cl_command_queue);  // another may have its handle

  void mapped(void* pointer, std::size_t bytes, bool writes);
  double unmapped(void* pointer);  // bytes that go to the device
  char const* memory_of(void const* pointer);

 private:
  using Clock = std::chrono::steady_clock;
  using Numbers = std::vector<std::uint64_t>;
  struct Queue {
    unsigned id = 0, device = 0;
    bool in_order = true;
    Numbers last, barrier;
  };

  static void unite(Numbers& to, Numbers const& from);
  void begin();
  Queue& queue_of(cl_command_queue);
  Numbers numbers_of(WaitList) const;
  void wait_for(Numbers const&, Queue const&);
  std::uint64_t write(Asked const&, Queue const&, Numbers const& after);  // its number; 0 beyond the most

  std::mutex mutex_;
  CommandLog log_{settings().spool, "timeline-opencl-#.csv"};
  std::uint64_t number_ = 0, waited_ = 0;
  unsigned made_queues_ = 0, inside_ = 0;
  Numbers waited_for_;
  std::unordered_map<cl_command_queue, Queue> queues_;
  std::unordered_map<cl_event, std::uint64_t> events_;
  std::unordered_map<cl_device_id, unsigned> devices_;
  std::map<std::uintptr_t, std::pair<std::size_t, bool>> mapped_;  // by where it begins: bytes, whether to be written
  std::optional<Clock::time_point> left_;
  double host_s_ = 0;
};

Timeline& timeline();

}  // namespace kernelcast::attach
