// OpenCL devices: listing them, and an Accelerator on one.
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <map>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "measure/probe/accelerator.hpp"
#include "measure/probe/access.hpp"
#include "measure/probe/catalogue.hpp"
#include "measure/probe/opencl/api.hpp"
#include "measure/probe/random.hpp"

namespace kernelcast::probe {

namespace {

using namespace opencl;
std::string_view name_of(cl_int code) {
#define KERNELCAST_CODE(name)           \
  std::pair<cl_int, std::string_view> { \
    name, #name                         \
  }
  static constexpr std::array codes{
      KERNELCAST_CODE(CL_DEVICE_NOT_FOUND),       KERNELCAST_CODE(CL_DEVICE_NOT_AVAILABLE),
      KERNELCAST_CODE(CL_COMPILER_NOT_AVAILABLE), KERNELCAST_CODE(CL_MEM_OBJECT_ALLOCATION_FAILURE),
      KERNELCAST_CODE(CL_OUT_OF_RESOURCES),       KERNELCAST_CODE(CL_OUT_OF_HOST_MEMORY),
      KERNELCAST_CODE(CL_BUILD_PROGRAM_FAILURE),  KERNELCAST_CODE(CL_INVALID_WORK_GROUP_SIZE),
      KERNELCAST_CODE(CL_INVALID_COMMAND_QUEUE),  KERNELCAST_CODE(CL_INVALID_BUFFER_SIZE)};
#undef KERNELCAST_CODE
  auto const at = std::ranges::find(codes, code, &std::pair<cl_int, std::string_view>::first);
  return at == codes.end() ? std::string_view{} : at->second;
}

void check_opencl(cl_int code, char const* call) {
  if (code == CL_SUCCESS) return;
  auto const name = name_of(code);
  auto const what = name.empty() ? fmt::format("{} failed with {}", call, code) : fmt::format("{}: {}", call, name);
  if (code == CL_MEM_OBJECT_ALLOCATION_FAILURE || code == CL_OUT_OF_HOST_MEMORY || code == CL_INVALID_BUFFER_SIZE)
    throw Error(Status::limit, "out of memory on the device: " + what, "choose other benchmarks with --bench");
  if (code == CL_DEVICE_NOT_AVAILABLE || code == CL_INVALID_COMMAND_QUEUE)
    throw DeviceLost(Status::unavailable, "the device was lost: " + what,
                     "rows so far are kept; go on with --resume when the device is back");
  throw Error(Status::unavailable, what, "the driver's own tests may say more");
}

template <class Object, class Get>
std::string text(Get get, Object object, cl_uint what) {
  std::size_t size = 0;
  if (get(object, what, 0, nullptr, &size) != CL_SUCCESS || size == 0) return {};
  std::string out(size, '\0');
  get(object, what, size, out.data(), nullptr);
  while (!out.empty() && (out.back() == '\0' || out.back() == ' ')) out.pop_back();
  auto const first = out.find_first_not_of(' ');
  return first == std::string::npos ? "" : out.substr(first);
}

template <class T>
T value(cl_device_id device, cl_device_info what) {
  T out{};
  api().clGetDeviceInfo(device, what, sizeof out, &out, nullptr);
  return out;
}

// Queries of NVIDIA's and AMD's extensions; 0 where there are none.
constexpr cl_device_info nv_compute_capability_major = 0x4000, nv_compute_capability_minor = 0x4001,
                         nv_registers_per_block = 0x4002, nv_warp_size = 0x4003, amd_wavefront_width = 0x4043,
                         amd_local_mem_per_unit = 0x4047;

void add_vendor_limits(Facts& facts, cl_device_id device, std::string const& extensions) {
  if (extensions.find("cl_nv_device_attribute_query") != std::string::npos) {
    facts.wave_width = value<cl_uint>(device, nv_warp_size);
    facts.registers_per_cu = value<cl_uint>(device, nv_registers_per_block);
    facts.target = fmt::format("sm_{}{}", value<cl_uint>(device, nv_compute_capability_major),
                               value<cl_uint>(device, nv_compute_capability_minor));
  }
  if (extensions.find("cl_amd_device_attribute_query") != std::string::npos) {
    facts.wave_width = value<cl_uint>(device, amd_wavefront_width);
    facts.shared_per_cu_bytes = value<cl_uint>(device, amd_local_mem_per_unit);
  }
}

Facts read_facts(cl_platform_id platform, cl_device_id device, std::string spec) {
  Facts out;
  out.spec = std::move(spec);
  out.backend = "opencl";
  out.name = text(api().clGetDeviceInfo, device, CL_DEVICE_NAME);
  out.vendor = text(api().clGetDeviceInfo, device, CL_DEVICE_VENDOR);
  out.driver = fmt::format("{} {}", text(api().clGetPlatformInfo, platform, CL_PLATFORM_NAME),
                           text(api().clGetDeviceInfo, device, CL_DRIVER_VERSION));
  out.device = slug(out.name);
  auto const type = value<cl_device_type>(device, CL_DEVICE_TYPE);
  out.kind = (type & CL_DEVICE_TYPE_GPU) != 0 ? "gpu" : (type & CL_DEVICE_TYPE_CPU) != 0 ? "cpu" : "accelerator";
  out.target = text(api().clGetDeviceInfo, device, CL_DEVICE_OPENCL_C_VERSION);
  out.compute_units = value<cl_uint>(device, CL_DEVICE_MAX_COMPUTE_UNITS);
  out.clock_hz = 1e6 * value<cl_uint>(device, CL_DEVICE_MAX_CLOCK_FREQUENCY);
  out.memory_bytes = static_cast<double>(value<cl_ulong>(device, CL_DEVICE_GLOBAL_MEM_SIZE));
  out.max_group_size = value<std::size_t>(device, CL_DEVICE_MAX_WORK_GROUP_SIZE);
  out.last_cache_bytes = static_cast<double>(value<cl_ulong>(device, CL_DEVICE_GLOBAL_MEM_CACHE_SIZE));
  out.line_bytes = value<cl_uint>(device, CL_DEVICE_GLOBAL_MEM_CACHELINE_SIZE);
  out.images = value<cl_bool>(device, CL_DEVICE_IMAGE_SUPPORT) != 0;
  auto const extensions = text(api().clGetDeviceInfo, device, CL_DEVICE_EXTENSIONS);
  out.fp64 = extensions.find("cl_khr_fp64") != std::string::npos;
  out.fp16 = extensions.find("cl_khr_fp16") != std::string::npos;
  if (value<cl_device_local_mem_type>(device, CL_DEVICE_LOCAL_MEM_TYPE) == CL_LOCAL || out.kind == "cpu")
    out.shared_per_group_bytes = static_cast<double>(value<cl_ulong>(device, CL_DEVICE_LOCAL_MEM_SIZE));
  if (out.kind == "cpu")
    out.lanes_per_cu = value<cl_uint>(device, CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT);
  else
    out.l2_bytes = out.last_cache_bytes;
  add_vendor_limits(out, device, extensions);
  return out;
}

struct Found {
  cl_platform_id platform;
  cl_device_id device;
  Facts facts;
};

std::vector<Found> find_devices() {
  std::vector<Found> out;
  if (!api().missing.empty()) return out;
  cl_uint count = 0;
  if (api().clGetPlatformIDs(0, nullptr, &count) != CL_SUCCESS || count == 0) return out;
  std::vector<cl_platform_id> platforms(count);
  api().clGetPlatformIDs(count, platforms.data(), nullptr);
  for (auto* const platform : platforms) {
    cl_uint devices = 0;
    if (api().clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, nullptr, &devices) != CL_SUCCESS) continue;
    std::vector<cl_device_id> ids(devices);
    api().clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, devices, ids.data(), nullptr);
    for (auto* const id : ids)
      out.push_back({platform, id, read_facts(platform, id, fmt::format("opencl:{}", out.size()))});
  }
  return out;
}

