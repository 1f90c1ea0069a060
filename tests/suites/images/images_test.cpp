// OpenCL C's image functions on the emulator and on the OpenCL device at hand (PoCL): the same bits for whatever is not
// filtered, within one step of the filter's weights otherwise.
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <fstream>
#include <map>

#include "catch.hpp"
#include "emulator/launch/launch.hpp"

using namespace kernelcast;

namespace {

constexpr std::size_t places = 256;

void require(cl_int status, char const* what) {
  if (status != CL_SUCCESS) throw std::runtime_error(fmt::format("{}: OpenCL status {}", what, status));
}

std::string source_text() {
  std::ifstream file(KERNELCAST_SOURCE_DIR "/tests/suites/images/images.cl");
  return {std::istreambuf_iterator<char>(file), {}};
}

cl_mem_object_type type_of(emu::Geometry g) {
  switch (g) {
    case emu::Geometry::image_1d:
      return CL_MEM_OBJECT_IMAGE1D;
    case emu::Geometry::image_3d:
      return CL_MEM_OBJECT_IMAGE3D;
    case emu::Geometry::array_1d:
      return CL_MEM_OBJECT_IMAGE1D_ARRAY;
    case emu::Geometry::array_2d:
      return CL_MEM_OBJECT_IMAGE2D_ARRAY;
    default:
      return CL_MEM_OBJECT_IMAGE2D;
  }
}

cl_image_format format_of(emu::Format format) {
  using emu::ChannelOrder;
  using emu::ChannelType;
  static std::map<ChannelOrder, cl_channel_order> const orders = {{ChannelOrder::r, CL_R},
                                                                  {ChannelOrder::a, CL_A},
                                                                  {ChannelOrder::rg, CL_RG},
                                                                  {ChannelOrder::ra, CL_RA},
                                                                  {ChannelOrder::rgba, CL_RGBA},
                                                                  {ChannelOrder::bgra, CL_BGRA},
                                                                  {ChannelOrder::argb, CL_ARGB},
                                                                  {ChannelOrder::intensity, CL_INTENSITY},
                                                                  {ChannelOrder::luminance, CL_LUMINANCE}};
  static std::map<ChannelType, cl_channel_type> const types = {
      {ChannelType::unorm8, CL_UNORM_INT8},     {ChannelType::unorm16, CL_UNORM_INT16},
      {ChannelType::snorm8, CL_SNORM_INT8},     {ChannelType::snorm16, CL_SNORM_INT16},
      {ChannelType::sint8, CL_SIGNED_INT8},     {ChannelType::sint16, CL_SIGNED_INT16},
      {ChannelType::sint32, CL_SIGNED_INT32},   {ChannelType::uint8, CL_UNSIGNED_INT8},
      {ChannelType::uint16, CL_UNSIGNED_INT16}, {ChannelType::uint32, CL_UNSIGNED_INT32},
      {ChannelType::half, CL_HALF_FLOAT},       {ChannelType::float32, CL_FLOAT}};
  auto const order = orders.find(format.order);
  return {order == orders.end() ? CL_RGB : order->second, types.at(format.type)};
}

class Device {
 public:
  Device() {
    cl_platform_id platform = nullptr;
    cl_uint count = 0;
    if (clGetPlatformIDs(1, &platform, &count) != CL_SUCCESS || count == 0) return;
    if (clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device_, nullptr) != CL_SUCCESS) return;
    cl_bool images = CL_FALSE;
    clGetDeviceInfo(device_, CL_DEVICE_IMAGE_SUPPORT, sizeof images, &images, nullptr);
    if (!images) return;
    cl_int status = 0;
    context_ = clCreateContext(nullptr, 1, &device_, nullptr, nullptr, &status);
    require(status, "context");
    queue_ = clCreateCommandQueue(context_, device_, 0, &status);
    require(status, "queue");
    std::string const text = source_text();
    char const* source = text.c_str();
    program_ = clCreateProgramWithSource(context_, 1, &source, nullptr, &status);
    require(status, "program");
    usable = clBuildProgram(program_, 1, &device_, "-cl-std=CL1.2", nullptr, nullptr) == CL_SUCCESS;
  }

