#include "emulator/check/uninit.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace kernelcast::emu {

namespace {

using ptx::StateSpace;

bool all_are(std::uint8_t const* bytes, std::size_t count, std::uint8_t mark) {
  std::uint8_t differ = 0;
  for (std::size_t i = 0; i < count; ++i) differ = static_cast<std::uint8_t>(differ | (bytes[i] ^ mark));
  return differ == 0;
}

template <class Word>
bool word_is(std::uint8_t const* bytes, std::uint8_t mark) {
  Word word;
  std::memcpy(&word, bytes, sizeof word);
  return word == static_cast<Word>(0x0101010101010101u * mark);
}
// The same for the bytes of one lane's access.
bool lane_is(std::uint8_t const* bytes, std::size_t count, std::uint8_t mark) {
  switch (count) {
    case 1:
      return *bytes == mark;
    case 2:
      return word_is<std::uint16_t>(bytes, mark);
    case 4:
      return word_is<std::uint32_t>(bytes, mark);
    case 8:
      return word_is<std::uint64_t>(bytes, mark);
    case 16:
      return word_is<std::uint64_t>(bytes, mark) && word_is<std::uint64_t>(bytes + 8, mark);
    default:
      return all_are(bytes, count, mark);
  }
}

}  // namespace

void UninitCheck::resize(Shadow& s, std::uint64_t bytes) {
  s.bytes = bytes;
  s.written = ShadowBytes(bytes);
}

void UninitCheck::begin(Facts const& facts, std::uint32_t items) {
  facts_ = &facts;
  if (items != items_) local_ = Shadow{};
  items_ = items;
}

void UninitCheck::begin_group() {
  if (++mark_ != 0) return;
  mark_ = 1;
  shared_.written.clear();
  local_.written.clear();
}

UninitCheck::Shadow* UninitCheck::undefined_buffer(std::uint64_t address) {
  Memory::Buffer const* const buffer = memory_.find(address);
  if (!buffer || !buffer->undefined) return nullptr;
  Shadow& s = (*global_)[buffer->address];
  if (s.bytes < buffer->size) resize(s, buffer->size);
  return &s;
}

void UninitCheck::access(MemoryAccess const& a) {
  Place p{a, facts_->sites[a.instruction], nullptr, 0, mark_};
  if (a.space == StateSpace::shared) {
    if (shared_.bytes < a.region_bytes) resize(shared_, a.region_bytes);
    p.shadow = shared_.written.as<Byte>();
    return regular(p);
  }
  if (a.space == StateSpace::local) {
    std::uint64_t const bytes = a.lane_stride * items_;
    if (local_.bytes < bytes) resize(local_, bytes);
    p.shadow = local_.written.as<Byte>();
    p.pitch = items_;
    return regular(p);
  }
  if (a.space != StateSpace::global) return;
  p.mark = 1;  // what is written stays so
  Memory::Buffer const* const buffer = memory_.find(a.region);
  if (buffer && buffer->address == a.region && buffer->size == a.region_bytes) {
    Shadow* const s = buffer->undefined ? undefined_buffer(a.region) : nullptr;
    if (!s) return;
    p.shadow = s->written.as<Byte>();
    return regular(p);
  }
  for (std::uint32_t w = 0; w < a.lanes.warps; ++w)
    for (std::uint32_t rest = a.lanes.masks[w]; rest; rest &= rest - 1) {
      std::uint32_t const at = w * lanes_per_warp + static_cast<std::uint32_t>(std::countr_zero(rest));
      std::uint64_t const address = a.base + a.offsets[at];
      Shadow* const s = undefined_buffer(address);
      if (!s) continue;
      p.shadow = s->written.as<Byte>();
      lane(p, at, address - memory_.find(address)->address);
    }
}

