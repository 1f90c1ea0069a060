#include "runtimes/attach/opencl/capture.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <map>
#include <thread>
#include <tuple>

#include "kernels/frontend/source_kind.hpp"
#include "runtimes/attach/opencl/buffer_pool.hpp"
#include "runtimes/attach/opencl/calls.hpp"
#include "runtimes/attach/text.hpp"

namespace kernelcast::attach {

static std::atomic<int> captures_under_way{0};

// A launch file that waits for its buffers.
struct Pending {
  Spool spool;
  std::uint64_t number = 0;
  std::string kernel, text;
  struct Contents {
    std::string file;
    std::byte* content;
    std::size_t bytes;
  };
  std::vector<Contents> contents;
  std::string why_not;        // why there is none
  std::atomic<int> reads{1};  // and the thread that prepares it
  std::atomic<int> read_status{CL_COMPLETE};
  bool launched = false;

  explicit Pending(Spool s) : spool(std::move(s)) { ++captures_under_way; }
  ~Pending() {
    for (auto const& [file, content, bytes] : contents) buffer_pool().finish(content, bytes);
    --captures_under_way;
  }
  Pending(Pending const&) = delete;

  // Of the last read, or of the launch.
  static void done(Pending* pending) {
    if (--pending->reads > 0) return;
    if (!pending->launched || !pending->publish())  // they will not be read
      for (auto const& [file, content, bytes] : pending->contents) pending->spool.remove(file);
    delete pending;
  }
  static void CL_CALLBACK completed(cl_event, cl_int status, void* user) {
    auto* const pending = static_cast<Pending*>(user);
    if (status != CL_COMPLETE) pending->read_status = status;
    done(pending);
  }

 private:
  // Whether a launch file is there.
  bool publish() {
    if (why_not.empty() && read_status != CL_COMPLETE)
      why_not = "reading its arguments back failed with " + std::to_string(read_status);
    if (why_not.empty() && !spool.publish(spool.name("launch", number, ".toml"), text)) why_not = "the disk is full";
    if (!why_not.empty()) spool.publish(spool.name("skipped", number, ".txt"), kernel + '\n' + why_not + '\n');
    return why_not.empty();
  }
};

namespace {

constexpr std::size_t min_bytes_each = 4096;

struct Refused {
  std::string why;
};

// The most bytes of each buffer such that all together keep within a limit: small ones are read whole.
std::size_t max_bytes_each(std::vector<std::size_t> sizes, std::size_t limit) {
  std::sort(sizes.begin(), sizes.end());
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    std::size_t const share = limit / (sizes.size() - i);
    if (sizes[i] > share) return std::max(share, min_bytes_each);
    limit -= sizes[i];
  }
  return SIZE_MAX;
}

class Capture {
 public:
  Capture(Launch const& launch, Pending& pending)
      : spool_(pending.spool), number_(pending.number), launch_(launch), pending_(pending) {}

  std::vector<cl_event> const& events() const { return events_; }

  void describe() {
    auto const& kernel = launch_.kernel;
    if (!kernel.program->why_not.empty()) throw Refused{kernel.program->why_not};
    if (kernel.program->units.empty()) throw Refused{"its program has no source"};
    std::string text = "# Captured from a running application.\n" + source(kernel.program->units.front());
    for (std::size_t i = 1; i < kernel.program->units.size(); ++i)
      text += "\n[[link]]\n" + source(kernel.program->units[i]);
    max_bytes_each_ = max_bytes_each(sizes_of_memory(), launch_.read_back_bytes);
    std::string arguments;
    for (std::size_t i = 0; i < kernel.arguments.size(); ++i)
      arguments += (i ? ", " : "") + toml_string(argument(i, kernel.arguments[i]));
    for (auto const pointer : kernel.pointed_to) place_in_shared_virtual(pointer);
    if (!buffers_.empty()) text += "\n[buffers]\n" + buffers_;
    if (!images_.empty()) text += "\n[images]\n" + images_;
    text += "\n[[launch]]\nkernel = " + toml_string(kernel.name) + "\nglobal = " + sizes(launch_.configuration.global) +
            "\nlocal = " + sizes(local_size()) + "\n";
    if (launch_.has_offset()) text += "offset = " + sizes(launch_.offset) + "\n";
    pending_.text = text + "args = [" + arguments + "]\n";
  }

