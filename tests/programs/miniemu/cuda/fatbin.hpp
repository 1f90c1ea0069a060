// A fat binary that holds one PTX text, in each of the forms that nvcc writes; see design facts in
// kernels/cuda/fatbin.hpp.
#pragma once

#include <elf.h>
#include <lz4.h>
#include <zstd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

enum class Packing { plain, lz4, zstd };

struct FatbinEntryOfTest {
  std::string ptx;
  std::uint32_t sm;
  Packing packing;
};

inline std::vector<char> fatbin_of(std::vector<FatbinEntryOfTest> const& entries) {
  std::vector<char> body;
  for (auto const& entry : entries) {
    std::string const text = entry.ptx + '\0';
    std::vector<char> payload(text.begin(), text.end());
    std::uint32_t compressed = 0;
    std::uint64_t flags = 0;
    if (entry.packing == Packing::lz4) {
      payload.resize(static_cast<std::size_t>(LZ4_compressBound(static_cast<int>(text.size()))));
      compressed = static_cast<std::uint32_t>(LZ4_compress_default(
          text.data(), payload.data(), static_cast<int>(text.size()), static_cast<int>(payload.size())));
      flags = 0x2000;
    } else if (entry.packing == Packing::zstd) {
      payload.resize(ZSTD_compressBound(text.size()));
      compressed =
          static_cast<std::uint32_t>(ZSTD_compress(payload.data(), payload.size(), text.data(), text.size(), 3));
      flags = 0x8000;
    }
    if (compressed) payload.resize(compressed);
    payload.resize((payload.size() + 7) / 8 * 8);
    char header[64] = {};
    auto const put = [&](std::size_t at, auto value) { std::memcpy(header + at, &value, sizeof value); };
    put(0, std::uint16_t{1});
    put(4, std::uint32_t{64});
    put(8, std::uint64_t{payload.size()});
    put(16, compressed);
    put(28, entry.sm);
    put(40, flags);
    put(56, std::uint64_t{compressed ? text.size() : 0});
    body.insert(body.end(), header, header + sizeof header);
    body.insert(body.end(), payload.begin(), payload.end());
  }
  std::vector<char> out(16 + body.size());
  std::uint32_t const magic = 0xBA55ED50;
  std::uint16_t const version = 1, head = 16;
  std::uint64_t const bytes = body.size();
  std::memcpy(out.data(), &magic, 4);
  std::memcpy(out.data() + 4, &version, 2);
  std::memcpy(out.data() + 6, &head, 2);
  std::memcpy(out.data() + 8, &bytes, 8);
  std::copy(body.begin(), body.end(), out.begin() + 16);
  return out;
}

// An object of the host, as far as it has device code that is to be linked: nvcc -dc.
inline std::vector<char> object_of(std::vector<char> const& fatbin) {
  static constexpr char names[] = "\0.shstrtab\0__nv_relfatbin";
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_shoff = sizeof header, header.e_shentsize = sizeof(Elf64_Shdr), header.e_shnum = 3, header.e_shstrndx = 1;
  Elf64_Shdr sections[3]{};
  auto const behind = sizeof header + sizeof sections;
  sections[1].sh_name = 1, sections[1].sh_type = SHT_STRTAB;
  sections[1].sh_offset = behind, sections[1].sh_size = sizeof names;
  sections[2].sh_name = 11, sections[2].sh_type = SHT_PROGBITS;
  sections[2].sh_offset = behind + sizeof names, sections[2].sh_size = fatbin.size() + 8;
  std::vector<char> out(behind + sizeof names);
  std::memcpy(out.data(), &header, sizeof header);
  std::memcpy(out.data() + sizeof header, sections, sizeof sections);
  std::memcpy(out.data() + behind, names, sizeof names);
  out.insert(out.end(), fatbin.begin(), fatbin.end());
  out.resize(out.size() + 8);  // zeros, as between two
  return out;
}
