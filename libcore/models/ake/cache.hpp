// A set-associative cache of lines whose sectors are valid one by one.
//
// Least recently used, with the sets chosen by a hash of the line, as no source states the real function. Writing marks
// sectors dirty; a dirty sector is written back once, when it is first written (the engine charges it there).
#pragma once

#include <cstdint>
#include <vector>

namespace kernelcast::model::ake {

class Cache {
 public:
  // `bytes` may be any number; the sets are as many as fit. 0: nothing ever hits.
  Cache(std::uint64_t bytes, unsigned ways);

  // Sectors that were there. All of `sectors` (and those of `fill`) are there afterwards.
  std::uint8_t read(std::uint64_t line, std::uint8_t sectors, std::uint8_t fill = 0, std::uint32_t who = 0);
  // Sectors that were already dirty.
  std::uint8_t write(std::uint64_t line, std::uint8_t sectors, std::uint32_t who = 0);
  // Whether the line that was read or written last has been so by more than one `who` while it was there.
  bool last_is_shared() const { return last_is_shared_; }
  void evict(std::uint64_t line);

 private:
  struct Way {
    std::uint32_t used = 0;
    std::uint32_t who = 0;
    bool shared = false;
    std::uint8_t valid = 0, dirty = 0;
  };
  Way* find(std::uint64_t line);
  Way& claim(std::uint64_t line, std::uint32_t who);  // find, or replace the one not used for longest
  std::size_t set_of(std::uint64_t line) const;

  unsigned ways_;
  std::size_t sets_;
  std::uint32_t clock_ = 0;
  bool last_is_shared_ = false;
  std::vector<std::uint64_t> lines_;  // [set x ways + way]
  std::vector<Way> ways_of_;
};

}  // namespace kernelcast::model::ake
