// An entry is "kernelcast-frontend 1\n", the hash of the rest, then fields: numbers as 8 bytes, little end first, texts
// with their length before them.
#include "frontend/cache.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "diag/diag.hpp"
#include "process/process.hpp"

namespace kernelcast::frontend {
namespace {

constexpr std::string_view magic = "kernelcast-frontend 1\n";
constexpr std::string_view suffix = ".kernel";

class Packer {
 public:
  void operator()(std::uint64_t v) {
    for (int i = 0; i < 8; ++i) text_.push_back(static_cast<char>(v >> (8 * i)));
  }
  void operator()(std::string const& v) {
    (*this)(std::uint64_t{v.size()});
    text_ += v;
  }
  std::string const& text() const { return text_; }

 private:
  std::string text_;
};

struct Damaged {};

class Unpacker {
 public:
  explicit Unpacker(std::string_view text) : text_(text) {}
  void operator()(std::uint64_t& v) {
    auto const bytes = take(8);
    v = 0;
    for (std::size_t i = 0; i < 8; ++i) v |= std::uint64_t{static_cast<unsigned char>(bytes[i])} << (8 * i);
  }
  void operator()(std::string& v) {
    std::uint64_t size = 0;
    (*this)(size);
    v = take(size);
  }
  bool at_end() const { return text_.empty(); }

