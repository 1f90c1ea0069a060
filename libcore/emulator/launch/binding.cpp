// bind(): a call's sizes and arguments against the kernel's signature.

#include <algorithm>
#include <cstring>
#include <limits>

#include <fmt/format.h>

#include "base/diag/text.hpp"
#include "emulator/launch/launch.hpp"

namespace kernelcast::launch {

namespace {

using frontend::ArgumentKind;

constexpr std::uint64_t max_shared_bytes = std::uint64_t{1} << 30;

std::string signature_hint(frontend::KernelInfo const& kernel) {
  return fmt::format("the kernel is {}", frontend::describe(kernel));
}

// What a parameter's type says about a scalar: float or integer, and its width. Unknown names (typedefs, structs) give
// neither.
struct ScalarType {
  bool known = false, is_float = false;
  unsigned bytes = 0, elements = 1;
};

ScalarType scalar_type(std::string_view type) {
  static constexpr std::pair<std::string_view, ScalarType> types[] = {
      {"char;signed char;unsigned char;uchar;bool", {true, false, 1, 1}},
      {"short;unsigned short;ushort", {true, false, 2, 1}},
      {"int;unsigned int;unsigned;uint", {true, false, 4, 1}},
      {"long;unsigned long;ulong;long long;unsigned long long;size_t", {true, false, 8, 1}},
      {"float", {true, true, 4, 1}},
      {"double", {true, true, 8, 1}},
      {"half;__half", {true, true, 2, 1}}};
  auto const digits = type.find_last_not_of("0123456789");
  std::string_view base = digits == std::string_view::npos ? type : type.substr(0, digits + 1);
  std::string_view const count = type.substr(base.size());
  for (auto const& [names, scalar] : types) {
    auto const all = listed(names);
    if (std::find(all.begin(), all.end(), base) == all.end()) continue;
    ScalarType result = scalar;
    if (count == "2" || count == "3" || count == "4" || count == "8" || count == "16")
      result.elements = count == "16" ? 16 : static_cast<unsigned>(count[0] - '0');
    else if (!count.empty())
      return {};
    return result;
  }
  return {};
}

class Binder {
 public:
  Binder(Call const& call, frontend::KernelInfo const& kernel, ptx::Function const& function,
         std::uint32_t static_bytes, Buffers const& buffers)
      : call_(call), kernel_(kernel), function_(function), static_bytes_(static_bytes), buffers_(buffers) {}

  Bound bind() {
    sizes();
    arguments();
    return std::move(bound_);
  }

 private:
  void sizes() {
    auto const required = kernel_.required_group;
    emu::Dim3 local;
    if (call_.local)
      local = call_.local->size;
    else if (required)
      local = {(*required)[0], (*required)[1], (*required)[2]};
    else
      throw refuse(call_.origin, fmt::format("kernel '{}': the size of a work-group is missing", kernel_.name),
                   "give -l/--local, in a launch file local = [16, 16]");
    if (required && !(local == emu::Dim3{(*required)[0], (*required)[1], (*required)[2]}))
      throw refuse(call_.origin,
                   fmt::format("kernel '{}' requires work-groups of {}x{}x{}, not {}x{}x{}", kernel_.name,
                               (*required)[0], (*required)[1], (*required)[2], local.x, local.y, local.z),
                   fmt::format("use -l {},{},{}, or leave it out", (*required)[0], (*required)[1], (*required)[2]));
    if (local.count() > 1024)
      throw refuse(call_.origin, fmt::format("a work-group of {} work-items", local.count()),
                   "at most 1024 can be emulated");
    bound_.launch.block = local;
    if (call_.in_groups)
      bound_.launch.grid = call_.global.size;
    else
      bound_.launch.grid = {groups(call_.global.size.x, local.x, 'x'), groups(call_.global.size.y, local.y, 'y'),
                            groups(call_.global.size.z, local.z, 'z')};
    auto const& grid = bound_.launch.grid;
    if (call_.cluster) bound_.launch.cluster = call_.cluster->size;
    bound_.global = {items(grid.x, local.x), items(grid.y, local.y), items(grid.z, local.z)};
    if (call_.offset) {
      std::uint32_t const from[] = {call_.offset->size.x, call_.offset->size.y, call_.offset->size.z};
      for (unsigned d = 0; d < call_.offset->dimensions; ++d) bound_.launch.envreg[3 + d] = from[d];
    }
    bound_.launch.envreg[6] = std::max(call_.global.dimensions, call_.local ? call_.local->dimensions : 1);
  }

