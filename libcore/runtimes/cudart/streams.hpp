// Streams and events. Everything runs when it is called, in the order of the calls: a stream is always idle, and what
// one stream must wait for has happened. Launches that wait for the host are held: host_waits.hpp.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>

#include "kernels/cuda/abi.hpp"

namespace kernelcast::cudart {

struct StreamObject {
  unsigned flags = 0;
  int priority = 0, device = 0;
  std::uint64_t id = 0;
};

struct EventObject {
  unsigned flags = 0;
  std::optional<std::chrono::steady_clock::time_point> recorded;
  Stream stream = nullptr;   // it was recorded in
  std::uint64_t behind = 0;  // launches that wait for the host: Launcher::release
};

class Streams {
 public:
  Stream add(unsigned flags, int priority, int device);
  bool remove(Stream stream) { return streams_.erase(stream) > 0; }
  // Null, 1 and 2 are the default stream by its several names.
  static bool is_default(Stream stream) { return reinterpret_cast<std::uintptr_t>(stream) <= 2; }
  bool known(Stream stream) const { return is_default(stream) || streams_.contains(stream); }

  Event add_event(unsigned flags);
  bool remove(Event event) { return events_.erase(event) > 0; }
  bool known(Event event) const { return events_.contains(event); }
  void clear();

 private:
  std::unordered_map<Stream, std::unique_ptr<StreamObject>> streams_;
  std::unordered_map<Event, std::unique_ptr<EventObject>> events_;
  std::uint64_t next_id_ = 3;
};

}  // namespace kernelcast::cudart