 private:
  std::string_view take(std::uint64_t n) {
    if (n > text_.size()) throw Damaged{};
    auto const result = text_.substr(0, n);
    text_.remove_prefix(n);
    return result;
  }
  std::string_view text_;
};

// Each `visit` names the fields of a type once, for packing and unpacking alike.
template <class Archive, class T>
void visit(Archive& archive, std::vector<T>& list);

template <class Archive, class N>
void number(Archive& archive, N& n) {
  auto v = static_cast<std::uint64_t>(n);
  archive(v);
  n = static_cast<N>(v);
}

template <class Archive>
void visit(Archive& archive, std::string& text) {
  archive(text);
}

template <class Archive>
void visit(Archive& archive, std::pair<std::string, std::string>& pair) {
  archive(pair.first);
  archive(pair.second);
}

template <class Archive>
void visit(Archive& archive, std::optional<std::uint64_t>& v) {
  bool present = v.has_value();
  number(archive, present);
  std::uint64_t value = v.value_or(0);
  archive(value);
  v = present ? std::optional(value) : std::nullopt;
}

template <class Archive>
void visit(Archive& archive, std::optional<double>& v) {
  std::optional<std::uint64_t> bits;
  if (v) bits = std::bit_cast<std::uint64_t>(*v);
  visit(archive, bits);
  v = bits ? std::optional(std::bit_cast<double>(*bits)) : std::nullopt;
}

template <class Archive>
void visit(Archive& archive, Argument& a) {
  archive(a.name);
  archive(a.type_name);
  number(archive, a.kind);
  number(archive, a.bytes);
}

template <class Archive>
void visit(Archive& archive, KernelInfo& k) {
  archive(k.name);
  archive(k.signature);
  visit(archive, k.arguments);
  bool required = k.required_group.has_value();
  number(archive, required);
  auto group = k.required_group.value_or(std::array<std::uint32_t, 3>{});
  for (auto& side : group) number(archive, side);
  k.required_group = required ? std::optional(group) : std::nullopt;
  auto& r = k.registers;
  for (auto* v : {&r.ptx, &r.sm75, &r.vgprs_gfx6, &r.vgprs_gfx90a, &r.vgprs_gfx1030, &r.gprs_cypress})
    visit(archive, *v);
  visit(archive, r.vliw_ops_per_bundle);
  number(archive, k.shared_bytes);
  visit(archive, k.notes);
}

template <class Archive, class T>
void visit(Archive& archive, std::vector<T>& list) {
  std::uint64_t size = list.size();
  archive(size);
  if constexpr (std::is_same_v<Archive, Unpacker>) list.clear();
  for (std::uint64_t i = 0; i < size; ++i) {
    if constexpr (std::is_same_v<Archive, Unpacker>) list.emplace_back();
    visit(archive, list[i]);
  }
}

template <class Archive>
void visit(Archive& archive, CacheEntry& entry) {
  visit(archive, entry.dependencies);
  archive(entry.compiled.ptx);
  visit(archive, entry.compiled.kernels);
  visit(archive, entry.compiled.notes);
}

// Removes the files with this ending that were used longest ago until the rest fits.
void evict(std::string const& folder, std::string_view ending, std::uint64_t limit_bytes) {
  namespace fs = std::filesystem;
  struct File {
    fs::file_time_type used;
    std::uint64_t size_bytes;
    fs::path path;
  };
  std::vector<File> files;
  std::uint64_t total_bytes = 0;
  std::error_code error;
  for (auto const& item : fs::directory_iterator(folder, error)) {
    std::error_code gone;  // another process may evict at the same time
    if (!item.path().filename().string().ends_with(ending)) continue;
    File file{item.last_write_time(gone), item.file_size(gone), item.path()};
    if (gone) continue;
    total_bytes += file.size_bytes;
    files.push_back(std::move(file));
  }
  if (total_bytes <= limit_bytes) return;
  std::sort(files.begin(), files.end(), [](auto const& a, auto const& b) { return a.used < b.used; });
  for (auto const& file : files) {
    if (total_bytes <= limit_bytes) break;
    fs::remove(file.path, error);
    total_bytes -= file.size_bytes;
  }
}

// Written beside and renamed. Returns why it could not be; empty when it was.
std::string write_whole(std::string const& folder, std::string const& file, std::string_view text) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return fmt::format("the cache {} cannot be made: {}", folder, error.message());
  std::string beside = folder + "write-XXXXXX";
  int const fd = mkstemp(beside.data());
  if (fd < 0) return fmt::format("the cache {} cannot be written: {}", folder, std::strerror(errno));
  close(fd);
  try {
    write_file(beside, text);
  } catch (Error const& problem) {
    unlink(beside.c_str());
    return fmt::format("the cache {} cannot be written: {}", folder, problem.what());
  }
  if (rename(beside.c_str(), (folder + file).c_str()) == 0) return {};
  std::string const reason = std::strerror(errno);
  unlink(beside.c_str());
  return fmt::format("the cache {} cannot be written: {}", folder, reason);
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

std::optional<CacheEntry> read_entry(std::string const& folder, std::string const& key) {
  std::string const path = folder + key + std::string(suffix);
  std::string text;
  try {
    if (access(path.c_str(), R_OK) != 0) return std::nullopt;
    text = read_file(path);
  } catch (Error const&) {
    return std::nullopt;
  }
  std::string_view rest = text;
  if (rest.substr(0, magic.size()) != magic) return std::nullopt;
  rest.remove_prefix(magic.size());
  if (rest.size() < 32 || content_hash(rest.substr(32)) != rest.substr(0, 32)) return std::nullopt;
  CacheEntry entry;
  try {
    Unpacker unpack(rest.substr(32));
    visit(unpack, entry);
    if (!unpack.at_end()) return std::nullopt;
  } catch (Damaged const&) {
    return std::nullopt;
  }
  for (auto const& [dependency, hash] : entry.dependencies)
    if (file_hash(dependency) != hash) return std::nullopt;
  utimensat(AT_FDCWD, path.c_str(), nullptr, 0);  // used now; a read-only cache keeps its order
  entry.compiled.from_cache = true;
  return entry;
}

std::string write_entry(std::string const& folder, std::string const& key, CacheEntry const& entry,
                        std::uint64_t size_limit_bytes) {
  Packer pack;
  auto copy = entry;  // `visit` serves both directions and so takes a mutable entry
  visit(pack, copy);
  auto problem =
      write_whole(folder, key + std::string(suffix), std::string(magic) + content_hash(pack.text()) + pack.text());
  if (problem.empty()) evict(folder, suffix, size_limit_bytes);
  return problem;
}

std::string keep_source(std::string_view text, std::string_view suffix_of_source) {
  if (cache_folder().empty()) return {};
  std::string const folder = cache_folder() + "sources/";
  std::string const name = content_hash(text) + std::string(suffix_of_source);
  if (file_hash(folder + name) == content_hash(text)) {
    utimensat(AT_FDCWD, (folder + name).c_str(), nullptr, 0);
    return folder + name;
  }
  if (!write_whole(folder, name, text).empty()) return {};
  evict(folder, suffix_of_source, text_size_limit_bytes);
  return folder + name;
}

std::string read_text(std::string const& folder, std::string const& name) {
  std::string const path = folder + name;
  std::string text;
  try {
    if (access(path.c_str(), R_OK) != 0) return {};
    text = read_file(path);
  } catch (Error const&) {
    return {};
  }
  if (text.size() < 33 || content_hash(std::string_view(text).substr(33)) != text.substr(0, 32)) return {};
  utimensat(AT_FDCWD, path.c_str(), nullptr, 0);
  return text.substr(33);
}

std::string write_text(std::string const& folder, std::string const& name, std::string_view text,
                       std::uint64_t size_limit_bytes) {
  auto problem = write_whole(folder, name, content_hash(text) + '\n' + std::string(text));
  if (problem.empty()) evict(folder, std::string(std::filesystem::path(name).extension()), size_limit_bytes);
  return problem;
}

}  // namespace kernelcast::frontend
