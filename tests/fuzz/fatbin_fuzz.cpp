// The fat binary of a CUDA program. Its header says how long it is, and is believed: it lies in the program's memory.
// Here what it says is made to fit.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <vector>

#include "fuzz.hpp"
#include "kernels/cuda/fatbin.hpp"

namespace kernelcast::fuzz {

void run_input(std::string_view input) {
  for (auto const one : fatbin::in_host_object(input))
    if (one.data() < input.data() || one.end() > input.end()) defect("a fat binary out of its object");
  constexpr std::size_t head = 16;
  if (input.size() < head) return;
  std::vector<std::byte> bytes(input.size());
  std::memcpy(bytes.data(), input.data(), input.size());
  std::uint16_t header = 0;
  std::memcpy(&header, bytes.data() + 6, sizeof header);
  header = static_cast<std::uint16_t>(std::clamp<std::size_t>(header, head, bytes.size()));
  std::uint64_t const rest = bytes.size() - header;
  std::memcpy(bytes.data() + 6, &header, sizeof header);
  std::memcpy(bytes.data() + 8, &rest, sizeof rest);
  try {
    for (auto const& entry : fatbin::entries_of(bytes.data()))
      if (entry.is_ptx) {
        auto const text = fatbin::text_of(entry);
        if (fatbin::text_of(fatbin::with_text(entry, text)) != text) defect("another text came back");
      }
    fatbin::ptx_of(bytes.data());
  } catch (std::runtime_error const&) {
    // refused
  }
}

}  // namespace kernelcast::fuzz
