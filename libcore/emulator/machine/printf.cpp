// A conversion is taken apart, its argument fetched, and snprintf asked to format one value with a conversion that is
// put together anew; what stands between conversions is copied. Widths and precisions end at 4096.
//
// Sources: [c99] 7.19.6.1; [opencl] "printf" (vectors: %v4hlf; elements separated by commas). %n writes nothing and
// takes its argument; an unknown conversion is copied as it stands. Text ends behind the first conversion that makes it
// longer than 1 MiB.
#include "emulator/machine/printf.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstring>

namespace kernelcast::emu {

namespace {

constexpr int widest = 4096;
constexpr std::size_t longest_output = std::size_t{1} << 20;  // of one call: as much as CUDA's whole buffer

class Arguments {
 public:
  explicit Arguments(std::span<std::byte const> bytes) : bytes_(bytes) {}
  // A value of 1, 2, 4 or 8 bytes, zero-extended.
  std::uint64_t next(std::size_t bytes, std::size_t align) {
    at_ = (at_ + align - 1) / align * align;
    std::uint64_t value = 0;
    if (at_ + bytes <= bytes_.size()) std::memcpy(&value, bytes_.data() + at_, bytes);
    at_ += bytes;
    return value;
  }
  void skip_to(std::size_t align) { at_ = (at_ + align - 1) / align * align; }

 private:
  std::span<std::byte const> bytes_;
  std::size_t at_ = 0;
};

double from_half(std::uint16_t bits) {
  int const exponent = bits >> 10 & 31, fraction = bits & 1023;
  double const size = exponent == 31  ? (fraction ? NAN : INFINITY)
                      : exponent == 0 ? std::ldexp(fraction, -24)
                                      : std::ldexp(fraction + 1024, exponent - 25);
  return bits & 0x8000 ? -size : size;
}

struct Conversion {
  std::string flags;
  int width = -1, precision = -1;
  unsigned elements = 1;
  std::string length;
  char kind = 0;

  std::string specification(char const* size) const {
    std::string text = "%" + flags;
    if (width >= 0) text += std::to_string(width);
    if (precision >= 0) text += "." + std::to_string(precision);
    return text + size + kind;
  }
};

template <class T>
std::string formatted(std::string const& specification, T value) {
  int const length = std::snprintf(nullptr, 0, specification.c_str(), value);
  std::string text(static_cast<std::size_t>(std::max(length, 0)) + 1, '\0');
  std::snprintf(text.data(), text.size(), specification.c_str(), value);
  text.pop_back();
  return text;
}

class Formatter {
 public:
  Formatter(std::string_view format, std::span<std::byte const> arguments,
            std::function<std::string(std::uint64_t)> const& string_at)
      : format_(format), arguments_(arguments), string_at_(string_at) {}

  Printed run() {
    while (at_ < format_.size() && out_.text.size() < longest_output) {
      if (format_[at_] != '%') {
        out_.text += format_[at_++];
        continue;
      }
      std::size_t const begin = at_++;
      Conversion c = parse();
      if (c.kind == '%')
        out_.text += '%';
      else if (c.kind == 0 || !print(c))
        out_.text += format_.substr(begin, at_ - begin);
    }
    return std::move(out_);
  }

 private:
  bool take(char c) {
    if (at_ >= format_.size() || format_[at_] != c) return false;
    ++at_;
    return true;
  }
  int number() {
    int value = 0;
    for (; at_ < format_.size() && format_[at_] >= '0' && format_[at_] <= '9'; ++at_)
      value = std::min(value * 10 + (format_[at_] - '0'), widest);
    return value;
  }
  std::int32_t next_int() {
    ++out_.arguments;
    return static_cast<std::int32_t>(arguments_.next(4, 4));
  }

  Conversion parse() {
    Conversion c;
    while (at_ < format_.size() && std::string_view("-+ #0").find(format_[at_]) != std::string_view::npos)
      c.flags += format_[at_++];
    if (take('*')) {
      std::int32_t const width = next_int();
      if (width < 0) c.flags += '-';
      c.width = static_cast<int>(std::min<std::int64_t>(std::abs(std::int64_t{width}), widest));
    } else if (at_ < format_.size() && format_[at_] >= '1' && format_[at_] <= '9') {
      c.width = number();
    }
    if (take('.')) {
      if (take('*'))
        c.precision = std::clamp(next_int(), -1, widest);
      else
        c.precision = number();
    }
    if (take('v')) c.elements = static_cast<unsigned>(number());
    while (at_ < format_.size() && std::string_view("hlLzjtq").find(format_[at_]) != std::string_view::npos)
      c.length += format_[at_++];
    if (at_ < format_.size()) c.kind = format_[at_++];
    return c;
  }

