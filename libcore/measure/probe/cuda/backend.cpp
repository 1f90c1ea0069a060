// CUDA devices: listing them, and an Accelerator on one.
//
// Kernels are those of microbench/opencl with cuda/words.cu before them, compiled by NVRTC to PTX for the device.
#include <algorithm>
#include <map>
#include <vector>

#include <fmt/format.h>

#include "measure/probe/accelerator.hpp"
#include "measure/probe/access.hpp"
#include "measure/probe/cuda/api.hpp"
#include "measure/probe/random.hpp"

namespace kernelcast::probe {

namespace {

using namespace cuda;
void check(Code result, char const* call) {
  if (result == Code::success) return;
  char const* name = nullptr;
  driver().error_name(result, &name);
  auto const what = fmt::format("{}: {}", call, name ? name : std::to_string(static_cast<int>(result)).c_str());
  if (result == Code::memory_allocation)
    throw Error(Status::limit, "out of memory on the device: " + what, "choose other benchmarks with --bench");
  if (result == Code::not_permitted)
    throw Error(Status::unavailable, "no permission to use the device: " + what, "ask for access to /dev/nvidia*");
  // After these nothing works any more in this process.
  if (result == Code::ecc_uncorrectable || result == Code::illegal_address || result == Code::launch_timeout ||
      result == Code::launch_failure || result == Code::devices_unavailable || result == Code::unknown)
    throw DeviceLost(Status::unavailable, "the device was lost: " + what,
                     "rows so far are kept; go on with --resume when the device is back");
  throw Error(Status::unavailable, what, "the driver's own tests (nvidia-smi) may say more");
}
#define KERNELCAST_CHECK(call, ...) check(driver().call(__VA_ARGS__), #call)

int attribute(Device device, Attribute what) {
  int value = 0;
  driver().device_attribute(&value, what, device);
  return value;
}

// Results of a multiply-add per clock and multiprocessor, two flop each. CUDA C Programming Guide, table of arithmetic
// throughput, by compute capability.
struct Throughput {
  int capability, lanes, fp64;
};
constexpr Throughput throughputs[] = {
    {20, 32, 16}, {21, 48, 4},  {30, 192, 8}, {35, 192, 64}, {37, 192, 64}, {50, 128, 4},   {52, 128, 4},
    {53, 128, 4}, {60, 64, 32}, {61, 128, 4}, {62, 128, 4},  {70, 64, 32},  {72, 64, 32},   {75, 64, 2},
    {80, 64, 32}, {86, 128, 2}, {87, 128, 2}, {89, 128, 2},  {90, 128, 64}, {100, 128, 64}, {120, 128, 2}};

Facts read_facts(Device device, int index) {
  Facts out;
  out.spec = fmt::format("cuda:{}", index);
  out.backend = "cuda";
  out.kind = "gpu";
  char name[256] = {};
  driver().device_name(name, sizeof name, device);
  out.name = name;
  out.vendor = "NVIDIA";
  out.device = slug(out.name);
  int version = 0;
  driver().driver_version(&version);
  out.driver = fmt::format("CUDA driver {}.{}", version / 1000, version % 1000 / 10);
  auto const number = [&](Attribute what) { return static_cast<std::uint64_t>(std::max(0, attribute(device, what))); };
  int const capability =
      attribute(device, Attribute::capability_major) * 10 + attribute(device, Attribute::capability_minor);
  out.compute_capability = static_cast<std::uint64_t>(std::max(0, capability));
  out.target = fmt::format("sm_{}", capability);
  out.compute_units = number(Attribute::multiprocessors);
  out.wave_width = number(Attribute::warp_size);
  out.max_group_size = number(Attribute::max_threads_per_block);
  out.threads_per_cu = number(Attribute::max_threads_per_multiprocessor);
  out.max_groups_per_cu = number(Attribute::max_blocks_per_multiprocessor);
  out.registers_per_cu = number(Attribute::max_registers_per_multiprocessor);
  out.clock_hz = 1e3 * static_cast<double>(number(Attribute::clock_rate));
  out.memory_clock_hz = 1e3 * static_cast<double>(number(Attribute::memory_clock_rate));
  out.memory_bus_bits = number(Attribute::memory_bus_width);
  std::size_t memory = 0;
  driver().device_memory(&memory, device);
  out.memory_bytes = static_cast<double>(memory);
  out.shared_per_group_bytes = static_cast<double>(
      std::max(number(Attribute::max_shared_per_block_optin), number(Attribute::max_shared_per_block)));
  out.shared_per_cu_bytes = static_cast<double>(number(Attribute::max_shared_per_multiprocessor));
  out.l2_bytes = out.last_cache_bytes = static_cast<double>(number(Attribute::l2_bytes));
  out.line_bytes = 128;
  out.fp16 = capability >= 53;
  out.images = true;
  for (auto const& [known, lanes, fp64] : throughputs)
    if (known == capability) {
      out.lanes_per_cu = static_cast<std::uint64_t>(lanes);
      out.flop_per_cycle_fp32 = 2.0 * lanes;
      out.flop_per_cycle_fp64 = 2.0 * fp64;
    }
  return out;
}

class CudaBuffer final : public DeviceBuffer {
 public:
  explicit CudaBuffer(std::uint64_t size) {
    KERNELCAST_CHECK(allocate, &address, size);
    bytes = size;
  }
  ~CudaBuffer() override { driver().release(address); }
  CudaBuffer(CudaBuffer const&) = delete;
  Pointer address = 0;
};

class CudaTexture final : public Texture {
 public:
  explicit CudaTexture(std::uint64_t texels) : memory(texels * 16) {
    auto const contents = random_words(texels * 4, 1);
    KERNELCAST_CHECK(copy_to_device, memory.address, contents.data(), contents.size() * 4);
    ResourceDescription resource;
    resource.resource.linear = {memory.address, ArrayFormat::u32, 4, texels * 16};
    TextureDescription texture;
    texture.flags = texture_read_as_integer;
    KERNELCAST_CHECK(texture_create, &object, &resource, &texture, nullptr);
  }
  ~CudaTexture() override { driver().texture_destroy(object); }
  CudaTexture(CudaTexture const&) = delete;
  CudaBuffer memory;
  TextureObject object = 0;
};

// Launches that are captured on a stream.
class CudaGraph {
 public:
  template <class Launches>
  explicit CudaGraph(Launches const& launches) {
    constexpr int relaxed = 2;  // CU_STREAM_CAPTURE_MODE_RELAXED
    KERNELCAST_CHECK(stream_create, &stream_, 1u);
    KERNELCAST_CHECK(stream_begin_capture, stream_, relaxed);
    launches(stream_);
    KERNELCAST_CHECK(stream_end_capture, stream_, &graph_);
    KERNELCAST_CHECK(graph_instantiate, &exec_, graph_, 0ull);
  }
  ~CudaGraph() {
    if (exec_) driver().graph_exec_destroy(exec_);
    if (graph_) driver().graph_destroy(graph_);
    if (stream_) driver().stream_destroy(stream_);
  }
  CudaGraph(CudaGraph const&) = delete;
  void run() {
    KERNELCAST_CHECK(graph_launch, exec_, stream_);
    KERNELCAST_CHECK(stream_synchronize, stream_);
  }

