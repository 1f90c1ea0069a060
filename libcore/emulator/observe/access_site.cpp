// The memo of access_site.hpp. The functions that run for every access are in access_record.cpp, compiled per
// instruction-set level.
#include "emulator/observe/access_site.hpp"

#include <bit>

namespace kernelcast::emu {

namespace {

std::vector<SectorRun> runs_of(WaveAccess const& wave, std::uint64_t reference) {
  std::vector<SectorRun> runs;
  for (std::uint64_t m = wave.mask; m; m &= m - 1) {
    std::uint64_t const address = wave.base + wave.offsets[std::countr_zero(m)];
    for (std::uint64_t s = address >> 5; s <= (address + wave.bytes - 1) >> 5; ++s) {
      auto const offset = static_cast<std::int64_t>(s - reference);
      if (runs.empty() || offset < runs.back().offset || offset >= runs.back().offset + std::int64_t{64})
        runs.push_back({static_cast<std::int32_t>(offset), 0});
      runs.back().bits |= std::uint64_t{1} << (offset - runs.back().offset);
    }
  }
  return runs;
}

void mark_lanes(WaveAccess const& wave, Footprint& footprint) {
  for (std::uint64_t m = wave.mask; m; m &= m - 1) {
    std::uint64_t const address = wave.base + wave.offsets[std::countr_zero(m)];
    footprint.mark(address >> 5);
    std::uint64_t const last = (address + wave.bytes - 1) >> 5;
    if (last != address >> 5) footprint.mark(last);
  }
}

}  // namespace

void PatternMemo::mark(std::uint8_t list, std::uint64_t sector, Footprint& footprint) {
  marked_sector = sector;
  marked_list = list;
  for (auto const& run : sector_lists[list]) footprint.mark(sector, run);
}

void PatternMemo::add_to(AccessTotals& totals) const {
  for (Phase const& phase : phases)
    for (std::size_t i = 0; i < counts_per_access; ++i) totals[i] += phase.hits * phase.counts[i];
}

bool PatternMemo::forget(AccessTotals& totals) {
  std::uint64_t uses = 0;
  for (auto const& phase : phases) uses += phase.hits;
  add_to(totals);
  phases.clear();
  keys.fill({});
  sector_lists.clear();
  marked_list = unknown;
  mask = 0;
  return uses > 1;
}

PatternMemo* AccessSite::record_pattern(PatternMemos& memos_of_chunk, WaveAccess const& wave,
                                        AccessCounts const& counts, std::size_t weight, Footprint* footprint) {
  PatternMemos& m = memos_of_chunk;
  if (m.aside == 0) {
    if (m.all.size() < PatternMemos::most) {
      m.all.push_back(std::make_unique<PatternMemo>());
      m.current = m.all.size() - 1;
    } else {
      m.current = m.victim;
      m.victim = (m.victim + 1) % PatternMemos::most;
      m.fruitless = m.all[m.current]->forget(totals) ? 0 : m.fruitless + 1;
      if (m.fruitless >= PatternMemos::max_fruitless) m.aside = 64;
    }
  }
  if (m.aside > 0) {
    if (--m.aside == 0) m.fruitless = PatternMemos::max_fruitless - 1;  // one more try
    for (std::size_t i = 0; i < counts_per_access; ++i) totals[i] += counts[i];
    if (footprint) mark_lanes(wave, *footprint);
    return nullptr;
  }
  PatternMemo& memo = *m.all[m.current];
  std::uint32_t const first = wave.offsets[std::countr_zero(wave.mask)];
  memo.mask = wave.mask;
  memo.last_lane = 63 - static_cast<std::uint32_t>(std::countl_zero(wave.mask));
  for (unsigned l = 0; l < 64; ++l) {
    bool const active = wave.mask >> l & 1;
    memo.care[l] = active ? ~0u : 0;
    memo.delta[l] = active ? wave.offsets[l] - first : 0;
  }
  record_phase(memo, wave, counts, weight, footprint);
  return &memo;
}

void AccessSite::record_phase(PatternMemo& memo, WaveAccess const& wave, AccessCounts const& counts, std::size_t weight,
                              Footprint* footprint) {
  std::uint32_t const first = wave.offsets[std::countr_zero(wave.mask)];
  std::uint64_t const address = wave.base + first;
  auto const phase = static_cast<unsigned>(address & 255);
  auto& key = memo.keys[PatternMemo::slot_of(phase)];
  if (key.sectors == PatternMemo::unknown) {
    key.entry = static_cast<std::uint8_t>(memo.phases.size());
    memo.phases.emplace_back();
  }
  auto& entry = memo.phases[key.entry];
  for (std::size_t i = 0; i < counts_per_access; ++i) totals[i] += entry.hits * entry.counts[i];
  entry = {counts, {}, 1};
  key.phase = static_cast<std::uint8_t>(phase);
  key.weight = counts[weight];
  key.sectors = 0;
  if (footprint) {
    auto runs = runs_of(wave, address >> 5);
    auto& lists = memo.sector_lists;
    std::size_t list = 0;
    while (list < lists.size() && lists[list] != runs) ++list;
    if (list == lists.size()) lists.push_back(std::move(runs));
    key.sectors = static_cast<std::uint8_t>(list);
    memo.mark(key.sectors, address >> 5, *footprint);
  }
}

AccessTotals AccessSite::all() const {
  AccessTotals sum = totals;
  for (PatternMemos const& chunk : memos)
    for (auto const& memo : chunk.all) memo->add_to(sum);
  return sum;
}

}  // namespace kernelcast::emu
