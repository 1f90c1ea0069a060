#include "intercept/opencl/capture.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <thread>

namespace kernelcast::intercept {

static std::atomic<int> captures_under_way{0};

// A launch file that waits for its buffers.
struct Pending {
  Spool spool;
  std::uint64_t number = 0;
  std::string kernel, text;
  struct Mapping {
    std::byte* content;
    std::size_t bytes;
  };
  std::vector<Mapping> mappings;
  std::string why_not;        // why there is none
  std::atomic<int> reads{1};  // and the thread that prepares it
  std::atomic<int> read_status{CL_COMPLETE};
  bool launched = false;

  explicit Pending(Spool const& s) : spool(s) { ++captures_under_way; }
  ~Pending() {
    for (auto const& mapping : mappings) Spool::unmap(mapping.content, mapping.bytes);
    --captures_under_way;
  }
  Pending(Pending const&) = delete;

  // Of the last read, or of the launch.
  static void done(Pending* pending) {
    if (--pending->reads > 0) return;
    if (pending->launched) pending->publish();
    delete pending;
  }
  static void CL_CALLBACK completed(cl_event, cl_int status, void* user) {
    auto* const pending = static_cast<Pending*>(user);
    if (status != CL_COMPLETE) pending->read_status = status;
    done(pending);
  }

 private:
  void publish() {
    if (why_not.empty() && read_status != CL_COMPLETE)
      why_not = "reading its arguments back failed with " + std::to_string(read_status);
    if (why_not.empty() && !spool.publish(spool.name("launch", number, ".toml"), text)) why_not = "the disk is full";
    if (!why_not.empty()) spool.publish(spool.name("skipped", number, ".txt"), kernel + '\n' + why_not + '\n');
  }
};

namespace {

struct Refused {
  std::string why;
};

// FNV-1a, to name a source; equal sources get one file.
std::string hash_of(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (unsigned char const c : text) hash = (hash ^ c) * 0x100000001b3U;
  char out[17];
  std::snprintf(out, sizeof out, "%016llx", static_cast<unsigned long long>(hash));
  return out;
}

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (char const c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      char code[8];
      std::snprintf(code, sizeof code, "\\u%04x", static_cast<unsigned>(static_cast<unsigned char>(c)));
      out += code;
    } else {
      out += c;
    }
  }
  return out + '"';
}

std::string hex(std::vector<std::byte> const& bytes) {
  static constexpr char digits[] = "0123456789abcdef";
  std::string out = "hex:";
  for (auto const byte : bytes) {
    out += digits[std::to_integer<unsigned>(byte) >> 4];
    out += digits[std::to_integer<unsigned>(byte) & 15];
  }
  return out;
}

// As a shell splits them: blanks part, quotes and backslashes protect.
std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> out;
  bool in_word = false;
  char quote = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    char const c = text[i];
    bool const blank = !quote && (c == ' ' || c == '\t' || c == '\n');
    if (blank) {
      in_word = false;
      continue;
    }
    if (!in_word) out.emplace_back();
    in_word = true;
    if (quote ? c == quote : (c == '"' || c == '\''))
      quote = quote ? 0 : c;
    else if (c == '\\' && quote != '\'' && i + 1 < text.size())
      out.back() += text[++i];
    else
      out.back() += c;
  }
  return out;
}

// Folders named relative to where the application runs.
std::string absolute(std::string const& folder) {
  char path[PATH_MAX];
  return realpath(folder.c_str(), path) ? std::string(path) : folder;
}

// What clang takes of clBuildProgram's options; vendors' own are dropped.
std::vector<std::string> options_of(std::string const& text) {
  std::vector<std::string> out;
  auto const words = words_of(text);
  for (std::size_t i = 0; i < words.size(); ++i) {
    auto const& word = words[i];
    if (word == "-I" && i + 1 < words.size())
      out.push_back("-I" + absolute(words[++i]));
    else if (word.rfind("-I", 0) == 0)
      out.push_back("-I" + absolute(word.substr(2)));
    else if (word == "-D" && i + 1 < words.size())
      out.push_back("-D" + words[++i]);
    else if (word.rfind("-D", 0) == 0 || word.rfind("-U", 0) == 0 || word.rfind("-cl-std=", 0) == 0 ||
             word == "-cl-single-precision-constant" || word == "-cl-fast-relaxed-math" || word == "-cl-mad-enable" ||
             word == "-cl-unsafe-math-optimizations" || word == "-cl-finite-math-only" ||
             word == "-cl-no-signed-zeros" || word == "-cl-denorms-are-zero" || word == "-cl-opt-disable")
      out.push_back(word);
  }
  out.push_back("-I" + absolute("."));
  return out;
}