 private:
  Stream stream_ = nullptr;
  Graph* graph_ = nullptr;
  GraphExec* exec_ = nullptr;
};

class CudaKernel final : public DeviceKernel {
 public:
  CudaKernel(std::string const& ptx, std::string const& function) {
    KERNELCAST_CHECK(module_load, &module_, ptx.c_str());
    KERNELCAST_CHECK(module_function, &function_, module_, function.c_str());
    KERNELCAST_CHECK(event_create, &begin_, 0u);
    KERNELCAST_CHECK(event_create, &end_, 0u);
    fill_constants();
  }
  ~CudaKernel() override {
    if (begin_) driver().event_destroy(begin_);
    if (end_) driver().event_destroy(end_);
    if (module_) driver().module_unload(module_);
  }
  CudaKernel(CudaKernel const&) = delete;

  double run(std::uint64_t groups, std::uint64_t group, std::vector<KernelArgument> const& arguments) override {
    auto const call = prepare(arguments);
    KERNELCAST_CHECK(event_record, begin_, nullptr);
    start(groups, group, call);
    KERNELCAST_CHECK(event_record, end_, nullptr);
    KERNELCAST_CHECK(event_synchronize, end_);
    float milliseconds = 0;
    KERNELCAST_CHECK(event_elapsed, &milliseconds, begin_, end_);
    return static_cast<double>(milliseconds) * 1e-3;
  }

