// Runs PTX text in a test: parse, decode, launch, and read buffers back.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <string>
#include <vector>

#include "emu/emu.hpp"
#include "ptx/parser.hpp"
#include "statistics/splitmix64.hpp"

namespace kernelcast::emu::test {

inline std::string const header = ".version 8.0\n.target sm_75\n.address_size 64\n";

// A kernel with its memory; arguments are buffers (device addresses) and values in the order they are added.
struct Bench {
  std::unique_ptr<ptx::Module> module;
  std::unique_ptr<Program> program;
  Memory memory{std::uint64_t{1} << 30};
  Launch launch;
  Outcome outcome;

  explicit Bench(std::string const& text, std::string_view kernel = "k") {
    module = ptx::parse(header + text, "test.ptx");
    program = std::make_unique<Program>(*module, *module->find_kernel(kernel));
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
    outcome = emu::run(*program, launch, memory, groups, observers, limits, threads);
    return outcome;
  }
};

struct Random {
  std::uint64_t state;
  std::uint64_t operator()() { return next_splitmix64(state); }
  std::uint32_t below(std::uint32_t bound) { return static_cast<std::uint32_t>((*this)() % bound); }
};

}  // namespace kernelcast::emu::test
