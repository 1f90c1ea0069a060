// Standard streams and files as stream buffers on file descriptors.
//
// Problem: iostreams hide why a write failed, keep a closed descriptor 1 for the next file that is opened, and wait for
// full buffers. Method: our own buffers on read(2) and write(2) that throw Error(io) with the system's reason.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <streambuf>
#include <string>
#include <vector>

#include "records/cli/decompress.hpp"

namespace kernelcast::cli {

// Opens /dev/null on those of the descriptors 0, 1, 2 that are closed, so that no file takes their place, and says
// which were. Sets SIGPIPE to its default, whatever the parent process left.
std::array<bool, 3> reserve_standard_streams();

bool colour_on_stderr();  // a terminal, and neither NO_COLOR nor TERM=dumb

// A hash of all bytes that went by, as 16 hexadecimal digits (XXH3, 64 bits).
class ContentHash {
 public:
  ContentHash();
  ~ContentHash();
  ContentHash(ContentHash const&) = delete;
  void add(char const* data, std::size_t size);
  std::string hex() const;
  std::uint64_t bytes() const { return bytes_; }

 private:
  struct Hasher;
  std::unique_ptr<Hasher> hasher_;
  std::uint64_t bytes_ = 0;
};

// What is compressed by gzip or zstd arrives decompressed.
class InputBuffer : public std::streambuf {
 public:
  InputBuffer(int descriptor, std::string name, bool hashed);  // closes a descriptor above 2 at its end
  ~InputBuffer() override;
  std::string const& name() const { return name_; }
  ContentHash const& hash() const { return hash_; }
  void drain();  // reads what is left, for the hash

 protected:
  int_type underflow() override;

 private:
  std::size_t read_some(char* to, std::size_t size);  // as it lies there; 0 at its end
  std::size_t fill();                                 // the content, into buffer_; 0 at its end
  void begin();

  int descriptor_;
  std::string name_;
  bool hashed_;
  bool at_end_ = false;  // final, also on a terminal, which would go on after it
  ContentHash hash_;
  std::vector<char> buffer_;
  bool begun_ = false;
  std::size_t plain_bytes_ = 0;  // of the first piece, which told that it is not compressed
  std::unique_ptr<Decompressor> decompressor_;
  std::vector<char> compressed_;
  std::string_view pending_;  // of compressed_
};

class OutputBuffer : public std::streambuf {
 public:
  OutputBuffer(int descriptor, std::string name);  // does not close it
  void send();                                     // writes everything; throws Error(io)

 protected:
  int_type overflow(int_type c) override;
  std::streamsize xsputn(char const* data, std::streamsize size) override;
  int sync() override;

 private:
  void write_all(char const* data, std::size_t size);
  int descriptor_;
  std::string name_;
  std::vector<char> buffer_;
};

}  // namespace kernelcast::cli
