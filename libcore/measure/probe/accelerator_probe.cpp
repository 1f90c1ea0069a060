// The benchmarks of OpenCL and CUDA devices: which points, and how one sample of each is taken.
//
// Problem: one set of kernels must suit GPUs, where many work-items take turns, and CPUs behind OpenCL, where an item
// is a thread's loop.
// Method: on a GPU work-groups of 256 items; occupancy is steered by dynamic shared memory and the number of groups, as
// [panwar] IV-A does, and reported from the occupancy rules. On a CPU groups of one item with vectors, each on a range
// of its own; occupancy is groups over compute units. A latency is the difference of two runs of different length.
// Limits: without known limits of the compute unit only full occupancy is measured.
#include "measure/probe/accelerator_probe.hpp"
#include "measure/probe/random.hpp"

namespace kernelcast::probe {

std::string kernel_source(std::string const& prelude, std::string const& file) {
  return microbench_file(prelude) + "\n" + microbench_file(file);
}

void* PageableMemory::at_least(std::uint64_t bytes) {
  if (bytes_.size() < bytes) {
    bytes_.resize(bytes);
    fill_randomly(bytes_, 1);
  }
  return bytes_.data();
}

std::optional<double> AcceleratorProbe::clock_hz() {
  if (!cpu_) return device_->clock_hz();
  // A chain of additions, one per clock, on any processor.
  if (!clock_chain_) clock_chain_ = std::make_shared<Lazy>();
  return chain_rate(*clock_chain_, "int_add", {"VALUE=uint", "SCALAR=uint", "CHAINS=1", "INT_ADD"}, 2 * 4);
}

std::vector<Point> AcceleratorProbe::plan(Settings const& settings) {
  settings_ = settings;
  std::vector<Point> points;
  points_ = &points;
  if (settings.wants("facts")) points = stated_points(facts_);
  if (settings.wants("clock")) clock();
  if (settings.wants("launch")) launch();
  if (settings.wants("barrier")) barrier();
  if (settings.wants("flops")) flops();
  if (settings.wants("instruction")) instructions();
  if (settings.wants("shared")) shared();
  if (settings.wants("constant")) constant();
  if (settings.wants("texture")) texture();
  if (settings.wants("atomics")) atomics();
  if (settings.wants("latency")) latency();
  if (settings.wants("cache")) caches();
  if (settings.wants("copy")) copies();
  if (settings.wants("global")) global();
  points_ = nullptr;
  return points;
}

Point& AcceleratorProbe::add(std::string bench, std::string metric) {
  Point point;
  point.bench = std::move(bench);
  point.row.metric = std::move(metric);
  points_->push_back(std::move(point));
  return points_->back();
}

Buffer AcceleratorProbe::words(std::vector<std::uint32_t> const& contents) {
  auto buffer = device_->allocate(contents.size() * 4);
  device_->upload(*buffer, contents.data(), contents.size() * 4);
  return buffer;
}

Buffer AcceleratorProbe::random_buffer(std::uint64_t bytes) {
  auto const most = facts_.memory_bytes / 3;
  if (most > 0 && static_cast<double>(bytes) > most)
    throw Error(Status::limit, fmt::format("{} bytes are more than a third of the device's memory", bytes),
                "choose other benchmarks with --bench");
  return words(random_words(bytes / 4, settings_.seed + 1));
}

std::shared_ptr<Buffer> AcceleratorProbe::lazy() {
  return std::make_shared<Buffer>();
}

std::shared_ptr<DeviceKernel> AcceleratorProbe::kernel(std::string const& entry, std::string const& function,
                                                       std::vector<std::string> const& macros) {
  return device_->kernel(device_catalogue().at(entry).file, function, macros);
}

double AcceleratorProbe::chain_rate(Lazy& lazy, std::string const& entry, std::vector<std::string> const& macros,
                                    double per_iteration) {
  std::uint64_t const group = cpu_ ? 1 : std::max<std::uint64_t>(facts_.wave_width, 1);
  if (!lazy.kernel) {
    lazy.kernel = kernel(entry, "arithmetic", macros);
    lazy.in = random_buffer(group * 16 * 4);
    lazy.out = random_buffer(group * 128);
    lazy.iterations = iterations_for([&](std::uint64_t n) { return arithmetic_s(lazy, 1, group, n); }, 2e-4);
  }
  double const one = shortest([&] { return arithmetic_s(lazy, 1, group, lazy.iterations); });
  double const two = shortest([&] { return arithmetic_s(lazy, 1, group, 2 * lazy.iterations); });
  return per_iteration * static_cast<double>(lazy.iterations) / (two - one);
}

double AcceleratorProbe::arithmetic_s(Lazy& lazy, std::uint64_t groups, std::uint64_t group, std::uint64_t iterations) {
  return lazy.kernel->run(groups, group, {lazy.in, lazy.out, 0.9999999f, 1e-7f, u32(iterations)});
}

std::unique_ptr<Probe> accelerator_probe(std::unique_ptr<Accelerator> device) {
  return std::make_unique<AcceleratorProbe>(std::move(device));
}

}  // namespace kernelcast::probe