class OpenClBuffer final : public DeviceBuffer {
 public:
  // `huge`: for a CPU, which works in the host's memory, in pages of 2 MiB as the CPU back end has them.
  OpenClBuffer(cl_context context, std::uint64_t size, cl_mem_flags flags = CL_MEM_READ_WRITE, bool huge = false) {
    constexpr std::uint64_t page = std::uint64_t{2} << 20;
    if (huge && size >= page) {
      host_.reset(std::aligned_alloc(page, (size + page - 1) / page * page));
      if (host_) madvise(host_.get(), size, MADV_HUGEPAGE);
    }
    cl_int code = CL_SUCCESS;
    memory = api().clCreateBuffer(context, flags | (host_ ? CL_MEM_USE_HOST_PTR : 0), size, host_.get(), &code);
    check_opencl(code, "clCreateBuffer");
    bytes = size;
  }
  ~OpenClBuffer() override { api().clReleaseMemObject(memory); }
  OpenClBuffer(OpenClBuffer const&) = delete;
  cl_mem memory = nullptr;

 private:
  struct Free {
    void operator()(void* p) const { std::free(p); }
  };
  std::unique_ptr<void, Free> host_;
};

class OpenClTexture final : public Texture {
 public:
  explicit OpenClTexture(cl_mem image) : memory(image) {}
  ~OpenClTexture() override { api().clReleaseMemObject(memory); }
  OpenClTexture(OpenClTexture const&) = delete;
  cl_mem memory;
};

