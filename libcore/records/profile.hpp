// The `profile` record: what a sequential kernel does, independent of any device [automatch].
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "records/table/schema.hpp"

namespace kernelcast::record {

// One quantity, or one bin of a histogram. The values of `quantity` are the constants below.
struct Profile {
  std::string kernel;
  std::string case_name;             // column `case`
  std::string invocation = "total";  // total, or the number of one call of the kernel, from 1
  std::string quantity;
  std::optional<std::uint64_t> granularity_bytes;  // of stack_distance and footprint_bytes
  std::optional<std::uint64_t> low, high;          // the bin [low, high)
  std::uint64_t count = 0;
  std::string where;  // file:line of a loop, name of a function
  std::string note;   // in words

  static Schema<Profile> const& schema();
};

namespace quantity {
inline constexpr char const* flop = "flop";
inline constexpr char const* w_add = "w_add";
inline constexpr char const* w_mul = "w_mul";
inline constexpr char const* w_div = "w_div";
inline constexpr char const* w_sqrt = "w_sqrt";
inline constexpr char const* w_call = "w_call";
inline constexpr char const* w_vec = "w_vec";
inline constexpr char const* depth = "depth";
inline constexpr char const* level_width = "level_width";
inline constexpr char const* level_profile = "level_profile";
inline constexpr char const* load = "load";
inline constexpr char const* store = "store";
inline constexpr char const* reference_bytes = "reference_bytes";
inline constexpr char const* stack_distance = "stack_distance";
inline constexpr char const* footprint_bytes = "footprint_bytes";
inline constexpr char const* sync = "sync";
inline constexpr char const* sync_loop = "sync_loop";
inline constexpr char const* sync_source = "sync_source";
inline constexpr char const* loop_sequential = "loop_sequential";
inline constexpr char const* loop_parallel = "loop_parallel";
inline constexpr char const* loop_reduction = "loop_reduction";
inline constexpr char const* loop_entries = "loop_entries";
inline constexpr char const* uninstrumented_call = "uninstrumented_call";
inline constexpr char const* sample_rate = "sample_rate";
inline constexpr char const* sample_error = "sample_error";
inline constexpr char const* invocations = "invocations";
}  // namespace quantity

}  // namespace kernelcast::record
