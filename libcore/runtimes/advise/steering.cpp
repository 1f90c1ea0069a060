#include "runtimes/advise/steering.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <sstream>

#include <fmt/format.h>

#include "runtimes/attach/spool.hpp"

namespace kernelcast::advise {

using attach::Decision;
using attach::Spooled;

namespace {

constexpr std::size_t table_bytes = attach::max_configurations * sizeof(Decision);

bool is_place(std::string const& text) {
  return text.find_first_not_of("0123456789.") == std::string::npos;
}

// As many of its units; all else is shared by the parts.
device::Device part_of(device::Device device, std::uint64_t units, std::uint64_t of) {
  if (device.compute_units && units < of && of > 0) {
    auto const share =
        static_cast<double>(*device.compute_units) * static_cast<double>(units) / static_cast<double>(of);
    device.compute_units = std::max<std::uint64_t>(1, static_cast<std::uint64_t>(std::llround(share)));
  }
  return device;
}

std::string joined(std::vector<OpenClDevice const*> const& devices, bool ids) {
  std::string out;
  for (auto const* const device : devices) {
    std::string const text = !ids ? device->place : device->as ? device->as->device : std::string{};
    if (!text.empty()) out += (out.empty() ? "" : "+") + text;
  }
  return out;
}

}  // namespace

DeviceMapping parse_mapping(std::string const& text, device::DeviceDatabase const& database) {
  auto const equals = text.rfind('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size())
    throw Error(Status::usage, fmt::format("--device-map '{}': expected an OpenCL device, '=' and a device", text),
                "--device-map 0=a100, or --device-map 'NVIDIA A100=a100'; clinfo -l lists OpenCL devices");
  return {text.substr(0, equals), &database.find(text.substr(equals + 1))};
}

Steering::Table::Table(std::string const& path) {
  int const file = open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (file == -1) return;
  struct stat facts{};
  void* content = MAP_FAILED;
  if (fstat(file, &facts) == 0 && static_cast<std::size_t>(facts.st_size) >= table_bytes)
    content = mmap(nullptr, table_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  if (content != MAP_FAILED) decisions_ = static_cast<Decision*>(content);
}

Steering::Table::~Table() {
  if (decisions_) munmap(decisions_, table_bytes);
}

Decision* Steering::Table::at(std::uint64_t number) const {
  return decisions_ && number < attach::max_configurations ? decisions_ + number : nullptr;
}

Decision* Steering::decision(Spooled const& of) {
  auto& table = tables_[of.process];
  if (!table || !table->at(0)) table = std::make_unique<Table>(spool_.folder() + "/steering-" + of.process);
  return table->at(of.number);
}

// ---------------------------------------------------------------- devices

void Steering::look() {
  bool more = false;
  for (auto const& file : spool_.files("context-", ".txt"))
    if (seen_.insert(file.file).second) {
      read_context(file);
      more = true;
    }
  if (!more) return;
  for (auto const& outcome : std::exchange(decided_, {})) decide(outcome);
}

void Steering::read_context(Spooled const& of) {
  std::ifstream file(spool_.path(of));
  Context context;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    OpenClDevice device;
    device.process = of.process;
    std::string number;
    words >> number >> device.place >> device.units >> device.units_of_whole >> std::ws;
    std::getline(words, device.name);
    if (number != "-") device.number = static_cast<unsigned>(std::stoul(number));
    device.as = taken_for(device);
    context.push_back(std::move(device));
  }
  contexts_.push_back(std::move(context));
}

std::optional<device::Device> Steering::taken_for(OpenClDevice const& device) {
  std::string const whole = device.place.substr(0, device.place.find('.'));
  auto const use = [&](DeviceMapping const& mapping) {
    used_mappings_.insert(mapping.opencl);
    return *mapping.device;
  };
  for (auto const& mapping : options_.mappings)  // the part itself, as it is
    if (mapping.opencl == device.place) return use(mapping);
  for (auto const& mapping : options_.mappings)
    if (mapping.opencl == whole || (!is_place(mapping.opencl) && device.name.find(mapping.opencl) != std::string::npos))
      return part_of(use(mapping), device.units, device.units_of_whole);
  try {
    return part_of(options_.database->find(device.name), device.units, device.units_of_whole);
  } catch (Error const&) {
    return std::nullopt;  // remarks() says so
  }
}

std::vector<OpenClDevice const*> Steering::devices(std::string const& process, std::uint32_t numbers) const {
  std::map<unsigned, OpenClDevice const*> found;
  for (auto const& context : contexts_)
    for (auto const& device : context)
      if (device.process == process && device.number < attach::max_steered_devices &&
          (numbers >> device.number & 1) != 0)
        found[device.number] = &device;
  std::vector<OpenClDevice const*> out;
  for (auto const& [number, device] : found) out.push_back(device);
  return out;
}

// Of the contexts that it is in.
std::vector<OpenClDevice const*> Steering::others(OpenClDevice const& device) const {
  std::vector<OpenClDevice const*> out;
  for (auto const& context : contexts_) {
    bool const within = std::any_of(context.begin(), context.end(), [&](OpenClDevice const& d) {
      return d.process == device.process && d.place == device.place;
    });
    for (auto const& other : context)
      if (within && other.place != device.place) out.push_back(&other);
  }
  return out;
}

// ---------------------------------------------------------------- decisions

std::string Steering::decide(Outcome const& outcome) {
  decided_.push_back(outcome);
  auto* const decision = this->decision(outcome.of);
  if (!decision) return {};
  std::vector<double> times;
  std::map<unsigned, double> time_of;
  model::queue::Kernel const ready(outcome.row);
  for (auto const* const device : devices(outcome.of.process, ~std::uint32_t{0})) {
    if (!device->as) continue;
    auto const time_s = ready.project(*device->as, options_.model).time_s;
    if (!time_s) continue;
    time_of[device->number] = *time_s;
    times.push_back(*time_s);
  }
  std::sort(times.begin(), times.end());
  times.erase(std::unique(times.begin(), times.end()), times.end());
  std::uint64_t ranks = 0;
  for (auto const& [number, time_s] : time_of) {
    auto const place = static_cast<std::uint64_t>(std::lower_bound(times.begin(), times.end(), time_s) - times.begin());
    ranks |= std::min<std::uint64_t>(place + 1, attach::last_rank) << 4 * number;
  }
  decision->ranks.store(ranks, std::memory_order_relaxed);
  // Where that sends the launches that were seen so far.
  std::vector<OpenClDevice const*> to;
  for (auto const* const from : devices(outcome.of.process, decision->from)) {
    OpenClDevice const* best = from;
    for (auto const* const other : others(*from)) {
      auto const rank = attach::rank_of(ranks, other->number), least = attach::rank_of(ranks, best->number);
      if (rank > 0 && rank < least) best = other;
    }
    if (best != from && std::find(to.begin(), to.end(), best) == to.end()) to.push_back(best);
  }
  return joined(to, true);
}

// ---------------------------------------------------------------- what came of it

std::string Steering::reason_not_steered(Outcome const& outcome, Decision const& decision) const {
  std::ifstream refusal(fmt::format("{}/unsteered-{}-{}.txt", spool_.folder(), outcome.of.process, outcome.of.number));
  std::string kernel, why;
  if (std::getline(refusal, kernel) && std::getline(refusal, why)) return why;
  auto const from = devices(outcome.of.process, decision.from);
  if (from.empty()) return "its context has one device";
  auto const ranks = decision.ranks.load();
  bool alone = true, beaten = false;
  for (auto const* const own : from) {
    auto const least = attach::rank_of(ranks, own->number);
    if (least == 0) return fmt::format("no time is projected for its own device, {}", own->place);
    for (auto const* const other : others(*own)) {
      auto const rank = attach::rank_of(ranks, other->number);
      alone = alone && rank == 0;
      beaten = beaten || (rank > 0 && rank < least);
    }
  }
  return alone    ? "no time is projected for another device of its context"
         : beaten ? "it was not launched after the decision"
                  : "no other device of its context is projected to be faster";
}

record::Steering Steering::row(Outcome const& outcome, std::uint64_t launches, std::string const& no_advice) const {
  record::Steering out;
  out.kernel = outcome.row.kernel;
  out.case_name = outcome.row.case_name;
  out.launches = launches;
  out.reason = no_advice;
  auto const table = tables_.find(outcome.of.process);
  auto const* const decision = table == tables_.end() ? nullptr : table->second->at(outcome.of.number);
  if (!decision) {
    if (out.reason.empty()) out.reason = "its context has one device";
    return out;
  }
  auto const from = devices(outcome.of.process, decision->from), to = devices(outcome.of.process, decision->to);
  out.place = joined(from, false);
  out.device = joined(from, true);
  out.to_place = joined(to, false);
  out.to_device = joined(to, true);
  out.launches_steered = decision->steered;
  if (out.launches_steered == 0 && out.reason.empty()) out.reason = reason_not_steered(outcome, *decision);
  return out;
}

std::vector<std::string> Steering::remarks() const {
  std::vector<std::string> out;
  bool const several =
      std::any_of(contexts_.begin(), contexts_.end(), [](Context const& context) { return context.size() > 1; });
  if (!several) {
    out.emplace_back(contexts_.empty() ? "nothing was steered: the application made no OpenCL command queue"
                                       : "nothing was steered: each context of the application has one device");
    return out;
  }
  for (auto const& mapping : options_.mappings)
    if (!used_mappings_.contains(mapping.opencl))
      out.push_back(fmt::format("--device-map '{}={}': no context of the application has such a device", mapping.opencl,
                                mapping.device->device));
  std::set<std::string> reported;
  for (auto const& context : contexts_)
    for (auto const& device : context) {
      if (context.size() < 2 || !reported.insert(device.place).second) continue;
      if (device.number == attach::max_steered_devices)
        out.push_back(fmt::format("OpenCL device {} is not steered to: it is beyond the first {}", device.place,
                                  attach::max_steered_devices));
      else if (!device.as)
        out.push_back(
            fmt::format("OpenCL device {} is not steered to or from: no device of the database is called '{}'\n"
                        "hint: --device-map {}=ID names its device of the database",
                        device.place, device.name, device.place));
    }
  return out;
}

}  // namespace kernelcast::advise
