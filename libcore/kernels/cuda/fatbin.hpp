// The fat binary of a CUDA program: its PTX, and the same with other PTX.
//
// Format (magic 0xBA55ED50, entries of kind 1 = PTX and 2 = ELF) as nvcc 11 to 13 write it; payloads plain, LZ4 or
// Zstandard.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kernelcast::fatbin {

inline constexpr std::string_view magic = "\x50\xED\x55\xBA";          // of a fat binary, its first bytes
inline constexpr std::string_view wrapper_magic = "\xB1\x43\x62\x46";  // of what points to one: cudart::FatbinWrapper

struct Entry {
  bool is_ptx = false;
  std::uint32_t sm = 0;              // 75
  std::vector<std::byte> unchanged;  // header and payload
};

// All entries. Throws std::runtime_error where the bytes are no fat binary.
std::vector<Entry> entries_of(void const* fatbin);

// What a PTX entry says, without the zeros behind it. Throws std::runtime_error where its sizes do not fit or it cannot
// be decompressed.
std::string text_of(Entry const& ptx);

// The fat binaries in a host's object or program (ELF, 64 bits): those of relocatable device code where there are any
// (nvcc -rdc=true), else all. Each lies in `object`, and its header says no more than there is.
std::vector<std::string_view> in_host_object(std::string_view object);

// An entry like a PTX entry, with this text.
Entry with_text(Entry const& like, std::string const& text);

// A fat binary of these.
std::vector<std::byte> binary_of(std::vector<Entry> const&);

struct Ptx {
  std::string text;
  std::uint32_t sm = 0;
};

// The entry for the newest architecture that is not beyond `newest_sm`; none where there is only machine code. Throws
// as the two above.
std::optional<Ptx> ptx_of(void const* fatbin, std::uint32_t newest_sm = std::numeric_limits<std::uint32_t>::max());

}  // namespace kernelcast::fatbin
