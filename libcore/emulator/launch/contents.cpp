// Buffers: their description, their contents before a run, and their comparison after it.

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <fmt/format.h>

#include "base/diag/text.hpp"
#include "base/statistics/splitmix64.hpp"
#include "emulator/launch/launch.hpp"

namespace kernelcast::launch {

namespace {

constexpr std::string_view element_names[] = {"i8",  "u8",  "i16", "u16", "i32", "u32",
                                              "i64", "u64", "f32", "f64", "f16"};
constexpr unsigned element_bytes[] = {1, 1, 2, 2, 4, 4, 8, 8, 4, 8, 2};

// An f16 as buffers hold it.
struct Half {
  std::uint16_t bits = 0;
  Half() = default;
  template <class T>
  explicit Half(T value) : bits(emu::half_of_float(static_cast<float>(value))) {}
  explicit operator double() const { return emu::float_of_half(bits); }
};

constexpr std::string_view buffer_form =
    "a buffer is TYPE:COUNT:random, :zero, :iota, :uninit or :file=PATH, such as f32:1024:random";

std::vector<std::string> known_elements() {
  return {std::begin(element_names), std::end(element_names)};
}

std::optional<Element> find_element(std::string_view text) {
  auto const* const found = std::find(std::begin(element_names), std::end(element_names), text);
  if (found == std::end(element_names)) return std::nullopt;
  return static_cast<Element>(found - std::begin(element_names));
}

// A bijective mixing of 32 bits (xor-shift and multiply, constants by Chris Wellons' hash prospector). Cheap enough to
// fill megabytes in the time that an emulated group takes.
inline std::uint32_t mix(std::uint32_t x) {
  x ^= x >> 16;
  x *= 0x7feb352dU;
  x ^= x >> 15;
  x *= 0x846ca68bU;
  x ^= x >> 16;
  return x;
}

// One key per seed and buffer.
std::uint64_t key_of(std::uint64_t seed, std::uint64_t number) {
  return splitmix64(seed * splitmix64_step + number * 0xd1b54a32d192ed03U);
}

// Vectorised for the machine it runs on: these two decide how long a run with large buffers takes to start.
#if defined(__x86_64__) && defined(__ELF__)
#define KERNELCAST_FOR_EACH_LEVEL __attribute__((target_clones("avx2", "default")))
#else
#define KERNELCAST_FOR_EACH_LEVEL
#endif
KERNELCAST_FOR_EACH_LEVEL void fill_random_words(std::uint32_t* out, std::size_t count, std::uint32_t low,
                                                 std::uint32_t high) {
  for (std::size_t i = 0; i < count; ++i) out[i] = mix((static_cast<std::uint32_t>(i) ^ low) + high) >> 1;
}
KERNELCAST_FOR_EACH_LEVEL void fill_random_floats(float* out, std::size_t count, std::uint32_t low,
                                                  std::uint32_t high) {
  for (std::size_t i = 0; i < count; ++i)
    out[i] = static_cast<float>(static_cast<std::int32_t>(mix((static_cast<std::uint32_t>(i) ^ low) + high) >> 8)) *
             0x1p-24f;
}

template <class T, class Make>
void fill_with(std::span<std::byte> out, Make make) {
  auto* const data = reinterpret_cast<T*>(out.data());  // buffers are aligned to 256 bytes
  std::size_t const count = out.size() / sizeof(T);
  for (std::size_t i = 0; i < count; ++i) data[i] = make(i);
}

template <class Use>
void with_type(Element element, Use use) {
  switch (element) {
    case Element::i8:
      return use(std::int8_t{});
    case Element::u8:
      return use(std::uint8_t{});
    case Element::i16:
      return use(std::int16_t{});
    case Element::u16:
      return use(std::uint16_t{});
    case Element::i32:
      return use(std::int32_t{});
    case Element::u32:
      return use(std::uint32_t{});
    case Element::i64:
      return use(std::int64_t{});
    case Element::u64:
      return use(std::uint64_t{});
    case Element::f32:
      return use(float{});
    case Element::f64:
      return use(double{});
    case Element::f16:
      return use(Half{});
  }
}

void fill_iota(Element element, std::span<std::byte> out) {
  with_type(element, [&](auto zero) {
    using T = decltype(zero);
    fill_with<T>(out, [](std::size_t i) { return static_cast<T>(i); });
  });
}

// The pages of a large file in place of those of the buffer, as long as they are not written to. False where mapping is
// not possible.
bool map_file(std::string const& path, std::span<std::byte> out) {
  constexpr std::size_t page = 4096, worthwhile = 64 * page;
  if (out.size() < worthwhile || reinterpret_cast<std::uintptr_t>(out.data()) % page != 0) return false;
  int const file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file == -1) return false;
  // Its last page ends in zeros.
  void* const mapped = mmap(out.data(), out.size(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED, file, 0);
  close(file);
  return mapped != MAP_FAILED;
}

void fill_from_file(Buffer const& buffer, std::span<std::byte> out, bool lazily) {
  std::ifstream file(buffer.path, std::ios::binary | std::ios::ate);
  std::error_code unknown;
  if (!file || std::filesystem::is_directory(buffer.path, unknown))
    throw Error(Status::io, Where{buffer.path, 0, 0},
                fmt::format("cannot read the contents of buffer '{}'", buffer.name),
                "a relative path is taken from the launch file's folder, or from the current one for -a");
  auto const length = static_cast<std::uint64_t>(file.tellg());
  if (buffer.fill == Fill::start ? length > buffer.bytes() : length != buffer.bytes())
    throw Error(Status::bad_data, Where{buffer.path, 0, 0},
                fmt::format("{} bytes, but buffer '{}' has {} ({} elements of {})", length, buffer.name, buffer.bytes(),
                            buffer.count, name(buffer.element)),
                "give the count that the file holds");
  if (lazily && map_file(buffer.path, out.first(length))) return;
  file.seekg(0);
  if (!file.read(reinterpret_cast<char*>(out.data()), static_cast<std::streamsize>(length)))
    throw Error(Status::io, Where{buffer.path, 0, 0}, "the file could not be read to its end",
                "is it still being written?");
}

template <class T>
double as_number(std::span<std::byte const> bytes, std::uint64_t index) {
  T value;
  std::memcpy(&value, bytes.data() + index * sizeof(T), sizeof(T));
  return static_cast<double>(value);
}

template <class T>
bool close(std::span<std::byte const> have, std::span<std::byte const> want, std::uint64_t i, double tolerance) {
  if (std::memcmp(have.data() + i * sizeof(T), want.data() + i * sizeof(T), sizeof(T)) == 0) return true;
  if (tolerance == 0 && std::is_integral_v<T>) return false;
  double const a = as_number<T>(have, i), b = as_number<T>(want, i);
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  return a == b || std::abs(a - b) <= tolerance * std::max(1.0, std::abs(b));
}

}  // namespace

unsigned size_bytes(Element element) {
  return element_bytes[static_cast<std::size_t>(element)];
}
std::string_view name(Element element) {
  return element_names[static_cast<std::size_t>(element)];
}
bool is_float(Element element) {
  return element == Element::f32 || element == Element::f64 || element == Element::f16;
}

Buffer parse_buffer(std::string name, Text const& text, std::string const& folder) {
  Buffer buffer;
  buffer.name = std::move(name);
  buffer.origin = text;
  std::string_view rest = text.text;
  if (rest.starts_with("buf:")) rest.remove_prefix(4);
  auto const wrong = [&](std::string const& why, std::string hint = std::string(buffer_form)) {
    return refuse(text, fmt::format("buffer '{}': '{}': {}", buffer.name, text.text, why), std::move(hint));
  };
  auto const first = rest.find(':');
  auto type = rest.substr(0, first);
  if (auto const comma = type.find(','); comma != std::string_view::npos) {
    auto const word = type.substr(comma + 1);
    if (!word.starts_with("at=")) throw wrong(fmt::format("unknown word '{}'", word));
    buffer.at = static_cast<std::uint64_t>(evaluate(word.substr(3), {}, text));
    type = type.substr(0, comma);
  }
  auto const element = find_element(type);
  if (!element) throw wrong(fmt::format("unknown type '{}'", type), did_you_mean(type, known_elements()));
  buffer.element = *element;
  if (first == std::string_view::npos) throw wrong("the count is missing");
  auto const second = rest.find(':', first + 1);
  if (second == std::string_view::npos) throw wrong("the contents are missing");
  std::int64_t const count = evaluate(rest.substr(first + 1, second - first - 1), {}, text);
  if (count < 1 || count > std::int64_t{1} << 40) throw wrong(fmt::format("a count of {} elements", count));
  buffer.count = static_cast<std::uint64_t>(count);
  auto const contents = rest.substr(second + 1);
  if (contents == "random") {
    buffer.fill = Fill::random;
  } else if (contents == "zero") {
    buffer.fill = Fill::zero;
  } else if (contents == "iota") {
    buffer.fill = Fill::iota;
  } else if (contents == "uninit") {
    buffer.fill = Fill::uninit;
  } else if ((contents.starts_with("file=") && contents.size() > 5) ||
             (contents.starts_with("start=") && contents.size() > 6)) {
    bool const whole = contents.starts_with("file=");
    buffer.fill = whole ? Fill::file : Fill::start;
    buffer.path = (std::filesystem::path(folder) / contents.substr(whole ? 5 : 6)).string();
  } else {
    throw wrong(fmt::format("unknown contents '{}'", contents),
                did_you_mean(contents, {"random", "zero", "iota", "uninit", "file=PATH", "start=PATH"}));
  }
  return buffer;
}

void fill_random(Element element, std::uint64_t seed, std::uint64_t number, std::span<std::byte> out) {
  std::uint64_t const key = key_of(seed, number);
  auto const low = static_cast<std::uint32_t>(key), high = static_cast<std::uint32_t>(key >> 32);
  auto const bits = [low, high](std::size_t i) {
    // The index's upper half enters too, for buffers beyond 2^32 elements.
    return mix((static_cast<std::uint32_t>(i) ^ low) + high +
               static_cast<std::uint32_t>(std::uint64_t{i} >> 32) * 0x9e3779b9U);
  };
  with_type(element, [&](auto zero) {
    using T = decltype(zero);
    // 2^32 elements at a time; the index's upper half enters the key.
    std::size_t const chunk = std::size_t{1} << 32;
    if constexpr (std::is_same_v<T, float> || (std::is_integral_v<T> && sizeof(T) == 4))
      for (std::size_t first = 0; first < out.size() / sizeof(T); first += chunk) {
        std::size_t const count = std::min(chunk, out.size() / sizeof(T) - first);
        std::uint32_t const key_high = high + static_cast<std::uint32_t>(first >> 32) * 0x9e3779b9U;
        auto* const data = out.data() + first * sizeof(T);
        if constexpr (std::is_same_v<T, float>)
          fill_random_floats(reinterpret_cast<float*>(data), count, low, key_high);
        else
          fill_random_words(reinterpret_cast<std::uint32_t*>(data), count, low, key_high);
      }
    else if constexpr (std::is_same_v<T, double>)
      fill_with<T>(out, [bits](std::size_t i) {
        return static_cast<double>(std::uint64_t{bits(2 * i)} << 21 | bits(2 * i + 1) >> 11) * 0x1p-53;
      });
    else if constexpr (std::is_same_v<T, Half>)
      fill_with<T>(out, [bits](std::size_t i) { return Half(static_cast<float>(bits(i) >> 21) * 0x1p-11f); });
    else
      fill_with<T>(out, [bits](std::size_t i) { return static_cast<T>(bits(i) >> 1); });
  });
}

void Buffers::move_pointers(std::span<std::byte> content, std::uint64_t misaligned) const {
  if (placed_.empty()) return;
  for (std::size_t offset = (8 - misaligned % 8) % 8; offset + 8 <= content.size(); offset += 8) {
    std::uint64_t pointer = 0;
    std::memcpy(&pointer, content.data() + offset, sizeof pointer);
    auto after = placed_.upper_bound(pointer);
    if (after == placed_.begin()) continue;
    auto const& [begin, target] = *--after;
    if (pointer - begin >= plan_->buffers[target].bytes()) continue;
    pointer = address(target) + (pointer - begin);
    std::memcpy(content.data() + offset, &pointer, sizeof pointer);
  }
}

namespace {

// Gives a buffer its pages at once, large ones where the system has them: one page fault for every 4 KiB costs more
// than the contents. Only advice, so its failure does not matter.
void prepare_pages(std::span<std::byte> bytes) {
#if defined(__linux__) && defined(MADV_HUGEPAGE) && defined(MADV_POPULATE_WRITE)
  constexpr std::uintptr_t page = 4096, worthwhile = 64 * page;
  auto const begin = (reinterpret_cast<std::uintptr_t>(bytes.data()) + page - 1) / page * page;
  auto const end = (reinterpret_cast<std::uintptr_t>(bytes.data()) + bytes.size()) / page * page;
  if (end < begin + worthwhile) return;
  madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);
  madvise(reinterpret_cast<void*>(begin), end - begin, MADV_POPULATE_WRITE);
#else
  (void)bytes;
#endif
}

}  // namespace

