// A file is a line that names the format, its length and the hash of the rest; then its name, a line, and the content.
//
// Files lie in sub-folders by the hash of their name, each of which has its share of the limits: a new file makes room
// in its own sub-folder, whose number of files is bounded, so that storing does not become slower as the cache grows.
// What is written goes to a temporary file of the cache first and is renamed; what a killed process leaves there is
// removed by the next one. Once a day everything goes that was not used for a month, also what earlier versions stored
// elsewhere.
#include "base/cache/cache.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/diag/diag.hpp"
#include "base/process/process.hpp"

namespace kernelcast {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t longest_file_bytes = std::uint64_t{1} << 30;  // a longer one is damaged
constexpr auto unused_time = std::chrono::hours(24 * 30), sweep_interval = std::chrono::hours(24);

std::string subfolder(std::string_view name) {
  return fmt::format("{:02x}/", XXH3_64bits(name.data(), name.size()) % cache_subfolders);
}

// A file in a folder of the cache, as a path.
std::string place_of(std::string const& folder, std::string const& name) {
  return folder + subfolder(name) + name;
}

// Where this user's processes write what is renamed when it is whole.
std::string new_files(std::string const& folder) {
  return fmt::format("{}new-{}", folder, geteuid());
}

// Whether the files of a folder belong together.
bool is_set_of_files(std::string const& folder) {
  return folder.starts_with("shim-");
}

// Renews the time of use; a read-only cache keeps its order.
void mark_used(std::string const& path) {
  utimensat(AT_FDCWD, path.c_str(), nullptr, 0);
}

// Removes the files of a sub-folder that were used longest ago until the rest keeps within its share of the limits.
// The newest one stays, however large.
void evict(std::string const& path_of_new, CacheLimits const& limits) {
  struct File {
    timespec used;
    std::uint64_t size_bytes;
    std::string name;
  };
  auto const slash = path_of_new.rfind('/') + 1;
  DIR* const list = opendir(path_of_new.substr(0, slash).c_str());
  if (!list) return;
  std::vector<File> files;
  std::uint64_t total_bytes = 0, left = 0;
  while (auto const* const entry = readdir(list)) {
    struct stat info{};  // another process may evict at the same time
    if (fstatat(dirfd(list), entry->d_name, &info, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(info.st_mode)) continue;
    total_bytes += static_cast<std::uint64_t>(info.st_size);
    ++left;
    if (path_of_new.compare(slash, std::string::npos, entry->d_name) != 0)
      files.push_back({info.st_mtim, static_cast<std::uint64_t>(info.st_size), entry->d_name});
  }
  auto const most = std::max<std::uint64_t>(1, limits.files / cache_subfolders);
  auto const fits = [&] { return total_bytes <= limits.bytes / cache_subfolders && left <= most; };
  if (!fits())
    std::sort(files.begin(), files.end(), [](File const& a, File const& b) {
      return std::pair(a.used.tv_sec, a.used.tv_nsec) < std::pair(b.used.tv_sec, b.used.tv_nsec);
    });
  for (auto file = files.begin(); !fits() && file != files.end(); ++file, --left) {
    unlinkat(dirfd(list), file->name.c_str(), 0);
    total_bytes -= file->size_bytes;
  }
  closedir(list);
}

// What was not used for a month, below a folder, but for sets of files. Empty folders stay: others may be about to
// write there.
void remove_unused(fs::path const& folder, fs::file_time_type since) {
  std::error_code unreadable;
  for (auto const& name : names_in(folder.string(), unreadable)) {
    if (is_set_of_files(name)) continue;
    std::error_code gone;
    auto const path = folder / name;
    auto const type = fs::symlink_status(path, gone).type();
    if (type == fs::file_type::directory) remove_unused(path, since);
    if (type == fs::file_type::regular && fs::last_write_time(path, gone) < since && !gone) fs::remove(path, gone);
  }
}

// Folders whose files belong together have the time of use themselves. One that goes gets another name first, so that
// none is there in part.
void remove_unused_sets(std::string const& root, fs::file_time_type since) {
  std::error_code unreadable;
  for (auto const& name : names_in(root, unreadable)) {
    std::error_code gone;
    if (!is_set_of_files(name) || fs::last_write_time(root + name, gone) >= since || gone) continue;
    try {
      TemporaryFolder const away(new_files(root));
      fs::rename(root + name, away.path() / "set", gone);
    } catch (Error const&) {
      return;
    }
  }
}

// Once a day, by the time of a file.
void sweep(std::string const& root) {
  if (root.empty()) return;
  auto const stamp = root + "swept";
  auto const now = fs::file_time_type::clock::now();
  std::error_code error;
  auto const last = fs::last_write_time(stamp, error);
  if (!error && last > now - sweep_interval && last <= now) return;
  try {
    write_file(stamp, "");
  } catch (Error const&) {
    return;
  }
  remove_unused_sets(root, now - unused_time);
  remove_unused(root, now - unused_time);
}

// Whole or not at all, in place of another. Returns why it could not be; empty when it was.
std::string write_whole(std::string const& folder, std::string const& name, std::string_view text,
                        CacheLimits const& limits) {
  auto const path = place_of(folder, name);
  std::error_code error;
  fs::create_directories(fs::path(path).parent_path(), error);
  if (error) return fmt::format("the cache {} cannot be made: {}", folder, error.message());
  try {
    TemporaryFile made(new_files(folder));
    write_file(made.path(), text);
    made.move_to(path);
  } catch (std::exception const& problem) {
    return fmt::format("the cache {} cannot be written: {}", folder, problem.what());
  }
  evict(path, limits);
  sweep(cache_folder());
  return {};
}

// The format's line, with the length of the file in a fixed number of digits.
constexpr std::string_view magic = "kernelcast-cache 2 ";
constexpr std::size_t length_digits = 16, hash_digits = 32, head_bytes = magic.size() + length_digits + hash_digits + 2;

// What was written under this name; empty where the text is not that, as a whole.
std::optional<std::string> content_of(std::string_view text, std::string_view name) {
  if (text.size() < head_bytes + name.size() + 1 || text.substr(head_bytes, name.size()) != name) return std::nullopt;
  auto const rest = text.substr(head_bytes);
  if (text.substr(0, head_bytes) != fmt::format("{}{:016x} {}\n", magic, text.size(), content_hash(rest)))
    return std::nullopt;
  return std::string(rest.substr(name.size() + 1));
}

// The content of a file that is what was written under this name; empty where it is not there or damaged.
std::optional<std::string> read_whole(std::string const& folder, std::string const& name) {
  remove_abandoned(new_files(folder));  // of killed processes
  auto const path = place_of(folder, name);
  struct stat info{};
  if (lstat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) return std::nullopt;
  auto const bytes = static_cast<std::uint64_t>(info.st_size);
  if (bytes < head_bytes + name.size() + 1 || bytes > longest_file_bytes) return std::nullopt;
  std::string text;
  try {
    text = read_file(path);
  } catch (Error const&) {
    return std::nullopt;
  }
  auto content = content_of(text, name);
  if (content) mark_used(path);
  return content;
}

}  // namespace

std::string content_hash(std::string_view text) {
  auto const h = XXH3_128bits(text.data(), text.size());
  return fmt::format("{:016x}{:016x}", h.high64, h.low64);
}

std::string file_hash(std::string const& path) {
  try {
    return content_hash(read_file(path));
  } catch (Error const&) {
    return {};
  }
}

std::string cache_folder() {
  // The XDG specification has a relative path ignored.
  if (char const* root = std::getenv("XDG_CACHE_HOME"); root && *root == '/') return std::string(root) + "/kernelcast/";
  if (char const* home = std::getenv("HOME"); home && *home == '/') return std::string(home) + "/.cache/kernelcast/";
  return {};
}

std::string cache_file(std::string_view name, std::string_view content) {
  auto const rest = fmt::format("{}\n{}", name, content);
  return fmt::format("{}{:016x} {}\n{}", magic, head_bytes + rest.size(), content_hash(rest), rest);
}

std::string keep_source(std::string_view text, std::string_view suffix_of_source) {
  if (cache_folder().empty()) return {};
  std::string const folder = cache_folder() + "sources/";
  std::string const name = content_hash(text) + std::string(suffix_of_source);
  auto path = place_of(folder, name);
  if (file_hash(path) == content_hash(text))
    mark_used(path);
  else if (!write_whole(folder, name, text, text_limits).empty())
    return {};
  return path;
}

std::string keep_files(std::string const& name, std::function<void(fs::path const&)> const& make) {
  auto const folder = cache_folder() + name;
  std::error_code error;
  if (fs::is_directory(folder, error)) {
    mark_used(folder);
    return folder + '/';
  }
  fs::create_directories(cache_folder(), error);
  try {
    TemporaryFolder const beside(new_files(cache_folder()));
    auto const set = beside.path() / "set";
    fs::create_directory(set);
    make(set);
    fs::rename(set, folder);
    return folder + '/';
  } catch (std::exception const&) {
    return {};
  }
}

std::string read_cached(std::string const& folder, std::string const& name) {
  return read_whole(folder, name).value_or(std::string{});
}

std::string write_cached(std::string const& folder, std::string const& name, std::string_view text,
                         CacheLimits const& limits) {
  return write_whole(folder, name, cache_file(name, text), limits);
}

}  // namespace kernelcast
