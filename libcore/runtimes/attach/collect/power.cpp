#include "runtimes/attach/collect/power.hpp"

#include <dlfcn.h>

#include <array>
#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include <fmt/format.h>

namespace kernelcast::attach::collect {

namespace {

// Names, types and values of nvml.h.
using Device = struct DeviceTag*;  // nvmlDevice_t
using Result = int;                // nvmlReturn_t; 0 is success

struct Nvml {
  Result (*init)() = nullptr;
  char const* (*error_text)(Result) = nullptr;
  Result (*device_count)(unsigned*) = nullptr;
  Result (*by_number)(unsigned, Device*) = nullptr;
  Result (*by_address)(char const*, Device*) = nullptr;
  Result (*name)(Device, char*, unsigned) = nullptr;
  Result (*power_mw)(Device, unsigned*) = nullptr;
  Result (*energy_mj)(Device, unsigned long long*) = nullptr;  // null in old libraries
  std::string missing;
};

Nvml load() {
  Nvml out;
  void* const library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    out.missing = "there is no NVIDIA management library (libnvidia-ml.so.1)";
    return out;
  }
  auto const resolve = [&](auto& member, char const* symbol, bool needed) {
    member = reinterpret_cast<std::remove_reference_t<decltype(member)>>(dlsym(library, symbol));
    if (!member && needed) out.missing = fmt::format("the NVIDIA management library has no {}: it is too old", symbol);
  };
  resolve(out.init, "nvmlInit_v2", true);
  resolve(out.error_text, "nvmlErrorString", true);
  resolve(out.device_count, "nvmlDeviceGetCount_v2", true);
  resolve(out.by_number, "nvmlDeviceGetHandleByIndex_v2", true);
  resolve(out.by_address, "nvmlDeviceGetHandleByPciBusId_v2", true);
  resolve(out.name, "nvmlDeviceGetName", true);
  resolve(out.power_mw, "nvmlDeviceGetPowerUsage", true);
  resolve(out.energy_mj, "nvmlDeviceGetTotalEnergyConsumption", false);
  if (!out.missing.empty()) return out;
  unsigned count = 0;
  if (Result const result = out.init(); result != 0)
    out.missing = fmt::format("the NVIDIA management library does not start: {}", out.error_text(result));
  else if (out.device_count(&count) != 0 || count == 0)
    out.missing = "the NVIDIA management library sees no device";
  return out;
}

Nvml const& nvml() {
  static Nvml const library = load();
  return library;
}

using Clock = std::chrono::steady_clock;

struct Sample {
  Clock::time_point at;
  double value;
};

double seconds_between(Sample const& a, Sample const& b) {
  return std::chrono::duration<double>(b.at - a.at).count();
}

// Adds a value that differs from the last one.
void add_change(std::vector<Sample>& samples, Sample const& sample) {
  if (samples.empty() || samples.back().value != sample.value) samples.push_back(sample);
}

}  // namespace

std::string nvml_missing() {
  return nvml().missing;
}

struct PowerMeter::State {
  static constexpr auto period = std::chrono::milliseconds(5);
  Device device = nullptr;
  std::string name, missing;
  std::atomic<bool> running{false};
  std::vector<Sample> joules, watts;  // of the counter: where it changed
  Result power_result = 0;
  std::thread thread;

  // A value that took long to come may be older than its time says.
  void sample() {
    unsigned long long energy_mj = 0;
    unsigned power_mw = 0;
    auto const before = Clock::now();
    bool const counted = nvml().energy_mj && nvml().energy_mj(device, &energy_mj) == 0;
    auto const after = Clock::now();
    if (counted && after - before < period) add_change(joules, {before, static_cast<double>(energy_mj) * 1e-3});
    if (power_result = nvml().power_mw(device, &power_mw); power_result == 0) watts.push_back({after, power_mw * 1e-3});
  }

  // The first value of the counter may be as old as its period: changes count from the second on.
  bool by_counter(Power& out) const {
    if (joules.size() < 3) return false;
    auto const &first = joules[1], &last = joules.back();
    if (!(last.value > first.value) || seconds_between(first, last) < 0.1) return false;
    out.watts = (last.value - first.value) / seconds_between(first, last);
    out.source = "energy_counter";
    out.samples = joules.size() - 1;
    return true;
  }

  bool by_sensor(Power& out) const {
    if (watts.empty()) return false;
    double sum = 0;
    for (auto const& sample : watts)
      if (seconds_between(watts.front(), sample) >= seconds_between(watts.front(), watts.back()) / 2) {
        sum += sample.value;
        ++out.samples;
      }
    out.watts = sum / static_cast<double>(out.samples);
    out.source = "sensor";
    return true;
  }
};

PowerMeter::PowerMeter(std::string const& pci_address, unsigned number) : state_(std::make_unique<State>()) {
  state_->missing = nvml().missing;
  if (!state_->missing.empty()) return;
  Result const result = pci_address.empty() ? nvml().by_number(number, &state_->device)
                                            : nvml().by_address(pci_address.c_str(), &state_->device);
  if (result != 0) {
    state_->missing =
        fmt::format("the NVIDIA management library does not know device {}: {}",
                    pci_address.empty() ? std::to_string(number) : pci_address, nvml().error_text(result));
    return;
  }
  std::array<char, 97> text{};  // NVML_DEVICE_NAME_V2_BUFFER_SIZE and an end
  if (nvml().name(state_->device, text.data(), text.size() - 1) == 0) state_->name = text.data();
}

PowerMeter::~PowerMeter() {
  if (state_ && state_->running) stop();
}

PowerMeter::PowerMeter(PowerMeter&&) noexcept = default;

std::string const& PowerMeter::name() const {
  return state_->name;
}

void PowerMeter::start() {
  if (!state_->missing.empty()) return;
  state_->joules.clear();
  state_->watts.clear();
  state_->running = true;
  state_->thread = std::thread([state = state_.get()] {
    while (state->running) {
      state->sample();
      std::this_thread::sleep_for(State::period);
    }
  });
}

Power PowerMeter::stop() {
  Power out;
  out.missing = state_->missing;
  if (!out.missing.empty() || !state_->running) return out;
  state_->running = false;
  state_->thread.join();
  if (!state_->by_counter(out) && !state_->by_sensor(out))
    out.missing = fmt::format("the device reports no power: {}", nvml().error_text(state_->power_result));
  return out;
}

}  // namespace kernelcast::attach::collect
