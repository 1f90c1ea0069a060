#include "models/perdome/partition.hpp"

#include <numeric>

#include <fmt/format.h>

#include "base/diag/text.hpp"

namespace kernelcast::model::perdome {

namespace {

constexpr auto ways =
    "give intensity, intensity_cpu and intensity_gpu, or flops_cpu, bytes_cpu, flops_gpu and bytes_gpu, or "
    "flops_each and bytes_each";

std::vector<double> numbers(PartitionRows const& rows, char const* column, std::string const& text) {
  std::vector<double> out;
  for (auto const part : split(text, ';')) {
    auto const value = to_number<double>(part);
    if (!value || !(*value >= 0) || !(*value <= 1e300))
      throw rows.error(column, fmt::format("'{}' is not a number of 0 or more", part),
                       "numbers in the order of the system, joined by ;");
    out.push_back(*value);
  }
  return out;
}

double sum(std::vector<double> const& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

std::vector<double> parts(std::vector<double> values) {
  double const all = sum(values);
  for (double& value : values) value /= all;
  return values;
}

// Raw operations and bytes need no lemma: whatever they are, such a division exists.
void from_raw(PartitionRows const& rows, std::vector<double> const& flops, std::vector<double> const& bytes,
              char const* flops_column, char const* bytes_column, PartitionedWork& work) {
  if (flops.size() != bytes.size())
    throw rows.error(bytes_column, fmt::format("{} numbers, but {} in {}", bytes.size(), flops.size(), flops_column),
                     "one for each processor");
  if (!(sum(flops) > 0)) throw rows.error(flops_column, "no operations at all", ways);
  if (!(sum(bytes) > 0)) throw rows.error(bytes_column, "no bytes at all", ways);
  work.intensity = sum(flops) / sum(bytes);
  work.division = Division{parts(flops), parts(bytes)};
}

bool from_pair(PartitionRows const& rows, record::Partition const& row, PartitionedWork& work) {
  std::pair<char const*, std::optional<double>> const cells[] = {{"flops_cpu", row.flops_cpu},
                                                                 {"bytes_cpu", row.bytes_cpu},
                                                                 {"flops_gpu", row.flops_gpu},
                                                                 {"bytes_gpu", row.bytes_gpu}};
  bool any = false;
  for (auto const& [column, value] : cells) any |= value.has_value();
  if (!any) return false;
  for (auto const& [column, value] : cells) {
    if (!value && rows.has(column))
      throw rows.error(column, "is empty while others of the four are not", "all four or none");
    if (!value)
      throw rows.error("partition", fmt::format("there is no column '{}'", column), "all four of them or none");
    if (*value < 0) throw rows.error(column, "must not be negative", "0: nothing");
  }
  from_raw(rows, {*row.flops_cpu, *row.flops_gpu}, {*row.bytes_cpu, *row.bytes_gpu}, "flops_cpu", "bytes_cpu", work);
  return true;
}

void from_intensities(PartitionRows const& rows, record::Partition const& row, PartitionedWork& work) {
  std::pair<char const*, std::optional<double>> const cells[] = {
      {"intensity", row.intensity}, {"intensity_cpu", row.intensity_cpu}, {"intensity_gpu", row.intensity_gpu}};
  bool const whole_only = row.intensity && !row.intensity_cpu && !row.intensity_gpu;  // p-DP
  for (auto const& [column, value] : cells) {
    if (whole_only && !value) continue;
    if (!value) throw rows.error(rows.has(column) ? column : "partition", fmt::format("no {}", column), ways);
    if (*value < 0) throw rows.error(column, "an intensity must not be negative", "0: the processor is unused");
  }
  if (!(*row.intensity > 0)) throw rows.error("intensity", "the intensity of the whole must be above 0", ways);
  work.intensity = *row.intensity;
  if (whole_only) return;
  if (auto const why = lemma_violation(*row.intensity, *row.intensity_cpu, *row.intensity_gpu); !why.empty())
    throw rows.error("intensity_cpu", fmt::format("partition '{}': {}", work.name, why),
                     "rounded intensities may violate a lemma; operations and bytes do not");
  if (*row.intensity_cpu != *row.intensity_gpu)
    work.division = division(*row.intensity, *row.intensity_cpu, *row.intensity_gpu);
}

}  // namespace

PartitionedWork work_of(PartitionRows const& rows, record::Partition const& row) {
  PartitionedWork work{row.partition, row.system, 0, std::nullopt, 0, {}};
  if (row.flops_each.empty() != row.bytes_each.empty())
    throw rows.error(row.flops_each.empty() ? "bytes_each" : "flops_each", "one list without the other", ways);
  if (!row.flops_each.empty())
    from_raw(rows, numbers(rows, "flops_each", row.flops_each), numbers(rows, "bytes_each", row.bytes_each),
             "flops_each", "bytes_each", work);
  else if (!from_pair(rows, row, work))
    from_intensities(rows, row, work);
  if (row.link_intensity) {
    if (!(*row.link_intensity > 0)) throw rows.error("link_intensity", "must be above 0", "empty: nothing crosses");
    work.link_bytes_per_flop = 1 / *row.link_intensity;
  } else if (row.link_bytes) {
    double flops = row.flops_cpu.value_or(0) + row.flops_gpu.value_or(0);
    if (!row.flops_each.empty()) flops = sum(numbers(rows, "flops_each", row.flops_each));
    if (!(flops > 0))
      throw rows.error("link_bytes", "bytes across the link need operations to relate to",
                       "with intensities give link_intensity, operations per byte across the link");
    if (*row.link_bytes < 0) throw rows.error("link_bytes", "must not be negative", "0: nothing crosses");
    work.link_bytes_per_flop = *row.link_bytes / flops;
  }
  return work;
}

std::string joined(std::vector<double> const& values) {
  std::string out;
  for (double const value : values) {
    if (!out.empty()) out += ';';
    out += record::number_text(value);
  }
  return out;
}

}  // namespace kernelcast::model::perdome