  std::uint32_t groups(std::uint32_t global, std::uint32_t local, char axis) const {
    if (global % local != 0)
      throw refuse(call_.origin,
                   fmt::format("global size {} is not divisible by the local size {} along {}", global, local, axis),
                   global < local ? fmt::format("use {}, and let the kernel skip what is too much", local)
                                  : fmt::format("use {} or {}, and let the kernel skip what is too much",
                                                std::uint64_t{global / local} * local,
                                                (std::uint64_t{global / local} + 1) * local));
    return global / local;
  }
  std::uint32_t items(std::uint32_t groups, std::uint32_t local) const {
    std::uint64_t const items = std::uint64_t{groups} * local;
    if (items > std::numeric_limits<std::uint32_t>::max())
      throw refuse(call_.origin, fmt::format("{} work-items along one axis", items), "at most 4294967295");
    return static_cast<std::uint32_t>(items);
  }

  void arguments() {
    auto const& given = call_.arguments;
    auto const& wanted = kernel_.arguments;
    if (given.size() != wanted.size())
      throw refuse(call_.origin,
                   fmt::format("kernel '{}' takes {} argument{}, {} given", kernel_.name, wanted.size(),
                               wanted.size() == 1 ? "" : "s", given.size()),
                   signature_hint(kernel_));
    if (function_.parameters.size() != wanted.size())
      throw refuse(call_.origin,
                   fmt::format("kernel '{}': the PTX has {} parameters, the source {}", kernel_.name,
                               function_.parameters.size(), wanted.size()),
                   "an option of the compiler may have changed the kernel's interface");
    bound_.launch.parameters.resize(function_.parameter_bytes);
    shared_end_ = static_bytes_;
    for (std::size_t i = 0; i < given.size(); ++i) argument(i);
    if (shared_end_ > max_shared_bytes || call_.dynamic_shared_bytes > max_shared_bytes - shared_end_)
      throw refuse(call_.origin,
                   fmt::format("kernel '{}': {} and {} more bytes of shared memory", kernel_.name, shared_end_,
                               call_.dynamic_shared_bytes),
                   "at most 1 GiB can be emulated; devices have 16 to 228 KiB");
    shared_end_ += call_.dynamic_shared_bytes;
    bound_.shared_bytes = shared_end_;
    bound_.launch.dynamic_shared_bytes = static_cast<std::uint32_t>(shared_end_ - static_bytes_);
  }

  Error mismatch(std::size_t i, std::string const& why, std::string const& hint = {}) const {
    auto const& wanted = kernel_.arguments[i];
    return refuse(
        call_.arguments[i].origin,
        fmt::format("argument {} ('{}'): kernel '{}' has {}{}{} here{}", i + 1, call_.arguments[i].origin.text,
                    kernel_.name, wanted.type_name, wanted.type_name.empty() ? "" : " ", wanted.name, why),
        signature_hint(kernel_) + hint);
  }

  void argument(std::size_t i) {
    Argument const& given = call_.arguments[i];
    frontend::Argument const& wanted = kernel_.arguments[i];
    switch (wanted.kind) {
      case ArgumentKind::image:
        if (given.kind != Argument::Kind::image || !geometry_fits(given, wanted.type_name))
          throw mismatch(i, fmt::format(": give {}", image_form(wanted.type_name)));
        return store_address(i, buffers_.handle(given));
      case ArgumentKind::sampler:
        if (given.kind != Argument::Kind::sampler) throw mismatch(i, ": give sampler:nearest,clamp or the like");
        return store_address(i, buffers_.handle(given));
      case ArgumentKind::shared_buffer:
        if (given.kind != Argument::Kind::shared) throw mismatch(i, ", in local memory: give local:BYTES");
        return store_address(i, shared_address(given, function_.parameters[i]));
      case ArgumentKind::global_buffer:
      case ArgumentKind::constant_buffer:
        if (null(given)) return store_address(i, 0);
        if (given.kind != Argument::Kind::buffer) throw mismatch(i, ", a buffer");
        return store_address(i, buffers_.address(given.buffer) + given.offset_bytes);
      case ArgumentKind::value:
        return value(i, given, wanted);
    }
  }

