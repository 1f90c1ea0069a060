// Large tables of which only parts are used.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <new>

namespace kernelcast::seq {

// Zeroed memory that takes pages only where it is touched.
enum class PageAccess { sequential, random };  // random: large pages, where the system has them
template <class T>
class Pages {
 public:
  Pages(std::size_t n, PageAccess access) : n_(n) {
    auto* const p = mmap(nullptr, bytes(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED) throw std::bad_alloc();
    p_ = static_cast<T*>(p);
    if (access == PageAccess::random) madvise(p, bytes(), MADV_HUGEPAGE);
  }
  ~Pages() { munmap(p_, bytes()); }
  Pages(Pages const&) = delete;
  Pages& operator=(Pages const&) = delete;
  T& operator[](std::size_t i) const { return p_[i]; }
  T* data() const { return p_; }
  std::size_t bytes() const { return (n_ * sizeof(T) + 4095) / 4096 * 4096 + 4096; }

 private:
  std::size_t n_;
  T* p_;
};

}  // namespace kernelcast::seq