Buffers::Buffers(Plan const& plan, std::uint64_t seed, emu::Memory& memory) : plan_(&plan), memory_(&memory) {
  for (std::size_t i = 0; i < plan.buffers.size(); ++i) {
    Buffer const& buffer = plan.buffers[i];
    addresses_.push_back(memory.add(buffer.name, buffer.bytes()));
    auto const out = bytes(i);
    if (buffer.fill == Fill::uninit) memory.set_undefined(addresses_[i]);
    bool const from_file = buffer.fill == Fill::file || buffer.fill == Fill::start;
    bool const lazily = from_file && plan.lazy_files;
    if (buffer.fill != Fill::zero && buffer.fill != Fill::uninit && !lazily) prepare_pages(out);
    if (buffer.fill == Fill::random) fill_random(buffer.element, seed, i, out);
    if (buffer.fill == Fill::iota) fill_iota(buffer.element, out);
    if (from_file) fill_from_file(buffer, out, lazily);
    if (buffer.fill == Fill::memory) std::memcpy(out.data(), buffer.content.data(), out.size());
  }
  for (std::size_t i = 0; i < plan.buffers.size(); ++i)
    if (plan.buffers[i].at != 0) placed_[plan.buffers[i].at] = i;
  for (auto const& [at, i] : placed_) move_pointers(bytes(i), at);
  for (Image const& image : plan.images) {
    emu::Image shape = image.shape;
    shape.name = image.name;
    shape.address = addresses_[image.buffer];
    images_.push_back(memory.images().add(std::move(shape), image.sampler));
  }
  for (emu::Sampler const& sampler : plan.samplers) samplers_.push_back(memory.images().add(sampler));
}

