#include "records/table/histogram.hpp"

#include <bit>
#include <cstdint>
#include <iterator>

#include <fmt/format.h>

#include "base/diag/text.hpp"

namespace kernelcast::record {

bool read_numbers(std::string_view key, std::span<double> out) {
  for (double& number : out) {
    auto const end = std::min(key.find('/'), key.size());
    auto const read = to_number<double>(key.substr(0, end));
    if (!read || !(*read >= 0 && *read <= 1e6)) return false;
    number = *read;
    key.remove_prefix(std::min(end + 1, key.size()));
  }
  return key.empty();
}

std::size_t power_of(double value) {
  if (!(value > 1)) return 0;
  auto const last = std::tuple_size_v<Powers> - 1;
  return value >= std::exp2(last)
             ? last
             : static_cast<std::size_t>(std::bit_width(static_cast<std::uint64_t>(std::ceil(value)) - 1));
}

std::string text_of(Powers const& powers) {
  std::string out;
  for (std::size_t k = 0; k < powers.size(); ++k)
    if (powers[k] > 0) fmt::format_to(std::back_inserter(out), "{}{}:{}", out.empty() ? "" : ";", k, powers[k]);
  return out.empty() ? "0:0" : out;
}

bool read_powers(std::string_view text, Powers& sum) {
  return !text.empty() && read_histogram(text, [&](std::string_view key, double n) {
    auto const k = to_number<std::size_t>(key);
    if (!k || *k >= sum.size()) return false;
    sum[*k] += n;
    return true;
  });
}

}  // namespace kernelcast::record
