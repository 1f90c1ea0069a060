#include "runtimes/cudart/nccl/operations.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "runtimes/hostmath/numbers.hpp"

namespace kernelcast::nccl {

namespace {

using hostmath::BFloat;
using hostmath::converted;
using hostmath::Half;

constexpr std::array<std::size_t, 10> sizes{1, 1, 4, 4, 8, 8, 2, 4, 8, 2};

template <class T>
using Wide = std::conditional_t<hostmath::is_narrow_float<T>, float, T>;

template <class W>
W with(Reduction reduction, W a, W b) {
  switch (reduction) {
    case Reduction::product:
      return static_cast<W>(a * b);
    case Reduction::largest:
      return std::max(a, b);
    case Reduction::smallest:
      return std::min(a, b);
    default:
      if constexpr (std::is_integral_v<W>)
        return static_cast<W>(static_cast<std::make_unsigned_t<W>>(a) + static_cast<std::make_unsigned_t<W>>(b));
      else
        return a + b;
  }
}

template <class T>
std::vector<std::byte> reduced_as(Reduction reduction, std::vector<Input> const& inputs, std::size_t count) {
  using W = Wide<T>;
  std::vector<std::byte> out(count * sizeof(T));
  auto const element = [&](std::size_t input, std::size_t at) {
    T value;
    std::memcpy(&value, static_cast<std::byte const*>(inputs[input].begin) + at * sizeof(T), sizeof value);
    auto const wide = converted<W>(value);
    auto const factor = inputs[input].factor;
    return factor ? static_cast<W>(wide * static_cast<W>(*factor)) : wide;
  };
  for (std::size_t i = 0; i < count; ++i) {
    W sum = element(0, i);
    for (std::size_t input = 1; input < inputs.size(); ++input) sum = with(reduction, sum, element(input, i));
    if (reduction == Reduction::average) sum = static_cast<W>(sum / static_cast<W>(inputs.size()));
    auto const value = converted<T>(sum);
    std::memcpy(out.data() + i * sizeof(T), &value, sizeof value);
  }
  return out;
}

}  // namespace

std::optional<std::size_t> bytes_of(int type) {
  return type >= 0 && static_cast<std::size_t>(type) < sizes.size()
             ? std::optional(sizes[static_cast<std::size_t>(type)])
             : std::nullopt;
}

namespace {

template <class Body>
auto for_type(Type type, Body const& body) {
  switch (type) {
    case Type::i8:
      return body(std::int8_t{});
    case Type::u8:
      return body(std::uint8_t{});
    case Type::i32:
      return body(std::int32_t{});
    case Type::u32:
      return body(std::uint32_t{});
    case Type::i64:
      return body(std::int64_t{});
    case Type::u64:
      return body(std::uint64_t{});
    case Type::f16:
      return body(Half{});
    case Type::f64:
      return body(double{});
    case Type::bf16:
      return body(BFloat{});
    default:
      return body(float{});
  }
}

}  // namespace

std::vector<std::byte> reduced(Type type, Reduction reduction, std::vector<Input> const& inputs, std::size_t count) {
  return for_type(type, [&]<class T>(T) { return reduced_as<T>(reduction, inputs, count); });
}

double number_of(Type type, void const* element) {
  return for_type(type, [&]<class T>(T value) {
    std::memcpy(&value, element, sizeof value);
    return static_cast<double>(converted<Wide<T>>(value));
  });
}

}  // namespace kernelcast::nccl
