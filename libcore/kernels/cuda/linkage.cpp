#include "kernels/cuda/linkage.hpp"

#include <elf.h>

#include <cstring>
#include <fstream>
#include <string_view>
#include <vector>

#include "base/process/process.hpp"

namespace kernelcast::cuda {

namespace {

constexpr std::uint64_t max_bytes = 1 << 24;  // of a table that is read

class Elf {
 public:
  explicit Elf(std::string const& path) : file_(path, std::ios::binary) {
    good_ = read(0, &header_, sizeof header_) && std::memcmp(header_.e_ident, ELFMAG, SELFMAG) == 0 &&
            header_.e_ident[EI_CLASS] == ELFCLASS64 && header_.e_shentsize == sizeof(Elf64_Shdr);
    if (!good_) return;
    sections_ = table<Elf64_Shdr>(header_.e_shoff, header_.e_shnum * sizeof(Elf64_Shdr));
    good_ = !sections_.empty();
  }
  bool good() const { return good_; }

  Elf64_Shdr const* section(std::string_view name) {
    if (header_.e_shstrndx >= sections_.size()) return nullptr;
    auto const names = text(sections_[header_.e_shstrndx]);
    for (auto const& section : sections_)
      if (at(names, section.sh_name) == name) return &section;
    return nullptr;
  }
  bool needs(std::string_view library) {
    for (auto const& section : sections_) {
      if (section.sh_type != SHT_DYNAMIC || section.sh_link >= sections_.size()) continue;
      auto const names = text(sections_[section.sh_link]);
      for (auto const& entry : table<Elf64_Dyn>(section.sh_offset, section.sh_size))
        if (entry.d_tag == DT_NEEDED && at(names, entry.d_un.d_val).starts_with(library)) return true;
    }
    return false;
  }
  std::string text(Elf64_Shdr const& section) {
    auto const bytes = table<char>(section.sh_offset, section.sh_size);
    return {bytes.begin(), bytes.end()};
  }

 private:
  bool read(std::uint64_t offset, void* to, std::uint64_t bytes) {
    file_.clear();
    file_.seekg(static_cast<std::streamoff>(offset));
    return static_cast<bool>(file_.read(static_cast<char*>(to), static_cast<std::streamsize>(bytes)));
  }
  template <class T>
  std::vector<T> table(std::uint64_t offset, std::uint64_t bytes) {
    std::vector<T> out(bytes <= max_bytes ? bytes / sizeof(T) : 0);
    if (!read(offset, out.data(), out.size() * sizeof(T))) out.clear();
    return out;
  }
  static std::string_view at(std::string const& names, std::uint64_t offset) {
    return offset < names.size() ? std::string_view(names.c_str() + offset) : std::string_view();
  }

  std::ifstream file_;
  Elf64_Ehdr header_{};
  std::vector<Elf64_Shdr> sections_;
  bool good_ = false;
};

}  // namespace

Linkage linkage_of(std::string const& program) {
  Elf elf(program.find('/') == std::string::npos ? find_program(program) : program);
  if (!elf.good()) return Linkage::unknown;
  if (elf.needs("libcudart.so")) return Linkage::shared;
  return elf.section(".nv_fatbin") ? Linkage::fixed : Linkage::none;
}

std::string section_of(std::string const& path, std::string_view name) {
  Elf elf(path);
  auto const* const section = elf.good() ? elf.section(name) : nullptr;
  return section ? elf.text(*section) : std::string();
}

}  // namespace kernelcast::cuda
