#include "records/cli/shard.hpp"

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include <fmt/format.h>

#include "base/diag/text.hpp"
#include "records/cli/values.hpp"

namespace kernelcast::cli {

namespace {

// --array=1-4 counts from 1.
std::uint64_t first_of_slurm() {
  char const* const first = std::getenv("SLURM_ARRAY_TASK_MIN");
  return first ? to_number<std::uint64_t>(first).value_or(0) : 0;
}

}  // namespace

Shard::Shard(std::string const& text) {
  if (text.empty()) return;
  std::vector<std::string_view> parts;
  if (text == "slurm") {
    char const* const id = std::getenv("SLURM_ARRAY_TASK_ID");
    char const* const count = std::getenv("SLURM_ARRAY_TASK_COUNT");
    if (!id || !count)
      throw Error(Status::usage, "--shard slurm: SLURM_ARRAY_TASK_ID and SLURM_ARRAY_TASK_COUNT are not both set",
                  "run it in an array job, or give --shard i/N");
    parts = {id, count};
  } else {
    parts = split(text, '/');
  }
  auto index = to_number<std::uint64_t>(parts.front());
  auto const count = to_number<std::uint64_t>(parts.back());
  if (text == "slurm" && index) *index -= std::min(*index, first_of_slurm());
  if (parts.size() != 2 || !index || !count || *index >= *count)
    throw Error(Status::usage, fmt::format("--shard: '{}' is not i/N with i below N", text),
                "i counts from 0: the parts of 4 are 0/4 to 3/4");
  index_ = *index;
  count_ = *count;
}

CLI::Option* Shard::declare(Tool& tool, std::string& text) {
  return tool.app()
      .add_option("--shard", text, "part i of N of the sweep, counted from 0, or slurm: from the array job's variables")
      ->type_name("i/N");
}

}  // namespace kernelcast::cli
