#include "runtimes/attach/text.hpp"

#include <algorithm>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/process/shell_words.hpp"
#include "kernels/frontend/source_kind.hpp"

namespace kernelcast::attach {

std::string hash_of(std::string_view text) {
  char out[17];
  std::snprintf(out, sizeof out, "%016llx", static_cast<unsigned long long>(XXH3_64bits(text.data(), text.size())));
  return out;
}

std::string program_name(std::string_view text, std::string_view ending) {
  return "program-" + hash_of(text) + std::string(ending);
}

std::string toml_string(std::string_view text) {
  std::string out = "\"";
  for (char const c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      char code[8];
      std::snprintf(code, sizeof code, "\\u%04x", static_cast<unsigned>(static_cast<unsigned char>(c)));
      out += code;
    } else {
      out += c;
    }
  }
  return out + '"';
}

std::string hex(std::vector<std::byte> const& bytes) {
  static constexpr char digits[] = "0123456789abcdef";
  std::string out = "hex:";
  for (auto const byte : bytes) {
    out += digits[std::to_integer<unsigned>(byte) >> 4];
    out += digits[std::to_integer<unsigned>(byte) & 15];
  }
  return out;
}

namespace {

// Folders named relative to where the application runs.
std::string absolute(std::string const& folder) {
  char path[PATH_MAX];
  return realpath(folder.c_str(), path) ? std::string(path) : folder;
}

}  // namespace

std::vector<std::string> options_of(std::string const& text) {
  std::vector<std::string> out;
  auto const words = shell_words(text);
  for (std::size_t i = 0; i < words.size(); ++i) {
    auto const& word = words[i];
    if (word == "-I" && i + 1 < words.size())
      out.push_back("-I" + absolute(words[++i]));
    else if (word.starts_with("-I"))
      out.push_back("-I" + absolute(word.substr(2)));
    else if (word == "-D" && i + 1 < words.size())
      out.push_back("-D" + words[++i]);
    else if (word.starts_with("-D") || word.starts_with("-U") || word.starts_with("-cl-std=") ||
             word == "-cl-single-precision-constant" || word == "-cl-fast-relaxed-math" || word == "-cl-mad-enable" ||
             word == "-cl-unsafe-math-optimizations" || word == "-cl-finite-math-only" ||
             word == "-cl-no-signed-zeros" || word == "-cl-denorms-are-zero" || word == "-cl-opt-disable" ||
             word.starts_with(frontend::spirv_constants))
      out.push_back(word);
  }
  out.push_back("-I" + absolute("."));
  return out;
}

void add_constant(std::string& constants, std::uint32_t id, std::size_t bytes, void const* value) {
  std::uint64_t bits = 0;
  bytes = std::min(bytes, sizeof bits);
  std::memcpy(&bits, value, bytes);
  constants += std::to_string(id) + ":i" + std::to_string(8 * bytes) + ':' + std::to_string(bits) + ' ';
}

std::string options_with(std::string const& options, std::string const& constants) {
  if (constants.empty()) return options;
  return options + " \"" + std::string(frontend::spirv_constants) + constants.substr(0, constants.size() - 1) + '"';
}

}  // namespace kernelcast::attach