 private:
  // Bytes of the buffers and allocations that are read back, each once.
  std::vector<std::size_t> sizes_of_memory() const {
    std::map<cl_mem, std::size_t> buffers;
    std::map<std::uintptr_t, std::size_t> allocations;
    auto const add = [&](std::uintptr_t pointer) {
      auto const [begin, bytes] = allocation_of(pointer);
      if (begin != 0) allocations[begin] = bytes;
    };
    for (auto const& given : launch_.kernel.arguments) {
      void* handle = nullptr;
      if (given.content.size() == sizeof handle) std::memcpy(&handle, given.content.data(), sizeof handle);
      if (given.kind == Argument::Kind::memory && handle && !given.unwritten)
        buffers[static_cast<cl_mem>(handle)] = memory_info<std::size_t>(static_cast<cl_mem>(handle), CL_MEM_SIZE);
      if (given.kind == Argument::Kind::shared_virtual) add(reinterpret_cast<std::uintptr_t>(handle));
    }
    for (auto const pointer : launch_.kernel.pointed_to) add(pointer);
    std::vector<std::size_t> out;
    for (auto const& [memory, bytes] : buffers) out.push_back(bytes);
    for (auto const& [begin, bytes] : allocations) out.push_back(bytes);
    return out;
  }

  // Where the allocation of shared virtual memory that holds an address begins, and its bytes; {0, 0} for none.
  static std::pair<std::uintptr_t, std::size_t> allocation_of(std::uintptr_t pointer) {
    std::lock_guard const lock(objects().mutex);
    auto after = objects().shared_virtual.upper_bound(pointer);
    if (after == objects().shared_virtual.begin()) return {};
    auto const& [begin, bytes] = *--after;
    return pointer - begin < bytes ? std::pair{begin, bytes} : std::pair<std::uintptr_t, std::size_t>{};
  }

  // The keys of one source; its text, and the headers that it was given, are files named by their content.
  std::string source(Unit const& unit) {
    std::string const program = program_name(unit.source, frontend::opencl_suffix(unit.source));
    if (!spool_.has_program(program) && !spool_.publish_program(program, unit.source))
      throw Refused{"the disk is full"};
    std::string out = "file = " + toml_string(spool_.program(program)) + "\noptions = [";
    if (!unit.headers.empty()) out += toml_string("-I" + headers(unit)) + ", ";
    for (bool first = true; auto const& option : options_of(unit.options)) {
      out += (first ? "" : ", ") + toml_string(option);
      first = false;
    }
    return out + "]\n";
  }

  // The folder of the headers.
  std::string headers(Unit const& unit) {
    std::string all;
    for (auto const& [name, text] : unit.headers) all += name + '\n' + text + '\n';
    std::string const folder = "headers-" + hash_of(all) + '/';
    for (auto const& [name, text] : unit.headers) {
      if (name.empty() || name.front() == '/' || name.find("..") != std::string::npos)
        throw Refused{"a header of its program is called '" + name + "'"};
      if (!spool_.has_program(folder + name) && !spool_.publish_program(folder + name, text))
        throw Refused{"the disk is full"};
    }
    return spool_.place_of_program(folder);
  }

  std::string argument(std::size_t i, Argument const& given) {
    switch (given.kind) {
      case Argument::Kind::value:
        return hex(given.content);
      case Argument::Kind::local:
        return (given.bytes == sizeof(cl_mem) ? "null:" : "local:") + std::to_string(given.bytes);
      case Argument::Kind::memory: {
        cl_mem memory = nullptr;
        std::memcpy(&memory, given.content.data(), sizeof memory);
        if (!memory) return "null";
        auto const [at, is_new] = names_.try_emplace(memory, "a" + std::to_string(i));
        if (is_new) read_back(at->second, memory, !given.unwritten);
        return at->second;
      }
      case Argument::Kind::sampler: {
        cl_sampler sampler = nullptr;
        std::memcpy(&sampler, given.content.data(), sizeof sampler);
        std::lock_guard const lock(objects().mutex);
        auto const known = objects().samplers.find(sampler);
        if (known == objects().samplers.end()) throw Refused{"a sampler is unknown"};
        return "sampler:" + known->second;
      }
      case Argument::Kind::shared_virtual:
        return shared_virtual(given);
      case Argument::Kind::unset:
        break;
    }
    throw Refused{"argument " + std::to_string(i + 1) + " was never set"};
  }

