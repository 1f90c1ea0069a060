// The `feature` record (`flux-count --emit features`): what `mangrove` learns from. [braun] section 5.3.
//
// One row for each kernel and launch configuration; the median over its launches, feature by feature.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "records/table/schema.hpp"
#include "records/vocabulary.hpp"

namespace kernelcast::record {

// Which instructions count as what.
enum class FeatureDefinition : std::uint8_t {
  suite,    // by what an instruction does, where its predicate holds
  authors,  // as gpumangrove/utils.py of UniHD-CEG/gpu-mangrove groups opcodes
};
template <>
inline constexpr std::array names_of<FeatureDefinition>{std::string_view("suite"), std::string_view("authors")};

struct Feature {
  std::string kernel, case_name;
  std::uint64_t threads_per_cta = 0, ctas = 0;
  std::optional<double> inst_total, inst_special, inst_logic, inst_control, inst_arithmetic, inst_sync;
  std::optional<double> global_bytes, param_bytes, shared_bytes_moved;
  std::optional<double> arithmetic_intensity;
  std::uint64_t launches = 1;
  RowStatus status = RowStatus::ok;
  std::string reason;
  FeatureDefinition definition = FeatureDefinition::suite;

  static Schema<Feature> const& schema();
};

}  // namespace kernelcast::record
