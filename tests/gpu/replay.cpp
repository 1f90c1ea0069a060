// Repeats recorded launches of the emulator on a CUDA device and compares every byte of their buffers.
//
// usage: gpu_replay [--target sm_XX] [--differences DIR] [--part K/N] RECORDS
// The records are what test_emulator writes with KERNELCAST_RECORD_LAUNCHES=RECORDS. Each line on stdout is
// `number,result,what`: equal, differs (of how many bytes, the first one's place), refused (the driver does not take
// the PTX for this device) or failed (the launch). With --differences a record that differs goes to DIR/NUMBER.ptx and,
// with what the device wrote as `after`, to DIR/NUMBER.device. Records run in a process of their own, for a fault ends
// a context: a new one goes on behind it. --target replaces the
// `.version` and `.target` of each record (9.0 and the target); --part takes every Nth record from K on. Status: 0
// where all that ran are equal, 1 where not, 77 without a device.
#include <cerrno>
#include <cinttypes>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string_view>

#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>

#include "launch_record.hpp"
#include "measure/probe/cuda/api.hpp"

using namespace kernelcast;
namespace cuda = probe::cuda;

namespace {

constexpr int skipped = 77;
constexpr unsigned seconds_per_launch = 20;

std::string name_of(cuda::Code code) {
  char const* name = nullptr;
  cuda::driver().error_name(code, &name);
  return name ? name : std::to_string(static_cast<int>(code));
}

// A number in the parameters or in a buffer that lies in a buffer of the emulator becomes the device's address.
void relocate(std::string& bytes, gpu::LaunchRecord const& record, std::vector<cuda::Pointer> const& at) {
  for (std::size_t k = 0; k + 8 <= bytes.size(); k += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data() + k, 8);
    for (std::size_t b = 0; b < at.size(); ++b)
      if (word >= record.buffers[b].address && word - record.buffers[b].address <= record.buffers[b].before.size()) {
        word = at[b] + (word - record.buffers[b].address);
        std::memcpy(bytes.data() + k, &word, 8);
        break;
      }
  }
}

void set_target(std::string& ptx, std::string const& target) {
  auto const replace = [&](char const* directive, std::string const& with) {
    std::size_t const begin = ptx.find(directive);
    if (begin == std::string::npos) return;
    ptx.replace(begin, ptx.find('\n', begin) - begin, directive + with);
  };
  replace(".version ", "9.0");
  replace(".target ", target);
}

struct Answer {
  std::string result, what;
  bool context_lost = false;
};

Answer replay(gpu::LaunchRecord& record) {
  auto const& api = cuda::driver();
  cuda::Module module = nullptr;
  if (auto const code = api.module_load(&module, record.ptx.c_str()); code != cuda::Code::success)
    return {"refused", name_of(code)};
  cuda::Function function = nullptr;
  if (auto const code = api.module_function(&function, module, record.kernel.c_str()); code != cuda::Code::success)
    return {"refused", name_of(code)};
  std::vector<cuda::Pointer> at;
  for (auto const& buffer : record.buffers) {
    at.push_back(0);
    if (api.allocate(&at.back(), std::max<std::size_t>(buffer.before.size(), 1)) != cuda::Code::success)
      return {"failed", "memory", true};
    api.copy_to_device(at.back(), buffer.before.data(), buffer.before.size());
  }
  std::string parameters = record.parameters;
  relocate(parameters, record, at);
  if (record.dynamic_shared_bytes > 48 * 1024)
    api.function_set(function, cuda::FunctionAttribute::max_dynamic_shared_bytes,
                     static_cast<int>(record.dynamic_shared_bytes));
  std::size_t bytes = parameters.size();
  void* extra[] = {reinterpret_cast<void*>(1), parameters.data(), reinterpret_cast<void*>(2), &bytes, nullptr};
  auto const n = [&](std::size_t k) { return static_cast<unsigned>(record.grid_and_block[k]); };
  auto code = api.launch(function, n(0), n(1), n(2), n(3), n(4), n(5),
                         static_cast<unsigned>(record.dynamic_shared_bytes), nullptr, nullptr, extra);
  if (code == cuda::Code::success) {
    code = api.synchronize();
    if (code != cuda::Code::success) return {"failed", name_of(code), true};
  } else {
    return {"failed", name_of(code)};
  }
  Answer answer{"equal", {}};
  std::uint64_t different = 0;
  for (std::size_t b = 0; b < at.size(); ++b) {
    auto& buffer = record.buffers[b];
    std::string now(buffer.after.size(), '\0');
    api.copy_to_host(now.data(), at[b], now.size());
    for (std::size_t k = 0; k < now.size(); ++k)
      if (now[k] != buffer.after[k] && ++different == 1) answer.what = fmt::format("buffer {} byte {}", b, k);
    buffer.after = now;
    api.release(at[b]);
  }
  api.module_unload(module);
  if (different) answer = {"differs", fmt::format("{} bytes; first {}", different, answer.what)};
  return answer;
}