  template <class T>
  T memory_info(cl_mem memory, cl_mem_info what) const {
    T value{};
    if (next.clGetMemObjectInfo(memory, what, sizeof value, &value, nullptr) != CL_SUCCESS)
      throw Refused{"querying a memory object failed"};
    return value;
  }

  // A place in an allocation that is read back: "a0+16".
  std::string shared_virtual(Argument const& given) {
    std::uintptr_t pointer = 0;
    std::memcpy(&pointer, given.content.data(), sizeof pointer);
    return pointer == 0 ? "null" : place_in_shared_virtual(pointer);
  }
  std::string place_in_shared_virtual(std::uintptr_t pointer) {
    auto const [begin, bytes] = allocation_of(pointer);
    if (begin == 0) throw Refused{"it takes a pointer that clSVMAlloc did not give"};
    auto const [at, is_new] = places_.try_emplace(begin, "s" + std::to_string(places_.size()));
    if (is_new) {
      std::size_t const part = std::min(bytes, max_bytes_each_);
      auto const [file, content] = place_for(at->second, part);
      cl_event event = nullptr;
      cl_int const status =
          next.clEnqueueSVMMemcpy(launch_.queue, CL_FALSE, content, reinterpret_cast<void const*>(begin), part,
                                  launch_.waits, launch_.wait_list, &event);
      if (status != CL_SUCCESS) throw Refused{"reading shared virtual memory failed with " + std::to_string(status)};
      watch(event);
      declare_buffer(at->second, bytes, ",at=" + std::to_string(begin), (part < bytes ? "start=" : "file=") + file);
    }
    return pointer == begin ? at->second : at->second + '+' + std::to_string(pointer - begin);
  }

  void declare_buffer(std::string const& name, std::size_t bytes, std::string const& words,
                      std::string const& contents) {
    buffers_ += name + " = " + toml_string("u8" + words + ':' + std::to_string(bytes) + ':' + contents) + "\n";
  }

  // A file for what a buffer holds, and where to put it.
  std::pair<std::string, std::byte*> place_for(std::string const& name, std::size_t bytes) {
    std::string file = spool_.name("buffer", number_, '-' + name + ".bin");
    std::byte* const content = buffer_pool().take(spool_, file, bytes);
    if (!content) throw Refused{"the disk is full"};
    pending_.contents.push_back({file, content, bytes});
    return {std::move(file), content};
  }

  void read_back(std::string const& name, cl_mem memory, bool written) {
    auto const type = memory_info<cl_mem_object_type>(memory, CL_MEM_TYPE);
    if (type != CL_MEM_OBJECT_BUFFER) return read_image(name, memory, type, written);
    auto const bytes = memory_info<std::size_t>(memory, CL_MEM_SIZE);
    if (!written) return declare_buffer(name, bytes, "", "uninit");
    std::size_t const part = std::min(bytes, max_bytes_each_);
    auto const [file, content] = place_for(name, part);
    cl_event event = nullptr;
    cl_int status = next.clEnqueueReadBuffer(launch_.queue, memory, CL_FALSE, 0, part, content, launch_.waits,
                                             launch_.wait_list, &event);
    if (status == CL_INVALID_OPERATION) status = read_copy(memory, part, content, event);  // the host may not read it
    if (status != CL_SUCCESS) throw Refused{"reading a buffer back failed with " + std::to_string(status)};
    watch(event);
    declare_buffer(name, bytes, "", (part < bytes ? "start=" : "file=") + file);
  }

  template <class T>
  T image_info(cl_mem image, cl_image_info what) const {
    T value{};
    if (next.clGetImageInfo(image, what, sizeof value, &value, nullptr) != CL_SUCCESS)
      throw Refused{"querying an image failed"};
    return value;
  }

