// Pieces of text that launch files are made of.
#pragma once

#include <cstddef>
#include <cstdint>
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
// Adds "7:i32:42 " to what -spec-const= takes: a constant of specialisation of SPIR-V and the bits of its value, 1 to 8
// bytes. options_with() gives a program's options with all of them.
void add_constant(std::string& constants, std::uint32_t id, std::size_t bytes, void const* value);
std::string options_with(std::string const& options, std::string const& constants);

}  // namespace kernelcast::attach
