// Numbers and ranges as users write them in options.
//
// Each throws Error(usage) that names the option, where it takes one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>

namespace kernelcast::cli {

// For options that take a floating-point number, ->check(): decimal, finite, and from `low` to `high`. (CLI11 lets nan
// pass its own ranges.)
CLI::Validator number_from(double low, double high);
CLI::Validator seconds();    // from 0 to 1e9, thirty years: more overflows clocks
CLI::Validator bandwidth();  // bytes per second, from 1 to 1e18

// A finite number above 0.
double positive_number(std::string_view text, std::string_view option);

// "4096", or "4096:61440:4096": low, high (included where a step meets it) and step; several, one after the other.
// Numbers above 0, at most a million of them a range.
std::vector<double> positive_numbers(std::vector<std::string> const& texts, std::string_view option);

// "4", or "1-16", both ends included; several. Whole numbers of `what` ("GPUs") from 1 to `most`.
std::vector<std::uint32_t> counts(std::vector<std::string> const& texts, std::string_view option, std::string_view what,
                                  std::uint32_t most);

}  // namespace kernelcast::cli
