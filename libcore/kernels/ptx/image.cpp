#include "kernels/ptx/image.hpp"

#include <elf.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>

namespace kernelcast::ptx {

namespace {

constexpr std::string_view section_of_text = ".nv_debug_ptx_txt";

enum Section : std::uint16_t { none, text, initialized, zeroed, symbols, strings, sections };

template <class Value>
std::string_view bytes_of(Value const& value) {
  return {reinterpret_cast<char const*>(&value), sizeof value};
}

std::uint64_t aligned(std::uint64_t at, std::uint64_t to) {
  return to < 2 ? at : (at + to - 1) / to * to;
}

// NVIDIA's files have the architecture there: 80 of sm_80.
std::uint32_t architecture_flags(Module const& module) {
  std::uint32_t out = 0;
  for (auto const target : module.targets)
    if (constexpr std::string_view prefix = "sm_"; target.starts_with(prefix))
      std::from_chars(target.data() + prefix.size(), target.data() + target.size(), out);
  return out;
}

class Image {
 public:
  explicit Image(Module const& module) : module_(module), symbols_(bytes_of(Elf64_Sym{})) {}

  std::string make() {
    for (auto const& function : module_.functions)
      if (function.has_body) add_symbol(function.name, STT_FUNC, text, 0, 0);
    for (auto const& variable : module_.variables)
      if (variable.space == StateSpace::global || variable.space == StateSpace::constant) add(variable);
    Elf64_Ehdr header{};
    std::memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_ident[EI_DATA] = ELFDATA2LSB;
    header.e_ident[EI_VERSION] = header.e_version = EV_CURRENT;
    header.e_type = ET_EXEC;
    header.e_machine = EM_CUDA;
    header.e_flags = architecture_flags(module_);
    header.e_ehsize = sizeof header;
    header.e_shentsize = sizeof(Elf64_Shdr);
    header.e_shnum = sections;
    header.e_shstrndx = strings;
    file_ = bytes_of(header);
    put(text, section_of_text, SHT_PROGBITS, module_.text);
    put(initialized, ".nv.global.init", SHT_PROGBITS, data_);
    put(zeroed, ".nv.global", SHT_NOBITS, {});
    headers_[zeroed].sh_size = zeroed_bytes_;
    put(symbols, ".symtab", SHT_SYMTAB, symbols_);
    headers_[symbols].sh_link = strings;
    headers_[symbols].sh_info = 1;
    headers_[symbols].sh_entsize = sizeof(Elf64_Sym);
    put(strings, ".strtab", SHT_STRTAB, {});
    headers_[strings].sh_size = names_.size();
    file_ += names_;
    file_.resize(aligned(file_.size(), alignof(Elf64_Shdr)));
    header.e_shoff = file_.size();
    std::memcpy(file_.data(), &header, sizeof header);
    return file_.append(bytes_of(headers_));
  }

 private:
  std::uint32_t add_name(std::string_view name) {
    auto const at = names_.size();
    names_.append(name).push_back('\0');
    return static_cast<std::uint32_t>(at);
  }

  void add_symbol(std::string_view name, unsigned char type, Section section, std::uint64_t at, std::uint64_t bytes) {
    symbols_ += bytes_of(Elf64_Sym{add_name(name), static_cast<unsigned char>(ELF64_ST_INFO(STB_GLOBAL, type)),
                                   STV_DEFAULT, section, at, bytes});
  }

  void add(Variable const& variable) {
    if (variable.initializers.empty()) {
      auto const at = aligned(zeroed_bytes_, variable.align);
      zeroed_bytes_ = at + variable.size;
      return add_symbol(variable.name, STT_OBJECT, zeroed, at, variable.size);
    }
    auto const at = aligned(data_.size(), variable.align);
    data_.resize(at + variable.size);
    for (auto const& initial : variable.initializers) {
      bool const address =
          initial.value.kind == Operand::Kind::variable || initial.value.kind == Operand::Kind::function;
      if (!address && initial.offset + initial.bytes <= variable.size)
        std::memcpy(data_.data() + at + initial.offset, &initial.value.value, initial.bytes);
    }
    add_symbol(variable.name, STT_OBJECT, initialized, at, variable.size);
  }

  void put(Section section, std::string_view name, std::uint32_t type, std::string_view content) {
    constexpr std::uint64_t alignment = 16;
    file_.resize(aligned(file_.size(), alignment));
    auto& header = headers_[section];
    header.sh_name = add_name(name);
    header.sh_type = type;
    header.sh_addralign = alignment;
    header.sh_offset = file_.size();
    header.sh_size = content.size();
    file_ += content;
  }

  Module const& module_;
  std::string file_, data_, symbols_, names_ = std::string(1, '\0');
  std::uint64_t zeroed_bytes_ = 0;
  std::array<Elf64_Shdr, sections> headers_{};
};

}  // namespace

std::string image_of(Module const& module) {
  return Image(module).make();
}

std::vector<std::string> texts_in_image(void const* bytes) {
  auto const* const begin = static_cast<char const*>(bytes);
  std::vector<std::string> out;
  Elf64_Ehdr header{};
  if (std::strncmp(begin, ELFMAG, SELFMAG) != 0) return out;
  std::memcpy(&header, begin, sizeof header);
  auto const section = [&](std::size_t i) {
    Elf64_Shdr one;
    std::memcpy(&one, begin + header.e_shoff + i * sizeof one, sizeof one);
    return one;
  };
  if (header.e_machine != EM_CUDA || header.e_shentsize != sizeof(Elf64_Shdr) || header.e_shstrndx >= header.e_shnum)
    return out;
  char const* const names = begin + section(header.e_shstrndx).sh_offset;
  for (std::size_t i = 1; i < header.e_shnum; ++i) {
    auto const one = section(i);
    if (!std::string_view(names + one.sh_name).starts_with(section_of_text)) continue;
    auto& text = out.emplace_back(begin + one.sh_offset, one.sh_size);
    std::replace(text.begin(), text.end(), '\0', '\n');  // which NVIDIA's lines end with
  }
  return out;
}

}  // namespace kernelcast::ptx
