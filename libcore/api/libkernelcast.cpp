// The C face of the suite: handles and statuses around advise::count() and advise::project().
//
// Method: every entry is a guarded block that turns exceptions into a status and a message of the calling thread.
// Limits: launches in OpenCL's and CUDA's own sense only, no graphs; no texture references by name.
#include "api/libkernelcast.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <memory>
#include <new>

#include <fmt/format.h>

#include "api/library_place.hpp"
#include "base/cache/cache.hpp"
#include "base/process/process.hpp"
#include "base/version/version.hpp"
#include "emulator/launch/arguments.hpp"
#include "records/table/table.hpp"
#include "runtimes/advise/count.hpp"
#include "runtimes/advise/projections.hpp"

using namespace kernelcast;

struct kernelcast_database {
  device::DeviceDatabase devices;
  std::vector<device::Device const*> gpus;
};

struct kernelcast_launch {
  int language = KERNELCAST_OPENCL_C;
  std::string source, kernel;
  std::vector<std::string> options;
  unsigned dimensions = 0;
  std::array<std::size_t, 3> global{1, 1, 1}, local{1, 1, 1};

  struct Argument {
    enum class Kind { value, buffer, same_buffer, shared, null, image, sampler } kind = Kind::null;
    std::vector<std::byte> value;
    std::string description;  // of an image or a sampler, as launch::parse_argument() reads it
    std::byte const* content = nullptr;
    std::byte* output = nullptr;  // of a buffer that is written back: the same as `content`
    std::size_t bytes = 0;        // of a buffer, an image or shared memory
    unsigned as_index = 0;        // of the buffer's or image's first argument
  };
  std::map<unsigned, Argument> arguments;
  std::size_t dynamic_shared_bytes = 0;
  std::optional<launch::GroupChoice> groups;
  std::uint64_t max_instructions = 0;
  double timeout_s = 0;
  bool cache = true;
  std::uint64_t times = 1;
};

struct kernelcast_ranking {
  advise::Projections projections;
  std::vector<std::string> names;  // marketing, of each row
  std::string kernel_csv;
  bool from_cache = false;
  double cost_s = 0;
};

namespace {

constexpr char const* program = "kernelcast";
constexpr unsigned max_arguments = 1024;
constexpr std::size_t default_group_items = 256;

std::string& message() {
  thread_local std::string text;
  return text;
}

kernelcast_status fail(kernelcast_status status, std::string_view text) noexcept {
  try {
    while (text.ends_with('\n')) text.remove_suffix(1);
    message() = text;
  } catch (std::bad_alloc const&) {
    message().clear();
  }
  return status;
}

// Nothing leaves the library as an exception.
template <class Body>
kernelcast_status guarded(Body body) noexcept {
  try {
    body();
    return KERNELCAST_DONE;
  } catch (Error const& error) {
    return fail(static_cast<kernelcast_status>(error.status()), error.text(program));
  } catch (std::bad_alloc const&) {
    return fail(KERNELCAST_NO_MEMORY, "kernelcast: error: not enough memory");
  } catch (std::exception const& error) {
    return fail(KERNELCAST_INTERNAL, error.what());
  } catch (...) {
    return fail(KERNELCAST_INTERNAL, "kernelcast: error: unknown");
  }
}

void need(void const* pointer, char const* what) {
  if (!pointer) throw Error(Status::usage, fmt::format("{} is a null pointer", what));
}

kernelcast_launch::Argument& argument(kernelcast_launch* launch, unsigned index) {
  need(launch, "launch");
  if (index >= max_arguments)
    throw Error(Status::usage, fmt::format("argument {} is beyond {}", index, max_arguments - 1),
                "arguments count from 0");
  return launch->arguments[index] = {};
}

char const* suffix_of(int language) {
  switch (language) {
    case KERNELCAST_OPENCL_C:
      return ".cl";
    case KERNELCAST_CUDA_CPP:
      return ".cu";
    case KERNELCAST_PTX:
      return ".ptx";
  }
  throw Error(Status::usage, fmt::format("{} is not a language", language),
              "KERNELCAST_OPENCL_C, KERNELCAST_CUDA_CPP or KERNELCAST_PTX");
}

// The frontend reads files. One whose path is the same in every run lets it find what it compiled before.
class SourceFile {
 public:
  explicit SourceFile(kernelcast_launch const& launch) {
    std::string const suffix = suffix_of(launch.language);
    if (launch.cache) path_ = keep_source(launch.source, suffix);
    if (!path_.empty()) return;
    folder_ = std::make_unique<TemporaryFolder>();
    path_ = folder_->file("kernel" + suffix);
    write_file(path_, launch.source);
  }
  std::string const& path() const { return path_; }

