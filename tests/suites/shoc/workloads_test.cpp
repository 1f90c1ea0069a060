// Every workload at its small size with all groups: OpenCL C and CUDA C++ on the emulator, OpenCL C on an OpenCL device
// where one is installed, each against the host reference.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "base/process/process.hpp"
#include "catch.hpp"
#include "references.hpp"

using namespace kernelcast;
using namespace kernelcast::suites;

namespace {

std::string const suite = KERNELCAST_SOURCE_DIR "/bench-suites/shoc/";

// Without the compilers that only count registers.
launch::Plan read_plan(std::string const& path, std::vector<std::string> const& sets = {}) {
  launch::Plan plan = launch::read_launch_file(path, {}, sets);
  plan.request.registers.clear();
  return plan;
}

Buffers emulate_all(launch::Plan const& plan) {
  return emulate(plan, std::max(1u, std::thread::hardware_concurrency()));
}

void expect_right(std::string const& workload, unsigned bytes, launch::Plan const& plan, Buffers const& before,
                  Buffers const& after, std::string const& where) {
  Verdict const verdict = judge_shoc(workload, bytes, plan, before, after);
  INFO(plan.case_name << " " << where << ": " << verdict.mismatch << ", worst error " << verdict.worst
                      << " of what is allowed");
  CHECK(verdict.equal);
}

// The element of largest magnitude, changed by a thousandth, or an integer by one.
template <class T>
void spoil_element(std::vector<std::byte>& bytes) {
  std::vector<T> values(bytes.size() / sizeof(T));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  auto const largest =
      std::ranges::max_element(values, {}, [](T value) { return std::abs(static_cast<double>(value)); });
  if constexpr (std::is_floating_point_v<T>)
    *largest *= static_cast<T>(1.001);
  else
    *largest ^= 1;
  std::memcpy(bytes.data(), values.data(), bytes.size());
}

// A judge that lets a wrong result pass is worth nothing: every buffer that the run changed is spoiled in one element.
void expect_spoiled_results_refused(std::string const& workload, unsigned bytes, launch::Plan const& plan,
                                    Buffers const& before, Buffers const& after) {
  for (auto const& buffer : plan.buffers) {
    if (before.at(buffer.name) == after.at(buffer.name)) continue;
    Buffers spoiled = after;
    auto& content = spoiled.at(buffer.name);
    if (buffer.element == launch::Element::f32)
      spoil_element<float>(content);
    else if (buffer.element == launch::Element::f64)
      spoil_element<double>(content);
    else
      spoil_element<std::int32_t>(content);
    INFO(plan.case_name << ", buffer " << buffer.name << " spoiled");
    CHECK_FALSE(judge_shoc(workload, bytes, plan, before, spoiled).equal);
  }
}

class WithoutToolkit {
 public:
  WithoutToolkit() { setenv("KERNELCAST_NO_CUDA", "1", 1); }
  ~WithoutToolkit() { unsetenv("KERNELCAST_NO_CUDA"); }
};

// The precisions are sets of the launch file; "" where it has none.
void check(std::string const& workload, std::string const& file, std::vector<std::string> const& precisions) {
  for (auto const& precision : precisions) {
    unsigned const bytes = precision == "dp" ? 8 : 4;
    std::vector<std::string> sets{"small"};
    if (!precision.empty()) sets.push_back(precision);
    launch::Plan const opencl = read_plan(suite + file + ".toml", sets);
    Buffers const before = initial_buffers(opencl), after = emulate_all(opencl);
    expect_right(workload, bytes, opencl, before, after, "OpenCL, emulator");
    expect_spoiled_results_refused(workload, bytes, opencl, before, after);
    sets.emplace_back("cuda");
    launch::Plan const cuda = read_plan(suite + file + ".toml", sets);
    expect_right(workload, bytes, cuda, before, emulate_all(cuda), "CUDA, emulator");
    {
      WithoutToolkit const scope;
      expect_right(workload, bytes, cuda, before, emulate_all(cuda), "CUDA without a toolkit, emulator");
    }
    if (!opencl_device()) continue;
    auto const run =
        run_opencl(source_text(opencl), opencl_options(opencl) + " -I " + suite, before, opencl_launches(opencl));
    expect_right(workload, bytes, opencl, before, run.buffers, run.device);
  }
}

void check_both(std::string const& workload) {
  check(workload, workload, {"sp", "dp"});
}
void check_one(std::string const& workload) {
  check(workload, workload, {""});
}

bool has_set(std::filesystem::path const& file, std::string const& name) {
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);)
    if (line.starts_with(name + " = {")) return true;
  return false;
}

}  // namespace

