// Which devices there are, and finding one by what a user calls it.
#include <algorithm>
#include <cctype>
#include <regex>

#include <fmt/format.h>

#include "base/diag/text.hpp"
#include "measure/probe/probe.hpp"

namespace kernelcast::probe {

std::string slug(std::string_view name) {
  std::string text(name);
  static std::regex const noise(R"(\((R|TM|r|tm|C)\)|\bCPU\b|\bProcessor\b|@.*$|\b\d+-Core\b)");
  text = std::regex_replace(text, noise, " ");
  std::string out;
  for (char const c : text) {
    if (std::isalnum(static_cast<unsigned char>(c)))
      out += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    else if (!out.empty() && out.back() != '-')
      out += '-';
  }
  while (!out.empty() && out.back() == '-') out.pop_back();
  return out.empty() ? "device" : out;
}

std::vector<Bench> const& benches() {
  static std::vector<Bench> const all{
      {"facts", "what the driver states: units, memory, limits"},
      {"clock", "clock under load"},
      {"flops", "peaks of fp32, fp64, fp16, integer and special arithmetic"},
      {"global", "memory bandwidth over occupancy, word size and access"},
      {"cache", "bandwidth of the caches"},
      {"shared", "shared memory bandwidth over occupancy and bank conflicts"},
      {"texture", "bandwidth through images"},
      {"constant", "bandwidth of constant memory"},
      {"latency", "latency of loads over the working set, caches and lines found from it"},
      {"atomics", "atomic additions per second"},
      {"launch", "kernel launch and compile time"},
      {"copy", "copies between host and device, and between devices"},
      {"barrier", "global barrier"},
      {"instruction", "latency and gap of instruction classes"},
  };
  return all;
}

std::set<std::string> choose_benches(std::vector<std::string> const& names) {
  std::vector<std::string> known;
  for (auto const& bench : benches()) known.emplace_back(bench.name);
  for (auto const& name : names)
    if (std::find(known.begin(), known.end(), name) == known.end())
      throw Error(Status::usage, fmt::format("no benchmark '{}'", name), did_you_mean(name, known, known.size()));
  return {names.begin(), names.end()};
}

std::string slug(Facts const& facts, device::DeviceDatabase const& database) {
  auto const wanted = slug(facts.name);
  for (auto const& known : database.devices()) {
    auto const is_wanted = [&](std::string_view name) {
      return slug(name) == wanted || slug(fmt::format("{} {}", known.vendor, name)) == wanted;
    };
    if (is_wanted(known.name) || std::ranges::any_of(listed(known.alias), is_wanted)) return known.device;
  }
  return facts.device;
}

record::ProbedDevice row_of(Listed const& listed) {
  auto const& facts = listed.facts;
  record::ProbedDevice row;
  row.spec = facts.spec;
  row.device = facts.device;
  row.backend = facts.backend;
  row.kind = facts.kind;
  row.name = facts.name;
  row.vendor = facts.vendor;
  row.driver = facts.driver;
  if (facts.compute_units > 0) row.compute_units = facts.compute_units;
  if (facts.clock_hz > 0) row.clock_hz = facts.clock_hz;
  if (facts.memory_bytes > 0) row.memory_bytes = facts.memory_bytes;
  row.status = listed.status;
  row.reason = listed.reason;
  return row;
}

Devices::Devices() {
  backends_.push_back(cuda_backend());
  backends_.push_back(cpu_backend());
  backends_.push_back(opencl_backend());
  std::vector<Listed> others;
  for (auto const& backend : backends_)
    for (auto& listed : backend->list()) (listed.facts.kind == "gpu" ? all_ : others).push_back(std::move(listed));
  all_.insert(all_.end(), others.begin(), others.end());
}

namespace {

std::string lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(), [](unsigned char c) { return std::tolower(c); });
  return out;
}

bool matches(Facts const& facts, std::string const& wanted) {
  if (facts.spec == wanted || facts.backend == wanted || facts.device == wanted || slug(wanted) == facts.device)
    return true;
  return wanted.size() >= 3 && lower(facts.name).find(lower(wanted)) != std::string::npos;
}

}  // namespace

std::unique_ptr<Probe> Devices::open(std::string const& spec) {
  std::string known, unusable;
  for (auto const& listed : all_) {
    known += (known.empty() ? "" : ", ") + listed.facts.spec;
    if (!spec.empty() && !matches(listed.facts, spec)) continue;
    if (listed.status != record::RowStatus::ok) {
      if (unusable.empty()) unusable = fmt::format("{} cannot be used: {}", listed.facts.spec, listed.reason);
      continue;
    }
    for (auto const& backend : backends_)
      if (backend->name() == listed.facts.backend) return backend->open(listed.facts);
  }
  if (!unusable.empty()) throw Error(Status::unavailable, unusable, "devprobe --list shows every device and its state");
  for (auto const& backend : backends_)
    if (spec == backend->name() || spec.starts_with(backend->name() + ":"))
      if (auto const why = backend->absence(); !why.empty())
        throw Error(Status::unavailable, fmt::format("no device '{}': {}", spec, why), backend->absence_hint());
  throw Error(Status::unavailable, fmt::format("no device '{}'", spec), fmt::format("there are: {}", known));
}

}  // namespace kernelcast::probe
