// Compressed input, told by its first bytes: gzip [RFC 1952] and Zstandard [RFC 8878], of any number of members or
// frames. What it grows to is never held: it is read in pieces.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace kernelcast::cli {

class Decompressor {
 public:
  virtual ~Decompressor() = default;

  // Bytes that tell what it is.
  static constexpr std::size_t magic_bytes = 4;
  // Whether more bytes are needed to tell.
  static bool could_be(std::string_view begin);
  // Of what begins so; none: it is not compressed. Throws Error(unavailable) where the format was left out of the
  // build.
  static std::unique_ptr<Decompressor> of(std::string_view begin, std::string const& file);

  // Fills `out` from `in`, of which it drops what it has used. 0: more is needed, or all members have ended. Throws
  // Error(bad_data).
  virtual std::size_t next(std::string_view& in, char* out, std::size_t size) = 0;
  // No member has begun and not ended.
  virtual bool complete() const = 0;
  virtual char const* format() const = 0;
};

}  // namespace kernelcast::cli