// The messages of RFC 1321, appendix A.5.
TEST_CASE("md5 gives the published digests") {
  struct Vector {
    std::string message, digest;
  };
  std::vector<Vector> const vectors{
      {"", "d41d8cd98f00b204e9800998ecf8427e"},
      {"a", "0cc175b9c0f1b6a831c399e269772661"},
      {"abc", "900150983cd24fb0d6963f7d28e17f72"},
      {"message digest", "f96b697d7cb7938d525a2f31aaf161d0"},
      {"abcdefghijklmnopqrstuvwxyz", "c3fcd3d76192e4007dfb496cca67e13b"},
      {"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789", "d174ab98d277d9f5a5611c2c9f419d9f"},
      {"12345678901234567890123456789012345678901234567890123456789012345678901234567890",
       "57edf4a22be3c955ac49da2e2107b67a"}};
  std::string text;
  std::vector<std::uint32_t> starts{0}, wanted;
  for (auto const& [message, digest] : vectors) {
    text += message;
    starts.push_back(static_cast<std::uint32_t>(text.size()));
    for (std::size_t word = 0; word < 4; ++word) {
      std::uint32_t value = 0;
      for (std::size_t byte = 0; byte < 4; ++byte)
        value |= static_cast<std::uint32_t>(std::stoul(digest.substr(8 * word + 2 * byte, 2), nullptr, 16))
                 << (8 * byte);
      wanted.push_back(value);
    }
    auto const host = md5({reinterpret_cast<std::uint8_t const*>(message.data()), message.size()});
    CHECK(std::vector(host.begin(), host.end()) == std::vector(wanted.end() - 4, wanted.end()));
  }
  TemporaryFolder const place;
  auto const& folder = place.path();
  std::ofstream(folder / "text", std::ios::binary) << text;
  std::ofstream(folder / "starts", std::ios::binary)
      .write(reinterpret_cast<char const*>(starts.data()), static_cast<std::streamsize>(4 * starts.size()));
  for (char const* suffix : {"cl", "cu"}) {
    auto const path = folder / fmt::format("{}.toml", suffix);
    std::ofstream(path) << fmt::format(
        "file = '{}md5hash.{}'\n[buffers]\ntext = 'u8:{}:file=text'\nstarts = 'u32:{}:file=starts'\n"
        "digests = 'u32:{}:zero'\n[[launch]]\nkernel = 'md5_messages'\nglobal = [32]\nlocal = [32]\n"
        "args = ['text', 'starts', 'digests', 'u32:{}']\n",
        suite, suffix, text.size(), starts.size(), wanted.size(), vectors.size());
    launch::Plan const plan = read_plan(path.string());
    CHECK(elements<std::uint32_t>(emulate(plan, 1), "digests") == wanted);
    if (suffix != std::string("cl") || !opencl_device()) continue;
    auto const run = run_opencl(source_text(plan), "", initial_buffers(plan), opencl_launches(plan));
    CHECK(elements<std::uint32_t>(run.buffers, "digests") == wanted);
  }
}

// What users run: groups from all over the grid of each launch, at SHOC's default size.
TEST_CASE("the default sizes run") {
  std::size_t run = 0;
  for (auto const& entry : std::filesystem::directory_iterator(suite)) {
    if (entry.path().extension() != ".toml") continue;
    for (std::string const precision : {"", "dp"}) {
      if (!precision.empty() && !has_set(entry.path(), precision)) continue;
      std::vector<std::string> sets{"s1"};
      if (!precision.empty()) sets.push_back(precision);
      launch::RunOptions options;
      options.threads = std::max(1u, std::thread::hardware_concurrency());
      INFO(entry.path() << " " << precision);
      auto const report = launch::run(read_plan(entry.path().string(), sets), options);
      for (auto const& row : report.rows) CHECK(row.groups_emulated >= 1);
      ++run;
    }
  }
  CHECK(run == 24);
}

TEST_CASE("bfs") {
  check_one("bfs");
}
TEST_CASE("device_memory") {
  check_one("device_memory");
}
TEST_CASE("fft") {
  check_both("fft");
}
TEST_CASE("gemm") {
  check_both("gemm");
}
TEST_CASE("maxflops") {
  check_both("maxflops");
}
TEST_CASE("md") {
  check_both("md");
}
TEST_CASE("md through textures") {
  check("md", "md_texture", {"sp"});
}
TEST_CASE("md5hash") {
  check_one("md5hash");
}
TEST_CASE("reduction") {
  check_both("reduction");
}
TEST_CASE("s3d") {
  check_both("s3d");
}
TEST_CASE("scan") {
  check_both("scan");
}
TEST_CASE("sort") {
  check_one("sort");
}
TEST_CASE("spmv") {
  check_both("spmv");
}
TEST_CASE("stencil2d") {
  check_both("stencil2d");
}
TEST_CASE("triad") {
  check_one("triad");
}