 private:
  std::unique_ptr<TemporaryFolder> folder_;
  std::string path_;
};

launch::Argument::Kind plan_kind(kernelcast_launch::Argument::Kind kind) {
  using Given = kernelcast_launch::Argument::Kind;
  return kind == Given::value                                  ? launch::Argument::Kind::value
         : kind == Given::shared                               ? launch::Argument::Kind::shared
         : kind == Given::image                                ? launch::Argument::Kind::image
         : kind == Given::sampler                              ? launch::Argument::Kind::sampler
         : kind == Given::buffer || kind == Given::same_buffer ? launch::Argument::Kind::buffer
                                                               : launch::Argument::Kind::null;
}

// An image or a sampler as the plan has it: the content of an image is the caller's.
launch::Argument described(kernelcast_launch::Argument const& given, launch::Plan& plan) {
  bool const image = given.kind == kernelcast_launch::Argument::Kind::image;
  if (image && !launch::is_image(given.description))
    throw Error(Status::usage, fmt::format("'{}' is not an image", given.description), "image2d:rgba8:640x480");
  launch::Text const text{image ? given.description + ":zero" : "sampler:" + given.description, {}, {}};
  auto const out = launch::parse_argument(text, plan, {});
  if (!out) throw Error(Status::usage, fmt::format("'{}' is neither an image nor a sampler", given.description));
  if (!image) return *out;
  auto& texels = plan.buffers[plan.images[out->buffer].buffer];
  if (given.bytes != texels.bytes())
    throw Error(Status::usage,
                fmt::format("{} bytes for '{}', which has {}", given.bytes, given.description, texels.bytes()),
                "texels without gaps, all of them");
  if (given.content) {
    texels.fill = launch::Fill::memory;
    texels.content = {given.content, given.bytes};
  }
  return *out;
}

// As a launch file would describe it; `identity` tells all but the buffers' contents.
class Description {
 public:
  Description(kernelcast_launch const& given, std::string const& path) : given_(given) {
    if (given.dimensions == 0)
      throw Error(Status::usage, "the launch has no size", "kernelcast_launch_size(launch, 1, &global, &local)");
    plan_.request.path = path;
    plan_.request.options = given.options;
    plan_.request.cache = given.cache;
    auto& call = plan_.calls.emplace_back();
    call.kernel.text = given.kernel;
    call.global = size_of(given.global);
    call.local = size_of(given.local);
    call.dynamic_shared_bytes = given.dynamic_shared_bytes;
    identity_ = fmt::format("{} {} {}", given.dimensions, text_of(given.global), text_of(given.local));
    identity_ += fmt::format(" {}\n", given.dynamic_shared_bytes);
    unsigned expected = 0;
    for (auto const& [index, argument] : given.arguments) {
      if (index != expected)
        throw Error(Status::usage, fmt::format("argument {} was never set", expected), "arguments count from 0");
      ++expected;
      add(index, argument);
    }
  }

  launch::Plan take_plan() { return std::move(plan_); }
  // By buffer of the plan: where its content is to be written.
  std::map<std::size_t, std::byte*> const& outputs() const { return outputs_; }
  std::string const& identity() const { return identity_; }

 private:
  launch::Size size_of(std::array<std::size_t, 3> const& size) const {
    for (auto const side : size)
      if (side > std::numeric_limits<std::uint32_t>::max())
        throw Error(Status::usage, fmt::format("a size of {}", side), "sizes are below 2^32");
    auto const side = [&](std::size_t i) { return static_cast<std::uint32_t>(size[i]); };
    return {{side(0), side(1), side(2)}, given_.dimensions};
  }
  static std::string text_of(std::array<std::size_t, 3> const& size) {
    return fmt::format("{}x{}x{}", size[0], size[1], size[2]);
  }

