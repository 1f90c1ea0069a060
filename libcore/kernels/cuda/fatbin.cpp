#include "kernels/cuda/fatbin.hpp"

#include <elf.h>
#include <lz4.h>
#include <zstd.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <new>
#include <stdexcept>

namespace kernelcast::fatbin {

namespace {

constexpr std::uint16_t kind_ptx = 1;
constexpr std::uint64_t flag_lz4 = 0x2000, flag_zstd = 0x8000;
// Offsets in an entry's header.
constexpr std::size_t kind_at = 0, header_size_at = 4, payload_size_at = 8, compressed_size_at = 16, sm_at = 28,
                      flags_at = 40, raw_size_at = 56, min_header = 64;

template <class T>
T read(std::byte const* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}
template <class T>
void write(std::byte* at, T value) {
  std::memcpy(at, &value, sizeof value);
}

std::runtime_error other_format() {
  return std::runtime_error("its fat binary has another format");
}

constexpr std::uint64_t max_text_bytes = std::uint64_t{256} << 20;
constexpr std::uint64_t max_lz4_ratio = 255;  // LZ4's block format: a byte stands for 255 at most

std::size_t uncompressed_size(std::uint64_t claimed) {
  if (claimed > max_text_bytes) throw other_format();
  return claimed;
}

// Grows with what there is, whatever size is claimed.
std::string text_of_zstd(char const* payload, std::size_t size, std::size_t claimed) {
  std::unique_ptr<ZSTD_DCtx, decltype(&ZSTD_freeDCtx)> const context(ZSTD_createDCtx(), ZSTD_freeDCtx);
  if (!context) throw std::bad_alloc();
  std::string text;
  ZSTD_inBuffer in{payload, size, 0};
  for (std::size_t left = 1; left != 0;) {
    std::size_t const before = text.size();
    text.resize(std::min(claimed, before + std::max(before, ZSTD_DStreamOutSize())));
    ZSTD_outBuffer out{text.data() + before, text.size() - before, 0};
    left = ZSTD_decompressStream(context.get(), &out, &in);
    text.resize(before + out.pos);
    if (ZSTD_isError(left) || (left != 0 && out.pos == 0))
      throw std::runtime_error("its PTX cannot be decompressed (Zstandard)");
  }
  return text;
}

}  // namespace

std::vector<Entry> entries_of(void const* fatbin) {
  auto const* const begin = static_cast<std::byte const*>(fatbin);
  if (std::memcmp(begin, magic.data(), magic.size()) != 0) throw other_format();
  auto const* at = begin + read<std::uint16_t>(begin + 6);
  auto const* const end = at + read<std::uint64_t>(begin + 8);
  std::vector<Entry> out;
  while (at + min_header <= end) {
    std::uint64_t const header = read<std::uint32_t>(at + header_size_at);
    auto const payload = read<std::uint64_t>(at + payload_size_at), rest = static_cast<std::uint64_t>(end - at);
    if (header < min_header || header > rest || payload > rest - header) throw other_format();
    auto const bytes = header + payload;
    out.push_back({read<std::uint16_t>(at + kind_at) == kind_ptx, read<std::uint32_t>(at + sm_at), {at, at + bytes}});
    at += bytes;
  }
  return out;
}

std::string text_of(Entry const& ptx) {
  auto const* const header = ptx.unchanged.data();
  std::uint64_t const header_bytes = read<std::uint32_t>(header + header_size_at), all = ptx.unchanged.size();
  auto const flags = read<std::uint64_t>(header + flags_at);
  auto const compressed = read<std::uint32_t>(header + compressed_size_at);
  auto const raw = read<std::uint64_t>(header + raw_size_at);
  bool const packed = (flags & (flag_lz4 | flag_zstd)) != 0;
  auto const size = packed ? compressed : read<std::uint64_t>(header + payload_size_at);
  if (header_bytes > all || size > all - header_bytes) throw other_format();
  auto const* const payload = reinterpret_cast<char const*>(header + header_bytes);
  std::string text;
  if (flags & flag_zstd) {
    text = text_of_zstd(payload, size, uncompressed_size(raw));
  } else if (flags & flag_lz4) {
    if (raw > (size + 1) * max_lz4_ratio) throw other_format();
    text.resize(uncompressed_size(raw));
    if (LZ4_decompress_safe(payload, text.data(), static_cast<int>(size), static_cast<int>(raw)) < 0)
      throw std::runtime_error("its PTX cannot be decompressed (LZ4)");
  } else {
    text.assign(payload, size);
  }
  text.resize(std::strlen(text.c_str()));  // it is padded with zeros
  return text;
}

// The header stays whole: words of it point behind its first 64 bytes, to options and names that the driver reads.
Entry with_text(Entry const& like, std::string const& text) {
  std::size_t const payload = (text.size() + 1 + 7) / 8 * 8;
  Entry out{true, like.sm, like.unchanged};
  std::size_t const head = read<std::uint32_t>(out.unchanged.data() + header_size_at);
  if (head < min_header || head > out.unchanged.size()) throw other_format();
  out.unchanged.resize(head);
  out.unchanged.resize(head + payload);
  auto* const header = out.unchanged.data();
  write<std::uint64_t>(header + payload_size_at, payload);
  write<std::uint32_t>(header + compressed_size_at, 0);
  write<std::uint64_t>(header + flags_at, read<std::uint64_t>(header + flags_at) & ~(flag_lz4 | flag_zstd));
  write<std::uint64_t>(header + raw_size_at, 0);
  std::memcpy(header + head, text.data(), text.size());
  return out;
}

std::vector<std::byte> binary_of(std::vector<Entry> const& entries) {
  constexpr std::size_t head = 16;
  std::vector<std::byte> out(head);
  for (auto const& entry : entries) out.insert(out.end(), entry.unchanged.begin(), entry.unchanged.end());
  std::memcpy(out.data(), magic.data(), magic.size());
  write<std::uint16_t>(out.data() + 4, 1);
  write<std::uint16_t>(out.data() + 6, head);
  write<std::uint64_t>(out.data() + 8, out.size() - head);
  return out;
}

std::vector<std::string_view> in_host_object(std::string_view object) {
  auto const part = [&](std::uint64_t offset, std::uint64_t bytes) {
    return offset <= object.size() && bytes <= object.size() - offset ? object.substr(offset, bytes)
                                                                      : std::string_view();
  };
  auto const bytes_at = [](std::string_view from, std::size_t at) {
    return reinterpret_cast<std::byte const*>(from.data() + at);
  };
  if (object.size() < sizeof(Elf64_Ehdr) || !object.starts_with(ELFMAG)) return {};
  auto const header = read<Elf64_Ehdr>(bytes_at(object, 0));
  std::vector<Elf64_Shdr> sections;
  for (std::uint64_t i = 0; i < header.e_shnum; ++i) {
    auto const one = part(header.e_shoff + i * sizeof(Elf64_Shdr), sizeof(Elf64_Shdr));
    if (one.empty()) return {};
    sections.push_back(read<Elf64_Shdr>(bytes_at(one, 0)));
  }
  if (header.e_shstrndx >= sections.size()) return {};
  auto const names = part(sections[header.e_shstrndx].sh_offset, sections[header.e_shstrndx].sh_size);
  std::vector<std::string_view> out;
  for (std::string_view const wanted : {"__nv_relfatbin", ".nv_fatbin"}) {
    for (auto const& section : sections) {
      if (section.sh_type == SHT_NOBITS || section.sh_name >= names.size()) continue;
      auto const name = names.substr(section.sh_name);
      if (name.substr(0, name.find('\0')) != wanted) continue;
      // One behind the other, with zeros between them.
      for (auto rest = part(section.sh_offset, section.sh_size);;) {
        constexpr std::size_t min_header_bytes = 16;
        auto const begin = rest.find(magic);
        if (begin == std::string_view::npos || rest.size() - begin < min_header_bytes) break;
        rest.remove_prefix(begin);
        std::uint64_t const head = read<std::uint16_t>(bytes_at(rest, 6)),
                            body = read<std::uint64_t>(bytes_at(rest, 8));
        if (head < min_header_bytes || head > rest.size() || body > rest.size() - head) break;
        out.push_back(rest.substr(0, head + body));
        rest.remove_prefix(head + body);
      }
    }
    if (!out.empty()) break;
  }
  return out;
}

std::optional<Ptx> ptx_of(void const* fatbin, std::uint32_t newest_sm) {
  auto const entries = entries_of(fatbin);
  Entry const* best = nullptr;
  for (auto const& entry : entries)
    if (entry.is_ptx && entry.sm <= newest_sm && (!best || entry.sm > best->sm)) best = &entry;
  if (!best) return std::nullopt;
  return Ptx{text_of(*best), best->sm};
}

}  // namespace kernelcast::fatbin
