#include "models/forest/study/operators.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <map>

#include <fmt/format.h>

#include "base/diag/diag.hpp"

namespace kernelcast::forest {

namespace {

struct Operator {
  std::string_view name;
  int inputs;      // matrices read
  double special;  // for each result
  bool reduces, product;
};

constexpr std::array operators{
    Operator{"add", 2, 0, false, false},    Operator{"addu", 1, 0, false, false},
    Operator{"bmm", 2, 0, false, true},     Operator{"div", 2, 0.5, false, false},
    Operator{"divu", 1, 0.5, false, false}, Operator{"linear", 2, 0, false, true},
    Operator{"ln", 1, 0, true, false},      Operator{"mul", 2, 0, false, false},
    Operator{"mulu", 1, 0, false, false},   Operator{"powu", 1, 1, false, false},
    Operator{"relu", 1, 0, false, false},   Operator{"tanh", 1, 1, false, false},
};

constexpr double element_bytes = 4;
constexpr std::uint64_t max_size = std::uint64_t{1} << 31;

// "B64_H1024" as letters with their numbers; empty for anything else.
std::map<char, double> sizes_of(std::string_view text) {
  std::map<char, double> out;
  while (!text.empty()) {
    std::uint64_t number = 0;
    auto const [end, error] = std::from_chars(text.data() + 1, text.data() + text.size(), number);
    if (error != std::errc() || number == 0 || number > max_size ||
        !out.emplace(text[0], static_cast<double>(number)).second)
      return {};
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    if (text.empty()) break;
    if (text[0] != '_' || text.size() == 1) return {};
    text.remove_prefix(1);
  }
  return out;
}

}  // namespace

std::vector<std::string> operator_names() {
  std::vector<std::string> out;
  for (auto const& one : operators) out.emplace_back(one.name);
  return out;
}

record::OperatorFeature operator_features(std::string const& kernel, std::string const& sizes) {
  auto const* const found = std::ranges::find(operators, std::string_view(kernel), &Operator::name);
  if (found == operators.end())
    throw Error(Status::bad_data, fmt::format("there is no operator '{}'", kernel),
                did_you_mean(kernel, operator_names()));
  auto const size = sizes_of(sizes);
  std::string const wanted = found->product ? "BKMN" : "BH";
  std::string letters;
  for (auto const& [letter, number] : size) letters += letter;
  if (letters != wanted)
    throw Error(Status::bad_data, fmt::format("'{}' are not the sizes of {}", sizes, kernel),
                found->product ? "B1_M64_N128_K256: batch, rows, inner size, columns; each from 1 to 2^31"
                               : "B64_H1024: rows and columns, each from 1 to 2^31");
  record::OperatorFeature out;
  out.kernel = kernel;
  out.case_name = sizes;
  out.batch = size.at('B');
  if (found->product) {
    double const m = size.at('M'), n = size.at('N'), k = size.at('K');
    out.out = out.batch * m * n;
    out.flop = 2 * out.out * k;
    out.read_b = element_bytes * out.batch * (m * k + k * n);
    out.inner = k;
    out.rows = out.batch * m;
    out.cols = n;
    out.gemm = 1;
  } else {
    out.rows = out.batch;
    out.cols = size.at('H');
    out.out = out.flop = out.rows * out.cols;
    out.special = found->special * out.out;
    out.read_b = element_bytes * found->inputs * out.out;
    out.reduce = found->reduces ? out.cols : 0;
  }
  out.write_b = element_bytes * out.out;
  out.intensity = out.flop / (out.read_b + out.write_b);
  return out;
}

}  // namespace kernelcast::forest
