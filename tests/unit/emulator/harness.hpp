// Runs PTX text in a test: parse, decode, launch, and read buffers back.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "base/statistics/splitmix64.hpp"
#include "emulator/emu.hpp"
#include "gpu/launch_record.hpp"
#include "kernels/ptx/parser.hpp"

namespace kernelcast::emu::test {

inline std::string const header = ".version 8.0\n.target sm_75\n.address_size 64\n";

inline std::string text_of(std::span<std::byte const> bytes) {
  return {reinterpret_cast<char const*>(bytes.data()), bytes.size()};
}

// With KERNELCAST_RECORD_LAUNCHES=FILE: launches without a finding, each once, for gpu_replay.
class Recorder {
 public:
  static Recorder* wanted() {
    static char const* const path = std::getenv("KERNELCAST_RECORD_LAUNCHES");
    static Recorder recorder(path ? path : "");
    return path ? &recorder : nullptr;
  }
  bool is_new(gpu::LaunchRecord const& record) {
    std::string all = record.ptx + record.kernel + record.parameters;
    for (auto const& buffer : record.buffers) all += buffer.before;
    return known_.insert(std::hash<std::string>{}(all)).second;
  }
  void add(gpu::LaunchRecord const& record) { record.write(out_); }

 private:
  explicit Recorder(char const* path) : out_(path, std::ios::binary) {}
  std::ofstream out_;
  std::set<std::size_t> known_;
};

// A kernel with its memory; arguments are buffers (device addresses) and values in the order they are added.
struct Bench {
  std::unique_ptr<ptx::Module> module;
  std::unique_ptr<Program> program;
  Memory memory{std::uint64_t{1} << 30};
  Launch launch;
  Outcome outcome;
  bool recorded = true;  // by Recorder; not where what it computes is undefined

  std::string text, kernel;

  explicit Bench(std::string const& body, std::string_view name = "k") : text(header + body), kernel(name) {
    module = ptx::parse(text, "test.ptx");
    program = std::make_unique<Program>(*module, *module->find_kernel(name));
    launch.block = {32, 1, 1};
  }
  template <class T>
  void argument(T value) {
    std::size_t const at = (launch.parameters.size() + sizeof(T) - 1) / sizeof(T) * sizeof(T);
    launch.parameters.resize(at + sizeof(T));
    std::memcpy(launch.parameters.data() + at, &value, sizeof(T));
  }
  std::uint64_t buffer(std::string name, std::uint64_t bytes) {
    std::uint64_t const address = memory.add(std::move(name), bytes);
    argument(address);
    return address;
  }
  template <class T>
  std::uint64_t buffer(std::string name, std::vector<T> const& content) {
    std::uint64_t const address = buffer(std::move(name), content.size() * sizeof(T));
    std::ranges::copy(std::as_bytes(std::span(content)), memory.bytes(address).begin());
    return address;
  }
  template <class T>
  std::vector<T> read(std::uint64_t address) {
    std::span<std::byte> const bytes = memory.bytes(address);
    std::vector<T> content(bytes.size() / sizeof(T));
    std::memcpy(content.data(), bytes.data(), content.size() * sizeof(T));
    return content;
  }
  Outcome const& run(std::span<Observer* const> observers = {}, Limits const& limits = {}, unsigned threads = 1) {
    std::vector<std::uint64_t> groups(launch.grid.count());
    std::iota(groups.begin(), groups.end(), std::uint64_t{0});
    auto* const recorder = recorded ? Recorder::wanted() : nullptr;
    gpu::LaunchRecord record = recorder ? begun() : gpu::LaunchRecord{};
    bool const is_new = recorder && recorder->is_new(record);
    outcome = emu::run(*program, launch, memory, groups, observers, limits, threads);
    if (is_new && !outcome.finding) {
      for (auto& buffer : record.buffers) buffer.after = text_of(memory.bytes(buffer.address));
      recorder->add(record);
    }
    return outcome;
  }

 private:
  gpu::LaunchRecord begun() {
    gpu::LaunchRecord record;
    record.ptx = text;
    record.kernel = kernel;
    record.grid_and_block = {launch.grid.x,  launch.grid.y,  launch.grid.z,
                             launch.block.x, launch.block.y, launch.block.z};
    record.dynamic_shared_bytes = launch.dynamic_shared_bytes;
    record.parameters = text_of(launch.parameters);
    for (auto const& buffer : memory.buffers())
      if (!buffer.freed) {
        std::string const bytes = text_of({buffer.data, buffer.size});
        record.buffers.push_back({buffer.address, bytes, bytes});
      }
    return record;
  }
};

struct Random {
  std::uint64_t state;
  std::uint64_t operator()() { return next_splitmix64(state); }
  std::uint32_t below(std::uint32_t bound) { return static_cast<std::uint32_t>((*this)() % bound); }
};

}  // namespace kernelcast::emu::test
