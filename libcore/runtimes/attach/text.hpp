// Pieces of text that launch files are made of.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace kernelcast::attach {

std::string hash_of(std::string_view text);  // to name a file by its content: XXH3, 16 digits
std::string program_name(std::string_view text, std::string_view ending);  // in the spool: "program-HASH.ptx"
std::string toml_string(std::string_view text);                            // as TOML has strings
std::string hex(std::vector<std::byte> const&);                            // "hex:0000803f"
// What clang takes of clBuildProgram's options, folders made absolute; vendors' own are dropped.
std::vector<std::string> options_of(std::string const& text);

}  // namespace kernelcast::attach
