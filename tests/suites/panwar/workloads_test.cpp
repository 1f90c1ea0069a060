// The eight launch files with all groups: the emulator's buffers against the host references, and against those of an
// OpenCL device where one is installed.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <span>
#include <thread>

#include "aes128.hpp"
#include "base/process/process.hpp"
#include "catch.hpp"
#include "plans.hpp"
#include "references.hpp"

using namespace kernelcast;
using namespace kernelcast::suites;

namespace {

std::string const suite = KERNELCAST_SOURCE_DIR "/bench-suites/panwar/";

void expect_equal_to_reference(std::string const& workload, Buffers const& before, Buffers const& after) {
  Verdict const verdict = judge(workload, before, after);
  INFO(workload << ": " << verdict.mismatch << ", worst error " << verdict.worst << " of what is allowed");
  CHECK(verdict.equal);
}

// Two right results in single precision may differ by rounding; everything else must agree bit for bit.
void expect_same(std::string const& workload, launch::Plan const& plan, Buffers const& a, Buffers const& b) {
  bool const rounds = workload.starts_with("matmul") || workload == "nbody";
  for (auto const& buffer : plan.buffers) {
    INFO(workload << ", buffer " << buffer.name);
    CHECK(launch::compare(buffer, a.at(buffer.name), b.at(buffer.name), rounds ? 1e-4 : 0) == "");
  }
}

// The device's result is judged like the emulator's and compared with it: a mistake that reference and emulator share
// would otherwise hide.
void check(std::string const& workload) {
  launch::Plan const plan = launch::read_launch_file(suite + workload + ".toml");
  Buffers const before = initial_buffers(plan);
  Buffers const after = emulate(plan, std::max(1u, std::thread::hardware_concurrency()));
  expect_equal_to_reference(workload, before, after);
  if (!opencl_device()) return;
  OpenClRun const run = run_opencl(source_text(plan), opencl_options(plan), before, opencl_launches(plan));
  INFO("on " << run.device);
  expect_equal_to_reference(workload, before, run.buffers);
  expect_same(workload, plan, after, run.buffers);
}

// A launch of one block with this key and plaintext.
launch::Plan one_block(std::filesystem::path const& folder, AesBlock const& key, AesBlock const& plain) {
  auto const write = [&](char const* name, auto const& bytes) {
    std::ofstream(folder / name, std::ios::binary)
        .write(reinterpret_cast<char const*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  };
  write("keys", swap_rows_and_columns(expand_aes_key(key)));
  write("plain", swap_rows_and_columns(plain));
  std::ofstream(folder / "vector.toml") << "file = '" << suite << "aes.cl'\n"
                                        << "[buffers]\n"
                                        << "plain = 'u8:16:file=plain'\n"
                                        << "cipher = 'u8:16:zero'\n"
                                        << "round_keys = 'u8:176:file=keys'\n"
                                        << "table = 'u8:256:file=" << suite << "aes_table.bin'\n"
                                        << "[[launch]]\n"
                                        << "kernel = 'aes_encrypt'\nglobal = [1, 4]\nlocal = [1, 4]\n"
                                        << "args = ['plain', 'cipher', 'round_keys', 'table', 'i32:1', 'i32:10', "
                                        << "'local:16', 'local:16']\n";
  return launch::read_launch_file((folder / "vector.toml").string());
}

void check_vector(std::string const& appendix, char const* key, char const* plain, char const* cipher) {
  INFO("appendix " << appendix);
  TemporaryFolder const folder;
  launch::Plan const plan = one_block(folder.path(), aes_block(key), aes_block(plain));
  AesBlock const expected = swap_rows_and_columns(aes_block(cipher));
  auto const bytes = std::as_bytes(std::span(expected));
  std::vector<std::byte> const wanted(bytes.begin(), bytes.end());
  CHECK(emulate(plan, 1).at("cipher") == wanted);
  if (opencl_device()) {
    auto const run = run_opencl(source_text(plan), "", initial_buffers(plan), opencl_launches(plan));
    CHECK(run.buffers.at("cipher") == wanted);
  }
}

}  // namespace

TEST_CASE("floyd_warshall: emulator, reference and OpenCL device agree") {
  check("floyd_warshall");
}
TEST_CASE("fast_walsh: emulator, reference and OpenCL device agree") {
  check("fast_walsh");
}
TEST_CASE("matmul_gmem: emulator, reference and OpenCL device agree") {
  check("matmul_gmem");
}
TEST_CASE("matmul_lmem: emulator, reference and OpenCL device agree") {
  check("matmul_lmem");
}
TEST_CASE("reduction: emulator, reference and OpenCL device agree") {
  check("reduction");
}
TEST_CASE("nbody: emulator, reference and OpenCL device agree") {
  check("nbody");
}
TEST_CASE("aes: emulator, reference and OpenCL device agree") {
  check("aes");
}
TEST_CASE("transpose: emulator, reference and OpenCL device agree") {
  check("transpose");
}

TEST_CASE("An OpenCL device gives a second opinion on all eight") {
  if (!opencl_device()) SKIP_BECAUSE("no OpenCL device; pocl-opencl-icd offers one");
  CHECK(opencl_device()->size() > 0);
}

TEST_CASE("The sizes of the comparison with Oclgrind agree with the references") {
  for (char const* workload :
       {"floyd_warshall", "fast_walsh", "matmul_gmem", "matmul_lmem", "reduction", "nbody", "aes", "transpose"}) {
    launch::Plan const plan = launch::read_launch_file(suite + workload + ".toml", {}, {"bench"});
    Buffers const one = emulate(plan, 1);
    expect_equal_to_reference(workload, initial_buffers(plan), one);
    CHECK(emulate(plan, 3) == one);
  }
}

TEST_CASE("The AES kernel gives FIPS 197's published ciphertexts") {
  check_vector("B", "2b7e151628aed2a6abf7158809cf4f3c", "3243f6a8885a308d313198a2e0370734",
               "3925841d02dc09fbdc118597196a0b32");
  check_vector("C.1", "000102030405060708090a0b0c0d0e0f", "00112233445566778899aabbccddeeff",
               "69c4e0d86a7b0430d8cdb78070b4c55a");
}
