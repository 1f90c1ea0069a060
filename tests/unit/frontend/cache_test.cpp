// The cache: equal results, stale and damaged entries, read-only folders, eviction.
#include "frontend/cache.hpp"

#include <unistd.h>

#include <fstream>

#include "catch.hpp"
#include "scratch.hpp"

using namespace kernelcast;
using namespace kernelcast::frontend;
namespace fs = std::filesystem;

namespace {

std::vector<fs::path> entries(std::string const& root) {
  std::vector<fs::path> result;
  std::error_code error;
  for (auto const& item : fs::directory_iterator(root + "/kernelcast", error))
    if (item.path().extension() == ".kernel") result.push_back(item.path());
  return result;
}

bool same(KernelInfo const& a, KernelInfo const& b) {
  auto const same_arguments = [](Argument const& x, Argument const& y) {
    return x.name == y.name && x.type_name == y.type_name && x.kind == y.kind && x.bytes == y.bytes;
  };
  auto const& r = a.registers;
  auto const& s = b.registers;
  return a.name == b.name && a.signature == b.signature &&
         std::equal(a.arguments.begin(), a.arguments.end(), b.arguments.begin(), b.arguments.end(), same_arguments) &&
         a.required_group == b.required_group && a.shared_bytes == b.shared_bytes && a.notes == b.notes &&
         r.ptx == s.ptx && r.sm75 == s.sm75 && r.vgprs_gfx6 == s.vgprs_gfx6 && r.vgprs_gfx90a == s.vgprs_gfx90a &&
         r.vgprs_gfx1030 == s.vgprs_gfx1030 && r.gprs_cypress == s.gprs_cypress &&
         r.vliw_ops_per_bundle == s.vliw_ops_per_bundle;
}

CacheEntry entry_of(std::string const& ptx) {
  CacheEntry entry;
  entry.compiled.ptx = ptx;
  return entry;
}

}  // namespace

TEST_CASE("a cached start gives the same as the first") {
  if (!has_opencl()) SKIP_BECAUSE("clang-19 or libclc-19 is not installed");
  TemporaryFolder const root;
  Environment const cache("XDG_CACHE_HOME", root.path().string());
  Request const request{.path = data("arguments.cl"), .options = {}};
  auto const first = compile_text(request);
  CHECK_FALSE(first.from_cache);
  auto const second = compile_text(request);
  CHECK(second.from_cache);
  CHECK(second.ptx == first.ptx);
  CHECK(second.notes == first.notes);
  REQUIRE(second.kernels.size() == first.kernels.size());
  for (std::size_t i = 0; i < first.kernels.size(); ++i) CHECK(same(first.kernels[i], second.kernels[i]));
  REQUIRE(entries(root.path().string()).size() == 1);

  SECTION("another option is another entry") {
    CHECK_FALSE(compile_text({.path = data("arguments.cl"), .options = {"-DX=1"}, .registers = false}).from_cache);
    CHECK(entries(root.path().string()).size() == 2);
  }
  SECTION("a damaged entry is ignored and written anew") {
    auto const path = entries(root.path().string())[0].string();
    auto text = read_file(path);
    text[text.size() / 2] ^= 1;
    write_file(path, text);
    auto const third = compile_text(request);
    CHECK_FALSE(third.from_cache);
    CHECK(third.ptx == first.ptx);
    write_file(path, text.substr(0, text.size() / 3));
    CHECK_FALSE(compile_text(request).from_cache);
    CHECK(compile_text(request).from_cache);
  }
}

TEST_CASE("a changed header makes an entry stale") {
  if (!has_opencl()) SKIP_BECAUSE("clang-19 or libclc-19 is not installed");
  TemporaryFolder const root;
  Environment const cache("XDG_CACHE_HOME", root.path().string());
  fs::create_directories(root.file("in a folder"));
  auto const header = root.file("in a folder/h.h"), source = root.file("in a folder/k.cl");
  write_file(header, "#define VALUE 111\n");
  write_file(source, "#include \"h.h\"\n__kernel void k(__global int *p) { *p = VALUE; }\n");
  Request const request{.path = source, .options = {}, .registers = false};
  CHECK_THAT(compile_text(request).ptx, Contains("111"));
  CHECK(compile_text(request).from_cache);
  write_file(header, "#define VALUE 222\n");
  auto const after = compile_text(request);
  CHECK_FALSE(after.from_cache);
  CHECK_THAT(after.ptx, Contains("222"));
}

TEST_CASE("a cache that cannot be written is a note, not an error") {
  TemporaryFolder const root;
  write_file(root.file("file"), "not a folder");
  Environment const cache("XDG_CACHE_HOME", root.file("file"));
  auto const compiled = compile_text({.path = data("add.ptx"), .options = {}, .registers = false});
  REQUIRE(compiled.notes.size() == 1);
  CHECK_THAT(compiled.notes[0], Contains("cache"));
  CHECK(compiled.kernels.size() == 1);
}

TEST_CASE("without the cache nothing is written") {
  TemporaryFolder const root;
  Environment const cache("XDG_CACHE_HOME", root.path().string());
  compile_text({.path = data("add.ptx"), .options = {}, .cache = false, .registers = false});
  CHECK(fs::is_empty(root.path()));
}

TEST_CASE("the entries used longest ago make room") {
  TemporaryFolder const root;
  auto const folder = root.path().string() + "/";
  std::string const kilobyte(1000, 'x');
  for (char const* key : {"a", "b", "c"}) {
    REQUIRE(write_entry(folder, key, entry_of(kilobyte)).empty());
    usleep(20000);
  }
  REQUIRE(read_entry(folder, "a"));  // now b is the oldest
  usleep(20000);
  REQUIRE(write_entry(folder, "d", entry_of(kilobyte), 3600).empty());
  CHECK(read_entry(folder, "a"));
  CHECK_FALSE(read_entry(folder, "b"));
  CHECK(read_entry(folder, "c"));
  CHECK(read_entry(folder, "d"));
}
