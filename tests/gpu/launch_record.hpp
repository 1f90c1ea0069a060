// A launch that the emulator ran, with its memory before and after, as a file that gpu_replay repeats on a device.
//
// Layout: a line of text, "kernelcast launch 1", then numbers of 64 bits and blocks of a number of bytes and the bytes:
// PTX, kernel, grid and block (x, y, z each), bytes of dynamic shared memory, parameters, number of buffers, and of
// each its device address, its bytes before and its bytes after.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

namespace kernelcast::gpu {

struct LaunchRecord {
  struct Buffer {
    std::uint64_t address = 0;
    std::string before, after;
  };
  std::string ptx, kernel;
  std::array<std::uint64_t, 6> grid_and_block{};
  std::uint64_t dynamic_shared_bytes = 0;
  std::string parameters;
  std::vector<Buffer> buffers;

  static constexpr char const* magic = "kernelcast launch 1\n";

  void write(std::ostream& out) const {
    out << magic;
    write_block(out, ptx);
    write_block(out, kernel);
    for (std::uint64_t const n : grid_and_block) write_number(out, n);
    write_number(out, dynamic_shared_bytes);
    write_block(out, parameters);
    write_number(out, buffers.size());
    for (Buffer const& b : buffers) {
      write_number(out, b.address);
      write_block(out, b.before);
      write_block(out, b.after);
    }
  }
  // False at the end of the stream, or where it does not hold a record.
  bool read(std::istream& in) {
    std::string line(std::strlen(magic), '\0');
    if (!in.read(line.data(), static_cast<std::streamsize>(line.size())) || line != magic) return false;
    std::uint64_t count = 0;
    bool good = read_block(in, ptx) && read_block(in, kernel);
    for (std::uint64_t& n : grid_and_block) good = good && read_number(in, n);
    good = good && read_number(in, dynamic_shared_bytes) && read_block(in, parameters) && read_number(in, count);
    buffers.clear();
    for (std::uint64_t b = 0; good && b < count; ++b) {
      buffers.emplace_back();
      good = read_number(in, buffers.back().address) && read_block(in, buffers.back().before) &&
             read_block(in, buffers.back().after);
    }
    return good;
  }

 private:
  static void write_number(std::ostream& out, std::uint64_t n) {
    out.write(reinterpret_cast<char const*>(&n), sizeof n);
  }
  static void write_block(std::ostream& out, std::string const& bytes) {
    write_number(out, bytes.size());
    out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  }
  static bool read_number(std::istream& in, std::uint64_t& n) {
    return bool(in.read(reinterpret_cast<char*>(&n), sizeof n));
  }
  static bool read_block(std::istream& in, std::string& bytes) {
    std::uint64_t n = 0;
    if (!read_number(in, n) || n > (std::uint64_t{1} << 32)) return false;
    bytes.resize(n);
    return bool(in.read(bytes.data(), static_cast<std::streamsize>(n)));
  }
};

}  // namespace kernelcast::gpu