  void add(unsigned index, kernelcast_launch::Argument const& argument) {
    using Kind = kernelcast_launch::Argument::Kind;
    launch::Argument out;
    out.origin.text = fmt::format("argument {}", index);
    out.kind = plan_kind(argument.kind);
    identity_ += fmt::format("{} {} {}", static_cast<int>(argument.kind), argument.bytes, argument.as_index);
    switch (argument.kind) {
      case Kind::value:
        out.raw = true;
        out.value = argument.value;
        for (auto const byte : argument.value) identity_ += fmt::format(" {:02x}", std::to_integer<unsigned>(byte));
        break;
      case Kind::shared:
        out.shared_bytes = argument.bytes;
        break;
      case Kind::buffer:
        out.buffer = buffers_[index] = plan_.buffers.size();
        if (argument.output) outputs_[out.buffer] = argument.output;
        plan_.buffers.push_back(buffer_of(index, argument));
        break;
      case Kind::same_buffer: {
        auto const image = images_.find(argument.as_index);
        auto const of = buffers_.find(argument.as_index);
        if (of == buffers_.end() && image == images_.end())
          throw Error(Status::usage, fmt::format("argument {} is the buffer of argument {}, which is none before it",
                                                 index, argument.as_index));
        if (image != images_.end()) out.kind = launch::Argument::Kind::image;
        out.buffer = image != images_.end() ? image->second : of->second;
        break;
      }
      case Kind::image:
      case Kind::sampler:
        out.buffer = described(argument, plan_).buffer;
        if (argument.kind == Kind::image) images_[index] = out.buffer;
        identity_ += ' ' + argument.description;
        break;
      case Kind::null:
        break;
    }
    identity_ += '\n';
    plan_.calls.front().arguments.push_back(std::move(out));
  }

  static launch::Buffer buffer_of(unsigned index, kernelcast_launch::Argument const& argument) {
    launch::Buffer buffer;
    buffer.name = fmt::format("argument {}", index);
    buffer.element = launch::Element::u8;
    buffer.count = argument.bytes;
    if (argument.content) {
      buffer.fill = launch::Fill::memory;
      buffer.content = {argument.content, argument.bytes};
    }
    buffer.origin.text = buffer.name;
    return buffer;
  }