  bool supports(emu::Image const& image, bool writes) const {
    cl_uint count = 0;
    cl_mem_flags const flags = writes ? CL_MEM_WRITE_ONLY : CL_MEM_READ_ONLY;
    if (clGetSupportedImageFormats(context_, flags, type_of(image.geometry), 0, nullptr, &count) != CL_SUCCESS)
      return false;
    std::vector<cl_image_format> all(count);
    clGetSupportedImageFormats(context_, flags, type_of(image.geometry), count, all.data(), nullptr);
    cl_image_format const wanted = format_of(image.format);
    return std::any_of(all.begin(), all.end(), [&](cl_image_format const& f) {
      return f.image_channel_order == wanted.image_channel_order &&
             f.image_channel_data_type == wanted.image_channel_data_type;
    });
  }

  // Runs a kernel of the file with the plan's arguments; buffers and images come back in `contents`, in the plan's
  // order.
  void run(launch::Plan const& plan, std::vector<std::vector<std::byte>>& contents) {
    cl_int status = 0;
    launch::Call const& call = plan.calls.at(0);
    cl_kernel const kernel = clCreateKernel(program_, call.kernel.text.c_str(), &status);
    require(status, "kernel");
    std::map<std::size_t, cl_mem> buffers, images;
    for (cl_uint i = 0; i < call.arguments.size(); ++i) {
      launch::Argument const& a = call.arguments[i];
      if (a.kind == launch::Argument::Kind::sampler) {
        cl_sampler const sampler = make(plan.samplers[a.buffer]);
        require(clSetKernelArg(kernel, i, sizeof sampler, &sampler), "sampler");
        continue;
      }
      bool const is_image = a.kind == launch::Argument::Kind::image;
      cl_mem& memory = is_image ? images[a.buffer] : buffers[a.buffer];
      if (is_image) {
        memory = make(plan.images[a.buffer].shape, contents[plan.images[a.buffer].buffer]);
      } else {
        memory = clCreateBuffer(context_, CL_MEM_COPY_HOST_PTR, contents[a.buffer].size(), contents[a.buffer].data(),
                                &status);
        require(status, "buffer");
      }
      require(clSetKernelArg(kernel, i, sizeof memory, &memory), "argument");
    }
    std::size_t const global = call.global.size.x, local = call.local->size.x;
    require(clEnqueueNDRangeKernel(queue_, kernel, 1, nullptr, &global, &local, 0, nullptr, nullptr), "launch");
    require(clFinish(queue_), "finish");
    for (auto const& [index, memory] : buffers)
      require(clEnqueueReadBuffer(queue_, memory, CL_TRUE, 0, contents[index].size(), contents[index].data(), 0,
                                  nullptr, nullptr),
              "read");
    for (auto const& [index, memory] : images) {
      emu::Image const& shape = plan.images[index].shape;
      std::size_t const origin[3] = {}, region[3] = {shape.width, rows(shape), planes(shape)};
      require(clEnqueueReadImage(queue_, memory, CL_TRUE, origin, region, 0, 0,
                                 contents[plan.images[index].buffer].data(), 0, nullptr, nullptr),
              "read image");
    }
    for (auto const* list : {&buffers, &images})
      for (auto const& [index, memory] : *list) clReleaseMemObject(memory);
    clReleaseKernel(kernel);
  }

  bool usable = false;

 private:
  static std::size_t rows(emu::Image const& i) { return i.geometry == emu::Geometry::array_1d ? i.layers : i.height; }
  static std::size_t planes(emu::Image const& i) { return i.geometry == emu::Geometry::array_2d ? i.layers : i.depth; }

