// What NCCL's operations leave in the memory of the devices, reckoned on the host.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace kernelcast::nccl {

// As NCCL numbers them; float8 is refused.
enum class Type : int { i8, u8, i32, u32, i64, u64, f16, f32, f64, bf16 };
enum class Reduction : int { sum, product, largest, smallest, average };

std::optional<std::size_t> bytes_of(int type);  // none: no such type, or one that is refused

// Of one device; each element is multiplied by the factor first.
struct Input {
  void const* begin = nullptr;
  std::optional<double> factor = {};
};
// The first elements of all inputs reduced. Sums of narrow floats are kept in floats.
std::vector<std::byte> reduced(Type, Reduction, std::vector<Input> const& inputs, std::size_t count);

double number_of(Type, void const* element);

}  // namespace kernelcast::nccl
