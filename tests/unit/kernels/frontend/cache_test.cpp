// The cache: equal results, stale and damaged entries, read-only folders, eviction.
#include "kernels/frontend/entry.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <map>

#include <fmt/format.h>

#include "catch.hpp"
#include "scratch.hpp"

using namespace kernelcast;
using namespace kernelcast::frontend;
namespace fs = std::filesystem;

namespace {

std::vector<fs::path> entries(std::string const& root) {
  std::vector<fs::path> result;
  std::error_code error;
  for (auto const& item : fs::recursive_directory_iterator(root, error))
    if (item.path().extension() == ".kernel") result.push_back(item.path());
  return result;
}

bool same(KernelInfo const& a, KernelInfo const& b) {
  auto const same_arguments = [](Argument const& x, Argument const& y) {
    return x.name == y.name && x.type_name == y.type_name && x.kind == y.kind && x.bytes == y.bytes &&
           x.access == y.access && x.qualifiers == y.qualifiers;
  };
  auto const& r = a.registers;
  auto const& s = b.registers;
  return a.name == b.name && a.signature == b.signature &&
         std::equal(a.arguments.begin(), a.arguments.end(), b.arguments.begin(), b.arguments.end(), same_arguments) &&
         a.required_group == b.required_group && a.shared_bytes == b.shared_bytes && a.notes == b.notes &&
         r.ptx == s.ptx && r.ptxas == s.ptxas && r.vgprs_gfx6 == s.vgprs_gfx6 && r.vgprs_gfx90a == s.vgprs_gfx90a &&
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
    CHECK_FALSE(compile_text({.path = data("arguments.cl"), .options = {"-DX=1"}, .registers = {}}).from_cache);
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
  Request const request{.path = source, .options = {}, .registers = {}};
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
  auto const compiled = compile_text({.path = data("add.ptx"), .options = {}, .registers = {}});
  REQUIRE(compiled.notes.size() == 1);
  CHECK_THAT(compiled.notes[0], Contains("cache"));
  CHECK(compiled.kernels.size() == 1);
}

TEST_CASE("without the cache nothing is written") {
  TemporaryFolder const root;
  Environment const cache("XDG_CACHE_HOME", root.path().string());
  compile_text({.path = data("add.ptx"), .options = {}, .cache = false, .registers = {}});
  CHECK(fs::is_empty(root.path()));
}

namespace {

// Names of entries that share a sub-folder, and so its part of the limits.
std::vector<std::string> neighbours(std::size_t count) {
  TemporaryFolder const root;
  auto const folder = root.path().string() + "/";
  std::map<fs::path, std::vector<std::string>> by_folder;
  for (int i = 0;; ++i) {
    auto const key = fmt::format("key{}", i);
    REQUIRE(write_entry(folder, key, entry_of("x")).empty());
    for (auto const& path : entries(folder))
      if (path.stem() == key) {
        auto& keys = by_folder[path.parent_path()];
        keys.push_back(key);
        if (keys.size() == count) return keys;
      }
  }
}

void set_age(fs::path const& path, int hours) {
  fs::last_write_time(path, fs::file_time_type::clock::now() - std::chrono::hours(hours));
}

fs::path entry_named(std::string const& folder, std::string const& key) {
  for (auto const& path : entries(folder))
    if (path.stem() == key) return path;
  FAIL("no entry " << key);
  return {};
}

}  // namespace

TEST_CASE("the entries used longest ago make room") {
  TemporaryFolder const root;
  auto const folder = root.path().string() + "/";
  std::string const kilobyte(1000, 'x');
  auto const keys = neighbours(4);
  for (std::size_t i = 0; i < 3; ++i) {
    REQUIRE(write_entry(folder, keys[i], entry_of(kilobyte)).empty());
    set_age(entry_named(folder, keys[i]), 3 - static_cast<int>(i));
  }
  REQUIRE(read_entry(folder, keys[0]));  // now the next is the oldest
  CacheLimits limits{3600 * cache_subfolders, 1000};
  SECTION("of bytes") {}
  SECTION("of files") {
    limits = {1 << 30, 3 * cache_subfolders};
  }
  REQUIRE(write_entry(folder, keys[3], entry_of(kilobyte), limits).empty());
  CHECK(read_entry(folder, keys[0]));
  CHECK_FALSE(read_entry(folder, keys[1]));
  CHECK(read_entry(folder, keys[2]));
  CHECK(read_entry(folder, keys[3]));
}

TEST_CASE("an entry that is larger than its share is kept all the same") {
  TemporaryFolder const root;
  auto const folder = root.path().string() + "/";
  auto const keys = neighbours(2);
  REQUIRE(write_entry(folder, keys[0], entry_of("x")).empty());
  REQUIRE(write_entry(folder, keys[1], entry_of(std::string(5000, 'x')), {cache_subfolders * 1000, 1000}).empty());
  CHECK(read_entry(folder, keys[1]));
  CHECK(entries(folder).size() == 1);
}

TEST_CASE("however many are stored, the cache keeps within its number of files") {
  TemporaryFolder const root;
  auto const folder = root.path().string() + "/";
  for (int i = 0; i < 300; ++i)
    REQUIRE(write_entry(folder, fmt::format("key{}", i), entry_of("x"), {1 << 30, cache_subfolders}).empty());
  CHECK(entries(folder).size() <= cache_subfolders);
  CHECK(read_entry(folder, "key299"));
}

TEST_CASE("an entry that was changed, cut, lengthened, exchanged or replaced is a miss") {
  TemporaryFolder const root;
  auto const folder = root.path().string() + "/";
  auto const keys = neighbours(2);
  for (auto const& key : keys) REQUIRE(write_entry(folder, key, entry_of("the PTX of " + key)).empty());
  auto const path = entry_named(folder, keys[0]), other = entry_named(folder, keys[1]);
  auto const good = read_file(path.string());
  REQUIRE(read_entry(folder, keys[0]));
  SECTION("any byte") {
    for (std::size_t i = 0; i < good.size(); ++i) {
      auto bad = good;
      bad[i] = static_cast<char>(bad[i] ^ 0x20);
      write_file(path.string(), bad);
      INFO("byte " << i);
      CHECK_FALSE(read_entry(folder, keys[0]));
    }
  }
  SECTION("any length") {
    for (std::size_t length = 0; length < good.size(); ++length) {
      write_file(path.string(), good.substr(0, length));
      INFO("length " << length);
      CHECK_FALSE(read_entry(folder, keys[0]));
    }
    write_file(path.string(), good + "x");
    CHECK_FALSE(read_entry(folder, keys[0]));
  }
  SECTION("another entry") {
    fs::copy_file(other, path, fs::copy_options::overwrite_existing);
    CHECK_FALSE(read_entry(folder, keys[0]));
  }
  SECTION("fields that do not fit, with the right checksum") {
    auto const name = keys[0] + ".kernel";
    auto const content = good.substr(good.find(name + '\n') + name.size() + 1);
    REQUIRE(cache_file(name, content) == good);
    for (auto const& bad : {content.substr(1), content + "x", std::string(content.size(), '\xff'), std::string{}}) {
      CHECK_FALSE(parse_entry(bad));
      write_file(path.string(), cache_file(name, bad));
      CHECK_FALSE(read_entry(folder, keys[0]));
    }
  }
  SECTION("a file of a length that no memory has") {
    fs::resize_file(path, std::uintmax_t{1} << 42);
    CHECK_FALSE(read_entry(folder, keys[0]));
  }
  SECTION("what is not a file") {
    fs::remove(path);
    REQUIRE(mkfifo(path.c_str(), 0600) == 0);
    CHECK_FALSE(read_entry(folder, keys[0]));
  }
  REQUIRE(write_entry(folder, keys[0], entry_of("again")).empty());
  CHECK(read_entry(folder, keys[0])->compiled.ptx == "again");
}

TEST_CASE("what was not used for a month goes, wherever an earlier version stored it") {
  TemporaryFolder const root;
  Environment const cache("XDG_CACHE_HOME", root.path().string());
  auto const folder = cache_folder();
  fs::create_directories(folder + "sources");
  fs::create_directories(folder + "shim-old");
  fs::create_directories(folder + "shim-new");
  constexpr int month_hours = 24 * 31;
  for (std::string const name :
       {"0123.kernel", "write-ab12cd", "sources/4567.cl", "shim-old/shim.bc", "shim-new/shim.bc"}) {
    write_file(folder + name, "old");
    set_age(folder + name, month_hours);
  }
  set_age(folder + "shim-old", month_hours);
  write_file(folder + "89ab.kernel", "of a version that is still used");
  auto const outside = root.file("outside");
  write_file(outside, "not of the cache");
  set_age(outside, month_hours);
  fs::create_symlink(outside, folder + "link");
  fs::create_directory_symlink(root.path(), folder + "folder");
  REQUIRE(write_entry(folder, "key", entry_of("x")).empty());
  for (std::string const gone : {"0123.kernel", "write-ab12cd", "sources/4567.cl", "shim-old"})
    CHECK_FALSE(fs::exists(folder + gone));
  CHECK(fs::exists(folder + "shim-new/shim.bc"));  // a set goes as a whole
  CHECK(fs::exists(folder + "89ab.kernel"));
  CHECK(fs::exists(outside));
  CHECK(read_entry(folder, "key"));

  write_file(folder + "again.kernel", "old");
  set_age(folder + "again.kernel", month_hours);
  REQUIRE(write_entry(folder, "key", entry_of("x")).empty());
  CHECK(fs::exists(folder + "again.kernel"));  // once a day is enough
  set_age(folder + "swept", 25);
  REQUIRE(write_entry(folder, "key", entry_of("x")).empty());
  CHECK_FALSE(fs::exists(folder + "again.kernel"));
}

TEST_CASE("entries are for their user's eyes, and storing leaves nothing else") {
  TemporaryFolder const root;
  auto const folder = root.path().string() + "/";
  REQUIRE(write_entry(folder, "key", entry_of("x")).empty());
  CHECK(fs::status(entry_named(folder, "key")).permissions() == (fs::perms::owner_read | fs::perms::owner_write));
  std::size_t files = 0;
  for (auto const& item : fs::recursive_directory_iterator(root.path())) files += item.is_regular_file();
  CHECK(files == 1);
}
