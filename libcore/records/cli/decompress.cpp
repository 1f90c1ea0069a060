#include "records/cli/decompress.hpp"

#include <new>

#include <fmt/format.h>

#include "base/diag/diag.hpp"

#ifdef KERNELCAST_ZLIB
#include <zlib.h>
#endif
#ifdef KERNELCAST_ZSTD
#include <zstd.h>
#endif

namespace kernelcast::cli {

namespace {

constexpr std::string_view gzip_magic = "\x1f\x8b", zstd_magic = "\x28\xb5\x2f\xfd";

#if defined KERNELCAST_ZLIB || defined KERNELCAST_ZSTD
[[noreturn]] void refuse(std::string const& file, char const* format, char const* reason) {
  throw Error(Status::bad_data, Where{file}, fmt::format("damaged {} data: {}", format, reason),
              fmt::format("{} -t checks a file", std::string_view(format) == "gzip" ? "gzip" : "zstd"));
}
#endif
#if !defined KERNELCAST_ZLIB || !defined KERNELCAST_ZSTD
[[noreturn]] void refuse_format(std::string const& file, char const* command, char const* package) {
  throw Error(Status::unavailable, Where{file},
              fmt::format("compressed by {}, which this build does not read", command),
              fmt::format("{} -dc {} | ..., or build with the package {}", command, file, package));
}
#endif

#ifdef KERNELCAST_ZLIB
class Gzip : public Decompressor {
 public:
  explicit Gzip(std::string file) : file_(std::move(file)) {
    if (inflateInit2(&stream_, 16 + MAX_WBITS) != Z_OK) throw std::bad_alloc();
  }
  ~Gzip() override { inflateEnd(&stream_); }
  Gzip(Gzip const&) = delete;
  Gzip& operator=(Gzip const&) = delete;

  std::size_t next(std::string_view& in, char* out, std::size_t size) override {
    if (ended_) {  // members may follow each other
      if (in.empty()) return 0;
      inflateReset(&stream_);
      ended_ = false;
    }
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(in.data()));
    stream_.avail_in = static_cast<uInt>(in.size());
    stream_.next_out = reinterpret_cast<Bytef*>(out);
    stream_.avail_out = static_cast<uInt>(size);
    int const status = inflate(&stream_, Z_NO_FLUSH);
    in.remove_prefix(in.size() - stream_.avail_in);
    if (status == Z_MEM_ERROR) throw std::bad_alloc();
    if (status != Z_OK && status != Z_STREAM_END && status != Z_BUF_ERROR)
      refuse(file_, format(), stream_.msg ? stream_.msg : "a dictionary is missing");
    ended_ = status == Z_STREAM_END;
    return size - stream_.avail_out;
  }
  bool complete() const override { return ended_; }
  char const* format() const override { return "gzip"; }

 private:
  std::string file_;
  z_stream stream_{};
  bool ended_ = false;
};
#endif

#ifdef KERNELCAST_ZSTD
class Zstandard : public Decompressor {
 public:
  explicit Zstandard(std::string file) : file_(std::move(file)), stream_(ZSTD_createDStream()) {
    if (!stream_) throw std::bad_alloc();
  }
  ~Zstandard() override { ZSTD_freeDStream(stream_); }
  Zstandard(Zstandard const&) = delete;
  Zstandard& operator=(Zstandard const&) = delete;

  std::size_t next(std::string_view& in, char* out, std::size_t size) override {
    if (in.empty() && !held_) return 0;
    ZSTD_inBuffer from{in.data(), in.size(), 0};
    ZSTD_outBuffer to{out, size, 0};
    std::size_t const left = ZSTD_decompressStream(stream_, &to, &from);
    if (ZSTD_isError(left)) refuse(file_, format(), ZSTD_getErrorName(left));
    in.remove_prefix(from.pos);
    complete_ = left == 0;
    held_ = to.pos == size;
    return to.pos;
  }
  bool complete() const override { return complete_; }
  char const* format() const override { return "zstd"; }

 private:
  std::string file_;
  ZSTD_DStream* stream_;
  bool complete_ = false, held_ = false;  // held: it may have more output without more input
};
#endif

}  // namespace

bool Decompressor::could_be(std::string_view begin) {
  return begin.size() < magic_bytes &&
         (begin == gzip_magic.substr(0, begin.size()) || begin == zstd_magic.substr(0, begin.size()));
}

std::unique_ptr<Decompressor> Decompressor::of(std::string_view begin, std::string const& file) {
  if (begin.starts_with(gzip_magic)) {
#ifdef KERNELCAST_ZLIB
    return std::make_unique<Gzip>(file);
#else
    refuse_format(file, "gzip", "zlib1g-dev");
#endif
  }
  if (begin.starts_with(zstd_magic)) {
#ifdef KERNELCAST_ZSTD
    return std::make_unique<Zstandard>(file);
#else
    refuse_format(file, "zstd", "libzstd-dev");
#endif
  }
  return nullptr;
}

}  // namespace kernelcast::cli