  void read_image(std::string const& name, cl_mem image, cl_mem_object_type type, bool written) {
    auto const format = image_info<cl_image_format>(image, CL_IMAGE_FORMAT);
    if (type == CL_MEM_OBJECT_IMAGE1D_BUFFER) return read_image_of_buffer(name, image, format, written);
    auto const element = image_info<std::size_t>(image, CL_IMAGE_ELEMENT_SIZE);
    auto const width = image_info<std::size_t>(image, CL_IMAGE_WIDTH);
    auto const height = std::max<std::size_t>(1, image_info<std::size_t>(image, CL_IMAGE_HEIGHT));
    auto const depth = std::max<std::size_t>(1, image_info<std::size_t>(image, CL_IMAGE_DEPTH));
    bool const array = type == CL_MEM_OBJECT_IMAGE1D_ARRAY || type == CL_MEM_OBJECT_IMAGE2D_ARRAY;
    auto const layers = array ? image_info<std::size_t>(image, CL_IMAGE_ARRAY_SIZE) : 1;
    std::string shape, size = std::to_string(width);
    std::size_t region[3] = {width, 1, 1};
    switch (type) {
      case CL_MEM_OBJECT_IMAGE1D:
        shape = "1d";
        break;
      case CL_MEM_OBJECT_IMAGE1D_ARRAY:
        shape = "1d_array";
        region[1] = layers;
        break;
      case CL_MEM_OBJECT_IMAGE2D:
        shape = "2d";
        region[1] = height;
        break;
      case CL_MEM_OBJECT_IMAGE2D_ARRAY:
        shape = "2d_array";
        region[1] = height;
        region[2] = layers;
        break;
      case CL_MEM_OBJECT_IMAGE3D:
        shape = "3d";
        region[1] = height;
        region[2] = depth;
        break;
      default:
        throw Refused{"it takes a pipe"};
    }
    if (shape != "1d") size += 'x' + std::to_string(region[1]);
    if (shape == "3d" || shape == "2d_array") size += 'x' + std::to_string(region[2]);
    std::size_t const bytes = element * region[0] * region[1] * region[2];
    auto const declare = [&](std::string const& contents) {
      images_ +=
          name + " = " + toml_string("image" + shape + ':' + format_name(format) + ':' + size + ':' + contents) + "\n";
    };
    if (!written) return declare("uninit");
    auto const [file, content] = place_for(name, bytes);
    std::size_t const origin[3] = {0, 0, 0};
    cl_event event = nullptr;
    cl_int const status = next.clEnqueueReadImage(launch_.queue, image, CL_FALSE, origin, region, 0, 0, content,
                                                  launch_.waits, launch_.wait_list, &event);
    if (status != CL_SUCCESS) throw Refused{"reading an image back failed with " + std::to_string(status)};
    watch(event);
    declare("file=" + file);
  }

  // Its texels are a buffer, which may be an argument as well.
  void read_image_of_buffer(std::string const& name, cl_mem image, cl_image_format const& format, bool written) {
    auto const buffer = image_info<cl_mem>(image, CL_IMAGE_BUFFER);
    auto const width = image_info<std::size_t>(image, CL_IMAGE_WIDTH);
    auto const [at, is_new] = names_.try_emplace(buffer, name + "_texels");
    if (is_new) read_back(at->second, buffer, written);
    images_ +=
        name + " = " +
        toml_string("image1d_buffer:" + format_name(format) + ':' + std::to_string(width) + ":buffer=" + at->second) +
        "\n";
  }

  // As a launch file has it: "rgba8", "r32f".
  static std::string format_name(cl_image_format const& format) {
    static constexpr std::pair<cl_channel_order, char const*> orders[] = {
        {CL_R, "r"},       {CL_A, "a"},         {CL_RG, "rg"},      {CL_RA, "ra"},
        {CL_RGB, "rgb"},   {CL_RGBA, "rgba"},   {CL_BGRA, "bgra"},  {CL_ARGB, "argb"},
        {CL_ABGR, "abgr"}, {CL_INTENSITY, "i"}, {CL_LUMINANCE, "l"}};
    static constexpr std::pair<cl_channel_type, char const*> types[] = {
        {CL_UNORM_INT8, "8"},         {CL_UNORM_INT16, "16"},    {CL_SNORM_INT8, "8_snorm"},
        {CL_SNORM_INT16, "16_snorm"}, {CL_SIGNED_INT8, "8i"},    {CL_SIGNED_INT16, "16i"},
        {CL_SIGNED_INT32, "32i"},     {CL_UNSIGNED_INT8, "8ui"}, {CL_UNSIGNED_INT16, "16ui"},
        {CL_UNSIGNED_INT32, "32ui"},  {CL_HALF_FLOAT, "16f"},    {CL_FLOAT, "32f"}};
    std::string out;
    for (auto const& [order, name] : orders)
      if (order == format.image_channel_order) out = name;
    bool known = !out.empty();
    for (auto const& [type, name] : types)
      if (type == format.image_channel_data_type)
        return known ? out + name : throw Refused{"it takes an image of unknown channels"};
    throw Refused{"it takes an image of a packed format"};
  }

