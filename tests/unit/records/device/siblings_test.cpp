#include "records/device/siblings.hpp"

#include <cstdlib>
#include <filesystem>

#include "base/process/process.hpp"
#include "base/process/variables.hpp"
#include "catch.hpp"
#include "devdb.hpp"

using namespace kernelcast;

namespace {

// The database with such rows of a user's.
device::DeviceDatabase with(std::string const& rows) {
  TemporaryFolder const folder;
  write_file(folder.file("mine.csv"), rows);
  setenv(variables::devdb_add, folder.file("mine.csv").c_str(), 1);
  struct Unset {
    ~Unset() { unsetenv(variables::devdb_add); }
  } const unset;
  return device::load(KERNELCAST_SOURCE_DIR "/devdb");
}

std::string refusal(std::string const& rows) {
  try {
    with(rows);
  } catch (Error const& error) {
    CHECK(error.status() == Status::bad_data);
    return error.text("x");
  }
  return "accepted";
}

}  // namespace

TEST_CASE("a device that is like another one has what it does not say from it") {
  auto const known = with(
      "device,like,name,compute_units,clock_boost_hz,memory_bytes,peak_bandwidth_bytes_per_s,src_peak\n"
      "mine,a40,My A40,42,870000000,1000000000,347900000000,measured by me\n");
  auto const &mine = known.find("My A40"), &like = known.find("a40");
  CHECK(mine.device == "mine");
  CHECK(mine.like == "a40");
  CHECK(mine.architecture == like.architecture);
  CHECK(mine.rule.max_waves_per_cu == like.rule.max_waves_per_cu);
  CHECK(*mine.lanes == 42 * 128);
  CHECK(*mine.clock_hz == 870e6);
  CHECK_FALSE(mine.clock_base_hz);
  // Half of the units at half of the clock, and half of the bandwidth.
  CHECK(*mine.peak_fp32_flop_per_s == Approx(*like.peak_fp32_flop_per_s / 4));
  CHECK(*mine.measured_bandwidth_bytes_per_s == Approx(*like.measured_bandwidth_bytes_per_s / 2));
  CHECK(*mine.l2_latency_s == Approx(2 * *like.l2_latency_s));
  CHECK(*mine.memory_bytes == 1e9);
  CHECK_FALSE(mine.tdp_w);  // only its data sheet says that
  CHECK(mine.src_peak == "measured by me");
  CHECK(mine.pipes.size() == like.pipes.size());
  CHECK(mine.matrix_rule("mma/f16/f16"));
  CHECK(mine.global_read.at(1) == Approx(like.global_read.at(1) / 2));
  CHECK(mine.assumed.find("peak_fp32_flop_per_s: that of a40 by units and clock") != std::string::npos);
  CHECK(like.residuals.tested(record::ResidualModel::queue) == record::Tested::device);
  CHECK(mine.residuals.tested(record::ResidualModel::queue) == record::Tested::architecture);
}

TEST_CASE("a slice has its part of memory, cache and bandwidth, and is used where it is named") {
  auto const& slice = database().find("a100-3g");
  auto const& whole = database().find("a100");
  CHECK(*slice.compute_units == 42);
  CHECK(*slice.memory_bytes == *whole.memory_bytes / 2);
  CHECK(*slice.peak_bandwidth_bytes_per_s == *whole.peak_bandwidth_bytes_per_s / 2);
  CHECK(*slice.l2_bytes == *whole.l2_bytes / 2);
  CHECK_FALSE(device::is_gpu(slice));
  CHECK(database().choose({"a100-3g"}, device::is_gpu).size() == 1);
  for (auto const* const device : database().choose({}, device::is_gpu)) CHECK(device->share == 1);
}

TEST_CASE("a user changes a figure of a device by a row that is like itself") {
  auto const known = with("device,like,measured_bandwidth_bytes_per_s\nrtx4090,rtx4090,930000000000\n");
  auto const& d = known.find("rtx4090");
  CHECK(*d.measured_bandwidth_bytes_per_s == 930e9);
  CHECK(*d.peak_fp32_flop_per_s == *database().find("rtx4090").peak_fp32_flop_per_s);
  CHECK(d.tdp_w == database().find("rtx4090").tdp_w);
  CHECK(d.name == "GeForce RTX 4090");
  CHECK(known.devices().size() == database().devices().size());
}

TEST_CASE("rows that describe no device are refused with their place") {
  CHECK(refusal("device,like\nmine,a41\n").find("mine.csv:2:1: error: column 'device': 'mine' is to be like 'a41'") !=
        std::string::npos);
  CHECK(refusal("device,like\nmine,\n").find("like no other one needs it") != std::string::npos);
  CHECK(refusal("device,like\na40,a100\n").find("'a40' is there already") != std::string::npos);
  CHECK(refusal("device,like,share\nmine,a40,1.5\n").find("share '1.5' of 'mine'") != std::string::npos);
  CHECK(refusal("device,like,clock\nmine,a40,1\n").find("no column 'clock' of devices") != std::string::npos);
  CHECK(refusal("device,like,tdp_w\nmine,a40,fast\n").find("mine.csv:2:10: error: column 'tdp_w'") !=
        std::string::npos);
  CHECK(refusal("device,like,compute_units\nmine,a40,0\n").find("must be above 0") != std::string::npos);
}

TEST_CASE("the user's configuration folder has devices, too") {
  TemporaryFolder const folder;
  std::filesystem::create_directory(folder.path() / "kernelcast");
  write_file(folder.file("kernelcast/devices.csv"), "device,like\nmine,a40\n");
  char const* const before = std::getenv("XDG_CONFIG_HOME");
  std::string const kept = before ? before : "";
  setenv("XDG_CONFIG_HOME", folder.path().c_str(), 1);
  CHECK(device::user_files() == std::vector<std::string>{folder.file("kernelcast/devices.csv")});
  if (before)
    setenv("XDG_CONFIG_HOME", kept.c_str(), 1);
  else
    unsetenv("XDG_CONFIG_HOME");
}