class OpenClKernel final : public DeviceKernel {
 public:
  OpenClKernel(cl_command_queue queue, cl_program program, std::string const& function)
      : queue_(queue), program_(program) {
    cl_int code = CL_SUCCESS;
    kernel_ = api().clCreateKernel(program, function.c_str(), &code);
    check_opencl(code, "clCreateKernel");
  }
  ~OpenClKernel() override {
    api().clReleaseKernel(kernel_);
    api().clReleaseProgram(program_);
  }
  OpenClKernel(OpenClKernel const&) = delete;

  double run(std::uint64_t groups, std::uint64_t group, std::vector<KernelArgument> const& arguments) override {
    return between(CL_PROFILING_COMMAND_START, CL_PROFILING_COMMAND_END, groups, group, arguments);
  }

  std::optional<double> delay_s(std::uint64_t groups, std::uint64_t group,
                                std::vector<KernelArgument> const& arguments) override {
    return between(CL_PROFILING_COMMAND_SUBMIT, CL_PROFILING_COMMAND_START, groups, group, arguments);
  }

  double run_queued(std::uint64_t groups, std::uint64_t group, std::vector<KernelArgument> const& arguments,
                    std::uint64_t times) override {
    set(arguments);
    check_opencl(api().clFinish(queue_), "clFinish");
    return host_seconds([&] {
      for (std::uint64_t i = 0; i < times; ++i) enqueue(groups, group, nullptr);
      check_opencl(api().clFinish(queue_), "clFinish");
    });
  }

 private:
  void enqueue(std::uint64_t groups, std::uint64_t group, cl_event* event) {
    std::size_t const global = groups * group, local = group;
    check_opencl(api().clEnqueueNDRangeKernel(queue_, kernel_, 1, nullptr, &global, &local, 0, nullptr, event),
                 "clEnqueueNDRangeKernel");
  }

  // Seconds between two points in a launch's life.
  double between(cl_profiling_info from, cl_profiling_info to, std::uint64_t groups, std::uint64_t group,
                 std::vector<KernelArgument> const& arguments) {
    set(arguments);
    cl_event event = nullptr;
    enqueue(groups, group, &event);
    check_opencl(api().clWaitForEvents(1, &event), "clWaitForEvents");
    cl_ulong begin = 0, end = 0;
    api().clGetEventProfilingInfo(event, from, sizeof begin, &begin, nullptr);
    api().clGetEventProfilingInfo(event, to, sizeof end, &end, nullptr);
    api().clReleaseEvent(event);
    return static_cast<double>(end - begin) * 1e-9;
  }

