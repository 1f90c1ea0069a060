// PTX as an ELF file: what libomptarget looks for in it.
#include "kernels/ptx/image.hpp"

#include <elf.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "catch.hpp"
#include "kernels/ptx/parser.hpp"

using namespace kernelcast::ptx;

namespace {

std::string const text = R"(.version 7.0
.target sm_80
.address_size 64
.global .align 1 .b8 odd[3] = {1, 2, 3};
.weak .global .align 8 .u64 k_kernel_environment[3] = {4295098368, 128, generic(odd)};
.visible .const .align 4 .f32 half = 0f3F000000;
.visible .global .align 8 .b8 large[1099511627776];
.weak .entry k() { ret; }
)";

template <class Value>
Value read(std::string const& image, std::uint64_t at) {
  Value out;
  REQUIRE(at + sizeof out <= image.size());
  std::memcpy(&out, image.data() + at, sizeof out);
  return out;
}

struct Found {
  Elf64_Sym symbol;
  Elf64_Shdr section;
};

std::optional<Found> find(std::string const& image, std::string const& name) {
  auto const header = read<Elf64_Ehdr>(image, 0);
  auto const section = [&](unsigned i) { return read<Elf64_Shdr>(image, header.e_shoff + i * sizeof(Elf64_Shdr)); };
  for (unsigned i = 0; i < header.e_shnum; ++i) {
    if (section(i).sh_type != SHT_SYMTAB) continue;
    auto const names = section(section(i).sh_link).sh_offset;
    for (std::uint64_t at = 0; at < section(i).sh_size; at += sizeof(Elf64_Sym)) {
      auto const symbol = read<Elf64_Sym>(image, section(i).sh_offset + at);
      if (image.data() + names + symbol.st_name == name) return Found{symbol, section(symbol.st_shndx)};
    }
  }
  return std::nullopt;
}

}  // namespace

TEST_CASE("an image has the text, and values of variables by their names") {
  auto const image = image_of(*parse(text, "k.ptx"));
  CHECK(texts_in_image(image.data()) == std::vector{text});
  CHECK(read<Elf64_Ehdr>(image, 0).e_flags == 80);
  auto const environment = find(image, "k_kernel_environment");
  REQUIRE(environment);
  CHECK(environment->symbol.st_size == 24);
  CHECK(environment->section.sh_type == SHT_PROGBITS);
  auto const at = environment->section.sh_offset + environment->symbol.st_value;
  CHECK(at % 8 == 0);
  CHECK(read<std::uint64_t>(image, at) == 4295098368);
  CHECK(read<std::uint64_t>(image, at + 8) == 128);
  CHECK(read<std::uint64_t>(image, at + 16) == 0);  // an address
  auto const half = find(image, "half");
  REQUIRE(half);
  CHECK(read<float>(image, half->section.sh_offset + half->symbol.st_value) == 0.5F);
  auto const large = find(image, "large");
  REQUIRE(large);
  CHECK(large->section.sh_type == SHT_NOBITS);
  CHECK(large->symbol.st_size == std::uint64_t{1} << 40);
  auto const kernel = find(image, "k");
  REQUIRE(kernel);
  CHECK(ELF64_ST_TYPE(kernel->symbol.st_info) == STT_FUNC);
  CHECK(!find(image, "unknown"));
}

// As ptxas writes them: a section of each source, whose lines end with zeros.
TEST_CASE("the PTX that ptxas leaves for debuggers is found") {
  auto image = image_of(*parse(text, "k.ptx"));
  auto const begin = image.begin() + static_cast<std::ptrdiff_t>(image.find(".version"));
  std::replace(begin, begin + static_cast<std::ptrdiff_t>(text.size()), '\n', '\0');
  CHECK(texts_in_image(image.data()) == std::vector{text});
}

TEST_CASE("other bytes are no image with PTX") {
  std::string other(sizeof(Elf64_Ehdr), '\0');
  std::memcpy(other.data(), ELFMAG, SELFMAG);
  CHECK(texts_in_image(other.data()).empty());
  CHECK(texts_in_image(text.c_str()).empty());
  CHECK(texts_in_image("").empty());
  auto without = image_of(*parse(text, "k.ptx"));
  auto const name = without.find(".nv_debug_ptx_txt");
  REQUIRE(name != std::string::npos);
  without[name + 1] = 'x';
  CHECK(texts_in_image(without.data()).empty());
}
