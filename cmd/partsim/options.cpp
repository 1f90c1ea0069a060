#include "options.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <numeric>
#include <optional>

#include <fmt/format.h>

namespace kernelcast::partsim {

namespace fs = std::filesystem;

namespace {

constexpr double most_points = 1e6;

std::optional<std::uint64_t> whole(std::string_view text) {
  std::uint64_t value = 0;
  auto const result = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || result.ec != std::errc() || result.ptr != text.data() + text.size()) return std::nullopt;
  return value;
}

std::vector<std::string_view> split(std::string_view text, char at) {
  std::vector<std::string_view> out;
  for (;;) {
    auto const end = text.find(at);
    out.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return out;
    text.remove_prefix(end + 1);
  }
}

}  // namespace

std::vector<double> sizes(std::vector<std::string> const& texts) {
  std::vector<double> out;
  for (auto const& text : texts) {
    auto const refuse = [&] {
      return Error(Status::usage, fmt::format("--n: '{}' is no size and no range", text),
                   "for example 4096, or 4096:61440:4096 for low, high and step");
    };
    auto const parts = split(text, ':');
    std::vector<double> numbers;
    for (auto const& part : parts) {
      auto const value = whole(part);
      if (!value || *value == 0 || *value > (std::uint64_t{1} << 52)) throw refuse();
      numbers.push_back(static_cast<double>(*value));
    }
    if (numbers.size() == 1) {
      out.push_back(numbers[0]);
    } else if (numbers.size() == 3 && numbers[0] <= numbers[1] &&
               (numbers[1] - numbers[0]) / numbers[2] < most_points) {
      for (double n = numbers[0]; n <= numbers[1]; n += numbers[2]) out.push_back(n);
    } else {
      throw refuse();
    }
  }
  if (out.empty())
    throw Error(Status::usage, "no problem size", "--n 4096, or --n 4096:61440:4096 for low, high and step");
  return out;
}

std::vector<std::uint32_t> gpu_counts(std::vector<std::string> const& texts, std::size_t most) {
  std::vector<std::uint32_t> out;
  for (auto const& text : texts) {
    auto const ends = split(text, '-');
    auto const low = whole(ends.front()), high = whole(ends.back());
    if (ends.size() > 2 || !low || !high || *low == 0 || *high < *low || *high > 4096)
      throw Error(Status::usage, fmt::format("--gpus: '{}' is no number of GPUs and no range", text),
                  "for example 4, or 1-16");
    for (auto g = *low; g <= *high; ++g) out.push_back(static_cast<std::uint32_t>(g));
  }
  if (texts.empty())
    for (std::size_t g = 1; g <= most; ++g) out.push_back(static_cast<std::uint32_t>(g));
  return out;
}

std::vector<graph::HostBuffer> host_buffers(std::vector<std::string> const& texts, graph::Interconnect const& system,
                                            bool any) {
  std::vector<graph::HostBuffer> out;
  std::vector<std::string> known{"nearest"};
  for (std::size_t h = 0; h < system.host_count(); ++h) known.push_back(fmt::format("host{}", h));
  for (auto const& text : texts) {
    auto const found = std::find(known.begin(), known.end(), text);
    if (found == known.end())
      throw Error(Status::usage, fmt::format("--host-buffer: {} has no '{}'", system.name(), text),
                  did_you_mean(text, known));
    auto const place = static_cast<std::size_t>(found - known.begin());
    out.push_back(place == 0 ? graph::HostBuffer{} : graph::HostBuffer{place - 1});
  }
  if (!out.empty()) return out;
  if (!any) return {graph::HostBuffer{0}};
  for (std::size_t h = 0; h < system.host_count(); ++h) out.push_back({h});
  if (system.host_count() > 1) out.push_back({});
  return out;
}

std::vector<std::size_t> map_of(std::vector<std::string> const& texts, graph::Interconnect const& system,
                                std::uint32_t parts) {
  std::vector<std::size_t> out;
  for (auto const& text : texts) {
    auto const gpu = whole(text);
    if (!gpu || *gpu >= system.gpu_count())
      throw Error(Status::usage, fmt::format("--map: {} has no GPU '{}'", system.name(), text),
                  fmt::format("its GPUs are 0 to {}", system.gpu_count() - 1));
    if (std::find(out.begin(), out.end(), *gpu) != out.end())
      throw Error(Status::usage, fmt::format("--map: GPU {} stands twice", *gpu), "each part has a GPU of its own");
    out.push_back(*gpu);
  }
  if (texts.empty()) {
    out.resize(parts);
    std::iota(out.begin(), out.end(), 0);
  }
  if (out.size() < parts)
    throw Error(Status::usage, fmt::format("--map names {} GPUs for {} parts", out.size(), parts),
                "one for each part, or lower --gpus");
  out.resize(parts);
  return out;
}

graph::SimulationOptions simulation_options(Options const& options) {
  graph::SimulationOptions out;
  out.allocation = options.alloc == "seed"     ? graph::Allocation::seed
                   : options.alloc == "rounds" ? graph::Allocation::rounds
                                               : graph::Allocation::maxmin;
  out.fair_copies = options.fair == "copies";
  out.launch_overhead_s = options.launch_overhead_s;
  out.copy_overhead_s = options.copy_overhead_s;
  out.copy_engines = options.copy_engines;
  return out;
}

Shard shard(std::string const& text) {
  if (text.empty()) return {};
  std::string_view parts[2];
  if (text == "slurm") {
    char const* const id = std::getenv("SLURM_ARRAY_TASK_ID");
    char const* const count = std::getenv("SLURM_ARRAY_TASK_COUNT");
    if (!id || !count)
      throw Error(Status::usage, "--shard slurm: SLURM_ARRAY_TASK_ID and SLURM_ARRAY_TASK_COUNT are not both set",
                  "run it in an array job, or give --shard i/N");
    parts[0] = id;
    parts[1] = count;
  } else if (auto const pieces = split(text, '/'); pieces.size() == 2) {
    parts[0] = pieces[0];
    parts[1] = pieces[1];
  }
  auto const index = whole(parts[0]), count = whole(parts[1]);
  if (!index || !count || *count == 0 || *index >= *count)
    throw Error(Status::usage, fmt::format("--shard: '{}' is not i/N with i below N", text), "for example 0/4 to 3/4");
  return {*index, *count};
}

std::string find_file(std::string const& devdb, std::string const& folder, std::string const& extension,
                      std::string const& name, std::string const& option) {
  if (name.find('/') != std::string::npos || fs::path(name).has_extension()) return name;
  auto const file = fs::path(devdb) / folder / (name + extension);
  std::error_code error;
  if (fs::is_regular_file(file, error)) return file.string();
  std::vector<std::string> known;
  for (auto const& entry : fs::directory_iterator(fs::path(devdb) / folder, error))
    if (entry.path().extension() == extension) known.push_back(entry.path().stem().string());
  std::sort(known.begin(), known.end());
  throw Error(Status::unavailable,
              fmt::format("{}: there is no '{}' in {}", option, name, (fs::path(devdb) / folder).string()),
              did_you_mean(name, known, 20) + "; a path has a / or an extension");
}

}  // namespace kernelcast::partsim
