#include "runtimes/cudart/contents.hpp"

#include <algorithm>

#include "base/cache/cache.hpp"

namespace kernelcast::cudart {

Contents::State Contents::with(std::uint64_t begin, std::uint64_t bytes, Part part) {
  State out = state(begin);
  if (std::ranges::find(out.parts, part) != out.parts.end()) return out;
  std::erase_if(out.parts, [&](Part const& old) { return part.overwrites(old); });
  bool const apart =
      std::ranges::all_of(out.parts, [&](Part const& old) { return old.end <= part.begin || part.end <= old.begin; });
  if (!apart || out.parts.size() >= max_parts) out = out.number;
  out.parts.insert(std::ranges::lower_bound(out.parts, part.begin, {}, &Part::begin), std::move(part));
  std::uint64_t covered = 0;
  for (auto const& each : out.parts)
    if (each.begin == covered && each.is_all()) covered = each.end;
  if (covered >= bytes) out.base = 0;
  CommandText text('P');
  text.add(bytes).add(out.base);
  for (auto const& each : out.parts)
    text.add(each.begin).add(each.end).add(each.row_bytes).add(each.pitch).add_bytes(each.command);
  out.number = made_by('P' + content_hash(text.text()));
  return out;
}

}  // namespace kernelcast::cudart