  kernelcast_launch const& given_;
  launch::Plan plan_;
  std::string identity_;
  std::map<unsigned, std::size_t> buffers_, images_;  // of the plan, by argument
  std::map<std::size_t, std::byte*> outputs_;
};

advise::CountOptions count_options(kernelcast_launch const& launch, std::string identity) {
  advise::CountOptions out;
  out.identity = std::move(identity);
  out.cache = launch.cache;
  out.run.groups = launch.groups.value_or(launch::GroupChoice{});
  out.run.limits.max_steps = launch.max_instructions;
  out.run.limits.timeout_s = launch.timeout_s;
  out.run.print = [](std::string_view) {};  // what a kernel prints is discarded
  return out;
}

advise::Counted count(kernelcast_launch const& launch, Description& description, advise::CountOptions const& options) {
  auto counted = advise::count(description.take_plan(), options);
  record::repeat(counted.row, launch.times);
  return counted;
}

using Clock = std::chrono::steady_clock;

std::unique_ptr<kernelcast_ranking> ranking_of(advise::Counted const& counted, Clock::time_point start) {
  auto out = std::make_unique<kernelcast_ranking>();
  out->kernel_csv = record::rows_text<record::Kernel>({counted.row});
  out->from_cache = counted.from_cache;
  out->cost_s = std::chrono::duration<double>(Clock::now() - start).count();
  return out;
}

std::unique_ptr<kernelcast_ranking> project(kernelcast_database const& database, kernelcast_launch const& launch,
                                            std::vector<std::string> const& names) {
  auto const start = Clock::now();
  auto const devices = database.devices.choose(names, device::is_gpu);
  SourceFile const file(launch);
  Description description(launch, file.path());
  auto const counted = count(launch, description, count_options(launch, description.identity()));
  auto projections = advise::project(counted.row, devices);
  auto out = ranking_of(counted, start);
  out->projections = std::move(projections);
  for (auto const& row : out->projections.rows) out->names.push_back(database.devices.find(row.device).name);
  return out;
}

std::unique_ptr<kernelcast_ranking> emulate(kernelcast_launch const& launch) {
  auto const start = Clock::now();
  SourceFile const file(launch);
  Description description(launch, file.path());
  auto options = count_options(launch, description.identity());
  if (auto const& outputs = description.outputs(); !outputs.empty()) {
    options.cache = false;
    if (!launch.groups) options.run.groups = {launch::GroupChoice::Kind::all};
    options.run.ends = [&](launch::Buffers const& buffers) {
      for (auto const& [buffer, content] : outputs) std::ranges::copy(buffers.bytes(buffer), content);
    };
  }
  return ranking_of(count(launch, description, options), start);
}

// Divisors of the global size that make at most `default_group_items` work-items, the first dimension first.
std::array<std::size_t, 3> default_local(std::array<std::size_t, 3> const& global) {
  std::array<std::size_t, 3> out{1, 1, 1};
  std::size_t left = default_group_items;
  for (std::size_t d = 0; d < 3; ++d) {
    std::size_t part = std::min(left, global[d]);
    while (part > 1 && global[d] % part != 0) --part;
    out[d] = std::max<std::size_t>(part, 1);
    left /= out[d];
  }
  return out;
}

double or_nan(std::optional<double> const& value) {
  return value.value_or(std::numeric_limits<double>::quiet_NaN());
}

}  // namespace

char const* kernelcast_version(void) {
  return version().data();  // a literal
}

char const* kernelcast_message(void) {
  return message().c_str();
}

// ---------------------------------------------------------------- devices

kernelcast_status kernelcast_database_open(char const* folder, kernelcast_database** database) {
  return guarded([&] {
    need(database, "database");
    *database = nullptr;
    api::find_own_place();
    auto made = std::make_unique<kernelcast_database>();
    made->devices = device::load(device::find_database(folder ? folder : ""));
    made->gpus = made->devices.choose({}, device::is_gpu);
    *database = made.release();
  });
}

void kernelcast_database_close(kernelcast_database* database) {
  delete database;
}

size_t kernelcast_device_count(kernelcast_database const* database) {
  return database ? database->gpus.size() : 0;
}
char const* kernelcast_device_id(kernelcast_database const* database, size_t index) {
  return database && index < database->gpus.size() ? database->gpus[index]->device.c_str() : nullptr;
}
char const* kernelcast_device_name(kernelcast_database const* database, size_t index) {
  return database && index < database->gpus.size() ? database->gpus[index]->name.c_str() : nullptr;
}

// ---------------------------------------------------------------- a launch

kernelcast_status kernelcast_launch_create(int language, char const* source, size_t source_bytes, char const* kernel,
                                           kernelcast_launch** launch) {
  return guarded([&] {
    need(launch, "launch");
    *launch = nullptr;
    need(source, "source");
    need(kernel, "kernel");
    suffix_of(language);
    auto made = std::make_unique<kernelcast_launch>();
    made->language = language;
    made->source.assign(source, source_bytes);
    made->kernel = kernel;
    *launch = made.release();
  });
}

void kernelcast_launch_destroy(kernelcast_launch* launch) {
  delete launch;
}

kernelcast_status kernelcast_launch_option(kernelcast_launch* launch, char const* option) {
  return guarded([&] {
    need(launch, "launch");
    need(option, "option");
    launch->options.emplace_back(option);
  });
}

