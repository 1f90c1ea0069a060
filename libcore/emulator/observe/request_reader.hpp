// The sectors, lines and banks that a wavefront's access asks for. Internal to emulator/observe.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <optional>
#include <vector>

#include "emulator/observe/group_profile.hpp"

namespace kernelcast::emu {

// The addresses of one request.
struct Request {
  std::vector<std::uint64_t> sectors;  // distinct, ascending
  RequestShape shape;
};

class RequestReader {
 public:
  explicit RequestReader(std::size_t instructions) : latest_(instructions), latest_shared_(instructions) {}
  void begin() {  // another group
    for (auto& latest : latest_) latest.clear();
    for (auto& latest : latest_shared_) latest.clear();
  }

  // `again`: exactly the request of this instruction and wavefront before this one.
  Request const& read(MemoryAccess const& access, std::uint32_t warp, bool& again) {
    Latest<Request>& last = latest(latest_, access, warp);
    std::uint32_t const* const offsets = access.offsets + std::size_t{lanes_per_warp} * warp;
    std::uint32_t const mask = access.lanes.masks[warp];
    auto const moved = last.moved(mask, access.base, offsets);
    again = moved == 0;
    if (moved && *moved % 128 == 0) {
      if (*moved != 0)
        for (auto& s : last.request.sectors) s += static_cast<std::uint64_t>(*moved / 32);
      last.base += static_cast<std::uint64_t>(*moved);
      return last.request;
    }
    last.note(mask, access.base, offsets);
    auto& [sectors, shape] = last.request;
    sectors.clear();
    words_.clear();
    unsigned const words = std::max(1u, (access.bytes_per_lane + 3u) / 4);
    for (std::uint32_t m = mask; m; m &= m - 1) {
      std::uint64_t const address = access.base + offsets[std::countr_zero(m)];
      for (std::uint64_t s = address >> 5; s <= (address + access.bytes_per_lane - 1) >> 5; ++s)
        if (sectors.empty() || sectors.back() != s) sectors.push_back(s);
      for (unsigned w = 0; w < words; ++w) words_.push_back((address >> 2) + w);
    }
    if (!std::is_sorted(sectors.begin(), sectors.end())) std::sort(sectors.begin(), sectors.end());
    sectors.erase(std::unique(sectors.begin(), sectors.end()), sectors.end());
    shape = {};
    shape.sectors = static_cast<std::uint16_t>(sectors.size());
    std::uint64_t line = ~std::uint64_t{0};
    for (auto const s : sectors)
      if (s >> 2 != line) line = s >> 2, ++shape.lines;
    shape.degree = degree(shape.lines);
    return last.request;
  }

  // Clocks that 32 banks of shared memory are busy for a request of so many bytes of each lane. They return 128 bytes a
  // clock: a quarter of the lanes has 16 bytes each, or a half where neighbours (lane ^ 1, or lane ^ 2) have the same
  // address (Greg Smith of NVIDIA, forums.developer.nvidia.com/t/77228, of 7.0 and 7.5). All addresses moved by the
  // same number of words are in other banks, but as many of them in each.
  std::uint16_t read_shared(MemoryAccess const& access, std::uint32_t warp, unsigned bytes) {
    Latest<std::uint16_t>& last = latest(latest_shared_, access, warp);
    std::uint32_t const* const offsets = access.offsets + std::size_t{lanes_per_warp} * warp;
    std::uint32_t const mask = access.lanes.masks[warp];
    if (auto const moved = last.moved(mask, access.base, offsets); moved && *moved % 4 == 0) return last.request;
    last.note(mask, access.base, offsets);
    unsigned const words = std::max(1u, (bytes + 3) / 4);
    auto const paired = [&](unsigned with) {
      for (std::uint32_t m = mask; m; m &= m - 1) {
        auto const l = static_cast<unsigned>(std::countr_zero(m));
        if (mask >> (l ^ with) & 1 && offsets[l] != offsets[l ^ with]) return false;
      }
      return true;
    };
    unsigned const together = words > 1 && (paired(1) || paired(2)) ? 2 : 1;
    unsigned const lanes = std::min(lanes_per_warp, std::max(1u, lanes_per_warp * together / words));
    last.request = 0;
    for (unsigned begin = 0; begin < lanes_per_warp; begin += lanes) {
      words_.clear();
      for (unsigned l = begin; l < begin + lanes; ++l)
        for (unsigned w = 0; mask >> l & 1 && w < words; ++w) words_.push_back(((access.base + offsets[l]) >> 2) + w);
      if (!words_.empty()) last.request = static_cast<std::uint16_t>(last.request + degree(2));
    }
    return last.request;
  }

