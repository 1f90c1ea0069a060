#include "forest/collect/session.hpp"

#include <unistd.h>

#include <array>
#include <cstdlib>
#include <sstream>

#include <fmt/format.h>

#include "forest/collect/repeat.hpp"
#include "forest/collect/variables.hpp"
#include "process/setting.hpp"

namespace kernelcast::forest::collect {

namespace {

// Work-items of the grid/of a group, as flux-count --attach writes them.
std::string sizes_text(Dim3 grid, Dim3 block) {
  bool const deep = std::size_t{grid.z} * block.z > 1, wide = deep || std::size_t{grid.y} * block.y > 1;
  auto const text = [&](std::size_t x, std::size_t y, std::size_t z) {
    return deep ? fmt::format("{}x{}x{}", x, y, z) : wide ? fmt::format("{}x{}", x, y) : fmt::format("{}", x);
  };
  return text(std::size_t{grid.x} * block.x, std::size_t{grid.y} * block.y, std::size_t{grid.z} * block.z) + "/" +
         text(block.x, block.y, block.z);
}

std::string variable(char const* name) {
  char const* const text = setting(name);
  return text ? text : "";
}

// A pair of events around runs on a stream.
class Stopwatch {
 public:
  Stopwatch() {
    error_ = runtime().event_create(&begin_);
    if (error_ == 0) error_ = runtime().event_create(&end_);
  }
  ~Stopwatch() {
    if (begin_) runtime().event_destroy(begin_);
    if (end_) runtime().event_destroy(end_);
  }
  Stopwatch(Stopwatch const&) = delete;

  // Seconds of so many calls; below 0 when one failed.
  double time(std::uint64_t runs, Stream stream, std::function<Code()> const& call) {
    auto const& api = runtime();
    auto const go_on = [&](Code code) {
      if (error_ == 0) error_ = code;
      return error_ == 0;
    };
    float ms = 0;
    bool going = go_on(api.event_record(begin_, stream));
    for (std::uint64_t i = 0; going && i < runs; ++i) going = go_on(call());
    going = going && go_on(api.event_record(end_, stream)) && go_on(api.event_synchronize(end_)) &&
            go_on(api.elapsed_ms(&ms, begin_, end_));
    return going ? ms * 1e-3 : -1;
  }
  Code error() const { return error_; }

 private:
  Event begin_ = nullptr, end_ = nullptr;
  Code error_ = 0;
};

}  // namespace

Session& Session::get() {
  static auto* const session = new Session;  // lives as long as the process: others may launch while it ends
  return *session;
}

Session::Session() {
  if (auto const text = variable(seconds_variable); !text.empty()) seconds_ = std::atof(text.c_str());
  power_ = variable(power_variable) != "0";
  std::istringstream names(variable(skip_variable));
  for (std::string name; std::getline(names, name, ',');) skipped_.insert(name);
}

void Session::add_kernel(void const* host_function, char const* name) {
  std::lock_guard const lock(mutex_);
  kernels_[host_function] = name;
}

void Session::add_handle(Kernel kernel, void const* host_function) {
  std::lock_guard const lock(mutex_);
  host_functions_[kernel] = host_function;
}

void const* Session::host_function_of(Kernel kernel) const {
  std::lock_guard const lock(mutex_);
  auto const found = host_functions_.find(kernel);
  return found == host_functions_.end() ? nullptr : found->second;
}

void Session::add_variable(void const* symbol, std::size_t bytes) {
  std::lock_guard const lock(mutex_);
  memory_.add_variable(symbol, bytes);
}

void Session::allocated(void* at, std::size_t bytes, bool on_host) {
  std::lock_guard const lock(mutex_);
  memory_.add(at, bytes, current_device(), on_host);
}

void Session::freed(void* at) {
  std::lock_guard const lock(mutex_);
  memory_.remove(at);
}

int Session::current_device() {
  int device = 0;
  if (runtime().get_device) runtime().get_device(&device);
  return device;
}

Code Session::launch(void const* host_function, Dim3 grid, Dim3 block, Stream stream,
                     std::function<Code()> const& call) {
  {
    std::lock_guard const lock(mutex_);
    measure_once(host_function, grid, block, stream, call);
  }
  return call();
}

void Session::measure_once(void const* host_function, Dim3 grid, Dim3 block, Stream stream,
                           std::function<Code()> const& call) {
  auto const found = kernels_.find(host_function);
  int capturing = 0;
  if (runtime().is_capturing) runtime().is_capturing(stream, &capturing);
  if (measuring_ || capturing || found == kernels_.end()) return;
  int const device = current_device();
  record::Target row;
  row.kernel = found->second;
  row.case_name = sizes_text(grid, block);
  if (!done_.emplace(row.kernel, row.case_name, device).second) return;
  measuring_ = true;
  row.device = device_of(device).name;
  if (skipped_.contains(row.kernel))
    row.reason = "not repeated: --skip";
  else
    measure(row, device, stream, call);
  measuring_ = false;
  if (!row.time_s) row.status = record::RowStatus::unknown;
  write(row);
}

void Session::measure(record::Target& row, int device, Stream stream, std::function<Code()> const& call) {
  auto const& api = runtime();
  if (api.missing) {
    row.reason = fmt::format("the CUDA runtime has no {}", api.missing);
    return;
  }
  if (Code const error = api.synchronize(); error != 0) {
    row.reason = fmt::format("what came before the kernel failed with CUDA error {}", error);
    return;
  }
  if (row.reason = memory_.keep(device); !row.reason.empty()) return;
  Stopwatch watch;
  Power power;
  auto& meter = device_of(device).meter;
  auto const repeated = repeat([&](std::uint64_t runs) { return watch.time(runs, stream, call); }, seconds_,
                               [&] {
                                 if (power_) meter.start();
                               });
  power = meter.stop();
  api.synchronize();
  row.reason = memory_.put_back();
  if (watch.error() != 0) row.reason = fmt::format("the kernel cannot be repeated: CUDA error {}", watch.error());
  if (!row.reason.empty()) return;
  row.time_s = repeated.time_s;
  row.time_mad_s = repeated.mad_s;
  row.runs = repeated.runs;
  row.power_w = power.watts;
  row.power_samples = power.samples;
  row.power_source = power.source;
  if (power_) row.reason = power.missing;
}

Session::Device& Session::device_of(int number) {
  if (auto const found = devices_.find(number); found != devices_.end()) return found->second;
  std::array<char, 32> address{};
  if (!runtime().pci_address || runtime().pci_address(address.data(), address.size(), number) != 0) address[0] = '\0';
  Device out{{}, PowerMeter(address.data(), static_cast<unsigned>(number))};
  std::array<char, properties_bytes> properties{};
  if (runtime().properties && runtime().properties(properties.data(), number) == 0) out.name = properties.data();
  if (out.name.empty()) out.name = out.meter.name();
  if (out.name.empty()) out.name = fmt::format("device {}", number);
  return devices_.emplace(number, std::move(out)).first->second;
}

void Session::write(record::Target const& row) {
  if (!rows_) {
    file_.open(variable(output_variable) + '.' + std::to_string(getpid()));
    rows_.emplace(file_);
  }
  rows_->write(row);
  file_.flush();
}

}  // namespace kernelcast::forest::collect