class Capture {
 public:
  Capture(cl_icd_dispatch const& next, Launch const& launch, Pending& pending)
      : next_(next), spool_(pending.spool), number_(pending.number), launch_(launch), pending_(pending) {}

  std::vector<cl_event> const& events() const { return events_; }

  void describe() {
    auto const& kernel = launch_.kernel;
    if (!kernel.program->why_not.empty()) throw Refused{kernel.program->why_not};
    if (launch_.has_offset) throw Refused{"its launch has a global offset"};
    std::string const program = "program-" + hash_of(kernel.program->source) + ".cl";
    if (!spool_.has(program) && !spool_.publish(program, kernel.program->source)) throw Refused{"the disk is full"};
    std::string arguments;
    for (std::size_t i = 0; i < kernel.arguments.size(); ++i)
      arguments += (i ? ", " : "") + quoted(argument(i, kernel.arguments[i]));

    std::string text = "# Captured from a running application.\n";
    text += "file = " + quoted(program) + "\noptions = [";
    for (bool first = true; auto const& option : options_of(kernel.program->options)) {
      text += (first ? "" : ", ") + quoted(option);
      first = false;
    }
    text += "]\n";
    if (!buffers_.empty()) text += "\n[buffers]\n" + buffers_;
    if (!images_.empty()) text += "\n[images]\n" + images_;
    text += "\n[[launch]]\nkernel = " + quoted(kernel.name) + "\nglobal = " + sizes(launch_.configuration.global) +
            "\nlocal = " + sizes(local_size()) + "\nargs = [" + arguments + "]\n";
    pending_.text = std::move(text);
  }