  // Work-item l's word w lies at word 32 w + l.
  RequestShape read_local(MemoryAccess const& access, std::uint32_t warp) {
    lines_.clear();
    sectors_.clear();
    std::uint32_t const* const offsets = access.offsets + std::size_t{lanes_per_warp} * warp;
    for (std::uint32_t m = access.lanes.masks[warp]; m; m &= m - 1) {
      auto const lane = static_cast<unsigned>(std::countr_zero(m));
      std::uint64_t const address = access.base + offsets[lane];
      for (std::uint64_t w = address >> 2; w <= (address + access.bytes_per_lane - 1) >> 2; ++w) {
        if (lines_.empty() || lines_.back() != w) lines_.push_back(w);
        std::uint64_t const sector = w << 2 | lane >> 3;
        if (sectors_.empty() || sectors_.back() != sector) sectors_.push_back(sector);
      }
    }
    for (auto* const list : {&lines_, &sectors_}) {
      std::sort(list->begin(), list->end());
      list->erase(std::unique(list->begin(), list->end()), list->end());
    }
    RequestShape shape;
    shape.lines = static_cast<std::uint16_t>(lines_.size());
    shape.sectors = static_cast<std::uint16_t>(sectors_.size());
    shape.degree = static_cast<std::uint16_t>(std::max(1, access.bytes_per_lane / 4));  // a bank is a work-item's own
    return shape;
  }
  std::vector<std::uint64_t> const& lines() const { return lines_; }  // of read_local()

 private:
  std::uint16_t degree(std::uint16_t lines) {
    if (lines <= 1) return lines;
    // By bank, then line: a word is line * 32 + bank.
    for (auto& w : words_) w = (w & 31) << 58 | w >> 5;
    std::sort(words_.begin(), words_.end());
    std::uint16_t most = 0, run = 0;
    std::uint64_t last = 0;
    for (std::size_t i = 0; i < words_.size(); ++i) {
      if (i > 0 && words_[i] == last) continue;
      run = i > 0 && words_[i] >> 58 == last >> 58 ? static_cast<std::uint16_t>(run + 1) : std::uint16_t{1};
      last = words_[i];
      most = std::max(most, run);
    }
    return most;
  }

  template <class Result>
  struct Latest {
    std::uint32_t mask = 0;
    std::uint64_t base = 0;
    std::array<std::uint32_t, lanes_per_warp> offsets{};
    Result request{};

    // By how many bytes all its addresses are further; nothing where it is of other lanes or another pattern.
    std::optional<std::int64_t> moved(std::uint32_t its_mask, std::uint64_t its_base,
                                      std::uint32_t const* its_offsets) const {
      if (its_mask != mask || mask == 0) return std::nullopt;
      auto const first = static_cast<unsigned>(std::countr_zero(mask));
      std::uint32_t const further = its_offsets[first] - offsets[first];
      std::uint32_t differs = 0;
      for (unsigned l = 0; l < lanes_per_warp; ++l)
        differs |= ((its_offsets[l] - further) ^ offsets[l]) & (0u - (mask >> l & 1));
      if (differs != 0) return std::nullopt;
      return static_cast<std::int64_t>(its_base - base) + its_offsets[first] - std::int64_t{offsets[first]};
    }
    void note(std::uint32_t its_mask, std::uint64_t its_base, std::uint32_t const* its_offsets) {
      mask = its_mask;
      base = its_base;
      std::copy_n(its_offsets, lanes_per_warp, offsets.begin());
    }
  };
  template <class Result>
  static Latest<Result>& latest(std::vector<std::vector<Latest<Result>>>& of_all, MemoryAccess const& access,
                                std::uint32_t warp) {
    auto& of_instruction = of_all[access.instruction];
    std::size_t const index = std::size_t{access.lanes.first_warp} + warp;
    if (of_instruction.size() <= index) of_instruction.resize(index + 1);
    return of_instruction[index];
  }
  std::vector<std::vector<Latest<Request>>> latest_;  // [instruction][warp of the group]
  std::vector<std::vector<Latest<std::uint16_t>>> latest_shared_;
  std::vector<std::uint64_t> words_, lines_, sectors_;
};

}  // namespace kernelcast::emu