  // Also as bytes of unknown meaning.
  static bool null(Argument const& given) {
    bool const zero = std::all_of(given.value.begin(), given.value.end(), [](std::byte b) { return b == std::byte{}; });
    return given.kind == Argument::Kind::null || given.or_null || (given.raw && given.value.size() == 8 && zero);
  }

  std::uint64_t shared_address(Argument const& given, ptx::Parameter const& parameter) {
    std::uint64_t const align = std::max<std::uint64_t>(16, parameter.pointer_align);
    std::uint64_t const address = (shared_end_ + align - 1) / align * align;
    shared_end_ = address + given.shared_bytes;
    return address;
  }

  void value(std::size_t i, Argument const& given, frontend::Argument const& wanted) {
    // PTX alone does not tell a pointer from a number where no access shows it; a structure may be just one pointer.
    if (given.kind == Argument::Kind::buffer && !scalar_type(wanted.type_name).known &&
        function_.parameters[i].size == 8)
      return store_address(i, buffers_.address(given.buffer) + given.offset_bytes);
    bool const word = function_.parameters[i].size == 8;
    if (given.kind == Argument::Kind::null && wanted.type_name.empty() && word) return store_address(i, 0);
    // Texture and surface objects of CUDA are 64-bit integers.
    if (given.kind == Argument::Kind::image && word) return store_address(i, buffers_.handle(given));
    if (given.kind != Argument::Kind::value) throw mismatch(i, ", a value");
    auto const type = given.raw ? ScalarType{} : scalar_type(wanted.type_name);
    unsigned const size = size_bytes(given.element);
    if (type.known &&
        (type.is_float != is_float(given.element) || type.bytes != size || type.elements != given.value.size() / size))
      throw mismatch(i, "");
    auto const& parameter = function_.parameters[i];
    // A vector of three lies in four; structs of unknown type are given as so many elements.
    if (given.value.size() > parameter.size || (!type.known && given.value.size() != parameter.size))
      throw mismatch(i, fmt::format(", of {} bytes", parameter.size),
                     type.known ? "" : "; a structure is given as elements of one size, padding included: u32:1;2;3");
    auto const place = std::span(bound_.launch.parameters).subspan(parameter.offset, given.value.size());
    std::memcpy(place.data(), given.value.data(), given.value.size());
    if (given.raw) buffers_.move_pointers(place);
  }

  // "image2d_array_t" takes a 2d_array; other types say nothing.
  bool geometry_fits(Argument const& given, std::string_view type) const {
    if (!type.starts_with("image") || !type.ends_with("_t")) return true;
    auto const wanted = type.substr(5, type.size() - 7);
    return wanted == name(buffers_.plan().images[given.buffer].shape.geometry);
  }
  static std::string image_form(std::string_view type) {
    return std::string(type.starts_with("image") && type.ends_with("_t") ? type.substr(0, type.size() - 2)
                                                                         : "image2d") +
           ":FORMAT:SIZE:CONTENTS";
  }

  void store_address(std::size_t i, std::uint64_t address) {
    auto const& parameter = function_.parameters[i];
    std::memcpy(bound_.launch.parameters.data() + parameter.offset, &address,
                std::min<std::uint64_t>(8, parameter.size));
  }

  Call const& call_;
  frontend::KernelInfo const& kernel_;
  ptx::Function const& function_;
  std::uint32_t static_bytes_;
  Buffers const& buffers_;
  Bound bound_;
  std::uint64_t shared_end_ = 0;
};

}  // namespace

Bound bind(Call const& call, frontend::KernelInfo const& kernel, ptx::Function const& function,
           std::uint32_t static_shared_bytes, Buffers const& buffers) {
  return Binder(call, kernel, function, static_shared_bytes, buffers).bind();
}

}  // namespace kernelcast::launch
