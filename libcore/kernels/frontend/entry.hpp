// Compiled kernels in the cache: one file per request.
//
// An entry's name is a hash of everything known before compiling (source, options, tools, our own version); inside it
// lists the files that the compiler included, each with the hash of its content, so that a changed header makes it
// stale. Limits: a new header that would hide one included earlier (another -I folder first) is not noticed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/cache/cache.hpp"
#include "kernels/frontend/frontend.hpp"

namespace kernelcast::frontend {

inline constexpr CacheLimits entry_limits{std::uint64_t{512} << 20, 65536};

struct CacheEntry {
  std::vector<std::pair<std::string, std::string>> dependencies;  // path, hash of its content
  CompiledText compiled;
};

std::optional<CacheEntry> read_entry(std::string const& folder, std::string const& key);

// The content of an entry's file: what read_entry() takes apart. Empty where the fields do not fit their text.
std::optional<CacheEntry> parse_entry(std::string_view content);

// Returns why it could not be written; empty when it was.
std::string write_entry(std::string const& folder, std::string const& key, CacheEntry const& entry,
                        CacheLimits const& limits = entry_limits);

}  // namespace kernelcast::frontend
