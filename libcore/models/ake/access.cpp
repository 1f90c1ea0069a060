#include "models/ake/access.hpp"

#include <algorithm>
#include <bit>

namespace kernelcast::model::ake {

namespace {

template <class Each>
void each_lane(std::uint64_t mask, Each each) {
  for (; mask; mask &= mask - 1) each(static_cast<unsigned>(std::countr_zero(mask)));
}

bool is_run(std::uint64_t mask) {
  std::uint64_t const low = mask >> std::countr_zero(mask);
  return (low & (low + 1)) == 0;
}

// Bit s for each sector s of a line that bytes [from, to) of it touch.
std::uint8_t sector_bits(unsigned from, unsigned to) {
  return static_cast<std::uint8_t>((0xfu << (from / sector_bytes)) & (0xfu >> (3 - (to - 1) / sector_bytes)));
}

}  // namespace

AccessRules::AccessRules(Machine const& m)
    : rule_(m.rule), width_(m.width), banks_(std::max(1u, m.banks)), bank_bytes_(std::max(1u, m.bank_bytes)) {}

void AccessRules::spread(Part const& p, std::uint64_t const* list) {
  auto const lowest = static_cast<unsigned>(std::countr_zero(p.mask));
  std::size_t i = 0;
  each_lane(p.mask, [&](unsigned l) {
    lane_[l] = p.listed ? list[i++] : p.first + static_cast<std::uint64_t>(std::int64_t{p.stride}) * (l - lowest);
  });
}

void AccessRules::touch(std::uint64_t from, std::uint64_t to) {
  for (std::uint64_t line = from / line_bytes; line * line_bytes < to; ++line) {
    auto const begin = static_cast<unsigned>(std::max(from, line * line_bytes) - line * line_bytes);
    auto const end = static_cast<unsigned>(std::min(to, (line + 1) * line_bytes) - line * line_bytes);
    std::uint8_t const bits = sector_bits(begin, end);
    auto at = touches_.rbegin();  // neighbours touch the same line, mostly
    while (at != touches_.rend() && at->line != line) ++at;
    if (at != touches_.rend())
      at->sectors |= bits;
    else
      touches_.push_back({line, bits});
  }
}

std::span<Touch const> AccessRules::touches(Part const& p, std::uint64_t const* list, unsigned bytes,
                                            std::uint64_t home) {
  touches_.clear();
  bytes = std::max(1u, bytes);
  if (p.space == Space::local) {
    // Word w of the 32 lanes lies in one line: lane l in its sector l / 8.
    spread(p, list);
    each_lane(p.mask, [&](unsigned l) {
      for (std::uint64_t word = lane_[l] / 4; word * 4 < lane_[l] + bytes; ++word) {
        std::uint64_t const address = home + (word * width_ + l) * 4;
        touch(address, address + 4);
      }
    });
    return touches_;
  }
  std::uint64_t const span = static_cast<std::uint64_t>(p.stride < 0 ? -std::int64_t{p.stride} : p.stride);
  if (!p.listed && span <= bytes && is_run(p.mask)) {
    std::uint64_t const last = p.first + static_cast<std::uint64_t>(std::int64_t{p.stride}) *
                                             static_cast<std::uint64_t>(std::popcount(p.mask) - 1);
    touch(std::min(p.first, last), std::max(p.first, last) + bytes);
    return touches_;
  }
  spread(p, list);
  each_lane(p.mask, [&](unsigned l) { touch(lane_[l], lane_[l] + bytes); });
  return touches_;
}

unsigned AccessRules::sectors(Part const& p, std::uint64_t const* list, unsigned bytes, bool load,
                              std::span<Touch const> lines) {
  bytes = std::max(1u, bytes);
  if (p.space != Space::local && (rule_ == AccessRule::cc1x_segments || rule_ == AccessRule::amd64)) {
    spread(p, list);
    return rule_ == AccessRule::amd64 ? quarter_sectors(p.mask, bytes) : halfwarp_sectors(p.mask, bytes);
  }
  unsigned sum = 0;
  for (Touch const& t : lines)
    sum += rule_ == AccessRule::lines128 && load ? line_bytes / sector_bytes
                                                 : static_cast<unsigned>(std::popcount(t.sectors));
  return sum;
}

// CUDA C Programming Guide 4.2, F.3.2.2: segments of 32 bytes for 1-byte words, 64 for 2-byte words, else 128; a
// segment of which only one half is used shrinks to it, down to 32 bytes. The result is in sectors of 32 bytes.
unsigned AccessRules::halfwarp_sectors(std::uint64_t mask, unsigned bytes) {
  unsigned const segment = bytes == 1 ? 32 : bytes == 2 ? 64 : 128;
  unsigned sum = 0;
  for (unsigned half = 0; half < 4; ++half) {
    std::uint64_t const part = mask & (std::uint64_t{0xffff} << (16 * half));
    if (!part) continue;
    touches_.clear();
    each_lane(part, [&](unsigned l) { touch(lane_[l], lane_[l] + bytes); });
    for (Touch const& t : touches_) {
      // Segments of the line, each shrunk to the aligned half, quarter that holds what is used.
      for (unsigned begin = 0; begin < line_bytes / sector_bytes; begin += segment / sector_bytes) {
        unsigned size = segment / sector_bytes, at = begin;
        unsigned const used = t.sectors & (((1u << size) - 1) << begin);
        if (!used) continue;
        while (size > 1) {
          unsigned const low = ((1u << (size / 2)) - 1) << at;
          if ((used & low) && (used & (low << (size / 2)))) break;
          if (!(used & low)) at += size / 2;
          size /= 2;
        }
        sum += size;
      }
    }
  }
  return sum;
}

unsigned AccessRules::quarter_sectors(std::uint64_t mask, unsigned bytes) {
  unsigned sum = 0;
  for (unsigned quarter = 0; quarter < 4; ++quarter) {
    std::uint64_t const part = mask & (std::uint64_t{0xffff} << (16 * quarter));
    if (!part) continue;
    touches_.clear();
    each_lane(part, [&](unsigned l) { touch(lane_[l], lane_[l] + bytes); });
    for (Touch const& t : touches_) sum += ((t.sectors & 3) ? 2u : 0u) + ((t.sectors & 12) ? 2u : 0u);
  }
  return sum;
}

// ---------------------------------------------------------------- shared memory

unsigned AccessRules::passes(Part const& p, std::uint64_t const* list, unsigned bytes, bool atomic) {
  bytes = std::max(1u, bytes);
  unsigned passes = 0;
  if (p.listed) {
    spread(p, list);
    passes = count_passes(p.mask, bytes);
  } else {
    // Banks repeat after one row of them.
    auto const phase = static_cast<std::uint32_t>(p.first % (std::uint64_t{banks_} * bank_bytes_));
    std::uint64_t const key = (p.mask * 0x9e3779b97f4a7c15u) ^
                              (static_cast<std::uint64_t>(std::int64_t{p.stride}) * 0xff51afd7ed558ccdu) ^
                              (std::uint64_t{phase} * 0xc4ceb9fe1a85ec53u) ^ bytes;
    CachedEntry& r = remembered_[(key ^ (key >> 32)) % remembered_.size()];
    if (r.mask != p.mask || r.stride != p.stride || r.phase != phase || r.bytes != bytes) {
      Part moved = p;
      moved.first = phase + (std::uint64_t{1} << 40);  // room for negative strides
      moved.first -= moved.first % (std::uint64_t{banks_} * bank_bytes_);
      moved.first += phase;
      spread(moved, list);
      r = {p.mask, p.stride, phase, bytes, count_passes(p.mask, bytes)};
    }
    passes = r.passes;
  }
  return atomic ? std::max(passes, max_on_one_address(p, list)) : passes;
}

// A request is a wavefront (a half of one on 16 banks) when a lane moves no more than a bank is wide; with twice, four
// times that, a half, a quarter of it.
unsigned AccessRules::count_passes(std::uint64_t mask, unsigned bytes) {
  unsigned const whole = banks_ == 16 ? 16 : width_;
  unsigned const lanes = std::max(1u, whole / std::max(1u, bytes / bank_bytes_));
  unsigned sum = 0;
  for (unsigned begin = 0; begin < width_; begin += lanes) {
    std::uint64_t const part = mask & ((lanes >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << lanes) - 1) << begin);
    if (part) sum += banks_ == 16 ? request_passes_16(part, bytes) : request_passes(part, bytes);
  }
  return sum;
}

