// Files of ours that are found again: $XDG_CACHE_HOME/kernelcast (default ~/.cache/kernelcast).
//
// Files are written elsewhere and renamed; one that is damaged (its length or checksum differs) or foreign is a miss
// and is written anew. Reading renews the time of use; beyond a limit those go that were used longest ago, and what has
// not been used for a month is removed anyway.
//
// Limits: the limits are kept by each sub-folder for itself, so that the cache may stay somewhat below them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

namespace kernelcast {

struct CacheLimits {
  std::uint64_t bytes, files;
};
inline constexpr unsigned cache_subfolders = 64;  // each has its share of the limits

std::string content_hash(std::string_view text);  // XXH3, 128 bits, 32 hexadecimal digits
std::string file_hash(std::string const& path);   // of its content; empty when it cannot be read

// The folder, with a '/' at its end; empty when neither XDG_CACHE_HOME nor HOME names one.
std::string cache_folder();

// A file as it is written.
std::string cache_file(std::string_view name, std::string_view content);

// A file of this content that has the same path in every run, so that what is compiled from it is found again: for
// sources that come from memory. `suffix` is that of a kernel file. Empty where there is no cache, or none that can be
// written.
std::string keep_source(std::string_view text, std::string_view suffix);

// A folder cache_folder()/NAME of files that belong together: there or made, by `make`, in a folder that gets this name
// when it is complete. With a '/' at its end; empty where it cannot be made.
std::string keep_files(std::string const& name, std::function<void(std::filesystem::path const&)> const& make);

// Texts in folders below cache_folder(): one that was damaged or is gone is empty.
inline constexpr CacheLimits text_limits{std::uint64_t{64} << 20, 65536};
std::string read_cached(std::string const& folder, std::string const& name);
// Returns why it could not be written; empty when it was.
std::string write_cached(std::string const& folder, std::string const& name, std::string_view text,
                         CacheLimits const& limits = text_limits);

}  // namespace kernelcast
