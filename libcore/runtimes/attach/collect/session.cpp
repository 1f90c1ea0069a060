#include "runtimes/attach/collect/session.hpp"

#include <unistd.h>

#include <array>

#include <fmt/format.h>

#include "kernels/cuda/next.hpp"
#include "runtimes/attach/collect/repeat.hpp"
#include "runtimes/attach/settings.hpp"

namespace kernelcast::attach::collect {

using namespace cudart;

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

// A pair of events around runs on a stream.
class Stopwatch {
 public:
  Stopwatch() {
    error_ = runtime().cudaEventCreate(&begin_);
    if (error_ == Code::success) error_ = runtime().cudaEventCreate(&end_);
  }
  ~Stopwatch() {
    if (begin_) runtime().cudaEventDestroy(begin_);
    if (end_) runtime().cudaEventDestroy(end_);
  }
  Stopwatch(Stopwatch const&) = delete;

  // Seconds of so many calls; below 0 when one failed.
  double time(std::uint64_t runs, Stream stream, std::function<Code()> const& call) {
    auto const& api = runtime();
    auto const go_on = [&](Code code) {
      if (error_ == Code::success) error_ = code;
      return error_ == Code::success;
    };
    float ms = 0;
    bool going = go_on(api.cudaEventRecord(begin_, stream));
    for (std::uint64_t i = 0; going && i < runs; ++i) going = go_on(call());
    going = going && go_on(api.cudaEventRecord(end_, stream)) && go_on(api.cudaEventSynchronize(end_)) &&
            go_on(api.cudaEventElapsedTime(&ms, begin_, end_));
    return going ? ms * 1e-3 : -1;
  }
  Code error() const { return error_; }

 private:
  Event begin_ = nullptr, end_ = nullptr;
  Code error_ = Code::success;
};

}  // namespace

}  // namespace kernelcast::attach::collect

kernelcast::cudart::Client& kernelcast::cudart::client() {
  return attach::collect::Session::get();
}

namespace kernelcast::attach::collect {

Session& Session::get() {
  static auto* const session = new Session;  // lives as long as the process: others may launch while it ends
  return *session;
}

Session::Session() : skipped_(settings().collect_skip.begin(), settings().collect_skip.end()) {}

void Session::add_kernel(void** handle, void const* host, char const* name) {
  std::lock_guard const lock(mutex_);
  registered_.add_kernel(handle, host, name);
}

void Session::add_handle(void const* handle, void const* host) {
  std::lock_guard const lock(mutex_);
  registered_.add_handle(handle, host);
}

void Session::add_variable(void**, Variable const& variable) {
  std::lock_guard const lock(mutex_);
  if (!variable.constant) memory_.add_variable(variable.host, variable.bytes);
}

void Session::allocated(void* pointer, std::size_t bytes, MemoryType type) {
  std::lock_guard const lock(mutex_);
  memory_.add(pointer, bytes, current_device(), type == MemoryType::host);
}

void Session::freeing(void* pointer) {
  std::lock_guard const lock(mutex_);
  memory_.remove(pointer);
}

Code Session::launch(PassingLaunch const& launch, LaunchCall const& call) {
  auto const again = [&] { return call(launch.arguments); };
  {
    std::lock_guard const lock(mutex_);
    measure_once(launch, again);
  }
  return again();
}

void Session::measure_once(PassingLaunch const& launch, Again const& again) {
  auto const* const kernel = registered_.kernel(launch.kernel);
  if (!kernel || is_capturing(launch.stream)) return;
  int const device = current_device();
  record::Target row;
  row.kernel = kernel->name;
  row.case_name = sizes_text(launch.grid, launch.block);
  if (!done_.emplace(row.kernel, row.case_name, device).second) return;
  row.device = device_of(device).name;
  if (skipped_.contains(row.kernel))
    row.reason = "not repeated: --skip";
  else
    measure(row, device, launch.stream, again);
  if (!row.time_s) row.status = record::RowStatus::unknown;
  write(row);
}

void Session::measure(record::Target& row, int device, Stream stream, Again const& again) {
  auto const& api = runtime();
  if (auto const* const missing = api.missing(collecting)) {
    row.reason = fmt::format("the CUDA runtime has no {}", missing);
    return;
  }
  if (Code const error = api.cudaDeviceSynchronize(); error != Code::success) {
    row.reason = fmt::format("what came before the kernel failed with CUDA error {}", static_cast<int>(error));
    return;
  }
  if (row.reason = memory_.keep(device); !row.reason.empty()) return;
  Stopwatch watch;
  Power power;
  auto& meter = device_of(device).meter;
  auto const repeated =
      repeat([&](std::uint64_t runs) { return watch.time(runs, stream, again); }, settings().collect_seconds,
             [&] {
               if (settings().collect_power) meter.start();
             });
  power = meter.stop();
  api.cudaDeviceSynchronize();
  row.reason = memory_.put_back();
  if (watch.error() != Code::success)
    row.reason = fmt::format("the kernel cannot be repeated: CUDA error {}", static_cast<int>(watch.error()));
  if (!row.reason.empty()) return;
  row.time_s = repeated.time_s;
  row.time_mad_s = repeated.mad_s;
  row.runs = repeated.runs;
  row.power_w = power.watts;
  row.power_samples = power.samples;
  row.power_source = power.source;
  if (settings().collect_power) row.reason = power.missing;
}

Session::Device& Session::device_of(int number) {
  if (auto const found = devices_.find(number); found != devices_.end()) return found->second;
  std::array<char, 32> address{};
  if (!runtime().cudaDeviceGetPCIBusId ||
      runtime().cudaDeviceGetPCIBusId(address.data(), address.size(), number) != Code::success)
    address[0] = '\0';
  Device out{{}, PowerMeter(address.data(), static_cast<unsigned>(number))};
  std::array<char, 4096> properties{};  // more than any cudaDeviceProp, which begins with the device's name
  auto* const query =
      runtime().cudaGetDeviceProperties ? runtime().cudaGetDeviceProperties : runtime().cudaGetDeviceProperties_v2;
  if (query && query(properties.data(), number) == Code::success) out.name = properties.data();
  if (out.name.empty()) out.name = out.meter.name();
  if (out.name.empty()) out.name = fmt::format("device {}", number);
  return devices_.emplace(number, std::move(out)).first->second;
}

void Session::write(record::Target const& row) {
  if (!rows_) {
    file_.open(settings().collect_output + '.' + std::to_string(getpid()));
    rows_.emplace(file_);
  }
  rows_->write(row);
  file_.flush();
}

}  // namespace kernelcast::attach::collect