  double run_queued(std::uint64_t groups, std::uint64_t group, std::vector<KernelArgument> const& arguments,
                    std::uint64_t times) override {
    auto const call = prepare(arguments);
    KERNELCAST_CHECK(synchronize);
    return host_seconds([&] {
      for (std::uint64_t i = 0; i < times; ++i) start(groups, group, call);
      KERNELCAST_CHECK(synchronize);
    });
  }

  double run_in_graph(std::uint64_t groups, std::uint64_t group, std::vector<KernelArgument> const& arguments,
                      std::uint64_t times) override {
    auto const call = prepare(arguments);
    CudaGraph graph([&](Stream stream) {
      for (std::uint64_t i = 0; i < times; ++i) start(groups, group, call, stream);
    });
    graph.run();  // the first time it goes to the device
    return host_seconds([&] { graph.run(); });
  }

  std::uint64_t resident_groups(std::uint64_t group, std::uint64_t shared_bytes) override {
    int groups = 0;
    if (driver().occupancy(&groups, function_, static_cast<int>(group), shared_bytes) != Code::success) return 0;
    return static_cast<std::uint64_t>(std::max(0, groups));
  }

 private:
  struct Call {
    std::vector<std::uint64_t> values;
    std::vector<void*> addresses;
    unsigned shared_bytes = 0;
  };

  Call prepare(std::vector<KernelArgument> const& arguments) {
    Call call;
    call.values.resize(arguments.size());
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      auto& value = call.values[i];
      auto const& argument = arguments[i];
      if (auto const* const shared = std::get_if<SharedBytes>(&argument)) {
        call.shared_bytes = static_cast<unsigned>(shared->bytes);
        continue;
      }
      if (auto const* const buffer = std::get_if<std::shared_ptr<DeviceBuffer>>(&argument))
        value = dynamic_cast<CudaBuffer&>(**buffer).address;
      else if (auto const* const texture = std::get_if<std::shared_ptr<Texture>>(&argument))
        value = dynamic_cast<CudaTexture&>(**texture).object;
      else if (auto const* const word = std::get_if<std::uint32_t>(&argument))
        *reinterpret_cast<std::uint32_t*>(&value) = *word;
      else
        *reinterpret_cast<float*>(&value) = std::get<float>(argument);
      call.addresses.push_back(&value);
    }
    if (call.shared_bytes > 48 * 1024)
      KERNELCAST_CHECK(function_set, function_, FunctionAttribute::max_dynamic_shared_bytes,
                       static_cast<int>(call.shared_bytes));
    return call;
  }

  void start(std::uint64_t groups, std::uint64_t group, Call const& call, Stream stream = nullptr) {
    KERNELCAST_CHECK(launch, function_, static_cast<unsigned>(groups), 1u, 1u, static_cast<unsigned>(group), 1u, 1u,
                     call.shared_bytes, stream, const_cast<void**>(call.addresses.data()), nullptr);
  }

  // Constant memory of the module, where it has any, gets random contents.
  void fill_constants() {
    Pointer address = 0;
    std::size_t bytes = 0;
    if (driver().module_global(&address, &bytes, module_, "constant_table") != Code::success) return;
    auto const contents = random_words(bytes / 4, 7);
    KERNELCAST_CHECK(copy_to_device, address, contents.data(), contents.size() * 4);
  }

  Module module_ = nullptr;
  Function function_ = nullptr;
  Event begin_ = nullptr, end_ = nullptr;
};

class CudaDevice final : public Accelerator {
 public:
  CudaDevice(Device device, Facts facts) : device_(device), facts_(std::move(facts)) {
    architecture_ = "compute_" + facts_.target.substr(3);
    KERNELCAST_CHECK(context_retain, &context_, device_);
    KERNELCAST_CHECK(context_set, context_);
    KERNELCAST_CHECK(stream_create, &up_, 1u);
    KERNELCAST_CHECK(stream_create, &down_, 1u);
  }
  ~CudaDevice() override {
    staging_.clear();
    clock_.reset();
    clock_out_.reset();
    if (pinned_) driver().release_host(pinned_);
    if (up_) driver().stream_destroy(up_);
    if (down_) driver().stream_destroy(down_);
    if (context_) driver().context_release(device_);
  }
  CudaDevice(CudaDevice const&) = delete;

