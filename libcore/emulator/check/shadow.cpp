#include "emulator/check/shadow.hpp"

#include <sys/mman.h>

#include <string>

#include "base/diag/diag.hpp"

namespace kernelcast::emu {

ShadowBytes::ShadowBytes(std::size_t bytes) : bytes_(bytes) {
  if (bytes == 0) return;
  void* const data = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (data == MAP_FAILED)
    throw Error(Status::limit, "no address space for " + std::to_string(bytes) + " bytes of shadow memory",
                "use smaller buffers, or leave out --check-races and --check-uninit");
#ifdef MADV_HUGEPAGE
  if (bytes >= std::size_t{4} << 20) madvise(data, bytes, MADV_HUGEPAGE);
#endif
  data_ = data;
}

ShadowBytes::~ShadowBytes() {
  if (data_) munmap(data_, bytes_);
}

void ShadowBytes::clear() {
  if (data_) *this = ShadowBytes(bytes_);
}

}  // namespace kernelcast::emu