struct Options {
  std::string records, target, differences;
  std::uint64_t part = 0, parts = 1;
};

// Records from `first` on; ends after one that lost the context. Status: 0 at the end of the file, 2 to be called
// again.
int child(Options const& options, std::uint64_t first) {
  auto const& api = cuda::driver();
  if (!api.missing.empty()) return skipped;
  cuda::Device device = 0;
  cuda::Context context = nullptr;
  if (api.device_get(&device, 0) != cuda::Code::success || api.context_retain(&context, device) != cuda::Code::success)
    return skipped;
  api.context_set(context);
  std::ifstream in(options.records, std::ios::binary);
  gpu::LaunchRecord record;
  for (std::uint64_t number = 0; record.read(in); ++number) {
    if (number < first || number % options.parts != options.part) continue;
    if (!options.target.empty()) set_target(record.ptx, options.target);
    alarm(seconds_per_launch);
    Answer const answer = replay(record);
    alarm(0);
    std::printf("%llu,%s,%s\n", static_cast<unsigned long long>(number), answer.result.c_str(), answer.what.c_str());
    std::fflush(stdout);
    if (answer.result != "equal" && !options.differences.empty()) {
      auto const base = fmt::format("{}/{}", options.differences, number);
      std::ofstream(base + ".ptx") << record.ptx;
      if (answer.result == "differs") {
        std::ofstream out(base + ".device", std::ios::binary);
        record.write(out);
      }
    }
    if (answer.context_lost) return 2;
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  for (int k = 1; k < argc; ++k) {
    std::string_view const word = argv[k];
    if (word == "--target" && k + 1 < argc)
      options.target = argv[++k];
    else if (word == "--differences" && k + 1 < argc)
      options.differences = argv[++k];
    else if (word == "--part" && k + 1 < argc)
      std::sscanf(argv[++k], "%" SCNu64 "/%" SCNu64, &options.part, &options.parts);
    else
      options.records = word;
  }
  if (options.records.empty() || options.part >= options.parts) {
    std::fputs("usage: gpu_replay [--target sm_XX] [--differences DIR] [--part K/N] RECORDS\n", stderr);
    return 2;
  }
  if (!options.differences.empty()) std::filesystem::create_directories(options.differences);
  // The child's lines pass through here: the last one says where to go on.
  std::uint64_t next = 0, differing = 0;
  for (;;) {
    int ends[2];
    if (pipe(ends) != 0) return 1;
    std::fflush(stdout);
    pid_t const process = fork();
    if (process == 0) {
      close(ends[0]);
      dup2(ends[1], STDOUT_FILENO);
      int const status = child(options, next);
      std::fflush(stdout);
      _exit(status);
    }
    close(ends[1]);
    std::FILE* const lines = fdopen(ends[0], "r");
    for (char line[512]; std::fgets(line, sizeof line, lines);) {
      std::fputs(line, stdout);
      next = std::strtoull(line, nullptr, 10) + 1;
      std::string_view const text = line;
      differing += text.find(",differs,") != text.npos || text.find(",failed,") != text.npos;
    }
    std::fclose(lines);
    int status = 0;
    while (waitpid(process, &status, 0) < 0 && errno == EINTR) {
    }
    if (WIFEXITED(status) && WEXITSTATUS(status) == skipped) {
      std::puts("there is no CUDA device");
      return skipped;
    }
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) break;
    if (WIFSIGNALED(status)) {  // it never ended, or the driver fell
      std::printf("%llu,failed,signal %d\n", static_cast<unsigned long long>(next), WTERMSIG(status));
      ++next;
      ++differing;
    }
  }
  return differing ? 1 : 0;
}