  cl_int read_copy(cl_mem memory, std::size_t bytes, std::byte* content, cl_event& event) const {
    auto const context = memory_info<cl_context>(memory, CL_MEM_CONTEXT);
    cl_int status = CL_SUCCESS;
    cl_mem const copy = next.clCreateBuffer(context, CL_MEM_READ_WRITE, bytes, nullptr, &status);
    if (status != CL_SUCCESS) return status;
    cl_event copied = nullptr;
    status =
        next.clEnqueueCopyBuffer(launch_.queue, memory, copy, 0, 0, bytes, launch_.waits, launch_.wait_list, &copied);
    if (status == CL_SUCCESS) {
      status = next.clEnqueueReadBuffer(launch_.queue, copy, CL_FALSE, 0, bytes, content, 1, &copied, &event);
      next.clReleaseEvent(copied);
    }
    next.clReleaseMemObject(copy);  // lives until the commands are done
    return status;
  }

  void watch(cl_event event) {
    events_.push_back(event);
    ++pending_.reads;
    if (next.clSetEventCallback(event, CL_COMPLETE, Pending::completed, &pending_) == CL_SUCCESS) return;
    --pending_.reads;  // the mapping must outlive the read
    next.clWaitForEvents(1, &event);
    throw Refused{"this OpenCL has no event callbacks"};
  }

  // The application's, else the kernel's own, else the largest divisors that make at most 256 work-items.
  std::array<std::size_t, 3> local_size() const {
    auto const& c = launch_.configuration;
    if (c.local[0] != 0) return c.local;
    cl_device_id device = nullptr;
    std::array<std::size_t, 3> fixed{};
    if (next.clGetCommandQueueInfo(launch_.queue, CL_QUEUE_DEVICE, sizeof device, &device, nullptr) == CL_SUCCESS &&
        next.clGetKernelWorkGroupInfo(launch_.handle, device, CL_KERNEL_COMPILE_WORK_GROUP_SIZE, sizeof fixed,
                                      fixed.data(), nullptr) == CL_SUCCESS &&
        fixed[0] != 0)
      return fixed;
    std::array<std::size_t, 3> out{1, 1, 1};
    std::size_t left = 256;
    for (cl_uint d = 0; d < c.dimensions; ++d) {
      std::size_t part = std::min(left, c.global[d]);
      while (part > 1 && c.global[d] % part != 0) --part;
      out[d] = std::max<std::size_t>(part, 1);
      left /= out[d];
    }
    return out;
  }

  std::string sizes(std::array<std::size_t, 3> const& size) const {
    std::string out = "[";
    for (cl_uint d = 0; d < launch_.configuration.dimensions; ++d) out += (d ? ", " : "") + std::to_string(size[d]);
    return out + "]";
  }

  Spool const& spool_;
  std::uint64_t number_;
  Launch const& launch_;
  Pending& pending_;
  std::vector<cl_event> events_;
  std::map<cl_mem, std::string> names_;           // a buffer given twice is one buffer
  std::map<std::uintptr_t, std::string> places_;  // shared virtual memory by where it begins
  std::size_t max_bytes_each_ = SIZE_MAX;
  std::string buffers_, images_;
};

}  // namespace

Captured capture(Spool const& spool, std::uint64_t number, Launch const& launch) {
  auto* const pending = new Pending(spool);
  pending->number = number;
  pending->kernel = launch.kernel.name;
  Capture description(launch, *pending);
  try {
    description.describe();
  } catch (Refused const& refused) {
    pending->why_not = refused.why;
  }
  next.clFlush(launch.queue);
  return {pending, description.events()};
}

void conclude(Pending* pending, bool launched) {
  pending->launched = launched;
  Pending::done(pending);
}

void wait_for_captures(double max_s) {
  auto const end = std::chrono::steady_clock::now() + std::chrono::duration<double>(max_s);
  while (captures_under_way > 0 && std::chrono::steady_clock::now() < end)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  buffer_pool().remove();
}

void forget_captures() {
  captures_under_way = 0;
}

}  // namespace kernelcast::attach
