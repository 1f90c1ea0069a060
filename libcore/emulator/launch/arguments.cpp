#include "emulator/launch/arguments.hpp"

#include <charconv>
#include <cmath>
#include <cstring>

#include <fmt/format.h>

#include "base/diag/text.hpp"

namespace kernelcast::launch {

namespace {

constexpr std::string_view argument_forms =
    "an argument is TYPE:VALUE (i32:1024, f32:0.5), hex:BYTES, local:BYTES, null, buf:TYPE:COUNT:CONTENTS, "
    "image2d:FORMAT:WxH:CONTENTS or sampler:WORDS";

template <class T>
void append(std::vector<std::byte>& bytes, T value) {
  auto const at = bytes.size();
  bytes.resize(at + sizeof(T));
  std::memcpy(bytes.data() + at, &value, sizeof(T));
}

void append_float(std::string_view word, Element element, Text const& text, std::vector<std::byte>& bytes) {
  double value = 0;
  std::string_view const digits = word.starts_with('+') ? word.substr(1) : word;
  auto const [stop, code] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (code == std::errc::invalid_argument || stop != digits.data() + digits.size())
    throw refuse(text, fmt::format("argument '{}': '{}' is not a number", text.text, word),
                 "write for example f32:0.5 or f64:1e-9");
  if (code != std::errc()) throw refuse(text, fmt::format("argument '{}': out of range", text.text), "use f64");
  if (element == Element::f64) return append(bytes, value);
  if (element == Element::f16) {
    std::uint16_t const half = emu::half_of_float(static_cast<float>(value));
    if ((half & 0x7fff) == 0x7c00 && !std::isinf(value))
      throw refuse(text, fmt::format("argument '{}': {} does not fit in f16", text.text, word), "use f32");
    return append(bytes, half);
  }
  auto const narrow = static_cast<float>(value);
  if (std::isinf(narrow) && !std::isinf(value))
    throw refuse(text, fmt::format("argument '{}': {} does not fit in f32", text.text, word), "use f64");
  append(bytes, narrow);
}

void append_integer(std::string_view word, Element element, Text const& text, std::vector<std::byte>& bytes) {
  unsigned const size = size_bytes(element);
  bool const is_signed = name(element).front() == 'i';
  auto const plain = to_number<std::uint64_t>(word);
  std::uint64_t value = plain.value_or(0);
  if (!plain || size < 8 || is_signed) {
    // Everything but a plain large u64 is an expression, checked against the type's range.
    std::int64_t const number = evaluate(word, {}, text);
    unsigned const bits = 8 * size;
    std::int64_t const least = is_signed ? (bits == 64 ? INT64_MIN : -(std::int64_t{1} << (bits - 1))) : 0;
    std::int64_t const most = bits == 64 ? INT64_MAX : (std::int64_t{1} << (is_signed ? bits - 1 : bits)) - 1;
    if (number < least || number > most)
      throw refuse(text, fmt::format("argument '{}': {} does not fit in {}", text.text, number, name(element)),
                   fmt::format("{} holds {} to {}", name(element), least, most));
    value = static_cast<std::uint64_t>(number);
  }
  auto const at = bytes.size();
  bytes.resize(at + size);
  std::memcpy(bytes.data() + at, &value, size);
}

// "0000803f": bytes in the order of memory.
std::vector<std::byte> hex_bytes(std::string_view digits, Text const& text) {
  std::vector<std::byte> bytes(digits.size() / 2);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    auto const value = to_number<unsigned>(digits.substr(2 * i, 2), 16);
    if (!value) bytes.clear();
    if (bytes.empty()) break;
    bytes[i] = static_cast<std::byte>(*value);
  }
  if (bytes.empty() || digits.size() % 2 != 0)
    throw refuse(text, fmt::format("argument '{}': hex: is followed by bytes, two digits each", text.text),
                 "hex:0000803f is 1.0f");
  return bytes;
}

std::optional<Element> element_of(std::string_view type) {
  for (auto const element : {Element::i8, Element::u8, Element::i16, Element::u16, Element::i32, Element::u32,
                             Element::i64, Element::u64, Element::f32, Element::f64, Element::f16})
    if (name(element) == type) return element;
  return std::nullopt;
}

}  // namespace