  cl_mem make(emu::Image const& shape, std::vector<std::byte>& texels) {
    cl_image_desc desc{};
    desc.image_type = type_of(shape.geometry);
    desc.image_width = shape.width;
    desc.image_height = shape.height;
    desc.image_depth = shape.depth;
    desc.image_array_size = shape.layers;
    cl_image_format const format = format_of(shape.format);
    cl_int status = 0;
    cl_mem const memory = clCreateImage(context_, CL_MEM_COPY_HOST_PTR, &format, &desc, texels.data(), &status);
    require(status, "image");
    return memory;
  }
  cl_sampler make(emu::Sampler const& s) {
    cl_addressing_mode mode = CL_ADDRESS_CLAMP_TO_EDGE;
    if (s.address[0] == emu::AddressMode::clamp_to_border) mode = CL_ADDRESS_CLAMP;
    if (s.address[0] == emu::AddressMode::wrap) mode = CL_ADDRESS_REPEAT;
    if (s.address[0] == emu::AddressMode::mirror) mode = CL_ADDRESS_MIRRORED_REPEAT;
    cl_int status = 0;
    cl_sampler const sampler = clCreateSampler(
        context_, s.normalized, mode, s.filter == emu::Filter::linear ? CL_FILTER_LINEAR : CL_FILTER_NEAREST, &status);
    require(status, "sampler");
    return sampler;
  }

  cl_device_id device_ = nullptr;
  cl_context context_ = nullptr;
  cl_command_queue queue_ = nullptr;
  cl_program program_ = nullptr;
};

Device& device() {
  static Device one;
  return one;
}

frontend::Compiled const& compiled() {
  static frontend::Compiled const all = [] {
    frontend::Request request;
    request.path = KERNELCAST_SOURCE_DIR "/tests/suites/images/images.cl";
    request.registers.clear();
    return frontend::compile(request);
  }();
  return all;
}

struct Case {
  launch::Plan plan;
  std::vector<std::vector<std::byte>> before, emulated, device;
};

// Buffers of both sides begin alike; `places_in` replaces the contents of argument `places_at`.
template <class T>
Case run_both(std::string const& kernel, std::vector<std::string> const& arguments, std::size_t places_at,
              std::vector<T> const& places_in, std::size_t items = places) {
  Case c;
  launch::CommandLine line;
  line.path = KERNELCAST_SOURCE_DIR "/tests/suites/images/images.cl";
  line.kernel = kernel;
  line.global = std::to_string(items);
  line.local = std::to_string(std::min<std::size_t>(items, 64));
  line.arguments = arguments;
  c.plan = launch::plan_of(line);
  launch::Call const& call = c.plan.calls[0];
  auto const& info = frontend::find_kernel(compiled().kernels, kernel, line.path);
  auto const& function = *compiled().module->find_kernel(info.name);
  emu::Program const program(*compiled().module, function);
  emu::Memory memory(std::uint64_t{1} << 28);
  launch::Buffers const buffers(c.plan, 7, memory);
  if (!places_in.empty()) {
    auto const to = buffers.bytes(call.arguments[places_at].buffer);
    std::memcpy(to.data(), places_in.data(), std::min(to.size(), places_in.size() * sizeof(T)));
  }
  auto const take = [&](std::vector<std::vector<std::byte>>& all) {
    all.clear();
    for (std::size_t i = 0; i < c.plan.buffers.size(); ++i)
      all.emplace_back(buffers.bytes(i).begin(), buffers.bytes(i).end());
  };
  take(c.before);
  auto const bound = launch::bind(call, info, function, program.static_shared_bytes(), buffers);
  std::vector<std::uint64_t> groups(bound.launch.grid.count());
  for (std::size_t i = 0; i < groups.size(); ++i) groups[i] = i;
  auto const outcome = emu::run(program, bound.launch, memory, groups, {});
  INFO((outcome.finding ? outcome.finding->message : std::string()));
  REQUIRE(outcome.ending == emu::Ending::done);
  take(c.emulated);
  c.device = c.before;
  device().run(c.plan, c.device);
  return c;
}

std::uint64_t next(std::uint64_t& state) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return state >> 33;
}

struct Kind {
  char const *kernel, *size;
  double width, height, depth;
};

}  // namespace

