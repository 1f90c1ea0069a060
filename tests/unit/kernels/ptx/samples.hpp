// PTX texts of these tests.
#pragma once

#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>

#include "kernels/ptx/module.hpp"

namespace samples {

inline std::string read(std::filesystem::path const& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

inline std::map<std::string, std::string> all() {
  std::map<std::string, std::string> texts;
  for (auto const& entry : std::filesystem::directory_iterator(KERNELCAST_SOURCE_DIR "/tests/unit/kernels/ptx/data"))
    if (entry.path().extension() == ".ptx") texts[entry.path().filename().string()] = read(entry.path());
  return texts;
}

inline std::string kernel(std::string const& body, std::string const& before = {}) {
  return ".version 8.5\n.target sm_75\n.address_size 64\n" + before + "\n.entry k(.param .u64 p)\n{\n" + body + "\n}\n";
}

}  // namespace samples
