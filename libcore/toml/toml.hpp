// TOML as all programs of the suite read it: up to max_description_bytes and 64 levels deep, with errors at their
// place. The only user of the TOML library's parser.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#define TOML_ENABLE_WINDOWS_COMPAT 0
#define TOML_ENABLE_FORMATTERS 0
#include <toml++/toml.h>

#include "diag/diag.hpp"

namespace kernelcast {

class TomlFile {
 public:
  TomlFile() = default;
  // Throws Error(bad_data) with `hint` where the text is not TOML, without where it lies too deep.
  TomlFile(std::string path, std::string text, std::string const& hint);
  // Throws Error(io), which says that `what` ("the launch file") cannot be read, and Error(bad_data).
  static TomlFile read(std::string const& path, std::string const& what, std::string const& hint);

  toml::table const& root() const { return root_; }
  Where where(toml::source_region const& source) const { return {path_, source.begin.line, source.begin.column}; }
  std::string line(std::size_t number) const;  // counted from 1; empty where there is none

 private:
  std::string path_, text_;
  std::vector<std::size_t> lines_;  // where each begins
  toml::table root_;
};

}  // namespace kernelcast