TEST_CASE("images: reads agree with the OpenCL device") {
  if (!device().usable) SKIP_BECAUSE("no OpenCL device with images");
  std::uint64_t state = 5;
  std::size_t exact = 0, near = 0, unsupported = 0;
  for (Kind const kind :
       {Kind{"image1d", "13", 13, 1, 1}, Kind{"image2d", "13x7", 13, 7, 1}, Kind{"image3d", "13x7x5", 13, 7, 5},
        Kind{"image1d_array", "13x4", 13, 4, 1}, Kind{"image2d_array", "13x7x4", 13, 7, 4}})
    for (char const* format :
         {"rgba8", "bgra8",  "rgba8_snorm", "rgba16",  "rgba16_snorm", "rgba16f",  "rgba32f",  "r32f",  "rg32f", "a8",
          "r8",    "rgba8i", "rgba16i",     "rgba32i", "rgba8ui",      "rgba16ui", "rgba32ui", "r32ui", "i8",    "l16"})
      for (char const* sampler : {"nearest,clamp", "nearest,border", "linear,clamp", "linear,border",
                                  "nearest,clamp,normalized", "nearest,wrap,normalized", "nearest,mirror,normalized",
                                  "linear,wrap,normalized", "linear,mirror,normalized", "linear,clamp,normalized"}) {
        emu::Format const f = *emu::format_named(format);
        bool const integers = emu::is_integer(f.type);
        std::string const words = sampler;
        bool const linear = words.starts_with("linear"), normalized = words.ends_with("normalized");
        if (linear && integers) continue;
        // PoCL 3.1 takes layers for normalised coordinates too; [opencl 1.2] 8.4 does not.
        if (normalized && std::string(kind.kernel).ends_with("array")) continue;
        std::string const image = fmt::format("{}:{}:{}:random", kind.kernel, format, kind.size);
        launch::Plan probe;
        probe = launch::plan_of({"x.cl", "x", "1", "", "1", {image}, {}, 0, {}});
        if (!device().supports(probe.images[0].shape, false)) {
          ++unsupported;
          continue;
        }
        // Away from the edges of texels, where either side is right.
        std::vector<float> at(4 * places);
        for (std::size_t i = 0; i < places; ++i) {
          double const sizes[] = {kind.width, kind.height, kind.depth};
          for (std::size_t d = 0; d < 3; ++d) {
            double const texel = static_cast<double>(next(state) % static_cast<std::uint64_t>(3 * sizes[d])) - sizes[d];
            double const within = (static_cast<double>(next(state) % 64) + 0.5) / 64;
            bool const layer = std::string(kind.kernel).ends_with("array") && d == (kind.depth > 1 ? 2 : 1);
            at[4 * i + d] = static_cast<float>(layer        ? texel
                                               : normalized ? (texel + within) / sizes[d]
                                                            : texel + within);
          }
        }
        std::string const kernel = std::string(kind.kernel) + (!integers                            ? "_f"
                                                               : f.type <= emu::ChannelType::sint32 ? "_i"
                                                                                                    : "_ui");
        auto const c = run_both(kernel, {image, "sampler:" + words, "buf:f32:1024:zero", "buf:f32:1024:zero"}, 2, at);
        std::size_t const out = c.plan.calls[0].arguments[3].buffer;
        std::vector<float> have(4 * places), want(4 * places);
        std::memcpy(have.data(), c.emulated[out].data(), c.emulated[out].size());
        std::memcpy(want.data(), c.device[out].data(), c.device[out].size());
        // [opencl 1.2] 6.12.14: an image without alpha reads as alpha 1, outside under CLK_ADDRESS_CLAMP too; PoCL 3.1
        // gives 0 there and for integers.
        bool const same_alpha = emu::has_alpha(f.order) || (!integers && words.find("border") == std::string::npos);
        for (std::size_t i = 0; i < have.size(); ++i) {
          if (i % 4 == 3 && !same_alpha) continue;
          INFO(image << " " << words << " at " << at[i / 4 * 4] << " " << at[i / 4 * 4 + 1] << " " << at[i / 4 * 4 + 2]
                     << " channel " << i % 4);
          if (!linear) {
            if (std::memcmp(&have[i], &want[i], 4) == 0) {
              ++exact;
              continue;
            }
            // A fraction of integers is given to 1.5 units in the last place.
            INFO(fmt::format("{:#x}, the device {:#x}", std::bit_cast<std::uint32_t>(have[i]),
                             std::bit_cast<std::uint32_t>(want[i])));
            REQUIRE(!integers);
            REQUIRE(std::fabs(have[i] - want[i]) <= 2 * std::ldexp(std::fabs(want[i]), -23));
            ++near;
          } else {
            // One weight step for each dimension times the range of the texels.
            REQUIRE(std::fabs(have[i] - want[i]) <= 3.0 / 256);
            ++near;
          }
        }
      }
  INFO("reads: " << exact << " equal, " << near << " close, " << unsupported << " combinations without device support");
  CHECK(exact > 10000);
}