std::uint64_t Buffers::handle(Argument const& argument) const {
  return argument.kind == Argument::Kind::image ? images_[argument.buffer] : samplers_[argument.buffer];
}

std::span<std::byte> Buffers::bytes(std::size_t buffer) const {
  return memory_->bytes(addresses_[buffer]);
}

std::size_t Buffers::find(BufferFile const& file) const {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < plan_->buffers.size(); ++i) {
    if (plan_->buffers[i].name == file.buffer) return i;
    names.push_back(plan_->buffers[i].name);
  }
  if (auto const number = to_number<std::size_t>(file.buffer); number && *number < names.size()) return *number;
  throw Error(Status::usage, fmt::format("{}: there is no buffer '{}'", file.text, file.buffer),
              names.empty()
                  ? "this launch has no buffers"
                  : fmt::format("numbers go from 0 to {}; {}", names.size() - 1, did_you_mean(file.buffer, names)));
}

std::string compare(Buffer const& buffer, std::span<std::byte const> have, std::span<std::byte const> want,
                    double tolerance) {
  std::string result;
  with_type(buffer.element, [&](auto zero) {
    using T = decltype(zero);
    std::uint64_t differing = 0, first = 0;
    double worst = 0;
    for (std::uint64_t i = 0; i < buffer.count; ++i) {
      if (close<T>(have, want, i, tolerance)) continue;
      if (differing++ == 0) first = i;
      worst = std::max(worst, std::abs(as_number<T>(have, i) - as_number<T>(want, i)));
    }
    if (differing == 0) return;
    auto const show = [&](std::span<std::byte const> bytes) {
      T value;
      std::memcpy(&value, bytes.data() + first * sizeof(T), sizeof(T));
      if constexpr (sizeof(T) == 1)
        return fmt::format("{}", static_cast<int>(value));
      else if constexpr (std::is_same_v<T, Half>)
        return fmt::format("{}", static_cast<double>(value));
      else
        return fmt::format("{}", value);
    };
    result =
        fmt::format("buffer '{}' differs in {} of {} elements; first at {}: {}, expected {}; largest difference {:.3g}",
                    buffer.name, differing, buffer.count, first, show(have), show(want), worst);
  });
  return result;
}

}  // namespace kernelcast::launch
