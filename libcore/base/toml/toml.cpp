#include "base/toml/toml.hpp"

#include <filesystem>
#include <fstream>

#include "base/process/input.hpp"

namespace kernelcast {

TomlFile::TomlFile(std::string path, std::string text, std::string const& hint)
    : path_(std::move(path)), text_(std::move(text)) {
  lines_.push_back(0);
  for (auto at = text_.find('\n'); at != std::string::npos; at = text_.find('\n', at + 1)) lines_.push_back(at + 1);
  refuse_deep_nesting(text_, path_);
  try {
    root_ = toml::parse(text_, path_);
  } catch (toml::parse_error const& error) {
    Where const place = where(error.source());
    throw Error(Status::bad_data, place, std::string(error.description()), hint, line(place.line));
  }
}

TomlFile TomlFile::read(std::string const& path, std::string const& what, std::string const& hint) {
  refuse_named_pipe(path);
  std::error_code unknown;
  std::ifstream file(path, std::ios::binary);
  if (!file || std::filesystem::is_directory(path, unknown))
    throw Error(Status::io, Where{path}, "cannot read " + what, "is the name right?");
  return {path, read_all(file, path, max_description_bytes), hint};
}

std::string TomlFile::line(std::size_t number) const {
  if (number == 0 || number > lines_.size()) return {};
  auto const begin = lines_[number - 1];
  return text_.substr(begin, std::min(text_.find('\n', begin), text_.size()) - begin);
}

}  // namespace kernelcast