  void set(std::vector<KernelArgument> const& arguments) {
    cl_uint index = 0;
    for (auto const& argument : arguments) {
      cl_int code = CL_SUCCESS;
      if (auto const* const buffer = std::get_if<std::shared_ptr<DeviceBuffer>>(&argument))
        code = api().clSetKernelArg(kernel_, index, sizeof(cl_mem), &dynamic_cast<OpenClBuffer&>(**buffer).memory);
      else if (auto const* const texture = std::get_if<std::shared_ptr<Texture>>(&argument))
        code = api().clSetKernelArg(kernel_, index, sizeof(cl_mem), &dynamic_cast<OpenClTexture&>(**texture).memory);
      else if (auto const* const word = std::get_if<std::uint32_t>(&argument))
        code = api().clSetKernelArg(kernel_, index, sizeof *word, word);
      else if (auto const* const number = std::get_if<float>(&argument))
        code = api().clSetKernelArg(kernel_, index, sizeof *number, number);
      else  // no array of no bytes in OpenCL
        code = api().clSetKernelArg(kernel_, index, std::max<std::size_t>(4, std::get<SharedBytes>(argument).bytes),
                                    nullptr);
      check_opencl(code, "clSetKernelArg");
      ++index;
    }
  }

  cl_command_queue queue_;
  cl_program program_;
  cl_kernel kernel_ = nullptr;
};

class OpenClDevice final : public Accelerator {
 public:
  explicit OpenClDevice(Found const& found) : device_(found.device), facts_(found.facts) {
    cl_int code = CL_SUCCESS;
    context_ = api().clCreateContext(nullptr, 1, &device_, nullptr, nullptr, &code);
    if (code == CL_DEVICE_NOT_AVAILABLE)
      throw Error(Status::unavailable, "the driver does not give the device: clCreateContext: CL_DEVICE_NOT_AVAILABLE",
                  "another program may have it to itself, or this user may not use it");
    check_opencl(code, "clCreateContext");
    queue_ = api().clCreateCommandQueue(context_, device_, CL_QUEUE_PROFILING_ENABLE, &code);
    check_opencl(code, "clCreateCommandQueue");
    other_queue_ = api().clCreateCommandQueue(context_, device_, 0, &code);
    check_opencl(code, "clCreateCommandQueue");
  }
  ~OpenClDevice() override {
    host_.reset();
    staging_.clear();
    if (other_queue_) api().clReleaseCommandQueue(other_queue_);
    if (queue_) api().clReleaseCommandQueue(queue_);
    if (context_) api().clReleaseContext(context_);
  }
  OpenClDevice(OpenClDevice const&) = delete;

  Facts const& facts() const override { return facts_; }

  std::shared_ptr<DeviceBuffer> allocate(std::uint64_t bytes) override {
    return std::make_shared<OpenClBuffer>(context_, bytes, CL_MEM_READ_WRITE, facts_.kind == "cpu");
  }

  void upload(DeviceBuffer& buffer, void const* data, std::uint64_t bytes) override {
    check_opencl(api().clEnqueueWriteBuffer(queue_, dynamic_cast<OpenClBuffer&>(buffer).memory, CL_TRUE, 0, bytes, data,
                                            0, nullptr, nullptr),
                 "clEnqueueWriteBuffer");
  }

  std::shared_ptr<DeviceKernel> kernel(std::string const& file, std::string const& function,
                                       std::vector<std::string> const& macros) override {
    auto const source =
        file == "texture" ? microbench_file("opencl/texture.cl") : kernel_source("opencl/words.cl", "opencl/" + file);
    std::string options;
    for (auto const& macro : macros) options += fmt::format("-D{} ", macro);
    return std::make_shared<OpenClKernel>(queue_, build(source, options), function);
  }

  bool reports_delays() const override { return true; }

  double compile_s() override {
    // A number that no cache has seen.
    auto const salt = static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
    auto const options = fmt::format("-DVALUE=float -DSCALAR=float -DCHAINS=1 -DFMA -DSALT={}", salt);
    auto const source = fmt::format("// {}\n{}", salt, kernel_source("opencl/words.cl", "opencl/arithmetic.cl"));
    return host_seconds([&] { OpenClKernel const compiled(queue_, build(source, options), "arithmetic"); });
  }