TEST_CASE("images: integer coordinates, literals and queries agree with the OpenCL device") {
  if (!device().usable) SKIP_BECAUSE("no OpenCL device with images");
  std::uint64_t state = 9;
  for (Kind const kind : {Kind{"image1d", "13", 13, 1, 1}, Kind{"image2d", "13x7", 13, 7, 1},
                          Kind{"image3d", "13x7x5", 13, 7, 5}, Kind{"image2d_array", "13x7x4", 13, 7, 4}})
    for (char const* words : {"nearest,clamp", "nearest,border"}) {
      std::vector<std::int32_t> at(4 * places);
      for (std::int32_t& x : at) x = static_cast<std::int32_t>(next(state) % 24) - 6;
      auto const c = run_both(fmt::format("int_{}_ui", kind.kernel),
                              {fmt::format("{}:rgba8ui:{}:random", kind.kernel, kind.size),
                               fmt::format("sampler:{}", words), "buf:i32:1024:zero", "buf:u32:1024:zero"},
                              2, at);
      INFO(kind.kernel << " " << words);
      CHECK(c.emulated == c.device);
    }
  std::vector<float> at(4 * places);
  for (float& x : at) x = (static_cast<float>(next(state) % 1024) + 0.5f) / 256 - 2;
  auto const literal =
      run_both("literals", {"image2d:rgba32f:16x8:random", "buf:f32:1024:zero", "buf:f32:1024:zero"}, 1, at);
  CHECK(literal.emulated == literal.device);
  auto const queries = run_both<int>("queries",
                                     {"image2d:rgba8:16x8:random", "image3d:rgba32f:3x4x5:zero",
                                      "image2d_array:rgba16f:6x7x3:zero", "buf:i32:16:zero"},
                                     0, {}, 1);
  CHECK(queries.emulated == queries.device);
}

TEST_CASE("images: writes agree with the OpenCL device") {
  if (!device().usable) SKIP_BECAUSE("no OpenCL device with images");
  std::uint64_t state = 17;
  for (char const* format : {"rgba8", "bgra8", "rgba8_snorm", "rgba16", "rgba16f", "rgba32f", "r32f", "rgba8i",
                             "rgba16i", "rgba32i", "rgba8ui", "rgba16ui", "rgba32ui"}) {
    emu::Format const f = *emu::format_named(format);
    launch::Plan const probe =
        launch::plan_of({"x.cl", "x", "1", "", "1", {fmt::format("image2d:{}:32x16:zero", format)}, {}, 0, {}});
    if (!device().supports(probe.images[0].shape, true)) continue;
    std::vector<std::int32_t> at(2 * places);
    for (std::size_t i = 0; i < places; ++i) {  // places of their own, some outside
      at[2 * i] = static_cast<std::int32_t>(i % 32);
      at[2 * i + 1] = static_cast<std::int32_t>(2 * (i / 32));
    }
    bool const integers = emu::is_integer(f.type);
    char const* const kernel = !integers ? "write_f" : f.type <= emu::ChannelType::sint32 ? "write_i" : "write_ui";
    auto const c = run_both(kernel,
                            {fmt::format("image2d:{}:32x16:zero", format), "buf:i32:512:zero",
                             integers ? "buf:u32:1024:random" : "buf:f32:1024:random"},
                            1, at);
    INFO(format);
    CHECK(c.emulated == c.device);
  }
  (void)state;
}
