// The PTX in the fat binary of a CUDA program, and a fat binary that holds other PTX.
//
// Format (magic 0xBA55ED50, entries of kind 1 = PTX and 2 = ELF) as nvcc 11 to 13 write it; payloads plain, LZ4 or
// Zstandard.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace kernelcast::flux {

struct FatbinPtx {
  std::string text;
  std::uint32_t sm = 0;           // 75
  std::vector<std::byte> header;  // of its entry
};

// The entry for the newest architecture; none where there is only machine code. Throws std::runtime_error where the
// bytes are no fat binary.
std::optional<FatbinPtx> ptx_of_fatbin(void const* fatbin);

// A fat binary with this text alone in an entry like the one given.
std::vector<std::byte> fatbin_of(FatbinPtx const& like, std::string const& text);

}  // namespace kernelcast::flux
