// Power of a GPU by NVIDIA's management library, by dlopen: built without a toolkit, and where the library is missing
// that is said.
//
// Problem: the sensor's value changes 10 to 100 times a second, often as a mean over what came before.
// Method: a thread looks every few milliseconds while a kernel is repeated. Where the device counts energy, power is
// the energy between the first and the last change of the counter over the time between them. Else it is the mean of
// the sensor's values in the second half of the repetition, when those before it no longer weigh [braun] section 5.3.3.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>

namespace kernelcast::attach::collect {

struct Power {
  std::optional<double> watts;
  std::string source;       // energy_counter, sensor; empty without watts
  std::size_t samples = 0;  // values of the counter or the sensor that it rests on
  std::string missing;      // why there are no watts
};

// Why NVML cannot be used: not installed, does not start, sees no device. Empty: it can.
std::string nvml_missing();

class PowerMeter {
 public:
  // A device by its PCI address as the CUDA runtime writes it, or by number where that is empty.
  PowerMeter(std::string const& pci_address, unsigned number);
  ~PowerMeter();
  PowerMeter(PowerMeter&&) noexcept;

  std::string const& name() const;  // the device's marketing name; empty when NVML does not tell
  void start();
  Power stop();  // since start(); nothing without one

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace kernelcast::attach::collect
