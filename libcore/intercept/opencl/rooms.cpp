#include "intercept/opencl/rooms.hpp"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <system_error>
#include <thread>

namespace kernelcast::intercept {

namespace {

constexpr std::size_t page_bytes = 4096;

std::size_t pages(std::size_t bytes) {
  return (bytes + page_bytes - 1) / page_bytes * page_bytes;
}

}  // namespace

Rooms& rooms() {
  static Rooms* const made = [] {
    // A child of fork() finds the lock free.
    pthread_atfork([] { rooms().mutex_.lock(); }, [] { rooms().mutex_.unlock(); }, [] { rooms().mutex_.unlock(); });
    return new Rooms;  // never destroyed: reads may end after everything else
  }();
  return *made;
}

void Rooms::begin_process() {
  if (process_ == getpid()) return;
  rooms_.clear();  // the parent's; their mappings stay, untouched
  asked_.clear();
  bytes_ = 0;
  preparing_ = ended_ = false;
  process_ = getpid();
}

std::byte* Rooms::take(Spool const& spool, std::string const& name, std::size_t bytes) {
  if (bytes >= least_bytes) {
    std::lock_guard const lock(mutex_);
    begin_process();
    if (auto* const content = take_again(name, bytes)) return content;
    if (auto* const content = take_new(spool, name, bytes)) return content;
  }
  return spool.map(name, bytes);
}

// The smallest that is free. What is left over of it is given up: the file is to be as long as its contents.
std::byte* Rooms::take_again(std::string const& name, std::size_t bytes) {
  auto best = rooms_.end();
  for (auto room = rooms_.begin(); room != rooms_.end(); ++room)
    if (room->bytes >= bytes && (best == rooms_.end() || room->bytes < best->bytes) && !room->under_way &&
        room->spool.names_of(room->name) == 1)
      best = room;
  if (best == rooms_.end()) return nullptr;
  if (best->bytes != bytes) {
    if (!best->spool.shorten(best->name, bytes)) return nullptr;
    Spool::unmap(best->content + pages(bytes), pages(best->bytes) - pages(bytes));
    bytes_ -= best->bytes - bytes;
    best->bytes = bytes;
  }
  if (!best->spool.link(best->name, name)) return nullptr;
  best->under_way = true;
  rooms_.splice(rooms_.end(), rooms_, best);
  return best->content;
}

std::byte* Rooms::take_new(Spool const& spool, std::string const& name, std::size_t bytes) {
  Room* const room = make(spool, bytes);
  if (!room) return nullptr;
  if (!spool.link(room->name, name)) {  // a file system without hard links
    Spool::unmap(room->content, bytes);
    spool.remove(room->name);
    bytes_ -= bytes;
    rooms_.pop_back();
    return nullptr;
  }
  prepare_locked(spool, bytes);  // the next launch may come before this one is emulated
  return room->content;
}

Rooms::Room* Rooms::make(Spool const& spool, std::size_t bytes) {
  if (!make_place(bytes)) return nullptr;
  Room room{spool, "room-" + std::to_string(process_) + '-' + std::to_string(made_++) + ".bin", nullptr, bytes, true};
  room.content = spool.map(room.name, bytes);
  if (!room.content) return nullptr;
  bytes_ += bytes;
  rooms_.push_back(std::move(room));
  return &rooms_.back();
}

void Rooms::prepare(Spool const& spool, std::size_t bytes) {
  std::lock_guard const lock(mutex_);
  begin_process();
  prepare_locked(spool, bytes);
}

void Rooms::prepare_locked(Spool const& spool, std::size_t bytes) {
  std::size_t asked_bytes = 0;
  for (auto const& [where, size] : asked_) asked_bytes += size;
  if (bytes < least_prepared_bytes || bytes_ + asked_bytes + bytes > most_bytes / 2) return;
  asked_.emplace_back(spool, bytes);
  if (preparing_) return;
  sigset_t all, before;  // the application's signals are not for this thread
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    std::thread([this] { prepare_all(); }).detach();
    preparing_ = true;
  } catch (std::system_error const&) {  // no more threads: nothing is prepared
    asked_.clear();
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void Rooms::prepare_all() {
  std::unique_lock lock(mutex_);
  while (!asked_.empty() && !ended_) {
    auto const [spool, bytes] = asked_.front();
    asked_.pop_front();
    Room* const room = make(spool, bytes);
    if (!room) continue;
    lock.unlock();
    for (std::size_t i = 0; i < bytes; i += page_bytes) room->content[i] = std::byte{0};
    lock.lock();
    room->under_way = false;
  }
  preparing_ = false;
}

// Whether there is: rooms that are free but of other sizes go first.
bool Rooms::make_place(std::size_t bytes) {
  for (auto room = rooms_.begin(); room != rooms_.end() && bytes_ + bytes > most_bytes;) {
    if (room->under_way || room->spool.names_of(room->name) > 1) {
      ++room;
      continue;
    }
    Spool::unmap(room->content, room->bytes);
    room->spool.remove(room->name);
    bytes_ -= room->bytes;
    room = rooms_.erase(room);
  }
  return bytes_ + bytes <= most_bytes;
}

void Rooms::finish(std::byte* content, std::size_t bytes) {
  std::lock_guard const lock(mutex_);
  auto const found = std::find_if(rooms_.begin(), rooms_.end(), [&](Room const& r) { return r.content == content; });
  if (found == rooms_.end() || process_ != getpid()) return Spool::unmap(content, bytes);
  found->under_way = false;
}

void Rooms::remove() {
  std::lock_guard const lock(mutex_);
  if (process_ != getpid()) return;
  ended_ = true;
  for (auto const& room : rooms_) room.spool.remove(room.name);
}

}  // namespace kernelcast::intercept
