#include "attach/settings.hpp"

#include <cstdlib>
#include <thread>

#include <fmt/format.h>

#include "process/setting.hpp"

namespace kernelcast::attach {

namespace {

std::string variable(char const* name) {
  char const* const value = setting(name);
  return value ? value : "";
}

template <class T>
void read_number(char const* name, T& to) {
  if (auto const text = variable(name); !text.empty()) to = static_cast<T>(std::strtoull(text.c_str(), nullptr, 10));
}

std::vector<std::string> words(std::string const& text) {
  std::vector<std::string> out;
  for (std::size_t at = 0; at < text.size();) {
    auto const comma = std::min(text.find(',', at), text.size());
    if (comma > at) out.push_back(text.substr(at, comma - at));
    at = comma + 1;
  }
  return out;
}

}  // namespace

Settings settings_of_environment() {
  Settings out;
  out.spool = variable("KERNELCAST_CUDA_SPOOL");
  out.every = variable("KERNELCAST_EVERY");
  out.keep = variable("KERNELCAST_CUDA_KEEP") == "1";
  out.commands = !variable("KERNELCAST_COMMANDS").empty();
  out.database = variable("KERNELCAST_DEVDB");
  out.devices = words(variable("KERNELCAST_CUDA_AS"));
  if (out.devices.empty()) out.devices.emplace_back(default_device);
  if (auto const groups = variable("KERNELCAST_CUDA_GROUPS"); !groups.empty())
    out.groups = launch::parse_groups(groups);
  read_number("KERNELCAST_CUDA_BUDGET", out.budget);
  out.threads = std::max(1u, std::thread::hardware_concurrency());
  read_number("KERNELCAST_CUDA_THREADS", out.threads);
  read_number("KERNELCAST_CUDA_MEMORY", out.memory_bytes);
  read_number("KERNELCAST_CUDA_STACK", out.stack_bytes);
  read_number("KERNELCAST_CUDA_HEAP", out.heap_bytes);
  read_number("KERNELCAST_CUDA_STEPS", out.limits.max_steps);
  out.limits.timeout_s = std::strtod(variable("KERNELCAST_CUDA_TIMEOUT").c_str(), nullptr);
  out.limits.in_order = variable("KERNELCAST_CUDA_ORDER") == "1";
  return out;
}

std::vector<std::string> environment_of(Settings const& settings) {
  std::string devices;
  for (auto const& device : settings.devices) devices += (devices.empty() ? "" : ",") + device;
  return {"KERNELCAST_CUDA_SPOOL=" + settings.spool,
          "KERNELCAST_DEVDB=" + settings.database,
          "KERNELCAST_CUDA_AS=" + devices,
          "KERNELCAST_CUDA_GROUPS=" + launch::text_of(settings.groups),
          fmt::format("KERNELCAST_CUDA_BUDGET={}", settings.budget),
          fmt::format("KERNELCAST_CUDA_THREADS={}", settings.threads),
          fmt::format("KERNELCAST_CUDA_MEMORY={}", settings.memory_bytes),
          fmt::format("KERNELCAST_CUDA_STACK={}", settings.stack_bytes),
          fmt::format("KERNELCAST_CUDA_HEAP={}", settings.heap_bytes),
          fmt::format("KERNELCAST_CUDA_STEPS={}", settings.limits.max_steps),
          fmt::format("KERNELCAST_CUDA_TIMEOUT={}", settings.limits.timeout_s),
          fmt::format("KERNELCAST_CUDA_ORDER={}", settings.limits.in_order ? 1 : 0),
          fmt::format("KERNELCAST_CUDA_KEEP={}", settings.keep ? 1 : 0)};
}

}  // namespace kernelcast::attach