// The most distinct words of one bank.
unsigned AccessRules::request_passes(std::uint64_t mask, unsigned bytes) {
  // The distinct words of each bank, one list per bank.
  std::array<std::array<std::uint64_t, 64>, 32> words;
  std::array<std::uint8_t, 32> load{};
  unsigned most = 0;
  each_lane(mask, [&](unsigned l) {
    for (std::uint64_t w = lane_[l] / bank_bytes_; w * bank_bytes_ < lane_[l] + bytes; ++w) {
      std::size_t const bank = w % banks_ % 32;
      auto& list = words[bank];
      unsigned n = 0;
      while (n < load[bank] && list[n] != w) ++n;
      if (n < load[bank] || n == list.size()) continue;
      list[n] = w;
      load[bank] = static_cast<std::uint8_t>(n + 1);
      most = std::max(most, n + 1);
    }
  });
  return most;
}

// Compute capability 1.x: one word of a request is broadcast, the one that saves most; all other lanes take turns.
unsigned AccessRules::request_passes_16(std::uint64_t mask, unsigned bytes) {
  std::array<int, 16> load{};
  auto const add = [&](std::array<int, 16>& loads, unsigned l, int times) {
    for (std::uint64_t w = lane_[l] / 4; w * 4 < lane_[l] + bytes; ++w) loads[w % 16] += times;
  };
  each_lane(mask, [&](unsigned l) { add(load, l, 1); });
  int best = *std::max_element(load.begin(), load.end());
  for (std::uint64_t rest = mask; rest && best > 1;) {
    auto const l = static_cast<unsigned>(std::countr_zero(rest));
    int same = 0;
    each_lane(rest, [&](unsigned other) {
      if (lane_[other] / 4 != lane_[l] / 4 || (lane_[other] + bytes - 1) / 4 != (lane_[l] + bytes - 1) / 4) return;
      ++same;
      rest &= ~(std::uint64_t{1} << other);
    });
    auto broadcast = load;
    add(broadcast, l, 1 - same);
    best = std::min(best, *std::max_element(broadcast.begin(), broadcast.end()));
  }
  return static_cast<unsigned>(best);
}

unsigned AccessRules::max_on_one_address(Part const& p, std::uint64_t const* list) {
  auto const lanes = static_cast<unsigned>(std::popcount(p.mask));
  if (!p.listed) return p.stride == 0 ? lanes : 1;
  std::array<std::uint64_t, 64> sorted;
  std::copy_n(list, lanes, sorted.begin());
  std::sort(sorted.begin(), sorted.begin() + lanes);
  unsigned most = 1, run = 1;
  for (unsigned i = 1; i < lanes; ++i) {
    run = sorted[i] == sorted[i - 1] ? run + 1 : 1;
    most = std::max(most, run);
  }
  return most;
}

}  // namespace kernelcast::model::ake
