#include "plans.hpp"
#include "../../launches.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "base/process/process.hpp"

namespace kernelcast::suites {
namespace {

constexpr std::uint64_t seed = 0;  // miniemu's default

std::vector<std::byte> bytes_of(std::string const& text) {
  std::vector<std::byte> bytes(text.size());
  std::ranges::transform(text, bytes.begin(), [](char c) { return static_cast<std::byte>(c); });
  return bytes;
}

OpenClArgument image_argument(launch::Image const& image, launch::Plan const& plan) {
  if (image.shape.geometry != emu::Geometry::image_2d || image.shape.format != emu::Format{})
    throw std::invalid_argument("OpenCL devices are given images of two dimensions and four floats only");
  return ImageOf{plan.buffers.at(image.buffer).name, image.shape.width, image.shape.height};
}

OpenClArgument opencl_argument(launch::Argument const& argument, launch::Plan const& plan) {
  switch (argument.kind) {
    case launch::Argument::Kind::shared:
      return LocalBytes{argument.shared_bytes};
    case launch::Argument::Kind::buffer:
      return BufferName{plan.buffers.at(argument.buffer).name};
    case launch::Argument::Kind::image:
      return image_argument(plan.images.at(argument.buffer), plan);
    case launch::Argument::Kind::sampler:
    case launch::Argument::Kind::null:
      throw std::invalid_argument("samplers and null pointers are not given to OpenCL devices");
    case launch::Argument::Kind::value:
      break;
  }
  return argument.value;
}

}  // namespace

Buffers initial_buffers(launch::Plan const& plan) {
  emu::Memory memory;
  launch::Buffers const filled(plan, seed, memory);
  Buffers result;
  for (std::size_t i = 0; i < plan.buffers.size(); ++i) {
    auto const bytes = filled.bytes(i);
    result[plan.buffers[i].name].assign(bytes.begin(), bytes.end());
  }
  return result;
}

Buffers emulate(launch::Plan const& plan, unsigned threads) {
  TemporaryFolder const scratch;
  auto options = with_groups("all");
  options.seed = seed;
  options.threads = threads;
  for (auto const& buffer : plan.buffers)
    options.dumps.push_back(launch::parse_dump(fmt::format("{}={}", buffer.name, scratch.file(buffer.name))));
  launch::run(plan, options);
  Buffers result;
  for (auto const& buffer : plan.buffers) result[buffer.name] = bytes_of(read_file(scratch.file(buffer.name)));
  return result;
}

std::vector<OpenClLaunch> opencl_launches(launch::Plan const& plan) {
  std::vector<OpenClLaunch> launches;
  for (auto const& call : plan.calls) {
    if (call.in_groups || !call.local) throw std::invalid_argument("sizes must be given in work-items");
    OpenClLaunch launch;
    launch.kernel = call.kernel.text;
    launch.dimensions = call.global.dimensions;
    launch.global = {call.global.size.x, call.global.size.y, call.global.size.z};
    launch.local = {call.local->size.x, call.local->size.y, call.local->size.z};
    for (auto const& argument : call.arguments) launch.arguments.push_back(opencl_argument(argument, plan));
    launches.push_back(std::move(launch));
  }
  return launches;
}

std::string opencl_options(launch::Plan const& plan) {
  return fmt::format("{}", fmt::join(plan.request.options, " "));
}

std::string source_text(launch::Plan const& plan) {
  return read_file(plan.request.path);
}

}  // namespace kernelcast::suites
