// What fuzz targets share. A target defines run_input() and links driver.cpp.
//
// Problem: every reader of bytes that others wrote must refuse what it cannot use, with an Error, and must do nothing
// else: no other exception, no access outside its memory, no endless loop, no gigabytes.
// Method: run_input() hands the bytes to the function that a program calls on them. An Error is an answer; another
// exception, a call of defect() and what the sanitizers find end the process, and the input is kept.
#pragma once

#include <istream>
#include <streambuf>
#include <string>
#include <string_view>

namespace kernelcast::fuzz {

void run_input(std::string_view input);

// Prints what is wrong and aborts.
[[noreturn]] void defect(std::string_view what);

// Reads text in place.
class TextStream : private std::streambuf, public std::istream {
 public:
  explicit TextStream(std::string_view text) : std::istream(static_cast<std::streambuf*>(this)) {
    auto* const begin = const_cast<char*>(text.data());
    setg(begin, begin, begin + text.size());
  }
};

// A file that has no disk behind it, for functions that take a path. Errors of the system end the process.
class MemoryFile {
 public:
  explicit MemoryFile(std::string_view text = {});
  ~MemoryFile();
  MemoryFile(MemoryFile const&) = delete;
  MemoryFile& operator=(MemoryFile const&) = delete;
  void write(std::string_view text);  // in place of what was there
  std::string const& path() const { return path_; }

 private:
  int descriptor_;
  std::string path_;
};

// The result of what a target makes once. An error there is no answer to an input: it ends the process.
template <class Make>
auto once(Make make) noexcept {
  return make();
}

// A device database of a few devices, made of the tree's at the first call; the folder goes with the process.
std::string const& small_database();

}  // namespace kernelcast::fuzz