kernelcast_status kernelcast_launch_size(kernelcast_launch* launch, unsigned dimensions, size_t const* global,
                                         size_t const* local) {
  return guarded([&] {
    need(launch, "launch");
    need(global, "global");
    if (dimensions < 1 || dimensions > 3)
      throw Error(Status::usage, fmt::format("a launch of {} dimensions", dimensions), "1, 2 or 3");
    std::array<std::size_t, 3> whole{1, 1, 1}, group{1, 1, 1};
    std::copy(global, global + dimensions, whole.begin());
    for (auto const side : whole)
      if (side == 0) throw Error(Status::usage, "a global size of 0", "sizes are in work-items, at least 1");
    if (local)
      std::copy(local, local + dimensions, group.begin());
    else
      group = default_local(whole);
    for (std::size_t d = 0; d < 3; ++d)
      if (group[d] == 0 || whole[d] % group[d] != 0)
        throw Error(Status::usage,
                    fmt::format("a global size of {} is not a multiple of the local size {}", whole[d], group[d]),
                    "round the global size up, and guard the kernel");
    launch->dimensions = dimensions;
    launch->global = whole;
    launch->local = group;
  });
}

kernelcast_status kernelcast_launch_value(kernelcast_launch* launch, unsigned index, void const* value, size_t bytes) {
  return guarded([&] {
    need(value, "value");
    auto& made = argument(launch, index);
    made.kind = kernelcast_launch::Argument::Kind::value;
    auto const* const begin = static_cast<std::byte const*>(value);
    made.value.assign(begin, begin + bytes);
  });
}

kernelcast_status kernelcast_launch_buffer(kernelcast_launch* launch, unsigned index, void const* content,
                                           size_t bytes) {
  return guarded([&] {
    if (bytes == 0) throw Error(Status::usage, "a buffer of 0 bytes", "kernelcast_launch_null() for no buffer");
    auto& made = argument(launch, index);
    made.kind = kernelcast_launch::Argument::Kind::buffer;
    made.content = static_cast<std::byte const*>(content);
    made.bytes = bytes;
  });
}

kernelcast_status kernelcast_launch_output(kernelcast_launch* launch, unsigned index, void* content, size_t bytes) {
  return guarded([&] {
    need(content, "content");
    if (bytes == 0) throw Error(Status::usage, "a buffer of 0 bytes", "kernelcast_launch_null() for no buffer");
    auto& made = argument(launch, index);
    made.kind = kernelcast_launch::Argument::Kind::buffer;
    made.output = static_cast<std::byte*>(content);
    made.content = made.output;
    made.bytes = bytes;
  });
}

kernelcast_status kernelcast_launch_same_buffer(kernelcast_launch* launch, unsigned index, unsigned as_index) {
  return guarded([&] {
    auto& made = argument(launch, index);
    made.kind = kernelcast_launch::Argument::Kind::same_buffer;
    made.as_index = as_index;
  });
}

kernelcast_status kernelcast_launch_shared(kernelcast_launch* launch, unsigned index, size_t bytes) {
  return guarded([&] {
    auto& made = argument(launch, index);
    made.kind = kernelcast_launch::Argument::Kind::shared;
    made.bytes = bytes;
  });
}

kernelcast_status kernelcast_launch_null(kernelcast_launch* launch, unsigned index) {
  return guarded([&] { argument(launch, index); });
}

kernelcast_status kernelcast_launch_image(kernelcast_launch* launch, unsigned index, char const* description,
                                          void const* content, size_t bytes) {
  return guarded([&] {
    need(description, "description");
    kernelcast_launch::Argument made;
    made.kind = kernelcast_launch::Argument::Kind::image;
    made.description = description;
    made.content = static_cast<std::byte const*>(content);
    made.bytes = bytes;
    launch::Plan discarded;
    described(made, discarded);  // refused here, not by kernelcast_project()
    argument(launch, index) = std::move(made);
  });
}

kernelcast_status kernelcast_launch_sampler(kernelcast_launch* launch, unsigned index, char const* description) {
  return guarded([&] {
    need(description, "description");
    kernelcast_launch::Argument made;
    made.kind = kernelcast_launch::Argument::Kind::sampler;
    made.description = description;
    launch::Plan discarded;
    described(made, discarded);
    argument(launch, index) = std::move(made);
  });
}

kernelcast_status kernelcast_launch_dynamic_shared(kernelcast_launch* launch, size_t bytes) {
  return guarded([&] {
    need(launch, "launch");
    launch->dynamic_shared_bytes = bytes;
  });
}