  Facts const& facts() const override { return facts_; }
  bool constant_is_argument() const override { return false; }

  std::shared_ptr<DeviceBuffer> allocate(std::uint64_t bytes) override { return std::make_shared<CudaBuffer>(bytes); }

  void upload(DeviceBuffer& buffer, void const* data, std::uint64_t bytes) override {
    KERNELCAST_CHECK(copy_to_device, dynamic_cast<CudaBuffer&>(buffer).address, data, bytes);
  }

  std::shared_ptr<DeviceKernel> kernel(std::string const& file, std::string const& function,
                                       std::vector<std::string> const& macros) override {
    return std::make_shared<CudaKernel>(compile(source(file, macros), architecture_), function);
  }

  bool has_graphs() const override { return driver().graph_instantiate && driver().stream_begin_capture; }

  double compile_s() override {
    return host_seconds([&] {
      CudaKernel const compiled(
          compile(source("arithmetic.cl", {"VALUE=float", "SCALAR=float", "CHAINS=1", "FMA"}), architecture_),
          "arithmetic");
    });
  }

  double copy_s(Way way, std::uint64_t bytes, bool pinned) override {
    auto const there = staging(0, bytes);
    if (way == Way::on_device) {
      auto const other = staging(1, bytes);
      return host_seconds([&] {
        KERNELCAST_CHECK(copy_on_device, other, there, bytes);
        KERNELCAST_CHECK(synchronize);
      });
    }
    void* const here = host(bytes, pinned);
    return host_seconds([&] {
      if (way == Way::to_device)
        KERNELCAST_CHECK(copy_to_device, there, here, bytes);
      else
        KERNELCAST_CHECK(copy_to_host, here, there, bytes);
      KERNELCAST_CHECK(synchronize);
    });
  }

  double copy_both_s(std::uint64_t bytes) override {
    auto const to = staging(0, bytes), from = staging(1, bytes);
    auto* const here = static_cast<std::byte*>(host(2 * bytes, true));
    return host_seconds([&] {
      KERNELCAST_CHECK(copy_to_device_async, to, here, bytes, up_);
      KERNELCAST_CHECK(copy_to_host_async, here + bytes, from, bytes, down_);
      KERNELCAST_CHECK(stream_synchronize, up_);
      KERNELCAST_CHECK(stream_synchronize, down_);
    });
  }

  double copy_rows_s(std::uint64_t rows, std::uint64_t row_bytes, std::uint64_t pitch) override {
    Copy2D copy;
    copy.source_host = host(rows * row_bytes, true);
    copy.source_pitch = row_bytes;
    copy.target_device = staging(0, rows * pitch);
    copy.target_pitch = pitch;
    copy.width_bytes = row_bytes;
    copy.height = rows;
    return host_seconds([&] {
      KERNELCAST_CHECK(copy_2d, &copy);
      KERNELCAST_CHECK(synchronize);
    });
  }

  std::optional<double> copy_peer_s(std::uint64_t bytes) override {
    int count = 0;
    driver().device_count(&count);
    if (count < 2) return std::nullopt;
    if (!peer_) {
      Device const other = device_ == 0 ? 1 : 0;
      KERNELCAST_CHECK(context_retain, &peer_, other);
      KERNELCAST_CHECK(context_set, peer_);
      peer_memory_ = std::make_unique<CudaBuffer>(std::max<std::uint64_t>(bytes, 16 << 20));
      KERNELCAST_CHECK(context_set, context_);
    }
    auto const here = staging(0, bytes);
    return host_seconds([&] {
      KERNELCAST_CHECK(copy_peer, peer_memory_->address, peer_, here, context_, bytes);
      KERNELCAST_CHECK(synchronize);
    });
  }

  std::shared_ptr<Texture> texture(std::uint32_t width, std::uint32_t height) override {
    return std::make_shared<CudaTexture>(std::uint64_t{width} * height);
  }

