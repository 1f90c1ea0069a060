// Histograms in a column: key:count joined by ';', the parts of a key joined by '/'.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <string>
#include <string_view>

#include "base/diag/text.hpp"

namespace kernelcast::record {

// "a/b/c:n;…" or "word:n;…": calls each(key, n). False where it is not of that form, or `each` says so.
template <class Each>
bool read_histogram(std::string_view text, Each each) {
  while (!text.empty()) {
    auto const end = std::min(text.find(';'), text.size());
    auto const entry = text.substr(0, end);
    auto const colon = entry.find(':');
    if (colon == std::string_view::npos) return false;
    auto const n = to_number<double>(entry.substr(colon + 1));
    if (!n || !(*n >= 0) || !std::isfinite(*n) || !each(entry.substr(0, colon), *n)) return false;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return true;
}

// The parts of a key, from 0 to a million. False where there are others.
bool read_numbers(std::string_view key, std::span<double> out);

// By powers of two: element k counts values above 2^(k-1), up to 2^k, element 0 those up to 1.
using Powers = std::array<double, 60>;
std::size_t power_of(double value);
std::string text_of(Powers const&);                    // "0:0" where all are 0
bool read_powers(std::string_view text, Powers& sum);  // adds to `sum`; false where it is no such text, or empty
inline constexpr char const* powers_hint =
    "k:n joined by ';': n bytes at distances above 2^(k-1), up to 2^k, as miniemu writes";

}  // namespace kernelcast::record
