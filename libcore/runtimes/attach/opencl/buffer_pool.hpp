// A pool of files for the contents of buffers, reused once they have been read.
//
// Problem: the first touch of a page of a new file costs many times the copy into it; a launch waits for that.
// Method: a pooled file is a file of the spool that stays mapped. The contents of a launch's buffer are a hard link to
// it; the reader removes the link when it has emulated the launch, and the file, whose pages are allocated, is free
// again. A thread makes the first files when the application creates its buffers, and further ones when none was free.
// Limits: the pool of one process holds max_bytes; when it is full, contents get files of their own, as small contents
// and those of a kept spool do.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <deque>
#include <list>
#include <mutex>
#include <string>
#include <utility>

#include "runtimes/attach/spool.hpp"

namespace kernelcast::attach {

class BufferPool {
 public:
  static constexpr std::size_t max_bytes = std::size_t{256} << 20;
  static constexpr std::size_t min_bytes = std::size_t{64} << 10;
  static constexpr std::size_t min_prepared_bytes = std::size_t{1} << 20;

  // A thread makes a file of that size, unless the pool would then hold more than half of max_bytes.
  void prepare(Spool const&, std::size_t bytes);
  // Where to put what the spool's file `name` then holds; nullptr where the disk is full.
  std::byte* take(Spool const&, std::string const& name, std::size_t bytes);
  // The contents have been written.
  void finish(std::byte* content, std::size_t bytes);
  // At the end of the process: removes the pool's names; links to the files stay.
  void remove();

 private:
  friend BufferPool& buffer_pool();
  struct PooledFile {
    Spool spool;
    std::string name;
    std::byte* content = nullptr;
    std::size_t bytes = 0;
    bool under_way = false;  // until finish()
  };

  void begin_process();
  std::byte* take_again(std::string const& name, std::size_t bytes);
  std::byte* take_new(Spool const&, std::string const& name, std::size_t bytes);
  bool make_space(std::size_t bytes);
  PooledFile* make(Spool const&, std::size_t bytes);
  void prepare_locked(Spool const&, std::size_t bytes);
  void prepare_all();

  std::mutex mutex_;
  std::list<PooledFile> files_;  // the least recently taken first
  std::size_t bytes_ = 0;
  unsigned made_ = 0;
  std::deque<std::pair<Spool, std::size_t>> to_prepare_;  // to be prepared
  bool preparing_ = false, ended_ = false;
  pid_t process_ = 0;  // a fork begins its own
};
BufferPool& buffer_pool();

}  // namespace kernelcast::attach