  double copy_s(Way way, std::uint64_t bytes, bool pinned) override {
    auto& there = staging(0, bytes);
    if (way == Way::on_device) {
      auto& other = staging(1, bytes);
      return host_seconds([&] {
        check_opencl(api().clEnqueueCopyBuffer(queue_, there.memory, other.memory, 0, 0, bytes, 0, nullptr, nullptr),
                     "clEnqueueCopyBuffer");
        check_opencl(api().clFinish(queue_), "clFinish");
      });
    }
    void* const here = pinned ? pinned_memory(bytes) : pageable_.at_least(bytes);
    return host_seconds([&] {
      if (way == Way::to_device)
        check_opencl(api().clEnqueueWriteBuffer(queue_, there.memory, CL_TRUE, 0, bytes, here, 0, nullptr, nullptr),
                     "clEnqueueWriteBuffer");
      else
        check_opencl(api().clEnqueueReadBuffer(queue_, there.memory, CL_TRUE, 0, bytes, here, 0, nullptr, nullptr),
                     "clEnqueueReadBuffer");
    });
  }

  double copy_both_s(std::uint64_t bytes) override {
    auto& up = staging(0, bytes);
    auto& down = staging(1, bytes);
    auto* const here = static_cast<std::byte*>(pinned_memory(2 * bytes));
    return host_seconds([&] {
      check_opencl(api().clEnqueueWriteBuffer(queue_, up.memory, CL_FALSE, 0, bytes, here, 0, nullptr, nullptr),
                   "clEnqueueWriteBuffer");
      check_opencl(
          api().clEnqueueReadBuffer(other_queue_, down.memory, CL_FALSE, 0, bytes, here + bytes, 0, nullptr, nullptr),
          "clEnqueueReadBuffer");
      api().clFlush(queue_);
      api().clFlush(other_queue_);
      check_opencl(api().clFinish(queue_), "clFinish");
      check_opencl(api().clFinish(other_queue_), "clFinish");
    });
  }

  double copy_rows_s(std::uint64_t rows, std::uint64_t row_bytes, std::uint64_t pitch) override {
    auto& there = staging(0, rows * pitch);
    void* const here = pinned_memory(rows * row_bytes);
    std::size_t const origin[3] = {0, 0, 0}, region[3] = {row_bytes, rows, 1};
    return host_seconds([&] {
      check_opencl(api().clEnqueueWriteBufferRect(queue_, there.memory, CL_TRUE, origin, origin, region, pitch, 0,
                                                  row_bytes, 0, here, 0, nullptr, nullptr),
                   "clEnqueueWriteBufferRect");
    });
  }

  std::shared_ptr<Texture> texture(std::uint32_t width, std::uint32_t height) override {
    auto texels = random_words(std::size_t{4} * width * height, 1);
    cl_image_format const format{CL_RGBA, CL_UNSIGNED_INT32};
    cl_image_desc desc;
    std::memset(&desc, 0, sizeof desc);
    desc.image_type = CL_MEM_OBJECT_IMAGE2D;
    desc.image_width = width;
    desc.image_height = height;
    cl_int code = CL_SUCCESS;
    auto* const image =
        api().clCreateImage(context_, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, &format, &desc, texels.data(), &code);
    check_opencl(code, "clCreateImage");
    return std::make_shared<OpenClTexture>(image);
  }

  std::vector<std::string> half_macros() const override {
    if (!facts_.fp16) return {};
    return {"FMA", "NEEDS_FP16", "VALUE=half", "SCALAR=half"};
  }

