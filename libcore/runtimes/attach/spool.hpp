// Where the layer leaves what it has seen: a folder of launch files that miniemu reads, while the application runs and
// any time later.
//
//   program-HASH.cl         OpenCL C source; headers-HASH/NAME, headers that it was compiled with. They are here or in
//                           a lasting folder of their own, so that what is compiled of them is found again
//   binary-HASH-BYTES       beside them: what a program's binary was built of (opencl/binaries.hpp)
//   launch-PID-N.toml       a launch file, whole from the moment that it is there
//   buffer-PID-N-I.bin      what argument I of it held just before the launch
//   pool-PID-K.bin          a file that is reused for such contents (opencl/buffer_pool.hpp)
//   counts-PID              how often each launch file's configuration was launched: 8-byte counters by N, shared
//                           memory, so that they are right even when the application is killed
//   allocated-PID           in the same way, the most device memory, in bytes, that was allocated at a launch of it
//   totals-PID-K            in the same way, max_totals doubles for each of 256 configurations, from 256 K on: sums
//                           over those launches of it that the application knows, the last their number
//                           (runtimes/cudart/rows.hpp)
//   commands-PID            with Settings::commands, what was enqueued, in order (commands.cpp)
//   usage-PID               in the same way, what the application has asked of CUDA on the emulator (usage.hpp)
//   timeline-PID.csv        with Settings::timeline, its commands and what each waits for (record::Command); of OpenCL
//                           timeline-opencl-PID.csv, where the case of a kernel is the number of its configuration
//   skipped-PID-N.txt       kernel and reason of a launch that cannot be described, each once
//   findings-PID-0.txt      what kernels did wrong without an end of their launch (runtimes/cudart/findings.hpp)
//   unkept-PID-N.txt        the same of one that has a row (runtimes/cudart/rows.hpp), but no launch file
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kernelcast::attach {

inline constexpr std::size_t max_totals = 64;  // of a configuration, the number of launches included
inline constexpr std::size_t max_configurations = std::size_t{1} << 16;  // of one process; further ones are skipped

class Spool {
 public:
  // `programs` empty: they are in the folder too.
  explicit Spool(std::string folder, std::string programs = {})
      : folder_(std::move(folder)), programs_(std::move(programs)) {}

  // The number of a new configuration of this process and its counter; nullptr when there is no room or no disk.
  std::uint64_t* next(std::uint64_t& number);
  // Device memory that is allocated at a launch of the counter's configuration.
  void note_allocated(std::uint64_t const* counter, std::uint64_t bytes);
  // The totals of a configuration, to be added to; nullptr where there is no disk.
  double* totals(std::uint64_t number);
  std::uint64_t number_of(std::uint64_t const* counter) const { return static_cast<std::uint64_t>(counter - counts_); }

  // A new file of `bytes`, mapped for writing; nullptr where that fails. unmap() ends it.
  std::byte* map(std::string const& name, std::size_t bytes) const;
  static void unmap(std::byte* content, std::size_t bytes);
  // The first bytes of a file alone; a second name for it; how many names it has, 0 where there is none; without this
  // name.
  bool shorten(std::string const& name, std::size_t bytes) const;
  bool link(std::string const& name, std::string const& second) const;
  std::size_t names_of(std::string const& name) const;
  void remove(std::string const& name) const;

  // Written beside and renamed. False where the disk is full or the folder gone.
  bool publish(std::string const& name, std::string_view text) const;

  // Sources and headers: as a launch file of this spool names them.
  std::string program(std::string const& name) const { return programs_.empty() ? name : programs_ + '/' + name; }
  std::string place_of_program(std::string const& name) const;
  bool has_program(std::string const& name) const;  // renews its time of use: a cache drops unused files
  bool publish_program(std::string const& name, std::string_view text) const;

  std::string name(std::string_view kind, std::uint64_t number, std::string_view ending) const;

 private:
  bool open_counts();

  std::string folder_, programs_;
  int process_ = 0;  // to which the counters belong: a fork begins its own
  std::uint64_t *counts_ = nullptr, *allocated_ = nullptr;
  std::vector<double*> totals_;  // null where the disk is full
  std::uint64_t used_ = 0;
};

}  // namespace kernelcast::attach