void UninitCheck::frame(FrameChange const& f) {
  std::uint64_t const bytes = f.lane_stride * items_;
  if (local_.bytes < bytes) resize(local_, bytes);
  auto const set = [&](FrameChange::Range const& range, Byte value) {
    Byte* at = local_.written.as<Byte>() + range.offset * items_ + f.work_item;
    for (std::uint64_t i = 0; i < range.bytes; ++i) at[i * items_] = value;
  };
  set(f.fresh, 0);
  for (FrameChange::Range const& range : f.copied) set(range, mark_);
}

void UninitCheck::regular(Place const& p) {
  MemoryAccess const& a = p.access;
  std::uint64_t const base = a.base - (a.space == StateSpace::global ? a.region : 0);
  bool const reads = a.direction != Direction::store, writes = a.direction != Direction::load;
  for (std::uint32_t h = 0; h < 2 * a.lanes.warps; ++h) {
    std::uint32_t const mask = a.lanes.masks[h / 2], first = h * half_warp;
    if (mask == 0) continue;
    std::uint32_t const step = mask == ~0u ? a.steps[h] : MemoryAccess::no_step;
    if (p.pitch == 0 && (step == a.bytes_per_lane || step == 0)) {
      Byte* const at = p.shadow + (base + a.offsets[first]);  // base may lie before the shadow
      std::size_t const bytes = step == 0 ? a.bytes_per_lane : half_warp * step;
      if (!reads || all_are(at, bytes, p.mark)) {
        if (writes) std::memset(at, p.mark, bytes);
        continue;
      }
    }
    if (p.pitch != 0 && step == 0 && uniform_local(p, first)) continue;
    std::uint32_t last = ~a.offsets[first];
    for (std::uint32_t rest = mask >> (h % 2 * half_warp) & 0xffff; rest; rest &= rest - 1) {
      std::uint32_t const at = first + static_cast<std::uint32_t>(std::countr_zero(rest));
      if (!writes && p.pitch == 0) {
        if (a.offsets[at] == last) continue;
        if (lane_is(p.shadow + (base + a.offsets[at]), a.bytes_per_lane, p.mark)) {
          last = a.offsets[at];
          continue;
        }
      }
      lane(p, at, base + a.offsets[at]);
    }
  }
}

// Sixteen work-items access the same offset of their own memories.
bool UninitCheck::uniform_local(Place const& p, std::uint32_t first) {
  MemoryAccess const& a = p.access;
  Byte* const at = p.shadow + (a.base + a.offsets[first]) * p.pitch + a.lanes.first_warp * lanes_per_warp + first;
  if (a.direction != Direction::store)
    for (std::uint64_t i = 0; i < a.bytes_per_lane; ++i)
      if (!all_are(at + i * p.pitch, half_warp, p.mark)) return false;
  if (a.direction != Direction::load)
    for (std::uint64_t i = 0; i < a.bytes_per_lane; ++i) std::memset(at + i * p.pitch, p.mark, half_warp);
  return true;
}

void UninitCheck::lane(Place const& p, std::uint32_t lane, std::uint64_t offset) {
  MemoryAccess const& a = p.access;
  std::uint32_t const item = a.lanes.first_warp * lanes_per_warp + lane;
  std::uint64_t const pitch = p.pitch ? p.pitch : 1;
  Byte* const at = p.shadow + offset * pitch + (p.pitch ? item : 0);
  std::uint32_t const element_bytes = std::max(1u, a.bytes_per_lane / std::max(1u, unsigned{p.site.elements}));
  if (a.direction != Direction::store)
    for (std::uint32_t i = 0; i < a.bytes_per_lane; ++i) {
      if (at[i * pitch] == p.mark || (p.site.unread >> (i / element_bytes) & 1)) continue;
      reporter_.report(Finding::Kind::uninitialized,
                       a.issuer == MemoryAccess::no_issuer ? item : a.lanes.first_warp * lanes_per_warp + a.issuer,
                       a.instruction, a.instruction,
                       describe_access(a, memory_, a.base + a.offsets[lane]) + ", which was never written");
      break;
    }
  if (a.direction != Direction::load)
    for (std::uint32_t i = 0; i < a.bytes_per_lane; ++i) at[i * pitch] = p.mark;
}

}  // namespace kernelcast::emu
