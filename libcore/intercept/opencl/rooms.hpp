// Files for what buffers hold, taken again once whoever read them is done.
//
// Problem: the first touch of a page of a new file costs many times the copy into it; a launch waits for that.
// Method: a room is a file of the spool that stays mapped. What a launch's buffer holds is a second name of a room; the
// reader removes that name when it has emulated the launch, and the room, whose pages are there, is free again. A
// thread makes the first ones, when the application makes its buffers, and further ones when none was free.
// Limits: rooms of one process have most_bytes together; what finds none gets a file of its own, as small contents do
// and those of a spool that is kept.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <deque>
#include <list>
#include <mutex>
#include <string>
#include <utility>

#include "intercept/spool.hpp"

namespace kernelcast::intercept {

class Rooms {
 public:
  static constexpr std::size_t most_bytes = std::size_t{256} << 20;
  static constexpr std::size_t least_bytes = std::size_t{64} << 10;
  static constexpr std::size_t least_prepared_bytes = std::size_t{1} << 20;

  // A thread makes a room of that size, unless all rooms would have more than half of most_bytes then.
  void prepare(Spool const&, std::size_t bytes);
  // Where to put what the spool's file `name` then holds; nullptr where the disk is full.
  std::byte* take(Spool const&, std::string const& name, std::size_t bytes);
  // It has been put there.
  void finish(std::byte* content, std::size_t bytes);
  // At the end of the process: the names that only the rooms have.
  void remove();

 private:
  friend Rooms& rooms();
  struct Room {
    Spool spool;
    std::string name;
    std::byte* content = nullptr;
    std::size_t bytes = 0;
    bool under_way = false;  // until finish()
  };

  void begin_process();
  std::byte* take_again(std::string const& name, std::size_t bytes);
  std::byte* take_new(Spool const&, std::string const& name, std::size_t bytes);
  bool make_place(std::size_t bytes);
  Room* make(Spool const&, std::size_t bytes);
  void prepare_locked(Spool const&, std::size_t bytes);
  void prepare_all();

  std::mutex mutex_;
  std::list<Room> rooms_;  // the least recently taken first
  std::size_t bytes_ = 0;
  unsigned made_ = 0;
  std::deque<std::pair<Spool, std::size_t>> asked_;  // to be prepared
  bool preparing_ = false, ended_ = false;
  pid_t process_ = 0;  // a fork begins its own
};
Rooms& rooms();

}  // namespace kernelcast::intercept
