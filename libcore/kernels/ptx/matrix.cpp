#include "kernels/ptx/matrix.hpp"

#include <array>
#include <charconv>
#include <string_view>
#include <utility>
#include <vector>

namespace kernelcast::ptx {

namespace {

// A name for all types that run at one rate; empty for a word that is no type.
std::string_view type_named(std::string_view word) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 16> types{{{"f16", "f16"},
                                                                                        {"bf16", "bf16"},
                                                                                        {"tf32", "tf32"},
                                                                                        {"f64", "f64"},
                                                                                        {"f32", "f32"},
                                                                                        {"s32", "i32"},
                                                                                        {"s8", "i8"},
                                                                                        {"u8", "i8"},
                                                                                        {"s4", "i4"},
                                                                                        {"u4", "i4"},
                                                                                        {"b1", "b1"},
                                                                                        {"e4m3", "f8"},
                                                                                        {"e5m2", "f8"},
                                                                                        {"e3m2", "f6"},
                                                                                        {"e2m3", "f6"},
                                                                                        {"e2m1", "f4"}}};
  for (auto const& [name, type] : types)
    if (name == word) return type;
  return {};
}

// "m16n8k16" -> 16 * 8 * 16; 0 for a word that is no shape.
double products_of(std::string_view word) {
  double out = 1;
  for (char const axis : {'m', 'n', 'k'}) {
    if (word.empty() || word.front() != axis) return 0;
    unsigned size = 0;
    auto const [end, error] = std::from_chars(word.data() + 1, word.data() + word.size(), size);
    if (error != std::errc{}) return 0;
    out *= size;
    word.remove_prefix(static_cast<std::size_t>(end - word.data()));
  }
  return word.empty() ? out : 0;
}

constexpr double warps_of_wgmma = 4;

}  // namespace

std::optional<MatrixProduct> matrix_product(Instruction const& i) {
  bool const group = i.is(Op::wgmma);
  if (!group && !i.is(Op::mma, Op::wmma)) return std::nullopt;
  if (group ? !i.has("mma_async") : i.is(Op::wmma) && !i.has("mma")) return std::nullopt;
  double products = 0;
  bool sparse = false, bytes = false;
  std::vector<std::string_view> types;
  for (std::string_view const word : i.modifiers) {
    if (double const n = products_of(word); n > 0) products = n;
    sparse = sparse || word == "sp" || word.starts_with("sp::");
    bytes = bytes || word == "kind::f8f6f4" || word == "kind::mxf8f6f4";
    if (auto const type = type_named(word); !type.empty()) types.push_back(type);
  }
  if (products == 0 || types.empty()) return std::nullopt;
  // d, a, b, c; wgmma: d, a, b; wmma of f16: d, c.
  std::string_view const sums = types.front(), factors = bytes ? "f8" : types.size() > 2 ? types[1] : "f16";
  if (group) products /= warps_of_wgmma;
  // Four products of 8 × 8 × 4 side by side.
  if (i.is(Op::mma) && factors == "f16" && products == 8 * 8 * 4) products *= 4;
  MatrixProduct out;
  out.kind = std::string(group ? "wgmma/" : "mma/") + std::string(factors) + "/" + std::string(sums);
  if (sparse) out.kind += "/sparse";
  out.flop = 2 * products;
  return out;
}

std::string tcgen05_kind(Instruction const& i) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 7> kinds{{{"kind::f16", "f16/f32"},
                                                                                       {"kind::tf32", "tf32/f32"},
                                                                                       {"kind::f8f6f4", "f8/f32"},
                                                                                       {"kind::i8", "i8/i32"},
                                                                                       {"kind::mxf8f6f4", "f8/f32"},
                                                                                       {"kind::mxf4", "f4/f32"},
                                                                                       {"kind::mxf4nvf4", "f4/f32"}}};
  if (!i.is(Op::tcgen05) || !i.has("mma")) return {};
  for (auto const& [word, types] : kinds)
    if (i.has(word)) return "tcgen05/" + std::string(types) + (i.has("sp") ? "/sparse" : "");
  return {};
}

}  // namespace kernelcast::ptx
