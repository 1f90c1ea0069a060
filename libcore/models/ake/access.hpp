// The requests of one wavefront's access to the memory, by the rules of a machine.
//
// Global memory: compute capability 1.x takes segments of 128, 64 or 32 bytes per half wavefront that shrink to the
// part used; 2.x looks up lines of 128 bytes for loads and writes sectors of 32; later ones lines (tags) of 128 bytes
// whose sectors of 32 are moved alone; AMD requests of 64 bytes per 16 work-items. Local memory is global memory in
// which the lanes' words lie side by side. Shared memory: passes over the banks; equal words are broadcast.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "models/ake/machine.hpp"

namespace kernelcast::model::ake {

// The addresses of some lanes, as a trace has them.
struct Part {
  std::uint64_t mask = 0;
  std::uint64_t first = 0;      // address of the lowest lane
  std::int32_t stride = 0;      // from lane to lane; with listed: index of the lanes' addresses
  std::uint32_t item : 24 = 0;  // which memory instruction of its block
  Space space : 7 = Space::none;
  bool listed : 1 = false;

  std::uint32_t list() const { return static_cast<std::uint32_t>(stride); }
};

inline constexpr std::uint32_t max_items = 1 << 24;  // memory instructions of a block
static_assert(sizeof(Part) == 24);                   // a trace has millions

// A line of 128 bytes and which of its sectors are touched.
struct Touch {
  std::uint64_t line = 0;  // address / 128
  std::uint8_t sectors = 0;
};

class AccessRules {
 public:
  explicit AccessRules(Machine const&);

  // Lines that the lanes touch, each once. `home` is the wavefront's own place for local memory.
  // Valid until the next call.
  std::span<Touch const> touches(Part const&, std::uint64_t const* list, unsigned bytes, std::uint64_t home);
  // Sectors of 32 bytes that are moved for them when there is no cache: transactions by their size.
  unsigned sectors(Part const&, std::uint64_t const* list, unsigned bytes, bool load, std::span<Touch const>);
  // Passes of shared memory; for atomics the most lanes on one word, if that is more.
  unsigned passes(Part const&, std::uint64_t const* list, unsigned bytes, bool atomic);
  // The most lanes that use one address.
  static unsigned max_on_one_address(Part const&, std::uint64_t const* list);

 private:
  struct CachedEntry {
    std::uint64_t mask = 0;
    std::int64_t stride = 0;
    std::uint32_t phase = 0, bytes = 0;
    unsigned passes = 0;
  };

  void spread(Part const&, std::uint64_t const* list);  // addresses into lane_
  void touch(std::uint64_t from, std::uint64_t to);     // bytes [from, to)
  unsigned count_passes(std::uint64_t mask, unsigned bytes);
  unsigned request_passes(std::uint64_t mask, unsigned bytes);
  unsigned request_passes_16(std::uint64_t mask, unsigned bytes);
  unsigned halfwarp_sectors(std::uint64_t mask, unsigned bytes);
  unsigned quarter_sectors(std::uint64_t mask, unsigned bytes);

  AccessRule rule_;
  unsigned width_, banks_, bank_bytes_;
  std::array<std::uint64_t, 64> lane_{};
  std::vector<Touch> touches_;
  std::array<CachedEntry, 256> remembered_{};
};

}  // namespace kernelcast::model::ake
