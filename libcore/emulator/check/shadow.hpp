// Memory for shadows: as large as what it shadows may ever be, backed where it is touched, zero at first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

namespace kernelcast::emu {

inline constexpr std::uint32_t half_warp = 16;  // lanes that the checks take together

class ShadowBytes {
 public:
  ShadowBytes() = default;
  explicit ShadowBytes(std::size_t bytes);  // throws Error(limit)
  ~ShadowBytes();
  ShadowBytes(ShadowBytes&& other) noexcept : data_(std::exchange(other.data_, nullptr)), bytes_(other.bytes_) {}
  ShadowBytes& operator=(ShadowBytes&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }

  template <class T>
  T* as() const {
    return static_cast<T*>(data_);
  }
  std::size_t bytes() const { return bytes_; }
  void clear();

 private:
  void* data_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace kernelcast::emu