  std::optional<double> clock_hz() override {
    if (!clock_) {
      clock_ = kernel("device", "clock_rate", {});
      clock_out_ = std::make_shared<CudaBuffer>(64);
    }
    std::uint64_t out[2] = {};
    clock_->run(facts_.compute_units, 128, {std::shared_ptr<DeviceBuffer>(clock_out_), std::uint32_t{200000}});
    KERNELCAST_CHECK(copy_to_host, out, clock_out_->address, sizeof out);
    if (out[1] == 0) return std::nullopt;
    return static_cast<double>(out[0]) / static_cast<double>(out[1]) * 1e9;
  }

  std::vector<std::string> half_macros() const override {
    if (!facts_.fp16) return {};
    return {"FMA", "PACKED_HALF", "VALUE=uint", "SCALAR=uint"};
  }
  unsigned half_lanes() const override { return 2; }

 private:
  static std::string source(std::string const& file, std::vector<std::string> const& macros) {
    std::string out;
    for (auto const& macro : macros) {
      auto const equals = macro.find('=');
      out += "#define " +
             (equals == std::string::npos ? macro : macro.substr(0, equals) + " " + macro.substr(equals + 1)) + "\n";
    }
    bool const own = file == "texture" || file == "device";
    return out + kernel_source("cuda/words.cu", own ? "cuda/device.cu" : "opencl/" + file);
  }

  Pointer staging(int which, std::uint64_t bytes) {
    auto& buffer = staging_[which];
    if (!buffer || buffer->bytes < bytes) {
      buffer = std::make_unique<CudaBuffer>(bytes);
      upload(*buffer, random_words(bytes / 4 + 1, 1).data(), bytes);
    }
    return buffer->address;
  }

  void* host(std::uint64_t bytes, bool pinned) {
    if (!pinned) return pageable_.at_least(bytes);
    if (pinned_bytes_ < bytes) {
      if (pinned_) driver().release_host(pinned_);
      pinned_ = nullptr;
      KERNELCAST_CHECK(allocate_host, &pinned_, bytes);
      pinned_bytes_ = bytes;
      fill_randomly({static_cast<std::byte*>(pinned_), bytes}, 1);
    }
    return pinned_;
  }

  Device device_;
  Facts facts_;
  std::string architecture_;
  Context context_ = nullptr, peer_ = nullptr;
  Stream up_ = nullptr, down_ = nullptr;
  std::map<int, std::unique_ptr<CudaBuffer>> staging_;
  std::unique_ptr<CudaBuffer> peer_memory_;
  PageableMemory pageable_;
  void* pinned_ = nullptr;
  std::uint64_t pinned_bytes_ = 0;
  std::shared_ptr<DeviceKernel> clock_;
  std::shared_ptr<CudaBuffer> clock_out_;
};

class CudaBackend final : public Backend {
 public:
  std::string name() const override { return "cuda"; }

  std::vector<Listed> list() override {
    std::vector<Listed> out;
    if (!driver().missing.empty()) return out;
    int count = 0;
    driver().device_count(&count);
    for (int i = 0; i < count; ++i) {
      Device device = 0;
      if (driver().device_get(&device, i) != Code::success) continue;
      Listed listed;
      listed.facts = read_facts(device, i);
      constexpr int prohibited = 2;
      if (attribute(device, Attribute::compute_mode) == prohibited) {
        listed.status = record::RowStatus::unusable;
        listed.reason = "its compute mode prohibits all programs";
      } else if (!compiler().missing.empty()) {
        listed.status = record::RowStatus::unusable;
        listed.reason = compiler().missing + ", which compiles the kernels";
      }
      out.push_back(std::move(listed));
    }
    return out;
  }

  std::string absence() const override {
    if (!driver().missing.empty()) return driver().missing;
    int count = 0;
    driver().device_count(&count);
    return count == 0 ? "the CUDA driver sees no device" + refusal_of_device_files()
                      : "there is no CUDA device of that number";
  }
  std::string absence_hint() const override { return "install the NVIDIA driver; devprobe --list shows what there is"; }

  std::unique_ptr<Probe> open(Facts const& facts) override {
    Device device = 0;
    check(driver().device_get(&device, std::atoi(facts.spec.c_str() + 5)), "cuDeviceGet");
    return accelerator_probe(std::make_unique<CudaDevice>(device, facts));
  }
};

}  // namespace

std::unique_ptr<Backend> cuda_backend() {
  return std::make_unique<CudaBackend>();
}

}  // namespace kernelcast::probe
