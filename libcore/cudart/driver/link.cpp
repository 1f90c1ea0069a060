#include "cudart/driver/link.hpp"

#include <sys/stat.h>

#include <cstring>
#include <fstream>
#include <iterator>

#include "cuda/fatbin.hpp"
#include "ptx/link.hpp"
#include "ptx/parser.hpp"

namespace kernelcast::driver {

Code add_part(Link& link, PartKind kind, void const* data, std::size_t size, char const* name,
              std::uint32_t capability) {
  std::string_view const bytes(static_cast<char const*>(data), size);
  std::string text;
  if (bytes.starts_with(fatbin::magic)) {
    auto found = fatbin::ptx_of(data, capability);
    if (!found) return Code::no_kernel_image_for_device;
    text = std::move(found->text);
  } else if (bytes.starts_with("!<arch>\n")) {
    return Code::success;
  } else if (bytes.starts_with("\177ELF") || kind > PartKind::ptx) {
    return cudart::unsupported("linking machine code, or objects without PTX,");
  } else {
    text = bytes.substr(0, bytes.find('\0'));
  }
  link.parts.push_back(ptx::parse(std::move(text), name ? name : "a part that is linked"));
  return Code::success;
}

void complete(Link& link) {
  if (link.parts.size() == 1)
    link.linked = link.parts[0]->text;
  else
    link.linked = ptx::link(std::move(link.parts));
  link.parts.clear();
}

std::optional<std::vector<char>> content_of(char const* path) {
  struct stat status{};
  if (!path || stat(path, &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  std::ifstream file(path, std::ios::binary);
  std::vector<char> out{std::istreambuf_iterator<char>(file), {}};
  if (!file) return std::nullopt;
  out.push_back('\0');
  return out;
}

}  // namespace kernelcast::driver
