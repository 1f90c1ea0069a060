// An entry is fields: numbers as 8 bytes, little end first, texts with their length before them.
#include "kernels/frontend/entry.hpp"

#include <array>
#include <bit>

namespace kernelcast::frontend {
namespace {

constexpr std::string_view entry_ending = ".kernel";

class Packer {
 public:
  void operator()(std::uint64_t v) {
    for (int i = 0; i < 8; ++i) text_.push_back(static_cast<char>(v >> (8 * i)));
  }
  void operator()(std::string const& v) {
    (*this)(std::uint64_t{v.size()});
    text_ += v;
  }
  std::string const& text() const { return text_; }

 private:
  std::string text_;
};

struct Damaged {};

class Unpacker {
 public:
  explicit Unpacker(std::string_view text) : text_(text) {}
  void operator()(std::uint64_t& v) {
    auto const bytes = take(8);
    v = 0;
    for (std::size_t i = 0; i < 8; ++i) v |= std::uint64_t{static_cast<unsigned char>(bytes[i])} << (8 * i);
  }
  void operator()(std::string& v) {
    std::uint64_t size = 0;
    (*this)(size);
    v = take(size);
  }
  bool at_end() const { return text_.empty(); }

 private:
  std::string_view take(std::uint64_t n) {
    if (n > text_.size()) throw Damaged{};
    auto const result = text_.substr(0, n);
    text_.remove_prefix(n);
    return result;
  }
  std::string_view text_;
};

// Each `visit` names the fields of a type once, for packing and unpacking alike.
template <class Archive, class T>
void visit(Archive& archive, std::vector<T>& list);

template <class Archive, class N>
void number(Archive& archive, N& n) {
  auto v = static_cast<std::uint64_t>(n);
  archive(v);
  n = static_cast<N>(v);
}

template <class Archive>
void visit(Archive& archive, std::string& text) {
  archive(text);
}

template <class Archive>
void visit(Archive& archive, std::pair<std::string, std::string>& pair) {
  archive(pair.first);
  archive(pair.second);
}

template <class Archive>
void visit(Archive& archive, std::pair<std::string, PtxasFigures>& pair) {
  archive(pair.first);
  for (auto* v : {&pair.second.registers, &pair.second.shared_bytes, &pair.second.stack_bytes}) archive(*v);
}

template <class Archive>
void visit(Archive& archive, std::optional<std::uint64_t>& v) {
  bool present = v.has_value();
  number(archive, present);
  std::uint64_t value = v.value_or(0);
  archive(value);
  v = present ? std::optional(value) : std::nullopt;
}

template <class Archive>
void visit(Archive& archive, std::optional<double>& v) {
  std::optional<std::uint64_t> bits;
  if (v) bits = std::bit_cast<std::uint64_t>(*v);
  visit(archive, bits);
  v = bits ? std::optional(std::bit_cast<double>(*bits)) : std::nullopt;
}

template <class Archive>
void visit(Archive& archive, Argument& a) {
  archive(a.name);
  archive(a.type_name);
  number(archive, a.kind);
  number(archive, a.bytes);
  archive(a.access);
  archive(a.qualifiers);
}

template <class Archive>
void visit(Archive& archive, KernelInfo& k) {
  archive(k.name);
  archive(k.signature);
  visit(archive, k.arguments);
  bool required = k.required_group.has_value();
  number(archive, required);
  auto group = k.required_group.value_or(std::array<std::uint32_t, 3>{});
  for (auto& side : group) number(archive, side);
  k.required_group = required ? std::optional(group) : std::nullopt;
  auto& r = k.registers;
  for (auto* v : {&r.ptx, &r.vgprs_gfx6, &r.vgprs_gfx90a, &r.vgprs_gfx1030, &r.gprs_cypress}) visit(archive, *v);
  visit(archive, r.vliw_ops_per_bundle);
  std::vector<std::pair<std::string, PtxasFigures>> ptxas(r.ptxas.begin(), r.ptxas.end());
  visit(archive, ptxas);
  r.ptxas = {ptxas.begin(), ptxas.end()};
  number(archive, k.shared_bytes);
  visit(archive, k.missing);
  visit(archive, k.attributes);
  visit(archive, k.notes);
}

template <class Archive, class T>
void visit(Archive& archive, std::vector<T>& list) {
  std::uint64_t size = list.size();
  archive(size);
  if constexpr (std::is_same_v<Archive, Unpacker>) list.clear();
  for (std::uint64_t i = 0; i < size; ++i) {
    if constexpr (std::is_same_v<Archive, Unpacker>) list.emplace_back();
    visit(archive, list[i]);
  }
}

template <class Archive>
void visit(Archive& archive, CacheEntry& entry) {
  visit(archive, entry.dependencies);
  archive(entry.compiled.ptx);
  visit(archive, entry.compiled.kernels);
  visit(archive, entry.compiled.notes);
}

}  // namespace

std::optional<CacheEntry> parse_entry(std::string_view content) {
  CacheEntry entry;
  try {
    Unpacker unpack(content);
    visit(unpack, entry);
    if (!unpack.at_end()) return std::nullopt;
  } catch (Damaged const&) {
    return std::nullopt;
  }
  return entry;
}

std::optional<CacheEntry> read_entry(std::string const& folder, std::string const& key) {
  auto const content = read_cached(folder, key + std::string(entry_ending));
  auto entry = parse_entry(content);
  if (!entry) return std::nullopt;
  for (auto const& [dependency, hash] : entry->dependencies)
    if (file_hash(dependency) != hash) return std::nullopt;
  entry->compiled.from_cache = true;
  return entry;
}

std::string write_entry(std::string const& folder, std::string const& key, CacheEntry const& entry,
                        CacheLimits const& limits) {
  Packer pack;
  auto copy = entry;  // `visit` serves both directions and so takes a mutable entry
  visit(pack, copy);
  return write_cached(folder, key + std::string(entry_ending), pack.text(), limits);
}

}  // namespace kernelcast::frontend
