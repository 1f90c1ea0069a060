// Runs random kernels on the emulator and on an OpenCL device, and compares every byte that they store.
//
// usage: differential [--seed S] [--count N | --seconds S] [--per-file N] [--keep DIR] [--as-is] [--planted]
//        differential --file FILE   one kernel that an earlier run kept
//        differential --print SEED  the kernel of this seed
//
// Kernel number i of a run has seed S + i; a kernel that differs is shortened (not with --as-is), written to DIR and
// reported with its seed. --planted: the device computes every kernel wrongly, and every one must be found.
// The device runs in a process of its own, for its compiler may crash. Where it crashes or differs, Oclgrind, if it is
// installed, decides: a kernel on which it agrees with the emulator counts as the device's error. More than one
// kernel in fifty of these is an error too.
// Exit status: 0 all agree, 1 a difference, 77 where there is no OpenCL device.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <numeric>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <unistd.h>

#include <fmt/format.h>

#include "base/diag/diag.hpp"
#include "base/process/process.hpp"
#include "emulator/emu.hpp"
#include "generator.hpp"
#include "kernels/frontend/frontend.hpp"
#include "opencl.hpp"

namespace {

using namespace kernelcast;
using namespace kernelcast::differential;
using Bytes = std::vector<std::byte>;

constexpr std::uint32_t argument_n = 5;
constexpr std::size_t result_bytes = std::size_t{8} * result_words * group_items * groups;
constexpr std::size_t sum_bytes = std::size_t{4} * sum_words;
constexpr std::size_t all_variable_bytes = std::size_t{variable_bytes} * group_items * groups;

struct Options {
  std::uint64_t seed = 1, count = 200, per_file = 50;
  double seconds = 0;
  std::string keep = ".";
  bool planted = false, shorten = true;
};

// What one kernel stores.
struct Stored {
  Bytes result = Bytes(result_bytes), sums = Bytes(sum_bytes);
  std::string failure;  // why there is nothing to compare
  friend bool operator==(Stored const& a, Stored const& b) {
    return a.result == b.result && a.sums == b.sums && a.failure.empty() && b.failure.empty();
  }
};

Bytes input_words_of_all() {
  Bytes bytes(std::size_t{4} * input_words);
  std::uint64_t state = 88172645463325252u;
  for (unsigned i = 0; i < input_words; ++i) {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    auto const word = static_cast<std::uint32_t>(i % 8 == 0 ? i / 8 : state);
    std::memcpy(bytes.data() + std::size_t{4} * i, &word, 4);
  }
  return bytes;
}

// ---------------------------------------------------------------- the two sides

// Cuts the buffers into what each kernel stored.
std::vector<Stored> parts(std::span<std::byte const> results, std::span<std::byte const> sums, std::size_t count) {
  std::vector<Stored> all(count);
  for (std::size_t i = 0; i < count; ++i) {
    auto const result = results.subspan(i * result_bytes, result_bytes), sum = sums.subspan(i * sum_bytes, sum_bytes);
    all[i].result.assign(result.begin(), result.end());
    all[i].sums.assign(sum.begin(), sum.end());
  }
  return all;
}

std::vector<Stored> failed(std::size_t count, std::string const& why) {
  std::vector<Stored> all(count);
  for (auto& stored : all) stored.failure = why;
  return all;
}

std::vector<Stored> emulate(ptx::Module const& module, std::size_t count) {
  emu::Program const program(module, *module.find_kernel("everything"));
  emu::Memory memory;
  emu::Launch launch;
  launch.grid = {groups, 1, 1};
  launch.block = {group_items, 1, 1};
  launch.parameters.resize(program.kernel().parameter_bytes);
  Bytes const input = input_words_of_all();
  std::uint64_t const addresses[] = {memory.add("result", count * result_bytes), memory.add("input", input.size()),
                                     memory.add("sums", count * sum_bytes), memory.add("memory", all_variable_bytes)};
  std::memcpy(memory.bytes(addresses[1]).data(), input.data(), input.size());
  for (std::size_t i = 0; i < std::size(addresses); ++i)
    std::memcpy(launch.parameters.data() + program.kernel().parameters[i].offset, &addresses[i], 8);
  std::memcpy(launch.parameters.data() + program.kernel().parameters[4].offset, &argument_n, 4);
  std::vector<std::uint64_t> all(groups);
  std::iota(all.begin(), all.end(), std::uint64_t{0});
  emu::Limits limits;
  limits.timeout_s = 100;
  auto const outcome = emu::run(program, launch, memory, all, {}, limits);
  if (outcome.ending != emu::Ending::done)
    return failed(count, outcome.finding ? "finding: " + outcome.finding->message : "a limit was reached");
  return parts(memory.bytes(addresses[0]), memory.bytes(addresses[2]), count);
}

std::vector<Stored> on_emulator(std::string const& source, std::size_t count, TemporaryFolder const& scratch) {
  auto const path = scratch.path() / "kernels.cl";
  std::ofstream(path) << source;
  try {
    frontend::Request request;
    request.path = path;
    request.cache = false;
    request.registers.clear();
    return emulate(*frontend::compile(request).module, count);
  } catch (Error const& error) {
    return failed(count, error.text("emulator"));
  }
}

std::vector<Stored> in_this_process(std::string const& source, std::size_t count, bool planted) {
  suites::Buffers buffers;
  buffers["result"] = Bytes(count * result_bytes);
  buffers["input"] = input_words_of_all();
  buffers["sums"] = Bytes(count * sum_bytes);
  buffers["memory"] = Bytes(all_variable_bytes);
  Bytes n(sizeof argument_n);
  std::memcpy(n.data(), &argument_n, sizeof argument_n);
  suites::OpenClLaunch launch;
  launch.kernel = "everything";
  launch.global = {group_items * groups, 1, 1};
  launch.local = {group_items, 1, 1};
  launch.arguments = {suites::BufferName{"result"}, suites::BufferName{"input"}, suites::BufferName{"sums"},
                      suites::BufferName{"memory"}, n};
  try {
    auto const run =
        suites::run_opencl(source, planted ? "-w -cl-opt-disable -DAPART -DPLANTED" : "-w -cl-opt-disable -DAPART",
                           std::move(buffers), {launch});
    return parts(run.buffers.at("result"), run.buffers.at("sums"), count);
  } catch (std::exception const& error) {
    return failed(count, error.what());
  }
}

// Runs this program again as `differential --device-run SOURCE COUNT PLANTED OUT`, by itself or under Oclgrind.
std::vector<Stored> on_device(std::string const& source, std::size_t count, bool planted,
                              TemporaryFolder const& scratch, bool oclgrind = false) {
  auto const text = scratch.path() / "device.cl", out = scratch.path() / "device.out";
  std::ofstream(text) << source;
  std::filesystem::remove(out);
  std::string const self = std::filesystem::read_symlink("/proc/self/exe");
  std::string const command =
      fmt::format("{}'{}' --device-run '{}' {} {} '{}' >/dev/null 2>&1", oclgrind ? "oclgrind " : "", self,
                  text.string(), count, int{planted}, out.string());
  int const status = std::system(command.c_str());
  std::ifstream file(out, std::ios::binary);
  std::string const bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  if (status != 0 || bytes.size() != count * (result_bytes + sum_bytes))
    return failed(count, fmt::format("exited with status {}", status));
  auto const all = std::as_bytes(std::span(bytes));
  return parts(all.first(count * result_bytes), all.subspan(count * result_bytes), count);
}

int device_run(char** arguments) {
  std::ifstream file(arguments[0]);
  std::string const source((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  auto const stored = in_this_process(source, std::stoull(arguments[1]), arguments[2][0] == '1');
  std::ofstream out(arguments[3], std::ios::binary);
  auto const write = [&](Bytes const& bytes) {
    out.write(reinterpret_cast<char const*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  };
  for (Stored const& kernel : stored) {
    if (!kernel.failure.empty()) return 1;
    write(kernel.result);
  }
  for (Stored const& kernel : stored) write(kernel.sums);
  return out.flush() ? 0 : 1;
}

// ---------------------------------------------------------------- differences

std::string difference(Stored const& emulated, Stored const& device) {
  if (!emulated.failure.empty()) return "emulator: " + emulated.failure;
  if (!device.failure.empty()) return "device: " + device.failure;
  auto const word = [](Bytes const& bytes, std::size_t i) {
    std::uint64_t value = 0;
    std::memcpy(&value, bytes.data() + 8 * i, 8);
    return value;
  };
  for (std::size_t i = 0; i < result_bytes / 8; ++i)
    if (word(emulated.result, i) != word(device.result, i))
      return fmt::format("work-item {}, variable v{}: emulator {:#x}, device {:#x}", i / result_words, i % result_words,
                         word(emulated.result, i), word(device.result, i));
  return "the sums by atomics differ";
}

bool differs(Kernel const& kernel, TemporaryFolder const& scratch, bool planted) {
  std::string const source = source_of({kernel});
  return !(on_emulator(source, 1, scratch)[0] == on_device(source, 1, planted, scratch)[0]);
}

// Leaves out statements as long as the difference stays.
Kernel shortened(Kernel kernel, TemporaryFolder const& scratch) {
  for (bool shorter = true; shorter;) {
    shorter = false;
    for (std::size_t i = kernel.statements.size(); i-- > 0;) {
      Kernel without = kernel;
      without.statements.erase(without.statements.begin() + static_cast<std::ptrdiff_t>(i));
      if (!differs(without, scratch, false)) continue;
      kernel = std::move(without);
      shorter = true;
    }
  }
  return kernel;
}

void report(Kernel const& kernel, Stored const& emulated, Stored const& device, Options const& options,
            TemporaryFolder const& scratch) {
  fmt::print(stderr, "seed {}: {}\n", kernel.seed, difference(emulated, device));
  if (!options.shorten) return;
  bool const alone = differs(kernel, scratch, false);
  Kernel const short_kernel = alone ? shortened(kernel, scratch) : kernel;
  auto const path = std::filesystem::path(options.keep) / fmt::format("differs-{}.cl", kernel.seed);
  std::ofstream(path) << "// seed " << kernel.seed
                      << (alone ? "" : ": only together with the other kernels of its file") << "\n"
                      << source_of({short_kernel});
  fmt::print(stderr, "  written to {}\n", path.string());
}

int run(Options const& options) {
  auto const device = suites::opencl_device();
  if (!device) {
    std::puts("kernelcast-skipped: no OpenCL device");
    return 77;
  }
  TemporaryFolder const scratch;
  auto const start = std::chrono::steady_clock::now();
  auto const elapsed_s = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  std::uint64_t done = 0, different = 0, overruled = 0;
  auto const more = [&] { return options.seconds > 0 ? elapsed_s() < options.seconds : done < options.count; };
  while (more() && (options.planted || different < 20)) {
    std::vector<Kernel> kernels;
    std::uint64_t const some =
        options.seconds > 0 ? options.per_file : std::min(options.per_file, options.count - done);
    for (std::uint64_t i = 0; i < some; ++i) kernels.push_back(random_kernel(options.seed + done + i));
    std::string const source = source_of(kernels);
    auto const emulated = on_emulator(source, kernels.size(), scratch);
    auto expected = on_device(source, kernels.size(), options.planted, scratch);
    bool const crashed = !expected[0].failure.empty();
    for (std::size_t i = 0; i < kernels.size(); ++i) {
      if (crashed) expected[i] = on_device(source_of({kernels[i]}), 1, options.planted, scratch)[0];
      if (emulated[i] == expected[i]) continue;
      if (!options.planted && emulated[i] == on_device(source_of({kernels[i]}), 1, false, scratch, true)[0]) {
        fmt::print("seed {}: {}; Oclgrind agrees with the emulator\n", kernels[i].seed,
                   difference(emulated[i], expected[i]));
        ++overruled;
        continue;
      }
      ++different;
      if (!options.planted) report(kernels[i], emulated[i], expected[i], options, scratch);
    }
    done += some;
  }
  fmt::print("{} kernels, seeds {} to {}, on {}: {} differ, {} errors of the device; {:.1f} s\n", done, options.seed,
             options.seed + done - 1, *device, different, overruled, elapsed_s());
  return options.planted ? different != done : different != 0 || 50 * overruled > done;
}

int again(std::string const& path) {
  TemporaryFolder const scratch;
  std::ifstream file(path);
  std::string const source((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  auto const emulated = on_emulator(source, 1, scratch)[0], device = on_device(source, 1, false, scratch)[0];
  fmt::print("{}\n", emulated == device ? "no difference" : difference(emulated, device));
  return emulated == device ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  if (argc == 6 && std::string_view(argv[1]) == "--device-run") return device_run(argv + 2);
  for (int i = 1; i < argc; ++i) {
    std::string const name = argv[i];
    if (name == "--planted") {
      options.planted = true;
      continue;
    }
    if (name == "--as-is") {
      options.shorten = false;
      continue;
    }
    if (i + 1 == argc) {
      fmt::print(stderr, "differential: {} needs a value\n", name);
      return 2;
    }
    std::string const value = argv[++i];
    if (name == "--seed")
      options.seed = std::stoull(value);
    else if (name == "--count")
      options.count = std::stoull(value);
    else if (name == "--seconds")
      options.seconds = std::stod(value);
    else if (name == "--per-file")
      options.per_file = std::stoull(value);
    else if (name == "--keep")
      options.keep = value;
    else if (name == "--file")
      return again(value);
    else if (name == "--print") {
      std::fputs(source_of({random_kernel(std::stoull(value))}).c_str(), stdout);
      return 0;
    } else {
      fmt::print(stderr, "differential: unknown option {}\n", name);
      return 2;
    }
  }
  return run(options);
}