 private:
  cl_program build(std::string const& source, std::string const& options) {
    char const* text = source.c_str();
    std::size_t const size = source.size();
    cl_int code = CL_SUCCESS;
    auto* const program = api().clCreateProgramWithSource(context_, 1, &text, &size, &code);
    check_opencl(code, "clCreateProgramWithSource");
    code = api().clBuildProgram(program, 1, &device_, options.c_str(), nullptr, nullptr);
    if (code == CL_SUCCESS) return program;
    std::size_t log_size = 0;
    api().clGetProgramBuildInfo(program, device_, CL_PROGRAM_BUILD_LOG, 0, nullptr, &log_size);
    std::string log(log_size, '\0');
    api().clGetProgramBuildInfo(program, device_, CL_PROGRAM_BUILD_LOG, log_size, log.data(), nullptr);
    api().clReleaseProgram(program);
    auto const at = log.find("error:");
    auto const line = at == std::string::npos ? log.substr(0, 200) : log.substr(at, log.find('\n', at) - at);
    throw Error(Status::unavailable, fmt::format("the driver does not compile the kernel: {}", line.c_str()),
                "options: " + options);
  }

  OpenClBuffer& staging(int which, std::uint64_t bytes) {
    auto& buffer = staging_[which];
    if (!buffer || buffer->bytes < bytes) {
      buffer = std::make_unique<OpenClBuffer>(context_, bytes);
      upload(*buffer, random_words(bytes / 4 + 1, 1).data(), bytes);
    }
    return *buffer;
  }

  // A buffer that the driver puts where it can copy from, mapped for good.
  void* pinned_memory(std::uint64_t bytes) {
    if (!host_ || host_->bytes < bytes) {
      host_ = std::make_unique<OpenClBuffer>(context_, bytes, CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR);
      cl_int code = CL_SUCCESS;
      mapped_ = api().clEnqueueMapBuffer(queue_, host_->memory, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0, bytes, 0,
                                         nullptr, nullptr, &code);
      check_opencl(code, "clEnqueueMapBuffer");
      fill_randomly({static_cast<std::byte*>(mapped_), bytes}, 1);
    }
    return mapped_;
  }

  cl_device_id device_;
  Facts facts_;
  cl_context context_ = nullptr;
  cl_command_queue queue_ = nullptr, other_queue_ = nullptr;
  std::map<int, std::unique_ptr<OpenClBuffer>> staging_;
  PageableMemory pageable_;
  std::unique_ptr<OpenClBuffer> host_;
  void* mapped_ = nullptr;
};

class OpenClBackend final : public Backend {
 public:
  std::string name() const override { return "opencl"; }

  std::vector<Listed> list() override {
    std::vector<Listed> out;
    for (auto const& found : find_devices()) {
      bool const usable = value<cl_bool>(found.device, CL_DEVICE_AVAILABLE) != 0;
      bool const compiles = value<cl_bool>(found.device, CL_DEVICE_COMPILER_AVAILABLE) != 0;
      out.push_back({found.facts, usable && compiles ? record::RowStatus::ok : record::RowStatus::unusable,
                     !usable     ? "the driver says that it is not available"
                     : !compiles ? "the driver has no compiler"
                                 : ""});
    }
    return out;
  }

  std::string absence() const override {
    if (!api().missing.empty()) return api().missing;
    cl_uint count = 0;
    if (api().clGetPlatformIDs(0, nullptr, &count) == CL_SUCCESS && count > 0)
      return "no driver has such a device" + refusal_of_device_files();
    auto const troubles = drivers_not_loaded(driver_folder());
    return troubles.empty() ? "there is no OpenCL driver (ICD)" : fmt::format("{}", fmt::join(troubles, "; "));
  }
  std::string absence_hint() const override {
    return "install the device's OpenCL driver, or pocl-opencl-icd for the CPU; devprobe --list shows what there is";
  }

  std::unique_ptr<Probe> open(Facts const& facts) override {
    for (auto const& found : find_devices())
      if (found.facts.spec == facts.spec) return accelerator_probe(std::make_unique<OpenClDevice>(found));
    throw Error(Status::unavailable, "the device is gone", "devprobe --list shows what there is");
  }
};

}  // namespace

std::unique_ptr<Backend> opencl_backend() {
  return std::make_unique<OpenClBackend>();
}

}  // namespace kernelcast::probe