std::optional<Argument> parse_argument(Text const& text, Plan& plan, std::string const& folder) {
  Argument argument;
  argument.origin = text;
  std::string_view const all = text.text;
  auto const colon = all.find(':');
  std::string_view const head = all.substr(0, colon);
  if (all == "null") {
    argument.kind = Argument::Kind::null;
    return argument;
  }
  if (colon == std::string_view::npos) return std::nullopt;
  std::string_view const tail = all.substr(colon + 1);
  if (head == "buf") {
    argument.kind = Argument::Kind::buffer;
    argument.buffer = plan.buffers.size();
    plan.buffers.push_back(parse_buffer(fmt::format("buffer {}", plan.buffers.size()), text, folder));
    return argument;
  }
  if (head == "local" || head == "null") {
    argument.kind = Argument::Kind::shared;
    argument.or_null = head == "null";
    std::int64_t const bytes = evaluate(tail, {}, text);
    if (bytes < 1 || bytes > std::int64_t{1} << 30)
      throw refuse(text, fmt::format("argument '{}': {} bytes of shared memory", text.text, bytes),
                   "local:4096 is 4096 bytes");
    argument.shared_bytes = static_cast<std::uint64_t>(bytes);
    return argument;
  }
  if (head == "hex") {
    argument.raw = true;
    argument.value = hex_bytes(tail, text);
    return argument;
  }
  if (is_image(all)) {
    argument.kind = Argument::Kind::image;
    argument.buffer = add_image(fmt::format("image {}", plan.images.size()), text, plan, folder);
    return argument;
  }
  if (head == "sampler") {
    argument.kind = Argument::Kind::sampler;
    argument.buffer = add_sampler(tail, text, plan);
    return argument;
  }
  auto const element = element_of(head);
  if (!element)
    throw refuse(text, fmt::format("argument '{}': unknown type '{}'", text.text, head),
                 did_you_mean(head, {"i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64", "f16", "f32", "f64", "hex",
                                     "local", "buf", "image2d", "texture2d", "surface2d", "sampler"}));
  argument.element = *element;
  for (auto const word : split(tail, ';')) {  // several elements: a vector, f32:0;0;0;1
    if (word.empty())
      throw refuse(text, fmt::format("argument '{}': the value is missing", text.text), std::string(argument_forms));
    if (is_float(*element))
      append_float(word, *element, text, argument.value);
    else
      append_integer(word, *element, text, argument.value);
  }
  return argument;
}

bool is_launch_file(std::string_view path) {
  return path.ends_with(".toml");
}

Plan plan_of(CommandLine const& line) {
  if (is_launch_file(line.path)) {
    bool const bare = line.global.empty() && line.grid.empty() && line.local.empty() && line.arguments.empty() &&
                      line.bindings.empty() && line.dynamic_shared_bytes == 0;
    if (!bare)
      throw Error(Status::usage, Where{line.path, 0, 0}, "a launch file has its own sizes and arguments",
                  "leave out -g, --grid, -l, -a, --bind and --shared, or change the file");
    return read_launch_file(line.path, line.options, line.sets);
  }
  if (!line.sets.empty())
    throw Error(Status::usage, fmt::format("--set {}: {} has no parameters", line.sets.front(), line.path),
                "launch files (.toml) have; -D defines a macro for the compiler");
  Plan plan;
  plan.request.path = line.path;
  plan.request.options = line.options;
  Call call;
  call.kernel.text = line.kernel;
  if (line.global.empty() == line.grid.empty())
    throw Error(Status::usage,
                line.global.empty() ? "the size of the launch is missing" : "both --global and --grid are given",
                "-g/--global is in work-items, --grid in work-groups; -l/--local is a group's size");
  call.in_groups = line.global.empty();
  call.global = parse_size({call.in_groups ? line.grid : line.global, {}, {}});
  if (!line.local.empty()) call.local = parse_size({line.local, {}, {}});
  call.dynamic_shared_bytes = line.dynamic_shared_bytes;
  for (auto const& text : line.arguments) {
    auto argument = parse_argument({text, {}, {}}, plan, {});
    if (!argument)
      throw Error(Status::usage, fmt::format("argument '{}' has no type", text), std::string(argument_forms));
    call.arguments.push_back(std::move(*argument));
  }
  for (auto const& text : line.bindings) {
    auto const equals = text.find('=');
    auto argument = equals == std::string::npos || equals == 0
                        ? std::nullopt
                        : parse_argument({text.substr(equals + 1), {}, {}}, plan, {});
    if (!argument)
      throw Error(Status::usage, fmt::format("--bind {}: not NAME=ARGUMENT", text),
                  "write for example --bind tex=texture2d:rgba8:64x64:random");
    call.bindings.emplace_back(Text{text.substr(0, equals), {}, {}}, std::move(*argument));
  }
  plan.calls.push_back(std::move(call));
  return plan;
}

}  // namespace kernelcast::launch
