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
#include <vector>

namespace kernelcast::flux {

struct FatbinEntry {
  bool is_ptx = false;
  std::uint32_t sm = 0;              // 75
  std::vector<std::byte> unchanged;  // header and payload
};

// All entries. Throws std::runtime_error where the bytes are no fat binary.
std::vector<FatbinEntry> entries_of_fatbin(void const* fatbin);

// What a PTX entry says, without the zeros behind it. Throws std::runtime_error where it cannot be decompressed.
std::string text_of(FatbinEntry const& ptx);

// An entry like a PTX entry, with this text.
FatbinEntry with_text(FatbinEntry const& like, std::string const& text);

std::vector<std::byte> fatbin_of(std::vector<FatbinEntry> const&);

struct FatbinPtx {
  std::string text;
  std::uint32_t sm = 0;
};

// The entry for the newest architecture that is not beyond `newest_sm`; none where there is only machine code. Throws
// as the two above.
std::optional<FatbinPtx> ptx_of_fatbin(void const* fatbin,
                                       std::uint32_t newest_sm = std::numeric_limits<std::uint32_t>::max());

}  // namespace kernelcast::flux
