// Compiled kernels on disk: one file per request under $XDG_CACHE_HOME/kernelcast (default ~/.cache/kernelcast).
//
// An entry's name is a hash of everything known before compiling (source, options, tools, our own version); inside it
// lists the files that the compiler included, each with the hash of its content, so that a changed header makes it
// stale. Files are written beside and renamed; a damaged, stale or foreign entry is a miss and is written anew. Reading
// an entry renews its time; beyond size_limit_bytes the oldest are removed.
//
// Limits: a new header that would hide one included earlier (another -I folder first) is not noticed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "frontend/frontend.hpp"

namespace kernelcast::frontend {

inline constexpr std::uint64_t cache_size_limit_bytes = std::uint64_t{512} << 20;

struct CacheEntry {
  std::vector<std::pair<std::string, std::string>> dependencies;  // path, hash of its content
  CompiledText compiled;
};

std::string content_hash(std::string_view text);  // XXH3, 128 bits, 32 hexadecimal digits
std::string file_hash(std::string const& path);   // of its content; empty when it cannot be read

// The folder, with a '/' at its end; empty when neither XDG_CACHE_HOME nor HOME names one.
std::string cache_folder();

std::optional<CacheEntry> read_entry(std::string const& folder, std::string const& key);

// Returns why it could not be written; empty when it was.
std::string write_entry(std::string const& folder, std::string const& key, CacheEntry const& entry,
                        std::uint64_t size_limit_bytes = cache_size_limit_bytes);

// A file of this content that has the same path in every run, so that what is compiled from it is found again: for
// sources that come from memory. `suffix` is that of a kernel file. Empty where there is no cache, or none that can be
// written.
std::string keep_source(std::string_view text, std::string_view suffix);

// Texts of others in folders of their own below cache_folder(), with the same manners: one that was damaged or is
// gone is empty; the oldest go beyond a limit.
inline constexpr std::uint64_t text_size_limit_bytes = std::uint64_t{64} << 20;
std::string read_text(std::string const& folder, std::string const& name);
// Returns why it could not be written; empty when it was.
std::string write_text(std::string const& folder, std::string const& name, std::string_view text,
                       std::uint64_t size_limit_bytes = text_size_limit_bytes);

}  // namespace kernelcast::frontend
