// Inputs of others, which may be anything: read up to a limit, not nested without end, parsed apart where the parser is
// not ours.
#pragma once

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <string>
#include <string_view>

#include "base/diag/diag.hpp"

namespace kernelcast {

// What is read as a whole is refused beyond these sizes, also where it never ends. CSV is read row by row and has
// limits of its own (base/csv/csv.hpp).
inline constexpr std::size_t max_input_bytes = std::size_t{256} << 20;        // kernels, graphs, models, listings
inline constexpr std::size_t max_description_bytes = std::size_t{16} << 20;   // TOML, descriptions of systems
inline constexpr std::size_t max_configuration_bytes = std::size_t{1} << 20;  // --config

// The error about an input beyond a limit.
Error input_too_large(std::string const& file, std::size_t limit_bytes);

// The whole content. Throws Error(bad_data) beyond the limit and Error(io) where reading fails; what the stream throws
// passes.
std::string read_all(std::istream&, std::string const& file, std::size_t limit_bytes = max_input_bytes);

// Throws Error(io) for a pipe with a name in the file system: opening it waits for a writer, which may never come. A
// shell's pipes, which are named below /dev and /proc, have one.
void refuse_named_pipe(std::string const& path);

// Throws Error(bad_data), with its place, where tables, arrays and dotted keys of a TOML text lie more than 64 levels
// deep in each other. Parsers and destructors of trees call themselves for each level, until the stack ends.
void refuse_deep_nesting(std::string_view toml, std::string const& file);

// Runs `work` in a copy of this process: for parsers of others, which a damaged file may crash, or keep busy for ever.
// The copy may take so much more address space and time than it has taken; its messages on standard error are dropped.
// Returns what `work` returns. Throws the Error or std::bad_alloc that `work` throws, and Error(bad_data) that names
// `parser` and `file` where the copy came to no end of its own, Error(io) where `file` is empty: what is read is the
// machine. Error(io), too, where no process can be started.
struct ChildLimits {
  std::uint64_t memory_bytes = std::uint64_t{1} << 30;
  double time_s = 60;
};
std::string in_child(std::string_view parser, std::string const& file, std::function<std::string()> const& work,
                     ChildLimits limits = {});

}  // namespace kernelcast
