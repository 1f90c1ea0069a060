// Opcodes: v_mfma_f32_32x32x8f16 (up to gfx90a), v_mfma_f32_32x32x8_f16 (from gfx940 on), v_mfma_f32_16x16x4_4b_f16
// with four matrices beside each other, v_smfmac_… of a sparse A, v_wmma_f32_16x16x16_f16 and v_swmmac_… of RDNA. Where
// the number of matrices is not in the name, A takes as many as fill the registers of 64 lanes.
#include <array>
#include <charconv>
#include <utility>

#include "kernels/amdgcn/amdgcn.hpp"

namespace kernelcast::amdgcn {

namespace {

struct Type {
  std::string_view word, type;  // as the opcode and as records have it
  unsigned of_lane = 0;         // elements of A in a lane, in opcodes without an underscore before the type
};
// A word that begins with another one is before it.
constexpr std::array types{Type{"bf16_1k", "bf16", 4}, Type{"bf16", "bf16", 2}, Type{"f16", "f16", 4},
                           Type{"xf32", "tf32"},       Type{"f32", "f32", 1},   Type{"f64", "f64", 1},
                           Type{"iu8", "i8"},          Type{"i8", "i8", 4},     Type{"iu4", "i4"},
                           Type{"i32", "i32"},         Type{"f8f6f4", "f8"},    Type{"fp8", "f8"},
                           Type{"bf8", "f8"}};

Type const* take_type(std::string_view& text) {
  for (auto const& t : types)
    if (text.starts_with(t.word)) {
      text.remove_prefix(t.word.size());
      return &t;
    }
  return nullptr;
}

bool take(std::string_view& text, std::string_view word) {
  if (!text.starts_with(word)) return false;
  text.remove_prefix(word.size());
  return true;
}

unsigned take_number(std::string_view& text) {
  unsigned n = 0;
  auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
  if (error != std::errc{}) return 0;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return n;
}

// Of f8f6f4 the formats of A and B: "cbsz:4 blgp:2"; 0 and 1 have 8 bits, 2 and 3 six, 4 four. The wider one tells.
std::string_view width_of(std::string_view text) {
  unsigned least = 4;
  for (std::string_view const name : {"cbsz:", "blgp:"}) {
    auto const at = text.find(name);
    bool const said = at != std::string_view::npos && at + name.size() < text.size();
    unsigned const format = said ? static_cast<unsigned>(text[at + name.size()] - '0') : 0;
    least = std::min(least, format);
  }
  return least < 2 ? "f8" : least < 4 ? "f6" : "f4";
}

}  // namespace

std::optional<MatrixProduct> matrix_product(Instruction const& i) {
  std::string_view rest = i.opcode();
  if (!take(rest, "v_")) return std::nullopt;
  bool const sparse_mfma = take(rest, "smfmac_"), mfma = sparse_mfma || take(rest, "mfma_");
  bool const sparse_wmma = !mfma && take(rest, "swmmac_");
  if (!mfma && !sparse_wmma && !take(rest, "wmma_")) return std::nullopt;
  take(rest, "scale_");
  take(rest, "scale16_");
  auto const* const sums = take_type(rest);
  if (!sums || !take(rest, "_")) return std::nullopt;
  unsigned const m = take_number(rest);
  if (!take(rest, "x")) return std::nullopt;
  unsigned const n = take_number(rest);
  if (!take(rest, "x")) return std::nullopt;
  unsigned const k = take_number(rest);
  if (m == 0 || n == 0 || k == 0 || m > 1024 || n > 1024 || k > 1024) return std::nullopt;
  unsigned blocks = 1;
  bool const apart = take(rest, "_");
  if (std::string_view after = rest; unsigned const said = take_number(after))
    if (take(after, "b_")) {
      blocks = said;
      rest = after;
    }
  auto const* const factors = take_type(rest);
  if (!factors) return std::nullopt;
  constexpr unsigned lanes = 64;
  if (!apart && factors->of_lane * lanes > m * k) blocks = factors->of_lane * lanes / (m * k);
  MatrixProduct out;
  out.kind = mfma ? "mfma/" : "wmma/";
  out.kind += factors->word == "f8f6f4" ? width_of(i.text) : factors->type;
  out.kind += '/';
  out.kind += sums->type;
  if (sparse_mfma || sparse_wmma) out.kind += "/sparse";
  out.flop = 2.0 * m * n * k * blocks;
  return out;
}

}  // namespace kernelcast::amdgcn