kernelcast_status kernelcast_launch_groups(kernelcast_launch* launch, uint64_t groups) {
  return guarded([&] {
    need(launch, "launch");
    using enum launch::GroupChoice::Kind;
    launch->groups = groups == 0 ? launch::GroupChoice{all} : launch::GroupChoice{even, groups};
  });
}

kernelcast_status kernelcast_launch_limit(kernelcast_launch* launch, uint64_t warp_instructions, double seconds) {
  return guarded([&] {
    need(launch, "launch");
    if (!(seconds >= 0)) throw Error(Status::usage, "a limit below 0 seconds", "0 means no limit");
    launch->max_instructions = warp_instructions;
    launch->timeout_s = seconds;
  });
}

kernelcast_status kernelcast_launch_cache(kernelcast_launch* launch, int use) {
  return guarded([&] {
    need(launch, "launch");
    launch->cache = use != 0;
  });
}

kernelcast_status kernelcast_launch_times(kernelcast_launch* launch, uint64_t times) {
  return guarded([&] {
    need(launch, "launch");
    if (times == 0) throw Error(Status::usage, "a launch that is launched 0 times");
    launch->times = times;
  });
}

// ---------------------------------------------------------------- projections

kernelcast_status kernelcast_project(kernelcast_database const* database, kernelcast_launch* launch,
                                     char const* const* devices, size_t device_count, kernelcast_ranking** ranking) {
  return guarded([&] {
    need(ranking, "ranking");
    *ranking = nullptr;
    need(database, "database");
    need(launch, "launch");
    std::vector<std::string> names;
    for (std::size_t i = 0; i < device_count; ++i) {
      need(devices, "devices");
      need(devices[i], "a device");
      names.emplace_back(devices[i]);
    }
    *ranking = project(*database, *launch, names).release();
  });
}

kernelcast_status kernelcast_emulate(kernelcast_launch* launch, kernelcast_ranking** ranking) {
  return guarded([&] {
    need(ranking, "ranking");
    *ranking = nullptr;
    need(launch, "launch");
    api::find_own_place();
    *ranking = emulate(*launch).release();
  });
}

void kernelcast_ranking_destroy(kernelcast_ranking* ranking) {
  delete ranking;
}

size_t kernelcast_ranking_count(kernelcast_ranking const* ranking) {
  return ranking ? ranking->projections.rows.size() : 0;
}

kernelcast_status kernelcast_ranking_get(kernelcast_ranking const* ranking, size_t index,
                                         kernelcast_projection* projection, size_t bytes) {
  return guarded([&] {
    need(ranking, "ranking");
    need(projection, "projection");
    auto const& rows = ranking->projections.rows;
    if (index >= rows.size())
      throw Error(Status::usage, fmt::format("the ranking has {} devices, none at {}", rows.size(), index));
    auto const& row = rows[index];
    kernelcast_projection out{};
    out.device = row.device.c_str();
    out.name = ranking->names[index].c_str();
    out.time_s = or_nan(row.time_s);
    out.time_low_s = or_nan(row.time_low_s);
    out.time_high_s = or_nan(row.time_high_s);
    out.relative_time = or_nan(std::nullopt);
    out.limiter = row.limiter.text().c_str();
    out.status = record::name(row.status).data();
    out.reason = row.reason.c_str();
    if (index < ranking->projections.ranking.size()) {
      auto const& ranked = ranking->projections.ranking[index];
      out.rank = ranked.rank;
      out.relative_time = ranked.relative_time;
      out.decided = ranked.decided ? 1 : 0;
    }
    std::memcpy(projection, &out, std::min(bytes, sizeof out));
  });
}

int kernelcast_ranking_from_cache(kernelcast_ranking const* ranking) {
  return ranking && ranking->from_cache ? 1 : 0;
}
double kernelcast_ranking_cost_s(kernelcast_ranking const* ranking) {
  return ranking ? ranking->cost_s : 0;
}
char const* kernelcast_ranking_kernel_csv(kernelcast_ranking const* ranking) {
  return ranking ? ranking->kernel_csv.c_str() : "";
}