 private:
  std::string argument(std::size_t i, Argument const& given) {
    switch (given.kind) {
      case Argument::Kind::value:
        return hex(given.content);
      case Argument::Kind::local:
        return "local:" + std::to_string(given.bytes);
      case Argument::Kind::memory: {
        cl_mem memory = nullptr;
        std::memcpy(&memory, given.content.data(), sizeof memory);
        if (!memory) return "null";
        auto const [at, is_new] = names_.try_emplace(memory, "a" + std::to_string(i));
        if (is_new) read_back(i, memory);
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
        throw Refused{"it takes shared virtual memory"};
      case Argument::Kind::unset:
        break;
    }
    throw Refused{"argument " + std::to_string(i + 1) + " was never set"};
  }

  template <class T>
  T memory_info(cl_mem memory, cl_mem_info what) const {
    T value{};
    if (next_.clGetMemObjectInfo(memory, what, sizeof value, &value, nullptr) != CL_SUCCESS)
      throw Refused{"a memory object cannot be asked"};
    return value;
  }

  // A file for what argument `i` holds, and where to put it.
  std::pair<std::string, std::byte*> room_for(std::size_t i, std::size_t bytes) {
    std::string file = spool_.name("buffer", number_, "-" + std::to_string(i) + ".bin");
    std::byte* const content = spool_.map(file, bytes);
    if (!content) throw Refused{"the disk is full"};
    pending_.mappings.push_back({content, bytes});
    return {std::move(file), content};
  }

  void read_back(std::size_t i, cl_mem memory) {
    auto const type = memory_info<cl_mem_object_type>(memory, CL_MEM_TYPE);
    if (type != CL_MEM_OBJECT_BUFFER) return read_image(i, memory, type);
    auto const bytes = memory_info<std::size_t>(memory, CL_MEM_SIZE);
    auto const [file, content] = room_for(i, bytes);
    cl_event event = nullptr;
    cl_int status = next_.clEnqueueReadBuffer(launch_.queue, memory, CL_FALSE, 0, bytes, content, launch_.waits,
                                              launch_.wait_list, &event);
    if (status == CL_INVALID_OPERATION) status = read_copy(memory, bytes, content, event);  // the host may not read it
    if (status != CL_SUCCESS) throw Refused{"reading a buffer back failed with " + std::to_string(status)};
    watch(event);
    buffers_ += "a" + std::to_string(i) + " = " + quoted("u8:" + std::to_string(bytes) + ":file=" + file) + "\n";
  }

  template <class T>
  T image_info(cl_mem image, cl_image_info what) const {
    T value{};
    if (next_.clGetImageInfo(image, what, sizeof value, &value, nullptr) != CL_SUCCESS)
      throw Refused{"an image cannot be asked"};
    return value;
  }

  void read_image(std::size_t i, cl_mem image, cl_mem_object_type type) {
    auto const format = image_info<cl_image_format>(image, CL_IMAGE_FORMAT);
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
        throw Refused{"it takes an image of a buffer, or a pipe"};
    }
    if (shape != "1d") size += 'x' + std::to_string(region[1]);
    if (shape == "3d" || shape == "2d_array") size += 'x' + std::to_string(region[2]);
    std::size_t const bytes = element * region[0] * region[1] * region[2];
    auto const [file, content] = room_for(i, bytes);
    std::size_t const origin[3] = {0, 0, 0};
    cl_event event = nullptr;
    cl_int const status = next_.clEnqueueReadImage(launch_.queue, image, CL_FALSE, origin, region, 0, 0, content,
                                                   launch_.waits, launch_.wait_list, &event);
    if (status != CL_SUCCESS) throw Refused{"reading an image back failed with " + std::to_string(status)};
    watch(event);
    images_ += "a" + std::to_string(i) + " = " +
               quoted("image" + shape + ':' + format_name(format) + ':' + size + ":file=" + file) + "\n";
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
    cl_mem const copy = next_.clCreateBuffer(context, CL_MEM_READ_WRITE, bytes, nullptr, &status);
    if (status != CL_SUCCESS) return status;
    cl_event copied = nullptr;
    status =
        next_.clEnqueueCopyBuffer(launch_.queue, memory, copy, 0, 0, bytes, launch_.waits, launch_.wait_list, &copied);
    if (status == CL_SUCCESS) {
      status = next_.clEnqueueReadBuffer(launch_.queue, copy, CL_FALSE, 0, bytes, content, 1, &copied, &event);
      next_.clReleaseEvent(copied);
    }
    next_.clReleaseMemObject(copy);  // lives until the commands are done
    return status;
  }

  void watch(cl_event event) {
    events_.push_back(event);
    ++pending_.reads;
    if (next_.clSetEventCallback(event, CL_COMPLETE, Pending::completed, &pending_) == CL_SUCCESS) return;
    --pending_.reads;  // the mapping must outlive the read
    next_.clWaitForEvents(1, &event);
    throw Refused{"this OpenCL has no event callbacks"};
  }

  // The application's, else the kernel's own, else the largest divisors that make at most 256 work-items.
  std::array<std::size_t, 3> local_size() const {
    auto const& c = launch_.configuration;
    if (c.local[0] != 0) return c.local;
    cl_device_id device = nullptr;
    std::array<std::size_t, 3> fixed{};
    if (next_.clGetCommandQueueInfo(launch_.queue, CL_QUEUE_DEVICE, sizeof device, &device, nullptr) == CL_SUCCESS &&
        next_.clGetKernelWorkGroupInfo(launch_.handle, device, CL_KERNEL_COMPILE_WORK_GROUP_SIZE, sizeof fixed,
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

  cl_icd_dispatch const& next_;
  Spool const& spool_;
  std::uint64_t number_;
  Launch const& launch_;
  Pending& pending_;
  std::vector<cl_event> events_;
  std::map<cl_mem, std::string> names_;  // a buffer given twice is one buffer
  std::string buffers_, images_;
};

}  // namespace

Captured capture(cl_icd_dispatch const& next, Spool const& spool, std::uint64_t number, Launch const& launch) {
  auto* const pending = new Pending(spool);
  pending->number = number;
  pending->kernel = launch.kernel.name;
  Capture description(next, launch, *pending);
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

void wait_for_captures(double most_s) {
  auto const end = std::chrono::steady_clock::now() + std::chrono::duration<double>(most_s);
  while (captures_under_way > 0 && std::chrono::steady_clock::now() < end)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

}  // namespace kernelcast::intercept
