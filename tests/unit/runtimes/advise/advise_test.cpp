#include <cstdlib>
#include <filesystem>
#include <set>
#include <string>

#include "base/cache/cache.hpp"
#include "base/process/process.hpp"
#include "catch.hpp"
#include "environment.hpp"
#include "launches.hpp"
#include "runtimes/advise/count.hpp"
#include "runtimes/advise/projections.hpp"

using namespace kernelcast;

namespace {

// A cache of its own for a test.
class OwnCache {
 public:
  std::size_t files(std::string const& ending) const {
    std::size_t count = 0;
    for (auto const& entry : std::filesystem::recursive_directory_iterator(folder_.path()))
      count += entry.path().extension() == ending;
    return count;
  }
  std::string file(std::string const& name) const { return folder_.file(name); }

 private:
  TemporaryFolder folder_;
  Environment cache_{"XDG_CACHE_HOME", folder_.path()};
};

constexpr auto copy_ptx = R"(.version 6.3
.target sm_75
.address_size 64
.visible .entry copy(.param .u64 x, .param .u64 y) {
  .reg .b32 %r<5>;
  .reg .b64 %rd<6>;
  ld.param.u64 %rd1, [x];
  ld.param.u64 %rd2, [y];
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %ntid.x;
  mov.u32 %r3, %tid.x;
  mad.lo.s32 %r4, %r1, %r2, %r3;
  mul.wide.u32 %rd3, %r4, 4;
  add.s64 %rd4, %rd1, %rd3;
  add.s64 %rd5, %rd2, %rd3;
  ld.global.u32 %r1, [%rd4];
  st.global.u32 [%rd5], %r1;
  ret;
}
)";

launch::Plan copy_of(std::string const& path, unsigned n) {
  auto const buffer = "buf:u32:" + std::to_string(n) + ":zero";
  return plain_plan({.path = path, .global = std::to_string(n), .local = "128", .arguments = {buffer, buffer}});
}

advise::CountOptions known_as(std::string identity) {
  advise::CountOptions options;
  options.identity = std::move(identity);
  return options;
}

}  // namespace

TEST_CASE("a launch that was counted is remembered, and equals what was counted") {
  OwnCache const cache;
  write_file(cache.file("copy.ptx"), copy_ptx);
  auto const plan = copy_of(cache.file("copy.ptx"), 4096);
  CHECK_FALSE(advise::recall(plan, known_as("4096")));
  auto const first = advise::count(plan, known_as("4096"));
  CHECK_FALSE(first.from_cache);
  CHECK(first.row.groups_total == 32);
  CHECK(first.row.global_load_bytes == 4 * 4096);
  auto const second = advise::count(plan, known_as("4096"));
  CHECK(second.from_cache);
  CHECK(second.row.inst_total == first.row.inst_total);
  CHECK(second.row.global_footprint_bytes == first.row.global_footprint_bytes);
  CHECK(second.row.global_load_tx == first.row.global_load_tx);
  CHECK(second.row.issues == first.row.issues);
  CHECK(second.row.case_name == first.row.case_name);
  CHECK(second.row.spread_pct == first.row.spread_pct);
}

TEST_CASE("what a launch is known by tells it from others") {
  OwnCache const cache;
  write_file(cache.file("copy.ptx"), copy_ptx);
  auto const plan = copy_of(cache.file("copy.ptx"), 4096);
  advise::count(plan, known_as("4096"));
  CHECK_FALSE(advise::recall(plan, known_as("8192")));
  auto all = known_as("4096");
  all.run.groups = launch::parse_groups("all");
  CHECK_FALSE(advise::recall(plan, all));
  auto with_registers = plan;
  with_registers.request.registers = frontend::register_targets();
  CHECK_FALSE(advise::recall(with_registers, known_as("4096")));
  auto without = known_as("4096");
  without.cache = false;
  CHECK_FALSE(advise::recall(plan, without));
  CHECK_FALSE(advise::count(plan, without).from_cache);
  // Another kernel in the same file.
  std::string other = copy_ptx;
  other.replace(other.find("%tid.x"), 6, "%laneid");
  write_file(cache.file("copy.ptx"), other);
  CHECK_FALSE(advise::recall(plan, known_as("4096")));
}

TEST_CASE("a damaged row is counted anew") {
  OwnCache const cache;
  write_file(cache.file("copy.ptx"), copy_ptx);
  auto const plan = copy_of(cache.file("copy.ptx"), 4096);
  auto const first = advise::count(plan, known_as("4096"));
  for (auto const& entry : std::filesystem::recursive_directory_iterator(cache.file("kernelcast/counts"))) {
    if (!entry.is_regular_file()) continue;
    auto text = read_file(entry.path().string());
    text[text.size() / 2] ^= 1;
    write_file(entry.path().string(), text);
  }
  CHECK_FALSE(advise::recall(plan, known_as("4096")));
  CHECK(advise::count(plan, known_as("4096")).row.inst_total == first.row.inst_total);
  CHECK(advise::recall(plan, known_as("4096")));
}

TEST_CASE("a kept source has one path, and is written again when it was changed") {
  OwnCache const cache;
  auto const path = keep_source("__kernel void f() {}", ".cl");
  CHECK(path.ends_with(".cl"));
  CHECK(read_file(path) == "__kernel void f() {}");
  CHECK(keep_source("__kernel void f() {}", ".cl") == path);
  CHECK(keep_source("__kernel void g() {}", ".cl") != path);
  write_file(path, "something else");
  CHECK(keep_source("__kernel void f() {}", ".cl") == path);
  CHECK(read_file(path) == "__kernel void f() {}");
}

TEST_CASE("kept texts make room for new ones") {
  OwnCache const cache;
  auto const folder = cache.file("texts/");
  std::string const text(1000, 'x');
  constexpr CacheLimits limits{5000, 100};  // less than a text for each sub-folder
  for (int i = 0; i < 200; ++i) CHECK(write_cached(folder, std::to_string(i) + ".csv", text, limits).empty());
  CHECK(cache.files(".csv") <= cache_subfolders);
  CHECK(read_cached(folder, "199.csv") == text);
}

TEST_CASE("projections are in the order of the ranking, those without a time last") {
  OwnCache const cache;
  write_file(cache.file("copy.ptx"), copy_ptx);
  auto const database = device::load(KERNELCAST_SOURCE_DIR "/devdb");
  auto const counted = advise::count(copy_of(cache.file("copy.ptx"), 1 << 20), known_as("1M"));
  auto const all = database.choose({}, device::is_gpu);
  auto const projections = advise::project(counted.row, all);
  REQUIRE(projections.rows.size() == all.size());
  std::set<std::string> devices;
  for (std::size_t i = 0; i < projections.rows.size(); ++i) {
    auto const& row = projections.rows[i];
    devices.insert(row.device);
    CHECK(row.time_s.has_value() == (i < projections.ranking.size()));
    if (!row.time_s) continue;
    CHECK(projections.ranking[i].device == row.device);
    CHECK(*row.time_s == model::queue::Kernel(counted.row).project(database.find(row.device)).time_s);
    if (i > 0) CHECK(*row.time_s >= *projections.rows[i - 1].time_s);
  }
  CHECK(devices.size() == all.size());
}