  bool print(Conversion const& c) {
    if (std::string_view("diouxXfFeEgGaAcspn").find(c.kind) == std::string_view::npos) return false;
    ++out_.arguments;
    if (c.elements == 1) {
      one(c);
      return true;
    }
    if (c.elements != 2 && c.elements != 3 && c.elements != 4 && c.elements != 8 && c.elements != 16) return false;
    bool const floating = std::string_view("fFeEgGaA").find(c.kind) != std::string_view::npos;
    std::size_t const bytes = c.length == "hh" ? 1 : c.length == "h" ? 2 : c.length == "l" ? 8 : 4;
    unsigned const room = c.elements == 3 ? 4 : c.elements;
    arguments_.skip_to(bytes * room);
    for (unsigned i = 0; i < room; ++i) {
      std::uint64_t const bits = arguments_.next(bytes, bytes);
      if (i >= c.elements) continue;
      if (i) out_.text += ',';
      if (floating)
        real(c, bytes == 8   ? std::bit_cast<double>(bits)
                : bytes == 2 ? from_half(static_cast<std::uint16_t>(bits))
                             : double{std::bit_cast<float>(static_cast<std::uint32_t>(bits))});
      else
        integer(c, bits, bytes);
    }
    return true;
  }

  void one(Conversion const& c) {
    switch (c.kind) {
      case 'f':
      case 'F':
      case 'e':
      case 'E':
      case 'g':
      case 'G':
      case 'a':
      case 'A':
        return real(c, std::bit_cast<double>(arguments_.next(8, 8)));
      case 'c':
        out_.text += padded(c, std::string(1, static_cast<char>(arguments_.next(4, 4))));
        return;
      case 's': {
        std::uint64_t const address = arguments_.next(8, 8);
        std::string text = address ? string_at_(address) : "(null)";
        if (c.precision >= 0) text = text.substr(0, static_cast<std::size_t>(c.precision));
        out_.text += padded(c, std::move(text));
        return;
      }
      case 'p':
        out_.text += padded(c, formatted("0x%llx", static_cast<unsigned long long>(arguments_.next(8, 8))));
        return;
      case 'n':
        arguments_.next(8, 8);
        return;
      default: {
        bool const long_one =
            c.length == "l" || c.length == "ll" || c.length == "z" || c.length == "j" || c.length == "t";
        std::uint64_t const bits = long_one ? arguments_.next(8, 8) : arguments_.next(4, 4);
        return integer(c, bits, c.length == "hh" ? 1 : c.length == "h" ? 2 : long_one ? 8 : 4);
      }
    }
  }
  void real(Conversion const& c, double value) { out_.text += formatted(c.specification(""), value); }
  void integer(Conversion const& c, std::uint64_t bits, std::size_t bytes) {
    unsigned const unused = static_cast<unsigned>(64 - 8 * bytes);
    if (c.kind == 'd' || c.kind == 'i')
      out_.text +=
          formatted(c.specification("ll"), static_cast<long long>(static_cast<std::int64_t>(bits << unused) >> unused));
    else
      out_.text += formatted(c.specification("ll"), static_cast<unsigned long long>(bits << unused >> unused));
  }
  static std::string padded(Conversion const& c, std::string text) {
    std::size_t const width = c.width < 0 ? 0 : static_cast<std::size_t>(c.width);
    if (text.size() >= width) return text;
    std::string const blanks(width - text.size(), ' ');
    return c.flags.find('-') != std::string::npos ? text + blanks : blanks + text;
  }

  std::string_view format_;
  std::size_t at_ = 0;
  Arguments arguments_;
  std::function<std::string(std::uint64_t)> const& string_at_;
  Printed out_;
};

}  // namespace

Printed format_printf(std::string_view format, std::span<std::byte const> arguments,
                      std::function<std::string(std::uint64_t)> const& string_at) {
  return Formatter(format, arguments, string_at).run();
}

}  // namespace kernelcast::emu
