#include "runtimes/attach/opencl/buffer_pool.hpp"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <system_error>
#include <thread>

namespace kernelcast::attach {

namespace {

constexpr std::size_t page_bytes = 4096;

std::size_t pages(std::size_t bytes) {
  return (bytes + page_bytes - 1) / page_bytes * page_bytes;
}

}  // namespace

BufferPool& buffer_pool() {
  static BufferPool* const made = [] {
    // A child of fork() finds the lock free.
    pthread_atfork([] { buffer_pool().mutex_.lock(); }, [] { buffer_pool().mutex_.unlock(); },
                   [] { buffer_pool().mutex_.unlock(); });
    return new BufferPool;  // never destroyed: reads may end after everything else
  }();
  return *made;
}

void BufferPool::begin_process() {
  if (process_ == getpid()) return;
  files_.clear();  // the parent's; their mappings stay, untouched
  to_prepare_.clear();
  bytes_ = 0;
  preparing_ = ended_ = false;
  process_ = getpid();
}

std::byte* BufferPool::take(Spool const& spool, std::string const& name, std::size_t bytes) {
  if (bytes >= min_bytes) {
    std::lock_guard const lock(mutex_);
    begin_process();
    if (auto* const content = take_again(name, bytes)) return content;
    if (auto* const content = take_new(spool, name, bytes)) return content;
  }
  return spool.map(name, bytes);
}

// The smallest that is free. What is left over of it is given up: the file is to be as long as its contents.
std::byte* BufferPool::take_again(std::string const& name, std::size_t bytes) {
  auto best = files_.end();
  for (auto file = files_.begin(); file != files_.end(); ++file)
    if (file->bytes >= bytes && (best == files_.end() || file->bytes < best->bytes) && !file->under_way &&
        file->spool.names_of(file->name) == 1)
      best = file;
  if (best == files_.end()) return nullptr;
  if (best->bytes != bytes) {
    if (!best->spool.shorten(best->name, bytes)) return nullptr;
    Spool::unmap(best->content + pages(bytes), pages(best->bytes) - pages(bytes));
    bytes_ -= best->bytes - bytes;
    best->bytes = bytes;
  }
  if (!best->spool.link(best->name, name)) return nullptr;
  best->under_way = true;
  files_.splice(files_.end(), files_, best);
  return best->content;
}

std::byte* BufferPool::take_new(Spool const& spool, std::string const& name, std::size_t bytes) {
  PooledFile* const file = make(spool, bytes);
  if (!file) return nullptr;
  if (!spool.link(file->name, name)) {  // a file system without hard links
    Spool::unmap(file->content, bytes);
    spool.remove(file->name);
    bytes_ -= bytes;
    files_.pop_back();
    return nullptr;
  }
  prepare_locked(spool, bytes);  // the next launch may come before this one is emulated
  return file->content;
}

BufferPool::PooledFile* BufferPool::make(Spool const& spool, std::size_t bytes) {
  if (!make_space(bytes)) return nullptr;
  PooledFile file{spool, "pool-" + std::to_string(process_) + '-' + std::to_string(made_++) + ".bin", nullptr, bytes,
                  true};
  file.content = spool.map(file.name, bytes);
  if (!file.content) return nullptr;
  bytes_ += bytes;
  files_.push_back(std::move(file));
  return &files_.back();
}

void BufferPool::prepare(Spool const& spool, std::size_t bytes) {
  std::lock_guard const lock(mutex_);
  begin_process();
  prepare_locked(spool, bytes);
}

void BufferPool::prepare_locked(Spool const& spool, std::size_t bytes) {
  std::size_t waiting_bytes = 0;
  for (auto const& [where, size] : to_prepare_) waiting_bytes += size;
  if (bytes < min_prepared_bytes || bytes_ + waiting_bytes + bytes > max_bytes / 2) return;
  to_prepare_.emplace_back(spool, bytes);
  if (preparing_) return;
  sigset_t all, before;  // the application's signals are not for this thread
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    std::thread([this] { prepare_all(); }).detach();
    preparing_ = true;
  } catch (std::system_error const&) {  // no more threads: nothing is prepared
    to_prepare_.clear();
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void BufferPool::prepare_all() {
  std::unique_lock lock(mutex_);
  while (!to_prepare_.empty() && !ended_) {
    auto const [spool, bytes] = to_prepare_.front();
    to_prepare_.pop_front();
    PooledFile* const file = make(spool, bytes);
    if (!file) continue;
    lock.unlock();
    for (std::size_t i = 0; i < bytes; i += page_bytes) file->content[i] = std::byte{0};
    lock.lock();
    file->under_way = false;
  }
  preparing_ = false;
}

// Whether there is space: free files of other sizes are removed first.
bool BufferPool::make_space(std::size_t bytes) {
  for (auto file = files_.begin(); file != files_.end() && bytes_ + bytes > max_bytes;) {
    if (file->under_way || file->spool.names_of(file->name) > 1) {
      ++file;
      continue;
    }
    Spool::unmap(file->content, file->bytes);
    file->spool.remove(file->name);
    bytes_ -= file->bytes;
    file = files_.erase(file);
  }
  return bytes_ + bytes <= max_bytes;
}

void BufferPool::finish(std::byte* content, std::size_t bytes) {
  std::lock_guard const lock(mutex_);
  auto const found =
      std::find_if(files_.begin(), files_.end(), [&](PooledFile const& r) { return r.content == content; });
  if (found == files_.end() || process_ != getpid()) return Spool::unmap(content, bytes);
  found->under_way = false;
}

void BufferPool::remove() {
  std::lock_guard const lock(mutex_);
  if (process_ != getpid()) return;
  ended_ = true;
  for (auto const& file : files_) file.spool.remove(file.name);
}

}  // namespace kernelcast::attach
